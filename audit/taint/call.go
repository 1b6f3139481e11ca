package taint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// call evaluates a call: its arguments, the sinks that it is, and its result.
func (f *frame) call(x lang.Call) *value {
	c := f.info(x)
	f.checkSink(c)
	if v, ok := f.ownCall(c); ok {
		f.calls[place(x)] = v
		return v
	}
	out := f.looked(c, f.library(c))
	f.calls[place(x)] = out
	if c.method == "relative_to" && resolved(c.recv) {
		f.apply(f.checks(c.receiver, confined)) // it raises an error for a path outside
	}
	f.apply(f.addressed(x))
	return out
}

func (f *frame) info(x lang.Call) *callInfo {
	c := &callInfo{call: x}
	if site := f.src.facts.CallAt(x.Place()); site != nil {
		c.names, c.own = site.Names, site.Own
	}
	for _, n := range c.names {
		_, name := sinks.Of(f.src.Language, n, nil)
		c.canonical = append(c.canonical, name)
	}
	switch callee := x.Func.(type) {
	case lang.Attr:
		c.receiver, c.method = callee.X, callee.Name
		c.recv = f.eval(callee.X)
		if v := c.recv.fields[callee.Name]; v != nil {
			c.callee = v
		}
		if key := keyOf(callee); key != "" {
			if v, ok := f.env.get(key); ok {
				c.callee = v
			}
		}
	case lang.Name:
		if v, ok := f.env.get(callee.ID); ok {
			c.callee = v
		} else if v := f.a.constant(f.src, callee.ID, 0); v.call != nil && v.call.env != nil {
			c.callee = v
		}
	default:
		c.callee = f.eval(x.Func)
	}
	values := f.evaluated(x)
	for i, a := range x.Args {
		v := values[i]
		_, spread := a.Value.(lang.Spread)
		switch {
		case a.Name != "":
			if c.named == nil {
				c.named = map[string]*value{}
			}
			c.named[a.Name] = v
		case spread && v.list && f.src.Language != "Go":
			c.args = append(c.args, v.items...)
			if len(v.taints) > 0 {
				c.args = append(c.args, &value{taints: v.taints})
				c.open = len(c.args)
			}
		default:
			c.args = append(c.args, v)
			if spread {
				c.open = len(c.args)
			}
		}
	}
	return c
}

// evaluated are the values of a call's arguments. Those that are names come last: a call beside them that checks one has
// returned before the function begins, as in run(task, known(task)).
func (f *frame) evaluated(x lang.Call) []*value {
	out := make([]*value, len(x.Args))
	for _, names := range []bool{false, true} {
		for i, a := range x.Args {
			if _, isName := a.Value.(lang.Name); isName == names {
				out[i] = f.exhausted(x.Func, a.Value)
			}
		}
	}
	return out
}

// maxGuessed bounds the files whose methods a method of an unknown object may be: a larger
// one is a bundle of libraries, where any name stands for many.
const maxGuessed = 1 << 20

// ownCall evaluates a call of a function of the package.
func (f *frame) ownCall(c *callInfo) (*value, bool) {
	var list []*closure
	dispatch := map[*closure]string{}
	if c.callee != nil && c.callee.call != nil {
		list = append(list, c.callee.call)
	}
	if len(list) == 0 {
		list, dispatch = f.table(c)
	}
	if len(list) == 0 {
		for _, id := range f.a.pkg.Targets(f.src.Path, c.names, c.own) {
			if b, ok := f.a.pkg.Body(id); ok && len(list) < 4 {
				list = append(list, &closure{body: b})
			}
		}
	}
	if len(list) == 0 && c.method != "" && len(c.names) == 0 && !keepMethods[c.method] && !adders[c.method] {
		if ids := f.a.pkg.Methods(c.method); len(ids) <= 3 {
			for _, id := range ids {
				if b, ok := f.a.pkg.Body(id); ok && b.File.Language == f.src.Language && f.a.sources[b.File.Path].size < maxGuessed {
					list = append(list, &closure{body: b})
				}
			}
		}
	}
	if len(list) == 0 {
		if class := f.ownClass(c); class != nil {
			return f.model(class, c), true
		}
		return nil, false
	}
	out := nothing
	tool := f.a.tool
	for _, t := range list {
		if name := dispatch[t]; name != "" && tool == "" {
			f.a.tool = name
		}
		out = merge(out, f.invoke(t, c, len(list) == 1))
		f.a.tool = tool
	}
	return out, true
}

// table returns the functions of a table, where one of them is called by a key that the
// caller supplies, with the names of their tools.
func (f *frame) table(c *callInfo) ([]*closure, map[*closure]string) {
	from := c.callee
	if c.recv != nil && c.recv.made == "table" {
		from = c.recv
	}
	names := map[*closure]string{}
	if from == nil || from.made != "table" {
		return nil, names
	}
	var out []*closure
	for _, k := range sortedKeys(from.fields) {
		v := from.fields[k]
		if c.method != "" && v.fields[c.method] != nil {
			v = v.fields[c.method]
		}
		if v.call != nil {
			out = append(out, v.call)
			names[v.call] = k
		}
	}
	return out, names
}

// invoke evaluates a function of the package with a call's arguments. What the function
// is sure to check is checked for the caller, if it is the only one that may be called.
func (f *frame) invoke(t *closure, c *callInfo, only bool) *value {
	fn := t.body.Function
	if !f.matters(t, c) {
		return nothing
	}
	if len(f.a.active) >= maxDepth || slices.Contains(f.a.active, fn) && !f.mergesDeeper(fn, c) {
		return union(c.all()).plain()
	}
	in := f.frameFor(t, c)
	key := ""
	if t.env == nil {
		key = fmt.Sprintf("%p %s %s%s", fn, f.a.tool, in.signature(), f.signUnder())
		if out := f.a.memo[key]; out != nil {
			return f.outcome(out, c, in, only)
		}
	}
	f.a.active = append(f.a.active, fn)
	in.body(fn)
	f.a.active = f.a.active[:len(f.a.active)-1]
	in.out.self = in.fieldsOf("self", "this")
	if fn.Name == "__init__" || fn.Name == "constructor" {
		in.out.result = &value{fields: in.out.self, made: madeObject}
	}
	if key != "" && f.a.work > 0 {
		f.a.memo[key] = &in.out
	}
	return f.outcome(&in.out, c, in, only)
}

// maxHelper bounds the statements of a function that a module's constant is calculated with.
const maxHelper = 3

// matters reports whether a call may carry what a caller supplied.
func (f *frame) matters(t *closure, c *callInfo) bool {
	if t.env != nil || f.a.raw || len(f.under) > 0 || f.constants && len(t.body.Function.Body) <= maxHelper {
		return true
	}
	if c.recv != nil && c.recv.tainted() || f.a.sources[t.body.File.Path].sharesFiles() {
		return true
	}
	return slices.ContainsFunc(c.all(), func(v *value) bool { return v.tainted() || v.call != nil || len(v.via) > 0 })
}

// frameFor binds the parameters of a function to a call's arguments.
func (f *frame) frameFor(t *closure, c *callInfo) *frame {
	src := f.a.sources[t.body.File.Path]
	if src == nil {
		src = f.src
	}
	in := f.a.newFrame(src, t.body, t.env)
	in.under = f.under
	if t.frame != nil {
		in.aliases = t.frame.aliases
	}
	rest := c.positional(in.positions(c))
	for i, p := range t.body.Function.Params {
		if in.isReceiver(i, p) {
			if c.recv != nil && (c.recv.tainted() || c.recv.call == nil) && t.body.Function.Name != "__init__" {
				in.env.put(p.Name, c.recv)
			}
			continue
		}
		v := c.named[p.Name]
		switch {
		case p.Rest && p.Name != "" && v == nil:
			if c.open > 0 && len(rest) == 0 {
				rest = c.args[c.open-1 : c.open]
			}
			v = &value{list: true, items: rest}
			rest = nil
		case v == nil && len(rest) > 0:
			v, rest = rest[0], rest[1:]
		case v == nil:
			v = f.fromSpread(c, p.Name)
			if !v.tainted() && p.Default != nil {
				v = in.eval(p.Default)
			}
		}
		called := in.name
		what := p.Name
		if what == "" {
			what = "arguments"
		}
		in.bindParam(p, in.a.typed(src, p, f.stepped(v, c.call.Span, "passed to "+called+" as "+what)))
	}
	if src.Language == "JavaScript" && c.recv != nil {
		if _, bound := in.env.vars["this"]; !bound && t.env == nil {
			in.env.put("this", c.recv)
		}
	}
	return in
}

// fromSpread is the argument of a name that a **dictionary gives.
func (f *frame) fromSpread(c *callInfo, name string) *value {
	out := nothing
	for _, a := range c.call.Args {
		if s, ok := a.Value.(lang.Spread); ok && f.src.Language == "Python" {
			if v := f.eval(s.X); !v.list && v.tainted() {
				out = merge(out, v.field(name))
			}
		}
	}
	return out
}

// fieldsOf are the properties that a method set of its object.
func (f *frame) fieldsOf(names ...string) map[string]*value {
	var out map[string]*value
	for k, v := range f.env.vars {
		for _, n := range names {
			if rest, ok := strings.CutPrefix(k, n+"."); ok && !strings.Contains(rest, ".") {
				if out == nil {
					out = map[string]*value{}
				}
				out[rest] = v
			}
		}
	}
	return out
}

// outcome applies what a call means to the caller's variables, and returns its result.
func (f *frame) outcome(out *outcome, c *callInfo, in *frame, only bool) *value {
	if key := keyOf(c.receiver); key != "" && c.receiver != nil {
		for name, v := range out.self {
			if v.tainted() {
				f.env.set(key+"."+name, v)
			}
		}
	}
	res := out.result
	if !only || !out.returned {
		return res
	}
	var yes, no []check
	i := 0
	for n, p := range in.fn.Function.Params {
		if in.isReceiver(n, p) {
			continue
		}
		x := argumentFor(c.call, p.Name, i)
		i++
		if x == nil {
			continue
		}
		f.apply(f.checks(x, out.gains[n]&learned))
		yes = append(yes, f.checks(x, out.yes[n]&learned)...)
		no = append(no, f.checks(x, out.no[n]&learned)...)
	}
	if len(yes)+len(no) == 0 {
		return res
	}
	with := *res
	with.yes, with.no = yes, no
	return &with
}

// argumentFor is the expression that a call gives for a parameter.
func argumentFor(c lang.Call, name string, i int) lang.Expr {
	n := 0
	for _, a := range c.Args {
		switch {
		case a.Name != "" && a.Name == name:
			return a.Value
		case a.Name == "":
			if _, ok := a.Value.(lang.Spread); ok {
				return nil
			}
			if n == i {
				return a.Value
			}
			n++
		}
	}
	return nil
}

// maxSignature bounds the bytes of a signature.
const maxSignature = 8 << 10

// signature tells calls of a function apart by what they supply.
func (f *frame) signature() string {
	var b strings.Builder
	for _, k := range sortedKeys(f.env.vars) {
		b.WriteString(k)
		b.WriteByte('=')
		f.env.vars[k].sign(&b, 0)
		b.WriteByte(';')
	}
	return b.String()
}

func (v *value) sign(b *strings.Builder, depth int) {
	if v.known || v.text != "" {
		fmt.Fprintf(b, "%t%q", v.known, v.text[:min(len(v.text), 80)])
	}
	if v.end != "" {
		fmt.Fprintf(b, "..%q", v.end[max(len(v.end)-80, 0):])
	}
	for _, t := range v.taints {
		fmt.Fprintf(b, "<%s %x %t%t%t%t%d>", t.origin, t.safe, t.embedded, t.joined, t.resolved, t.sql, len(t.parts))
	}
	for _, t := range v.via {
		fmt.Fprintf(b, "[%s %x]", t.origin, t.safe)
	}
	b.WriteString(v.made)
	if v.call != nil {
		fmt.Fprintf(b, "%p", v.call.body.Function)
		if v.call.env != nil {
			fmt.Fprintf(b, "/%p", v.call.env)
		}
	}
	if depth > 3 || b.Len() > maxSignature {
		return
	}
	for _, k := range sortedKeys(v.fields) {
		b.WriteString("." + k + ":")
		v.fields[k].sign(b, depth+1)
	}
	for _, i := range v.items {
		b.WriteByte(',')
		i.sign(b, depth+1)
	}
}

// callbacks evaluates the functions among the arguments of an unknown function, since it
// may call them: with nothing, but with all that they see.
func (f *frame) callbacks(c *callInfo) *value {
	out := nothing
	for _, v := range c.all() {
		if v.call != nil && v.call.env != nil {
			out = merge(out, f.invoke(v.call, &callInfo{call: lang.Call{Span: c.call.Span}}, false))
		}
	}
	for _, v := range c.args {
		for _, k := range sortedKeys(v.fields) {
			if inner := v.fields[k].call; inner != nil && inner.env != nil {
				f.invoke(inner, &callInfo{call: lang.Call{Span: c.call.Span}}, false)
			}
		}
	}
	return out
}

// eachElement evaluates a function with the elements of a list.
func (f *frame) eachElement(c *callInfo) *value {
	element := c.recv.element()
	if c.method == "then" || c.method == "catch" || c.method == "finally" {
		element = c.recv
	}
	out := nothing
	for _, v := range c.args {
		if v.call == nil {
			continue
		}
		got := f.invoke(v.call, &callInfo{call: lang.Call{Span: c.call.Span}, args: []*value{element}}, false)
		out = merge(out, got)
	}
	switch c.method {
	case "filter", "sort":
		return c.recv
	case "find":
		return element
	case "map", "flatMap":
		return &value{list: true, items: []*value{out}}
	case "some", "every", "forEach":
		if fn, ok := c.call.Args[0].Value.(*lang.Function); ok && c.method != "forEach" {
			if m, ok := c.call.Func.(lang.Attr); ok {
				return &value{yes: f.impliedByCallback(fn, m, true)}
			}
		}
		return nothing
	}
	return out
}

// reduced evaluates list.reduce(function, first): what the function made of earlier elements comes back to it.
func (f *frame) reduced(c *callInfo) *value {
	element := c.recv.element()
	made := element
	if len(c.args) > 1 {
		made = c.args[1]
	}
	if v := c.arg(0); v.call != nil {
		for range 2 {
			made = merge(made, f.invoke(v.call, &callInfo{call: lang.Call{Span: c.call.Span}, args: []*value{made, element}}, false))
		}
	}
	return made
}

// calledLater evaluates f(function, arguments…).
func (f *frame) calledLater(c *callInfo, at int) *value {
	v := c.args[at]
	for k, n := range c.named {
		if k == "target" {
			v = n
		}
	}
	inner := lang.Call{Span: c.call.Span}
	if v.call != nil {
		return f.invoke(v.call, &callInfo{call: inner, args: c.args[at+1:], named: c.named}, false)
	}
	// asyncio.to_thread(subprocess.run, command, shell=True)
	if at < len(c.call.Args) {
		if r := f.src.facts.ReferenceAt(c.call.Args[at].Value.Place()); r != nil {
			inner.Func = c.call.Args[at].Value
			for i, a := range c.call.Args {
				if i != at {
					inner.Args = append(inner.Args, a)
				}
			}
			info := &callInfo{call: inner, names: r.Names, own: r.Own, args: c.args[at+1:], named: c.named}
			for _, n := range r.Names {
				_, name := sinks.Of(f.src.Language, n, nil)
				info.canonical = append(info.canonical, name)
			}
			f.checkSink(info)
			return f.library(info)
		}
	}
	return union(c.all()).plain()
}
