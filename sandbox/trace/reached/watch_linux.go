//go:build amd64 || arm64

package reached

import (
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// Watch watches places of one file from Open to Close.
type Watch struct {
	hits  *ebpf.Map
	n     int
	links []link.Link
	prog  *ebpf.Program
}

// Open sets the probes in a program as a process sees it, which is not trusted to be the same
// program: its table tells. Only processes of the pid namespace of that process count.
func Open(pid int, p Places) (*Watch, error) {
	f, err := openIn(pid, p.Program)
	if err != nil {
		return nil, fmt.Errorf("watch code: open the program: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if table, err := tableOf(f); err != nil || table != p.Table {
		return nil, fmt.Errorf("watch code: %s is another program in the sandbox", p.Program)
	}
	return open(pid, f, p.Offsets)
}

// openIn opens a file by the path that a process has of it, which cannot lead out of the
// process's root directory.
func openIn(pid int, name string) (*os.File, error) {
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(root) }() // it was only read
	fd, err := unix.Openat2(root, name, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// maxTable bounds a table of functions, in bytes.
const maxTable = 96 << 20

// tableOf is the digest of a Go program's table of functions.
func tableOf(f *os.File) (out [sha256.Size]byte, err error) {
	e, err := elf.NewFile(f)
	if err != nil {
		return out, err
	}
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := e.Section(name); s != nil && s.Size <= maxTable {
			data, err := s.Data()
			return sha256.Sum256(data), err
		}
	}
	return out, errors.New("no table of functions")
}

// open sets a probe at each offset of a file.
func open(pid int, f *os.File, offsets []uint64) (*Watch, error) {
	var ns unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d/ns/pid", pid), &ns); err != nil {
		return nil, fmt.Errorf("watch code: find the pid namespace: %w", err)
	}
	_ = rlimit.RemoveMemlock() // kernels before 5.11 count maps by it; what then fails says so itself
	w := &Watch{n: len(offsets)}
	var err error
	if w.hits, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: uint32(max(1, len(offsets)))}); err != nil { //nolint:gosec // the caller bounds them
		return nil, fmt.Errorf("watch code: make room for what is reached: %w", err)
	}
	if w.prog, err = ebpf.NewProgram(program(w.hits.FD(), ns.Dev, ns.Ino)); err != nil {
		w.Close()
		return nil, fmt.Errorf("watch code: load the program: it needs Linux 5.15, CAP_BPF and CAP_PERFMON: %w", err)
	}
	// The kernel follows this name to the very file that is open.
	ex, err := link.OpenExecutable(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("watch code: %w", err)
	}
	for i, offset := range offsets {
		l, err := ex.Uprobe("", w.prog, &link.UprobeOptions{Address: offset, Cookie: uint64(i)}) //nolint:gosec // an index
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("watch code: set a probe: %w", err)
		}
		w.links = append(w.links, l)
	}
	return w, nil
}

// program notes that a place was reached, by the number that its probe has as its cookie, where
// the task is of the namespace.
func program(hits int, dev, ino uint64) *ebpf.ProgramSpec {
	const number, data = -4, -16
	return &ebpf.ProgramSpec{Type: ebpf.Kprobe, License: "GPL", Instructions: asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadImm(asm.R1, int64(dev), asm.DWord), //nolint:gosec // bits
		asm.LoadImm(asm.R2, int64(ino), asm.DWord), //nolint:gosec // bits
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, data),
		asm.Mov.Imm(asm.R4, 8),
		asm.FnGetNsCurrentPidTgid.Call(),
		asm.JNE.Imm(asm.R0, 0, "end"),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.FnGetAttachCookie.Call(),
		asm.StoreMem(asm.RFP, number, asm.R0, asm.Word),
		asm.LoadMapPtr(asm.R1, hits),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, number),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "end"),
		asm.StoreImm(asm.R0, 0, 1, asm.Word),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("end"),
		asm.Return(),
	}}
}

// Reached says of each offset whether it was come to.
func (w *Watch) Reached() ([]bool, error) {
	out := make([]bool, w.n)
	for i := range out {
		var hit uint32
		if err := w.hits.Lookup(uint32(i), &hit); err != nil { //nolint:gosec // an index
			return nil, fmt.Errorf("watch code: read what was reached: %w", err)
		}
		out[i] = hit != 0
	}
	return out, nil
}

// Close takes the probes away. It may be called more than once.
func (w *Watch) Close() {
	var errs []error
	for _, l := range w.links {
		errs = append(errs, l.Close())
	}
	w.links = nil
	if w.prog != nil {
		errs = append(errs, w.prog.Close())
	}
	errs = append(errs, w.hits.Close())
	_ = errors.Join(errs...) // nothing can be done about a probe that the kernel keeps
}
