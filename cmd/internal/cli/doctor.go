package cli

import (
	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/doctor"
)

func (e *env) doctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check what works on this machine and how to fix the rest", Args: exactArgs(0, "coalmine doctor"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows := doctor.Table(cmd.Context())
			if asJSON {
				return report.Encode(e.out, rows)
			}
			return doctor.Print(e.out, rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}
