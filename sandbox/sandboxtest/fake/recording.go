package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Recording is a server that was recorded: it answers each request as it did then, and does
// what it did then, at the same moments of the run's clock. A request that it did not get
// then is answered as one of the same tool was, or else refused. One Recording may be replayed
// many times, also at once.
type Recording struct {
	// Header is that of the log.
	Header session.Header
	// start is what came before the first line to the server, and stop what did in the shutdown.
	start, stop []moment
	heard       []exchange
	// whole says that the agent came to its end.
	whole bool
}

// exchange is a line to the server and what followed it.
type exchange struct {
	// key says what was asked, and name the same without the arguments.
	key, name string
	id        json.RawMessage
	at        time.Duration
	// during came until the call was over, and rest before the next line.
	during, rest []moment
	// returned says that the call was over before the next line.
	returned bool
}

// moment is one thing that the server did or its agent said: exactly one member is set.
type moment struct {
	stamp  time.Duration
	line   []byte
	stderr []byte
	record *trace.Record
	flow   *trace.Flow
	event  session.Body
}

// shutdown is the phase in which the host ends the server.
const shutdown = "shutdown"

// Read reads the log of a run. What a replay cannot do, such as speaking over a port, is an error.
func Read(r *session.Reader) (*Recording, error) {
	if r.Header.Transport != "" {
		return nil, fmt.Errorf("a server that is spoken to over %s cannot be replayed", r.Header.Transport)
	}
	frames, err := r.Wire()
	if err != nil {
		return nil, err
	}
	defer func() { _ = frames.Close() }() // it was only read
	rec := &Recording{Header: r.Header}
	var all []placed
	stopping := false
	for e, err := range r.All(session.NewScanner(frames)) {
		if err == nil && e.Damage != nil {
			err = e.Damage
		}
		if err != nil {
			return nil, fmt.Errorf("read a recording: %w", err)
		}
		switch m := e.Mark; {
		case m != nil && m.Kind == session.MarkLoss:
			return nil, fmt.Errorf("a log that lacks %d %s cannot be replayed", m.N, m.What)
		case e.Frame != nil && e.Frame.Dir == session.C2S:
			rec.heard = append(rec.heard, exchangeOf(e.Frame.Bytes(), stampOf(&e)))
		case m != nil && m.Kind == session.MarkReturn && len(rec.heard) > 0:
			rec.heard[len(rec.heard)-1].returned = true
		case m != nil && m.Kind == session.MarkPhase:
			stopping = stopping || m.Phase == shutdown
		default:
			if x, ok := momentOf(&e); ok {
				_, done := x.event.(session.EventDone)
				rec.whole = rec.whole || done
				all = append(all, placed{x, len(rec.heard) - 1, len(rec.heard) > 0 && rec.heard[len(rec.heard)-1].returned, stopping})
			}
		}
	}
	for _, x := range all {
		rec.place(x)
	}
	return rec, nil
}

// placed is a moment with its place in the log: after which line to the server it stands, -1 for
// none, and whether that was after the return of a call, and in the shutdown.
type placed struct {
	moment
	after              int
	returned, stopping bool
}

// place sorts a moment to what it followed. All but the tracer's records came in one stream, in
// whose order they stand in the log; of the records, stamps say what they followed.
func (r *Recording) place(x placed) {
	i := x.after
	for x.record != nil && i >= 0 && x.stamp < r.heard[i].at {
		i--
	}
	for x.record != nil && i+1 < len(r.heard) && x.stamp >= r.heard[i+1].at {
		i++
	}
	to := &r.start
	switch {
	case x.stopping && i == x.after:
		to = &r.stop
	case i < 0:
	case i == x.after && x.returned, i < x.after && r.heard[i].returned:
		to = &r.heard[i].rest
	default:
		to = &r.heard[i].during
	}
	*to = append(*to, x.moment)
}

// stampOf is when a frame crossed.
func stampOf(e *session.Entry) time.Duration {
	if e.Mark != nil {
		return e.Mark.Time
	}
	return e.Frame.Time
}

// momentOf is what an entry of a log says that the server or its agent did, false for what
// the host did.
func momentOf(e *session.Entry) (moment, bool) {
	switch m := e.Mark; {
	case e.Frame != nil:
		return moment{stamp: stampOf(e), line: append(bytes.Clone(e.Frame.Bytes()), '\n')}, true
	case e.Record != nil:
		return moment{stamp: e.Record.Time, record: e.Record}, true
	case e.Flow != nil:
		return moment{stamp: e.Flow.Stamp, flow: e.Flow}, true
	case m == nil:
	case m.Kind == session.MarkStderr:
		return moment{stamp: m.Time, stderr: append([]byte(m.Text), m.Data...)}, true
	case m.Kind == session.MarkEvent && m.Event != nil:
		if _, own := m.Event.Body.(session.EventPort); !own {
			return moment{stamp: m.Event.Stamp, event: m.Event.Body}, true
		}
	}
	return moment{}, false
}

// asked is what a line asks.
type asked struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string `json:"name"`
		URI       string `json:"uri"`
		Arguments any    `json:"arguments"`
		Ref       any    `json:"ref"`
		Argument  any    `json:"argument"`
	} `json:"params"`
}

// exchangeOf is a line's exchange, before anything followed.
func exchangeOf(line []byte, at time.Duration) exchange {
	var a asked
	if json.Unmarshal(line, &a) != nil {
		return exchange{key: string(line), name: string(line), at: at}
	}
	x := exchange{id: bytes.Clone(a.ID), at: at}
	if a.Method == "" { // an answer of the client's
		x.name = "answer " + string(a.ID)
		x.key = x.name
		return x
	}
	x.name = a.Method + " " + a.Params.Name + a.Params.URI
	args, err := json.Marshal([]any{a.Params.Arguments, a.Params.Ref, a.Params.Argument}) // members in their order
	if err != nil {
		panic(err) // it was read from JSON
	}
	x.key = x.name + " " + string(args)
	return x
}

// Target is a fresh start of the server.
func (r *Recording) Target() Target {
	return &replay{Recording: r, used: make([]bool, len(r.heard)), ids: map[string]json.RawMessage{}}
}

// replay is a Recording under way.
type replay struct {
	*Recording
	used []bool
	// open is the latest exchange whose rest has not come, nil for none.
	open *exchange
	// ids are the ids of the requests now, by those in the log.
	ids map[string]json.RawMessage
	// shift is how much later than in the log things happen: more where lines come that did not
	// come then.
	shift time.Duration
}

// Start implements Target.
func (r *replay) Start(p *Process) {
	p.stands, p.last = true, r.Header.Clock0
	r.emit(p, r.start)
}

// reads is the moment at which a target gets a line.
func (r *replay) reads(p *Process, line []byte) time.Duration {
	r.Rest(p)
	r.open = nil
	asked := exchangeOf(line, 0)
	if i := r.find(&asked); i >= 0 {
		r.used[i], r.open = true, &r.heard[i]
		r.ids[string(r.open.id)] = asked.id
		r.shift = max(0, p.last-r.open.at)
		p.last = r.open.at + r.shift
	}
	return p.last
}

// find is the exchange that a line is answered by, -1 for none: the next of the same words, or
// the last of them, or one of the same name.
func (r *replay) find(a *exchange) int {
	for i := range r.heard {
		if r.heard[i].key == a.key && !r.used[i] {
			return i
		}
	}
	for i, x := range slices.Backward(r.heard) {
		if x.key == a.key {
			return i
		}
	}
	return slices.IndexFunc(r.heard, func(x exchange) bool { return x.name == a.name })
}

// Line implements Target.
func (r *replay) Line(p *Process, line []byte) {
	var a asked
	if json.Unmarshal(line, &a) != nil {
		return
	}
	if r.open != nil {
		r.emit(p, r.open.during)
	} else if len(a.ID) > 0 && a.Method != "" {
		p.answer(a.ID, "error", `{"code":-32601,"message":"Method not found"}`)
	}
}

// Rest implements Target.
func (r *replay) Rest(p *Process) {
	if r.open != nil {
		r.emit(p, r.open.rest)
		r.open = nil
	}
}

// Stop implements Target.
func (r *replay) Stop(p *Process) {
	r.Rest(p)
	if len(r.stop) > 0 {
		r.shift = max(0, p.last-r.stop[0].stamp)
	}
	r.emit(p, r.stop)
	if !r.whole {
		p.Dies("the recording ends here")
	}
	p.Exit(0, "") // where the log does not say how
}

// emit has things happen again.
func (r *replay) emit(p *Process, list []moment) {
	for _, m := range list {
		at := m.stamp + r.shift
		switch {
		case m.line != nil:
			p.write(mux.Stdout, at, r.answering(m.line))
		case m.stderr != nil:
			p.write(mux.Stderr, at, m.stderr)
		case m.record != nil:
			again := *m.record
			again.Time = at
			p.Record(again)
		case m.flow != nil:
			again := *m.flow
			again.Stamp = at
			p.Flow(again)
		default:
			r.event(p, at, m.event)
		}
	}
}

// event has the agent say something again.
func (r *replay) event(p *Process, at time.Duration, body session.Body) {
	switch e := body.(type) {
	case session.EventDone: // follows by itself
	case session.EventExit:
		p.exited(at, e)
	case session.EventLastWrite:
		e.At += r.shift
		p.event(at, e)
	case session.EventChanged:
		if e.At > 0 {
			e.At += r.shift
		}
		p.event(at, e)
	default:
		p.event(at, body)
	}
}

// answering is a line with the id that a request has now in place of the recorded one.
func (r *replay) answering(line []byte) []byte {
	var a struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	if json.Unmarshal(line, &a) != nil || a.Method != nil {
		return line
	}
	now, known := r.ids[string(a.ID)]
	if !known || len(a.ID) == 0 || bytes.Equal(a.ID, now) {
		return line
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil {
		return line
	}
	members["id"] = now
	again, err := json.Marshal(members)
	if err != nil {
		return line
	}
	return append(again, '\n')
}
