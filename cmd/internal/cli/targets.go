package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
)

// target is a server as coalmine targets --json prints it.
type target struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Line is that of the entry, from 1.
	Line    int      `json:"line"`
	Command []string `json:"command,omitempty"`
	URL     string   `json:"url,omitempty"`
}

func (e *env) targets() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "targets FILE", Short: "List the servers in a client configuration", Args: exactArgs(1, "coalmine targets FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			servers, bad, err := readConfig(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				list := []target{}
				for _, s := range servers {
					list = append(list, target{Name: s.Name, File: args[0], Line: s.Line, Command: s.Command, URL: s.URL})
				}
				e.status = e.badEntries(bad)
				return report.Encode(e.out, list)
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}
