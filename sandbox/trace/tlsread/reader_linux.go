//go:build amd64 || arm64

package tlsread

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// The Reader's bounds.
const (
	maxLibraries = 64
	maxAsked     = 1 << 12
	maxFiles     = 1 << 13 // that are looked at, the same one counted each time
	// maxEverywhere bounds the libraries of a whole machine, whose files have no bound.
	maxEverywhere = 1 << 10
	// look is how long a piece may wait unread while few come.
	look = 5 * time.Millisecond
)

// Reader watches TLS libraries from Open to Close. Its methods may be called from several goroutines.
type Reader struct {
	o    Options
	ns   *os.File // holds the namespace
	emit func(*Piece)
	lose func(n uint64, why string)

	asked   chan request
	stop    chan struct{}
	closing sync.Once
	workers sync.WaitGroup

	// Of the goroutine that attaches.
	known map[file]bool // written with mu
	most  int           // libraries that are watched at once
	files int
	links []link.Link

	points []link.Link // that tell of files; nil without Options.Everywhere

	mu        sync.Mutex
	programs  *programs
	ring      *ringbuf.Reader
	waiting   []chan struct{}
	read      chan struct{} // closed when nobody reads any more
	libraries int
	err       error
	told      [3]uint64
	ended     atomic.Bool
}

// request is a file to be looked at, or all that a process has mapped.
type request struct {
	pid    int
	path   string
	mapped bool
	// file is the kernel's side's key of the file that it told of, 0 for others.
	file uint64
	// done is closed when the worker comes to the request, which asks for nothing then.
	done chan struct{}
}

// Open prepares a Reader. emit and lose are called from one goroutine, which Close ends;
// a piece is valid during the call only. lose is told how much is missing and why.
func Open(o Options, emit func(*Piece), lose func(n uint64, why string)) (*Reader, error) {
	r := &Reader{o: o, emit: emit, lose: lose, asked: make(chan request, maxAsked), stop: make(chan struct{}), known: map[file]bool{}, most: maxLibraries}
	if o.PID != 0 {
		ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/pid", o.PID))
		if err != nil {
			return nil, fmt.Errorf("TLS reader: find the pid namespace: %w", err)
		}
		r.ns = ns
	}
	if o.Everywhere {
		r.most = maxEverywhere
		err := r.load()
		if err == nil {
			err = r.discover()
		}
		if err != nil {
			r.Close()
			return nil, err
		}
	}
	r.workers.Add(1)
	go r.work()
	return r, nil
}

// Executed says that a process runs another program.
func (r *Reader) Executed(pid int) { r.enqueue(request{pid: pid}) }

// Opened says that a process opened a file, which it may map: path is what it is in the
// process's mount namespace.
func (r *Reader) Opened(pid int, path string) {
	if mayHold(path) {
		r.enqueue(request{pid: pid, path: path})
	}
}

// Mapped has all looked at that a process runs and has mapped.
func (r *Reader) Mapped(pid int) { r.enqueue(request{pid: pid, mapped: true}) }

func (r *Reader) enqueue(q request) {
	select {
	case r.asked <- q:
	case <-r.stop:
	default:
		r.fail(errors.New("TLS reader: files came faster than they could be looked at"))
	}
}

// State says how many libraries are watched, and what failed last.
func (r *Reader) State() (libraries int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.libraries, r.err
}

func (r *Reader) fail(err error) {
	r.mu.Lock()
	r.err = err
	r.mu.Unlock()
}

// work looks at files, one after the other.
func (r *Reader) work() {
	defer r.workers.Done()
	for {
		select {
		case <-r.stop:
			return
		case q := <-r.asked:
			r.handle(q)
		}
	}
}

func (r *Reader) handle(q request) {
	switch {
	case q.done != nil:
		close(q.done)
		return
	case q.path != "":
		if f, err := openIn(q.pid, q.path); err == nil {
			r.library(f)
		}
		return
	case q.mapped:
		names, err := mapped(q.pid)
		switch {
		case err != nil && r.o.Everywhere:
			r.forget(q.file)
			return
		case err != nil:
			r.fail(fmt.Errorf("TLS reader: what process %d has mapped: %w", q.pid, err))
			return
		}
		for _, name := range names {
			if f, err := openIn(q.pid, name); err == nil {
				r.library(f)
			}
		}
	}
	if f, err := openProgram(q.pid); err == nil {
		// What a library sends first is sent while the programs are loaded, unless they are
		// there before it. A program without a loader maps no library.
		if hasLoader(f) {
			if err := r.load(); err != nil {
				r.fail(err)
			}
		}
		r.library(f)
	}
}

// library watches what a file holds, where nobody does yet, and closes it.
func (r *Reader) library(f *os.File) {
	defer func() { _ = f.Close() }()
	if r.files++; r.files > maxFiles && !r.o.Everywhere {
		r.fail(errors.New("TLS reader: more files than are looked at"))
		return
	}
	key, probes, err := probesOf(f, r.o.Reads)
	if err != nil || r.known[key] {
		return
	}
	if len(r.known) >= r.most {
		r.fail(errors.New("TLS reader: more libraries than are watched at once"))
		return
	}
	err = r.load()
	if err == nil {
		err = r.attach(f, probes)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[key] = true
	if err != nil {
		r.err = err
		return
	}
	r.libraries++
}

// attach sets the probes in their order.
func (r *Reader) attach(f *os.File, probes []probe) error {
	// The kernel follows this name to the very file that was looked at.
	ex, err := link.OpenExecutable(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return fmt.Errorf("TLS reader: %w", err)
	}
	if len(r.links) == 0 {
		l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: "sys_enter", Program: r.programs.OnEnter})
		if err != nil {
			return fmt.Errorf("TLS reader: attach to sys_enter: %w", err)
		}
		r.links = append(r.links, l)
	}
	for len(probes) > 0 {
		first := probes[0]
		var at []uint64
		for len(probes) > 0 && probes[0].program == first.program && probes[0].returns == first.returns {
			at = append(at, probes[0].offset)
			probes = probes[1:]
		}
		links, err := r.programs.set(ex, r.program(first.program), at, first.returns)
		r.links = append(r.links, links...)
		if err != nil {
			return fmt.Errorf("TLS reader: set a probe (%s): %w", first.program, err)
		}
	}
	return nil
}

// program finds a program by its name in the kernel's side.
func (r *Reader) program(name string) *ebpf.Program {
	v := reflect.ValueOf(r.programs.programPrograms)
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("ebpf") == name {
			return v.Field(i).Interface().(*ebpf.Program)
		}
	}
	return nil
}

// load takes programs that the kernel has checked, and tells them what to watch, once.
func (r *Reader) load() error {
	if r.programs != nil {
		return nil
	}
	var ns uint32
	if r.ns != nil {
		var st unix.Stat_t
		if err := unix.Fstat(int(r.ns.Fd()), &st); err != nil {
			return fmt.Errorf("TLS reader: name the pid namespace: %w", err)
		}
		ns = uint32(st.Ino)
	}
	p, err := take(r.o.Ring)
	if err != nil {
		return err
	}
	for i := range r.told {
		r.told[i] = p.lost(i)
	}
	ring, err := ringbuf.NewReader(p.Events)
	if err == nil {
		err = errors.Join(p.WantNs.Set(ns), p.Limit.Set(r.o.Limit))
	}
	if err != nil {
		if ring != nil {
			_ = ring.Close()
		}
		_ = p.Close()
		return fmt.Errorf("TLS reader: begin to watch: %w", err)
	}
	r.mu.Lock()
	r.programs, r.ring, r.read = p, ring, make(chan struct{})
	r.mu.Unlock()
	go r.run(ring, r.read)
	return nil
}

// run hands on what the kernel's side tells.
func (r *Reader) run(ring *ringbuf.Reader, done chan struct{}) {
	defer close(done)
	var sample ringbuf.Record
	var p Piece
	for {
		ring.SetDeadline(time.Now().Add(look))
		err := ring.ReadInto(&sample)
		for err == nil {
			switch {
			case p.read(sample.RawSample) != nil:
				r.lose(1, errShort.Error())
			case p.Kind == found:
				r.enqueue(request{pid: p.PID, mapped: true, file: p.Conn})
			default:
				r.emit(&p)
			}
			err = ring.ReadInto(&sample)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		r.count()
		r.answer()
		if !errors.Is(err, ringbuf.ErrFlushed) {
			if !r.ended.Load() {
				r.lose(1, "the buffer between the kernel and the TLS reader broke: "+err.Error())
			}
			return
		}
	}
}

// whyLost are the reasons that the kernel's side counts by.
var whyLost = [...]string{
	"what was sent over TLS found no room in the reader's buffer",
	"calls of a TLS library found no room in the reader's table",
	"what was sent over TLS was not in memory",
}

// count tells what the kernel's side has lost since it was last asked.
func (r *Reader) count() {
	for i, why := range whyLost {
		if n := r.programs.lost(i); n > r.told[i] {
			r.lose(n-r.told[i], why)
			r.told[i] = n
		}
	}
}

// lost is how much was ever lost for a reason.
func (p *programs) lost(reason int) (n uint64) {
	var per []uint64
	_ = p.Losses.Lookup(uint32(reason), &per)
	for _, v := range per {
		n += v
	}
	return n
}

func (r *Reader) answer() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.waiting {
		close(c)
	}
	r.waiting = nil
}

// Drain returns when all pieces of before were handed on, or with an error that says that
// this cannot be known.
func (r *Reader) Drain(ctx context.Context) error {
	answered := make(chan struct{})
	r.mu.Lock()
	ring, read := r.ring, r.read
	if ring == nil {
		r.mu.Unlock()
		return nil
	}
	r.waiting = append(r.waiting, answered)
	r.mu.Unlock()
	if err := ring.Flush(); err != nil {
		return fmt.Errorf("TLS reader: flush: %w", err)
	}
	select {
	case <-answered:
	case <-read:
	case <-ctx.Done():
		return fmt.Errorf("TLS reader: wait for its pieces: %w", context.Cause(ctx))
	}
	return nil
}

// closers are the links that are closed at once: the kernel waits for each until no task can run its
// program any more.
const closers = 64

func closeAll(links []link.Link) {
	var g errgroup.Group
	g.SetLimit(closers)
	for _, l := range links {
		g.Go(l.Close)
	}
	_ = g.Wait() // what cannot be closed ends with this process
}

// Close takes the probes away and ends what Open began. It may be called more than once.
func (r *Reader) Close() {
	r.closing.Do(func() {
		r.ended.Store(true)
		close(r.stop)
		r.workers.Wait()
		closeAll(slices.Concat(r.points, r.links))
		if r.ring != nil {
			_ = r.ring.Close()
			<-r.read
			r.programs.give()
		}
		if r.ns != nil {
			_ = r.ns.Close()
		}
	})
}
