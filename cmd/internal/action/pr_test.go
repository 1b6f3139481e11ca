//go:build linux && e2e

package action

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// TestPullRequests takes a repository of fixtures through the ways of docs/ci.md: GitHub,
// GitLab and pre-commit. COALMINE_PR=all makes all of them, and prints a row for each; else
// there is one probe for GitHub and one for GitLab.
func TestPullRequests(t *testing.T) {
	all := os.Getenv("COALMINE_PR") == "all"
	for _, c := range []struct {
		name   string
		sample bool
		run    func(*testing.T)
	}{
		{"github: a change that adds a leaky server fails, and is commented", true, githubLeaky},
		{"github: a change of nothing probes nothing, and updates the comment", true, githubUnchanged},
		{"github: an honest change passes", false, githubHonest},
		{"github: a change of the policy allows nothing", false, githubPolicy},
		{"github: a change of the policy allows nothing where the workflow does not say so", false, githubPolicyUnsaid},
		{"github: a signed verdict stands for a run", false, githubAttested},
		{"github: the merge queue fails on a leaky server", false, githubQueue},
		{"github: the nightly sweep keeps a site and signs", false, githubNightly},
		{"gitlab: a change that adds a leaky server fails, with reports", true, gitlabLeaky},
		{"gitlab: a change of nothing has empty reports", true, gitlabUnchanged},
		{"jenkins: the sample finds the leaky server, and keeps the reports", false, jenkins},
		{"azure: the sample finds the leaky server, and keeps the reports", false, azure},
		{"docker run: a mounted checkout with a leaky server fails", false, mountedLeaky},
		{"docker run: a mounted checkout with an honest server passes", false, mountedHonest},
		{"docker run: a mounted checkout without a changed server passes", true, mountedNothing},
		{"docker run: with the engine's socket, in containers beside it, a leaky server fails", false, siblingLeaky},
		{"docker run: with the engine's socket, in containers beside it, an honest server passes", false, siblingHonest},
		{"pre-commit: a commit with a leaky server is refused", false, preCommitLeaky},
		{"pre-commit: a commit without one is made", true, preCommitClean},
		{"pre-commit: a configuration that cannot be read is refused", true, preCommitBroken},
		{"pre-commit: a hook is built from its repository", false, preCommitBuilt},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !all && !c.sample {
				t.Skip("make pr-report runs it")
			}
			t.Parallel()
			sandboxtest.Acquire(t, sandboxtest.Light)
			t.Cleanup(func() {
				state := "right"
				if t.Failed() || t.Skipped() {
					state = "WRONG"
				}
				if all {
					fmt.Printf("pr %s: %s\n", c.name, state)
				}
			})
			c.run(t)
		})
	}
}

// prJob is a job whose checkout is a fixture with this change, for a pull request.
func prJob(t testing.TB, change func(dir string)) (j *job, base string) {
	t.Helper()
	j = newJob(t, filepath.Dir(sandboxtest.Build(t, "./cmd/coalmine"))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	base = j.fixture(change)
	j.event("pull_request", map[string]any{"number": 7, "pull_request": map[string]any{"number": 7, "base": map[string]any{"sha": base}}})
	j.runner = append(j.runner, gitEnv()[len(os.Environ()):]...)
	return j, base
}

func addLeaky(t *testing.T) func(string) {
	return func(dir string) {
		program(t, dir, "leaky", "./testdata/servers/leaky")
		configure(t, dir, "honest", "leaky")
	}
}

func addHonest(t *testing.T) func(string) {
	return func(dir string) {
		program(t, dir, "second", "./testdata/servers/honest")
		configure(t, dir, "honest", "second")
	}
}

func nothing(string) {}

// conversation is the comments of one pull request, as the API has them.
type conversation struct {
	mu      sync.Mutex
	body    string
	changes []string
}

func (c *conversation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sent struct{ Body string }
	_ = json.NewDecoder(r.Body).Decode(&sent)
	switch what := r.Method + " " + r.URL.Path; {
	case r.Header.Get("Authorization") != "Bearer "+testToken:
		w.WriteHeader(http.StatusUnauthorized)
	case what == "GET /repos/owner/fixtures/issues/7/comments":
		list := []map[string]any{}
		if c.body != "" {
			list = append(list, map[string]any{"id": 3, "body": c.body, "user": map[string]string{"login": "github-actions[bot]"}})
		}
		_ = json.NewEncoder(w).Encode(list)
	case what == "POST /repos/owner/fixtures/issues/7/comments", what == "PATCH /repos/owner/fixtures/issues/comments/3":
		c.body, c.changes = sent.Body, append(c.changes, r.Method)
	default:
		http.NotFound(w, r)
	}
}

func (j *job) conversation() *conversation {
	c := &conversation{}
	s := httptest.NewServer(c)
	j.t.Cleanup(s.Close)
	j.runner = append(j.runner, "GITHUB_API_URL="+s.URL)
	return c
}

// expect checks how a job ended, what it hands on and that its log is without the token.
func (j *job) expect(failed, wantFailed bool, verdict string) {
	j.t.Helper()
	if got := j.values["outputs.verdict"]; failed != wantFailed || got != verdict {
		j.t.Errorf("failed: %v, verdict %q, wanted %s\n%s", failed, got, verdict, j.log)
	}
	if strings.Contains(j.log, testToken) {
		j.t.Error("the log shows the token")
	}
}

func githubLeaky(t *testing.T) {
	j, _ := prJob(t, addLeaky(t))
	c := j.conversation()
	failed, handed := j.perform("pull-request.yml")
	j.expect(failed, true, "findings")
	if !strings.Contains(j.log, "honest: unchanged since") || !strings.Contains(j.log, "::error file=.mcp.json,line=") {
		t.Errorf("log\n%s", j.log)
	}
	if fmt.Sprint(c.changes) != "[POST]" || !strings.Contains(c.body, "### coalmine: findings") || !strings.Contains(c.body, "CM1") {
		t.Errorf("%v comments\n%s", c.changes, c.body)
	}
	if sarif := handed["github/codeql-action/upload-sarif"]["sarif_file"]; sarif == "" || len(read(t, sarif)) < 1000 {
		t.Errorf("SARIF %q", sarif)
	}
	if _, err := os.Stat(filepath.Join(handed["actions/upload-artifact"]["path"], "leaky", "report.html")); err != nil {
		t.Error(err)
	}
}

func githubUnchanged(t *testing.T) {
	j, _ := prJob(t, nothing)
	c := j.conversation()
	c.body = "<!-- coalmine: coalmine -->\n### coalmine: findings\n"
	failed, handed := j.perform("pull-request.yml")
	j.expect(failed, false, "unchanged")
	if fmt.Sprint(c.changes) != "[PATCH]" || !strings.Contains(c.body, "### coalmine: unchanged") || handed["github/codeql-action/upload-sarif"] != nil {
		t.Errorf("%v comments\n%s\n%v", c.changes, c.body, handed)
	}
}

func githubHonest(t *testing.T) {
	j, _ := prJob(t, addHonest(t))
	// Without the right to comment, the job goes on.
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	j.runner = append(j.runner, "GITHUB_API_URL="+s.URL)
	failed, _ := j.perform("pull-request.yml")
	j.expect(failed, false, "clean")
	if !strings.Contains(j.log, "::warning::coalmine could not comment") {
		t.Errorf("log\n%s", j.log)
	}
}

func githubPolicy(t *testing.T) {
	j, base := prJob(t, allowAll(t))
	j.policy(map[string]string{"changed-since": base})
}

func githubPolicyUnsaid(t *testing.T) {
	j, _ := prJob(t, allowAll(t))
	j.policy(map[string]string{})
}

// allowAll adds a leaky server and a policy that lets it pass.
func allowAll(t *testing.T) func(string) {
	return func(dir string) {
		addLeaky(t)(dir)
		text := "schema: coalmine/policy/v1\ndefaults:\n  fail-on: never\n"
		if err := os.WriteFile(filepath.Join(dir, "coalmine.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (j *job) policy(inputs map[string]string) {
	t := j.t
	t.Helper()
	inputs["server"], inputs["policy"] = "leaky", "coalmine.yaml"
	status, _ := j.use(inputs)
	j.expect(status != 0, true, "findings")
	if !strings.Contains(j.log, "CM502") {
		t.Errorf("the change of the policy is not told\n%s", j.log)
	}
}

// githubAttested signs the verdict of one run; a second job takes it, and one whose server
// differs, or that trusts another key, does not.
func githubAttested(t *testing.T) {
	j, base := prJob(t, func(dir string) { configure(t, dir, "honest"); touch(t, filepath.Join(dir, "honest", "changed")) })
	failed := func(verdicts, key string) (bool, string) {
		j.log = ""
		status, _ := j.use(map[string]string{"changed-since": base, "verdicts": verdicts, "verdicts-key": key})
		return status != 0, j.log
	}
	keys := t.TempDir()
	for _, name := range []string{"mine", "other"} {
		j.coalmine("attest", "--new-key", filepath.Join(keys, name))
	}
	store := filepath.Join(keys, "verdicts")
	if err := os.Mkdir(store, 0o700); err != nil {
		t.Fatal(err)
	}
	if bad, log := failed(store, filepath.Join(keys, "mine.pub")); bad || !strings.Contains(log, "honest: no verdict is signed for it (sha256:") {
		t.Fatalf("without a verdict: %s", log)
	}
	j.expect(false, false, "clean")
	run := filepath.Join(j.values["outputs.report"], "honest")
	j.coalmine("attest", "--key", filepath.Join(keys, "mine"), "--out", store, run)
	if bad, log := failed(store, filepath.Join(keys, "mine.pub")); bad || !strings.Contains(log, "honest: clean by a signed verdict of ") {
		t.Errorf("with a verdict: %s", log)
	}
	j.expect(false, false, "clean")
	if bad, log := failed(store, filepath.Join(keys, "other.pub")); bad || !strings.Contains(log, "a signed verdict is refused: no trusted key signed it") {
		t.Errorf("with another key: %s", log)
	}
}

func touch(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// coalmine runs the program in the checkout.
func (j *job) coalmine(args ...string) string {
	j.t.Helper()
	cmd := exec.Command(sandboxtest.Build(j.t, "./cmd/coalmine"), args...)
	cmd.Dir = j.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		j.t.Fatalf("coalmine %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func githubQueue(t *testing.T) {
	j, base := prJob(t, addLeaky(t))
	j.event("merge_group", map[string]any{"merge_group": map[string]any{"base_sha": base}})
	failed, _ := j.perform("merge-queue.yml")
	j.expect(failed, true, "findings")
}

func githubNightly(t *testing.T) {
	j, _ := prJob(t, nothing)
	if err := os.WriteFile(filepath.Join(j.dir, "servers.txt"), []byte(filepath.Join(j.dir, "honest", "honest")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "key")
	j.coalmine("attest", "--new-key", key)
	j.event("schedule", map[string]any{"schedule": "23 3 * * *"})
	j.values["matrix.shard"], j.values["secrets.COALMINE_KEY"] = "1", read(t, key)
	j.env["SHARD"] = "1/1"
	failed, _ := j.perform("nightly-sweep.yml")
	signed, err := filepath.Glob(filepath.Join(j.dir, "verdicts", "*.jsonl"))
	if _, siteErr := os.Stat(filepath.Join(j.dir, "site", "index.html")); failed || err != nil || siteErr != nil || len(signed) != 1 {
		t.Fatalf("failed: %v, %q, %v, %v\n%s", failed, signed, err, siteErr, j.log)
	}
	if out := j.coalmine("verify", "--key", key+".pub", signed[0]); !strings.Contains(out, " clean by coalmine ") {
		t.Error(out)
	}
	if left, _ := filepath.Glob(filepath.Join(j.temp, "key.pem")); len(left) > 0 || strings.Contains(j.log, "PRIVATE KEY") {
		t.Error("the key is left behind, or in the log")
	}
}

// gitlab runs the template's script in a fixture, as GitLab's runner does for a merge request.
func gitlab(t *testing.T, change func(string)) (j *job, status int) {
	t.Helper()
	j, base := prJob(t, change)
	var template map[string]any
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(sandboxtest.ModuleRoot(t), "deploy", "gitlab", "coalmine.gitlab-ci.yml"))), &template); err != nil {
		t.Fatal(err)
	}
	var script []string
	job, _ := template["coalmine"].(map[string]any)
	for _, line := range job["script"].([]any) {
		script = append(script, line.(string))
	}
	cmd := exec.Command("sh", "-eu", "-c", strings.Join(script, "\n"))
	cmd.Dir = j.dir
	cmd.Env = append(gitEnv(), "PATH="+j.path, "HOME="+j.temp, "DOCKER_HOST=unix:///nonexistent/docker.sock", "CI_PROJECT_DIR="+j.dir, "COALMINE_SINCE="+base)
	for name, v := range template["variables"].(map[string]any) {
		cmd.Env = append(cmd.Env, name+"="+fmt.Sprint(v))
	}
	out, err := cmd.CombinedOutput()
	j.log = string(out)
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	reports, _ := job["artifacts"].(map[string]any)["reports"].(map[string]any)
	for kind, file := range reports {
		if _, err := os.Stat(filepath.Join(j.dir, file.(string))); err != nil {
			t.Errorf("the report %s: %v\n%s", kind, err, out)
		}
	}
	return j, cmd.ProcessState.ExitCode()
}

func gitlabLeaky(t *testing.T) {
	j, status := gitlab(t, addLeaky(t))
	var sast struct{ Vulnerabilities []struct{ Severity string } }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(j.dir, "gl-sast-report.json"))), &sast); err != nil {
		t.Fatal(err)
	}
	var quality []struct{ Severity string }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(j.dir, "gl-code-quality-report.json"))), &quality); err != nil {
		t.Fatal(err)
	}
	if status != 1 || len(sast.Vulnerabilities) == 0 || len(quality) != len(sast.Vulnerabilities) || !strings.Contains(read(t, filepath.Join(j.dir, "junit.xml")), "<failure ") {
		t.Errorf("status %d, %d vulnerabilities, %d of quality\n%s", status, len(sast.Vulnerabilities), len(quality), j.log)
	}
}

func gitlabUnchanged(t *testing.T) {
	j, status := gitlab(t, nothing)
	if quality := strings.TrimSpace(read(t, filepath.Join(j.dir, "gl-code-quality-report.json"))); status != 0 || quality != "[]" || !strings.Contains(j.log, "nothing to probe") {
		t.Errorf("status %d, %s\n%s", status, quality, j.log)
	}
}

// preCommit tries to commit a change to a fixture whose configuration has these hooks of this
// repository, through the real pre-commit.
func preCommit(t *testing.T, hooks []string, change func(string)) (committed bool, log string) {
	t.Helper()
	program := sandboxtest.Cache("pre-commit", "current", "bin", "pre-commit")
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("COALMINE_PR") == "all" {
			t.Fatal(err)
		}
		t.Skipf("%v (.ci/setup/pre-commit.sh installs it)", err)
	}
	j, _ := prJob(t, nothing)
	// A repository of hooks is one commit of what is here now.
	repo := t.TempDir()
	source := sandboxtest.ModuleRoot(t)
	at := &job{t: t, dir: repo}
	if hooks[0] == "coalmine-audit" {
		files := exec.Command("sh", "-c", `git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$0"`, repo)
		files.Dir = source
		if out, err := files.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	} else if err := os.WriteFile(filepath.Join(repo, ".pre-commit-hooks.yaml"), []byte(read(t, filepath.Join(source, ".pre-commit-hooks.yaml"))), 0o644); err != nil {
		t.Fatal(err)
	}
	at.git("init", "-q")
	at.git("add", "-A")
	at.git("commit", "-qm", "hooks")
	config := map[string]any{"repos": []any{map[string]any{"repo": repo, "rev": at.git("rev-parse", "HEAD"), "hooks": func() (list []any) {
		for _, id := range hooks {
			list = append(list, map[string]any{"id": id})
		}
		return list
	}()}}}
	data, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(j.dir, ".pre-commit-config.yaml"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(caches))
	env := append(gitEnv(), "PATH="+j.path, "PRE_COMMIT_HOME="+filepath.Join(j.temp, "pre-commit"), "DOCKER_HOST=unix:///nonexistent/docker.sock", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOCACHE="+dirs[0], "GOMODCACHE="+dirs[1])
	run := func(name string, args ...string) error {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = j.dir, env
		out, err := cmd.CombinedOutput()
		log += string(out)
		return err
	}
	if err := run(program, "install"); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	change(j.dir)
	if err := run("git", "add", "-A"); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	return run("git", "commit", "-m", "change") == nil, log
}

func preCommitLeaky(t *testing.T) {
	if ok, log := preCommit(t, []string{"coalmine-probe-system"}, addLeaky(t)); ok || !strings.Contains(log, "honest: unchanged since HEAD") || !strings.Contains(log, ": findings (") {
		t.Errorf("committed: %v\n%s", ok, log)
	}
}

func preCommitClean(t *testing.T) {
	ok, log := preCommit(t, []string{"coalmine-targets-system", "coalmine-audit-system", "coalmine-probe-system"}, func(dir string) {
		addSource(t, dir)
	})
	if !ok || strings.Count(log, "Passed") != 3 {
		t.Errorf("committed: %v\n%s", ok, log)
	}
}

func preCommitBroken(t *testing.T) {
	ok, log := preCommit(t, []string{"coalmine-targets-system"}, func(dir string) {
		if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(`{"mcpServers":{`), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	if ok || !strings.Contains(log, ".mcp.json:1") {
		t.Errorf("committed: %v\n%s", ok, log)
	}
}

// addSource adds a file of source: of programs without any the audit says only that it read none.
func addSource(t *testing.T, dir string) {
	t.Helper()
	touch(t, filepath.Join(dir, "note.txt"))
	if err := os.WriteFile(filepath.Join(dir, "build.py"), []byte("print('built')\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func preCommitBuilt(t *testing.T) {
	ok, log := preCommit(t, []string{"coalmine-audit"}, func(dir string) { addSource(t, dir) })
	if !ok || !strings.Contains(log, "Passed") {
		t.Errorf("committed: %v\n%s", ok, log)
	}
}
