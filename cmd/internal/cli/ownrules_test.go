package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ownRule is a file with one rule, whose text is given.
func ownRule(id, text string) string {
	return "rules:\n  - {id: " + id + ", name: Programs, severity: high, over: effect, when: effect.kind == \"exec\", text: " + text + ", examples: {match: [{kind: exec}], no_match: [{}]}}\n"
}

// ruleNames are the files of rules that a probe with these flags is judged by, each with
// its rule's text, and the files that the change under review has otherwise.
func ruleNames(t *testing.T, f *probeFlags) (names, changed string, err error) {
	t.Helper()
	ctx := context.Background()
	if err := f.openBase(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.closeBase(); err != nil {
			t.Error(err)
		}
	}()
	if err := f.readPolicy(ctx); err != nil {
		return "", "", err
	}
	if err := f.readRules(ctx); err != nil {
		return "", "", err
	}
	var out, others []string
	for _, file := range append(f.PolicyRules, f.Rules...) {
		_, text, _ := strings.Cut(file.Text, "text: ")
		text, _, _ = strings.Cut(text, ",")
		out = append(out, file.Name+"="+text)
	}
	for _, c := range f.Changed {
		how := ""
		switch {
		case c.Added:
			how = " added"
		case c.Removed:
			how = " removed"
		}
		others = append(others, c.What+" "+c.At.Path+how)
	}
	return strings.Join(out, " "), strings.Join(others, ", "), nil
}

// Under --changed-since the merge base's rules hold, whatever the change does to them.
func TestRulesAreTheMergeBases(t *testing.T) {
	changeUnderReview(t, "{}")
	putFile(t, "ci/coalmine.yaml", "rules: [own/a.yaml]\n")
	putFile(t, "ci/own/a.yaml", ownRule("ORG-1", "was"))
	putFile(t, "rules/b.yaml", ownRule("ORG-2", "was"))
	putFile(t, "rules/c.yml", ownRule("ORG-3", "was"))
	for _, args := range [][]string{{"checkout", "-q", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "two"}, {"checkout", "-qb", "rules"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	flags := func(since string) *probeFlags {
		return &probeFlags{changedSince: since, policy: policyFlags{file: "ci/coalmine.yaml"}, rules: []string{"rules"}}
	}
	all := "ci/own/a.yaml=was rules/b.yaml=was rules/c.yml=was"
	if names, changed, err := ruleNames(t, flags("main")); err != nil || names != all || changed != "" {
		t.Errorf("unchanged: %s, %s, %v", names, changed, err)
	}
	putFile(t, "ci/own/a.yaml", ownRule("ORG-1", "now"))
	putFile(t, "ci/coalmine.yaml", "rules: []\n")
	putFile(t, "rules/d.yaml", ownRule("ORG-4", "now"))
	if err := os.Remove("rules/b.yaml"); err != nil {
		t.Fatal(err)
	}
	want := "policy ci/coalmine.yaml, rule file ci/own/a.yaml, rule file rules/b.yaml removed, rule file rules/d.yaml added"
	if names, changed, err := ruleNames(t, flags("main")); err != nil || names != all || changed != want {
		t.Errorf("changed: %s, %s, %v", names, changed, err)
	}
	if names, changed, err := ruleNames(t, flags("")); err != nil || names != "rules/c.yml=was rules/d.yaml=now" || changed != "" {
		t.Errorf("without a merge base: %s, %s, %v", names, changed, err)
	}
	if err := os.RemoveAll("rules"); err != nil {
		t.Fatal(err)
	}
	if names, _, err := ruleNames(t, flags("main")); err != nil || names != all {
		t.Errorf("the directory is gone: %s, %v", names, err)
	}
}

// No file outside the policy's directory is read for a rule.
func TestRulesFilesStayBelowThePolicy(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	putFile(t, "secret.yaml", ownRule("ORG-1", "secret"))
	putFile(t, "in/coalmine.yaml", "rules: [a.yaml]\n")
	for target, ok := range map[string]bool{"../secret.yaml": false, filepath.Join(dir, "secret.yaml"): false, "b.yaml": false} {
		putFile(t, "in/b.yaml", ownRule("ORG-1", "below"))
		if err := os.Symlink(target, "in/a.yaml"); err != nil {
			t.Fatal(err)
		}
		names, _, err := ruleNames(t, &probeFlags{policy: policyFlags{file: "in/coalmine.yaml"}})
		if (err == nil) != ok || strings.Contains(names, "secret") {
			t.Errorf("%s: %s, %v", target, names, err)
		}
		if err := os.Remove("in/a.yaml"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret.yaml", "in/own.yaml"); err != nil {
		t.Fatal(err)
	}
	if names, _, err := ruleNames(t, &probeFlags{rules: []string{"in"}}); err == nil {
		t.Errorf("a link in a directory of rules is read: %s", names)
	}
}

// Judged again without the rules' files, a run gets the same report.
func TestJudgeKeepsOwnRules(t *testing.T) {
	dir := keptRun(t, "local-strace-findings-leaky")
	file := filepath.Join(t.TempDir(), "own.yaml")
	putFile(t, file, ownRule("ORG-1", "ran"))
	if status, _, errOut := judgeSays(dir); status != ExitFindings || errOut != "" {
		t.Fatalf("%d %q", status, errOut)
	}
	status, out, errOut := judgeSays("--rules", file, dir)
	if status != ExitFindings || !strings.Contains(errOut, "+ ORG-1 high: ran") || !strings.Contains(out, "4 high") {
		t.Errorf("%d %q %q", status, out, errOut)
	}
	if status, _, errOut := judgeSays(dir); status != ExitFindings || !strings.Contains(errOut, "- ORG-1 high: ran") {
		t.Errorf("by the probe's own inputs: %d %q", status, errOut)
	}
}
