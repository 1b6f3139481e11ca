package cli

import (
	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/doctor"
	"github.com/coalmine-dev/coalmine/sandbox"
)

func (e *env) doctor() *cobra.Command {
	var asJSON, prove bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check what works on this machine and how to fix the rest", Args: exactArgs(0, "coalmine doctor"),
		Long: "doctor lists which sandboxes and tracers work on this machine. With --prove it also runs two servers in Python in each\n" +
			"sandbox, one of which steals a decoy, and says which guarantees hold here.\n\n" +
			"Exit status: 0; with --prove 1 when a sandbox that works does not hold a guarantee, and 3 when no sandbox works.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows := doctor.Table(cmd.Context())
			if prove {
				shown, err := e.prove(cmd)
				if err != nil {
					return err
				}
				rows = append(rows, shown...)
			}
			if asJSON {
				return report.Encode(e.out, rows)
			}
			return doctor.Print(e.out, rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().BoolVar(&prove, "prove", false, "probe two example servers in each sandbox, and say which guarantees hold (needs Python; takes a minute)")
	return cmd
}

// prove runs the twins and sets the exit status.
func (e *env) prove(cmd *cobra.Command) ([]doctor.Row, error) {
	p := e.newProgress()
	rows, err := doctor.Prove(cmd.Context(), version(), p.tell)
	p.clear()
	e.status = provenStatus(rows)
	return rows, err
}

// provenStatus is 1 where a sandbox runs and does not hold all, 3 where none runs.
func provenStatus(rows []doctor.Row) int {
	status := ExitInconclusive
	for _, r := range rows {
		switch {
		case r.Runs() && r.OK == sandbox.Yes:
			if status == ExitInconclusive {
				status = ExitOK
			}
		case !r.Runs() && r.OK == sandbox.No:
			status = ExitFindings
		}
	}
	return status
}
