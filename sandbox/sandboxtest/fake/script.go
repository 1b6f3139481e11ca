package fake

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Call is a call of a tool that a Script answers.
type Call struct {
	*Process
	// N counts the calls of the run from 1.
	N    int
	Tool string
	Args json.RawMessage
}

// Script is an MCP server of the older era. What is nil does what a plain server does.
type Script struct {
	// Tools are the declarations, in JSON.
	Tools []string
	// Started is called in place of Ready.
	Started func(*Process)
	// Asked is called before any request or notification is answered, and reports whether
	// that is still to be done.
	Asked func(p *Process, method string) bool
	// Call answers a call: ok is false where no answer comes.
	Call func(Call) (text string, ok bool)
	// Rests is called when the host waits for the target to rest.
	Rests func(*Process)
	// Stopped is called at the end of stdin, before the server ends.
	Stopped func(*Process)
	// Files are those that can be collected.
	Files map[string]string

	calls int
}

// Start implements Target.
func (s *Script) Start(p *Process) {
	if s.Started != nil {
		s.Started(p)
		return
	}
	p.Ready()
}

// Rest implements Target.
func (s *Script) Rest(p *Process) {
	if s.Rests != nil {
		s.Rests(p)
	}
}

// Stop implements Target.
func (s *Script) Stop(p *Process) {
	if s.Stopped != nil && !p.Ended() {
		s.Stopped(p)
	}
	p.Exit(0, "")
}

// File implements Filed.
func (s *Script) File(path string) ([]byte, bool) {
	text, ok := s.Files[path]
	return []byte(text), ok
}

// request is a line of the host's.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
}

// Line implements Target.
func (s *Script) Line(p *Process, line []byte) {
	var r request
	if json.Unmarshal(line, &r) != nil {
		return
	}
	if s.Asked != nil && !s.Asked(p, r.Method) || len(r.ID) == 0 {
		return
	}
	switch r.Method {
	case "initialize":
		p.answer(r.ID, "result", `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"1"}}`)
	case "tools/list":
		p.answer(r.ID, "result", `{"tools":[`+strings.Join(s.Tools, ",")+`]}`)
	case "tools/call":
		s.call(p, r)
	default:
		p.answer(r.ID, "error", `{"code":-32601,"message":"Method not found"}`)
	}
}

func (s *Script) call(p *Process, r request) {
	s.calls++
	text, ok := "done", true
	if s.Call != nil {
		text, ok = s.Call(Call{Process: p, N: s.calls, Tool: r.Params.Name, Args: r.Params.Arguments})
	}
	if ok {
		said, err := json.Marshal(text)
		if err != nil {
			panic(err) // a string
		}
		p.answer(r.ID, "result", fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, said))
	}
}

// answer prints an answer.
func (p *Process) answer(id json.RawMessage, member, value string) {
	p.Stdout(fmt.Appendf(nil, "{\"jsonrpc\":\"2.0\",\"id\":%s,%q:%s}\n", id, member, value))
}

// Tool declares a tool that takes one text. It has a description and no annotations.
func Tool(name, description string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}`, name, description)
}
