package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/strace"
)

// decoder turns the agent's frames into calls of the sink. It believes nothing
// that would cost memory or order: bounds are mux's and session.DecodeEvent's.
type decoder struct {
	run    *Run
	traced bool
	parser *strace.Parser
	filter startFilter
	flows  *wire.Splitter
	done   bool
}

func newDecoder(r *Run, traced bool) *decoder {
	return &decoder{run: r, traced: traced, flows: wire.NewSplitter(maxFlowLine)}
}

// read is the goroutine that owns the sink.
func (r *Run) read(d *decoder) {
	defer close(r.over)
	defer r.conns.Close(ErrOver)
	defer r.stopWriting()
	m := mux.NewReader(r.conn)
	var err error
	for err == nil && !d.done {
		var f mux.Frame
		if f, err = m.Next(); err == nil {
			err = d.frame(f)
		}
	}
	if d.parser != nil {
		_ = d.parser.Close()
	}
	r.readProbes()
	r.unwatch(d.done)
	if d.done {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exit.TracerDied = true
	if r.exit.Reason == "" {
		r.exit.Reason = lostReason(err, r.conn.Diagnostics())
	}
}

// frame handles one frame; an error ends the stream.
func (d *decoder) frame(f mux.Frame) error {
	switch f.Stream {
	case mux.Stdout:
		d.run.sink.Stdout(f.Stamp, f.Payload)
	case mux.Stderr:
		d.run.sink.Stderr(f.Stamp, f.Payload)
	case mux.Trace:
		if d.parser == nil {
			return errors.New("the agent sent trace records out of turn")
		}
		if _, err := d.parser.Write(f.Payload); err != nil {
			return fmt.Errorf("read the trace: %w", err)
		}
	case mux.Flows:
		d.flows.Feed(f.Payload, d.flow)
	case mux.Conns:
		return d.run.conns.Take(f)
	case mux.Control:
		e, err := session.DecodeEvent(f.Payload)
		if err != nil {
			return err
		}
		d.event(e)
	default:
		return fmt.Errorf("the agent sent a %s frame", f.Stream)
	}
	return nil
}

// event acts on one event and hands it on.
func (d *decoder) event(ev session.Event) {
	r := d.run
	switch e := ev.Body.(type) {
	case session.EventReady:
		r.tracer.begin(r, e.Task)
		if d.traced && d.parser == nil {
			d.filter.tid = e.Task
			d.parser = strace.NewParser(e.Realtime, d.record, d.badLine)
			d.parser.SetDir("/")
		}
		r.setProbes()
	case session.EventStarted:
		if r.tracer != nil {
			r.tracer.ran = true
		}
		r.sayStarted(nil)
	case session.EventError:
		r.finish(func(x *Exit) { x.Reason = e.Reason })
		r.sayStarted(startError(e))
	case session.EventStdin:
		r.delivery(e)
	case session.EventEOF:
		r.ended(e)
	case session.EventExit:
		r.drain()
		r.finish(func(x *Exit) { x.Code, x.Signal = e.Code, e.Signal })
	case session.EventTracerDied:
		r.finish(func(x *Exit) { x.TracerDied, x.Reason = true, e.Reason })
	case session.EventLimit:
		r.finish(func(x *Exit) { x.Reason = "limit: " + e.Reason })
	case session.EventFile:
		r.collected(e)
		return // no part of the run
	case session.EventPorts:
		r.answered(e.N, func(a *answer) { a.ports = e.Ports })
		return // as above
	case session.EventSynced:
		r.drain()
		r.sink.Event(ev) // before who waits for the answer goes on
		r.answered(e.N, func(*answer) {})
		return
	case session.EventDone:
		d.done = true
	case session.EventLoss:
		r.lost.Add(1)
		if e.Code == session.GapRefusedUnseen {
			r.tracer.seeRefused()
		}
	case session.EventAccess, session.EventRefused, session.EventNote, session.EventOutlived, session.EventFull, session.EventFound,
		session.EventChanged, session.EventText, session.EventCompared, session.EventLastWrite:
	default: // unknown, or the host's own
		r.lost.Add(1)
	}
	r.sink.Event(ev)
}

// record numbers and hands on what the target itself did.
func (d *decoder) record(rec *trace.Record) {
	if d.filter.keep(rec) {
		d.run.sink.Record(rec)
	}
}

// maxFlowLine bounds a line of the sinkhole's: a piece of payload and what names it.
const maxFlowLine = 1 << 20

// flow hands on one line of the sinkhole's.
func (d *decoder) flow(l wire.Line) {
	var f trace.Flow
	if l.Oversize || json.Unmarshal(l.Raw, &f) != nil || f.Stamp < 0 || f.Type == trace.FlowPlain {
		d.run.lost.Add(1)
		return
	}
	d.run.sink.Flow(&f)
}

func (d *decoder) badLine(line []byte, err error) {
	d.run.lost.Add(1)
	d.run.sink.TraceError(fmt.Errorf("%w: %.200q", err, line))
}

// startError is the error of Start for an agent's error event.
func startError(e session.EventError) error {
	return &UsageError{Err: errors.New(e.Reason), Hint: e.Hint}
}

func (r *Run) sayStarted(err error) {
	select {
	case r.started <- err:
	default:
	}
}

func (r *Run) finish(set func(*Exit)) {
	r.mu.Lock()
	set(&r.exit)
	r.mu.Unlock()
}

// delivery moves the window of stdin.
func (r *Run) delivery(e session.EventStdin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delivered = min(max(r.delivered, e.Delivered), r.sent)
	r.wake.Signal()
}

// ended takes in that the target reads no more.
func (r *Run) ended(e session.EventEOF) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = r.refused || e.Stream == mux.Stdin.String()
	r.wake.Signal()
}

// collected keeps a file that a Collect asked for.
func (r *Run) collected(e session.EventFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.asked[e.N]
	if a == nil || a.size+len(e.Data) > maxCollectedBytes {
		return
	}
	a.size += len(e.Data)
	if n := len(a.files); n > 0 && a.files[n-1].Path == e.Path && !e.Dir {
		a.files[n-1].Data = append(a.files[n-1].Data, e.Data...)
	} else if n < maxCollected && slices.Contains(a.paths, e.Path) {
		mode := cmp.Or(e.Mode&0o777, 0o644)
		a.files = append(a.files, rootfs.File{Path: e.Path, Mode: mode, Data: e.Data, Dir: e.Dir})
	}
}

// answered ends the wait for a command's answer.
func (r *Run) answered(n int64, set func(*answer)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.asked[n]; a != nil {
		set(a)
		a.answered = true
		close(a.done)
		delete(r.asked, n)
	}
}

// startFilter drops what precedes the target's program. The agent announces the
// task that will become the target; that task executes twice: the agent's own
// program, which drops privileges, and then the target's. Until the second time
// nothing of the target's has run, so nothing that it does can move this line.
type startFilter struct {
	tid   int
	execs int
	seq   uint64
	// ours are the tasks of the agent's that the log names; their ends, which
	// may come later, are dropped too.
	ours map[int]bool
}

func (f *startFilter) keep(rec *trace.Record) bool {
	if f.execs < 2 {
		if f.ours == nil {
			f.ours = make(map[int]bool)
		}
		if rec.Tid == f.tid && rec.Op == trace.OpExec && rec.OK() {
			f.execs++
		}
		if f.execs < 2 {
			f.ours[rec.Tid] = true
			return false
		}
		delete(f.ours, f.tid)
	}
	if f.ours[rec.Tid] {
		if rec.Op == trace.OpExit {
			delete(f.ours, rec.Tid)
		}
		return false
	}
	if rec.Op == trace.OpFork && rec.OK() {
		delete(f.ours, rec.Child) // the number was given anew
	}
	f.seq++
	rec.Seq = f.seq
	return true
}
