package sinks

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// Handler is a function that answers a client of MCP.
type Handler struct {
	lang.Span
	// Kind is "tool", "resource" or "prompt".
	Kind string
	// Name is the tool's, where the code says it; "" for a handler of all of them.
	Name string
	// Functions are the ids of the functions that it may be.
	Functions []string
}

// registrations are the methods of the official SDKs, as decorators or as calls.
var registrations = map[string]string{
	"tool": "tool", "call_tool": "tool", "add_tool": "tool", "registerTool": "tool", "addTool": "tool", "AddTool": "tool", "ServerTool": "tool",
	"resource": "resource", "read_resource": "resource", "add_resource_fn": "resource", "registerResource": "resource", "AddResource": "resource", "AddResourceTemplate": "resource",
	"prompt": "prompt", "get_prompt": "prompt", "registerPrompt": "prompt", "AddPrompt": "prompt",
}

// schemas are the requests whose handler setRequestHandler takes.
var schemas = map[string]string{
	"CallToolRequestSchema": "tool", "tools/call": "tool", "ReadResourceRequestSchema": "resource", "GetPromptRequestSchema": "prompt",
}

// callbacks are the arguments by which a server of the Python SDK 2 takes its handlers.
var callbacks = map[string]string{"on_call_tool": "tool", "on_read_resource": "resource", "on_get_prompt": "prompt"}

// rawCall is the method of the protocol that calls a tool.
const rawCall = "tools/call"

// handlers are what decorators and calls of the SDKs register, and functions that compare a method
// with "tools/call" themselves.
func (p *project) handlers() []Handler {
	var out []Handler
	for _, s := range p.sources {
		named := map[string]string{}
		for _, kept := range s.nodes {
			in := kept.In
			switch n := kept.Node.(type) {
			case lang.Assign:
				noteTool(named, n)
			case *lang.Function:
				if kind, name := decorated(n); kind != "" {
					if name == "" && kind == "tool" && !hasDecorator(n, "call_tool") {
						name = n.Name
					}
					out = append(out, Handler{Span: n.Span, Kind: kind, Name: name, Functions: []string{id(s.Path, in.Qualified(n.Name))}})
				}
			case lang.Call:
				for _, a := range n.Args {
					if ids := p.handlerIDs(s, []lang.Expr{a.Value}, in); callbacks[a.Name] != "" && ids != nil {
						out = append(out, Handler{Span: n.Span, Kind: callbacks[a.Name], Functions: ids})
					}
				}
				kind, name, values := registered(n)
				if v, ok := firstName(n); ok && name == "" {
					name = named[v]
				}
				if ids := p.handlerIDs(s, values, in); kind != "" && ids != nil {
					out = append(out, Handler{Span: n.Span, Kind: kind, Name: name, Functions: ids})
				}
			default:
				if ids, ok := p.raw(s, n, in); ok {
					out = append(out, Handler{Span: n.Place(), Kind: "tool", Functions: ids})
				}
			}
		}
	}
	return out
}

// describing are the properties of an object that describes a tool which hold its function.
var describing = map[string]bool{"handler": true, "execute": true, "run": true, "call": true, "invoke": true, "callback": true, "func": true, "fn": true, "handle": true}

// HoldsHandler reports whether a property of this name of an object that describes a tool holds its function.
func HoldsHandler(property string) bool { return describing[property] }

// keep keeps the nodes that later questions are about.
func (s *source) keep(n lang.Node, in *lang.Scope) {
	of := false
	switch n := n.(type) {
	case lang.Assign:
		c, ok := n.Value.(lang.Call)
		of = ok && len(n.Targets) == 1 && (methodOf(c.Func) == "NewTool" || methodOf(c.Func) == "Tool")
	case *lang.Function:
		of = len(n.Decorators) > 0
	case lang.Call:
		method := registering(n)
		of = registrations[method] != "" || method == "setRequestHandler" || slices.ContainsFunc(n.Args, func(a lang.Arg) bool { return callbacks[a.Name] != "" })
	case *lang.Class:
		s.objects = append(s.objects, Node{n, in})
	case lang.Operation, lang.Switch:
		of = comparesRaw(n)
	case lang.Collection:
		of = comparesRaw(n)
		if n.Kind == lang.Dict && slices.ContainsFunc(n.Items, func(it lang.Item) bool { k, ok := it.Key.(lang.Const); return ok && describing[k.Text] }) {
			s.objects = append(s.objects, Node{n, in})
		}
	}
	if of {
		s.nodes = append(s.nodes, Node{n, in})
	}
}

// noteTool notes the name of a tool that is described before it is registered, as in Go:
// tool := mcp.NewTool("name").
func noteTool(named map[string]string, a lang.Assign) {
	c, ok := a.Value.(lang.Call)
	if !ok || len(a.Targets) != 1 {
		return
	}
	if v, ok := a.Targets[0].(lang.Name); ok && (methodOf(c.Func) == "NewTool" || methodOf(c.Func) == "Tool") {
		named[v.ID] = stated(lang.Call{Args: []lang.Arg{{Value: c}}})
	}
}

// firstName is the variable that a call's arguments begin with.
func firstName(c lang.Call) (string, bool) {
	for _, a := range c.Args[:min(2, len(c.Args))] {
		if v, ok := a.Value.(lang.Name); ok {
			return v.ID, true
		}
	}
	return "", false
}

// nameHandlers gives a name to the handlers of a source that have none.
func nameHandlers(s *source) {
	for _, n := range s.nodes {
		c, ok := n.Node.(lang.Call)
		if !ok {
			continue
		}
		for _, a := range c.Args {
			if f, ok := a.Value.(*lang.Function); ok && f.Name == "" && callbacks[a.Name] != "" {
				s.handlers[f] = "<" + callbacks[a.Name] + ">"
			}
		}
		kind, name, values := registered(c)
		for _, v := range values {
			if f, ok := v.(*lang.Function); ok && f.Name == "" && kind != "" {
				s.handlers[f] = "<" + strings.TrimSpace(kind+" "+name) + ">"
			}
		}
	}
}

// methodOf is the last name of a callee.
func methodOf(x lang.Expr) string {
	switch x := x.(type) {
	case lang.Attr:
		return x.Name
	case lang.Call:
		return methodOf(x.Func)
	}
	return ""
}

// registering is the method that a call registers by, also of a function of the server's own
// that has a method's name: tool("name", …, handler).
func registering(c lang.Call) string {
	f, ok := c.Func.(lang.Name)
	if !ok || len(c.Args) < 2 || registrations[f.ID] != "tool" {
		return methodOf(c.Func)
	}
	name, isConst := c.Args[0].Value.(lang.Const)
	if _, isFunction := c.Args[len(c.Args)-1].Value.(*lang.Function); isConst && name.Kind == lang.String && isFunction {
		return f.ID
	}
	return ""
}

// decorated returns the kind that a function's decorators give it, with the name that
// they state.
func decorated(f *lang.Function) (kind, name string) {
	for _, d := range f.Decorators {
		k := registrations[methodOf(d)]
		if k == "" {
			continue
		}
		if c, ok := d.(lang.Call); ok {
			name = stated(c)
		}
		return k, name
	}
	return "", ""
}

func hasDecorator(f *lang.Function, name string) bool {
	return slices.ContainsFunc(f.Decorators, func(d lang.Expr) bool { return methodOf(d) == name })
}

// stated is the name that a registration states: its first argument, or "name".
func stated(c lang.Call) string {
	for i, a := range c.Args {
		if a.Name == "name" || a.Name == "" && i == 0 {
			if v, ok := lang.Fold(a.Value); ok && v.Kind == lang.String {
				return v.Text
			}
		}
		if o, ok := a.Value.(lang.Collection); ok {
			for _, it := range o.Items {
				if k, ok := it.Key.(lang.Const); ok && k.Text == "name" {
					if v, ok := lang.Fold(it.Value); ok {
						return v.Text
					}
				}
			}
		}
		if inner, ok := a.Value.(lang.Call); ok && (methodOf(inner.Func) == "Tool" || methodOf(inner.Func) == "NewTool") { // of Go
			for i, a := range inner.Args {
				if v, ok := lang.Fold(a.Value); ok && v.Kind == lang.String && (a.Name == "Name" || a.Name == "" && i == 0) {
					return v.Text
				}
			}
		}
	}
	return ""
}

// registered returns what a call registers, and the values that may be the handler.
func registered(c lang.Call) (kind, name string, handlers []lang.Expr) {
	if outer, ok := c.Func.(lang.Call); ok { // mcp.tool("x")(f)
		if kind = registrations[methodOf(outer.Func)]; kind == "" || len(c.Args) != 1 {
			return "", "", nil
		}
		return kind, stated(outer), []lang.Expr{c.Args[0].Value}
	}
	method := registering(c)
	if method == "setRequestHandler" && len(c.Args) > 1 {
		return schemaOf(c.Args[0].Value), "", wrapped(c.Args[1].Value)
	}
	if kind = registrations[method]; kind == "" {
		return "", "", nil
	}
	for _, a := range c.Args {
		handlers = append(handlers, wrapped(a.Value)...)
		if o, ok := a.Value.(lang.Collection); ok {
			for _, it := range o.Items {
				if k, ok := it.Key.(lang.Const); ok && (k.Text == "execute" || k.Text == "handler") {
					handlers = append(handlers, it.Value)
				}
			}
		}
	}
	return kind, stated(c), handlers
}

// wrapped are a handler, and the functions that it is made of by a call: withTelemetry(async () => …).
func wrapped(x lang.Expr) []lang.Expr {
	out := []lang.Expr{x}
	if c, ok := x.(lang.Call); ok {
		for _, a := range c.Args {
			if f, ok := a.Value.(*lang.Function); ok {
				out = append(out, f)
			}
		}
	}
	return out
}

func schemaOf(x lang.Expr) string {
	switch x := x.(type) {
	case lang.Name:
		return schemas[x.ID]
	case lang.Attr:
		return schemas[x.Name]
	case lang.Const:
		return schemas[x.Text]
	}
	return ""
}

// handlerIDs returns the functions that values of a registration may be.
func (p *project) handlerIDs(s *source, values []lang.Expr, in *lang.Scope) []string {
	var out []string
	for _, v := range values {
		if f, ok := v.(*lang.Function); ok {
			if name := s.handlers[f]; name != "" {
				out = append(out, id(s.Path, name))
			} else if f.Name != "" {
				out = append(out, id(s.Path, in.Qualified(f.Name)))
			}
			continue
		}
		r := s.facts.ReferenceAt(v.Place())
		if r == nil {
			continue
		}
		for _, o := range r.Own {
			out = append(out, p.own(s, o)...)
		}
		for _, n := range r.Names {
			out = append(out, p.external(s, n)...)
		}
	}
	return out
}

// raw returns the functions that a comparison with "tools/call" leads to: the one around
// it, or the value of a table's entry.
func (p *project) raw(s *source, n lang.Node, in *lang.Scope) ([]string, bool) {
	if !comparesRaw(n) {
		return nil, false
	}
	var ids []string
	if c, ok := n.(lang.Collection); ok {
		i := slices.IndexFunc(c.Items, func(it lang.Item) bool { return isRawCall(it.Key) })
		ids = p.handlerIDs(s, []lang.Expr{c.Items[i].Value}, in)
	}
	return append(ids, id(s.Path, s.owner(in))), true
}

// comparesRaw reports whether a node compares with "tools/call", or has an entry for it.
func comparesRaw(n lang.Node) bool {
	switch n := n.(type) {
	case lang.Operation:
		return (n.Op == "==" || n.Op == "===" || n.Op == "in" || n.Op == "!=" || n.Op == "!==") && slices.ContainsFunc(n.Operands, isRawCall)
	case lang.Switch:
		return slices.ContainsFunc(n.Cases, func(c lang.Case) bool { return slices.ContainsFunc(c.Patterns, isRawCall) })
	case lang.Collection:
		return slices.ContainsFunc(n.Items, func(it lang.Item) bool { return isRawCall(it.Key) })
	}
	return false
}

func isRawCall(x lang.Expr) bool {
	c, ok := x.(lang.Const)
	return ok && c.Text == rawCall
}
