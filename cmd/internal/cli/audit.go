package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/sandbox"
)

func (e *env) audit() *cobra.Command {
	var asJSON, rubric bool
	cmd := &cobra.Command{
		Use: "audit PATH", Short: "Audit a server's source without running it",
		RunE: func(cmd *cobra.Command, args []string) error {
			if rubric {
				return e.rubric()
			}
			if len(args) != 1 {
				return usage("coalmine audit PATH", "%d paths were given, 1 is wanted", len(args))
			}
			r, err := audit.Dir(cmd.Context(), args[0])
			if err != nil {
				return &sandbox.UsageError{Err: err, Hint: "name a directory that holds a server's source"}
			}
			if r.Skipped > 0 {
				e.status = ExitInconclusive
			}
			for _, f := range r.Findings {
				if f.Severity.Rank() >= finding.High.Rank() {
					e.status = ExitFindings
				}
			}
			if asJSON {
				enc := json.NewEncoder(e.out)
				enc.SetIndent("", "  ")
				return enc.Encode(r)
			}
			e.printAudit(r)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().BoolVar(&rubric, "rubric", false, "print the rules and what each costs")
	return cmd
}

func (e *env) printAudit(r *audit.Report) {
	fmt.Fprintf(e.out, "score: %d/100 (%s), %d files\n", r.Score, r.Grade, r.Profile.FilesScanned)
	if r.Skipped > 0 {
		fmt.Fprintf(e.out, "inconclusive: %d of the files could not be read, were too large or took too long, and were not audited whole\n", r.Skipped)
	}
	for _, d := range r.Deductions {
		fmt.Fprintf(e.out, "  -%d %s (%s), %d hit(s)\n", d.Points, d.Rule, d.Severity, d.Hits)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(e.out, "[%s] %s %s:%d %s\n", f.Severity, f.Rule, report.Escape(f.Location.Path, 200), f.Location.Line, report.Escape(auditText(&f), 240))
	}
}

// auditText is what a finding says beside its place.
func auditText(f *finding.Finding) string {
	if _, text, ok := strings.Cut(f.Message, ": "); ok && len(f.Evidence) > 1 {
		return text
	}
	return f.Evidence[0].Text
}

func (e *env) rubric() error {
	fmt.Fprintf(e.out, "%s: 100 points, each rule deducts once: critical 25, high 15, medium 8, low 3\n", audit.RubricVersion)
	for _, r := range audit.Rules() {
		fmt.Fprintf(e.out, "  %-18s %-8s %s\n", r.ID, r.Severity, r.Title)
	}
	return nil
}
