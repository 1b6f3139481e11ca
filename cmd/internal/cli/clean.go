package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/since"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/local"
)

func (e *env) clean() *cobra.Command {
	var all, packages bool
	cmd := &cobra.Command{
		Use: "clean", Short: "Remove leftovers of killed runs", Args: exactArgs(0, "coalmine clean"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			fetched, cacheErr := cleanCache(packages)
			for _, dir := range fetched {
				fmt.Fprintln(e.out, "removed "+report.Escape(dir, 400))
			}
			records, recordsErr := since.Clean()
			removed, err := docker.Clean(cmd.Context(), all)
			for _, what := range slices.Concat(local.Clean(), records, removed) {
				fmt.Fprintln(e.out, "removed "+report.Escape(what, 400))
			}
			return errors.Join(cacheErr, recordsErr, err)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also remove leftovers of runs that are still alive")
	cmd.Flags().BoolVar(&packages, "packages", false, "also remove cached packages")
	return cmd
}

// cleanCache removes what fetches and builds of ended runs left, and with all
// every package.
func cleanCache(all bool) ([]string, error) {
	cache, err := install.DefaultCache()
	if err != nil {
		return nil, plan.Mendable(err)
	}
	return cache.Clean(all)
}
