//go:build linux && (amd64 || arm64) && e2e

package reached

import (
	"crypto/sha256"
	"debug/elf"
	"errors"
	"os"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"
)

//go:noinline
func once(n int) int { return n + 1 }

//go:noinline
func never(n int) int { return n + 2 }

// offsetOf is where in this program's file a function begins.
func offsetOf(t *testing.T, fn any) uint64 {
	t.Helper()
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	addr := uint64(runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Entry())
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return addr - p.Vaddr + p.Off
		}
	}
	t.Fatal("the program is not where it says")
	return 0
}

// placesOf are places of this program.
func placesOf(t *testing.T, f *os.File, offsets []uint64) Places {
	t.Helper()
	e, err := elf.NewFile(f)
	if err != nil {
		t.Fatal(err)
	}
	section := e.Section(".gopclntab")
	if section == nil {
		section = e.Section(".data.rel.ro.gopclntab")
	}
	p := Places{Program: f.Name(), TableAt: int64(section.Offset), TableSize: int64(section.FileSize), Offsets: offsets}
	if p.Table, err = tableOf(f, p.TableAt, p.TableSize); err != nil {
		t.Fatal(err)
	}
	return p
}

// ownProgram is the file of the test's own program.
func ownProgram(t *testing.T) *os.File {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestReached(t *testing.T) {
	f := ownProgram(t)
	places := placesOf(t, f, []uint64{offsetOf(t, once), offsetOf(t, never)})
	w, err := Open(os.Getpid(), places)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if once(1) != 2 {
		t.Fatal("the probe changed the program")
	}
	got, err := w.Reached()
	if err != nil || !got[0] || got[1] {
		t.Errorf("%v %v", got, err)
	}
	if len(os.Args) > 1<<20 {
		t.Log(never(1))
	}
	places.Table = sha256.Sum256(nil)
	if _, err := Open(os.Getpid(), places); err == nil {
		t.Error("another program is watched")
	}
	places.TableSize = maxTable + 1
	if _, err := Open(os.Getpid(), places); err == nil {
		t.Error("a table of any size is read")
	}
}

// Probes are taken away long before a sandbox counts as left behind, in whichever way they were set.
func TestProbesAreTakenAwaySoon(t *testing.T) {
	f := ownProgram(t)
	for _, c := range []struct {
		name   string
		set    func(*Watch, *os.File, *ebpf.ProgramSpec, []uint64) error
		probes int
	}{{"together", (*Watch).together, 2000}, {"singly", (*Watch).singly, 50}, {"in the kernel's way", (*Watch).set, 50}} {
		t.Run(c.name, func(t *testing.T) {
			// Of a place that nobody comes to any number of probes is set.
			offsets := append(slices.Repeat([]uint64{offsetOf(t, never)}, c.probes-1), offsetOf(t, once))
			began := time.Now()
			w, err := watch(os.Getpid(), f, offsets, c.set)
			if errors.Is(err, ebpf.ErrNotSupported) {
				t.Skip("the kernel cannot: ", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			opened := time.Now()
			if once(1) != 2 {
				t.Error("a probe changed the program")
			}
			got, err := w.Reached()
			if err != nil || slices.Index(got, true) != c.probes-1 {
				t.Errorf("the first that was reached is %d of %d: %v", slices.Index(got, true), len(got), err)
			}
			read := time.Now()
			w.Close()
			took := time.Since(read)
			t.Logf("%d probes: set in %s, taken away in %s", len(offsets), opened.Sub(began), took)
			if took > 15*time.Second {
				t.Errorf("they are taken away in %s", took)
			}
		})
	}
	if w, err := watch(os.Getpid(), f, slices.Repeat([]uint64{offsetOf(t, never)}, maxSingly+1), (*Watch).singly); err == nil {
		w.Close()
		t.Error("any number of probes is set one by one")
	}
}
