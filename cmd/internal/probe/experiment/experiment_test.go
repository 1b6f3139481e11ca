package experiment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/fake"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

// someCase gives reason for every experiment.
func someCase(t *testing.T) Case {
	t.Helper()
	o := plan.Options{Target: plan.Target{Command: []string{"/bin/true"}}, Surroundings: plan.Surroundings{Tracer: plan.TracerBoth}}
	o.Fill()
	renew := func(as plan.Account) (plan.Plan, error) { return plan.New(o, nil, as) }
	p, err := renew(plan.Account{})
	if err != nil {
		t.Fatal(err)
	}
	p.Sandbox.Backend = "local"
	return Case{
		Plan: p, Vary: []string{"client", "ci", "clock", "locale", "canaries"}, Questions: analyze.Questions{Sealed: true, Copied: true, Besides: []string{"a.example", "b.example"}, Variables: []string{"NOTES_TOKEN"}, Places: []string{"/data"}}, OwnCode: "/srv/server", Renew: renew,
		Seen: run.Observations{
			Shaken:  true,
			Steps:   []synth.Step{{What: "tool", Name: "a", Args: []byte(`{"p":"` + p.Identity.Home + `/x"}`)}, {What: "tool", Name: "b", Oracles: []session.Injection{{Oracle: "path"}}}},
			Crashed: "a", TriedLoopback: true, LookedIn: plan.Account{User: "root", Home: "/root"}, NoNames: []string{"qzxk39vjw1.com"},
			Left: []rootfs.File{{Path: p.Identity.Home + "/.cache/x", Data: []byte("x")}},
		},
		Systems: []string{"darwin", "win32"},
		Unread:  true,
		Guided:  []synth.Step{{What: "tool", Name: "a", Args: []byte(`{"p":"new"}`)}},
		Endings: []Ending{{Tool: "a", Avoid: []json.RawMessage{[]byte("{}")}}},
	}
}

// digest is everything of a plan that a run depends on.
func digest(t *testing.T, p plan.Plan) string {
	t.Helper()
	data, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	h.Write(data)
	for _, f := range p.Files {
		fmt.Fprintf(h, "%s %o %x %v\n", f.Path, f.Mode, f.Data, f.Dir)
	}
	for _, v := range p.Env {
		fmt.Fprintln(h, v.Name, v.Value)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A build has no value that the user passed: what it makes decides what is fetched next.
func TestABuildGetsNoPassedValue(t *testing.T) {
	t.Setenv("COALMINE_TEST_PASSED", "real-Value-0123456789")
	o := plan.Options{Target: plan.Target{Command: []string{"/bin/true"}}}
	o.PassEnv = []string{"COALMINE_TEST_PASSED"}
	o.Fill()
	p, err := plan.New(o, nil, plan.Account{})
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Build.Of(&Case{Plan: p}); err != nil {
		t.Fatal(err)
	}
	there := false
	for _, v := range p.Env {
		there = there || v.Name == "COALMINE_TEST_PASSED"
		if strings.Contains(v.Value, "real-Value-0123456789") {
			t.Errorf("%s=%s", v.Name, v.Value)
		}
	}
	if !there {
		t.Error("the variable is missing")
	}
}

// Every experiment leaves the declared plan as it is, and has a run id of its own.
func TestExperimentsChangeACopy(t *testing.T) {
	c := someCase(t)
	before := digest(t, c.Plan)
	ids, names := map[string]bool{c.Plan.RunID: true}, map[string]bool{}
	for _, e := range Table() {
		if e.Proves == "" || names[e.Name] {
			t.Errorf("%s: says nothing of what it proves, or is there twice", e.Name)
		}
		names[e.Name] = true
		p, err := e.Of(&c)
		if err != nil {
			if _, missing := faketime(); missing != nil && strings.HasPrefix(e.Dir, "vary/clock") {
				continue
			}
			t.Fatalf("%s: %v", e.Name, err)
		}
		if ids[p.RunID] || p.Experiment != e.Name {
			t.Errorf("%s: run %s of the experiment %q", e.Name, p.RunID, p.Experiment)
		}
		ids[p.RunID] = true
		if now := digest(t, c.Plan); now != before {
			t.Fatalf("%s changed the declared plan", e.Name)
		}
		if e.When != nil && e.Name != Replay.Name && !e.When(&c) {
			t.Errorf("%s sees no reason in a case that has them all", e.Name)
		}
	}
}

func TestWhatExperimentsChange(t *testing.T) {
	c := someCase(t)
	of := func(e Experiment) plan.Plan {
		t.Helper()
		p, err := e.Of(&c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	library := 0
	if _, err := faketime(); err == nil {
		library = 1
	}
	if p := of(secondStart); p.Oracles != nil || p.Preload != "" || len(p.Files) != len(c.Plan.Files)+1+library || p.Budget.Calls != secondCalls || !p.Drive.Collect {
		t.Errorf("second: %+v", p.Budget)
	}
	if p := of(loopback); p.Network != plan.NetworkLoopback {
		t.Errorf("loopback: the network is %s", p.Network)
	}
	if p := of(unresolved); !p.EveryName || p.Oracles != nil {
		t.Errorf("names: %v", p.EveryName)
	}
	if p := of(otherUser); p.Identity.Home != "/root" || p.Oracles != nil {
		t.Errorf("home: %+v", p.Identity)
	}
	if _, err := faketime(); err == nil {
		if p := of(Alone); p.Preload != "" || valueOf(p.Env, "FAKETIME") != "+0 x600" || len(p.Drive.Steps) != 1 || p.Budget.Idle != aloneIdle || p.Oracles != nil {
			t.Errorf("alone: %+v, %v", p.Drive, p.Env)
		}
	}
	native := c.Plan
	c.Plan.Server.Command = []string{"/usr/bin/python3.11", "server.py"}
	lib, share := c.Plan.Identity.Home+"/.local/lib/clock", c.Plan.Identity.Home+"/.local/share/record"
	if p := of(Alone); valueOf(p.Env, "LD_PRELOAD") != "" || valueOf(p.Env, "PYTHONPATH") != share+":"+lib || valueOf(p.Env, "NODE_OPTIONS") != "--require "+share+"/record.cjs --require "+lib+"/fastclock.cjs" || p.Drive.Record == "" || !Alone.When(&c) {
		t.Errorf("alone, for Python: %v", p.Env)
	}
	c.Plan = native
	c.Plan.Sandbox.Backend = "docker"
	if Alone.When(&c) {
		t.Error("alone: where no clock can be moved")
	}
	c.Plan = native
	given := c.Plan
	c.Plan = c.Plan.With(plan.Variable{Name: "PYTHONPATH", Value: "/lib"}, plan.Variable{Name: "NODE_OPTIONS", Value: "--no-warnings"})
	dir := c.Plan.Identity.Home + "/.local/share/record"
	if p := of(Coverage); p.Drive.Record != dir+"/out" || len(p.Drive.Steps) != 2 || valueOf(p.Env, "PYTHONPATH") != dir+":/lib" || valueOf(p.Env, "NODE_OPTIONS") != "--require "+dir+"/record.cjs --no-warnings" {
		t.Errorf("coverage: %+v, %v", p.Drive, p.Env)
	}
	if p := of(Coverage); p.Drive.Guide.Tries != guidedCalls*p.Budget.Calls || p.Drive.Guide.Delay != nodeDelay {
		t.Errorf("coverage: guided by %+v", p.Drive.Guide)
	}
	system := c.Plan.Identity.Home + "/.local/lib/system"
	if p := of(Elsewhere); len(p.Drive.Steps) != 2 || p.Oracles != nil || p.Budget.Timeout > elsewhereTime || p.Drive.Record != dir+"/out" || valueOf(p.Env, "PYTHONPATH") != dir+":/lib:"+system || !slices.ContainsFunc(p.Files, func(f rootfs.File) bool {
		return f.Path == system+"/elsewhere.cjs" && strings.Contains(string(f.Data), "'darwin'")
	}) {
		t.Errorf("system: %d steps, PYTHONPATH %s, NODE_OPTIONS %s", len(p.Drive.Steps), valueOf(p.Env, "PYTHONPATH"), valueOf(p.Env, "NODE_OPTIONS"))
	}
	if p := of(Resumed); len(p.Drive.Steps) != 2 || p.Oracles != nil || p.Budget.Timeout > resumedTime || p.Drive.Record != dir+"/out" || len(p.Files) <= len(of(Coverage).Files) {
		t.Errorf("resumed: %d steps, %d files", len(p.Drive.Steps), len(p.Files))
	}
	for name, change := range map[string]func(*Case){"all ran": func(c *Case) { c.Unread = false }, "nothing was left": func(c *Case) { c.Seen.Left = nil }, "no code": func(c *Case) { c.OwnCode = "" }} {
		other := c
		if change(&other); Resumed.When(&other) {
			t.Errorf("resumed: where %s", name)
		}
	}
	if p := of(Guided); len(p.Drive.Steps) != 3 || p.Drive.Record != "" || p.Drive.Guide != (plan.Guide{}) || p.Oracles == nil != (c.Plan.Oracles == nil) {
		t.Errorf("guided: %+v", p.Drive)
	}
	c.Plan = given
	if p := of(traced); p.Tracer != sandbox.TracerStrace {
		t.Errorf("traced: under %s", p.Tracer)
	}
	c.Rounds = []run.Observations{{Crashed: "b"}}
	if p := of(restart); !slices.Equal(p.Drive.Skip, []string{"a", "b"}) {
		t.Errorf("restart: leaves %v out", p.Drive.Skip)
	}
	c.Rounds = []run.Observations{{}}
	if restart.When(&c) {
		t.Error("restart: goes on after a start that did not crash")
	}
	for _, k := range conditions {
		p, err := k.change(k.played(c.Plan, &c), &c)
		if err != nil {
			continue // the clock's library is not here
		}
		if len(p.Drive.Steps) != 1 || !p.Drive.Quick || !p.Drive.ByTerm || p.Vary == nil || p.Vary.How != k.vary.How {
			t.Errorf("%s: %+v", k.vary.How, p.Drive)
		}
		if !bytes.Contains(p.Drive.Steps[0].Args, []byte(p.Identity.Home)) {
			t.Errorf("%s: the calls name another HOME: %s", k.vary.How, p.Drive.Steps[0].Args)
		}
	}
}

// A run that cannot be made is listed with the reason, however many are made side by side.
func TestRunsThatCannotBeMade(t *testing.T) {
	var indexes [][]session.IndexedRun
	for _, jobs := range []int{1, 3} {
		c := someCase(t)
		dir := t.TempDir()
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		b := &fake.Backend{Refuses: errors.New("no sandbox today")}
		l := &Scheduler{Runner: run.Runner{Backend: b, Progress: func(string) {}}, Dir: root, Jobs: NewJobs(jobs)}
		got, err := l.Further(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		indexes = append(indexes, got)
		for _, r := range got {
			if !strings.HasSuffix(r.Failed, " could not be made: start the sandbox: no sandbox today") {
				t.Errorf("%s: %q", r.Dir, r.Failed)
			}
			if _, err := os.Stat(filepath.Join(dir, r.Dir, plan.FileName)); err != nil {
				t.Error(err)
			}
		}
		if _, err := l.Compare(t.Context(), c); err == nil {
			t.Error("a comparison that cannot be made is no error")
		}
		if err := Clear(root); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left after clearing: %v %v", left, err)
		}
		_ = root.Close()
	}
	if len(indexes[0]) != 7 || !slices.Equal(indexes[0], indexes[1]) {
		t.Errorf("one job: %+v, three: %+v", indexes[0], indexes[1])
	}
}

// A probe that is killed must not seem to have ended as the one before it did.
func TestClearLeavesNoVerdict(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"index.json", "judge.json", "report.json", "report.sarif", "report.html", "summary.md", "trace.jsonl", "session.jsonl", "notes.txt", "replay-1.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("notes.txt", filepath.Join(dir, "plan.json")); err != nil {
		t.Fatal(err)
	}
	if err := Clear(root); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"notes.txt", "plan.json", "replay-1.json"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left %q, want %q, %v", left, want, err)
	}
}

// What runs when the user gives up is ended, and nothing is called lost for it.
func TestCancelled(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	silent := func() fake.Target { return &fake.Script{Started: func(*fake.Process) { cancel(errors.New("enough")) }} }
	b := fake.Of(silent)
	l := &Scheduler{Runner: run.Runner{Backend: b, Progress: func(string) {}}, Dir: root, Jobs: NewJobs(1)}
	if _, err := l.Further(ctx, someCase(t)); err == nil || err.Error() != "enough" {
		t.Errorf("%v", err)
	}
	if now, _ := b.Alive(); now != 0 || len(b.Specs()) != 1 {
		t.Errorf("%d sandboxes are left of %d", now, len(b.Specs()))
	}
}
