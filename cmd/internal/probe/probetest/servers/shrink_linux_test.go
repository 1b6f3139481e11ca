//go:build linux && e2e

package servers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/shrink"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/synth"
)

// planted are the triggers of which the smallest calls are checked.
var planted = []struct{ language, name, rule string }{
	{"python", "command-double-quoted", "CM301"}, {"node", "command-bare", "CM301"}, {"python", "argument-output", "CM302"}, {"python", "path-link", "CM303"},
	{"node", "path-prefix", "CM303"}, {"python", "fetch-hidden", "CM304"}, {"node", "code-vm", "CM305"}, {"python", "hidden-argument", "CM308"},
	{"python", "trigger-length", "CM101"}, {"node", "trigger-third-call", "CM101"},
}

// replays is how often each smallest sequence is played again.
const replays = 10

// TestSmallest checks that what is reported of a planted trigger is locally
// minimal, and that it shows the finding each time.
func TestSmallest(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	list, times := planted, replays
	if !reported {
		list, times = planted[9:], 2
	}
	for _, p := range list {
		sandboxtest.Need(t, p.language)
		t.Run(p.language+"/"+p.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				word := "right"
				if t.Failed() {
					word = "WRONG"
				}
				if reported {
					fmt.Printf("%-8s %-26s %s\n", p.language, p.name, word)
				}
			}()
			l := probetest.New(t)
			o := l.Options("local", oracles(l, t, p.language, p.name, "hole")...)
			o.Calls, o.Timeout, o.OracleTime, o.CallTimeout, o.ShrinkTime = plan.DefaultCalls, 4*time.Minute, 3*time.Minute, 15*time.Second, 5*time.Minute
			o.Limits, o.Network = plan.DefaultLimits, plan.NetworkSinkhole
			f := ofRule(t, l.ProbeWithin(o.Timeout+o.ShrinkTime+time.Minute, o), p.rule)
			r := theReplay(t, l, f)
			if !r.Minimal || r.Shown != r.Tried || r.Tried != shrink.Confirmations {
				t.Fatalf("minimal %v, shown in %d of %d: %+v", r.Minimal, r.Shown, r.Tried, r.Steps)
			}
			o.Replay = r
			for i := range times {
				if got := l.Probe(o); !got.Shows(r.Fingerprint) {
					t.Errorf("replay %d of %d does not show it: %+v", i+1, times, r.Steps)
				}
			}
			for _, smaller := range parts(r.Steps) {
				less := *r
				less.Steps = smaller
				o.Replay = &less
				if got := l.Probe(o); got.Shows(r.Fingerprint) {
					t.Errorf("a smaller one shows it too: %s for %s", inJSON(smaller), inJSON(r.Steps))
				}
			}
		})
	}
}

func inJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// ofRule is the first finding of a rule that weighs.
func ofRule(t *testing.T, r *analyze.Result, rule string) finding.Finding {
	t.Helper()
	i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == rule && f.Severity.Rank() >= finding.Medium.Rank() })
	if i < 0 {
		t.Fatalf("%s was not found: %+v", rule, r.Findings)
	}
	return r.Findings[i]
}

// theReplay reads the replay of a finding.
func theReplay(t *testing.T, l *probetest.Lab, f finding.Finding) *synth.Replay {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(l.Out, "*", "replay-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := synth.DecodeReplay(data)
		if err != nil {
			t.Fatal(err)
		}
		if r.Fingerprint == f.Fingerprint {
			return r
		}
	}
	t.Fatalf("no replay of %s: %v", f.Fingerprint, files)
	return nil
}

// parts are the sequences without one call each, without one argument each, and
// with one text each cut by a half, at its start, in its middle and at its end.
func parts(steps []synth.Step) [][]synth.Step {
	var out [][]synth.Step
	if len(steps) > 1 {
		for i := range steps {
			out = append(out, slices.Delete(slices.Clone(steps), i, i+1))
		}
	}
	for i, s := range steps {
		var args map[string]any
		if json.Unmarshal(s.Args, &args) != nil {
			continue
		}
		for name, v := range args {
			text, isText := v.(string)
			if !isText || text == "" {
				continue
			}
			rs := []rune(text)
			for _, less := range []string{"", string(rs[:len(rs)/2]), string(rs[len(rs)/2:]), string(rs[1:]), string(rs[:len(rs)-1]), string(rs[:len(rs)/2]) + string(rs[len(rs)/2+1:])} {
				args[name] = less
				raw, err := json.Marshal(args)
				if err != nil {
					continue
				}
				c := slices.Clone(steps)
				c[i].Args = raw
				out = append(out, c)
			}
			args[name] = text
		}
	}
	return out
}
