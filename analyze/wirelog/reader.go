package wirelog

import (
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Reader reads a log event by event. One goroutine uses it.
type Reader struct {
	State State
	// Stats count what was read so far.
	Stats Stats

	scanner *session.Scanner
	client  *pairs // requests of the client
	server  *pairs // requests of the server
	refused *pairs // requests that a gate kept from the server
	methods map[string]string
	names   map[string]string
	event   Event
	batch   []json.RawMessage
	env     wire.Envelope
	// last is the seq of the last frame, damaged how many lines were unreadable since.
	last, damaged uint64
}

// Stats count a log's lines.
type Stats struct {
	// Frames are lines that held JSON, Events the messages in them and the lines
	// that held none.
	Frames, Events int
	// Unreadable are lines of the log that are no frame: damage, not traffic.
	Unreadable int
	// FirstUnreadable says what was wrong with the first of them.
	FirstUnreadable string
	// Torn says that the log ended within a line.
	Torn bool
	// HeadMissing says that the log begins in the middle of a session.
	HeadMissing bool
	// Missing are frames that were counted and are not in the log: its tap had to
	// drop them, or somebody took them out.
	Missing int64
}

// NewReader reads from log, which it does not close.
func NewReader(log io.Reader) *Reader {
	return &Reader{scanner: session.NewScanner(log), client: newPairs(), server: newPairs(), refused: newPairs(), methods: map[string]string{}, names: map[string]string{}}
}

// Metrics is the line with which the tap closed the log, nil for none so far.
func (r *Reader) Metrics() *session.Metrics { return r.scanner.Metrics }

// Next is the next event, with State brought up to it; io.EOF at the end. Any
// other error ends the reading: lines that are no frames are counted and passed.
func (r *Reader) Next() (*Event, error) {
	for {
		if len(r.batch) > 0 {
			value := r.batch[0]
			r.batch = r.batch[1:]
			r.event.Part++
			r.message(value)
			return r.done(), nil
		}
		f, err := r.scanner.Next()
		if err != nil {
			if err = r.passed(err); err != nil {
				return nil, err
			}
			continue
		}
		if r.begin(f) {
			return r.done(), nil
		}
	}
}

// passed counts a line that is no frame, and returns any other error.
func (r *Reader) passed(err error) error {
	var bad *session.LineError
	switch {
	case errors.As(err, &bad):
		r.damaged++
		if r.Stats.Unreadable++; r.Stats.FirstUnreadable == "" {
			r.Stats.FirstUnreadable = bad.Error()
		}
		return nil
	case errors.Is(err, io.EOF):
		r.Stats.Torn = r.scanner.Torn
		if m := r.scanner.Metrics; m != nil {
			r.Stats.Missing = max(r.Stats.Missing, m.Dropped)
		}
		return io.EOF
	}
	return err
}

// done folds the event that is ready.
func (r *Reader) done() *Event {
	r.Stats.Events++
	r.State.observe(&r.event)
	return &r.event
}

// maxBatch bounds the messages of one batch.
const maxBatch = 100_000

// begin reads a frame's first event; ok is false for a batch that is empty.
func (r *Reader) begin(f *session.Frame) (ok bool) {
	if r.Stats.Events == 0 && f.Seq > 1 {
		r.Stats.HeadMissing, r.State.HeadMissing = true, true
	}
	r.gap(f.Seq)
	r.event = Event{Seq: f.Seq, Line: r.scanner.Line(), TS: f.TS, Dir: f.Dir}
	if f.Gate != nil {
		r.gate(f.Gate)
	}
	if f.HTTP != nil && !r.http(f) {
		return false
	}
	if f.Message == nil {
		r.event.Raw = f.Raw
		return true
	}
	r.Stats.Frames++
	if f.Message[0] != '[' {
		r.message(f.Message)
		return true
	}
	r.event.Batch = true
	r.batch = r.batch[:0]
	wire.WalkArray(f.Message, func(i int, v []byte) {
		if i < maxBatch {
			r.batch = append(r.batch, v)
		} else {
			r.State.limit("batch")
		}
	})
	if len(r.batch) == 0 {
		r.event.Raw = f.Message
		return true
	}
	r.event.Part = -1
	return false
}

// gap looks for frames that were counted and are not there: what was declared
// last, and what came before what, is then not known any more.
func (r *Reader) gap(seq uint64) {
	switch {
	case r.last > 0 && seq > r.last+r.damaged+1:
		r.Stats.Missing += int64(min(seq-r.last-r.damaged-1, math.MaxInt32))
		r.State.HeadMissing, r.State.Surface, r.State.Expired = true, nil, false
	case seq > 1 && seq < r.last:
		if r.Stats.Missing > 0 {
			r.Stats.Missing-- // only late
		}
		return
	}
	r.last, r.damaged = seq, 0
}

// gate reads a gate's mark. A mark of a form that is not known is kept empty.
func (r *Reader) gate(raw json.RawMessage) {
	var g Gate
	_ = json.Unmarshal(raw, &g) // what can be read of it counts
	r.event.Gate = &g
}

// http reads what a tap of HTTP observed; ok is false for a line that is no frame.
func (r *Reader) http(f *session.Frame) (ok bool) {
	var x exchange
	if json.Unmarshal(f.HTTP, &x) != nil {
		return true
	}
	said := func(v any) bool { return v != nil && v != false && v != "" }
	if x.End {
		r.client.end(x.Name)
		r.refused.end(x.Name)
		return false
	}
	if x.Skip {
		return false
	}
	if len(x.Name) <= 64 {
		r.event.Exchange = x.Name
	}
	if x.Admitted != nil && !*x.Admitted && r.event.Gate == nil {
		r.event.Gate = &Gate{refusedOnly: true}
	}
	if said(x.Loss) {
		// Part of the session was not seen: nothing known before holds on.
		r.client, r.server, r.refused = newPairs(), newPairs(), newPairs()
		r.State = State{HeadMissing: true}
		r.Stats.HeadMissing = true
	}
	if said(x.Loss) || said(x.Uninterpreted) {
		r.State.limit("http_observation")
		f.Raw, f.Message = f.Bytes(), nil
	}
	return true
}

// message reads one JSON-RPC message into the event.
func (r *Reader) message(value json.RawMessage) {
	e := &r.event
	e.Kind, e.Method, e.ID, e.Params, e.Result, e.Fault, e.Raw = Unparsed, "", nil, nil, nil, nil, nil
	e.Asked, e.Args, e.Orphan, e.Ambiguous = nil, nil, false, false
	env := r.scanner.Envelope()
	if env == nil || e.Batch {
		env = &r.env
		if env.Read(value) != nil {
			e.Raw = value
			return
		}
	}
	e.ID, e.Params, e.Result, e.Fault = env.ID, env.Params, env.Result, env.Error
	switch {
	case env.Method != nil:
		e.Method = r.method(env.Method)
		if e.Kind = Request; env.ID == nil {
			e.Kind = Notification
		}
		if e.Method == "" {
			e.Kind, e.Raw = Unparsed, value
			return
		}
		r.request(e)
	case env.Result != nil || env.Error != nil:
		e.Kind = Response
		if len(e.Fault) > 0 && e.Fault[0] == 'n' {
			e.Fault = nil
		}
		r.response(e)
	default:
		e.Raw = value
	}
}

// method interns a method's name: sessions use few.
func (r *Reader) method(raw json.RawMessage) string {
	if len(raw) > maxName || raw[0] != '"' {
		return ""
	}
	if s, ok := r.methods[string(raw)]; ok {
		return s
	}
	s, _ := wire.Text(raw)
	if len(r.methods) < 1024 {
		r.methods[string(raw)] = s
	}
	return s
}

// request remembers what will be answered.
func (r *Reader) request(e *Event) {
	if e.ID == nil && e.Method != MethodCall {
		return
	}
	a := Asked{Seq: e.Seq, Method: e.Method}
	switch {
	case e.FromServer():
	case e.Method == MethodCall:
		wire.Walk(e.Params, func(key, value []byte) {
			switch string(key) {
			case "name":
				a.Tool = r.name(value)
			case "arguments":
				e.Args = value
			}
		})
	case e.Method == methodList:
		if c, ok := wire.Member(e.Params, "cursor"); ok && c[0] != 'n' {
			a.cursor, _ = wire.Text(c)
			a.hasCursor = true
		}
	}
	p := r.client
	switch {
	case e.FromServer():
		p = r.server
	case e.Gate != nil && (e.Gate.Action == gateBlocked || e.Gate.refusedOnly):
		p = r.refused // the server never saw it and cannot answer
	}
	var ok bool
	if e.Asked, ok = p.request(e.ID, e.scope(), a); !ok {
		e.Ambiguous = true
		r.State.limit("request_correlation")
	}
	if e.Asked == nil && e.Method == MethodCall {
		alone := a
		e.Asked = &alone
	}
}

// response finds what is answered.
func (r *Reader) response(e *Event) {
	p := r.server
	injected := e.Gate != nil && e.Gate.Action == gateInjected
	switch {
	case !e.FromServer():
	case injected:
		p = r.refused
	default:
		p = r.client
	}
	a, known := p.response(e.ID, e.scope())
	if a != nil {
		e.Asked, e.Method = a, a.Method
		return
	}
	replacement := e.Gate != nil && e.Gate.Action == gateReplacement
	e.Orphan = known && !injected && !replacement && !p.full && !r.State.HeadMissing
}

// name interns a tool's name: sessions call the same ones again and again.
func (r *Reader) name(raw json.RawMessage) string {
	if s, ok := r.names[string(raw)]; ok {
		return s
	}
	s, _ := wire.Text(raw)
	if len(r.names) < maxTools && len(raw) <= maxName {
		r.names[string(raw)] = s
	}
	return s
}
