package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// TestMain lets the test's own program be coalmine.
func TestMain(m *testing.M) {
	testscript.Main(cleaning{m}, map[string]func(){"coalmine": main})
}

// cleaning removes the fixtures when all tests have run.
type cleaning struct{ *testing.M }

// Run implements testscript.TestingM.
func (c cleaning) Run() int {
	defer sandboxtest.CleanUp()
	return c.M.Run()
}

// tier is what the scripts are run with beside this program: nothing, unless the
// end-to-end tests are built, which have a sandbox and the fixtures' programs.
var tier struct {
	// setUp prepares for one script.
	setUp func(*testing.T, *testscript.Env) error
	// sandbox tells whether a probe can run.
	sandbox bool
	// has chooses among the scripts by their texts; nil takes all.
	has func(script string) bool
}

// TestScripts runs the scripts, each a topic of the command line's contract.
// $SERVERS holds the fixtures' programs; what probes needs [sandbox].
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files: scripts(t),
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("DOCKER_HOST", "unix:///no/such.sock")
			if tier.setUp == nil {
				return nil
			}
			return tier.setUp(t, e)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: status N ARG…")
				}
				exits(ts, args[0], args[1:])
			},
			"usage": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg {
					ts.Fatalf("usage: usage ARG…")
				}
				exits(ts, "2", args)
				if out := ts.ReadFile("stdout"); out != "" {
					ts.Fatalf("a mistake on the command line wrote to stdout: %s", out)
				}
			},
			"envsubst": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, name := range args {
					text := os.Expand(ts.ReadFile(name), ts.Getenv)
					ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
				}
			},
		},
		Condition: func(cond string) (bool, error) {
			return cond == "sandbox" && tier.sandbox, nil
		},
	})
}

// scripts are the files of those that this tier runs.
func scripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("no scripts are found: %v", err)
	}
	return slices.DeleteFunc(all, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return tier.has != nil && !tier.has(string(text))
	})
}

// exits runs coalmine and checks its exit status. What it prints is the
// script's to look at.
func exits(ts *testscript.TestScript, want string, args []string) {
	err := ts.Exec("coalmine", args...)
	got := "0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = strconv.Itoa(exit.ExitCode())
	case err != nil:
		ts.Fatalf("coalmine: %v", err)
	}
	if got != want {
		ts.Fatalf("coalmine %s: status %s, want %s\n%s%s", strings.Join(args, " "), got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// coalmine runs the program in this test's own process' image.
func coalmine(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("coalmine", args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("coalmine %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sandboxtest.ModuleRoot(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var (
	tableCommand = regexp.MustCompile("(?m)^\\| `coalmine ([a-z-]+)")
	tableStatus  = regexp.MustCompile(`(?m)^\| ([0-9]+) \|`)
)

// What README.md promises is there, and what is there stands in it.
func TestReadmeMatchesTheProgram(t *testing.T) {
	text, help := readme(t), coalmine(t, "--help")
	documented := map[string]bool{}
	for _, m := range tableCommand.FindAllStringSubmatch(text, -1) {
		documented[m[1]] = true
		if out := coalmine(t, m[1], "--help"); !strings.Contains(out, "coalmine "+m[1]) {
			t.Errorf("README.md tells of coalmine %s, which there is not", m[1])
		}
	}
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		name := strings.Fields(line)[0]
		if name != "help" && name != "completion" && !documented[name] {
			t.Errorf("README.md does not tell of coalmine %s", name)
		}
	}
	var statuses []string
	for _, m := range tableStatus.FindAllStringSubmatch(text, -1) {
		statuses = append(statuses, m[1])
	}
	if got := strings.Join(statuses, " "); got != "0 1 2 3" {
		t.Errorf("README.md documents the exit statuses %q", got)
	}
	for _, s := range statuses {
		if !strings.Contains(help, s+" ") {
			t.Errorf("coalmine --help does not tell of exit status %s", s)
		}
	}
}
