package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// DefaultHold is how long a call waits for the list that says whether it may pass.
const DefaultHold = 2 * time.Second

// The actions of a gate, as a session log has them.
const (
	actionBlocked  = "blocked"
	actionInjected = "injected"
	actionSkipped  = "gate_skipped"
	actionWould    = "gate_would_block"
	actionAllowed  = "gate_allowed"
)

// Options say what passes. The zero value holds a client to the tools that the
// server declares, and fails open.
type Options struct {
	// Policy says which tools may be called, and with which arguments. Where it
	// names any tool, the others are blocked.
	Policy *policy.Policy
	// Lock says what the server may declare. Nil pins nothing.
	Lock *wire.Lock
	// Closed blocks what cannot be checked. Otherwise it passes, and the log says so.
	Closed bool
	// Hold is DefaultHold if it is zero.
	Hold time.Duration
	// Validate returns why a schema refuses arguments, and ErrUnusable if it is
	// no schema to check with. Nil checks nothing.
	Validate func(schema, arguments json.RawMessage) error
	// Scan names the kinds of secrets that a message of the server's holds. Nil looks for none.
	Scan func(raw []byte) []string
	// StopArguments lets Scan judge the arguments of calls too.
	StopArguments bool
	// StopMarks stops arguments that hold the marks of a prompt format, and takes them out of
	// resources.
	StopMarks bool
	// Repeats is how many calls alike pass within LoopWindow, 0 for any number.
	Repeats int
	// Ask decides on a call that would be blocked. It returns when a person has answered, ctx
	// is done or it has waited long enough. Nil blocks every such call.
	Ask func(ctx context.Context, q Question) Answer
	// Tell is told what became of each call, nil for nobody. It must not block.
	Tell func(Decision)
	// Observe lets everything pass, and records what would have been blocked.
	Observe bool
	// Now is time.Now if it is nil.
	Now func() time.Time
}

// ErrUnusable says that a schema cannot be used for a check.
var ErrUnusable = errors.New("the declared schema cannot be used")

// Gate makes sessions. It may be used from many goroutines.
type Gate struct{ opts Options }

// New returns a Gate.
func New(opts Options) *Gate {
	if opts.Hold <= 0 {
		opts.Hold = DefaultHold
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Gate{opts: opts}
}

// Closed reports whether the gate blocks what it cannot check.
func (g *Gate) Closed() bool { return g.opts.Closed && !g.opts.Observe }

// Session is what the gate knows of one session. Each direction may be fed by
// a goroutine of its own.
type Session struct {
	g *Gate
	c *contract
	// track knows what waits for an answer; the contract's lock is its own.
	track *wire.Tracker
	// lines says that peers cut what they read into lines.
	lines bool
	// unproven says that nothing tells who calls.
	unproven bool
}

// Session starts a session.
func (g *Gate) Session() *Session {
	c, track := newContract()
	return &Session{g: g, c: c, track: track}
}

// Lines starts a session whose peers cut what they read into lines.
func (g *Gate) Lines() *Session {
	s := g.Session()
	s.lines = true
	return s
}

// Exchange is a part of the session whose answers come on a way of their own,
// such as an HTTP request's: its ids are its own.
func (s *Session) Exchange() *Session {
	return &Session{g: s.g, c: s.c, track: s.track.Fork()}
}

// Unproven is a part of the session, as Exchange, for a request that names neither a session
// nor a caller. Its calls are blocked, and what it lists is nobody's contract.
func (s *Session) Unproven() *Session {
	out := s.g.Session()
	out.unproven = true
	return out
}

// Verdict is what becomes of one line or body.
type Verdict struct {
	// Pass goes on to the receiver: the bytes that came, where nothing was
	// changed; nil for nothing.
	Pass []byte
	// Changed says that Pass is not what came.
	Changed bool
	// Reply goes back to the sender, nil for nothing. It has no line end.
	Reply []byte
	// Mark is for the record of what came, nil where there is nothing to say.
	Mark *session.Gate
	// Injected is for the record of what the gate made.
	Injected *session.Gate
}

func pass(raw []byte) Verdict { return Verdict{Pass: raw} }

func (s *Session) skipped(raw []byte, tool, reason string) Verdict {
	return Verdict{Pass: raw, Mark: &session.Gate{Action: actionSkipped, Tool: tool, Reason: reason}}
}

// Client judges what a client sends: a line, or a body. It waits where a call
// comes before the list that declares it, at most for Options.Hold or until ctx
// is done.
func (s *Session) Client(ctx context.Context, raw []byte) Verdict {
	messages, err := s.read(raw)
	switch {
	case errors.Is(err, wire.ErrEmpty):
		return pass(raw)
	case err != nil && s.g.opts.Closed && s.g.opts.Observe:
		s.passed(messages)
		return observed(raw, s.unread(messages))
	case err != nil && s.g.opts.Closed:
		return s.unread(messages)
	case messages == nil:
		return s.skipped(raw, "", "cannot be read")
	}
	verdict := pass(raw)
	var refusals []refusal
	var decisions []Decision
	for _, m := range messages {
		if m.Method != wire.MethodCall {
			continue
		}
		r, skip := s.call(ctx, m)
		d := decisionOf(m, r, skip)
		if r != nil {
			var allowed bool
			if allowed, d.Asked = s.allowed(ctx, m, r); allowed {
				d.Action = Allowed
				r, skip = nil, &session.Gate{Action: actionAllowed, Tool: r.tool, Reason: r.reason}
			}
		}
		decisions = append(decisions, d)
		if r != nil {
			refusals = append(refusals, *r)
		} else if skip != nil && verdict.Mark == nil {
			verdict.Mark = skip
		}
	}
	s.tell(decisions, len(refusals) > 0)
	if len(refusals) > 0 {
		refused := s.refuse(messages, refusals)
		if !s.g.opts.Observe {
			return refused
		}
		verdict = observed(raw, refused)
	}
	s.passed(messages)
	return verdict
}

// passed takes in what goes on to the server. What the gate refuses never gets
// here: the server answers nothing of it.
func (s *Session) passed(messages []wire.Message) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	for _, m := range messages {
		crossing := m.Crossing(false)
		s.track.Feed(&crossing)
		if m.IsRequest() && m.Method == wire.Tools.Method() {
			s.c.waived = false // waiting for a list makes sense again
		}
	}
}

// refusal is a call that does not pass.
type refusal struct {
	id       json.RawMessage
	tool     string
	reason   string
	declared []string
	code     Reason
	method   string // of a message that calls no tool, "" for a call
}

// errorLine and what it holds are glassport's shape of a refusal.
type errorLine struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   errorObject     `json:"error"`
}

type errorObject struct {
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Data    errorData `json:"data"`
}

type errorData struct {
	Coalmine string   `json:"coalmine"`
	Tool     string   `json:"tool,omitempty"`
	Declared []string `json:"declared,omitzero"`
	// Reason is for programs, and Suggestion what a client can do about it.
	Reason     Reason   `json:"reason,omitempty"`
	Suggestion string   `json:"suggestion,omitempty"`
	Kinds      []string `json:"kinds,omitempty"`
}

// codeGate is the JSON-RPC error code of all that the gate says.
const codeGate = -32000

func (r refusal) line() errorLine {
	e := errorLine{Version: "2.0", ID: r.id, Error: errorObject{
		Code:    codeGate,
		Message: fmt.Sprintf("coalmine gate: tools/call '%s' blocked — %s", r.tool, r.reason),
		Data:    errorData{Coalmine: "gate_blocked", Tool: r.tool, Declared: r.declared, Reason: r.code, Suggestion: r.suggestion()},
	}}
	if r.method != "" {
		e.Error.Message = fmt.Sprintf("coalmine gate: %s blocked — %s", r.method, r.reason)
	}
	return e
}

// refusalOf refuses a message, which need not be a call.
func refusalOf(m wire.Message, code Reason, reason string) refusal {
	r := refusal{id: m.ID, method: m.Method, code: code, reason: reason}
	if m.Method == wire.MethodCall {
		r.method = ""
		r.tool, _ = callOf(m.Params)
	}
	return r
}

// refuse blocks a message, or the whole batch that one is in: no receiver gets
// bytes that nobody sent. Each request in it is answered.
func (s *Session) refuse(messages []wire.Message, refusals []refusal) Verdict {
	first := refusals[0]
	v := Verdict{
		Mark:     &session.Gate{Action: actionBlocked, Tool: first.tool, Declared: first.declared, Reason: first.reason, Evidence: first.code.evidence()},
		Injected: &session.Gate{Action: actionInjected, Tool: first.tool, Reason: first.reason},
	}
	var lines []errorLine
	for _, m := range messages {
		if !m.IsRequest() {
			continue
		}
		r := refusalOf(m, ReasonBatch, "another call of its batch is blocked")
		if i := slices.IndexFunc(refusals, func(r refusal) bool { return string(r.id) == string(m.ID) }); i >= 0 {
			r = refusals[i]
		}
		lines = append(lines, r.line())
	}
	switch {
	case len(lines) == 0:
		v.Injected = nil
	case len(messages) == 1:
		v.Reply = encode(lines[0])
	default:
		v.Reply = encode(lines)
	}
	return v
}

// unread blocks what cannot be read in one way only. What can be told of it is answered.
func (s *Session) unread(messages []wire.Message) Verdict {
	const why = "cannot be read"
	if len(messages) == 0 {
		return Verdict{Mark: &session.Gate{Action: actionBlocked, Reason: why, Evidence: session.EvidenceAdmission}}
	}
	var all []refusal
	for _, m := range messages {
		all = append(all, refusalOf(m, ReasonUnread, why))
	}
	return s.refuse(messages, all)
}

// encode is json.Marshal without the escaping of HTML.
func encode(v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil // all that is encoded here came out of a decoder
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// call judges a call: it is refused, or passes unchecked with a mark, or passes.
func (s *Session) call(ctx context.Context, m wire.Message) (*refusal, *session.Gate) {
	name, arguments := callOf(m.Params)
	no := func(code Reason, format string, a ...any) *refusal {
		return &refusal{id: m.ID, tool: name, code: code, reason: fmt.Sprintf(format, a...)}
	}
	if s.unproven {
		return no(ReasonScope, "the request names no session and no caller"), nil
	}
	if why := s.policy(name, arguments); why != "" {
		return no(ReasonPolicy, "%s", why), nil
	}
	if code, why := s.careful(name, arguments); why != "" {
		return no(code, "%s", why), nil
	}
	tools, why := s.c.await(ctx, s.g.opts.Hold)
	if why != "" {
		if s.g.opts.Closed {
			return no(ReasonNoList, "%s", why), nil
		}
		return nil, &session.Gate{Action: actionSkipped, Tool: name, Reason: why}
	}
	tool := tools.Tools[name]
	if tool == nil {
		r := no(ReasonUndeclared, "not in the declared tool surface")
		r.declared = append([]string{}, tools.Names...)
		return r, nil
	}
	if why := s.pinned(tool); why != "" {
		return no(ReasonLock, "%s", why), nil
	}
	if s.g.opts.Validate == nil || tool.InputSchema == nil {
		return nil, nil
	}
	err := s.g.opts.Validate(tool.InputSchema, arguments)
	switch {
	case errors.Is(err, ErrUnusable) && !s.g.opts.Closed:
		return nil, &session.Gate{Action: actionSkipped, Tool: name, Reason: ErrUnusable.Error()}
	case err != nil:
		return no(ReasonSchema, "the arguments are not what the tool declares: %.200s", err), nil
	}
	return nil, nil
}

// callOf reads a call's tool and arguments; what is absent is "" and {}.
func callOf(params json.RawMessage) (name string, arguments json.RawMessage) {
	arguments = json.RawMessage("{}")
	wire.EachMember(params, func(key string, value json.RawMessage) {
		switch key {
		case "name":
			_ = json.Unmarshal(value, &name) // no string is no tool's name
		case "arguments":
			arguments = value
		}
	})
	return name, arguments
}

// policy says why the policy does not allow a call, "" if it does.
func (s *Session) policy(tool string, arguments json.RawMessage) string {
	p := s.g.opts.Policy
	if p == nil {
		return ""
	}
	entry, named := p.Tool(tool)
	if !named && len(p.Tools) > 0 {
		return "the policy does not allow the tool"
	}
	why := ""
	object := wire.EachMember(arguments, func(key string, value json.RawMessage) {
		text := string(value)
		var s string
		if json.Unmarshal(value, &s) == nil && len(value) > 0 && value[0] == '"' {
			text = s
		}
		for _, patterns := range []map[string]policy.Argument{p.Server.Arguments, entry.Arguments} {
			if a, ok := patterns[key]; ok {
				if !a.Match(text) {
					why = fmt.Sprintf("the policy does not allow this %s (line %d)", key, a.At.Line)
				}
				continue
			}
			for name, a := range patterns {
				if strings.EqualFold(name, key) {
					why = fmt.Sprintf("some servers take this for the %s that the policy limits (line %d)", name, a.At.Line)
				}
			}
		}
	})
	if !object && string(arguments) != "null" && len(p.Server.Arguments)+len(entry.Arguments) > 0 {
		return "the policy limits arguments by name, and these have none"
	}
	return why
}
