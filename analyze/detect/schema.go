package detect

import (
	"encoding/json"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// schemas holds arguments against the declared inputSchema, and structured
// results against the outputSchema.
type schemas struct {
	surface *wire.Toolset
	checks  map[string]*toolChecks
}

// toolChecks are a tool's schemas, compiled when they are first needed.
type toolChecks struct{ input, output *check }

func newSchemas() *schemas { return &schemas{} }

func (*schemas) name() string { return "schema_violations" }

func (s *schemas) event(c *context) {
	switch {
	case c.IsCall() && !c.own && c.Asked != nil:
		if t := s.of(c.state.Surface, c.Asked.Tool); t != nil {
			s.arguments(c, t)
		}
	case c.IsCallResult() && c.Result != nil:
		// A list that was retired meanwhile is still what the call was made on.
		if t := s.of(c.state.Last, c.Asked.Tool); t != nil && t.output != nil {
			s.output(c, t)
		}
	}
}

// of are a declared tool's checks, nil for a tool that is not declared.
func (s *schemas) of(surface *wire.Toolset, tool string) *toolChecks {
	if surface == nil {
		return nil
	}
	if surface != s.surface {
		s.surface, s.checks = surface, make(map[string]*toolChecks, len(surface.Tools))
	}
	t, ok := s.checks[tool]
	if !ok {
		d := surface.Tools[tool]
		if d == nil {
			return nil
		}
		t = &toolChecks{input: compile(d.InputSchema)}
		if d.OutputSchema != nil {
			t.output = compile(d.OutputSchema)
		}
		s.checks[tool] = t
	}
	return t
}

// arguments judges a call. A schema that says nothing of a type is read as an object's.
func (*schemas) arguments(c *context, t *toolChecks) {
	args := c.Args
	if args == nil || args[0] == 'n' {
		args = json.RawMessage("{}")
	}
	for _, problem := range t.input.problems(args, "argument") {
		c.add(Divergence, "schema_violation", 2, []any{"tool", name(c.Asked.Tool)}, "the arguments of %s violate its inputSchema: %s", quoted(c.Asked.Tool), problem.says)
		c.identify("the call of %s does not fit its declared schema: %s", quoted(c.Asked.Tool), problem.identity)
		c.ofTool()
	}
}

// output judges a result that is no error.
func (*schemas) output(c *context, t *toolChecks) {
	var structured, kind json.RawMessage
	failed := false
	wire.Walk(c.Result, func(key, value []byte) {
		switch string(key) {
		case "structuredContent":
			structured = value
		case "isError":
			failed = string(value) == "true"
		case "resultType":
			kind = value
		}
	})
	// A result that only asks for input, or announces a task, has no content yet.
	if failed || kind != nil && string(kind) != `"complete"` {
		return
	}
	about := []any{"tool", name(c.Asked.Tool)}
	tool := quoted(c.Asked.Tool)
	if structured == nil || structured[0] == 'n' {
		if task, ok := wire.Member(c.Result, "task"); !ok || task[0] != '{' {
			c.add(Divergence, "output_schema_violation", 1, about, "the result of %s lacks the structuredContent that its outputSchema declares", tool)
			c.identify("the result of %s has no structured content, which its outputSchema declares", tool)
		}
		return
	}
	for _, problem := range t.output.problems(structured, "value") {
		c.add(Divergence, "output_schema_violation", 2, about, "the result of %s violates its outputSchema: %s", tool, problem.says)
		c.identify("the result of %s does not fit its declared outputSchema: %s", tool, problem.identity)
	}
}

// maxProblems bounds what is told of one value.
const maxProblems = 8

// problems are the ways in which value differs from the schema, valid until the
// next call.
func (k *check) problems(value json.RawMessage, what string) []problem {
	if k == nil || k.root == nil {
		return nil
	}
	w := &k.walk
	w.what, w.problems, w.path = what, w.problems[:0], w.path[:0]
	w.value(k.root, value)
	if len(w.problems) == 0 && k.needsFull {
		if p := k.full(value, what); p.says != "" {
			w.tell(p.identity, p.says)
		}
	}
	return w.problems
}
