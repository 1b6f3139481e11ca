package lang

import (
	"slices"
	"strings"
)

// binding is one value of a name: an expression of a scope, or a name that is known.
type binding struct {
	name string
	x    Expr
	in   *Scope
	// instance is set where the name is that of a class, and its instance is bound.
	instance bool
	// key is the property that a pattern takes out of the value.
	key string
}

// table holds the names of a module, a function or a class.
type table struct {
	names map[string][]binding
	// globals are names that belong to the module.
	globals map[string]bool
}

// bindings holds the tables of a file, without regard to the order of its statements.
type bindings struct {
	module *table
	// of is by *Function and *Class.
	of map[Node]*table
	// fields are the attributes that methods assign, by "Class.attribute".
	fields map[string][]binding
	// classes are those of the file, by their qualified names.
	classes map[string]bool
	// forwards are the functions of the file that hand a parameter to another one, by their qualified names.
	forwards map[string][]forward
	// budget is what is left of the present question's steps, and room what is left of
	// the bytes that the file's constants may have when they are calculated.
	budget, room int
}

const (
	// ownMark begins the name of a definition of the file.
	ownMark = ":"
	// maxNames bounds the candidates of one expression, maxSteps the work for them, and
	// maxLinks the attributes and calls in a row.
	maxNames, maxSteps, maxLinks = 4, 200, 32
)

// bind collects the bindings of a file.
func bind(f *File) *bindings {
	b := &bindings{module: newTable(), of: map[Node]*table{}, fields: map[string][]binding{}, classes: map[string]bool{}, forwards: map[string][]forward{}, room: maxRoom}
	Walk(f, b.visit)
	return b
}

func newTable() *table { return &table{names: map[string][]binding{}} }

// table returns that of a scope.
func (b *bindings) table(in *Scope) *table {
	if in == nil {
		return b.module
	}
	var n Node = in.Function
	if in.Class != nil {
		n = in.Class
	}
	t := b.of[n]
	if t == nil {
		t = newTable()
		b.of[n] = t
	}
	return t
}

// set adds a binding, of which a name keeps a few.
func (b *bindings) set(in *Scope, name string, v binding) {
	t := b.table(in)
	if t.globals[name] {
		t = b.module
	}
	if len(t.names[name]) < maxNames {
		t.names[name] = append(t.names[name], v)
	}
}

func (b *bindings) visit(n Node, in *Scope) bool {
	switch n := n.(type) {
	case Import:
		b.imports(n, in)
	case *Function:
		b.function(n, in)
	case *Class:
		if n.Name != "" {
			b.set(in, n.Name, binding{name: ownMark + in.Qualified(n.Name)})
			b.classes[in.Qualified(n.Name)] = true
		}
	case Assign:
		b.assign(n, in)
	case Loop:
		b.pattern(n.Target, binding{}, in)
	case Try:
		for _, h := range n.Handlers {
			b.pattern(h.Name, binding{}, in)
		}
	case Jump:
		if n.Op == "global" {
			t := b.table(in)
			for _, x := range n.Operands {
				if t.globals == nil {
					t.globals = map[string]bool{}
				}
				if g, ok := x.(Name); ok {
					t.globals[g.ID] = true
				}
			}
		}
	case Operation:
		if n.Op == "for" && len(n.Operands) > 0 {
			b.pattern(n.Operands[0], binding{}, in)
		}
	}
	return true
}

func (b *bindings) imports(n Import, in *Scope) {
	if n.Exports {
		return
	}
	if n.Names == nil {
		first, _, _ := strings.Cut(n.Module, ".")
		if strings.HasPrefix(n.Module, ".") || strings.ContainsAny(n.Module, ":/@") {
			return
		}
		b.set(in, first, binding{name: first})
	}
	for _, name := range n.Names {
		switch {
		case name.As == "*":
		case name.Name == "*" || name.Name == "default":
			b.set(in, name.As, binding{name: n.Module})
		case strings.HasSuffix(n.Module, "."):
			b.set(in, name.As, binding{name: n.Module + name.Name})
		default:
			b.set(in, name.As, binding{name: n.Module + "." + name.Name})
		}
	}
}

// function binds a function's name, and its parameters within it. The first one of a
// method is the instance.
func (b *bindings) function(f *Function, in *Scope) {
	if f.Name != "" {
		b.set(in, f.Name, binding{name: ownMark + in.Qualified(f.Name)})
		b.forward(in.Qualified(f.Name), f, in)
	}
	within := &Scope{Outer: in, Function: f}
	for i, p := range f.Params {
		v := binding{}
		switch {
		case i == 0 && in != nil && in.Class != nil && (p.Name == "self" || p.Name == "cls"):
			v.name = ownMark + in.Name
		case p.Annotation != nil:
			v = binding{x: p.Annotation, in: in, instance: true}
		}
		if p.Name != "" {
			b.set(within, p.Name, v)
		} else {
			b.pattern(p.Pattern, v, within)
		}
	}
}

func (b *bindings) assign(a Assign, in *Scope) {
	v := binding{x: a.Value, in: in}
	switch f, named := a.Value.(*Function); {
	case a.Op != "=" && a.Op != ":=" || a.Value == nil:
		v.x = nil
	case named && f.Name == "" && len(a.Targets) > 0:
		name := in.Qualified(lastName(a.Targets[0]))
		v = binding{name: ownMark + name}
		b.forward(name, f, in)
	}
	if a.Op != "=" && a.Op != ":=" && a.Op != "type" {
		return // x += y keeps what x is
	}
	for _, t := range a.Targets {
		b.pattern(t, v, in)
	}
}

// pattern binds the names of a target. Of a value that is taken apart, those that have a
// key are known.
func (b *bindings) pattern(target Expr, v binding, in *Scope) {
	switch t := target.(type) {
	case Name:
		b.set(in, t.ID, v)
	case Assign: // a default in a pattern
		for _, x := range t.Targets {
			b.pattern(x, v, in)
		}
	case Attr:
		if n, ok := t.X.(Name); ok && (n.ID == "self" || n.ID == "cls" || n.ID == "this") {
			if c := in.InClass(); c != nil {
				field := c.Name + "." + t.Name
				if len(b.fields[field]) < maxNames {
					b.fields[field] = append(b.fields[field], v)
				}
			}
		}
	case Spread:
		b.pattern(t.X, binding{}, in)
	case Collection:
		for _, it := range t.Items {
			part := binding{}
			if k := keyOf(it); k != "" && v.x != nil && v.key == "" && t.Kind == Dict {
				part = v
				part.key = k
			}
			b.pattern(it.Value, part, in)
		}
	}
}

// keyOf is the property that an item of an object pattern names.
func keyOf(it Item) string {
	switch k := it.Key.(type) {
	case Const:
		return k.Text
	case Name:
		return k.ID
	case nil:
		if n, ok := it.Value.(Name); ok {
			return n.ID
		}
	}
	return ""
}

// resolve returns what an expression of a scope may name: outside of the file, and of it.
func (b *bindings) resolve(x Expr, in *Scope) (names, own []string) {
	b.budget = maxSteps
	for _, n := range b.values(x, in, 0) {
		if d, ok := strings.CutPrefix(n, ownMark); ok {
			own = append(own, d)
		} else {
			names = append(names, n)
		}
	}
	return names, own
}

// lookup returns the bindings of a name. Functions do not see the names of the class
// around them.
func (b *bindings) lookup(id string, in *Scope) ([]binding, bool) {
	for s, first := in, true; s != nil; s, first = s.Outer, false {
		if s.Class != nil && !first {
			continue
		}
		t := b.table(s)
		if t.globals[id] {
			break
		}
		if v, ok := t.names[id]; ok {
			return v, true
		}
	}
	v, ok := b.module.names[id]
	return v, ok
}

// union adds what is not there yet, up to maxNames.
func union(list []string, more ...string) []string {
	for _, s := range more {
		if len(list) < maxNames && len(s) < 512 && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// values returns what an expression may be, with the mark of the file's own.
func (b *bindings) values(x Expr, in *Scope, links int) []string {
	if b.budget--; b.budget < 0 || links > maxLinks {
		return nil
	}
	switch x := x.(type) {
	case Name:
		return b.name(x.ID, in, links)
	case Attr:
		return b.member(b.values(x.X, in, links+1), x.Name, links)
	case Index:
		if len(x.Keys) != 1 {
			return nil
		}
		if k, ok := b.text(x.Keys[0], in, links+1); ok {
			return b.member(b.values(x.X, in, links+1), k, links)
		}
	case Call:
		return b.called(x, in, links)
	case Assign:
		return b.values(x.Value, in, links+1)
	case Operation:
		return b.operation(x, in, links)
	}
	return nil
}

func (b *bindings) operation(x Operation, in *Scope, links int) []string {
	var out []string
	switch operands := x.Operands; {
	case x.Op == "await" && len(operands) == 1:
		return b.values(operands[0], in, links+1)
	case x.Op == "/" && len(operands) > 1: // a path
		return b.values(operands[0], in, links+1)
	case slices.Contains([]string{"or", "||", "??", "and", "&&"}, x.Op):
		for _, o := range operands {
			out = union(out, b.values(o, in, links+1)...)
		}
	case x.Op == "if else" && len(operands) == 3:
		out = union(b.values(operands[0], in, links+1), b.values(operands[2], in, links+1)...)
	case x.Op == "?:" && len(operands) == 3:
		out = union(b.values(operands[1], in, links+1), b.values(operands[2], in, links+1)...)
	}
	return out
}

func (b *bindings) name(id string, in *Scope, links int) []string {
	if id == "this" {
		if c := in.InClass(); c != nil {
			return []string{ownMark + c.Name}
		}
		return nil
	}
	list, ok := b.lookup(id, in)
	if !ok {
		return []string{id}
	}
	return b.bound(list, links)
}

// bound returns what bindings may be.
func (b *bindings) bound(list []binding, links int) []string {
	var out []string
	for _, v := range list {
		found := []string{v.name}
		if v.name == "" {
			found = b.values(v.x, v.in, links+1)
		}
		if v.key != "" {
			found = b.member(found, v.key, links)
		}
		for _, n := range found {
			if n != "" && v.instance && !strings.HasPrefix(n, ownMark) {
				n += "()"
			}
			if n != "" {
				out = union(out, n)
			}
		}
	}
	return out
}

// member returns what an attribute of values may be.
func (b *bindings) member(of []string, name string, links int) []string {
	var out []string
	for _, base := range of {
		switch base {
		case "builtins", "__builtins__", "globalThis", "global", "window", "globals()", "locals()":
			out = union(out, b.name(name, nil, links+1)...)
			continue
		case "sys.modules":
			out = union(out, name)
			continue
		}
		if name == "__dict__" {
			out = union(out, base)
			continue
		}
		if class, ok := strings.CutPrefix(base, ownMark); ok {
			if list, ok := b.fields[class+"."+name]; ok {
				out = union(out, b.bound(list, links+1)...)
				continue
			}
		}
		out = union(out, base+"."+name)
	}
	return out
}

// wrappers return a function that calls their first argument.
var wrappers = map[string]bool{
	"functools.partial": true, "functools.wraps": true, "util.promisify": true, "node:util.promisify": true, "staticmethod": true,
}

// interop are the helpers of compilers to CommonJS that return the module they are given, as
// its default export or as it is.
var interop = map[string]bool{
	"__importDefault": true, "__importStar": true, "__toESM": true, "_interopRequireDefault": true, "_interopRequireWildcard": true,
	"_interop_require_default": true, "_interop_require_wildcard": true,
}

// isInterop reports whether a call is of such a helper, which a file defines itself or takes from tslib.
func isInterop(c Call) bool {
	if len(c.Args) == 0 {
		return false
	}
	switch f := c.Func.(type) {
	case Name:
		return interop[f.ID]
	case Attr:
		return interop[f.Name]
	}
	return false
}

// called returns what the result of a call may be.
func (b *bindings) called(c Call, in *Scope, links int) []string {
	if a, ok := c.Func.(Attr); ok && a.Name == "bind" {
		return b.values(a.X, in, links+1)
	}
	if isInterop(c) {
		return b.values(c.Args[0].Value, in, links+1)
	}
	if f, ok := c.Func.(*Function); ok { // called where it stands
		return b.values(result(f), &Scope{Outer: in, Function: f}, links+1)
	}
	var out []string
	for _, f := range b.values(c.Func, in, links+1) {
		module, isLoad := loaded(f, c)
		switch {
		case isLoad:
			if name, ok := b.text(module, in, links+1); ok && name != "" {
				out = union(out, name)
			}
		case f == "getattr" && len(c.Args) > 1:
			if k, ok := b.text(c.Args[1].Value, in, links+1); ok {
				out = union(out, b.member(b.values(c.Args[0].Value, in, links+1), k, links)...)
			}
		case (f == "vars" || f == "Reflect.get") && len(c.Args) == 1:
			out = union(out, b.values(c.Args[0].Value, in, links+1)...)
		case wrappers[f] && len(c.Args) > 0:
			out = union(out, b.values(c.Args[0].Value, in, links+1)...)
		case strings.HasPrefix(f, ownMark):
			if b.classes[f[1:]] {
				out = union(out, f)
			}
			out = union(out, b.forwarded(f[1:], c, in, links)...)
		default:
			out = union(out, f+"()")
		}
	}
	return out
}

// text is the value of an expression that is a string.
func (b *bindings) text(x Expr, in *Scope, links int) (string, bool) {
	c, ok := b.value(x, in, links)
	return c.Text, ok && c.Kind == String
}
