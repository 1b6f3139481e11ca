package cli

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func (e *env) replayDecisions() *cobra.Command {
	f := &gateFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay-decisions [flags] LOG",
		Short: "Judge the calls of a session log again, as another gate would",
		Long: "replay-decisions feeds the messages of a session LOG to a gate with the given policy, lock and checks. It prints\n" +
			"what was decided about each call and what this gate would decide. It starts and sends nothing. Use it to try a\n" +
			"policy on sessions of coalmine tap or coalmine gate --observe before you enforce it.\n\n" +
			"Exit status: 0 when all decisions are the same, 1 when one differs, 3 when the log cannot be read to its end.",
		Args: exactArgs(1, "coalmine replay-decisions --policy coalmine.yaml LOG"),
		RunE: func(_ *cobra.Command, args []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			file, err := os.Open(args[0])
			if err != nil {
				return usage("name a session log", "%w", err)
			}
			defer file.Close()
			torn := false
			list, err := wiretap.Decide(session.ReadFrames(file, &torn), o)
			if err != nil || torn {
				e.status = ExitInconclusive
			}
			for i := range list {
				if list[i].Differs() && e.status == ExitOK {
					e.status = ExitFindings
				}
			}
			if asJSON {
				if werr := report.Encode(e.out, append([]wiretap.Decision{}, list...)); werr != nil {
					return werr
				}
				return err
			}
			e.printDecisions(list)
			return err
		},
	}
	f.addChecks(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// printDecisions prints what differs, and a line that counts.
func (e *env) printDecisions(list []wiretap.Decision) {
	differ := 0
	for i := range list {
		d := &list[i]
		if !d.Differs() {
			continue
		}
		differ++
		line := fmt.Sprintf("frame %d: %s was %s, is %s", d.Seq, report.Escape(cmp.Or(d.Tool, "a message"), 100), d.Was, d.Now)
		if d.Why != "" {
			line += ": " + report.Escape(d.Why, 300)
		}
		fmt.Fprintln(e.out, line)
	}
	fmt.Fprintf(e.out, "%d of %s differ\n", differ, plural(len(list), "decision"))
}
