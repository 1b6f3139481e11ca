package wirelog

import (
	"encoding/json"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Event is one message, or one line that is not a message, as it crossed the wire. All
// of its bytes are valid until the next event is read.
type Event struct {
	Seq  uint64
	Line int // of the log, from 1
	TS   time.Time
	Dir  session.Dir
	Kind wire.Kind
	// Part counts a batch's messages from 0; Batch says that it belongs to one.
	Part  int
	Batch bool
	// Method is the request's or notification's, of a response that of the
	// request which it answers, "" if it answers none.
	Method string
	// ID, Params, Result and Fault are raw JSON, nil when absent.
	ID, Params, Result, Fault json.RawMessage
	// Args are the arguments of a tools/call, nil when absent.
	Args json.RawMessage
	// Asked is the request that a response answers, nil for none.
	Asked *wire.Asked
	// Orphan says that a response answers no request of this log.
	Orphan bool
	// Ambiguous says that a request's id was in use: nothing is paired with it.
	Ambiguous bool
	// Page is the page of a list that the server answers with, nil for none.
	Page *wire.Page
	// Raw is an Unparsed line.
	Raw []byte
	// Exchange names the HTTP exchange of a session without state, "" for none.
	Exchange string
	// Gate is what a gate wrote beside the frame, nil for nothing.
	Gate *Gate
}

// FromServer reports whether the server sent it.
func (e *Event) FromServer() bool { return e.Dir == session.S2C }

// IsCall reports whether it is the client's call of a tool.
func (e *Event) IsCall() bool {
	return e.Method == wire.MethodCall && e.Dir == session.C2S && e.Kind != wire.Response
}

// IsCallResult reports whether it answers a call of a tool.
func (e *Event) IsCallResult() bool {
	return e.Kind == wire.Response && e.Method == wire.MethodCall && e.Asked != nil && e.Dir == session.S2C
}

// Gate is a gate's mark on a frame.
type Gate struct {
	Action   string `json:"action"`
	Tool     string `json:"tool"`
	Reason   string `json:"reason"`
	URI      string `json:"uri"`
	Declared any    `json:"declared"`

	refusedOnly bool // the server never saw it, and no gate says why
}

// exchange is what a tap of HTTP wrote beside the frame.
type exchange struct {
	Name          string `json:"exchange"`
	End           bool   `json:"exchange_end"`
	Skip          bool   `json:"skip"`
	Loss          any    `json:"loss"`
	Uninterpreted any    `json:"uninterpreted"`
	Admitted      *bool  `json:"admitted"`
}

// The actions of a gate that change what a frame means.
const (
	gateBlocked     = "blocked"
	gateInjected    = "injected"
	gateReplacement = "quarantine_replacement"
)
