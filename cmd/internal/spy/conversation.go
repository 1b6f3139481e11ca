package spy

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const (
	// maxAsked bounds the requests of a conversation whose contents are kept for their
	// answers, and maxKept the bytes of one.
	maxAsked = 1024
	maxKept  = 16 << 10
)

// conversation is what a watch keeps of one.
type conversation struct {
	skip    bool
	log     *session.WireLog
	tracker *wire.Tracker
	asked   map[uint64]asked
	seq     uint64

	decoder *wirelog.Decoder
	engine  *detect.Engine
	told    int // annotations that were printed
}

// asked is a request that waits for its answer.
type asked struct {
	at     time.Duration
	id     json.RawMessage
	method string
	params json.RawMessage
}

// of is what is kept of a conversation, made at its first message.
func (w *watch) of(m *reassembly.Message) *conversation {
	c := m.Conversation
	if have, ok := c.Sink.(*conversation); ok {
		return have
	}
	mine := &conversation{skip: !w.o.wanted(m.From, m.To)}
	c.Sink = mine
	if mine.skip {
		return mine
	}
	w.result.Conversations++
	mine.tracker = wire.NewTracker(wire.Options{Generous: true, Loose: true})
	mine.asked = map[uint64]asked{}
	if w.o.Detect {
		mine.decoder, mine.engine = wirelog.NewDecoder(), detect.NewEngine(detect.Options{})
	}
	if w.o.Dir != "" {
		log, err := session.NewWireLog(session.WireOptions{Dir: w.o.Dir, What: hide(w.hides.logs, what(c)), Rotate: w.o.Rotate, Trouble: func(err error) {
			w.say(err.Error() + "; records are dropped, the watch goes on")
		}})
		if err != nil {
			w.say(err.Error() + "; records are dropped, the watch goes on")
		}
		mine.log = log
		w.logs[c.ID] = log
	}
	return mine
}

// what names a conversation's log.
func what(c *reassembly.Conversation) string {
	if c.Host != "" {
		return fmt.Sprintf("spy_%d_%s", c.ID, c.Host)
	}
	return fmt.Sprintf("spy_%d_%s", c.ID, c.Server.Comm)
}

// message takes a message from the engine.
func (w *watch) message(m *reassembly.Message) {
	c := w.of(m)
	if c.skip {
		return
	}
	w.result.Messages++
	c.seq++
	at := w.began.Add(m.At)
	if c.log != nil {
		raw := m.Raw
		if w.hides.logs {
			raw = []byte(hide(true, string(raw)))
		}
		c.log.Frame(session.WireFrame{Dir: m.Dir, At: at, Raw: raw, SSE: hidden(w.hides.logs, m.SSE)})
	}
	records := w.records(c, m, at) // of what crossed: what is hidden pairs no answers
	for _, r := range records {
		w.print(r)
	}
	if w.effects != nil {
		w.effects.message(m, records)
	}
	if c.engine != nil {
		w.detect(c, m, at)
	}
}

// detect judges a frame, and prints what is new.
func (w *watch) detect(c *conversation, m *reassembly.Message, at time.Time) {
	f := session.Frame{Seq: c.seq, TS: at, Dir: m.Dir}
	if wire.CheckJSON(m.Raw) == nil {
		f.Message = m.Raw
	} else {
		f.Raw = m.Raw
	}
	if m.SSE != nil {
		f.SSE, _ = json.Marshal(m.SSE) // three texts
	}
	c.decoder.Frame(&f, nil, int(c.seq))
	for e := c.decoder.Next(); e != nil; e = c.decoder.Next() {
		c.engine.Event(e, c.decoder.State)
	}
	for _, a := range c.engine.Annotations[c.told:] {
		w.say(fmt.Sprintf("conversation %d, message %d: [%d] %s: %s", m.Conversation.ID, a.Seq(), a.Severity, a.Subcategory, report.Escape(hide(w.hides.said, a.Explanation), 600)))
	}
	c.told = len(c.engine.Annotations)
	w.result.Found = w.result.Found || detect.VerdictOf(c.engine.Annotations) != detect.Clean
}

// ended closes what was kept of a conversation. What its server did last is known only later,
// and its log waits for that.
func (w *watch) ended(c *reassembly.Conversation) {
	mine, ok := c.Sink.(*conversation)
	if !ok || mine.skip || mine.log == nil {
		return
	}
	if c.Lost > 0 {
		mine.log.Drop(1)
	}
	if w.effects == nil {
		w.close(c.ID)
		return
	}
	w.closing = append(w.closing, ending{c.ID, c.Server, c.Transport, trace.Clock()})
	if len(w.closing) > maxClosing {
		w.close(w.closing[0].id)
		w.closing = w.closing[1:]
	}
}

// ending is a conversation that is over and whose log is open.
type ending struct {
	id        int
	server    *reassembly.Process
	transport reassembly.Transport
	since     time.Duration
}

const (
	// late is how long after its conversation an effect of a server can be told: it waits for
	// messages, and for its judgement.
	late = hold + pause + time.Second
	// maxClosing bounds the logs that wait.
	maxClosing = 256
)

// closeEnded closes the logs of conversations that are over and whose server can do nothing
// any more for which they would be the place: it has ended, or serves others.
func (w *watch) closeEnded(now time.Duration) {
	w.closing = slices.DeleteFunc(w.closing, func(e ending) bool {
		lives := e.transport == reassembly.Stdio && e.server != nil && w.effects.alive(e.server.PID)
		if now-e.since < late || lives && now < forever {
			return false
		}
		w.close(e.id)
		return true
	})
}

// close closes a log.
func (w *watch) close(id int) {
	log := w.logs[id]
	delete(w.logs, id)
	if err := log.Close(); err != nil && log.Dropped() > 0 {
		w.result.Dropped += log.Dropped()
	}
}
