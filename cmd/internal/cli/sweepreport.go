package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/site"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// openStore opens a store that is there.
func openStore(ctx context.Context, dir string) (*store.Store, error) {
	const hint = "name the --store of a sweep"
	if !store.IsURL(dir) {
		if _, err := os.Stat(filepath.Join(dir, store.File)); err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: hint}
		}
	}
	s, err := store.Open(ctx, dir)
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: hint}
	}
	return s, nil
}

func (e *env) sweepReport() *cobra.Command {
	var dir, out, runs string
	var o site.Options
	cmd := &cobra.Command{
		Use: "report [flags]", Short: "Write the results of sweeps as a static site, JSON, CSV and a feed",
		Args: exactArgs(0, "coalmine sweep report --out DIR"),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.Base != "" {
				if err := site.CheckBase(o.Base); err != nil {
					return &sandbox.UsageError{Err: err, Hint: "such as --base-url https://example.com/sweep/"}
				}
			}
			s, err := openStore(cmd.Context(), dir)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			if out == "" && store.IsURL(dir) {
				return usage("coalmine sweep report --out DIR", "a database needs an --out")
			}
			if out == "" {
				out = filepath.Join(dir, "site")
			}
			if err := probe.RefuseLink(out, "--out"); err != nil {
				return err
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return &sandbox.UsageError{Err: err, Hint: "name an --out that can be written"}
			}
			root, err := os.OpenRoot(out)
			if err != nil {
				return err
			}
			defer root.Close()
			kept := sweepFlags{store: dir, dir: runs}
			kept.runsDir()
			if o.Runs, err = os.OpenRoot(kept.dir); err == nil {
				defer o.Runs.Close()
			} else if runs != "" {
				return &sandbox.UsageError{Err: err, Hint: "name the --runs of the sweep"}
			}
			notes, err := site.Write(cmd.Context(), s, root, o)
			if err != nil {
				return err
			}
			e.sayNotes(notes)
			fmt.Fprintln(e.out, report.Escape(filepath.Join(out, "index.html"), 1000))
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "store", defaultStore, "read the results in this `DIR` or PostgreSQL URL")
	cmd.Flags().StringVar(&out, "out", "", "write the site to this `DIR` (default: site below the store)")
	cmd.Flags().StringVar(&runs, "runs", "", "copy reports from the runs in this `DIR` (default: as for coalmine sweep)")
	cmd.Flags().StringVar(&o.Source, "source", "", sourceUsage)
	cmd.Flags().StringVar(&o.Base, "base-url", "", "the site's own `URL`, for the links of the feed (default: a feed without links)")
	return cmd
}

const (
	sourceUsage = "show the sweeps of this `SOURCE`, as the site's title names it (default: that of the last finished sweep)"
	hintSource  = "end the sweep, or name another --source"
)

// sayNotes prints what of a source is not shown.
func (e *env) sayNotes(notes []string) {
	for _, line := range notes {
		fmt.Fprintln(e.err, "note: "+report.Escape(line, 1000))
	}
}

// sweepNamed finds a sweep by its number, or as latest or previous the sweeps of a source.
func sweepNamed(sweeps []store.Sweep, source, name string) (*site.Round, error) {
	if i, ok := map[string]int{"latest": 0, "previous": 1}[name]; ok {
		rounds, err := site.Rounds(sweeps, source)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: hintSource}
		}
		if i < len(rounds) {
			return &rounds[i], nil
		}
		return nil, usage("a number, latest or previous", "there is no sweep %s: %s has %d finished ones", name, report.Escape(rounds[0].Source, 200), len(rounds))
	}
	if id, err := strconv.ParseInt(name, 10, 64); err == nil {
		for _, w := range sweeps {
			if w.ID != id {
				continue
			}
			r := &site.Round{Source: w.Source, Sweeps: []store.Sweep{w}}
			if w.Finished.IsZero() {
				r.Notes = []string{"sweep " + name + " is not finished: it has not all results"}
			}
			return r, nil
		}
	}
	return nil, usage("a number, latest or previous", "there is no sweep %s; %d are kept", name, len(sweeps))
}
