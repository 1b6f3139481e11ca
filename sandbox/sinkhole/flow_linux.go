package sinkhole

import (
	"io"
	"math/bits"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// reporter puts events in one order and keeps the run's account.
type reporter struct {
	mu     sync.Mutex
	emit   func(Event)
	done   bool
	kept   atomic.Int64
	sent   atomic.Uint64
	ids    atomic.Uint64
	losses sync.Map // reason -> *tally
}

// tally is how often something was lost, and how much of that is told.
type tally struct{ n, told atomic.Uint64 }

func now() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano())
}

func (r *reporter) send(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return
	}
	if e.Stamp == 0 {
		e.Stamp = now()
	}
	r.sent.Add(1)
	r.emit(e)
}

// stop is the end: it tells what is still to be told of losses, and nothing is
// emitted after it returns.
func (r *reporter) stop() {
	r.losses.Range(func(reason, v any) bool {
		if t := v.(*tally); t.told.Load() < t.n.Load() {
			r.send(Event{Type: TypeLoss, Error: reason.(string), N: t.n.Load()})
		}
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
}

// loss reports that something was not seen: at the 1st, 2nd, 4th, … time, so that
// a flood of losses is no flood of events. N is how often so far.
func (r *reporter) loss(reason string, flow uint64) { r.lost(reason, flow, 1) }

// lost is loss for n at once.
func (r *reporter) lost(reason string, flow, n uint64) {
	v, _ := r.losses.LoadOrStore(reason, new(tally))
	t := v.(*tally)
	if sum := t.n.Add(n); bits.Len64(sum) != bits.Len64(sum-n) {
		t.told.Store(sum)
		r.send(Event{Type: TypeLoss, Flow: flow, Error: reason, N: sum})
	}
}

// take is how many of n bytes may still be carried by data events of a flow.
func (s *server) take(f *flow, n int) int {
	room := min(s.cfg.MaxFlow-f.kept.Load(), s.cfg.MaxRun-s.kept.Load(), int64(n))
	if room <= 0 {
		return 0
	}
	f.kept.Add(room)
	s.kept.Add(room)
	return int(room)
}

// flow is one connection, or the datagrams between two ports.
type flow struct {
	s              *server
	id             uint64
	up, down, kept atomic.Int64
	requests       atomic.Int64
	// arrived is when the kernel got what is being told of, 0 for now: a busy
	// machine lets the reader wait, and a reply may overtake it.
	arrived atomic.Int64
	cut     atomic.Bool

	mu     sync.Mutex
	known  Event // what identifies the flow, in every event of it
	err    string
	wire   *stream
	closed bool
}

func (s *server) open(proto string, src, dst netip.AddrPort) *flow {
	return s.begin(TypeOpen, proto, src, dst, 0)
}

// begin makes a flow that is reported as open or as refused, by what arrived at
// a time of the run's clock, 0 for now.
func (s *server) begin(as, proto string, src, dst netip.AddrPort, arrived time.Duration) *flow {
	f := &flow{s: s, id: s.ids.Add(1)}
	f.arrived.Store(int64(arrived))
	f.known = Event{Flow: f.id, Proto: proto, Source: src, Dest: dst, Host: s.names.name(dst.Addr())}
	f.known.Service = s.serviceAt(as, proto, dst, f.known.Host)
	f.known.Allowed = as == TypeOpen && dst.Port() != dnsPort && s.cfg.Dial != nil && Allows(s.cfg.Allow, f.known.Host)
	f.report(Event{Type: as})
	return f
}

// learn changes what is known of the flow.
func (f *flow) learn(change func(*Event)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.known)
}

// fail keeps the first error of the flow.
func (f *flow) fail(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == "" {
		f.err = reason
	}
}

// report emits e with what is known of the flow.
func (f *flow) report(e Event) {
	f.mu.Lock()
	k := f.known
	f.mu.Unlock()
	e.Flow, e.Proto, e.Source, e.Dest = k.Flow, k.Proto, k.Source, k.Dest
	e.Stamp = time.Duration(f.arrived.Load())
	e.TLS, e.SNI, e.ALPN, e.Opaque, e.Allowed, e.Service = k.TLS, k.SNI, k.ALPN, k.Opaque, k.Allowed, k.Service
	if e.Host == "" {
		e.Host = k.Host
	}
	if e.App == "" {
		e.App = k.App
	}
	f.s.send(e)
}

// end reports the flow's close, once.
func (f *flow) end() {
	f.mu.Lock()
	was, wire, reason := f.closed, f.wire, f.err
	f.closed = true
	f.mu.Unlock()
	if was {
		return
	}
	if wire != nil {
		wire.close()
	}
	f.arrived.Store(0)
	f.report(Event{Type: TypeClose, Up: f.up.Load(), Down: f.down.Load(), Kept: f.kept.Load(), Cut: f.cut.Load(), Error: reason})
}

// wireStream is the view of the whole flow.
func (f *flow) wireStream() *stream {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wire == nil {
		f.wire = f.stream(0, ViewWire)
	}
	return f.wire
}

// stream is one view of a flow: everything goes to the scanner, a bounded part
// into data events.
type stream struct {
	f       *flow
	request int
	view    View
	mu      sync.Mutex
	started bool
	quiet   bool // no data events: another view carries the same
	scanner io.WriteCloser
}

func (f *flow) stream(request int, view View) *stream {
	return &stream{f: f, request: request, view: view}
}

func (st *stream) write(p []byte) {
	if len(p) == 0 {
		return
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	f := st.f
	if !st.started && f.s.cfg.Scan != nil {
		st.scanner = f.s.cfg.Scan(Stream{Flow: f.id, Request: st.request, View: st.view})
	}
	st.started = true
	if st.scanner != nil {
		if _, err := st.scanner.Write(p); err != nil {
			f.s.loss("a scanner failed: "+err.Error(), f.id)
		}
	}
	if st.quiet {
		return
	}
	n := f.s.take(f, len(p))
	if n < len(p) {
		f.cut.Store(true)
	}
	if n > 0 {
		f.report(Event{Type: TypeData, View: st.view, Request: st.request, Data: p[:n]})
	}
}

func (st *stream) hush() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.quiet = true
}

func (st *stream) close() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.scanner != nil {
		_ = st.scanner.Close()
		st.scanner = nil
	}
	st.started = true
}
