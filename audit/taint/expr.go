package taint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// keyOf is the path of a variable or of a property of one: "args.path", "" for none.
func keyOf(x lang.Expr) string {
	switch x := x.(type) {
	case lang.Name:
		return x.ID
	case lang.Attr:
		if base := keyOf(x.X); base != "" {
			return base + "." + x.Name
		}
	case lang.Index:
		if len(x.Keys) == 1 {
			if c, ok := x.Keys[0].(lang.Const); ok && c.Kind == lang.String {
				if base := keyOf(x.X); base != "" {
					return base + "." + c.Text
				}
			}
		}
	case lang.Const:
		return x.Text
	case lang.Operation:
		if len(x.Operands) == 1 && (x.Op == "await" || x.Op == "&" || x.Op == "*") {
			return keyOf(x.Operands[0])
		}
	case lang.Call:
		if a, ok := x.Func.(lang.Attr); ok && a.Name == "get" && len(x.Args) > 0 {
			return keyOf(lang.Index{X: a.X, Keys: []lang.Expr{x.Args[0].Value}})
		}
	}
	return ""
}

// eval returns what is known of an expression, and notes the sinks within it.
func (f *frame) eval(x lang.Expr) *value {
	if f.a.work--; f.a.work <= 0 {
		return nothing
	}
	switch x := x.(type) {
	case nil:
		return nothing
	case lang.Name:
		return f.variable(x)
	case lang.Const:
		if x.Kind == lang.Null {
			return nothing
		}
		if x.Kind == lang.Bool {
			return f.flag(x.Text)
		}
		return constant(x.Text)
	case lang.Attr:
		return f.attribute(x)
	case lang.Index:
		return f.index(x)
	case lang.Call:
		return f.call(x)
	case lang.Operation:
		return f.operation(x)
	case lang.Template:
		parts := make([]*value, len(x.Parts))
		for i, p := range x.Parts {
			parts[i] = f.eval(p)
		}
		return f.concat(parts)
	case lang.Collection:
		return f.collection(x)
	case lang.Spread:
		return f.eval(x.X)
	case lang.Assign:
		return f.assign(x)
	case *lang.Function:
		return f.function(x)
	}
	return nothing
}

// function is one that is not called yet.
func (f *frame) function(fn *lang.Function) *value {
	name := fn.Name
	if name == "" {
		name = "a function"
	}
	return &value{call: &closure{body: sinks.Body{File: f.src.File, Function: fn, In: f.fn.In, Name: name}, env: f.env, frame: f}}
}

func (f *frame) variable(n lang.Name) *value {
	v, ok := f.env.get(n.ID)
	if !ok {
		if v = f.a.constant(f.src, n.ID, 0); v != nothing {
			return v
		}
		if n.ID == "__dirname" || n.ID == "__filename" || n.ID == "__file__" {
			return &value{made: own}
		}
		if r := f.src.facts.ReferenceAt(n.Place()); r != nil {
			return f.reference(r.Names, r.Own)
		}
		return nothing
	}
	return f.withFields(n.ID, v)
}

// withFields adds the properties that were set one by one.
func (f *frame) withFields(key string, v *value) *value {
	var out *value
	for e := f.env; e != nil; e = e.outer {
		if !e.dotted {
			continue
		}
		f.a.work -= len(e.vars) / 8
		for k, field := range e.vars {
			rest, ok := strings.CutPrefix(k, key+".")
			if !ok || strings.Contains(rest, ".") {
				continue
			}
			if out == nil {
				c := *v
				out = &c
				out.fields = map[string]*value{}
				for k, old := range v.fields {
					out.fields[k] = old
				}
			}
			out.set(rest, field)
		}
	}
	if out == nil {
		return v
	}
	return out
}

// reference is a function of the package that is used as a value.
func (f *frame) reference(names, own []string) *value {
	for _, id := range f.a.pkg.Targets(f.src.Path, names, own) {
		if b, ok := f.a.pkg.Body(id); ok {
			return &value{call: &closure{body: b}}
		}
	}
	return nothing
}

// constant is the value of a module's name, also of one that is imported.
func (a *analysis) constant(s *source, name string, depth int) *value {
	if v, ok := s.constants[name]; ok {
		if v == nil {
			return nothing
		}
		return v
	}
	if len(s.constants) > 4_000 || depth > 8 {
		return nothing
	}
	v := nothing
	s.constants[name] = nil
	if x := s.assigned[name]; x != nil {
		f := a.newFrame(s, sinks.Body{File: s.File, Function: &lang.Function{}}, nil)
		f.constants = true
		v = f.eval(x)
	} else if i, ok := s.imports[name]; ok && i.name != "*" {
		if other := a.pkg.Imported(s.Path, i.module); other != nil && i.name != "default" {
			v = a.constant(a.sources[other.Path], i.name, depth+1)
		}
	}
	s.constants[name] = v
	return v
}

func (f *frame) attribute(x lang.Attr) *value {
	if key := keyOf(x); key != "" {
		if v, ok := f.env.get(key); ok {
			return f.withFields(key, v)
		}
	}
	if key := keyOf(x); key == "import.meta.url" || key == "import.meta.dirname" || key == "import.meta.filename" {
		return &value{made: own}
	}
	base := f.eval(x.X)
	if v := f.source(x.Name, x.Span, base); v != nil {
		return v
	}
	if base.made == own && (x.Name == "parent" || x.Name == "parents") {
		return base
	}
	if base.made == clock && ofClock[x.Name] {
		return base
	}
	if !base.tainted() && base.fields[x.Name] == nil {
		if r := f.src.facts.ReferenceAt(x.Place()); r != nil {
			return f.reference(r.Names, r.Own)
		}
		return nothing
	}
	if x.Name == "length" {
		return nothing
	}
	return base.field(x.Name)
}

// source is what a caller supplies, in a handler that reads messages itself.
func (f *frame) source(name string, at lang.Span, base *value) *value {
	if !f.a.raw || name != "arguments" || base.tainted() {
		return nil
	}
	w := &way{Step: Step{File: f.src.Path, Span: at, Text: "a caller of " + describe(f.a.tool) + " supplies its arguments"}, length: 1}
	return &value{taints: []taint{{origin: "arguments", way: w}}}
}

func (f *frame) index(x lang.Index) *value {
	if key := keyOf(x); key != "" {
		if v, ok := f.env.get(key); ok {
			return f.withFields(key, v)
		}
	}
	base := f.eval(x.X)
	if out := f.chosen(x, base); out != nil {
		return out
	}
	var keys []*value
	for _, k := range x.Keys {
		if k != nil {
			keys = append(keys, f.eval(k))
		}
	}
	if len(x.Keys) != 1 { // a slice
		return base.plain()
	}
	k := keys[0]
	if k.known {
		if v := f.source(k.text, x.Span, base); v != nil {
			return v
		}
		if n, err := strconv.Atoi(k.text); err == nil {
			if base.list && n >= 0 && n < len(base.items) {
				return base.items[n]
			}
			return base.element()
		}
		return base.field(k.text)
	}
	out := base.element()
	if len(base.fields) > 0 {
		// One of a table, by a key: a call of it is a call of any.
		c := *out
		c.fields = map[string]*value{}
		for name, field := range base.fields {
			c.fields[name] = field
		}
		c.made = "table"
		c.call = nil
		return &c
	}
	return out
}

func (f *frame) operation(x lang.Operation) *value {
	switch x.Op {
	case "await", "yield", "yield from", "from", "&", "*", "as":
		if len(x.Operands) >= 1 && (len(x.Operands) == 1 || x.Op == "from" || x.Op == "as") {
			return f.eval(x.Operands[0])
		}
	case "?:", "if else":
		return f.conditional(x)
	case "comprehension":
		v, checked := f.comprehension(x)
		f.apply(checked)
		return v
	case "generator":
		v, _ := f.comprehension(x) // whoever takes its elements may stop before the last
		return v
	case "and", "&&", "or", "||", "??":
		return f.logical(x)
	}
	values := make([]*value, len(x.Operands))
	for i, o := range x.Operands {
		values[i] = f.eval(o)
	}
	switch {
	case x.Op == "+":
		if len(values) > 1 {
			return f.sum(values)
		}
	case x.Op == "%" && len(values) == 2:
		return f.formatted(values[0], []*value{values[1]})
	case x.Op == "/" && len(values) > 1:
		out := f.joinPath(values, joinPlain)
		if out.tainted() {
			out.made = "path"
		}
		if out.made != "" {
			return out
		}
	case x.Op == "format" && len(values) > 0:
		return values[0].plain()
	case x.Op == "," && len(values) > 0:
		return values[len(values)-1]
	case x.Op == "|" && len(values) == 2: // of dictionaries
		return merge(values[0], values[1])
	}
	return nothing
}

func (f *frame) logical(x lang.Operation) *value {
	saved := f.env
	f.env = f.copied(saved)
	isAnd := x.Op == "and" || x.Op == "&&"
	out := nothing
	under := f.under
	for i, o := range x.Operands {
		v := f.eval(o)
		if x.Op != "??" {
			f.under = slices.Concat(f.under, f.conditions(o, isAnd))
		}
		if !isAnd || i == len(x.Operands)-1 {
			out = merge(out, v)
		}
		if x.Op != "??" {
			f.apply(f.implied(o, isAnd))
		}
	}
	f.env, f.under = saved, under
	return out
}

func (f *frame) conditional(x lang.Operation) *value {
	if len(x.Operands) != 3 {
		return nothing
	}
	test, then, other := x.Operands[0], x.Operands[1], x.Operands[2]
	if x.Op == "if else" {
		test, then = x.Operands[1], x.Operands[0]
	}
	f.eval(test)
	saved := f.env
	where, elsewhere := f.conditions(test, true), f.conditions(test, false)
	var a, b *value
	f.env = f.copied(saved)
	f.apply(f.implied(test, true))
	f.assuming(where, func() { a = f.eval(then) })
	f.env = f.copied(saved)
	f.apply(f.implied(test, false))
	f.assuming(elsewhere, func() { b = f.eval(other) })
	f.env = saved
	return merge(a, b)
}

// comprehension evaluates a comprehension or a generator, and says what its end shows of what it goes through: an
// element that raises an error ends it.
func (f *frame) comprehension(x lang.Operation) (*value, []check) {
	saved := f.env
	f.env = &env{vars: map[string]*value{}, outer: saved}
	defer func() { f.env = saved }()
	for _, o := range x.Operands[min(1, len(x.Operands)):] {
		clause, ok := o.(lang.Operation)
		if !ok || len(clause.Operands) < 2 {
			continue
		}
		f.bindElement(clause.Operands[0], clause.Operands[1], f.eval(clause.Operands[1]), true)
		for _, test := range clause.Operands[2:] {
			f.eval(test)
			f.apply(f.implied(test, true))
		}
	}
	if len(x.Operands) == 0 {
		return nothing, nil
	}
	var out *value
	if c, ok := x.Operands[0].(lang.Collection); ok && c.Kind == lang.Dict {
		out = f.collection(c)
	} else {
		out = &value{list: true, items: []*value{f.eval(x.Operands[0])}}
	}
	clause, ok := x.Operands[len(x.Operands)-1].(lang.Operation)
	if len(x.Operands) != 2 || !ok || len(clause.Operands) != 2 {
		return out, nil // a condition leaves elements out
	}
	ofAll := f.ofElement(clause.Operands[0])
	f.env = saved
	return out, f.checks(clause.Operands[1], ofAll)
}

// exhausting are the functions of Python that take all elements of what they are given.
var exhausting = map[string]bool{
	"list": true, "tuple": true, "set": true, "frozenset": true, "dict": true, "sorted": true, "sum": true, "max": true, "min": true,
	"join": true, "fromkeys": true, "extend": true, "update": true, "writelines": true,
}

// exhausted evaluates an argument of a call. What a generator checks holds for all elements where the callee takes all.
func (f *frame) exhausted(callee, x lang.Expr) *value {
	g, ok := x.(lang.Operation)
	if !ok || g.Op != "generator" {
		return f.eval(x)
	}
	v, checked := f.comprehension(g)
	name := ""
	switch callee := callee.(type) {
	case lang.Name:
		name = callee.ID
	case lang.Attr:
		name = callee.Name
	}
	if exhausting[name] {
		f.apply(checked)
	}
	return v
}

func (f *frame) collection(c lang.Collection) *value {
	out := &value{list: c.Kind != lang.Dict}
	for _, it := range c.Items {
		spread, isSpread := it.Value.(lang.Spread)
		switch {
		case isSpread:
			out.spread(f.eval(spread.X))
		case c.Kind == lang.Dict:
			f.item(out, it)
		case len(out.items) < maxFields:
			out.items = append(out.items, f.eval(it.Value))
		default:
			out.taints = addTaints(out.taints, f.eval(it.Value).flat())
		}
	}
	return out
}

// item sets a property of an object that is being made.
func (f *frame) item(out *value, it lang.Item) {
	v := f.eval(it.Value)
	if k, ok := it.Key.(lang.Const); ok {
		out.set(k.Text, v)
		return
	}
	if it.Key != nil {
		if k := f.eval(it.Key); k.known {
			out.set(k.text, v)
			return
		}
	} else if n, ok := it.Value.(lang.Name); ok {
		out.set(n.ID, v)
		return
	}
	out.taints = addTaints(out.taints, v.flat())
}

// spread adds the items or properties of another value.
func (v *value) spread(of *value) {
	if v.list {
		if of.list {
			v.items = append(slices.Clone(v.items), of.items...)
			v.taints = addTaints(v.taints, of.taints)
			return
		}
		if of.tainted() {
			v.items = append(v.items, of.element())
		}
		return
	}
	for _, k := range sortedKeys(of.fields) {
		v.set(k, of.fields[k])
	}
	v.taints = addTaints(v.taints, of.taints)
}
