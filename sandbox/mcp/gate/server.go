package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Server judges what a server sends: a line, an event's data, or a body.
func (s *Session) Server(raw []byte) Verdict {
	v := s.server(raw)
	if s.g.opts.Tell != nil && v.Mark != nil && v.Mark.Action == actionBlocked {
		s.tell([]Decision{{Tool: v.Mark.Tool, Action: Blocked, Why: "what the server sent: " + v.Mark.Reason}}, false)
	}
	if s.g.opts.Observe {
		return observed(raw, v)
	}
	return v
}

func (s *Session) server(raw []byte) Verdict {
	messages, err := s.read(raw)
	switch {
	case errors.Is(err, wire.ErrEmpty):
		return pass(raw)
	case err != nil && s.g.opts.Closed:
		return Verdict{Mark: &session.Gate{Action: actionBlocked, Reason: "cannot be read"}}
	case messages == nil:
		return s.secret(raw, nil, "")
	}
	tool := ""
	answers := make([]string, len(messages)) // the methods that are answered
	for i, m := range messages {
		asked := s.heard(&m)
		if asked == nil && m.Result != nil && s.g.opts.Closed {
			// A client may find a question of its own in an id that reads like it.
			return Verdict{Mark: &session.Gate{Action: actionBlocked, Reason: "it answers no request"}}
		}
		if m.IsResponse() && asked != nil {
			answers[i] = asked.Method
			if m.Result != nil {
				tool = asked.Tool
			}
		}
	}
	v := s.secret(raw, messages, tool)
	if v.Pass != nil {
		v = s.cleaned(raw, v, answers)
	}
	if v.Pass == nil || v.Changed || s.g.opts.Lock == nil {
		return v
	}
	return s.unlocked(raw, v, answers)
}

// Text judges what a server sends beside the protocol and is no message, such as
// the text of a failure: it stops what holds a secret.
func (s *Session) Text(raw []byte) Verdict {
	v := s.secret(raw, nil, "")
	if s.g.opts.Observe {
		return observed(raw, v)
	}
	return v
}

// heard takes in a message of the server's, and returns the request that it answers,
// or is; nil for none.
func (s *Session) heard(m *wire.Message) *wire.Asked {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	crossing := m.Crossing(true)
	seen := s.track.Feed(&crossing)
	s.c.learn(s.track, m, seen)
	if seen.Asked == nil {
		return nil
	}
	asked := *seen.Asked
	return &asked
}

// secret stops what holds a secret: a request's answer becomes an error, a
// request of the server's is answered with one, a notification goes nowhere.
func (s *Session) secret(raw []byte, messages []wire.Message, tool string) Verdict {
	if s.g.opts.Scan == nil {
		return pass(raw)
	}
	kinds := s.g.opts.Scan(raw)
	if len(kinds) == 0 {
		return pass(raw)
	}
	reason := "it holds " + strings.Join(kinds, ", ")
	v := Verdict{Mark: &session.Gate{Action: actionBlocked, Tool: tool, Reason: reason}}
	what := "a message"
	if tool != "" {
		what = fmt.Sprintf("the result of '%s'", tool)
	}
	lines := func(pick func(wire.Message) bool) []byte {
		var out []errorLine
		for _, m := range messages {
			if pick(m) {
				out = append(out, errorLine{Version: "2.0", ID: m.ID, Error: errorObject{
					Code:    codeGate,
					Message: "coalmine gate: " + what + " stopped — " + reason,
					Data:    errorData{Coalmine: "gate_stopped", Tool: tool, Reason: ReasonSecret, Kinds: kinds},
				}})
			}
		}
		switch {
		case len(out) == 0:
			return nil
		case len(messages) == 1:
			return encode(out[0])
		}
		return encode(out)
	}
	v.Pass = lines(wire.Message.IsResponse)
	v.Changed = v.Pass != nil
	v.Reply = lines(wire.Message.IsRequest)
	if v.Pass != nil || v.Reply != nil {
		v.Injected = &session.Gate{Action: actionInjected, Tool: tool, Reason: reason}
	}
	return v
}

// unlocked takes out of what declares something the tools that are not as they
// were locked, and other instructions: a model reads them before it calls
// anything. answers are the methods that are answered, "" where nobody asked.
func (s *Session) unlocked(raw []byte, v Verdict, answers []string) Verdict {
	var gone []string
	var line json.RawMessage
	if i := 0; bytes.TrimLeft(raw, " \t\r\n")[0] == '[' {
		all := []json.RawMessage{}
		wire.WalkArray(raw, func(_ int, entry []byte) {
			all = append(all, s.locked(entry, answers[i], &gone))
			i++
		})
		line = encode(all)
	} else {
		line = s.locked(raw, answers[0], &gone)
	}
	if len(gone) == 0 {
		return v
	}
	reason := strings.Join(gone[:min(len(gone), 20)], "; ")
	return Verdict{
		Pass: line, Changed: true,
		Mark:     &session.Gate{Action: actionBlocked, Reason: reason},
		Injected: &session.Gate{Action: actionInjected, Reason: reason},
	}
}

// locked is one message without what is not as it was locked, which gone names.
func (s *Session) locked(raw json.RawMessage, method string, gone *[]string) json.RawMessage {
	if method != wire.Tools.Method() && method != wire.MethodInitialize && method != wire.MethodDiscover && method != "" {
		return raw
	}
	return rebuild(raw, func(key string, value json.RawMessage) json.RawMessage {
		if key != "result" {
			return value
		}
		return rebuild(value, func(key string, value json.RawMessage) json.RawMessage {
			switch {
			case key == "tools" && value[0] == '[':
				return s.lockedTools(value, gone)
			case key == "instructions" && wire.InstructionsPin(value) != s.g.opts.Lock.Instructions:
				*gone = append(*gone, "the instructions are not as they were locked")
				return nil
			}
			return value
		})
	})
}

// lockedTools are the entries of a list that are as they were locked.
func (s *Session) lockedTools(list json.RawMessage, gone *[]string) json.RawMessage {
	kept := []json.RawMessage{}
	wire.WalkArray(list, func(_ int, entry []byte) {
		t := wire.Tool{Raw: entry}
		if name, ok := member(entry, "name"); ok {
			_ = json.Unmarshal(name, &t.Name) // no string is no tool's name
		}
		if why := s.pinned(&t); why != "" {
			*gone = append(*gone, fmt.Sprintf("%.100q: %s", t.Name, why))
			return
		}
		kept = append(kept, entry)
	})
	return encode(kept)
}

// rebuild makes an object anew, each member's value through f, which returns nil
// to leave one out.
func rebuild(obj json.RawMessage, f func(key string, value json.RawMessage) json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	if !wire.EachMember(obj, func(key string, value json.RawMessage) {
		if value = f(key, value); value == nil {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, encode(key)...), ':'), value...)
	}) {
		return obj
	}
	return append(out, '}')
}
