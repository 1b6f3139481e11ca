package session

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"strings"
	"time"
)

// MarkKind says what a Mark is about.
type MarkKind string

// The kinds of a Mark. Each has Time, and of the other members those that its
// comment names.
const (
	// MarkPhase: Phase starts.
	MarkPhase MarkKind = "phase"
	// MarkCall: Call begins. Tool is its target, What is tool, resource, prompt,
	// completion or WhatListener, N is the call that it repeats word for word, Oracles are its own,
	// From are the calls from whose answers its arguments may come,
	// Turn is the kind of answer that HTTP requests got meanwhile.
	MarkCall MarkKind = "call"
	// MarkPlanned: a call of the first round, drawn before the first call is made. Tool and What
	// are as in a call, N is its place in the round, Text are its arguments (JSON).
	MarkPlanned MarkKind = "planned"
	// MarkReturn: Call of Tool ended. What is an Outcome.
	MarkReturn MarkKind = "return"
	// MarkFrame is written by Log.Frame: the frame Seq of session.jsonl crossed.
	MarkFrame MarkKind = "frame"
	// MarkBadLine is written by Log.Frame: the frame Seq of session.jsonl is no JSON
	// in UTF-8. N is its length in bytes, Text says what is wrong, Data is its
	// beginning where that is not UTF-8.
	MarkBadLine MarkKind = "bad-line"
	// MarkEvent: Event is the agent's, or the host's own.
	MarkEvent MarkKind = "event"
	// MarkStderr: Text or Data is what the server printed.
	MarkStderr MarkKind = "stderr"
	// MarkInconclusive is a Gap: Code, Text, and Tool, Phase and, as What, the Cause where they are known.
	MarkInconclusive MarkKind = "inconclusive"
	// MarkLoss: N things were not recorded, What says which, Text why.
	MarkLoss MarkKind = "loss"
	// MarkReached: Dialled is what the host process reached, or tried to, for the server.
	MarkReached MarkKind = "reached"
	// MarkAnswered: Text or Data is what came back from a port or socket that the server opened, in
	// Call; What names it, and N is the port. Logs of earlier versions have no What.
	MarkAnswered MarkKind = "answered"
	// MarkInputs: Inputs is what the arguments of Tool reached; What is as in a call.
	MarkInputs MarkKind = "inputs"
	// MarkHTTP: What is the RemoteFact that was seen in HTTP, Text says how, Tool is
	// what it is about where a server can have several, and N is the port of a server in a sandbox, asked in Call.
	MarkHTTP MarkKind = "http"
	// MarkServed: Oracles are what the documents carry that the sinkhole serves in this run.
	MarkServed MarkKind = "served"
)

// WhatListener is the What, and ListenerTool the Tool, of the call in which the ports are spoken
// to that the server opened.
const (
	WhatListener = "listener"
	ListenerTool = "listening port"
	// ListenerLine is the line that a shell would run, which is said to each of them.
	ListenerLine = "id"
)

// Known reports whether this version knows the kind. Of a mark of another kind
// nothing is known but its Time.
func (k MarkKind) Known() bool {
	switch k {
	case MarkPhase, MarkCall, MarkReturn, MarkFrame, MarkBadLine, MarkEvent, MarkStderr, MarkInconclusive, MarkLoss, MarkReached, MarkInputs, MarkAnswered, MarkHTTP, MarkPlanned, MarkServed:
		return true
	}
	return false
}

// Mark is one fact about the run that is neither a frame nor a system call.
type Mark struct {
	// Time is on the run's clock.
	Time time.Duration `json:"t"`
	Kind MarkKind      `json:"kind"`
	// Code is that of a gap, "" in logs of versions that had none.
	Code  Code   `json:"code,omitempty"`
	Phase string `json:"phase,omitempty"`
	Call  int    `json:"call,omitempty"`
	Tool  string `json:"tool,omitempty"`
	What  string `json:"what,omitempty"`
	Seq   uint64 `json:"seq,omitempty"`
	Text  string `json:"text,omitempty"`
	N     int64  `json:"n,omitempty"`
	// Data holds bytes that no JSON string can: a bad line that is not UTF-8, or
	// what was printed and is not a message.
	Data []byte `json:"data,omitempty"`
	// From are the calls whose answers taught what the arguments of a call are made of: an
	// answer has one of the values, or a refusal changed the schema from which they are drawn.
	// Where it is empty, the seed and the declarations alone say what the arguments are. Which
	// kind of arguments comes next depends on how the earlier calls of the same tool ended.
	From []int `json:"from,omitempty"`
	// Oracles are what a call's arguments carry to be proven by an effect.
	Oracles []Injection `json:"oracles,omitempty"`
	// Turn counts the kinds of the sinkhole's answers; 0 is the one that fits.
	Turn int `json:"turn,omitempty"`

	// Event, Dialled and Inputs are what the kinds MarkEvent, MarkReached and
	// MarkInputs are about: the member "event" of the mark's line.
	Event   *Event   `json:"-"`
	Dialled *Dialled `json:"-"`
	Inputs  *Inputs  `json:"-"`
	// Unread is that member as it stands in the log, where it could not be read or
	// the kind has none.
	Unread json.RawMessage `json:"-"`
}

// Doubt is the mark of a gap.
func Doubt(g Gap) Mark {
	return Mark{Kind: MarkInconclusive, Code: g.Code, Tool: g.Tool, Phase: g.Phase, What: string(g.Cause), Text: g.Text}
}

// Gap is the reason for doubt that a mark of kind MarkInconclusive is.
func (m *Mark) Gap() Gap {
	return Gap{Code: cmp.Or(m.Code, GapOther), Tool: m.Tool, Phase: m.Phase, Text: m.Text, Cause: m.cause()}
}

// cause is the cause of a gap. Logs of earlier versions have it in the text alone.
func (m *Mark) cause() Cause {
	switch {
	case m.What != "":
		return Cause(m.What)
	case m.Code == GapCallsIncomplete && strings.HasPrefix(m.Text, "not everything was called: the server ended"):
		return CauseServerEnded
	case m.Code == "" && strings.HasPrefix(m.Text, "the handshake failed: "):
		return CauseHandshakeFailed
	}
	return ""
}

// markLine is a mark's line.
type markLine struct {
	Type string `json:"type"`
	Mark
	Payload json.RawMessage `json:"event,omitempty"`
}

// payload is the member "event" of a mark's line, nil for none.
func (m *Mark) payload() (json.RawMessage, error) {
	switch {
	case m.Event != nil:
		return EncodeEvent(*m.Event)
	case m.Dialled != nil:
		return json.Marshal(m.Dialled)
	case m.Inputs != nil:
		return json.Marshal(m.Inputs)
	}
	return m.Unread, nil
}

// readPayload takes in the member "event" of a mark's line. One that can not be
// read is kept in Unread: the mark itself still says that something was there.
func (m *Mark) readPayload(raw json.RawMessage) {
	if raw == nil {
		return
	}
	var err error
	switch m.Kind {
	case MarkEvent:
		var e Event
		if e, err = DecodeEvent(raw); err == nil {
			m.Event = &e
		}
	case MarkReached:
		var d Dialled
		if err = json.Unmarshal(raw, &d); err == nil {
			m.Dialled = &d
		}
	case MarkInputs:
		var in Inputs
		if err = json.Unmarshal(raw, &in); err == nil {
			m.Inputs = &in
		}
	default:
		m.Unread = raw
	}
	if err != nil {
		m.Unread = raw
	}
}

// Dialled is one attempt of the host process to reach an allowed host for the
// server, by that process's own word.
type Dialled struct {
	// Network is "tcp" or "udp".
	Network string `json:"network"`
	Host    string `json:"host"`
	Port    int    `json:"port"`
	// Address is what was reached, the zero AddrPort where nothing was.
	Address netip.AddrPort `json:"address,omitzero"`
	// Sent and Came are the bytes that were carried there and back.
	Sent int64 `json:"sent,omitempty"`
	Came int64 `json:"came,omitempty"`
	// Err says why nothing was reached, or why the connection ended early.
	Err string `json:"error,omitempty"`
}

// Reached is how many of what there is were reached.
type Reached struct {
	Reached int `json:"reached"`
	Total   int `json:"total"`
}

// Inputs is what the arguments given to one tool have reached of its schema.
type Inputs struct {
	// Classes counts the calls by what kind of arguments they had.
	Classes map[string]int `json:"classes"`
	// Enums are the members of all enums; Branches those of anyOf, oneOf, if and
	// dependent schemas; Optional counts each optional property twice, present
	// and absent; Pairs are pairs of values of two parameters.
	Enums    Reached `json:"enums"`
	Branches Reached `json:"branches"`
	Optional Reached `json:"optional"`
	Pairs    Reached `json:"pairs"`
	// Oracles are the oracles' inputs that were tried.
	Oracles Reached `json:"oracles,omitzero"`
	// Listed are the calls, of all kinds, after which the surface was listed again:
	// where that takes too much of the time, it is left out now and then.
	Listed Reached `json:"listed,omitzero"`
}
