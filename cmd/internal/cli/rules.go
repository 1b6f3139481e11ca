package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/rules"
)

func (e *env) rules() *cobra.Command {
	return &cobra.Command{
		Use: "rules [ID]", Short: "Explain the rules, or one of them",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("coalmine rules [ID]", "%d arguments were given, at most 1 is wanted", len(args))
			}
			for _, r := range report.Rules() {
				switch {
				case len(args) == 0:
					fmt.Fprintf(e.out, "%-18s %-8s %s\n", r.ID, r.Severity, r.Title)
				case strings.EqualFold(r.ID, args[0]):
					fmt.Fprint(e.out, rules.Markdown(&r))
					return nil
				}
			}
			if len(args) == 1 {
				return usage("coalmine rules lists them", "there is no rule %s", args[0])
			}
			return nil
		},
	}
}
