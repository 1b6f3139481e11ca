//go:build linux && e2e

package faults

import (
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// ill is a server's misbehaviour and what coalmine must say of it.
type ill struct {
	status  int
	verdict analyze.Verdict
	// rules fired, reasons are parts of those for which the run is inconclusive.
	rules   []string
	reasons []string
	// ok is the number of tools that answered.
	ok int
	// change makes the run shorter where the misbehaviour has no end of its own.
	change func(*probetest.Request)
	// also looks closer.
	also func(t *testing.T, r *analyze.Result)
}

func quick(o *probetest.Request) { o.Timeout, o.CallTimeout = 6*time.Second, time.Second }

var ills = map[string]ill{
	"exit-early": {
		status: 3, verdict: analyze.Inconclusive, reasons: []string{"handshake", "exit status 3"},
		also: func(t *testing.T, r *analyze.Result) {
			// It says what it lacks: that is a need, and no crash.
			if len(r.Findings) > 0 || len(r.Coverage.Needs) == 0 {
				t.Errorf("findings %+v, needs %+v", r.Findings, r.Coverage.Needs)
			}
			if !strings.Contains(r.Server.Stderr, `key "queue.url" is missing`) || r.Server.Exit != "exit status 3" {
				t.Errorf("exit %q, stderr %q", r.Server.Exit, r.Server.Stderr)
			}
		},
	},
	"banner":          {verdict: analyze.Clean, rules: []string{"CM403"}, ok: 1},
	"garbage":         {verdict: analyze.Clean, rules: []string{"CM403", "CM602"}, ok: 1},
	"half-line":       {status: 3, verdict: analyze.Findings, rules: []string{"CM601", "CM403"}, reasons: []string{"the server exited unexpectedly"}},
	"huge-line":       {status: 3, rules: []string{"CM403"}, change: func(o *probetest.Request) { o.Calls, o.Limits.Output = 1, 256<<20 }, reasons: []string{"never answered"}},
	"unknown-id":      {verdict: analyze.Clean, ok: 1},
	"same-id-twice":   {verdict: analyze.Clean, ok: 1},
	"never-answers":   {status: 3, verdict: analyze.Inconclusive, change: quick, reasons: []string{"handshake", "no answer in time"}},
	"mute-after-list": {status: 3, verdict: analyze.Inconclusive, change: quick, rules: []string{"CM602"}, reasons: []string{"never answered"}},
	"ignores-eof":     {ok: 1},
	// It may give up and answer before it is ended.
	"forks":         {status: 3, verdict: analyze.Findings, rules: []string{"CM603"}, reasons: []string{"limit: pids"}, ok: -1},
	"fill-memory":   {status: 3, verdict: analyze.Findings, rules: []string{"CM603"}, reasons: []string{"limit: memory"}},
	"fill-disk":     {status: 3, verdict: analyze.Findings, rules: []string{"CM603"}, reasons: []string{"limit: disk"}, ok: 1},
	"fill-stdout":   {status: 3, verdict: analyze.Findings, rules: []string{"CM603"}, reasons: []string{"limit: output"}},
	"fill-stderr":   {status: 3, verdict: analyze.Findings, rules: []string{"CM603"}, reasons: []string{"limit: output"}},
	"delete-home":   {status: 1, verdict: analyze.Findings, rules: []string{"CM203"}, ok: 1},
	"daemon":        {rules: []string{"CM204"}, ok: 1},
	"close-stdout":  {status: 3, verdict: analyze.Inconclusive, reasons: []string{"not everything was called"}},
	"zero-tools":    {status: 3, verdict: analyze.Inconclusive, reasons: []string{"coalmine called nothing"}},
	"cyclic-ref":    {verdict: analyze.Clean, ok: 3},
	"evil-names":    {status: 1, verdict: analyze.Findings, rules: []string{"CM402"}, ok: 1},
	"crash-on-call": {status: 3, verdict: analyze.Findings, rules: []string{"CM601"}, reasons: []string{"the server exited unexpectedly"}},
	"five-thousand-tools": {
		status: 3, verdict: analyze.Inconclusive, change: func(o *probetest.Request) { o.Calls, o.Timeout, o.Limits.Output = 1, 6*time.Second, 256<<20 }, reasons: []string{"never called"}, ok: -1,
		also: func(t *testing.T, r *analyze.Result) {
			if n := len(r.Coverage.Tools); n != 5000 {
				t.Errorf("%d tools in the coverage", n)
			}
			if n := len(r.Inconclusive); n > 12 {
				t.Errorf("%d reasons: nobody reads them", n)
			}
		},
	},
}

func TestIllServers(t *testing.T) {
	t.Parallel()
	for mode, want := range ills {
		if !scale.Part(mode, 8) {
			continue
		}
		for _, backend := range probetest.Paired(mode) {
			t.Run(mode+"/"+backend, func(t *testing.T) {
				t.Parallel()
				probetest.Need(t, backend)
				l := probetest.New(t, "hostile")
				o := l.Options(backend, l.Path("hostile"), mode)
				if want.change != nil {
					want.change(&o)
				}
				checkIll(t, l.Probe(o), want)
			})
		}
	}
}

func checkIll(t *testing.T, r *analyze.Result, want ill) {
	t.Helper()
	if got := analyze.ExitStatus(r, finding.High, false); got != want.status {
		t.Errorf("exit status %d, want %d: %v", got, want.status, r.Inconclusive)
	}
	if want.verdict != "" && r.Verdict != want.verdict {
		t.Errorf("%s, want %s: %v", r.Verdict, want.verdict, r.Inconclusive)
	}
	fired := map[string]bool{}
	for _, f := range r.Findings {
		fired[f.Rule] = true
	}
	for _, rule := range want.rules {
		if !fired[rule] {
			t.Errorf("%s did not fire: %v", rule, fired)
		}
	}
	reasons := strings.Join(r.Inconclusive, "\n")
	for _, reason := range want.reasons {
		if !strings.Contains(reasons, reason) {
			t.Errorf("no %q among the reasons\n%s", reason, reasons)
		}
	}
	if strings.Contains(reasons, "ptrace") {
		t.Errorf("a server's own fault is laid on the tracer: %s", reasons)
	}
	answered := 0
	for _, tool := range r.Coverage.Tools {
		if tool.OK > 0 {
			answered++
		}
	}
	if want.ok >= 0 && answered != want.ok {
		t.Errorf("%d tools answered, want %d", answered, want.ok)
	}
	if want.also != nil {
		want.also(t, r)
	}
}
