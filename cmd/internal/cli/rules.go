package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// ownFlags name the rules of the user's own.
type ownFlags struct {
	policy string
	rules  []string
	json   bool
}

// set reads the rules that are named.
func (f *ownFlags) set() (*custom.Set, error) {
	p, err := readPolicy(f.policy)
	if err != nil {
		return nil, err
	}
	files, err := asTheyAre.ofPolicy(p)
	if err == nil {
		named, fault := asTheyAre.named(f.rules)
		files, err = append(files, named...), fault
	}
	var set *custom.Set
	if err == nil {
		set, err = custom.Compile(p, files)
	}
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: rulesHint}
	}
	return set, nil
}

func (e *env) rules() *cobra.Command {
	f := &ownFlags{}
	cmd := &cobra.Command{
		Use: "rules [ID]", Short: "Explain the rules, or one of them",
		Long: "rules lists the built-in rules and, with --policy or --rules, your own.",
		RunE: func(_ *cobra.Command, args []string) error { return e.runRules(f, args) },
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print a JSON array")
	cmd.PersistentFlags().StringVar(&f.policy, "policy", "", "also list the rules of this policy `FILE` (coalmine.yaml)")
	cmd.PersistentFlags().StringArrayVar(&f.rules, "rules", nil, rulesUsage)
	cmd.AddCommand(e.rulesTest(f))
	return cmd
}

func (e *env) runRules(f *ownFlags, args []string) error {
	if len(args) > 1 {
		return usage("coalmine rules [ID]", "expected at most 1 argument, got %d", len(args))
	}
	set, err := f.set()
	if err != nil {
		return err
	}
	own := map[string]custom.Doc{}
	all := report.Rules()
	for _, d := range set.Docs() {
		own[d.ID] = d
		all = append(all, d.Rule())
	}
	if f.json {
		return e.rulesAsJSON(all, args)
	}
	for i := range all {
		r := &all[i]
		switch {
		case len(args) == 0:
			fmt.Fprintf(e.out, "%-18s %-8s %s\n", r.ID, r.Severity, plain(r.Title))
		case strings.EqualFold(r.ID, args[0]):
			fmt.Fprint(e.out, explained(r, own[r.ID]))
			return nil
		}
	}
	if len(args) == 1 {
		return usage("coalmine rules lists all rules", "unknown rule %s", args[0])
	}
	return nil
}

// rule is one as coalmine rules --json prints it.
type rule struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Title    string           `json:"title"`
	Severity finding.Severity `json:"severity"`
	// Help is Markdown.
	Help  string   `json:"help"`
	CWE   []string `json:"cwe"`
	OWASP []string `json:"owasp"`
}

func (e *env) rulesAsJSON(all []finding.Rule, ids []string) error {
	list := []rule{}
	for i := range all {
		r := &all[i]
		if len(ids) == 0 || strings.EqualFold(r.ID, ids[0]) {
			list = append(list, rule{r.ID, r.Name, r.Title, r.Severity, r.Help, append([]string{}, r.CWE...), append([]string{}, r.OWASP...)})
		}
	}
	if len(list) == 0 {
		return usage("coalmine rules lists all rules", "unknown rule %s", ids[0])
	}
	return report.Encode(e.out, list)
}

// explained is a rule's documentation; own has a user's rule's references.
func explained(r *finding.Rule, own custom.Doc) string {
	out := rules.Markdown(r)
	for _, u := range own.References {
		out += "\n<" + u + ">\n"
	}
	return out
}
