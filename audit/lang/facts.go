package lang

import (
	"cmp"
	"slices"
	"sort"
)

// Facts is what is calculated of a file once, for all readers of its tree. Each list is
// in the order of the source.
type Facts struct {
	Imports     []Import
	Definitions []Definition
	Calls       []CallSite
	// References are functions and modules that are used as values, not called here.
	References []Reference
	// calls and references are the positions in the lists by place.
	calls, references []int32
}

// DefinitionKind is the type of a definition.
type DefinitionKind string

// The kinds of definitions.
const (
	FunctionKind DefinitionKind = "function"
	MethodKind   DefinitionKind = "method"
	ClassKind    DefinitionKind = "class"
)

// Definition is a function, a method or a class with a name.
type Definition struct {
	Span
	Kind DefinitionKind
	// Name is qualified: "Server.handle".
	Name string
	// Function or Class is set, and the other is nil.
	Function *Function
	Class    *Class
	// In is the scope that it is defined in, nil for the module.
	In *Scope
}

// CallSite is a call and what it may call.
type CallSite struct {
	Call Call
	// In is the innermost function or class around it, nil in the module itself.
	In *Scope
	// Names are what the callee may be outside of the file, through imports and simple
	// assignments: "subprocess.run", "node:fs.readFileSync", "open". What a call returns
	// has the mark "()": "requests.Session().get". Relative imports keep their dots.
	Names []string
	// Own are definitions of the file that it may be, by their qualified names.
	Own []string
}

// Reference is the use of a function, a class or a module as a value.
type Reference struct {
	Span
	In         *Scope
	Names, Own []string
}

// Constant is a literal, or an expression of literals that has one value: "a" + "b",
// "%s" % "a", "".join(["a", "b"]).
type Constant struct {
	Span
	In   *Scope
	Kind ConstKind
	Text string
}

// CalculateFacts lists the facts of a file. It is bounded: in what is built of more than
// a few dozen steps, it finds no names. Who wants to see the nodes too, in their order, is
// shown them on the way.
func CalculateFacts(f *File, also ...func(n Node, in *Scope)) *Facts {
	c := &calculator{facts: &Facts{}, names: bind(f), also: also}
	Walk(f, c.visit)
	c.facts.calls = byPlace(len(c.facts.Calls), func(i int32) Span { return c.facts.Calls[i].Call.Span })
	c.facts.references = byPlace(len(c.facts.References), func(i int32) Span { return c.facts.References[i].Span })
	return c.facts
}

// CallAt is the call at a place, by its offsets, nil for none. Of several it is the last.
func (f *Facts) CallAt(s Span) *CallSite {
	if i, ok := find(f.calls, func(i int32) Span { return f.Calls[i].Call.Span }, s); ok {
		return &f.Calls[i]
	}
	return nil
}

// ReferenceAt is the reference at a place, by its offsets, nil for none.
func (f *Facts) ReferenceAt(s Span) *Reference {
	if i, ok := find(f.references, func(i int32) Span { return f.References[i].Span }, s); ok {
		return &f.References[i]
	}
	return nil
}

// comparePlaces orders places by their start, the longer first.
func comparePlaces(a, b Span) int {
	return cmp.Or(a.Start.Offset()-b.Start.Offset(), b.End.Offset()-a.End.Offset())
}

// byPlace sorts the positions of a list by their places.
func byPlace(n int, at func(int32) Span) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i) //nolint:gosec // a source has fewer bytes than that
	}
	compare := func(x, y int32) int { return comparePlaces(at(x), at(y)) }
	if !slices.IsSortedFunc(out, compare) {
		slices.SortStableFunc(out, compare)
	}
	return out
}

func find(list []int32, at func(int32) Span, s Span) (int32, bool) {
	i := sort.Search(len(list), func(i int) bool { return comparePlaces(at(list[i]), s) > 0 }) - 1
	if i < 0 || comparePlaces(at(list[i]), s) != 0 {
		return 0, false
	}
	return list[i], true
}

type calculator struct {
	facts *Facts
	names *bindings
	// hidden are expressions to come that are no reference of their own, the next one last.
	hidden []Span
	also   []func(n Node, in *Scope)
}

func (c *calculator) visit(n Node, in *Scope) bool {
	for _, show := range c.also {
		show(n, in)
	}
	switch n := n.(type) {
	case Import:
		c.facts.Imports = append(c.facts.Imports, n)
	case *Function:
		c.define(n.Span, n.Name, FunctionKind, in, n, nil)
	case *Class:
		c.define(n.Span, n.Name, ClassKind, in, nil, n)
	case Assign:
		for i := range n.Targets {
			switch t := n.Targets[len(n.Targets)-1-i].(type) {
			case Name, Attr:
				c.hide(t)
			}
		}
		if f, ok := n.Value.(*Function); ok && f.Name == "" && len(n.Targets) > 0 {
			c.define(f.Span, lastName(n.Targets[0]), FunctionKind, in, f, nil)
		}
	case Loop:
		c.hide(n.Target)
	case Call:
		names, own := c.names.resolve(n.Func, in)
		c.facts.Calls = append(c.facts.Calls, CallSite{Call: n, In: in, Names: names, Own: own})
		c.hide(n.Func)
	case Name:
		c.reference(n, in)
	case Attr:
		c.reference(n, in)
	}
	return true
}

func (c *calculator) define(s Span, name string, kind DefinitionKind, in *Scope, f *Function, class *Class) {
	if name == "" {
		return
	}
	if kind == FunctionKind && in != nil && in.Class != nil {
		kind = MethodKind
	}
	c.facts.Definitions = append(c.facts.Definitions, Definition{Span: s, Kind: kind, Name: in.Qualified(name), Function: f, Class: class, In: in})
}

// hide takes an expression and what it is an attribute of out of the references.
func (c *calculator) hide(x Expr) {
	from := len(c.hidden)
chain:
	for {
		switch n := x.(type) {
		case Name:
			c.hidden = append(c.hidden, n.Span)
			break chain
		case Attr:
			c.hidden = append(c.hidden, n.Span)
			x = n.X
		default:
			break chain
		}
	}
	slices.Reverse(c.hidden[from:])
}

// maxHidden bounds how many of the hidden expressions are compared with one. What is
// hidden comes soon: more are targets of one statement.
const maxHidden = 64

// isHidden reports whether an expression is hidden, and forgets it.
func (c *calculator) isHidden(s Span) bool {
	for i := len(c.hidden) - 1; i >= max(len(c.hidden)-maxHidden, 0); i-- {
		if comparePlaces(c.hidden[i], s) == 0 {
			c.hidden = slices.Delete(c.hidden, i, i+1)
			return true
		}
	}
	return false
}

func (c *calculator) reference(x Expr, in *Scope) {
	if c.isHidden(x.Place()) {
		return
	}
	if a, ok := x.(Attr); ok {
		c.hide(a.X)
	}
	if names, own := c.names.resolve(x, in); len(names)+len(own) > 0 {
		c.facts.References = append(c.facts.References, Reference{Span: x.Place(), In: in, Names: names, Own: own})
	}
}

// CalculateConstants lists the constants of a file, in the order of the source.
func CalculateConstants(f *File) []Constant {
	var out []Constant
	names := bind(f)
	var whole Span // of the last constant with parts
	Walk(f, func(n Node, in *Scope) bool {
		x, ok := n.(Expr)
		if !ok {
			return true
		}
		switch x.(type) {
		case Const, Operation, Template, Index, Call:
		default:
			return true
		}
		at := x.Place()
		if at.Start.Offset() >= whole.Start.Offset() && at.End.Offset() <= whole.End.Offset() && at.End.Offset() > 0 {
			return true
		}
		v, ok := names.fold(x, in)
		if !ok {
			return true
		}
		out = append(out, Constant{Span: at, In: in, Kind: v.Kind, Text: v.Text})
		if _, plain := x.(Const); !plain {
			whole = at
		}
		return true
	})
	return out
}
