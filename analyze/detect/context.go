package detect

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// fabricated finds calls of tools outside the declaration at that moment.
type fabricated struct{}

func (fabricated) name() string { return "fabricated_calls" }

func (fabricated) event(c *context) {
	if c.own || !c.IsCall() || c.state.Surface == nil || c.Asked == nil || c.state.Surface.Has(c.Asked.Tool) {
		return
	}
	c.add(Hallucination, "fabricated_tool_call", 3, []any{"tool", name(c.Asked.Tool), "declaration_seq", c.state.Surface.Seq, "no_declaration_seen", false},
		"the client called %s, which is not in the server's tools/list (seq %d)", quoted(c.Asked.Tool), c.state.Surface.Seq)
	c.ofTool()
}

// sequence finds what came in an order that the protocol does not know.
type sequence struct {
	changes map[wire.Change]bool // that were told
}

func (*sequence) name() string { return "context_violations" }

func (q *sequence) event(c *context) {
	if len(c.state.Delta) > 0 {
		c.add(Divergence, "surface_change", 2, []any{"delta", namesOf(c.state.Delta)},
			"tools/list changed since the session began: %s", strings.Join(namesOf(c.state.Delta), ", "))
		q.tell(c, c.state.Delta, func(tool string) wire.ChangeKind {
			if c.state.Last.Has(tool) {
				return wire.Appeared
			}
			return wire.Disappeared
		})
	}
	if len(c.state.Redeclared) > 0 {
		c.add(Divergence, "surface_change", 2, []any{"delta", namesOf(c.state.Redeclared), "redeclared", true},
			"these tools changed their declaration: %s", strings.Join(namesOf(c.state.Redeclared), ", "))
		q.tell(c, c.state.Redeclared, func(string) wire.ChangeKind { return wire.Redeclared })
	}
	if c.IsCall() && !c.own && !c.state.HeadMissing {
		q.call(c)
	}
	if c.Orphan {
		c.add(Anomaly, "orphaned_response", 1, nil, "the response with id %s matches no request of this session", name(string(c.ID)))
	}
}

// tell gives the annotation that was added last the changes that it is about.
func (q *sequence) tell(c *context, tools []string, kind func(tool string) wire.ChangeKind) {
	if q.changes == nil {
		q.changes = map[wire.Change]bool{}
	}
	a := &c.found[len(c.found)-1]
	for _, tool := range tools {
		change := wire.Change{Tool: c.say.Redact(tool), Kind: kind(tool)}
		if !q.changes[change] && len(q.changes) >= MaxChanges {
			continue
		}
		q.changes[change] = true
		a.Changes = append(a.Changes, change)
	}
}

// call judges a call's moment. In the era without sessions nothing has to go before it.
func (*sequence) call(c *context) {
	s, tool := c.state, ""
	if c.Asked != nil {
		tool = c.Asked.Tool
	}
	unasked := (s.Initialized || s.Modern) && s.First == nil && !s.ListRequested
	if (s.Initialized || s.Modern) && !unasked && (s.Surface != nil || s.Expired) {
		return
	}
	about := []any{"tool", name(tool)}
	switch {
	case !s.Initialized && !s.Modern:
		c.add(Anomaly, "premature_call", 2, about, "the client called %s before it sent notifications/initialized", quoted(tool))
	case unasked:
		c.add(Anomaly, "call_before_declaration", 1, about, "the client called %s without requesting tools/list", quoted(tool))
	}
	if s.Surface == nil && !unasked && !s.Expired {
		c.add(Anomaly, "declaration_unavailable", 1, about, "coalmine cannot check the call of %s: the log has no complete tools/list", quoted(tool))
	}
}

// serverRequests finds requests of the server that the client never offered to answer.
type serverRequests struct{}

func (serverRequests) name() string { return "server_requests" }

// free are the requests of a server that need no capability. A client that runs the
// server's requests as tasks is asked for them so.
var free = []string{"ping", "tasks/get", "tasks/result", "tasks/list", "tasks/cancel"}

func (serverRequests) event(c *context) {
	if c.Kind != wire.Request || !c.FromServer() {
		return
	}
	need := wire.Need(c.Method, c.Params)
	switch {
	case need == "" && !slices.Contains(free, c.Method):
		c.add(Anomaly, "unknown_server_request", 2, []any{"method", name(c.Method)}, "the server sent the request %s, which MCP does not define", quoted(c.Method))
	case need != "" && c.state.Granted != nil && !c.state.Granted[need]:
		c.add(Anomaly, "capability_violation", 3, []any{"method", name(c.Method), "capability", need},
			"the server sent the request %s, but the client did not grant %q", quoted(c.Method), need)
	}
}

// notProtocol finds lines of the server that no client can read.
type notProtocol struct{}

func (notProtocol) name() string { return "not_protocol" }

func (notProtocol) event(c *context) {
	if c.Kind == wire.Unparsed && c.FromServer() && len(strings.TrimSpace(string(c.Raw[:min(len(c.Raw), 64)]))) > 0 {
		c.add(Anomaly, "not_protocol", 1, nil, "the server wrote a line that is not JSON-RPC: %s", quoted(string(c.Raw[:min(len(c.Raw), 400)])))
	}
}
