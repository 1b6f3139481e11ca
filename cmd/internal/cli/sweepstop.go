package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/queue"
	"github.com/coalmine-dev/coalmine/sandbox"
)

func (e *env) sweepStop() *cobra.Command {
	f := &sweepFlags{}
	var lift bool
	var reason string
	cmd := &cobra.Command{
		Use: "stop [flags]", Short: "Stop a sweep and its workers until the mark is lifted",
		Long: "stop marks the queue of --store or --queue: its sweeps and workers end within seconds, wherever they run, and none\n" +
			"begins until coalmine sweep stop --lift. A sweep that was stopped goes on where it was.",
		Args: exactArgs(0, "coalmine sweep stop --store DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.runsDir()
			at := "the queue of " + f.dir
			if f.queue != "" {
				at = "the queue of the cluster"
			}
			if _, err := os.Stat(f.dir); err != nil && f.queue == "" {
				return &sandbox.UsageError{Err: err, Hint: hintQueue}
			}
			for _, dir := range []string{f.dir, filepath.Join(f.dir, "queue")} {
				if err := probe.RefuseLink(dir, "--store"); err != nil {
					return err
				}
			}
			if lift {
				if err := queue.Lift(cmd.Context(), f.queueOptions()); err != nil {
					return &sandbox.UsageError{Err: err, Hint: hintQueue}
				}
				fmt.Fprintln(e.out, at+" is not stopped")
				return nil
			}
			if err := queue.Stop(cmd.Context(), f.queueOptions(), reason); err != nil {
				return &sandbox.UsageError{Err: err, Hint: hintQueue}
			}
			fmt.Fprintln(e.out, at+" is stopped")
			return nil
		},
	}
	f.defineQueue(cmd, "stop the queue at these NATS `ADDRESSES` (default: that of --store)")
	fl := cmd.Flags()
	fl.StringVar(&f.store, "store", defaultStore, "stop the sweeps that keep results in this `DIR`")
	fl.StringVar(&f.dir, "runs", "", "stop the sweeps that keep runs in this `DIR` (default: as for coalmine sweep)")
	fl.IntVar(&f.replicas, "replicas", 1, "with --queue: as for coalmine sweep")
	fl.StringVar(&reason, "reason", "coalmine sweep stop was called", "say this `TEXT` where a sweep or a worker ends")
	fl.BoolVar(&lift, "lift", false, "lift the mark, so that sweeps and workers can begin")
	return cmd
}

const hintQueue = "name the --store or --runs of the sweep, or check --queue and its credentials"

// hintStopped adds to the end of a stopped sweep or worker how to go on.
func hintStopped(err error) error {
	var stopped *sweep.StoppedError
	if errors.As(err, &stopped) {
		return &sandbox.UsageError{Err: stopped, Hint: "coalmine sweep stop --lift, with the same --store or --queue, lifts the mark"}
	}
	return err
}
