package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unshown are commands that read nothing of others.
var unshown = []string{"help", "completion", "doctor", "rules", "schema", "man", "version"}

var (
	goTest   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	isGoTest = regexp.MustCompile(`^(Test|Fuzz)[A-Z]`)
	isAttack = regexp.MustCompile(`^(escape|reach|read|write|exhaust|hide|forge|switch-off)/[a-z0-9-]+$`)
)

// shownBy lists the names of a page's lines that say who shows them, and the lines that
// name nobody.
func shownBy(page string) (names, without []string) {
	shown, inside := false, false
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			shown, inside = false, false
			continue
		}
		if !inside && !strings.HasPrefix(strings.Join(lines[i+1:], "\n"), "|--") {
			without = append(without, line) // a row without a table
		}
		inside = true
		if strings.HasSuffix(line, "| shown by |") {
			shown = true
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !shown || strings.HasPrefix(strings.TrimSpace(cells[0]), "---") {
			continue
		}
		found := quotedWord.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(found) == 0 {
			without = append(without, line)
		}
		for _, m := range found {
			names = append(names, m[1])
		}
	}
	return names, without
}

// testsOf lists the Go tests and the attacks below a directory.
func testsOf(t *testing.T, root string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && p != root {
			return fs.SkipDir
		}
		if name, ok := strings.CutSuffix(d.Name(), ".txtar"); ok {
			out[filepath.Base(filepath.Dir(p))+"/"+name] = true
		}
		if !strings.HasSuffix(p, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(p)
		for _, m := range goTest.FindAllSubmatch(data, -1) {
			out[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestThreatModelNamesTestsThatExist(t *testing.T) {
	page := readDocs(t, "threat-model.md")
	names, without := shownBy(page)
	if len(names) < 100 {
		t.Fatalf("only %d tests and attacks are named", len(names))
	}
	for _, line := range without {
		t.Errorf("nothing shows this line: %s", line)
	}
	exist := testsOf(t, filepath.Join("..", ".."))
	for _, m := range quotedWord.FindAllStringSubmatch(page, -1) {
		if (isGoTest.MatchString(m[1]) || isAttack.MatchString(m[1])) && !exist[m[1]] {
			t.Errorf("docs/threat-model.md names %s, which does not exist", m[1])
		}
	}
	for _, name := range names {
		if !exist[name] {
			t.Errorf("docs/threat-model.md says that %s shows something, and it does not exist", name)
		}
	}
	for name := range exist {
		if isAttack.MatchString(name) && !slices.Contains(names, name) && !strings.Contains(page, "`"+name+"`") {
			t.Errorf("no line of docs/threat-model.md names the attack %s", name)
		}
	}
}

func TestThreatModelHasEveryCommand(t *testing.T) {
	headings := ""
	for line := range strings.Lines(readDocs(t, "threat-model.md")) {
		if strings.HasPrefix(line, "## ") {
			headings += line
		}
	}
	_, list, _ := strings.Cut(coalmine(t, "--help"), "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		name := strings.Fields(line)[0]
		if !slices.Contains(unshown, name) && !regexp.MustCompile("[ `]"+regexp.QuoteMeta(name)+"[ `]").MatchString(headings) {
			t.Errorf("docs/threat-model.md has no heading for coalmine %s", name)
		}
	}
}

func TestNamesOfAThreatModelAreFound(t *testing.T) {
	names, without := shownBy("| hostile | can not | shown by |\n|---|---|---|\n| a | b | `TestA`, `read/b` |\n| a | c | nobody |\n\n| other | table |\n|---|---|\n| `TestC` | x |\n\n| lost | row | `TestD` |\n")
	if !slices.Equal(names, []string{"TestA", "read/b"}) || len(without) != 2 {
		t.Errorf("%q %q", names, without)
	}
}

// Every line of the table of engines says what was run there, or that nothing was.
func TestEnginesSayWhatWasTried(t *testing.T) {
	_, table, ok := strings.Cut(readDocs(t, "threat-model.md"), "| what | tried | outcome |\n")
	if !ok {
		t.Fatal("docs/threat-model.md has no table of engines")
	}
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 3 {
			break
		}
		if strings.HasPrefix(line, "|--") {
			continue
		}
		rows++
		what, tried, outcome := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		untested := strings.HasPrefix(outcome, "untested")
		if untested != (tried == "no") {
			t.Errorf("%s: tried %q, and the outcome is %q", what, tried, outcome)
		}
		for _, m := range quotedWord.FindAllStringSubmatch(tried, -1) {
			target, isMake := strings.CutPrefix(m[1], "make ")
			if isMake && !strings.Contains(string(makefile), "\n"+target+":") {
				t.Errorf("%s: there is no make %s", what, target)
			}
			if _, err := os.Stat(filepath.Join("..", "..", m[1])); !isMake && err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if !untested && tried != "every test" && !strings.Contains(tried, "`make ") && !strings.Contains(tried, "by hand") {
			t.Errorf("%s names neither a test nor that it was tried by hand: %s", what, tried)
		}
	}
	if rows < 8 {
		t.Errorf("the table has %d rows", rows)
	}
}
