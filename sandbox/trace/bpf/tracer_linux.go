//go:build amd64 || arm64

package bpf

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Options say what to watch.
type Options struct {
	// PID is a process of the pid namespace to be watched, as this process numbers it. Of chosen
	// processes it is the one that watches.
	PID int
	// Set is Core, Looks or IO.
	Set string
	// Ring is the size of the buffer between the kernel and this process in
	// bytes, a power of two; 0 is 16 MiB.
	Ring int
	// Files is told of each program that a process of the target's begins to run (path is ""), and of
	// each file that one opens, by the kernel's path in the process's mount namespace. pid is
	// the machine's number. It is called from Start's goroutine; nil is for nobody.
	Files func(pid int, path string)
	// Chosen watches the processes that Watch names and what they start, in place of a
	// namespace. This process has to be in the machine's own pid namespace then.
	Chosen bool
	// older has the programs read the kernel's memory as they must before Linux 6.2.
	older bool
}

// look is how long an event may wait unread while few come.
const look = 5 * time.Millisecond

// Tracer watches a pid namespace from Open to Close.
type Tracer struct {
	programs *programs
	links    []link.Link
	reader   *ringbuf.Reader
	ns       *os.File // holds the namespace, by whose address tasks are told
	inode    uint32
	abis     *[2]*abi
	token    uint64
	files    func(pid int, path string)

	mu      sync.Mutex
	waiting []chan struct{}
	running bool
	done    chan struct{}
	closing atomic.Bool
	told    [len(whyLost) + 1]uint64 // losses that were told, by reason: of whyLost, and missed events
}

// Open loads the programs and attaches them. Nothing is read before Start.
func Open(o Options) (*Tracer, error) {
	abis, err := tables(runtime.GOARCH, o.Set)
	if err != nil {
		return nil, err
	}
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/pid", o.PID))
	if err != nil {
		return nil, fmt.Errorf("eBPF tracer: find the sandbox's pid namespace: %w", err)
	}
	t := &Tracer{ns: ns, abis: abis, files: o.Files, done: make(chan struct{})}
	if err = t.load(o); err == nil {
		err = t.attach()
	}
	if err != nil {
		t.release()
		return nil, err
	}
	return t, nil
}

// load takes programs that the kernel has checked, and tells them what to watch.
func (t *Tracer) load(o Options) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(t.ns.Fd()), &st); err != nil {
		return fmt.Errorf("eBPF tracer: name the pid namespace: %w", err)
	}
	t.inode = uint32(st.Ino)
	var token [8]byte
	_, _ = rand.Read(token[:])
	t.token = binary.NativeEndian.Uint64(token[:]) | 1<<63
	var err error
	if t.programs, err = take(checked{set: o.Set, ring: o.Ring, older: o.older, chosen: o.Chosen}, t.abis); err != nil {
		return err
	}
	if err := errors.Join(t.programs.WantNs.Set(t.inode), t.programs.BeatToken.Set(t.token)); err != nil {
		return fmt.Errorf("eBPF tracer: say what to watch: %w", err)
	}
	for i := range t.told {
		t.told[i], _ = t.lost(i)
	}
	if t.reader, err = ringbuf.NewReader(t.programs.Events); err != nil {
		return fmt.Errorf("eBPF tracer: open the buffer: %w", err)
	}
	return nil
}

// attach connects the programs to the kernel's tracepoints: the births of tasks
// first, so that none is met unborn.
func (t *Tracer) attach() error {
	points := []string{"sched_process_fork", "sched_process_exec", "sched_process_exit", "signal_deliver", "sys_exit", "sys_enter"}
	for i, program := range t.programs.all() {
		l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: points[i], Program: program})
		if err != nil {
			return fmt.Errorf("eBPF tracer: attach to %s: %w", points[i], err)
		}
		t.links = append(t.links, l)
	}
	return nil
}

// Start hands on what the target does, until Close: target is the task that
// becomes it, as the watched namespace numbers it, and its records begin with its
// second exec, which starts the target's program. Both functions are called from one
// goroutine, which Close ends. The record is valid during the call only. lose is
// told how much is missing and why.
//
// refused has those calls recorded, too, that a seccomp filter answered: they have
// no arguments, since the kernel tells of their end alone.
func (t *Tracer) Start(target int, refused bool, emit func(*trace.Record), lose func(n uint64, why string)) {
	d := newDecoder(t.abis, t.inode, target, emit, lose)
	d.refused = refused
	t.start(d)
}

// StartChosen is Start for chosen processes. emit is told the process of each record, and
// records number tasks as the machine does.
func (t *Tracer) StartChosen(emit func(pid int, r *trace.Record), lose func(n uint64, why string)) {
	d := newDecoder(t.abis, t.inode, 0, nil, lose)
	d.emit = func(r *trace.Record) { emit(int(d.process), r) }
	d.chosen, d.started = true, true
	t.start(d)
}

// Watch begins to watch a process and what it starts from now on. What it has started
// before has to be named as well. It may be called from any goroutine.
func (t *Tracer) Watch(pid int) error {
	if err := t.programs.Chosen.Put(uint32(pid), uint8(1)); err != nil {
		return fmt.Errorf("eBPF tracer: watch process %d: %w", pid, err)
	}
	return nil
}

// Unwatch ends the watch of a process, but not of what it has started meanwhile.
func (t *Tracer) Unwatch(pid int) {
	_ = t.programs.Chosen.Delete(uint32(pid)) // one that has ended is not there
}

func (t *Tracer) start(d *decoder) {
	d.files = t.files
	t.mu.Lock()
	t.running = true
	t.mu.Unlock()
	go t.run(d)
}

func (t *Tracer) run(d *decoder) {
	defer close(t.done)
	lose := d.lose
	var sample ringbuf.Record
	e := event{known: newKnown()}
	for {
		t.reader.SetDeadline(time.Now().Add(look))
		err := t.reader.ReadInto(&sample)
		for err == nil {
			if e.read(sample.RawSample) != nil {
				lose(1, errShort.Error())
			} else {
				d.take(&e)
			}
			err = t.reader.ReadInto(&sample)
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
		case errors.Is(err, ringbuf.ErrFlushed):
			t.count(lose)
			t.answer()
		default:
			t.count(lose)
			if !t.closing.Load() {
				lose(1, "the buffer between the kernel and the tracer broke: "+err.Error())
			}
			t.answer()
			return
		}
	}
}

// answer tells those who wait that everything up to their question was handed on.
func (t *Tracer) answer() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.waiting {
		close(c)
	}
	t.waiting = nil
}

// whyLost are the reasons that the kernel's side counts by.
var whyLost = [...]string{
	"events found no room in the tracer's buffer",
	"calls found no room in the tracer's table of calls under way",
	"the kernel had no buffer for an event",
	"processes found no room in the table of chosen ones",
}

// count tells what the kernel's side has lost since it was last asked.
func (t *Tracer) count(lose func(uint64, string)) {
	for i := range t.told {
		if n, why := t.lost(i); n > t.told[i] {
			lose(n-t.told[i], why)
			t.told[i] = n
		}
	}
}

// lost is how much has ever been lost for a reason, 0 where the programs are gone: it was counted before.
func (t *Tracer) lost(i int) (n uint64, why string) {
	if i < len(whyLost) {
		var per []uint64
		_ = t.programs.Losses.Lookup(uint32(i), &per)
		for _, v := range per {
			n += v
		}
		return n, whyLost[i]
	}
	for _, p := range t.programs.all() {
		if s, err := p.Stats(); err == nil {
			n += s.RecursionMisses
		}
	}
	return n, "events came while their program was running already"
}

// Drain returns when everything that has happened before was handed on, or with
// an error that says that this cannot be known.
func (t *Tracer) Drain(ctx context.Context) error {
	done := make(chan struct{})
	t.mu.Lock()
	if !t.running {
		t.mu.Unlock()
		return errors.New("eBPF tracer: nobody reads its events")
	}
	t.waiting = append(t.waiting, done)
	t.mu.Unlock()
	if err := t.reader.Flush(); err != nil {
		return fmt.Errorf("eBPF tracer: flush: %w", err)
	}
	select {
	case <-done:
	case <-t.done:
	case <-ctx.Done():
		return fmt.Errorf("eBPF tracer: wait for its records: %w", context.Cause(ctx))
	}
	return nil
}

// Alive makes a call that only the programs know and sees whether they have
// seen it: detached ones do not.
func (t *Tracer) Alive() error {
	var before, after [2]uint64
	if err := t.programs.Beats.Get(&before); err != nil {
		return fmt.Errorf("eBPF tracer: ask the kernel's side: %w", err)
	}
	_, _, _ = unix.RawSyscall6(unix.SYS_PRCTL, uintptr(t.token), 0, 0, 0, 0, 0)
	if err := t.programs.Beats.Get(&after); err != nil {
		return fmt.Errorf("eBPF tracer: ask the kernel's side: %w", err)
	}
	if after[0] == before[0] || after[1] == before[1] {
		return errors.New("eBPF tracer: its programs are detached: what came after was not watched")
	}
	for _, l := range t.links {
		if _, err := l.Info(); err != nil {
			return fmt.Errorf("eBPF tracer: a program is detached: what came after was not watched: %w", err)
		}
	}
	return nil
}

// Close detaches the programs and ends what Start began. It may be called more than once.
func (t *Tracer) Close() {
	if t.closing.Swap(true) {
		<-t.closed()
		return
	}
	_ = t.reader.Close()
	<-t.closed()
	t.release()
}

// closed is closed when nobody reads.
func (t *Tracer) closed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running {
		return t.done
	}
	c := make(chan struct{})
	close(c)
	return c
}

func (t *Tracer) release() {
	for _, l := range t.links {
		_ = l.Close()
	}
	if t.reader != nil {
		_ = t.reader.Close()
	}
	if t.programs != nil {
		t.programs.give()
	}
	_ = t.ns.Close()
}
