package spy

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
)

// The types of a record. Strange is what crossed and is no message.
const (
	typeRequest      = "request"
	typeResponse     = "response"
	typeNotification = "notification"
	typeStrange      = "other"
)

// record is one message, as JSONL has it. The members up to Raw are MCPSpy's.
type record struct {
	Timestamp string               `json:"timestamp"`
	Transport reassembly.Transport `json:"transport_type"`
	Stdio     *stdioTransport      `json:"stdio_transport,omitempty"`
	HTTP      *httpTransport       `json:"http_transport,omitempty"`
	Type      string               `json:"type"`
	ID        json.RawMessage      `json:"id,omitempty"`
	Method    string               `json:"method,omitempty"`
	Params    json.RawMessage      `json:"params,omitempty"`
	Result    json.RawMessage      `json:"result,omitempty"`
	Error     json.RawMessage      `json:"error,omitempty"`
	// Request is what a response answers, without params that are long.
	Request *requested `json:"request,omitempty"`
	Raw     string     `json:"raw"`

	// Conversation counts from 1, Message counts frames within it: the messages of a batch
	// have one number, and Batch counts them from 0.
	Conversation int                 `json:"conversation"`
	Message      uint64              `json:"message"`
	Batch        *int                `json:"batch,omitempty"`
	Direction    session.Dir         `json:"direction"`
	From         *reassembly.Process `json:"from"`
	To           *reassembly.Process `json:"to"`
	Server       *serverInfo         `json:"server,omitempty"`
	// Milliseconds is how long an answer took.
	Milliseconds *float64 `json:"duration_ms,omitempty"`
	Path         string   `json:"path,omitempty"`

	Tool string `json:"-"` // of a call, for the console
	at   time.Time
}

type stdioTransport struct {
	FromPID  int    `json:"from_pid"`
	FromComm string `json:"from_comm"`
	ToPID    int    `json:"to_pid"`
	ToComm   string `json:"to_comm"`
}

type httpTransport struct {
	PID       int    `json:"pid"`
	Comm      string `json:"comm"`
	Host      string `json:"host"`
	IsRequest bool   `json:"is_request"`
}

type requested struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// records are the messages of a frame: one, or those of a batch.
func (w *watch) records(c *conversation, m *reassembly.Message, at time.Time) []*record {
	base := record{
		Timestamp: at.UTC().Format(time.RFC3339Nano), Transport: m.Conversation.Transport, Type: typeStrange, Raw: string(m.Raw),
		Conversation: m.Conversation.ID, Message: c.seq, Direction: m.Dir, From: m.From, To: m.To, at: at,
	}
	if m.HTTP != nil {
		base.HTTP = &httpTransport{PID: m.From.PID, Comm: m.From.Comm, Host: m.HTTP.Host, IsRequest: m.HTTP.Request}
		base.Path = m.HTTP.Path
	} else {
		base.Stdio = &stdioTransport{m.From.PID, m.From.Comm, m.To.PID, m.To.Comm}
	}
	trimmed := bytes.TrimSpace(m.Raw)
	if len(trimmed) == 0 || trimmed[0] != '[' {
		base.read(c, m.At, trimmed)
		return []*record{&base}
	}
	var out []*record
	wire.WalkArray(trimmed, func(i int, v []byte) {
		r := base
		r.Raw, r.Batch = string(v), &i
		r.read(c, m.At, v)
		out = append(out, &r)
	})
	if len(out) == 0 {
		return []*record{&base}
	}
	return out
}

// read fills a record with a message, and pairs it.
func (r *record) read(c *conversation, at time.Duration, raw []byte) {
	var e wire.Envelope
	if e.Read(raw) != nil {
		return
	}
	method, named := wire.Text(e.Method)
	cross := wire.Crossing{Server: r.Direction == session.S2C, Seq: c.seq<<16 | uint64(part(r.Batch)), At: r.at, Method: method, ID: e.ID, Params: e.Params, Result: e.Result, Failed: e.Error != nil}
	switch {
	case named && e.ID != nil:
		r.Type, cross.Kind = typeRequest, wire.Request
	case named:
		r.Type, cross.Kind = typeNotification, wire.Notification
	case e.ID != nil && (e.Result != nil || e.Error != nil):
		r.Type, cross.Kind = typeResponse, wire.Response
	default:
		return
	}
	r.ID, r.Method, r.Params, r.Result, r.Error = e.ID, method, e.Params, e.Result, e.Error
	seen := c.tracker.Feed(&cross)
	if a := seen.Asked; a != nil {
		r.Tool = a.Tool
	}
	switch r.Type {
	case typeRequest:
		c.remember(cross.Seq, asked{at: at, id: e.ID, method: method, params: e.Params})
	case typeResponse:
		if a := seen.Asked; a != nil {
			r.answer(c, a.Seq, at)
		}
	}
	if s := c.tracker.State.Server; s.Name != "" {
		r.Server = &serverInfo{s.Name, s.Version}
	}
}

func part(batch *int) int {
	if batch == nil {
		return 0
	}
	return *batch
}

// remember keeps a request for its answer.
func (c *conversation) remember(seq uint64, a asked) {
	if len(c.asked) >= maxAsked {
		oldest := seq
		for s := range c.asked {
			oldest = min(oldest, s)
		}
		delete(c.asked, oldest)
	}
	if len(a.params) > maxKept {
		a.params = nil
	}
	a.id, a.params = bytes.Clone(a.id), bytes.Clone(a.params)
	c.asked[seq] = a
}

// answer pairs a response with what it answers.
func (r *record) answer(c *conversation, seq uint64, at time.Duration) {
	a, ok := c.asked[seq]
	if !ok {
		return
	}
	delete(c.asked, seq)
	r.Request = &requested{a.id, a.method, a.params}
	took := float64((at - a.at).Microseconds()) / 1000
	r.Milliseconds = &took
}
