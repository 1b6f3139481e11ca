package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/cmd/internal/doctor"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/install"
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
	for _, d := range r.Deductions {
		fmt.Fprintf(e.out, "  -%d %s (%s), %d hit(s)\n", d.Points, d.Rule, d.Severity, d.Hits)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(e.out, "[%s] %s %s:%d %s\n", f.Severity, f.Rule, report.Behind(f.Location.Path, 200), f.Location.Line, report.Behind(f.Evidence[0].Text, 200))
	}
}

func (e *env) rubric() error {
	fmt.Fprintf(e.out, "%s: 100 points, each rule deducts once: critical 25, high 15, medium 8, low 3\n", audit.RubricVersion)
	for _, r := range audit.Rules() {
		fmt.Fprintf(e.out, "  %-18s %-8s %s\n", r.ID, r.Severity, r.Title)
	}
	return nil
}

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
				fmt.Fprintf(e.out, "%s\t%s:%d\t%s\n", report.Clean(s.Name, 100), report.Behind(args[0], 300), s.Line, report.Behind(what, 300))
			}
			e.status = e.badEntries(bad)
			return nil
		},
	}
}

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

func (e *env) schema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of report.json", Args: exactArgs(0, "coalmine schema"),
		RunE: func(*cobra.Command, []string) error {
			_, err := e.out.Write(report.Schema)
			return err
		},
	}
}

func (e *env) doctor() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Say what works on this machine, and what would make the rest work", Args: exactArgs(0, "coalmine doctor"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return doctor.Print(e.out, doctor.Table(cmd.Context()))
		},
	}
}

func (e *env) clean() *cobra.Command {
	var all, packages bool
	cmd := &cobra.Command{
		Use: "clean", Short: "Remove what killed runs left behind", Args: exactArgs(0, "coalmine clean"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			fetched, cacheErr := cleanCache(packages)
			for _, dir := range fetched {
				fmt.Fprintln(e.out, "removed "+report.Behind(dir, 400))
			}
			removed, err := docker.Clean(cmd.Context(), all)
			for _, what := range removed {
				fmt.Fprintln(e.out, "removed "+report.Behind(what, 400))
			}
			return errors.Join(cacheErr, err)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also what belongs to runs that are still alive")
	cmd.Flags().BoolVar(&packages, "packages", false, "also the packages that were fetched: they are fetched again when they are needed")
	return cmd
}

// cleanCache removes what fetches and builds of ended runs left, and with all
// every package.
func cleanCache(all bool) ([]string, error) {
	cache, err := install.DefaultCache()
	if err != nil {
		return nil, mendable(err)
	}
	return cache.Clean(all)
}
