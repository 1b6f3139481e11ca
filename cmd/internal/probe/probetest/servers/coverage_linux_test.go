//go:build linux && e2e

package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A deed that no call triggers is named, also where the server is killed, and the policy can
// accept it.
func TestCodeThatNeverRan(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python", "node")
	for _, c := range scale.One(t.Name(), []struct {
		program, suffix, function string
		functions                 int
	}{
		{"python3", ".py", "gated.py:send", 4},
		{"node", ".mjs", "gated.mjs:keep", 3}, // a function without a name counts for the one around it
	}) {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			l := probetest.New(t)
			o := l.Options("local", c.program, l.Source(t, "gated", c.suffix))
			o.Limits = plan.DefaultLimits
			res := l.Probe(o)
			name := c.function[strings.IndexByte(c.function, ':')+1:]
			if !slices.ContainsFunc(res.Gaps, func(g session.Gap) bool {
				return g.Code == session.GapCodeNotRun && strings.HasPrefix(g.Text, name+", gated"+c.suffix+":")
			}) {
				t.Errorf("%s is not named: %s %q", c.function, res.Verdict, res.Inconclusive)
			}
			if code := res.Coverage.Code; code == nil || code.Functions != c.functions || code.Reached != c.functions-1 {
				t.Errorf("not all but one function ran: %+v", code)
			}
			p, err := policy.Parse("coalmine.yaml", []byte("accept_unrun: [{function: \""+c.function+"\", reason: a test, expires: 2999-01-31}]"))
			if err != nil {
				t.Fatal(err)
			}
			again := judgedUnder(t, l.LogDir(), p)
			if slices.ContainsFunc(again.Gaps, func(g session.Gap) bool { return g.Code == session.GapCodeNotRun }) || again.Coverage.Code.Unrun[0].Accepted != "a test" {
				t.Errorf("what the policy accepts is a doubt: %q %+v", again.Inconclusive, again.Coverage.Code)
			}
		})
	}
}

// What stands behind several arguments that must be right together is reached by keeping what
// reached new code, and is judged in a run without a recorder.
func TestGuidedCalls(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python", "node")
	for _, c := range scale.One(t.Name(), []struct{ program, suffix string }{{"python3", ".py"}, {"node", ".mjs"}}) {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			l := probetest.New(t)
			o := l.Options("local", c.program, l.Source(t, "nested", c.suffix))
			// A busy machine is no reason to reach less.
			o.Limits, o.Timeout, o.OracleTime = plan.DefaultLimits, 2*time.Minute, 5*time.Minute
			res := l.ProbeWithin(8*time.Minute, o)
			code := res.Coverage.Code
			if code == nil || code.Reached <= code.Unguided || code.Guided == 0 {
				t.Fatalf("no more was reached with guidance: %+v", code)
			}
			for _, f := range res.Findings {
				if f.Rule == "CM101" {
					return
				}
			}
			t.Errorf("the theft was reached and is not judged: %s %v", res.Verdict, res.Findings)
		})
	}
}

// judgedUnder judges a run's directory under a policy.
func judgedUnder(t *testing.T, dir string, p *policy.Policy) *analyze.Result {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	res, _, err := analyze.Judge(root, "test", func(in *analyze.Inputs) {
		in.Policy = &analyze.File{Name: p.File, Text: string(p.Source)}
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestCoverage counts the functions of honest servers' own code that ran, and names what never
// did, where COALMINE_COVERAGE asks for it.
func TestCoverage(t *testing.T) {
	if os.Getenv("COALMINE_COVERAGE") == "" {
		t.Skip("COALMINE_COVERAGE is not set: make coverage-report runs it; TestCodeThatNeverRan has a sample")
	}
	probetest.Need(t, "local")
	sandboxtest.Need(t, "node")
	cache := filepath.Join(filepath.Dir(filepath.Dir(probetest.Installed(t, "python"))), "honest")
	for _, s := range probetest.Shard(t, coveredServers(t, cache)) {
		t.Run(s.ID, func(t *testing.T) {
			l := probetest.New(t)
			o := l.Options("local", s.Command...)
			o.Calls, o.Timeout, o.CallTimeout, o.OracleTime, o.ShrinkTime, o.Limits, o.Network = 8, 100*time.Second, 8*time.Second, 10*time.Second, time.Nanosecond, plan.DefaultLimits, plan.NetworkSinkhole
			o.Env, o.Transport, o.Cover = s.Env, s.Transport, true
			res := l.ProbeWithin(4*time.Minute, o)
			code := res.Coverage.Code
			if code == nil || code.Unrecorded != "" {
				fmt.Printf("coverage %s: not recorded\n", s.ID)
				return
			}
			doubts := 0
			for _, g := range res.Gaps {
				if g.Code == session.GapCodeNotRun {
					doubts++
				}
			}
			fmt.Printf("coverage %s: %d/%d %d unguided, %d inputs kept, %d doubts, %s\n", s.ID, code.Reached, code.Functions, code.Unguided, code.Guided, doubts, res.Verdict)
			for _, u := range code.Unrun {
				fmt.Printf("    %s:%d %v by %q weighs %v\n", u.Place(), u.Line, u.Kinds, u.Way, u.Weighs)
			}
		})
	}
}

// coveredServers are the honest ones of Python and Node.js that are installed.
func coveredServers(t *testing.T, cache string) []honest {
	t.Helper()
	return slices.DeleteFunc(honestServers(t, cache), func(s honest) bool {
		for _, w := range s.Command {
			if filepath.IsAbs(w) {
				if _, err := os.Stat(w); err != nil {
					return true
				}
			}
		}
		return strings.HasPrefix(s.ID, "go-") || strings.HasPrefix(s.ID, "mcp-go-")
	})
}
