//go:build linux && (amd64 || arm64)

package tlsread

import (
	"bytes"
	"crypto/tls"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// useClient makes the test's own program one of Go's with crypto/tls.
func useClient() {
	c, err := tls.Dial("tcp", "", nil)
	if err == nil {
		_, _ = c.Write(nil)
		_, _ = c.Read(nil)
	}
}

// The functions of crypto/tls are found by the table of symbols, and by the runtime's own table
// at the same places.
func TestGoProgram(t *testing.T) {
	t.Parallel()
	if len(os.Args) == 0 { // links the client in
		useClient()
	}
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	wanted := map[string]bool{}
	for _, fn := range goFunctions {
		wanted[fn.name] = true
	}
	byRuntime := map[string]symbol{}
	runtimeSymbols(f, wanted, byRuntime)
	found := goSymbols(f)
	for name := range wanted {
		if found[name].offset == 0 || found[name].offset != byRuntime[name].offset {
			t.Errorf("%s is at %d, and by the runtime's table at %d", name, found[name].offset, byRuntime[name].offset)
		}
	}
	probes, err := goProbes(f, true)
	if err != nil || !slices.ContainsFunc(probes, func(p probe) bool { return p.program == "go_read_return" }) {
		t.Errorf("%v: %v", probes, err)
	}
	for _, p := range probes {
		if p.returns {
			t.Errorf("a return probe on a function of Go's: %v", p)
		}
	}
}

// Each program that a function is given exists, and the event's head is laid out here as it is there.
func TestPrograms(t *testing.T) {
	t.Parallel()
	spec, err := loadProgram()
	if err != nil {
		t.Fatal(err)
	}
	for _, fn := range slices.Concat(cFunctions, goFunctions) {
		if spec.Programs[fn.program] == nil {
			t.Errorf("%s: no program is called %s", fn.name, fn.program)
		}
	}
	for _, name := range touching {
		if spec.Programs[name] == nil {
			t.Errorf("no program is called %s", name)
		}
	}
	var s *btf.Struct
	if err := spec.Types.TypeByName("head", &s); err != nil {
		t.Fatal(err)
	}
	if s.Size != headSize {
		t.Errorf("%d bytes, not %d", s.Size, headSize)
	}
}

func TestParseMaps(t *testing.T) {
	t.Parallel()
	got, err := parseMaps(strings.NewReader(`7f1c00000000-7f1c00001000 r--p 00000000 fe:00 12 /usr/lib/libssl.so.3
7f1c00001000-7f1c00002000 r-xp 00001000 fe:00 12                         /usr/lib/libssl.so.3
7f1c00002000-7f1c00003000 r-xp 00001000 fe:00 13                         /opt/a name/lib ssl.so
7f1c00003000-7f1c00004000 r-xp 00001000 fe:00 14                         /usr/bin/node
7f1c00004000-7f1c00005000 r-xp 00000000 00:00 0                          [vdso]
x
7f1c00005000-7f1c00006000 r-xp 00001000 fe:00 12                         /usr/lib/libssl.so.3
`))
	if want := []string{"/usr/lib/libssl.so.3", "/opt/a name/lib ssl.so"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q: %v", got, err)
	}
}

// A process's path leads to no file outside of its root directory, and to nothing but a file.
func TestOpenIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "lib.so")
	if err := os.Symlink("/proc/self/exe", link); err != nil {
		t.Fatal(err)
	}
	if f, err := openIn(os.Getpid(), link); err == nil {
		t.Errorf("%s was opened through a link of /proc", f.Name())
	}
	f, err := openIn(os.Getpid(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, probes, err := probesOf(f, true); err == nil || probes != nil {
		t.Errorf("a directory holds %v", probes)
	}
}

// A hostile file costs neither the run nor memory.
func FuzzInspect(f *testing.F) {
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(exe[:4096])
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = inspect(bytes.NewReader(b), true)
	})
}
