//go:build linux && e2e

package servers

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// moods are, for each way to be moody, the factor that shows it, its argument, and
// what a finding of CM214 says.
var moods = []struct {
	mode, factor, since, says string
}{
	{"client", "client", "", "only for the client Visual Studio Code"},
	{"ci", "ci", "", "and not with CI=true"},
	{"clock", "clock", fmt.Sprint(time.Now().AddDate(0, 6, 0).Unix()), "only with the clock 400 days ahead"},
	{"idle", "clock", "900", "only left alone with a clock 600 times as fast"},
	{"locale", "locale", "", "only in Russian"},
	{"canaries", "canaries", "", "only in a bare HOME"},
}

// leastRounds suffice where nothing comes by chance.
const leastRounds = 2

// conditional are the findings of what a condition brings.
func conditional(res *analyze.Result) []string {
	var out []string
	for _, f := range res.Findings {
		if f.Rule == "CM214" {
			out = append(out, string(f.Severity)+" "+f.Message)
		}
	}
	return out
}

func moody(l *probetest.Lab, t *testing.T, args ...string) probetest.Request {
	t.Helper()
	o := l.Options("local", append([]string{"python3", l.Source(t, "moody", ".py")}, args...)...)
	o.ShrinkTime, o.Network, o.Timeout, o.Limits = time.Nanosecond, plan.NetworkNone, time.Minute, plan.DefaultLimits
	o.FastIdle = 3 * time.Second
	o.Unaudited = true // its code for other conditions never runs
	return o
}

// What a server does under one condition only is found, and that it looks at the
// same things honestly is not.
func TestVary(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	// One of each kind is shown by every run of the tests, all with COALMINE_VARY.
	all := os.Getenv("COALMINE_VARY") != ""
	for _, m := range moods {
		for _, twin := range []string{"hole", "honest"} {
			if !all && m.mode != "clock" {
				continue
			}
			t.Run(m.mode+"/"+twin, func(t *testing.T) {
				t.Parallel()
				if m.factor == "clock" {
					sandboxtest.Need(t, "faketime")
				}
				l := probetest.New(t)
				o := moody(l, t, m.mode, twin, m.since)
				if m.since == "" {
					o.Command = o.Command[:4]
				}
				o.Vary = []string{m.factor}
				if o.Rounds = leastRounds; all {
					o.Rounds, o.Vary = 0, []string{"client", "ci", "clock", "locale", "canaries"}
				}
				varies(l, o, m.mode, twin, m.says, all)
			})
		}
	}
}

// varies probes a moody server, and checks what is said of it; aloud prints a line too.
func varies(l *probetest.Lab, o probetest.Request, mode, twin, says string, aloud bool) {
	l.T.Helper()
	res := l.ProbeWithin(8*time.Minute, o)
	got, word := conditional(res), "right"
	switch {
	case twin == "honest" && (len(got) > 0 || res.Verdict != analyze.Clean):
		word = fmt.Sprintf("WRONG: %s, %q, %+v, %q", res.Verdict, got, res.Findings, res.Inconclusive)
	case twin == "hole" && (len(got) != 1 || !strings.Contains(got[0], says)):
		word = fmt.Sprintf("WRONG: %q, want one that says %q; %q", got, says, res.Inconclusive)
	}
	if word != "right" {
		l.T.Error(word)
	}
	if aloud {
		fmt.Printf("vary %-10s %-7s %s\n", mode, twin, word)
	}
}

// The same holds in a container, into which the library that moves the clock has
// to be carried, and where another tracer watches.
func TestVaryElsewhere(t *testing.T) {
	t.Parallel()
	all := os.Getenv("COALMINE_VARY") != ""
	for _, place := range []struct{ backend, tracer, thing string }{{"docker", sandbox.TracerStrace, "docker"}, {"local", sandbox.TracerEBPF, "bpf"}} {
		for _, m := range moods {
			for _, twin := range []string{"hole", "honest"} {
				if m.mode != "clock" || !all && (twin != "hole" || place.backend != "docker") {
					continue
				}
				t.Run(place.thing+"/"+twin, func(t *testing.T) {
					t.Parallel()
					probetest.Need(t, place.backend)
					sandboxtest.Need(t, "python", "faketime", place.thing)
					l := probetest.New(t)
					o := moody(l, t, m.mode, twin, m.since)
					o.Sandbox, o.Tracer, o.Vary, o.Rounds = place.backend, place.tracer, []string{m.factor}, leastRounds
					varies(l, o, place.thing, twin, m.says, all)
				})
			}
		}
	}
}

// What a server does at the end of its run is told as such, whichever end it is.
func TestShutdown(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	for mode, vary := range map[string][]string{"outlive": nil, "term": {"ci"}} {
		for _, twin := range []string{"hole", "honest"} {
			// The sample has each mode and each twin once.
			if !scale.Deep() && (mode == "outlive") != (twin == "hole") {
				continue
			}
			t.Run(mode+"/"+twin, func(t *testing.T) {
				t.Parallel()
				l := probetest.New(t)
				o := moody(l, t, mode, twin)
				o.Vary, o.Rounds = vary, leastRounds
				res := l.Probe(o)
				k := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Rule == "CM101" })
				if twin == "honest" && k >= 0 {
					t.Errorf("%+v", res.Findings)
				}
				if twin == "hole" && (k < 0 || res.Findings[k].Phase != finding.PhaseShutdown) {
					t.Errorf("%+v", res.Findings)
				}
			})
		}
	}
}
