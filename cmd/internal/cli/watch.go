package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/drift"
	"github.com/coalmine-dev/coalmine/analyze/report"
)

func (e *env) watch() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "watch [DIR]", Short: "Report drift: how servers changed between sessions",
		Long: "watch reads the session logs in a directory and all directories below, and compares each server's sessions in order\nof time. The first session is the baseline; watch compares each later one with all sessions before it. Of probes it\ncompares what the server declared and did, not coalmine's own calls. It stores nothing.\n\n" +
			"Exit status: 1 for drift of severity 2 or more, else 3 when a log has gaps or there is none, else 0; 2 when DIR is\nnot a directory.",
		RunE: func(_ *cobra.Command, args []string) error {
			root, _, err := logDir(args, "coalmine watch [DIR]")
			if err != nil {
				return err
			}
			defer root.Close()
			h, err := drift.Watch(root)
			if err != nil {
				return err
			}
			switch {
			case h.Worst() >= 2:
				e.status = ExitFindings
			case len(h.Unread) > 0 || len(h.Servers) == 0:
				e.status = ExitInconclusive
			}
			for _, u := range h.Unread {
				fmt.Fprintln(e.err, "read in part: "+plain(u))
			}
			if asJSON {
				return e.printJSON(h.Servers)
			}
			e.printHistory(h)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print fingerprints and drift as JSON, by server")
	return cmd
}

func (e *env) printHistory(h *drift.History) {
	if len(h.Servers) == 0 {
		fmt.Fprintln(e.out, "no session log: nothing was compared")
	}
	for _, server := range slices.Sorted(maps.Keys(h.Servers)) {
		sessions := h.Servers[server]
		fmt.Fprintf(e.out, "%s: %s\n", report.Clean(server, 400), plural(len(sessions), "session"))
		for i, s := range sessions {
			switch {
			case i == 0 && len(s.Findings) == 0:
				f := s.Fingerprint
				fmt.Fprintf(e.out, "  %s  baseline: %s declared, hosts: %s\n", plain(s.Source), plural(len(f.Declared), "tool"), joined(f.Hosts, 5, ", ", "none", plain))
			case len(s.Findings) == 0:
				fmt.Fprintf(e.out, "  %s  no drift\n", plain(s.Source))
			default:
				fmt.Fprintf(e.out, "  %s\n", plain(s.Source))
			}
			found := slices.Clone(s.Findings)
			slices.SortStableFunc(found, func(a, b drift.Drift) int { return b.Severity - a.Severity })
			for _, d := range found {
				fmt.Fprintf(e.out, "    [%d] %s: %s\n", d.Severity, d.Kind, plain(d.Explanation))
			}
		}
	}
}
