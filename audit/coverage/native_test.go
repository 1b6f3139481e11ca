package coverage

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// touches is a function of this program's own that acts on the world; nobody calls it.
//
//go:noinline
func touches(name string) ([]byte, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(home + name)
}

//go:noinline
func starts(name string) error { return exec.Command(name).Run() }

//go:noinline
func leads(name string) error {
	if _, err := touches(name); err != nil {
		return starts(name)
	}
	return nil
}

var never = func() bool { return false }

// self is this test's program, which Go built.
func self(t *testing.T) *Native {
	t.Helper()
	if never() {
		t.Log(leads("x"))
	}
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	n, err := ReadNative(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNative(t *testing.T) {
	t.Parallel()
	n := self(t)
	find := func(name string) (int, bool) {
		i := slices.IndexFunc(n.functions, func(f sinks.Function) bool { return strings.HasSuffix(f.Name, "/audit/coverage."+name) })
		return max(i, 0), i >= 0
	}
	for name, want := range map[string][]sinks.Kind{"touches": {sinks.Home, sinks.Read}, "starts": {sinks.Process, sinks.Process}} {
		i, ok := find(name)
		var got []sinks.Kind
		for _, s := range n.functions[i].Sinks {
			got = append(got, s.Kind)
			if s.Start.Line() <= n.functions[i].Start.Line() && name == "touches" {
				t.Errorf("%s: a call in line %d, begin in line %d", name, s.Start.Line(), n.functions[i].Start.Line())
			}
		}
		slices.Sort(got)
		if !ok || !slices.Equal(got, want) || n.functions[i].File != "audit/coverage/native_test.go" {
			t.Errorf("%s: %v in %s, want %v", name, got, n.functions[i].File, want)
		}
	}
	i, ok := find("leads")
	if !ok || len(n.functions[i].Calls) != 2 {
		t.Errorf("leads calls %q", n.functions[i].Calls)
	}
	if len(n.Probes) != len(n.probed) || !n.Weighs() {
		t.Errorf("%d probes of %d, weighs: %v", len(n.Probes), len(n.probed), n.Weighs())
	}
}

// What was reached is known by the function and by the line.
func TestNativeCompare(t *testing.T) {
	t.Parallel()
	n := self(t)
	reached := make([]bool, len(n.Probes))
	for i, p := range n.probed {
		// leads began, and so did touches, which came to its first call.
		reached[i] = strings.HasSuffix(p.name, ".leads") || strings.HasSuffix(p.name, ".touches")
	}
	r := Recording{}
	r.Add(n.Recording(reached))
	got := map[string]Unrun{}
	for _, u := range n.Compare(&r, "").Unrun {
		got[u.Name[strings.LastIndexByte(u.Name, '.')+1:]] = u
	}
	if u := got["starts"]; u.Way != wayStart || u.Entered || !u.Weighs || !slices.Contains(u.Kinds, sinks.Process) {
		t.Errorf("starts: %+v", u)
	}
	if u := got["touches"]; !u.Entered || !u.Weighs || !slices.Equal(u.Kinds, []sinks.Kind{sinks.Read, sinks.Home}) {
		t.Errorf("touches: %+v", u)
	}
	nothing := Recording{}
	nothing.Add(n.Recording(nil))
	if rep := n.Compare(&nothing, "why"); rep.Unrecorded != "" || rep.Reached != 0 {
		t.Errorf("nothing was reached: %+v", rep)
	}
}

func TestNoNative(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "#!/bin/sh\n", "\x7fELF", "\x7fELF" + strings.Repeat("\x00", 200)} {
		if _, err := ReadNative(t.Context(), bytes.NewReader([]byte(data))); err == nil {
			t.Errorf("%q is a program", data)
		}
	}
}

func TestCallsARM64(t *testing.T) {
	t.Parallel()
	// bl .+8; nop; bl .-8; ret
	code := []byte{0x02, 0, 0, 0x94, 0x1f, 0x20, 0x03, 0xd5, 0xfe, 0xff, 0xff, 0x97, 0xc0, 0x03, 0x5f, 0xd6}
	want := []call{{0x1000, 0x1008}, {0x1008, 0x1000}}
	if got := callsARM64(code, 0x1000); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

func FuzzReadNative(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Add(functions("main.f", "os.ReadFile").file())
	f.Fuzz(func(t *testing.T, data []byte) {
		began := time.Now()
		_, _ = ReadNative(t.Context(), bytes.NewReader(data))
		soon(t, began)
	})
}

func FuzzCalls(f *testing.F) {
	f.Add([]byte{0xe8, 0, 0, 0, 0, 0xc3})
	f.Fuzz(func(_ *testing.T, code []byte) {
		_ = callsAMD64(code, 1<<40)
		_ = callsARM64(code, 1<<40)
	})
}
