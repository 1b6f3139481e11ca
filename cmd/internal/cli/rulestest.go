package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/policy"
)

func (e *env) rulesTest(f *ownFlags) *cobra.Command {
	return &cobra.Command{
		Use: "test [DIR|FILE…]", Short: "Test your own rules against their examples",
		Long: "test reads the rules of DIR, FILE, --policy and --rules, or of coalmine.yaml in this directory, and checks each rule\n" +
			"against its own match and no_match examples.\n\n" +
			"Exit status: 0 all examples pass, 1 one fails, 2 a rule is invalid.",
		RunE: func(_ *cobra.Command, args []string) error { return e.runRulesTest(f, args) },
	}
}

func (e *env) runRulesTest(f *ownFlags, args []string) error {
	f.rules = append(f.rules, args...)
	if f.policy == "" && len(f.rules) == 0 {
		if _, err := os.Stat(policy.FileName); errors.Is(err, fs.ErrNotExist) {
			return usage("coalmine rules test DIR", "rules test needs a DIR or FILE: this directory has no %s", policy.FileName)
		}
		f.policy = policy.FileName
	}
	set, err := f.set()
	if err != nil {
		return err
	}
	tested := set.Test()
	if len(tested) == 0 {
		return usage(rulesHint, "found no rule to test")
	}
	failed := 0
	for _, t := range tested {
		word := "ok"
		if len(t.Failures) > 0 {
			word = "FAIL"
			failed++
		}
		fmt.Fprintf(e.out, "%-4s %-18s %s:%d:%d: %d match, %d no_match\n", word, t.Rule.ID, plain(t.Rule.File), t.Rule.At.Line, t.Rule.At.Column, t.Match, t.NoMatch)
		for _, err := range t.Failures {
			fmt.Fprintln(e.out, "     "+plain(err.Error()))
		}
	}
	fmt.Fprintf(e.out, "%s, %d failed\n", plural(len(tested), "rule"), failed)
	if failed > 0 {
		e.status = ExitFindings
	}
	return nil
}
