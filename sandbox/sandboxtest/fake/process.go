package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Target is a program in a sandbox. Its methods are called one at a time, and whatever they
// do comes before the agent's next answer.
type Target interface {
	// Start begins: it says with Ready that there is a process, or why there is none.
	Start(*Process)
	// Line takes one line of stdin, without its end.
	Line(p *Process, line []byte)
	// Rest is asked for what happens between calls.
	Rest(*Process)
	// Stop is told of the end of stdin, also where the target has ended: it says with Exit how
	// that ends it.
	Stop(*Process)
}

// Filed is a Target whose files can be collected.
type Filed interface {
	// File is what stands at a path, false for nothing.
	File(path string) ([]byte, bool)
}

const (
	// Task is the target's first task.
	Task = 100
	// clock0 is where the run's clock begins, and tick how far apart what is emitted lies.
	clock0 = time.Hour
	tick   = time.Millisecond
)

// Process is a target's way to do something: the agent's side of a run.
type Process struct {
	conn  *conn
	out   *mux.Writer
	cfg   *agent.Config
	began time.Time
	last  time.Duration
	line  []byte
	// delivered counts the bytes of stdin, and printed those of stdout and stderr.
	delivered, printed int64
	// stands says that a recording moves the clock.
	stands bool
	// pending is what the sinkhole tells when it is asked.
	pending []trace.Flow
	// ended says that the target has, and gone that the agent has.
	ended, gone bool
}

func newProcess(c *conn) *Process {
	return &Process{conn: c, out: mux.NewWriter(c.out), began: time.Now(), last: clock0}
}

// run is the agent: it returns when its stream has ended.
func (p *Process) run(t Target) {
	defer close(p.conn.over)
	defer func() { _ = p.conn.in.CloseWithError(io.ErrClosedPipe) }() // what the host still says goes nowhere
	defer func() { _ = p.conn.out.Close() }()                         // reads io.EOF
	frames := mux.NewReader(p.conn.in)
	cfg, err := agent.ReadConfig(frames)
	if err != nil {
		p.conn.said.Note(err.Error())
		return
	}
	p.cfg = cfg
	t.Start(p)
	for !p.gone {
		f, err := frames.Next()
		switch {
		case err != nil:
			return
		case f.Stream == mux.Stdin:
			p.stdin(t, f.Payload)
		case f.Stream == mux.Control:
			p.command(t, f.Payload)
		}
	}
}

// paced is a Target that knows when it gets a line.
type paced interface {
	reads(p *Process, line []byte) time.Duration
}

// stdin hands a target its lines; no bytes are the end.
func (p *Process) stdin(t Target, b []byte) {
	p.line = append(p.line, b...)
	for !p.ended && !p.gone {
		line, rest, whole := bytes.Cut(p.line, []byte("\n"))
		if !whole {
			break
		}
		p.line = rest
		p.delivered += int64(len(line)) + 1
		stamp := p.Now()
		if own, ok := t.(paced); ok {
			stamp = own.reads(p, line)
		}
		p.event(stamp, session.EventStdin{Delivered: p.delivered})
		t.Line(p, bytes.Clone(line))
	}
	if len(b) == 0 && !p.ended && !p.gone {
		t.Stop(p)
	}
}

// command answers the host's.
func (p *Process) command(t Target, raw []byte) {
	var c agent.Command
	if err := json.Unmarshal(raw, &c); err != nil {
		p.conn.said.Note(err.Error())
		p.gone = true
		return
	}
	if c.Sockets || c.Type != agent.CommandSync && c.Type != agent.CommandSettle {
		for _, f := range p.pending {
			p.Flow(f)
		}
		p.pending = nil
	}
	switch c.Type {
	case "stop":
		t.Stop(p)
		if c.N > 0 && !p.gone {
			p.Event(session.EventSynced{N: c.N})
			return
		}
		p.finish()
	case "end":
		p.finish()
	case "kill":
		p.Exit(137, "SIGKILL")
		p.finish()
	case "ports", "udp-ports":
		p.Event(session.EventPorts{N: c.N})
	case "collect":
		p.collect(t, c)
		p.Event(session.EventSynced{N: c.N})
	default:
		if c.Type == "settle" && !p.ended {
			t.Rest(p)
		}
		p.Event(session.EventSynced{N: c.N})
	}
}

func (p *Process) collect(t Target, c agent.Command) {
	files, ok := t.(Filed)
	if !ok {
		return
	}
	for _, name := range c.Paths {
		if data, there := files.File(string(name)); there {
			p.Event(session.EventFile{N: c.N, Path: string(name), Data: data})
		}
	}
}

// finish is the agent's end.
func (p *Process) finish() {
	if !p.gone {
		p.Event(session.EventDone{})
	}
	p.gone = true
}

// Config is what the agent was told.
func (p *Process) Config() *agent.Config { return p.cfg }

// Ended reports whether the target has ended.
func (p *Process) Ended() bool { return p.ended }

// Now is the next moment of the run's clock: it goes on with this process' own, and a tick
// with all that is emitted.
func (p *Process) Now() time.Duration {
	if !p.stands {
		p.last = max(p.last+tick, clock0+time.Since(p.began))
	}
	return p.last
}

// write sends a frame. A host that has hung up ends the agent.
func (p *Process) write(s mux.Stream, stamp time.Duration, b []byte) {
	if p.gone {
		return
	}
	p.last = max(p.last, stamp)
	for {
		n := min(len(b), mux.MaxPayload)
		if err := p.out.Write(mux.Frame{Stream: s, Stamp: stamp, Payload: b[:n]}); err != nil {
			p.gone = true
			return
		}
		if b = b[n:]; len(b) == 0 {
			return
		}
	}
}

// Event emits an event of the agent's.
func (p *Process) Event(body session.Body) { p.event(p.Now(), body) }

func (p *Process) event(stamp time.Duration, body session.Body) {
	raw, err := session.EncodeEvent(session.Event{Stamp: stamp, Body: body})
	if err != nil {
		panic(err) // a test's own mistake
	}
	p.write(mux.Control, stamp, raw)
}

// Ready says that the target's process is there and its program runs.
func (p *Process) Ready() {
	p.Event(session.EventReady{Task: Task})
	p.Record(trace.Record{Op: trace.OpExec, Path: p.cfg.Command[0], Argv: p.cfg.Command, Cwd: p.cfg.Dir})
	p.Event(session.EventStarted{Task: Task})
}

// Stdout prints bytes, and reports whether the target may go on.
func (p *Process) Stdout(b []byte) bool { return p.print(mux.Stdout, p.Now(), b) }

// Stderr is Stdout for stderr.
func (p *Process) Stderr(b []byte) bool { return p.print(mux.Stderr, p.Now(), b) }

// print keeps the limit on what a target prints.
func (p *Process) print(s mux.Stream, stamp time.Duration, b []byte) bool {
	if p.ended || p.gone {
		return false
	}
	p.write(s, stamp, b)
	p.printed += int64(len(b))
	if most := p.cfg.Limits.Output; most > 0 && p.printed > most {
		p.Event(session.EventLimit{Reason: "output"})
		p.Exit(137, "SIGKILL")
	}
	return !p.ended && !p.gone
}

// Record has the tracer see a system call: what it leaves out is the target's first task, now.
func (p *Process) Record(r trace.Record) {
	if r.Time == 0 {
		r.Time = p.Now()
	}
	if r.Tid == 0 {
		r.Tid = Task
	}
	if r.Call == "" {
		r.Call = string(r.Op)
	}
	if r.Err != "" {
		r.Ret = -1
	}
	if p.cfg.TraceSet != "" {
		p.conn.tracer.add(r)
	}
}

// Misses has the tracer miss so many records.
func (p *Process) Misses(n uint64, why string) { p.conn.tracer.miss(n, why) }

// Unwatched ends the tracer.
func (p *Process) Unwatched(why string) { p.conn.tracer.die(why) }

// Flow has the sinkhole see something, now where it has no moment.
func (p *Process) Flow(f trace.Flow) {
	if f.Stamp == 0 {
		f.Stamp = p.Now()
	}
	raw, err := json.Marshal(&f)
	if err != nil {
		panic(err) // as above
	}
	p.write(mux.Flows, f.Stamp, append(raw, '\n'))
}

// Late has the sinkhole see something that it tells only when it is asked.
func (p *Process) Late(f trace.Flow) { p.pending = append(p.pending, f) }

// Exit ends the target: its streams, and all its tasks.
func (p *Process) Exit(code int, signal string) {
	if p.ended || p.gone {
		return
	}
	p.Record(trace.Record{Op: trace.OpExit, Ret: int64(code), FD: -1})
	p.Event(session.EventEOF{Stream: mux.Stdout.String()})
	p.Event(session.EventEOF{Stream: mux.Stderr.String()})
	p.exited(p.Now(), session.EventExit{Code: code, Signal: signal})
}

// exited says how the target ended. Where nobody is to stop it, that is the agent's end.
func (p *Process) exited(stamp time.Duration, e session.EventExit) {
	p.event(stamp, e)
	p.ended = true
	if !p.cfg.Await {
		p.finish()
	}
}

// Fails is an agent that could not start the target.
func (p *Process) Fails(reason, hint string) {
	p.Event(session.EventError{Reason: reason, Hint: hint})
	p.gone = true
}

// Dies is an agent whose stream ends without a word; said is what it printed.
func (p *Process) Dies(said string) {
	p.conn.said.Note(said)
	p.gone = true
}

// Garbage is an agent whose stream makes no sense from here on.
func (p *Process) Garbage() {
	_, err := p.conn.out.Write([]byte("no frame"))
	p.gone = p.gone || err != nil && !errors.Is(err, io.EOF)
}
