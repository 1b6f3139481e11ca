package synth

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxRecorded bounds the calls that are taken from a log.
const maxRecorded = 100_000

// Recorded is a replay of all calls in the log of a run: the same requests with the same
// arguments, byte for byte, in the same order. It names no finding. A call that never
// reached the server is left out. The log is not trusted: what it says is only called
// in a sandbox.
func Recorded(r *session.Reader) (*Replay, error) {
	frames, err := r.Wire()
	if err != nil {
		return nil, err
	}
	defer frames.Close()
	out := &Replay{User: r.Header.User, Home: r.Header.Home}
	open := -1 // the step whose request has not come yet
	var step Step
	var number int
	steps := map[int]int{} // by the number of the call
	for e, err := range r.All(session.NewScanner(frames)) {
		if err == nil && e.Damage != nil {
			err = e.Damage
		}
		if err != nil {
			return nil, fmt.Errorf("take the calls from a log: %w", err)
		}
		if m := e.Mark; m != nil {
			switch m.Kind {
			case session.MarkCall:
				open, number = -1, m.Call
				if m.What != session.WhatListener {
					open, step = len(out.Steps), Step{What: m.What, Name: m.Tool, Oracles: m.Oracles}
				}
			case session.MarkReturn:
				if i, ok := steps[m.Call]; ok {
					out.Steps[i].Cancelled = Outcome(m.What) == Cancelled
				}
			}
		}
		if e.Frame == nil || e.Frame.Dir != session.C2S || open < 0 || !step.request(e.Frame.Message) {
			continue
		}
		if len(out.Steps) == maxRecorded {
			return nil, fmt.Errorf("take the calls from a log: it has more than %d", maxRecorded)
		}
		steps[number], open = open, -1
		out.Steps = append(out.Steps, step)
	}
	if len(out.Steps) == 0 {
		return nil, errors.New("take the calls from a log: it has none")
	}
	return out, nil
}

// request takes in the request of a call and reports whether the message is that.
func (s *Step) request(message json.RawMessage) bool {
	var m struct {
		Method string
		Params struct {
			Name      string
			URI       string
			Arguments json.RawMessage
			Argument  struct{ Name string }
			Ref       struct{ Name, URI string }
			Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
		}
	}
	if json.Unmarshal(message, &m) != nil {
		return false
	}
	p := &m.Params
	switch {
	case s.What == WhatTool && m.Method == wire.MethodCall && p.Name == s.Name,
		s.What == WhatPrompt && m.Method == "prompts/get" && p.Name == s.Name:
		s.Args = append(json.RawMessage(nil), p.Arguments...)
	case s.What == WhatResource && m.Method == "resources/read" && p.URI == s.Name:
	case s.What == WhatCompletion && m.Method == "completion/complete" && p.Argument.Name == s.Name:
		s.Of = &client.Completion{Prompt: p.Ref.Name, Template: p.Ref.URI}
	default:
		return false
	}
	s.Progress = len(p.Meta.ProgressToken) > 0
	return true
}
