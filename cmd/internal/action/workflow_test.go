//go:build linux && e2e

package action

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// workflow is a sample of deploy/github.
type workflow struct {
	Jobs map[string]struct {
		Env   map[string]string
		Steps []step
	}
}

// perform runs the one job of a sample as a runner does: its scripts, this repository's action
// for coalmine's own, and of other actions what they are handed. It returns whether the job
// failed, and what the others were handed, by their names.
func (j *job) perform(file string) (failed bool, handed map[string]map[string]string) {
	j.t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(read(j.t, filepath.Join(sandboxtest.ModuleRoot(j.t), "deploy", "github", file))), &w); err != nil {
		j.t.Fatal(err)
	}
	if len(w.Jobs) != 1 {
		j.t.Fatalf("%s has %d jobs", file, len(w.Jobs))
	}
	handed = map[string]map[string]string{}
	for _, job := range w.Jobs {
		for name, v := range job.Env {
			if over, ok := j.env[name]; ok {
				v = over
			}
			j.runner = append(j.runner, name+"="+j.value(v))
		}
		for i, s := range job.Steps {
			if !j.holds(s.If, failed) {
				continue
			}
			with := map[string]string{}
			for name, v := range s.With {
				with[name] = j.value(v)
			}
			status := 0
			switch name, _, _ := strings.Cut(s.Uses, "@"); {
			case name == "coalmine-dev/coalmine":
				status, _ = j.use(with)
				for _, out := range []string{"verdict", "findings", "report", "sarif"} {
					j.values["steps."+s.ID+".outputs."+out] = j.values["outputs."+out]
				}
			case name != "":
				handed[name] = with
			default:
				status, _ = j.step(100+i, s)
			}
			failed = failed || status != 0
		}
	}
	return failed, handed
}

// event is a payload, which the runner's variables and the expressions hold.
func (j *job) event(name string, payload map[string]any) {
	j.t.Helper()
	data, err := json.Marshal(payload)
	if err != nil {
		j.t.Fatal(err)
	}
	file := filepath.Join(j.temp, "event.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		j.t.Fatal(err)
	}
	j.runner = append(j.runner, "GITHUB_EVENT_NAME="+name, "GITHUB_EVENT_PATH="+file, "GITHUB_REPOSITORY=owner/fixtures", "GITHUB_WORKSPACE="+j.dir)
	j.flatten("github.event", payload)
	j.values["github.token"], j.values["runner.os"], j.values["github.run_id"] = testToken, "Linux", "7"
}

func (j *job) flatten(at string, v any) {
	if m, ok := v.(map[string]any); ok {
		for name, v := range m {
			j.flatten(at+"."+name, v)
		}
		return
	}
	j.values[at] = fmt.Sprint(v)
}

// testToken is what the job's token is called here; no log may show it.
const testToken = "ghs_of_the_test"

// fixture makes the checkout a repository whose main branch has the honest twin, and stands on
// a change of it. base is the commit that it began from.
func (j *job) fixture(change func(dir string)) (base string) {
	j.t.Helper()
	sandboxtest.Need(j.t, "strace", "userns", "git")
	program(j.t, j.dir, "honest", "./testdata/servers/honest")
	configure(j.t, j.dir, "honest")
	j.git("init", "-q", "-b", "main")
	j.git("add", "-A")
	j.git("commit", "-qm", "one")
	base = j.git("rev-parse", "HEAD")
	j.git("checkout", "-qb", "change")
	change(j.dir)
	j.git("add", "-A")
	j.git("commit", "-qm", "change", "--allow-empty")
	return base
}

func (j *job) git(args ...string) string {
	j.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = j.dir
	cmd.Env = gitEnv()
	out, err := cmd.CombinedOutput()
	if err != nil {
		j.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// gitEnv is an environment in which no settings of this user's reach git.
func gitEnv() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
}

// program copies a built program into a checkout.
func program(t testing.TB, dir, name, pkg string) {
	t.Helper()
	data, err := os.ReadFile(sandboxtest.Build(t, pkg))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
	sandboxtest.WriteProgram(t, filepath.Join(dir, name, name), data)
}

// configure names servers in a checkout's .mcp.json.
func configure(t testing.TB, dir string, names ...string) {
	t.Helper()
	servers := map[string]any{}
	for _, name := range names {
		servers[name] = map[string]any{"command": "./" + name + "/" + name}
	}
	data, err := json.MarshalIndent(map[string]any{"mcpServers": servers}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
}
