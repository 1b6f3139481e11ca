package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
)

func (e *env) targets() *cobra.Command {
	return &cobra.Command{
		Use: "targets FILE", Short: "List the servers that a client's configuration names", Args: exactArgs(1, "coalmine targets FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			servers, bad, err := readConfig(args[0])
			if err != nil {
				return err
			}
			for _, s := range servers {
				what := s.URL
				if what == "" {
					what = strings.Join(s.Command, " ")
				}
				fmt.Fprintf(e.out, "%s\t%s:%d\t%s\n", report.Clean(s.Name, 100), report.Escape(args[0], 300), s.Line, report.Escape(what, 300))
			}
			e.status = e.badEntries(bad)
			return nil
		},
	}
}
