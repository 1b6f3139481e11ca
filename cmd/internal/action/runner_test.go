//go:build linux

package action

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

var expression = regexp.MustCompile(`\$\{\{\s*([\w.-]+)\s*\}\}`)

// job is a runner in the middle of a job.
type job struct {
	t    testing.TB
	dir  string // the checkout
	temp string
	path string
	// values are what expressions stand for.
	values map[string]string
	// env overrides a step's own environment.
	env map[string]string
	// runner are further variables of the runner's.
	runner []string
	// cached is what the service for caches keeps, by key.
	cached map[string]map[string][]byte
	log    string
}

func newJob(t testing.TB, path string) *job {
	return &job{t: t, dir: t.TempDir(), temp: t.TempDir(), path: path, values: map[string]string{}, env: map[string]string{}}
}

func (j *job) value(s string) string {
	return expression.ReplaceAllStringFunc(s, func(e string) string {
		name := expression.FindStringSubmatch(e)[1]
		v, ok := j.values[name]
		if !ok && !strings.HasPrefix(name, "steps.") && !strings.HasPrefix(name, "github.event.") {
			j.t.Errorf("nothing is known of %s", name)
		}
		return v
	})
}

// file makes an empty file of the runner's.
func (j *job) file(name string) string {
	p := filepath.Join(j.temp, name)
	if err := os.WriteFile(p, nil, 0o600); err != nil {
		j.t.Fatal(err)
	}
	return p
}

// use runs the action with these inputs and returns its exit status and summary.
func (j *job) use(inputs map[string]string) (status int, summary string) {
	j.t.Helper()
	d := load(j.t)
	j.values["github.action_ref"], j.values["github.action_path"] = "", sandboxtest.ModuleRoot(j.t)
	if _, ok := j.values["github.token"]; !ok {
		j.values["github.token"] = ""
	}
	for name, in := range d.Inputs {
		j.values["inputs."+name] = j.value(*in.Default)
	}
	// What the steps before have put on the PATH, unless the test is about that.
	j.values["inputs.version"] = "installed"
	for name, v := range inputs {
		if _, ok := d.Inputs[name]; !ok {
			j.t.Fatalf("there is no input %s", name)
		}
		j.values["inputs."+name] = v
	}
	for i, s := range d.Runs.Steps {
		if !j.holds(s.If, status != 0) {
			continue
		}
		if s.Uses != "" {
			j.caches(s)
			continue
		}
		got, said := j.step(i, s)
		status, summary = max(status, got), summary+said
	}
	for name, out := range d.Outputs {
		j.values["outputs."+name] = j.value(out.Value)
	}
	return status, summary
}

// outputs takes in what a step wrote to GITHUB_OUTPUT: NAME=VALUE, or NAME<<END, lines and END.
func (j *job) outputs(id, text string) {
	j.t.Helper()
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines)-1; i++ {
		name, v, ok := strings.Cut(lines[i], "=")
		if before, end, long := strings.Cut(lines[i], "<<"); long && !strings.Contains(before, "=") {
			var value []string
			for i++; i < len(lines) && lines[i] != end; i++ {
				value = append(value, lines[i])
			}
			name, v, ok = before, strings.Join(value, "\n"), true
		}
		if !ok {
			j.t.Errorf("a line of GITHUB_OUTPUT is %q", lines[i])
		}
		j.values["steps."+id+".outputs."+name] = v
	}
}

// caches does what actions/cache/restore and actions/cache/save do.
func (j *job) caches(s step) {
	j.t.Helper()
	key, paths := j.value(s.With["key"]), strings.Fields(j.value(s.With["path"]))
	if key == "" || len(paths) == 0 {
		j.t.Errorf("step %q: key %q, paths %q", s.Name, key, paths)
	}
	if j.cached == nil {
		j.cached = map[string]map[string][]byte{}
	}
	if strings.HasPrefix(s.Uses, "actions/cache/save@") {
		if _, there := j.cached[key]; !there { // a key is written once
			j.cached[key] = filesBelow(j.t, paths)
		}
		return
	}
	hit := key
	for have := range j.cached {
		if _, exact := j.cached[key]; !exact && strings.HasPrefix(have, j.value(s.With["restore-keys"])) {
			hit = have
		}
	}
	for name, data := range j.cached[hit] {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			j.t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			j.t.Fatal(err)
		}
	}
	if _, exact := j.cached[key]; exact {
		j.values["steps."+s.ID+".outputs.cache-hit"] = "true"
	} else {
		j.values["steps."+s.ID+".outputs.cache-hit"] = ""
	}
}

func filesBelow(t testing.TB, paths []string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, d os.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			if err == nil && d.Type().IsRegular() {
				out[name], err = os.ReadFile(name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// holds evaluates the condition of a step: terms that are joined by &&.
func (j *job) holds(condition string, failed bool) bool {
	j.t.Helper()
	always := false
	for term := range strings.SplitSeq(condition, "&&") {
		term = strings.TrimSpace(term)
		name, value, equal := strings.Cut(term, " == ")
		if !equal {
			name, value, _ = strings.Cut(term, " != ")
		}
		switch {
		case term == "":
		case term == "always()":
			always = true
		case value != "":
			if (j.value("${{ "+name+" }}") == strings.Trim(value, "'")) != equal {
				return false
			}
		default:
			j.t.Fatalf("the condition %q is not known here", condition)
		}
	}
	return always || !failed
}

func (j *job) step(i int, s step) (status int, summary string) {
	j.t.Helper()
	script := filepath.Join(j.temp, fmt.Sprintf("step%d.sh", i))
	if err := os.WriteFile(script, []byte(s.Run), 0o600); err != nil {
		j.t.Fatal(err)
	}
	output, addPath, summaryFile := j.file(fmt.Sprintf("output%d", i)), j.file(fmt.Sprintf("path%d", i)), j.file(fmt.Sprintf("summary%d", i))
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
	cmd.Dir = j.dir
	cmd.Env = []string{"PATH=" + j.path, "HOME=" + j.temp, "RUNNER_TEMP=" + j.temp, "CI=true", "GITHUB_ACTIONS=true",
		// The docker engine's image belongs to other tests: the local sandbox is wanted.
		"DOCKER_HOST=unix:///nonexistent/docker.sock",
		"GITHUB_OUTPUT=" + output, "GITHUB_PATH=" + addPath, "GITHUB_STEP_SUMMARY=" + summaryFile, "GITHUB_ENV=" + j.file(fmt.Sprintf("env%d", i))}
	cmd.Env = append(cmd.Env, j.runner...)
	for name, v := range s.Env {
		if over, ok := j.env[name]; ok {
			v = over
		}
		cmd.Env = append(cmd.Env, name+"="+j.value(v))
	}
	said, err := cmd.CombinedOutput()
	j.log += string(said)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		j.t.Fatal(err)
	}
	j.outputs(s.ID, read(j.t, output))
	for line := range strings.Lines(read(j.t, addPath)) {
		j.path = strings.TrimSpace(line) + string(filepath.ListSeparator) + j.path
	}
	return status, read(j.t, summaryFile)
}
