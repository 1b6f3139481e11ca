package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
)

func (e *env) sweepDead() *cobra.Command {
	var dir, source string
	var requeue bool
	cmd := &cobra.Command{
		Use: "dead [flags]", Short: "List the jobs that no worker finished, or queue them again",
		Long: "dead lists the jobs of the last sweeps that were begun three times and never finished, such as servers that take\n" +
			"their worker's machine down. With --requeue they wait again, and the same coalmine sweep runs them.",
		Args: exactArgs(0, "coalmine sweep dead --store DIR"),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			s, err := openStore(cmd.Context(), dir)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			list, err := s.DeadJobs(cmd.Context(), source)
			if err != nil {
				return err
			}
			for _, d := range list {
				fmt.Fprintf(e.out, "sweep %d: %s %s: %s\n", d.Sweep, report.Escape(d.Key, 250), report.Escape(d.Version, 100), report.Escape(d.Error, 300))
			}
			switch {
			case len(list) == 0:
				fmt.Fprintln(e.out, "no job is dead")
			case requeue:
				if err := s.Requeue(cmd.Context(), list); err != nil {
					return err
				}
				fmt.Fprintf(e.out, "%d jobs are queued again: the same coalmine sweep runs them\n", len(list))
			default:
				fmt.Fprintf(e.out, "%d jobs are dead: coalmine sweep dead --store %s --requeue gives them another chance\n", len(list), quoteWord(store.Shown(dir)))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "store", defaultStore, "read the results in this `DIR` or PostgreSQL URL")
	cmd.Flags().StringVar(&source, "source", "", "only of this `SOURCE`, as the site's title names it (default: all)")
	cmd.Flags().BoolVar(&requeue, "requeue", false, "queue them again")
	return cmd
}
