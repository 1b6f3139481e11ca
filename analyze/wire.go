package analyze

import (
	"bytes"
	"encoding/json"

	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxFacts bounds each list of facts; the counts go on.
const maxFacts = 100

// wireReader reads the conversation: the surface, the arguments of each call
// and what should not have crossed.
type wireReader struct {
	profile *profile.Profile
	surface wire.Surface
	// listed says that the first complete listing of tools was seen.
	listed  bool
	pending map[string]wire.Message // requests of the client by id
	pages   []wire.Tool             // of the listing that is under way
	granted map[string]bool         // the client's capabilities
	args    map[int]json.RawMessage
	facts   rules.WireFacts
	liner   *liner
	// refusals are what errors said, by tool.
	refusals map[string][]string
}

func newWireReader(p *profile.Profile, l *liner) *wireReader {
	return &wireReader{profile: p, liner: l, refusals: map[string][]string{}, pending: map[string]wire.Message{}, granted: map[string]bool{}, args: map[int]json.RawMessage{}}
}

// frame takes one frame, in order.
func (w *wireReader) frame(f *session.Frame) {
	if f.Message == nil {
		if f.Dir == session.S2C && len(bytes.TrimSpace(f.Raw)) > 0 {
			w.bad(f)
			w.liner.frame(f, w.profile.FrameCall[f.Seq], nil)
		}
		return
	}
	msgs, err := wire.Parse(f.Message)
	w.liner.frame(f, w.profile.FrameCall[f.Seq], msgs)
	if err != nil && f.Dir == session.S2C {
		w.bad(f)
	}
	for _, m := range msgs {
		switch {
		case f.Dir == session.C2S && m.IsRequest():
			w.request(f, m)
		case f.Dir == session.S2C && m.IsRequest():
			w.serverRequest(f, m)
		case f.Dir == session.S2C && m.IsResponse():
			w.response(f, m)
		}
	}
}

func (w *wireReader) bad(f *session.Frame) {
	w.facts.BadLineCount++
	if len(w.facts.BadLines) < maxFacts {
		w.facts.BadLines = append(w.facts.BadLines, w.fact(f, "“"+text.Printable(string(f.Bytes()[:min(len(f.Bytes()), 4<<10)]), 120)+"”"))
	}
}

func (w *wireReader) fact(f *session.Frame, what string) rules.Fact {
	call := w.profile.FrameCall[f.Seq]
	fact := rules.Fact{Seq: f.Seq, Call: call, Text: what}
	for _, c := range w.profile.Calls {
		if call > 0 && c.N == call {
			fact.Tool = c.Tool
		}
	}
	return fact
}

// maxPending bounds the requests remembered; a client of ours never has so many open.
const maxPending = 10_000

func (w *wireReader) request(f *session.Frame, m wire.Message) {
	if len(w.pending) < maxPending {
		w.pending[string(m.ID)] = m
	}
	switch m.Method {
	case "initialize":
		var p struct {
			Capabilities map[string]json.RawMessage `json:"capabilities"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			w.grant(p.Capabilities)
		}
	case "server/discover":
		var p struct {
			Meta struct {
				Capabilities map[string]json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
			} `json:"_meta"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			w.grant(p.Meta.Capabilities)
		}
	case "tools/call", "prompts/get", "resources/read":
		var p struct {
			Arguments json.RawMessage `json:"arguments"`
			URI       string          `json:"uri"`
		}
		if call := w.profile.FrameCall[f.Seq]; call > 0 && json.Unmarshal(m.Params, &p) == nil {
			w.args[call] = p.Arguments
			if uri, err := json.Marshal(p.URI); err == nil && p.URI != "" {
				w.args[call] = uri
			}
		}
	}
}

func (w *wireReader) grant(capabilities map[string]json.RawMessage) {
	for name := range capabilities {
		w.granted[name] = true
	}
}

// needs are the capabilities that a server's requests need.
var needs = map[string]string{"sampling/createMessage": "sampling", "roots/list": "roots", "elicitation/create": "elicitation"}

func (w *wireReader) serverRequest(f *session.Frame, m wire.Message) {
	if c, ok := needs[m.Method]; ok && !w.granted[c] && len(w.facts.Requests) < maxFacts {
		w.facts.Requests = append(w.facts.Requests, w.fact(f, m.Method))
	}
}

func (w *wireReader) response(f *session.Frame, m wire.Message) {
	req, ok := w.pending[string(m.ID)]
	if !ok {
		return
	}
	delete(w.pending, string(m.ID))
	if req.Method == "tools/call" {
		w.refused(w.profile.FrameCall[f.Seq], &m)
	}
	if m.Error != nil {
		return
	}
	switch req.Method {
	case "initialize", "server/discover":
		w.introduce(m.Result)
	case "tools/list":
		w.profile.Listed(f.Seq, 0, m.Result)
		w.tools(f, req, m.Result)
	case "resources/list":
		xs, _, _ := wire.ParseResources(m.Result)
		if !w.listed || len(w.surface.Resources) == 0 {
			w.surface.Resources = append(w.surface.Resources, xs...)
		}
	case "resources/templates/list":
		xs, _, _ := wire.ParseTemplates(m.Result)
		if len(w.surface.Templates) == 0 {
			w.surface.Templates = xs
		}
	case "prompts/list":
		xs, _, _ := wire.ParsePrompts(m.Result)
		if len(w.surface.Prompts) == 0 {
			w.surface.Prompts = xs
		}
	}
}

func (w *wireReader) introduce(result json.RawMessage) {
	var r struct {
		ProtocolVersion string              `json:"protocolVersion"`
		Supported       []string            `json:"supportedVersions"`
		ServerInfo      wire.Implementation `json:"serverInfo"`
		Instructions    string              `json:"instructions"`
		Capabilities    json.RawMessage     `json:"capabilities"`
		Meta            struct {
			ServerInfo wire.Implementation `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if json.Unmarshal(result, &r) != nil {
		return
	}
	if r.ServerInfo.Name == "" {
		r.ServerInfo = r.Meta.ServerInfo // where the protocol without sessions puts it
	}
	if r.ProtocolVersion == "" && len(r.Supported) > 0 {
		r.ProtocolVersion = r.Supported[0]
	}
	w.surface.Server, w.surface.Protocol, w.surface.Instructions, w.surface.Capabilities = r.ServerInfo, r.ProtocolVersion, r.Instructions, r.Capabilities
}

// maxTools bounds a listing, as the client does.
const maxTools = 10_000

// tools collects the pages of a listing and compares it, when complete, with the first.
func (w *wireReader) tools(f *session.Frame, req wire.Message, result json.RawMessage) {
	var p struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(req.Params, &p) // no params: the first page
	if p.Cursor == "" {
		w.pages = nil
	}
	tools, next, _ := wire.ParseTools(result)
	w.pages = append(w.pages, tools...)
	if next != "" && len(w.pages) < maxTools {
		return
	}
	if w.listed {
		w.compare(f, w.pages)
	}
	if !w.listed {
		w.surface.Tools, w.listed = w.pages, true
	}
	w.pages = nil
}

// compare notes how a later listing differs from the first. Each difference is noted once.
func (w *wireReader) compare(f *session.Frame, now []wire.Tool) {
	later := make(map[string]*wire.Tool, len(now))
	for i := range now {
		later[now[i].Name] = &now[i]
	}
	for i := range w.surface.Tools {
		old := &w.surface.Tools[i]
		t, ok := later[old.Name]
		switch {
		case !ok:
			w.changed(f, old.Name, wirelog.Disappeared)
		case !sameJSON(old.Raw, t.Raw):
			w.changed(f, old.Name, wirelog.Redeclared)
		}
		delete(later, old.Name)
	}
	for i := range now {
		if _, ok := later[now[i].Name]; ok {
			w.changed(f, now[i].Name, wirelog.Appeared)
		}
	}
}

func (w *wireReader) changed(f *session.Frame, tool string, kind wirelog.ChangeKind) {
	for _, c := range w.facts.Changes {
		if c.Tool == tool && c.Kind == kind {
			return
		}
	}
	if len(w.facts.Changes) < maxFacts {
		fact := w.fact(f, "")
		fact.Tool = tool
		w.facts.Changes = append(w.facts.Changes, rules.ToolChange{Fact: fact, Kind: kind})
	}
}

// sameJSON compares two values by what they mean: the order of members and the spacing do not count.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, errP := json.Marshal(x)
	q, errQ := json.Marshal(y)
	return errP == nil && errQ == nil && bytes.Equal(p, q)
}
