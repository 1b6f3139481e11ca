package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/site"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
)

func (e *env) sweepDiff() *cobra.Command {
	var dir, format, source string
	cmd := &cobra.Command{
		Use: "diff [flags] A B", Short: "Compare two sweeps, or two versions of a server",
		Long: "A and B are numbers of sweeps, or versions of one server, such as npm:NAME@1.4.1 and npm:NAME@1.4.2. latest and\n" +
			"previous are the last two finished sweeps of one source, with all their shards.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("coalmine sweep diff previous latest", "diff needs two sweeps or two versions, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if format != "text" && format != "json" {
				return usage("use one of: text, json", "unknown --format %s", format)
			}
			s, err := openStore(cmd.Context(), dir)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			list, err := e.compareStored(cmd.Context(), s, source, args[0], args[1])
			if err != nil {
				return err
			}
			if format == "json" {
				return report.Encode(e.out, append([]site.Change{}, list...))
			}
			_, err = fmt.Fprint(e.out, site.Text(list))
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "store", defaultStore, "read the results in this `DIR` or PostgreSQL URL")
	cmd.Flags().StringVar(&source, "source", "", sourceUsage)
	cmd.Flags().StringVar(&format, "format", "text", "print text or json")
	return cmd
}

// compareStored compares what two arguments name.
func (e *env) compareStored(ctx context.Context, s *store.Store, source, a, b string) ([]site.Change, error) {
	if strings.Contains(a, ":") || strings.Contains(b, ":") {
		var sides [2]*store.Entry
		for i, name := range []string{a, b} {
			at := strings.LastIndexByte(name, '@')
			if at <= 0 {
				return nil, usage("such as npm:NAME@1.4.2", "%s names no version", name)
			}
			kept, err := s.OfVersion(ctx, name[:at], name[at+1:])
			if err != nil {
				return nil, err
			}
			if kept == nil {
				return nil, usage("coalmine sweep report lists what there is", "no result of %s is kept", name)
			}
			sides[i] = kept
		}
		if c, ok := site.Compare(sides[0], sides[1]); ok {
			return []site.Change{c}, nil
		}
		return nil, nil
	}
	sweeps, err := s.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	var lists [2][]store.Entry
	for i, name := range []string{a, b} {
		r, err := sweepNamed(sweeps, source, name)
		if err != nil {
			return nil, err
		}
		e.sayNotes(r.Notes)
		if lists[i], err = r.Entries(ctx, s); err != nil {
			return nil, err
		}
	}
	return site.Diff(lists[0], lists[1]), nil
}
