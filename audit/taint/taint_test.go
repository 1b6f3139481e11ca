package taint_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/golang"
	"github.com/coalmine-dev/coalmine/audit/lang/javascript"
	"github.com/coalmine-dev/coalmine/audit/lang/notebook"
	"github.com/coalmine-dev/coalmine/audit/lang/python"
)

var languages = []lang.Language{python.Language{}, javascript.Language{}, golang.Language{}, notebook.Language{}}

// rules are the weaknesses by the names of the audit's rules.
var rules = map[string]string{
	"taint-command": "CWE-78", "taint-argument": "CWE-88", "taint-path": "CWE-22", "taint-request": "CWE-918",
	"taint-code": "CWE-94", "taint-object": "CWE-502", "taint-sql": "CWE-89", "taint-nosql": "CWE-943", "taint-prototype": "CWE-1321",
}

// fixture is a pair of servers: one with a flow, and its fixed twin.
type fixture struct {
	name, rule, tool, parameter string
	twins                       map[string][]*lang.File
}

func fixtures(t testing.TB, half string) []fixture {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", half, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	var out []fixture
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		f := fixture{name: strings.TrimSuffix(filepath.Base(p), ".txtar"), twins: map[string][]*lang.File{}}
		for line := range strings.Lines(string(a.Comment)) {
			key, v, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "rule":
				f.rule = v
			case "tool":
				f.tool = v
			case "parameter":
				f.parameter = v
			}
		}
		if rules[f.rule] == "" {
			t.Fatalf("%s: there is no rule %q", p, f.rule)
		}
		for _, file := range a.Files {
			twin, name, _ := strings.Cut(file.Name, "/")
			f.twins[twin] = append(f.twins[twin], parse(t, name, file.Data))
		}
		out = append(out, f)
	}
	return out
}

func parse(t testing.TB, name string, data []byte) *lang.File {
	t.Helper()
	for _, l := range languages {
		if l.Owns(name, data[:min(len(data), 512)]) {
			return l.Parse(name, data)
		}
	}
	t.Fatalf("%s is of no language", name)
	return nil
}

// wrong says what is wrong with what was found in a twin, "" for nothing.
func (f fixture) wrong(twin string) string {
	res := analyzed(context.Background(), f.twins[twin])
	var all []string
	right := false
	for _, fl := range res.Flows {
		if fl.Capability {
			continue
		}
		all = append(all, fl.CWE+" "+fl.Tool+" "+fl.Parameter+" "+fl.Sink)
		right = right || fl.CWE == rules[f.rule] && fl.Tool == f.tool && fl.Parameter == f.parameter && len(fl.Steps) > 1
	}
	switch {
	case !res.Complete:
		return "it is not complete"
	case twin == "bad" && !right:
		return "not found; " + strings.Join(all, ", ")
	case twin == "good" && len(all) > 0:
		return "found in the fixed twin: " + strings.Join(all, ", ")
	}
	return ""
}

// TestFixtures compares what is found with what is there. COALMINE_TAINT prints each.
func TestFixtures(t *testing.T) {
	right, all := 0, 0
	for _, half := range []string{"seen", "unseen"} {
		rightHere, allHere := 0, 0
		for _, f := range fixtures(t, half) {
			for _, twin := range []string{"bad", "good"} {
				allHere++
				why := f.wrong(twin)
				if why == "" {
					rightHere++
					continue
				}
				if half == "seen" || os.Getenv("COALMINE_TAINT") == "all" {
					t.Errorf("%s/%s %s: %s", half, f.name, twin, why)
				}
			}
		}
		t.Logf("%s: %d/%d", half, rightHere, allHere)
		right, all = right+rightHere, all+allHere
	}
	t.Logf("taint: %d/%d", right, all)
}
