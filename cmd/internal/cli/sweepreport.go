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
	var dir, out string
	cmd := &cobra.Command{
		Use: "report [flags]", Short: "Write the results of sweeps as a static site, JSON, CSV and a feed",
		Args: exactArgs(0, "coalmine sweep report --out DIR"),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
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
			if err := site.Write(cmd.Context(), s, root); err != nil {
				return err
			}
			fmt.Fprintln(e.out, report.Escape(filepath.Join(out, "index.html"), 1000))
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "store", defaultStore, "read the results in this `DIR` or PostgreSQL URL")
	cmd.Flags().StringVar(&out, "out", "", "write the site to this `DIR` (default: site below the store)")
	return cmd
}

// sweepNamed finds a sweep by its number, or as latest or previous.
func sweepNamed(sweeps []store.Sweep, name string) (int64, error) {
	back := map[string]int{"latest": 0, "previous": 1}
	if i, ok := back[name]; ok && i < len(sweeps) {
		return sweeps[i].ID, nil
	}
	if id, err := strconv.ParseInt(name, 10, 64); err == nil {
		for _, w := range sweeps {
			if w.ID == id {
				return id, nil
			}
		}
	}
	return 0, usage("a number, latest or previous", "there is no sweep %s; %d are kept", name, len(sweeps))
}
