//go:build linux && (amd64 || arm64) && e2e

package reached

import (
	"crypto/sha256"
	"debug/elf"
	"os"
	"reflect"
	"runtime"
	"testing"
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

func TestReached(t *testing.T) {
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	table, err := tableOf(f)
	if err != nil {
		t.Fatal(err)
	}
	places := Places{Program: name, Table: table, Offsets: []uint64{offsetOf(t, once), offsetOf(t, never)}}
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
}
