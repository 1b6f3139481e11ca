package taint

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// Flow is a way from a parameter of a tool to a sink.
type Flow struct {
	// CWE is the weakness: "CWE-78".
	CWE string
	// Tool is the tool's name, "" where the code does not say it, and Parameter the last
	// part of the parameter's: "path" of args.path.
	Tool, Parameter string
	// Sink is the function that it reaches: "subprocess.run", in Function of File.
	Sink, Function, File string
	// Place is that of the sink.
	Place lang.Span
	// Program is the base name of the program whose argument it is, of an argument to one that
	// is known: "git".
	Program string
	// Steps lead from the handler to the sink.
	Steps []Step
	// Capability is set where the parameter is what its name says, and nothing else is
	// there: the caller chooses the whole URL, path, command, code or statement.
	Capability bool
	// Part is set where the parameter is a part of a longer text or path.
	Part bool
	// Ending is the extension that the file of a path has whatever the parameter is, "" for any,
	// and Does what the sink does with the file.
	Ending string
	Does   Doing
	// Checked is set where a check of the path was meant to hold and does not.
	Checked bool
}

// Doing is what a sink of a path does with the file, "" for more than the following.
type Doing string

// What sinks of paths do.
const (
	// Reads is for the content of a file, Lists for the names in a directory.
	Reads Doing = "reads"
	Lists Doing = "lists"
)

// Result is what an analysis found.
type Result struct {
	// Flows are sorted by file and place.
	Flows []Flow
	// Handlers counts the functions that the analysis began at.
	Handlers int
	// Complete is unset where a bound ended the work for a handler.
	Complete bool
}

// Bounds of an analysis: nodes for one handler and for all, functions within each other,
// and flows.
const (
	maxWork, maxAllWork = 400_000, 4_000_000
	maxDepth            = 14
	maxFlows            = 1_000
)

// analysis is one under way.
type analysis struct {
	// hasDocuments says whether the package talks to a database of documents, nil until asked.
	hasDocuments *bool
	ctx          context.Context
	pkg          *sinks.Package
	sources      map[string]*source
	// unique are the classes that have their names alone.
	unique map[inLanguage]*lang.Class
	flows  map[string]*Flow
	// work is what is left for the present handler, and total for all.
	work, total int
	short       bool
	// tool is that of the present handler, and raw is set where it reads messages itself.
	tool string
	raw  bool
	memo map[string]*outcome
	// active are the functions whose calls are under way.
	active []*lang.Function
	// guarding is set where guards are looked for, and guards are those found.
	guarding bool
	guards   map[string]*Guard
}

// source is a file with what the analysis looks up in it.
type source struct {
	*lang.File
	facts *lang.Facts
	// constants are the values of the module's names, nil while one is calculated, and
	// assigned the expressions that they are bound to once.
	constants map[string]*value
	assigned  map[string]lang.Expr
	imports   map[string]importedName
	classes   map[string]*lang.Class
	// size is where the last statement ends, in bytes.
	size int
	// module is the code of the file itself, nil until it is asked for.
	module *lang.Function
	// shares says whether a path in a directory that all users share stands in it, nil until it is asked for.
	shares *bool
}

type importedName struct{ module, name string }

func place(n lang.Node) [2]int {
	s := n.Place()
	return [2]int{s.Start.Offset(), s.End.Offset()}
}

// Analyze follows what the callers of the tools of a package supply, which is made of files. It
// honours ctx.
func Analyze(ctx context.Context, pkg *sinks.Package, files []*lang.File) *Result {
	a := newAnalysis(ctx, pkg, files)
	res := &Result{}
	for _, e := range a.entries() {
		if ctx.Err() != nil || a.total <= 0 {
			a.short = true
			break
		}
		res.Handlers++
		a.enter(e)
	}
	for _, k := range sortedKeys(a.flows) {
		res.Flows = append(res.Flows, *a.flows[k])
	}
	slices.SortStableFunc(res.Flows, func(x, y Flow) int {
		return cmp.Or(strings.Compare(x.File, y.File), x.Place.Start.Offset()-y.Place.Start.Offset())
	})
	res.Complete = !a.short
	return res
}

func newAnalysis(ctx context.Context, pkg *sinks.Package, files []*lang.File) *analysis {
	a := &analysis{ctx: ctx, pkg: pkg, sources: map[string]*source{}, flows: map[string]*Flow{}, guards: map[string]*Guard{}, total: maxAllWork, memo: map[string]*outcome{}}
	for _, f := range files {
		a.sources[f.Path] = newSource(f, a.pkg.Facts(f.Path))
	}
	a.unique = uniqueClasses(a.sources)
	return a
}

func newSource(f *lang.File, facts *lang.Facts) *source {
	s := &source{File: f, facts: facts, constants: map[string]*value{}, assigned: map[string]lang.Expr{}, imports: map[string]importedName{}, classes: map[string]*lang.Class{}}
	for _, i := range facts.Imports {
		for _, n := range i.Names {
			if !i.Exports && !i.Types {
				s.imports[n.As] = importedName{i.Module, n.Name}
			}
		}
	}
	for _, d := range facts.Definitions {
		if d.Class != nil && d.Name == d.Class.Name {
			s.classes[d.Name] = d.Class
		}
	}
	s.collect(f.Body)
	if n := len(f.Body); n > 0 {
		s.size = f.Body[n-1].Place().End.Offset()
	}
	return s
}

// collect notes what the module's names are bound to. A name that is bound twice has no value.
func (s *source) collect(body []lang.Stmt) {
	for _, stmt := range body {
		switch stmt := stmt.(type) {
		case lang.Assign:
			for _, t := range stmt.Targets {
				if n, ok := t.(lang.Name); ok && stmt.Value != nil {
					if _, twice := s.assigned[n.ID]; twice {
						s.assigned[n.ID] = nil
					} else {
						s.assigned[n.ID] = stmt.Value
					}
				}
			}
		case lang.Block:
			s.collect(stmt.Body)
		case lang.Try:
			s.collect(stmt.Body)
		case lang.If:
			s.collect(stmt.Then)
		}
	}
}

// entry is a function that answers a client.
type entry struct {
	tool string
	body sinks.Body
	span lang.Span
	raw  bool
	// shape is what a schema says of the fields of the first parameter.
	shape *value
}

// entries lists the handlers of tools and resources, each function once.
func (a *analysis) entries() []entry {
	var out []entry
	seen := map[*lang.Function]bool{}
	add := func(e entry) {
		if e.body.Function != nil && !seen[e.body.Function] {
			seen[e.body.Function] = true
			out = append(out, e)
		}
	}
	// The code of a bundle itself is no handler: it holds the SDK, which compares with
	// "tools/call" too.
	for _, h := range a.pkg.Handlers() {
		if h.Kind == "prompt" {
			continue
		}
		for _, id := range h.Functions {
			b, ok := a.pkg.Body(id)
			if !ok {
				if file, name, _ := strings.Cut(id, ":"); name == "" && a.sources[file] != nil && a.sources[file].size < maxGuessed {
					b = a.module(file)
				}
			}
			if b.Function == nil {
				continue
			}
			// A function that only registers handlers is none itself.
			add(entry{tool: h.Name, body: b, span: h.Span, raw: a.isRaw(b, h.Span), shape: a.shapeAt(h.Span)})
		}
	}
	for _, p := range sortedKeys(a.sources) {
		for _, e := range a.declared(a.sources[p]) {
			add(e)
		}
	}
	return out
}

// module is the code of a file itself as a function.
func (a *analysis) module(file string) sinks.Body {
	s := a.sources[file]
	if s.module == nil {
		s.module = &lang.Function{Body: s.Body}
	}
	return sinks.Body{File: s.File, Function: s.module}
}

// isRaw reports whether a handler was found by a comparison with "tools/call" within it:
// then it reads the message itself.
func (a *analysis) isRaw(b sinks.Body, at lang.Span) bool {
	f := b.Function
	if f.Span == at {
		return false
	}
	inside := f.Start.Offset() <= at.Start.Offset() && at.End.Offset() <= f.End.Offset()
	if !inside && f.Span != (lang.Span{}) {
		return false
	}
	c := a.sources[b.File.Path].facts.CallAt(at)
	return c == nil
}

// schemaKeys are those that say what the function takes.
var schemaKeys = set("inputSchema input_schema parameters schema paramsSchema args inputschema")

// declared finds tools that are described by objects with a name, a schema and a function, and
// by classes with a schema and a method.
func (a *analysis) declared(s *source) []entry {
	var out []entry
	for _, o := range a.pkg.Objects(s.Path) {
		switch n := o.Node.(type) {
		case lang.Collection:
			if e, ok := a.describedBy(s, n, o.In); ok {
				out = append(out, e)
			}
		case *lang.Class:
			if e, ok := a.toolClass(s, n, o.In); ok {
				out = append(out, e)
			}
		}
	}
	return out
}

func (a *analysis) describedBy(s *source, c lang.Collection, in *lang.Scope) (entry, bool) {
	e := entry{span: c.Span}
	var schema lang.Expr
	var f lang.Expr
	for _, it := range c.Items {
		k, ok := it.Key.(lang.Const)
		switch {
		case !ok:
		case k.Text == "name":
			if v, ok := lang.Fold(it.Value); ok {
				e.tool = v.Text
			}
		case schemaKeys[k.Text]:
			schema = it.Value
		case sinks.HoldsHandler(k.Text):
			f = it.Value
		}
	}
	if c.Kind != lang.Dict || schema == nil || f == nil {
		return e, false
	}
	if fn, ok := f.(*lang.Function); ok {
		e.body = sinks.Body{File: s.File, Function: fn, In: in, Name: e.tool}
	} else if r := s.facts.ReferenceAt(f.Place()); r != nil {
		for _, id := range a.pkg.Targets(s.Path, r.Names, r.Own) {
			e.body, _ = a.pkg.Body(id)
		}
	}
	e.shape = a.shape(s.within(in), schema)
	return e, e.body.Function != nil
}

func (a *analysis) toolClass(s *source, c *lang.Class, in *lang.Scope) (entry, bool) {
	e := entry{span: c.Span, tool: c.Name}
	schema, method := false, (*lang.Function)(nil)
	for _, stmt := range c.Body {
		switch m := stmt.(type) {
		case lang.Assign:
			if len(m.Targets) != 1 {
				continue
			}
			switch name := keyOf(m.Targets[0]); {
			case name == "name":
				if v, ok := lang.Fold(m.Value); ok && m.Value != nil {
					e.tool = v.Text
				}
			case schemaKeys[name]:
				schema = true
				e.shape = a.shape(s, m.Value)
			}
		case *lang.Function:
			if m.Name == "execute" || m.Name == "run" || m.Name == "call" {
				method = m
			}
			schema = schema || schemaKeys[m.Name]
		}
	}
	if method == nil || !schema {
		return e, false
	}
	e.body = sinks.Body{File: s.File, Function: method, In: &lang.Scope{Outer: in, Class: c, Name: in.Qualified(c.Name)}, Name: c.Name + "." + method.Name}
	return e, true
}

// enter analyses a handler with its parameters tainted.
func (a *analysis) enter(e entry) {
	a.work = min(maxWork, a.total)
	before := a.work
	a.tool, a.raw = e.tool, e.raw
	s := a.sources[e.body.File.Path]
	f := a.newFrame(s, e.body, nil)
	a.active = append(a.active[:0], e.body.Function)
	for i, p := range e.body.Function.Params {
		if f.isReceiver(i, p) || notSupplied(p) {
			continue
		}
		name := p.Name
		what := cmp.Or(name, "its arguments")
		if len(e.body.Function.Params) > 1 && i > 0 && s.Language == "JavaScript" && !e.raw {
			break // what the SDK tells of the request
		}
		text := fmt.Sprintf("a caller of %s supplies %s", describe(e.tool), what)
		t := taint{origin: name, way: &way{Step: Step{File: s.Path, Span: at(p.Span, e.span), Text: text}, length: 1}}
		v := a.typed(s, p, &value{taints: []taint{t}})
		if e.shape != nil && i == 0 {
			v = a.shaped(v, e.shape)
		}
		f.bindParam(p, v)
	}
	f.body(e.body.Function)
	a.total -= before - a.work
	if a.work <= 0 {
		a.short = true
	}
}

func at(s, other lang.Span) lang.Span {
	if s.Start.Line() == 0 {
		return other
	}
	return s
}

func describe(tool string) string {
	if tool == "" {
		return "the tools"
	}
	return "the tool " + tool
}

// notSupplied reports whether a parameter comes from the SDK rather than from a caller.
func notSupplied(p lang.Param) bool {
	switch p.Name {
	case "ctx", "context", "_ctx", "_", "extra", "_extra", "mcp_context", "self", "cls":
		return true
	}
	return slices.Contains([]string{"Context", "ServerSession", "RequestContext"}, lastOf(p.Annotation))
}

// lastOf is the last name of a type.
func lastOf(x lang.Expr) string {
	switch x := x.(type) {
	case lang.Name:
		return x.ID
	case lang.Attr:
		return x.Name
	case lang.Index:
		return lastOf(x.X)
	case lang.Const:
		return path.Ext("." + x.Text)[1:]
	}
	return ""
}

// found keeps a flow, of those alike the first.
func (a *analysis) found(fl Flow) {
	key := strings.Join([]string{fl.File, fl.CWE, fl.Tool, fl.Parameter, fl.Sink, fl.Function, fmt.Sprint(fl.Capability, fl.Ending != "")}, "\x00")
	if old := a.flows[key]; old == nil && len(a.flows) < maxFlows || old != nil && len(old.Steps) > len(fl.Steps) && old.Place == fl.Place {
		a.flows[key] = &fl
	}
}
