package proxy

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// watched is a stream of events that passes as it comes and is recorded beside the way.
type watched struct {
	io.ReadCloser
	split *wire.EventSplitter
	rec   *recordedEvents
	ended bool
}

// Read implements io.Reader.
func (e *watched) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	e.split.Feed(p[:n], e.rec.event)
	if err != nil {
		e.end()
	}
	return n, err
}

// Close implements io.Closer.
func (e *watched) Close() error {
	e.end()
	return e.ReadCloser.Close()
}

func (e *watched) end() {
	if !e.ended {
		e.ended = true
		e.split.Flush(e.rec.event)
		e.rec.cut()
	}
}

// recordedEvents records events as frames.
type recordedEvents struct {
	x    *exchange
	long int64 // bytes of an event too long to keep
	head []byte
}

// event records one event, or a piece of one.
func (r *recordedEvents) event(e wire.Event) {
	if e.Oversize {
		r.long += int64(len(e.Raw))
		r.head = append(r.head, e.Raw[:min(len(e.Raw), wire.HeadSize-len(r.head))]...)
		return
	}
	r.cut()
	switch {
	case len(bytes.TrimSpace(e.Data)) > 0:
		r.x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: e.Data, SSE: fieldsOf(e)})
	case e.Partial && len(bytes.TrimSpace(e.Raw)) > 0:
		// The stream broke off within an event: what came of it is no message.
		r.x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: e.Raw})
	}
}

// cut records what is known of an event that was too long.
func (r *recordedEvents) cut() {
	if r.long > 0 {
		r.x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: fmt.Appendf(r.head, "… [cut: the event has %d bytes]", r.long)})
	}
	r.long, r.head = 0, nil
}

// fieldsOf are the fields beside an event's data, nil if there are none.
func fieldsOf(e wire.Event) *session.SSE {
	if e.Name == "" && e.ID == "" && e.Retry == "" {
		return nil
	}
	return &session.SSE{Event: e.Name, ID: e.ID, Retry: e.Retry}
}

// judged is a stream of events that passes event by event.
type judged struct {
	*io.PipeReader
	src io.ReadCloser
	mu  sync.Mutex // held by who writes an event
	w   *io.PipeWriter
	x   *exchange
	rec recordedEvents
	// older says that the stream's first event names where to post to.
	older bool
	// plain says that an event passes only as every client reads it.
	plain bool
}

// newEvents returns the body of an answer that is a stream of events.
func newEvents(x *exchange, src io.ReadCloser, older bool) io.ReadCloser {
	if x.gate == nil && !older {
		return &watched{ReadCloser: src, split: wire.NewEventSplitter(maxBody), rec: &recordedEvents{x: x}}
	}
	r, w := io.Pipe()
	e := &judged{PipeReader: r, src: src, w: w, x: x, rec: recordedEvents{x: x}, older: older, plain: x.gate != nil && x.p.opts.Gate.Closed()}
	if older {
		x.resolveSession(nil).inject(e.inject)
	}
	x.passed = make(chan struct{})
	go e.run()
	return e
}

// Close implements io.Closer, and ends run.
func (e *judged) Close() error {
	err := e.src.Close()
	_ = e.PipeReader.Close() // never fails
	return err
}

// run passes the events on until the stream ends or nobody reads it.
func (e *judged) run() {
	defer close(e.x.passed)
	split := wire.NewEventSplitter(maxBody)
	buf := make([]byte, 32<<10)
	var failed error
	emit := func(ev wire.Event) {
		if failed == nil {
			failed = e.event(ev)
		}
	}
	for {
		n, err := e.src.Read(buf)
		split.Feed(buf[:n], emit)
		if err != nil {
			split.Flush(emit)
			if failed == nil && err != io.EOF {
				failed = err
			}
			break
		}
		if failed != nil {
			break
		}
	}
	e.rec.cut()
	e.src.Close()
	_ = e.w.CloseWithError(failed) // nil is the stream's ordinary end
}

// event passes one event on.
func (e *judged) event(ev wire.Event) error {
	switch {
	case ev.Oversize && e.plain:
		e.rec.event(ev)
		return fmt.Errorf("coalmine gate: an event of more than %d bytes cannot be read", maxBody)
	case e.plain && (!plainField(ev.Name) || !plainField(ev.ID)):
		e.x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: ev.Raw, Gate: &session.Gate{Action: "blocked", Reason: "cannot be read"}})
		return nil
	case e.plain && len(bytes.TrimSpace(ev.Data)) == 0:
		e.rec.event(ev)
		return e.write(signOfLife(ev))
	case len(bytes.TrimSpace(ev.Data)) == 0 || ev.Oversize:
		e.rec.event(ev)
		return e.write(ev.Raw)
	case ev.Name == "endpoint" && e.older:
		data, ours := e.x.endpoint(ev.Data)
		if !ours && e.plain {
			e.x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: ev.Data, SSE: fieldsOf(ev), Gate: &session.Gate{Action: "blocked", Reason: "the endpoint is another server's"}})
			return nil
		}
		e.rec.event(ev)
		if data == nil && e.plain {
			data = ev.Data
		}
		if data != nil {
			return e.write(eventOf(ev, data))
		}
		return e.write(ev.Raw)
	case e.x.gate == nil:
		e.rec.event(ev)
		return e.write(ev.Raw)
	}
	v := e.x.gate.Server(ev.Data)
	e.x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: ev.Data, SSE: fieldsOf(ev), Gate: v.Mark})
	switch {
	case v.Pass == nil:
		return nil
	case !v.Changed && e.plain:
		return e.write(eventOf(ev, v.Pass))
	case !v.Changed:
		return e.write(ev.Raw)
	}
	e.x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: v.Pass, SSE: fieldsOf(ev), Gate: v.Injected})
	return e.write(eventOf(ev, v.Pass))
}

// signOfLife is an event without a message, in which no reader finds one: neither
// in a comment nor in what the stream's end left of an event.
func signOfLife(ev wire.Event) []byte {
	if ev.ID == "" && ev.Retry == "" {
		return []byte(":\n\n")
	}
	ev.Name = ""
	if ev.Data != nil {
		return eventOf(ev, []byte("\n")) // an id to resume from
	}
	return eventOf(ev, nil)
}

func (e *judged) write(raw []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, err := e.w.Write(raw)
	return err
}

// inject sends a message of the gate's own.
func (e *judged) inject(raw []byte) error {
	return e.write(eventOf(wire.Event{Name: "message"}, raw))
}

// eventOf writes an event's block with other data.
func eventOf(e wire.Event, data []byte) []byte {
	var b []byte
	for _, f := range [][2]string{{"event", e.Name}, {"id", e.ID}, {"retry", e.Retry}} {
		if f[1] != "" {
			b = append(b, f[0]+": "+f[1]+"\n"...)
		}
	}
	for line := range bytes.Lines(data) {
		b = append(append(b, "data: "...), bytes.TrimSuffix(line, []byte("\n"))...)
		b = append(b, '\n')
	}
	return append(b, '\n')
}
