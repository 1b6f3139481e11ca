package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"
)

func (e *env) sweepWork() *cobra.Command {
	f := &sweepFlags{}
	cmd := &cobra.Command{
		Use: "work [flags] --queue ADDRESSES", Short: "Probe for a sweep on another machine",
		Long: "work takes targets from a NATS cluster and probes them until it is ended. It takes only jobs of sweeps with the\n" +
			"same options.",
		Args: exactArgs(0, "coalmine sweep work --queue nats://HOST:4222"),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if f.queue == "" {
				return usage("coalmine sweep work --queue nats://HOST:4222", "work needs a --queue")
			}
			if err := f.ready(cmd); err != nil {
				return err
			}
			if err := f.openLog(e.err); err != nil {
				return err
			}
			rules, settings, err := f.digests()
			if err != nil {
				return err
			}
			dir, err := os.MkdirTemp("", "coalmine-work-")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
			q, err := f.openQueue(cmd.Context(), settings+rules, true)
			if err != nil {
				return err
			}
			defer q.Close()
			var begin func(string)
			if f.log == nil {
				begin = func(name string) { f.say(e.err, "probing "+name) }
			}
			w := f.worker(q, dir, begin)
			_, end, err := e.observed(f, w.Queue, w)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, end()) }()
			return hintStopped(w.Run(cmd.Context()))
		},
	}
	f.define(cmd)
	cmd.Flags().IntVar(&f.most, "max-jobs", 0, "end after this many jobs (0: never), so that each has a machine or pod of its own")
	return cmd
}
