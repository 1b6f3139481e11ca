package cli

import (
	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/cmd/internal/doctor"
)

func (e *env) doctor() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Say what works on this machine, and what would make the rest work", Args: exactArgs(0, "coalmine doctor"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return doctor.Print(e.out, doctor.Table(cmd.Context()))
		},
	}
}
