//go:build linux && e2e

package sinkhole

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

const insideEnv = "SINKHOLE_INSIDE"

// inside runs the calling test or benchmark in fresh user and network
// namespaces, by starting this program again. It reports whether this is that
// run; if not, the caller returns. Tests run beside each other, each with one slot.
func inside(t testing.TB) bool {
	t.Helper()
	return insideWith(t, 1)
}

// insideWith is inside for a test that keeps so many slots busy.
func insideWith(t testing.TB, weight int) bool {
	t.Helper()
	if os.Getenv(insideEnv) != "" {
		return true
	}
	if test, ok := t.(*testing.T); ok {
		test.Parallel()
		slots.Acquire(t, weight)
	}
	selection := "-test.run=^" + t.Name() + "$"
	arguments := []string{"-test.v", "-test.timeout=120s", selection}
	if _, ok := t.(*testing.B); ok {
		arguments = []string{"-test.v", "-test.timeout=120s", "-test.run=^$", "-test.bench=^" + t.Name() + "$"}
	}
	for _, a := range os.Args[1:] {
		if strings.HasPrefix(a, "-test.benchtime") {
			arguments = append(arguments, a)
		}
	}
	cmd := exec.Command("/proc/self/exe", arguments...)
	cmd.Env = append(os.Environ(), insideEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		if slices.Contains(strings.Split(os.Getenv("COALMINE_REQUIRE"), ","), "namespaces") {
			t.Fatalf("namespaces are required here (COALMINE_REQUIRE), but %v", err)
		}
		t.Skipf("needs namespaces: %v", err)
	}
	if err != nil {
		t.Fatalf("inside: %v\n%s", err, out)
	}
	if b, ok := t.(*testing.B); ok {
		figures(b, string(out))
	} else {
		t.Logf("%s", out)
	}
	return false
}

// figures makes the inner benchmark's its own.
func figures(b *testing.B, out string) {
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		for i := 2; i+1 < len(words); i += 2 {
			if n, err := strconv.ParseFloat(words[i], 64); err == nil {
				b.ReportMetric(n, words[i+1])
			}
		}
		return
	}
	b.Fatalf("no figures in %s", out)
}

func addrPort(a net.Addr) netip.AddrPort { return netip.MustParseAddrPort(a.String()) }

// journal keeps what was emitted.
type journal struct {
	mu     sync.Mutex
	events []Event
	more   chan struct{}
}

func newJournal() *journal { return &journal{more: make(chan struct{}, 1)} }

func (j *journal) emit(e Event) {
	e.Data = slices.Clone(e.Data)
	j.mu.Lock()
	j.events = append(j.events, e)
	j.mu.Unlock()
	select {
	case j.more <- struct{}{}:
	default:
	}
}

func (j *journal) find(match func(Event) bool) (Event, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i := slices.IndexFunc(j.events, match); i >= 0 {
		return j.events[i], true
	}
	return Event{}, false
}

func (j *journal) count(match func(Event) bool) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.countLocked(match)
}

func (j *journal) countLocked(match func(Event) bool) (n int) {
	for _, e := range j.events {
		if match(e) {
			n++
		}
	}
	return n
}

// wait returns the first event that matches, as soon as there is one.
func (j *journal) wait(t testing.TB, what string, match func(Event) bool) Event {
	t.Helper()
	limit := time.After(15 * time.Second)
	for {
		if e, ok := j.find(match); ok {
			return e
		}
		select {
		case <-j.more:
		case <-limit:
			j.mu.Lock()
			defer j.mu.Unlock()
			for _, e := range j.events {
				t.Logf("%s flow %d %s→%s host %q app %q sni %q %s %s %s view %s data %.80q err %q", e.Type, e.Flow, e.Source, e.Dest, e.Host, e.App, e.SNI, e.Method, e.Authority, e.Path, e.View, e.Data, e.Error)
			}
			t.Fatalf("no event: %s", what)
		}
	}
}

// data is what data events carried of a flow in a view.
func (j *journal) data(flow uint64, view View) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var b strings.Builder
	for _, e := range j.events {
		if e.Type == TypeData && e.Flow == flow && e.View == view {
			b.Write(e.Data)
		}
	}
	return b.String()
}

// closed waits for the end of the flow that carried text.
func (j *journal) closed(t testing.TB, text string) Event {
	t.Helper()
	e := j.wait(t, "data "+text, func(e Event) bool {
		return e.Type == TypeData && strings.Contains(j.dataLocked(e.Flow, e.View), text)
	})
	return j.wait(t, "close of "+text, func(c Event) bool { return c.Type == TypeClose && c.Flow == e.Flow })
}

func (j *journal) dataLocked(flow uint64, view View) string {
	var b strings.Builder
	for _, e := range j.events {
		if e.Type == TypeData && e.Flow == flow && e.View == view {
			b.Write(e.Data)
		}
	}
	return b.String()
}

// arm makes this namespace a sinkhole and serves it until the test ends.
func arm(t testing.TB, c Config) *journal {
	t.Helper()
	j := newJournal()
	armWith(t, c, j.emit)
	return j
}

func armWith(t testing.TB, c Config, emit func(Event)) *Sinkhole {
	t.Helper()
	if c.Authority == nil {
		a, err := NewAuthority()
		if err != nil {
			t.Fatal(err)
		}
		c.Authority = a
	}
	start := time.Now()
	s, err := Arm(c)
	if err != nil {
		t.Fatalf("arm: %v", err)
	}
	if _, bench := t.(*testing.B); !bench {
		t.Logf("armed in %v; notes %q", time.Since(start), s.Notes)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, s.Files, c, emit) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("serve: %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("Serve did not return")
		}
		_ = s.Close()
	})
	return s
}
