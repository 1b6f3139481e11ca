package cli

import (
	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/report"
)

func (e *env) schema() *cobra.Command {
	return &cobra.Command{
		Use: "schema [report|ledger|policy]", Short: "Print the JSON Schema of report.json, of the ledger or of coalmine.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			const hint = "coalmine schema report, coalmine schema ledger or coalmine schema policy"
			if len(args) > 1 {
				return usage(hint, "expected at most 1 argument, got %d", len(args))
			}
			schema := report.Schema
			switch {
			case len(args) == 0 || args[0] == "report":
			case args[0] == "ledger":
				var err error
				if schema, err = custom.LedgerSchema(); err != nil {
					return err
				}
			case args[0] == "policy":
				schema = policy.JSONSchema
			default:
				return usage(hint, "unknown schema %s", args[0])
			}
			_, err := e.out.Write(schema)
			return err
		},
	}
}
