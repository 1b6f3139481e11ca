package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/bpf"
	"github.com/coalmine-dev/coalmine/sandbox/trace/tlsread"
)

// drainTimeout bounds the wait for records that are already with this machine's kernel.
const drainTimeout = 30 * time.Second

// watcher is the tracer outside of the sandbox.
type watcher struct {
	tracer Tracer
	plain  *plainReader
	agent  int // the agent's number among this machine's processes
	target int
	begun  bool
	ran    bool // the target's program was started
	ended  bool // the target's first task was seen to end
	died   bool // that it does not watch any more was told
	// refused has calls recorded that a filter answered: the agent does not tell of them.
	refused bool
}

// seeRefused says that nobody but the tracer tells of refused calls.
func (w *watcher) seeRefused() {
	if w != nil {
		w.refused = true
	}
}

// serial makes a sink of one that takes one call at a time: with a tracer
// outside of the sandbox two goroutines have something to say.
type serial struct {
	mu   sync.Mutex
	sink Sink
}

func (s *serial) Stdout(stamp time.Duration, p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Stdout(stamp, p)
}

func (s *serial) Stderr(stamp time.Duration, p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Stderr(stamp, p)
}

func (s *serial) Record(r *trace.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Record(r)
}

func (s *serial) Flow(f *trace.Flow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Flow(f)
}

func (s *serial) Event(e session.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Event(e)
}

func (s *serial) TraceError(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.TraceError(err)
}

// Watchable says whether eBPF can watch a backend's sandboxes.
func Watchable(ctx context.Context, b Backend) Support {
	n, ok := b.(HostKernel)
	if !ok {
		return Support{OK: No, Reason: "the " + b.Name() + " sandbox cannot be watched from outside"}
	}
	// The programs are asked first: most often it is they that are forbidden, and it is known at once.
	if ok, reason := bpf.Supported(); ok != string(Yes) {
		return Support{OK: Tri(ok), Reason: reason}
	}
	return n.SharesHostKernel(ctx)
}

// watch attaches the tracer that a Spec asks for, before the agent has its Config
// and so before there is a target.
func (r *Run) watch(ctx context.Context, spec *Spec) error {
	if own, ok := r.conn.(Traced); ok && spec.TraceSet != "" {
		r.watchedBy(own.Tracer(), &plainReader{run: r})
		return nil
	}
	if spec.TraceSet == "" || spec.Tracer != TracerEBPF {
		return nil
	}
	where, ok := r.conn.(AgentProcess)
	if !ok {
		return &UsageError{Err: errors.New("this sandbox cannot be watched from outside"), Hint: "use --tracer strace"}
	}
	pid, err := where.AgentPID(ctx)
	if err != nil {
		return err
	}
	p := &plainReader{run: r}
	o := bpf.Options{PID: pid, Set: spec.TraceSet, Ring: spec.Ring}
	if !spec.NoTLSProbes {
		o.Files = p.file
	}
	t, err := bpf.Open(o)
	if err == nil && !spec.NoTLSProbes {
		if p.reader, err = tlsread.Open(tlsread.Options{PID: pid, Limit: maxPlainConn}, p.piece, p.lose); err != nil {
			t.Close()
		}
	}
	if err != nil {
		return &UsageError{Err: err, Hint: "run as root or with CAP_BPF and CAP_PERFMON, or use --tracer strace"}
	}
	r.watchedBy(t, p)
	r.tracer.agent = pid
	return nil
}

// watchedBy has what a tracer outside of the sandbox sees go to the sink.
func (r *Run) watchedBy(t Tracer, p *plainReader) {
	r.tracer = &watcher{tracer: t, plain: p}
	r.sink = &serial{sink: r.sink}
}

// begin has the records flow, now that the task that becomes the target is known.
func (w *watcher) begin(r *Run, target int) {
	if w == nil || w.begun {
		return
	}
	w.begun, w.target = true, target
	w.tracer.Start(target, w.refused, func(rec *trace.Record) {
		if rec.Op == trace.OpExit && rec.Tid == target {
			w.ended = true
		}
		r.sink.Record(rec)
	}, func(n uint64, why string) {
		r.lost.Add(n)
		r.sink.TraceError(&LossError{N: n, Why: why})
	})
}

// drain returns when what the tracer has seen so far is with the sink, and sees
// whether it still watches.
func (r *Run) drain() {
	w := r.tracer
	if w == nil || !w.begun {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	err := w.tracer.Alive()
	if err == nil {
		err = w.tracer.Drain(ctx)
	}
	if err == nil && w.plain.reader != nil {
		err = w.plain.reader.Drain(ctx)
	}
	if err != nil {
		r.unwatched(err.Error())
	}
}

// unwatched says that the tracer does not watch any more, and ends the run: what
// nobody watches must not go on.
func (r *Run) unwatched(reason string) {
	if r.tracer.died {
		return
	}
	r.tracer.died = true
	r.finish(func(x *Exit) { x.TracerDied, x.Reason = true, reason })
	r.sink.Event(session.Event{Stamp: trace.Clock(), Body: session.EventTracerDied{Reason: reason}})
	r.command(agent.Command{Type: agent.CommandKill})
}

// unwatch takes the last records and detaches the tracer. A run that came to its
// end has the target's end among its records.
func (r *Run) unwatch(done bool) {
	w := r.tracer
	if w == nil {
		return
	}
	r.drain()
	w.tracer.Close()
	w.plain.close()
	if done && w.ran && !w.ended {
		r.unwatched(fmt.Sprintf("the records end before the target (task %d) does", w.target))
	}
}
