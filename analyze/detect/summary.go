package detect

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/pii"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Completeness says whether a log has all of its session.
const (
	Complete        = "complete"
	PartialTailOnly = "partial_tail_only"
)

// Summary is what a session came to, in glassport's form. Texts of the wire in
// it are printable and hold no secret.
type Summary struct {
	Session       string   `json:"session"`
	Completeness  string   `json:"completeness"`
	FramesParsed  int      `json:"frames_parsed"`
	DeclaredTools []string `json:"declared_tools"`
	// DeclarationKnown tells an empty list of tools from one that was never seen.
	DeclarationKnown  bool        `json:"declaration_known"`
	CalledTools       []string    `json:"called_tools"`
	UnusedDeclared    []string    `json:"unused_declared"`
	FabricatedCalls   []Call      `json:"fabricated_calls"`
	ProtocolErrors    []Failure   `json:"protocol_errors"`
	ToolErrors        []Failure   `json:"tool_errors"`
	ContextViolations []Violation `json:"context_violations"`
	// Effects are what coalmine spy saw the server do beside talking.
	Effects []Effect `json:"effects,omitempty"`
	// Omitted counts entries beyond MaxEntries of the lists above.
	Omitted int `json:"omitted,omitempty"`
}

// MaxEntries bounds each list of a Summary.
const MaxEntries = 100_000

// Call is a call by its frame.
type Call struct {
	Seq  uint64 `json:"seq"`
	Tool string `json:"tool"`
}

// Failure is an error by its frame.
type Failure struct {
	Seq     uint64 `json:"seq"`
	Message string `json:"message"`
}

// Violation is an annotation of the session's order and declarations.
type Violation struct {
	Severity    int    `json:"severity"`
	Subcategory string `json:"subcategory"`
	Seq         uint64 `json:"seq"`
	Explanation string `json:"explanation"`
}

// inContext are the subcategories that a Summary lists as violations.
var inContext = map[string]bool{
	"surface_change": true, "premature_call": true, "call_before_declaration": true, "declaration_unavailable": true, "schema_violation": true,
	"capability_violation": true, "unknown_server_request": true, "orphaned_response": true, "analysis_limit": true,
}

// summarizer collects what the annotations do not say.
type summarizer struct {
	sum    Summary
	called map[string]bool
	names  map[string]string
	say    *pii.Scanner
}

func newSummarizer() *summarizer {
	return &summarizer{called: map[string]bool{}, names: map[string]string{}, say: pii.NewScanner(nil)}
}

// shown is a tool's name as it may be printed, made once for each name.
func (s *summarizer) shown(tool string) string {
	out, ok := s.names[tool]
	if !ok {
		out = name(s.say.Redact(tool))
		if len(s.names) < maxSeen {
			s.names[tool] = out
		}
	}
	return out
}

func (s *summarizer) event(e *wirelog.Event, st *wire.State) {
	switch {
	case e.IsCall():
		tool := ""
		if e.Asked != nil {
			tool = e.Asked.Tool
		}
		if len(s.called) < maxSeen {
			s.called[tool] = true
		}
		if s.room(len(s.sum.CalledTools)) {
			s.sum.CalledTools = append(s.sum.CalledTools, s.shown(tool))
		}
		if st.Surface != nil && !st.Surface.Has(tool) && s.room(len(s.sum.FabricatedCalls)) {
			s.sum.FabricatedCalls = append(s.sum.FabricatedCalls, Call{e.Seq, s.shown(tool)})
		}
	case e.Kind == wire.Response && e.FromServer():
		s.response(e)
	}
}

func (s *summarizer) room(n int) bool {
	if n >= MaxEntries {
		s.sum.Omitted++
		return false
	}
	return true
}

func (s *summarizer) response(e *wirelog.Event) {
	switch {
	case e.Fault != nil:
		f := Failure{e.Seq, s.message(e.Fault)}
		if e.IsCallResult() {
			if s.room(len(s.sum.ToolErrors)) {
				s.sum.ToolErrors = append(s.sum.ToolErrors, f)
			}
		} else if s.room(len(s.sum.ProtocolErrors)) {
			s.sum.ProtocolErrors = append(s.sum.ProtocolErrors, f)
		}
	case e.IsCallResult() && saysError(e.Result):
		if v, ok := wire.Member(e.Result, isError); ok && string(v) == "true" && s.room(len(s.sum.ToolErrors)) {
			s.sum.ToolErrors = append(s.sum.ToolErrors, Failure{e.Seq, s.message(e.Result)})
		}
	}
}

const isError = "isError"

// saysError tells quickly most results that say nothing of an error.
func saysError(result []byte) bool {
	i := wire.IndexName(result, isError)
	if i < 0 {
		return false
	}
	rest := result[i+len(isError)+2:]
	v := bytes.TrimLeft(rest, ": ")
	return len(v) > 0 && v[0] != 'f' || wire.IndexName(rest, isError) >= 0
}

// message is what an error or a failed result says.
func (s *summarizer) message(v json.RawMessage) string {
	var parts []string
	if m, ok := wire.Member(v, "message"); ok {
		if t, ok := wire.Text(m); ok {
			parts = []string{t}
		}
	}
	if content, ok := wire.Member(v, "content"); ok && parts == nil {
		wire.WalkArray(content, func(i int, c []byte) {
			if t, ok := wire.Member(c, "text"); ok && i < 20 {
				if t, ok := wire.Text(t); ok {
					parts = append(parts, t)
				}
			}
		})
	}
	if parts == nil {
		parts = []string{string(v[:min(len(v), 4<<10)])}
	}
	joined := strings.Join(parts, " ")
	joined = joined[:min(len(joined), 64<<10)]
	return text.Printable(s.say.Redact(joined), 400)
}

// summary closes the account.
func (s *summarizer) summary(l *Log) Summary {
	out := s.sum
	out.Session, out.FramesParsed = name(l.Name), l.Stats.Frames
	out.Completeness = Complete
	if l.Stats.HeadMissing {
		out.Completeness = PartialTailOnly
	}
	out.DeclaredTools, out.UnusedDeclared = []string{}, []string{}
	if surface := l.State.Surface; surface != nil {
		out.DeclarationKnown = true
		for _, tool := range surface.Names {
			out.DeclaredTools = append(out.DeclaredTools, s.shown(tool))
			if !s.called[tool] {
				out.UnusedDeclared = append(out.UnusedDeclared, s.shown(tool))
			}
		}
	}
	out.CalledTools = append([]string{}, out.CalledTools...)
	out.FabricatedCalls = append([]Call{}, out.FabricatedCalls...)
	out.ProtocolErrors = append([]Failure{}, out.ProtocolErrors...)
	out.ToolErrors = append([]Failure{}, out.ToolErrors...)
	out.Effects = s.effectsOf(l.Effects)
	out.ContextViolations = []Violation{}
	for i := range l.Annotations {
		if a := &l.Annotations[i]; inContext[a.Subcategory] {
			out.ContextViolations = append(out.ContextViolations, Violation{a.Severity, a.Subcategory, a.Seq(), a.Explanation})
		}
	}
	return out
}
