package wirelog

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// bounds are those of a declaration that is believed.
var bounds = wire.Bounds{Bytes: 8 << 20, Cursor: maxName}

// maxName bounds a method's name, and a cursor.
const maxName = 1 << 10

// Decoder makes events of a log's frames, for who reads the log itself. One
// goroutine uses it.
type Decoder struct {
	// State is what the wire has proved so far.
	State *wire.State
	// Stats count what was read so far.
	Stats Stats

	track   *wire.Tracker
	methods map[string]string
	event   Event
	ready   bool // the event was read and not handed out
	batch   []json.RawMessage
	given   *wire.Envelope // the frame's members, nil where they are not known
	env     wire.Envelope
	// last is the seq of the last frame, damaged how many lines were unreadable since.
	last, damaged uint64
}

// NewDecoder returns a Decoder for one log.
func NewDecoder() *Decoder {
	track := wire.NewTracker(wire.Options{Bounds: bounds})
	return &Decoder{State: track.State, track: track, methods: map[string]string{}}
}

// Damage counts a line of the log that is no frame.
func (d *Decoder) Damage(bad *session.LineError) {
	d.damaged++
	if d.Stats.Unreadable++; d.Stats.FirstUnreadable == "" {
		d.Stats.FirstUnreadable = bad.Error()
	}
}

// End says how the log ended; metrics is the tap's last line, nil for none.
func (d *Decoder) End(torn bool, metrics *session.Metrics) {
	d.Stats.Torn = torn
	if metrics != nil {
		d.Stats.Missing = max(d.Stats.Missing, metrics.Dropped)
	}
}

// Next is the next event of the frame, with State brought up to it; nil behind the
// last one.
func (d *Decoder) Next() *Event {
	switch {
	case d.ready:
		d.ready = false
	case len(d.batch) > 0:
		value := d.batch[0]
		d.batch = d.batch[1:]
		d.event.Part++
		d.message(value)
	default:
		return nil
	}
	d.Stats.Events++
	return &d.event
}

// maxBatch bounds the messages of one batch.
const maxBatch = 100_000

// errNull is what a frame of null comes to: glassport writes it for no frame, too.
var errNull = errors.New("neither frame nor raw")

// Frame takes the next frame, whose events Next then gives: f and env are in use
// until then. env are the members of its message, nil where they are not known.
func (d *Decoder) Frame(f *session.Frame, env *wire.Envelope, line int) {
	d.ready, d.batch = false, d.batch[:0]
	if string(f.Message) == "null" {
		d.Damage(&session.LineError{Line: line, Err: errNull})
		return
	}
	if d.Stats.Events == 0 && f.Seq > 1 {
		d.Stats.HeadMissing, d.State.HeadMissing = true, true
	}
	d.gap(f.Seq)
	d.event, d.given = Event{Seq: f.Seq, Line: line, TS: f.TS, Dir: f.Dir}, env
	if f.Gate != nil {
		d.gate(f.Gate)
	}
	message := f.Message
	if f.HTTP != nil {
		frame, read := d.http(f.HTTP)
		if !frame {
			return
		}
		if !read {
			message = nil
		}
	}
	switch {
	case message == nil:
		d.unparsed(f.Bytes())
	case message[0] == '[':
		d.Stats.Frames++
		d.begin(message)
	default:
		d.Stats.Frames++
		d.message(message)
		d.ready = true
	}
}

// unparsed makes the event of a line that is no message.
func (d *Decoder) unparsed(raw []byte) {
	d.event.Raw = raw
	d.feed(&wire.Crossing{})
	d.ready = true
}

// begin reads a batch.
func (d *Decoder) begin(batch json.RawMessage) {
	d.event.Batch = true
	wire.WalkArray(batch, func(i int, v []byte) {
		if i < maxBatch {
			d.batch = append(d.batch, v)
		} else {
			d.State.Limit("batch")
		}
	})
	if len(d.batch) == 0 {
		d.unparsed(batch)
		return
	}
	d.event.Part = -1
}

// gap looks for frames that were counted and are not there: what was declared
// last, and what came before what, is then not known any more.
func (d *Decoder) gap(seq uint64) {
	switch {
	case d.last > 0 && seq > d.last+d.damaged+1:
		d.Stats.Missing += int64(min(seq-d.last-d.damaged-1, math.MaxInt32))
		d.track.Gap()
	case seq > 1 && seq < d.last:
		if d.Stats.Missing > 0 {
			d.Stats.Missing-- // only late
		}
		return
	}
	d.last, d.damaged = seq, 0
}

// gate reads a gate's mark. A mark of a form that is not known is kept empty.
func (d *Decoder) gate(raw json.RawMessage) {
	var g Gate
	_ = json.Unmarshal(raw, &g) // what can be read of it counts
	d.event.Gate = &g
}

// http reads what a tap of HTTP observed: whether the line is a frame, and whether
// the frame can be read as what it was.
func (d *Decoder) http(raw json.RawMessage) (frame, read bool) {
	var x exchange
	if json.Unmarshal(raw, &x) != nil {
		return true, true
	}
	said := func(v any) bool { return v != nil && v != false && v != "" }
	if x.End {
		d.track.End(x.Name)
		return false, false
	}
	if x.Skip {
		return false, false
	}
	if len(x.Name) <= 64 {
		d.event.Exchange = x.Name
	}
	if x.Admitted != nil && !*x.Admitted && d.event.Gate == nil {
		d.event.Gate = &Gate{refusedOnly: true}
	}
	if said(x.Loss) {
		// Part of the session was not seen: nothing known before holds on.
		d.track.Forget()
		d.Stats.HeadMissing = true
	}
	if said(x.Loss) || said(x.Uninterpreted) {
		d.State.Limit("http_observation")
		return true, false
	}
	return true, true
}

// message reads one JSON-RPC message into the event.
func (d *Decoder) message(value json.RawMessage) {
	e := &d.event
	e.Kind, e.Method, e.ID, e.Params, e.Result, e.Fault, e.Raw = wire.Unparsed, "", nil, nil, nil, nil, nil
	env := d.given
	if env == nil || e.Batch {
		env = &d.env
		if env.Read(value) != nil {
			e.Raw = value
			d.feed(&wire.Crossing{})
			return
		}
	}
	e.ID, e.Params, e.Result, e.Fault = env.ID, env.Params, env.Result, env.Error
	switch {
	case env.Method != nil:
		e.Method = d.method(env.Method)
		if e.Kind = wire.Request; env.ID == nil {
			e.Kind = wire.Notification
		}
		if e.Method == "" {
			e.Kind, e.Raw = wire.Unparsed, value
		}
	case env.Result != nil || env.Error != nil:
		e.Kind = wire.Response
		if len(e.Fault) > 0 && e.Fault[0] == 'n' {
			e.Fault = nil
		}
	default:
		e.Raw = value
	}
	d.feed(&wire.Crossing{
		Kind: e.Kind, Server: e.FromServer(), Seq: e.Seq, Method: e.Method, ID: e.ID, Params: e.Params, Result: e.Result,
		Failed: e.Fault != nil, Refused: e.refused(), Exchange: e.Exchange,
	})
}

// feed tells the tracker of the event, and the event what it is.
func (d *Decoder) feed(c *wire.Crossing) {
	e := &d.event
	c.At = e.TS
	seen := d.track.Feed(c)
	e.Method, e.Asked, e.Args, e.Page, e.Ambiguous = seen.Method, seen.Asked, seen.Args, seen.Page, seen.Ambiguous
	e.Orphan = seen.Orphan && (e.Gate == nil || e.Gate.Action != gateReplacement)
}

// refused reports whether a gate kept the request from the server, or gave the
// response in its place.
func (e *Event) refused() bool {
	switch {
	case e.Gate == nil:
		return false
	case e.Kind == wire.Response:
		return e.Gate.Action == gateInjected
	}
	return e.Gate.Action == gateBlocked || e.Gate.refusedOnly
}

// method interns a method's name: sessions use few.
func (d *Decoder) method(raw json.RawMessage) string {
	if len(raw) > maxName || raw[0] != '"' {
		return ""
	}
	if s, ok := d.methods[string(raw)]; ok {
		return s
	}
	s, _ := wire.Text(raw)
	if len(d.methods) < 1024 {
		d.methods[string(raw)] = s
	}
	return s
}
