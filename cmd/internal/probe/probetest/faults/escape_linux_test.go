//go:build linux && e2e

package faults

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// answer is the text that the last call of the lab's run returned.
func answer(l *probetest.Lab, into any) {
	l.T.Helper()
	data, err := os.ReadFile(filepath.Join(l.LogDir(), session.FramesFile))
	if err != nil {
		l.T.Fatal(err)
	}
	found := false
	for line := range bytes.Lines(data) {
		var frame struct {
			Dir   string
			Frame struct {
				Result struct {
					Content []struct{ Text string }
				}
			}
		}
		if json.Unmarshal(line, &frame) == nil && frame.Dir == "s2c" && len(frame.Frame.Result.Content) > 0 {
			if err := json.Unmarshal([]byte(frame.Frame.Result.Content[0].Text), into); err != nil {
				l.T.Fatal(err)
			}
			found = true
		}
	}
	if !found {
		l.T.Fatal("no call was answered")
	}
}

// dangerous are attempts that a rule has to name.
var dangerous = []string{"mount", "pivot_root", "umount2", "kill", "process_vm_readv", "seccomp"}

func TestEscape(t *testing.T) {
	t.Parallel()
	probetest.InAllBackends(t, func(t *testing.T, backend string) {
		l := probetest.New(t, "hostile")
		r := l.Probe(l.Options(backend, l.Path("hostile"), "escape"))
		told := map[string]string{}
		answer(l, &told)
		for name, end := range told {
			if !strings.HasPrefix(end, "denied: ") {
				t.Errorf("%s: %s", name, end)
			}
		}
		if len(told) < 50 {
			t.Errorf("only %d attempts", len(told))
		}
		named := ""
		for _, f := range r.Findings {
			if f.Rule == "CM206" {
				named += f.Message + "\n"
			}
		}
		for _, call := range dangerous {
			if !strings.Contains(named, call) {
				t.Errorf("no finding names %s:\n%s", call, named)
			}
		}
		if r.Verdict != analyze.Findings || r.AtLeast(finding.Medium) == 0 || len(r.Inconclusive) > 0 {
			t.Errorf("%s %v", r.Verdict, r.Inconclusive)
		}
	})
}

func TestNothingTells(t *testing.T) {
	t.Parallel()
	probetest.InAllBackends(t, func(t *testing.T, backend string) {
		l := probetest.New(t, "hostile")
		l.Probe(l.Options(backend, l.Path("hostile"), "tells"))
		var told struct {
			Looked, Certificates, Served int
			Found                        []struct{ Word, Where, Text string }
		}
		answer(l, &told)
		for _, f := range told.Found {
			if !strings.Contains(f.Text, "--trace=") { // strace's own command line, which cannot hide
				t.Errorf("%+v", f)
			}
		}
		// The sinkhole's authority is among those trusted, and its server was met.
		if told.Looked < 20 || told.Certificates < 3 || told.Served != 1 {
			t.Errorf("looked at %d things only, %d certificates, %d servers", told.Looked, told.Certificates, told.Served)
		}
	})
}

// An ordinary user's local sandbox holds its servers as root's does, as far as
// one uid allows: the first process of the namespaces is of the target's own.
func TestAsOrdinaryUser(t *testing.T) {
	t.Parallel()
	sandboxtest.Need(t, "strace", "userns")
	sandboxtest.AsOrdinaryUser(t, "^(TestOrdinary)$", "./testdata/servers/hostile", "./testdata/servers/leaky", "./testdata/servers/honest", "./cmd/coalmine")
}

// TestOrdinary is what TestAsOrdinaryUser runs as another user.
func TestOrdinary(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("for an ordinary user; TestAsOrdinaryUser runs it as one")
	}
	probetest.Need(t, "local")
	t.Run("escape", func(t *testing.T) {
		l := probetest.New(t, "hostile")
		r := l.Probe(l.Options("local", l.Path("hostile"), "escape"))
		told := map[string]string{}
		answer(l, &told)
		for name, end := range told {
			if !strings.HasPrefix(end, "denied: ") && !ownInit[name] {
				t.Errorf("%s: %s", name, end)
			}
		}
		if r.Verdict != analyze.Findings {
			t.Errorf("%s %v", r.Verdict, r.Inconclusive)
		}
	})
	t.Run("leave", func(t *testing.T) { probetest.Leaves(t, "local") })
	for _, name := range []string{"leaky", "honest"} {
		t.Run(name, func(t *testing.T) {
			l := probetest.New(t, name)
			probetest.CheckTwin(t, name, l.Probe(l.Options("local", l.Path(name))))
		})
	}
	for mode, want := range ills {
		if slices.Equal(probetest.Paired(mode), []string{"local"}) || !scale.Part(mode, 4) {
			continue // TestIllServers runs it in the local sandbox, or it is no part of the sample
		}
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			l := probetest.New(t, "hostile")
			o := l.Options("local", l.Path("hostile"), mode)
			if want.change != nil {
				want.change(&o)
			}
			checkIll(t, l.Probe(o), want)
		})
	}
}

// ownInit are signals and limits that the inner namespace's first process,
// which guards nothing, takes from a target of its own uid.
var ownInit = map[string]bool{
	"kill-1-SIGSTOP": true, "kill-1-SIGTERM": true, "kill-1-SIGQUIT": true, "kill-1-SIGSEGV": true, "kill-1-SIGKILL": true, "prlimit-1": true, "oom-score-1": true,
}
