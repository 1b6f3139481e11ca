package analyze

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxFacts bounds each list of facts; the counts go on.
const maxFacts = 100

// wireReader reads the conversation: the surface, the arguments of each call
// and what should not have crossed.
type wireReader struct {
	profile *profile.Builder
	// track is a loose one: a run is judged by what its client took for declared.
	track   *wire.Tracker
	surface wire.Surface
	// first is the first listing of tools, nil before it; whole are the other lists
	// of which one was seen to its end.
	first  *wire.Toolset
	whole  map[wire.List]bool
	listed listings
	links  links
	// known is what was read in long texts, nil for nothing.
	known     *detect.Known
	prompts   prompts
	args      arguments
	facts     rules.WireFacts
	timelines *timelineBuilder
	// rejected says that the server answered initialize with an error, and no later one well.
	rejected bool
	// announced says that the server has said that its list of tools changed.
	announced bool
	// refusals are what errors said, by tool.
	refusals map[string][]refusal
	// ciphers are what tools last made of texts that they were to encrypt.
	ciphers map[cipherAt]cipherText
	// undeclared are the answers of calls of tools that were not listed by then.
	undeclared map[int]string
}

func newWireReader(p *profile.Builder, t *timelineBuilder) *wireReader {
	return &wireReader{profile: p, timelines: t, prompts: newPrompts(), track: wire.NewTracker(wire.Options{Loose: true}), whole: map[wire.List]bool{}, refusals: map[string][]refusal{}, ciphers: map[cipherAt]cipherText{}, undeclared: map[int]string{}}
}

// frame takes one frame after its mark, in order, and its messages; err says what
// of it is none.
func (w *wireReader) frame(f *session.Frame, msgs []wire.Message, err error) {
	call := w.profile.SoFar().FrameCall[f.Seq]
	if f.Message == nil {
		if f.Dir == session.S2C && len(bytes.TrimSpace(f.Raw)) > 0 {
			w.bad(f)
			w.timelines.frame(f, call, nil)
		}
		return
	}
	w.timelines.frame(f, call, msgs)
	if err != nil && f.Dir == session.S2C {
		w.bad(f)
	}
	for i := range msgs {
		m := &msgs[i]
		c := m.Crossing(f.Dir == session.S2C)
		c.Seq = f.Seq
		seen := w.track.Feed(&c)
		switch {
		case !c.Server && c.Kind == wire.Request:
			w.request(call, m)
			w.links.sent(m.Params)
		case c.Server && m.Method == "notifications/tools/list_changed":
			w.announced = true
		case c.Server && c.Kind == wire.Request:
			w.serverRequest(f.Seq, m)
		case c.Server && c.Kind == wire.Response && seen.Asked != nil:
			w.response(f.Seq, m, seen)
		}
	}
}

func (w *wireReader) bad(f *session.Frame) {
	w.facts.BadLineCount++
	if len(w.facts.BadLines) < maxFacts {
		w.facts.BadLines = append(w.facts.BadLines, w.fact(f.Seq, "“"+text.Printable(string(f.Bytes()[:min(len(f.Bytes()), 4<<10)]), 120)+"”"))
	}
}

func (w *wireReader) fact(seq uint64, what string) rules.Fact {
	fact := rules.Fact{Seq: seq, Call: w.profile.SoFar().FrameCall[seq], Text: what}
	if c := w.callOf(fact.Call); c != nil {
		fact.Tool = c.Tool
	}
	return fact
}

// callOf is the call of a number, nil for none. It is one of the latest: what is read crossed just now.
func (w *wireReader) callOf(n int) *profile.Call {
	calls := w.profile.SoFar().Calls
	for i := len(calls) - 1; i >= 0 && n > 0; i-- {
		if calls[i].N == n {
			return &calls[i]
		}
	}
	return nil
}

// request keeps a call's arguments.
func (w *wireReader) request(call int, m *wire.Message) {
	switch m.Method {
	case wire.MethodCall, "prompts/get", "resources/read":
		var p struct {
			Arguments json.RawMessage `json:"arguments"`
			URI       string          `json:"uri"`
			Name      string          `json:"name"`
		}
		if call > 0 && json.Unmarshal(m.Params, &p) == nil {
			w.args.keep(call, p.Arguments)
			w.prompts.asked(call, m.Method, p.Name, p.Arguments)
			if uri, err := json.Marshal(p.URI); err == nil && p.URI != "" {
				w.args.keep(call, uri)
			}
		}
	}
}

func (w *wireReader) serverRequest(seq uint64, m *wire.Message) {
	if need := wire.Need(m.Method, m.Params); need != "" && !w.track.State.Granted[need] && len(w.facts.Requests) < maxFacts {
		w.facts.Requests = append(w.facts.Requests, w.fact(seq, m.Method))
	}
	switch m.Method {
	case detect.MethodElicit:
		w.page(seq, m.Params)
	case detect.MethodSample:
		w.sampled(seq)
	}
}

func (w *wireReader) response(seq uint64, m *wire.Message, seen *wire.Seen) {
	w.pages(seq, m)
	if seen.Method == wire.MethodCall {
		call := w.profile.SoFar().FrameCall[seq]
		said := errorTexts(m)
		w.refused(call, said)
		w.queryErrors(seq, seen.Asked.Tool, call, said)
		w.answered(call, seen.Asked.Tool, m)
		w.verified(seq, call, m)
		w.encrypted(seq, call, m)
	}
	if seen.Method == "prompts/get" && m.Result != nil {
		w.gotPrompt(seq, w.profile.SoFar().FrameCall[seq], m.Result)
	}
	if seen.Method == wire.MethodInitialize {
		w.rejected = m.Error != nil
	}
	if in := seen.Introduction; in != nil {
		w.surface.Server, w.surface.Protocol, w.surface.Instructions, w.surface.Capabilities = in.Server, in.Version(), in.Instructions, in.Capabilities
	}
	if seen.Method == wire.Tools.Method() && m.Result != nil {
		w.profile.Listed(seq, 0, m.Result)
	}
	if bytes.Contains(m.Result, []byte(`"icons"`)) {
		w.icons(seq, m.Result, 0)
	}
	if seen.Listing != nil {
		w.listing(seq, seen.Listing)
	} else {
		w.carried(seq, m.Result)
		w.offered(seq, m.Result)
		w.signIns(seq, m.Result)
	}
}

// maxUndeclared bounds the answers of undeclared tools that are kept, and each of them.
const maxUndeclared = 4 << 10

// answered keeps what a tool answered that was not listed, without its name: as what
// a server says of any name is compared.
func (w *wireReader) answered(call int, tool string, m *wire.Message) {
	if call == 0 || w.first == nil || w.first.Has(tool) || tool == "" || len(w.undeclared) >= maxUndeclared || m.Result == nil {
		return
	}
	said := string(wire.Canonical(m.Result))
	w.undeclared[call] = strings.ReplaceAll(said[:min(len(said), maxUndeclared)], tool, "")
}

// listing takes a list as far as it was read: of tools when it ends, and compares it
// with the first; of the others from the first page on.
func (w *wireReader) listing(seq uint64, l *wire.Listing) {
	ended := l.Complete || l.Cut != ""
	if ended {
		w.compared(seq, l)
	}
	if l.List == wire.Tools {
		if ended {
			w.tools(seq, l)
		}
		return
	}
	if w.whole[l.List] {
		return
	}
	w.whole[l.List] = ended
	switch l.List {
	case wire.Resources:
		w.surface.Resources = l.Resources
	case wire.Templates:
		w.surface.Templates = l.Templates
	case wire.Prompts:
		w.surface.Prompts = l.Prompts
	}
}

// tools takes a listing of tools, and notes how a later one differs from the first.
// Each difference is noted once.
func (w *wireReader) tools(seq uint64, l *wire.Listing) {
	now := w.track.State.Last
	if !l.Complete {
		now = wire.NewToolset(seq, l.Tools)
	}
	if w.first == nil {
		w.first, w.surface.Tools = now, now.List
		return
	}
	for _, c := range now.Since(w.first) {
		w.changed(seq, "", c, rules.DifferenceOf(w.first.Tools[c.Tool], now.Tools[c.Tool]))
	}
}

// changed notes a change of an entry, once in each way: what is "" for a tool.
func (w *wireReader) changed(seq uint64, what string, change wire.Change, how rules.Difference) {
	for _, c := range w.facts.Changes {
		if c.What == what && c.Tool == change.Tool && c.Kind == change.Kind && c.Difference == how {
			return
		}
	}
	if len(w.facts.Changes) < maxFacts {
		fact := w.fact(seq, "")
		fact.Tool = change.Tool
		w.facts.Changes = append(w.facts.Changes, rules.ToolChange{Fact: fact, Kind: change.Kind, What: what, Difference: how, Announced: w.announced})
	}
}
