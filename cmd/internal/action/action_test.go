//go:build linux && e2e

package action

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

func TestMain(m *testing.M) {
	code := m.Run()
	sandboxtest.CleanUp()
	os.Exit(code)
}

func TestActionlint(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	cache := os.Getenv("COALMINE_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(dir, "coalmine")
	}
	found, _ := filepath.Glob(filepath.Join(cache, "tools", "actionlint-*", "actionlint"))
	if len(found) == 0 {
		t.Skip("actionlint is not installed: make lint does it, and runs it")
	}
	samples, err := filepath.Glob(filepath.Join(sandboxtest.ModuleRoot(t), "deploy", "github", "*.yml"))
	if err != nil || len(samples) != 3 {
		t.Fatal(samples, err)
	}
	// Without an argument it reads the repository's own workflows.
	for _, files := range [][]string{nil, samples} {
		cmd := exec.Command(found[len(found)-1], files...)
		cmd.Dir = sandboxtest.ModuleRoot(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// twins is a job whose checkout names the twins in a configuration, with
// coalmine on the PATH.
func twins(t *testing.T) *job {
	t.Helper()
	sandboxtest.Need(t, "strace", "userns")
	j := newJob(t, filepath.Dir(sandboxtest.Build(t, "./cmd/coalmine"))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	// A configuration's servers lie in its repository.
	servers := map[string]any{}
	for _, name := range []string{"leaky", "honest"} {
		program, err := os.ReadFile(sandboxtest.Build(t, "./testdata/servers/"+name))
		if err != nil {
			t.Fatal(err)
		}
		sandboxtest.WriteProgram(t, filepath.Join(j.dir, name), program)
		servers[name] = map[string]any{"command": filepath.Join(j.dir, name)}
	}
	config := map[string]any{"mcpServers": servers}
	data, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(j.dir, ".mcp.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return j
}

func TestTwins(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	for _, c := range []struct {
		name    string
		inputs  map[string]string
		status  int
		verdict string
		files   int
	}{
		{"both, by default", nil, 1, "findings", 2},
		{"leaky", map[string]string{"config": ".mcp.json", "server": "leaky", "format": "sarif,json"}, 1, "findings", 1},
		{"honest", map[string]string{"server": "honest"}, 0, "clean", 1},
		{"never", map[string]string{"server": "leaky", "fail-on": "never"}, 0, "findings", 1},
	} {
		if (c.name == "leaky" || c.name == "honest") && !scale.Deep() {
			continue // the first case has both
		}
		t.Run(c.name, func(t *testing.T) {
			j := twins(t)
			status, summary := j.use(c.inputs)
			if status != c.status || j.values["outputs.verdict"] != c.verdict {
				t.Fatalf("status %d, verdict %q\n%s", status, j.values["outputs.verdict"], j.log)
			}
			if !strings.HasPrefix(summary, "### coalmine: "+c.verdict+"\n") || !strings.Contains(summary, "coalmine · `notes 1.0.0` · "+c.verdict) {
				t.Errorf("summary\n%s", summary)
			}
			sarif := j.values["outputs.sarif"]
			info, err := os.Stat(sarif)
			if err != nil || info.IsDir() != (c.files > 1) {
				t.Fatalf("sarif %q: %v", sarif, err)
			}
			if got := fmt.Sprint(strings.Count(j.log, ",title=CM")); got != j.values["outputs.findings"] || c.verdict == "findings" == (got == "0") {
				t.Errorf("%s annotations, and %s findings", got, j.values["outputs.findings"])
			}
			if _, err := os.Stat(filepath.Join(j.values["outputs.report"], "leaky", "report.html")); err != nil && c.verdict == "findings" {
				t.Error(err)
			}
			n := 0
			err = filepath.WalkDir(sarif, func(p string, _ os.DirEntry, err error) error {
				if strings.HasSuffix(p, ".sarif") {
					n++
					located(t, p)
					keepsSchema(t, filepath.Join(filepath.Dir(p), "report.json"))
				}
				return err
			})
			if err != nil || n != c.files {
				t.Errorf("%d SARIF files, %v", n, err)
			}
			quiet(t, j.log)
		})
	}
}

// located checks that each result stands at its entry in the configuration.
func located(t *testing.T, file string) {
	t.Helper()
	var log struct {
		Runs []struct {
			Results []struct {
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(read(t, file)), &log); err != nil {
		t.Fatal(err)
	}
	for _, r := range log.Runs[0].Results {
		l := r.Locations[0].PhysicalLocation
		if l.ArtifactLocation.URI != ".mcp.json" || l.Region.StartLine < 3 || l.Region.StartColumn < 2 {
			t.Errorf("a result is located at %+v", l)
		}
	}
}

// keepsSchema validates a report that a real run left.
func keepsSchema(t *testing.T, file string) {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("https://example.org/report.json", schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://example.org/report.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("%s: %v", file, err)
	}
}

// A pull request is judged by what it is based on, whether or not the workflow says so.
func TestAPullRequestIsJudgedByItsBase(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "coalmine"), []byte("#!/bin/sh\necho \"args: $*\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	request := map[string]any{"pull_request": map[string]any{"base": map[string]any{"sha": "abc"}}}
	queue := map[string]any{"merge_group": map[string]any{"base_sha": "def"}}
	for _, c := range []struct {
		event  string
		says   map[string]any
		inputs map[string]string
		status int
		since  string
	}{
		{"pull_request", request, map[string]string{"policy": "p"}, 0, "abc"},
		{"pull_request", request, map[string]string{"baseline": "b"}, 0, "abc"},
		{"pull_request_target", request, map[string]string{"verdicts": "v", "verdicts-key": "k"}, 0, "abc"},
		{"pull_request", request, map[string]string{"policy": "p", "changed-since": "main"}, 0, "main"},
		{"merge_group", queue, map[string]string{"policy": "p"}, 0, "def"},
		{"pull_request", map[string]any{}, map[string]string{"policy": "p"}, 2, ""},
		{"pull_request", request, nil, 0, ""},
		{"push", map[string]any{}, map[string]string{"policy": "p"}, 0, ""},
	} {
		t.Run(fmt.Sprint(c.event, c.inputs), func(t *testing.T) {
			j := newJob(t, bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
			j.event(c.event, c.says)
			status, _ := j.use(c.inputs)
			_, since, _ := strings.Cut(j.log, "--changed-since=")
			since, _, _ = strings.Cut(since, " ")
			since, _, _ = strings.Cut(since, "\n")
			if status != c.status || since != c.since {
				t.Errorf("status %d, since %q\n%s", status, since, j.log)
			}
		})
	}
}

func TestHostileInputs(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	for _, evil := range []string{"$(touch owned)", "`touch owned`", "'; touch owned; '", "\"; touch owned; \"", "x\ntouch owned\n", "-x\n--out=owned", "${{ github.token }}", "*", "a]; touch owned; ["} {
		for _, input := range []string{"config", "server", "command", "fail-on", "format", "budget", "version", "checksum", "cache"} {
			t.Run(input+" "+evil, func(t *testing.T) {
				j := twins(t)
				status, _ := j.use(map[string]string{input: evil})
				// A command that does not exist, a config that is not there: each is a
				// usage error; a word of a format after the first line is not looked at.
				if status != 2 && (input != "format" || status != 1) {
					t.Errorf("status %d\n%s", status, j.log)
				}
				for _, dir := range []string{j.dir, j.temp} {
					if _, err := os.Stat(filepath.Join(dir, "owned")); err == nil {
						t.Error("the input was evaluated")
					}
				}
			})
		}
	}
}

func TestCommandIsWords(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	j := twins(t)
	honest := sandboxtest.Build(t, "./testdata/servers/honest")
	for _, command := range []string{honest, "  " + honest + "  $(touch owned)  *", honest + "\ntwo words\n'x'\n"} {
		if status, _ := j.use(map[string]string{"command": command}); status != 0 {
			t.Errorf("%q: status %d\n%s", command, status, j.log)
		}
	}
	if _, err := os.Stat(filepath.Join(j.dir, "owned")); err == nil {
		t.Error("the command was evaluated")
	}
}

// Who pins the action pins the program: it is built from what was pinned, and no
// release is asked for.
func TestInstallWhatThePinNames(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	path := os.Getenv("PATH")
	for _, ref := range scale.First(2, []string{strings.Repeat("a", 40), "$(touch owned)", ""}) {
		t.Run(ref, func(t *testing.T) {
			url, asked := releases(t, archive(t))
			j, status := install(t, path, url, map[string]string{"github.action_ref": ref})
			if status != 0 || asked.Load() != 0 || !strings.HasPrefix(j.path, j.temp) || strings.Contains(j.log, "coalmine 1.2.3") {
				t.Fatalf("status %d, %d requests\n%s", status, asked.Load(), j.log)
			}
			program := filepath.Join(strings.SplitN(j.path, ":", 2)[0], "coalmine")
			if info, err := buildinfo.ReadFile(program); err != nil || info.Main.Path != "github.com/coalmine-dev/coalmine" {
				t.Errorf("%+v, %v", info, err)
			}
			if _, err := os.Stat(filepath.Join(j.dir, "owned")); err == nil {
				t.Error("the ref was evaluated")
			}
		})
	}
	t.Run("without Go", func(t *testing.T) {
		url, asked := releases(t, archive(t))
		if j, status := install(t, "/bin-without-go:/usr/bin:/bin", url, nil); status != 2 || asked.Load() != 0 || !strings.Contains(j.log, "actions/setup-go") {
			t.Errorf("status %d, %d requests\n%s", status, asked.Load(), j.log)
		}
	})
	t.Run("installed", func(t *testing.T) {
		url, asked := releases(t, archive(t))
		if j, status := install(t, "/usr/bin:/bin", url, map[string]string{"inputs.version": "installed"}); status != 2 || asked.Load() != 0 {
			t.Errorf("status %d, %d requests\n%s", status, asked.Load(), j.log)
		}
	})
}
