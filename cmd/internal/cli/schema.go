package cli

import (
	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
)

func (e *env) schema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of report.json", Args: exactArgs(0, "coalmine schema"),
		RunE: func(*cobra.Command, []string) error {
			_, err := e.out.Write(report.Schema)
			return err
		},
	}
}
