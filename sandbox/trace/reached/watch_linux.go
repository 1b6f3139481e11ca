//go:build amd64 || arm64

package reached

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

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
	if table, err := tableOf(f, p.TableAt, p.TableSize); err != nil || table != p.Table {
		return nil, fmt.Errorf("watch code: %s is another program in the sandbox", p.Program)
	}
	return watch(pid, f, p.Offsets, (*Watch).set)
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
const maxTable = 64 << 20

// tableOf is the digest of what stands in a file where a program's table of functions should be.
func tableOf(f io.ReaderAt, at, size int64) (out [sha256.Size]byte, err error) {
	if size > maxTable {
		return out, errors.New("the table of functions is too large")
	}
	h := sha256.New()
	if _, err := io.CopyN(h, io.NewSectionReader(f, at, size), size); err != nil {
		return out, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// watch sets a probe at each offset of a file, in one way.
func watch(pid int, f *os.File, offsets []uint64, set func(*Watch, *os.File, *ebpf.ProgramSpec, []uint64) error) (*Watch, error) {
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
	if err := set(w, f, program(w.hits.FD(), ns.Dev, ns.Ino), offsets); err != nil {
		w.Close()
		return nil, fmt.Errorf("watch code: %w", err)
	}
	return w, nil
}

// set sets all probes at once where the kernel can.
func (w *Watch) set(f *os.File, spec *ebpf.ProgramSpec, offsets []uint64) error {
	if len(offsets) == 0 {
		return w.singly(f, spec, nil)
	}
	together := w.together(f, spec, offsets)
	if together == nil {
		return nil
	}
	if err := w.singly(f, spec, offsets); err != nil {
		return fmt.Errorf("%w (all at once: %w)", err, together)
	}
	return nil
}

// executable is a file by a name that the kernel follows to the very file that is open.
func executable(f *os.File) (*link.Executable, error) {
	return link.OpenExecutable(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
}

// together sets all probes at once, which needs Linux 6.6: these are removed at once too.
func (w *Watch) together(f *os.File, spec *ebpf.ProgramSpec, offsets []uint64) error {
	spec = spec.Copy()
	spec.AttachType = ebpf.AttachTraceUprobeMulti
	prog, err := ebpf.NewProgram(spec)
	if err != nil {
		return err
	}
	ex, err := executable(f)
	if err != nil {
		return errors.Join(err, prog.Close())
	}
	cookies := make([]uint64, len(offsets))
	for i := range cookies {
		cookies[i] = uint64(i) //nolint:gosec // an index
	}
	l, err := ex.UprobeMulti(nil, prog, &link.UprobeMultiOptions{Addresses: offsets, Cookies: cookies})
	if err != nil {
		return errors.Join(err, prog.Close())
	}
	w.prog, w.links = prog, []link.Link{l}
	return nil
}

// maxSingly bounds the probes that are set one after the other: the kernel takes up to some 100 ms to
// remove each, and a sandbox is closed in seconds.
const maxSingly = 200

// singly sets one probe after the other.
func (w *Watch) singly(f *os.File, spec *ebpf.ProgramSpec, offsets []uint64) error {
	if len(offsets) > maxSingly {
		return fmt.Errorf("watching %d places needs Linux 6.6, an older one watches %d", len(offsets), maxSingly)
	}
	var err error
	if w.prog, err = ebpf.NewProgram(spec); err != nil {
		return fmt.Errorf("load the program: it needs Linux 5.15, CAP_BPF and CAP_PERFMON: %w", err)
	}
	ex, err := executable(f)
	if err != nil {
		return err
	}
	for i, offset := range offsets {
		l, err := ex.Uprobe("", w.prog, &link.UprobeOptions{Address: offset, Cookie: uint64(i)}) //nolint:gosec // an index
		if err != nil {
			return fmt.Errorf("set a probe: %w", err)
		}
		w.links = append(w.links, l)
	}
	return nil
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

// closers is how many probes are taken away at a time: the kernel waits for all processors after each.
const closers = 64

// Close takes the probes away. It may be called more than once.
func (w *Watch) Close() {
	var left sync.WaitGroup
	for part := range slices.Chunk(w.links, max(1, (len(w.links)+closers-1)/closers)) {
		left.Go(func() {
			for _, l := range part {
				_ = l.Close() // nothing can be done about a probe that the kernel keeps
			}
		})
	}
	left.Wait()
	w.links = nil
	if w.prog != nil {
		_ = w.prog.Close() // as above
	}
	_ = w.hits.Close() // as above
}
