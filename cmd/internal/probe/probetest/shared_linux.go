//go:build linux && e2e

package probetest

import (
	"fmt"
	"iter"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// InBackends runs a test in the backends that its name is paired with.
func InBackends(t *testing.T, test func(t *testing.T, backend string)) {
	inEach(t, Paired(t.Name()), test)
}

// InAllBackends runs a test of what keeps this machine safe in every backend.
func InAllBackends(t *testing.T, test func(t *testing.T, backend string)) { inEach(t, Backends, test) }

func inEach(t *testing.T, backends []string, test func(t *testing.T, backend string)) {
	for _, backend := range backends {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			Need(t, backend)
			test(t, backend)
		})
	}
}

// Flows reads what the sinkhole saw from the log of the lab's only run.
func (l *Lab) Flows() iter.Seq[*trace.Flow] {
	return func(yield func(*trace.Flow) bool) {
		l.T.Helper()
		root, err := os.OpenRoot(l.LogDir())
		if err != nil {
			l.T.Fatal(err)
		}
		defer root.Close()
		log, err := session.Open(root)
		if err != nil {
			l.T.Fatal(err)
		}
		for line, err := range log.Trace() {
			if err != nil {
				l.T.Error(err)
			}
			if line.Flow != nil && !yield(line.Flow) {
				return
			}
		}
	}
}

// Wire is all that the log holds of what was sent, flow by flow.
func (l *Lab) Wire() string {
	byFlow := map[uint64]*strings.Builder{}
	var all []*strings.Builder
	for f := range l.Flows() {
		if f.Type != trace.FlowData {
			continue
		}
		b := byFlow[f.Flow]
		if b == nil {
			b = &strings.Builder{}
			byFlow[f.Flow] = b
			all = append(all, b)
		}
		b.Write(f.Data)
	}
	text := ""
	for _, b := range all {
		text += b.String() + "\n"
	}
	return text
}

// Leaves probes a server that addresses interfaces by every means, and checks that the
// sinkhole has all of it and no interface outside any.
func Leaves(t *testing.T, backend string) {
	var capture *sandboxtest.Capture
	if os.Getuid() == 0 { // who may listen
		capture = sandboxtest.NewCapture(t)
	}
	l := New(t, "hostile")
	o := l.Options(backend, l.Path("hostile"), "leave")
	o.Calls = 1
	res := l.Probe(o)
	wire := l.Wire()
	for _, way := range []string{"plain", "IP_PKTINFO", "IP_UNICAST_IF"} {
		if !strings.Contains(wire, "<mark "+way+" by ") {
			t.Errorf("the sinkhole has no %s: %q", way, wire)
		}
		// The interface beside lo is there, and what names it is seen too.
		if !strings.Contains(wire, "<mark "+way+" by eth0>") {
			t.Errorf("the sinkhole has no %s by eth0: %q", way, wire)
		}
	}
	if len(res.Coverage.Tools) != 1 || res.Coverage.Tools[0].OK == 0 {
		t.Errorf("the attempts were not made: %+v", res.Coverage.Tools)
	}
	if capture == nil {
		return
	}
	c, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	// The listener hears, and heard nothing else before.
	if _, err := fmt.Fprintf(c, "<mark end of %s>", backend); err != nil {
		t.Fatal(err)
	}
	capture.Await(t, "end of "+backend)
	for _, mark := range capture.Marks() {
		if !strings.HasPrefix(mark, "end of ") {
			t.Errorf("%s left", mark)
		}
	}
}

// CheckTwin checks the verdict on one of the twins, leaky and honest.
func CheckTwin(t *testing.T, name string, r *analyze.Result) {
	t.Helper()
	if name == "honest" {
		if len(r.All()) > 0 || r.Verdict != analyze.Clean {
			t.Errorf("honest: %s, %+v %v", r.Verdict, r.All(), r.Inconclusive)
		}
		return
	}
	if n := r.AtLeast(finding.High); n < 2 || r.Verdict != analyze.Findings {
		t.Errorf("leaky: %s with %d findings of high or above: %+v %v", r.Verdict, n, r.Findings, r.Inconclusive)
	}
}

// Shard is the part of the cases that SHARD=i/n names, i from 1.
func Shard[T any](t *testing.T, cases []T) []T {
	t.Helper()
	text := os.Getenv("SHARD")
	if text == "" {
		return cases
	}
	var i, n int
	if _, err := fmt.Sscanf(text, "%d/%d", &i, &n); err != nil || i < 1 || i > n {
		t.Fatalf("SHARD=%s is not i/n", text)
	}
	var out []T
	for at, c := range cases {
		if at%n == i-1 {
			out = append(out, c)
		}
	}
	return out
}

// CacheDir is where .ci/setup installs.
func CacheDir(t *testing.T) string {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "coalmine")
}

// Installed is where .ci/setup/servers.sh puts the servers.
func Installed(t *testing.T, thing string) string {
	t.Helper()
	sandboxtest.Need(t, thing)
	dir, err := filepath.EvalSymlinks(filepath.Join(CacheDir(t), "servers", "current"))
	switch {
	case err == nil:
	case strings.Contains(os.Getenv("COALMINE_REQUIRE"), thing):
		t.Fatalf("the servers are not installed (.ci/setup/servers.sh): %v", err)
	default:
		t.Skipf("the servers are not installed (.ci/setup/servers.sh): %v", err)
	}
	return dir
}

// Source copies a twin's source into the lab.
func (l *Lab) Source(t *testing.T, name, suffix string) string {
	t.Helper()
	CopyFixture(t, filepath.Join(sandboxtest.ModuleRoot(t), "testdata", "servers", name, name+suffix), l.Path(name+suffix))
	return l.Path(name + suffix)
}
