package lang

// Facts is what is calculated of a file once, for all readers of its tree. Each list is
// in the order of the source.
type Facts struct {
	Imports     []Import
	Definitions []Definition
	Calls       []CallSite
	// References are functions and modules that are used as values, not called here.
	References []Reference
	Constants  []Constant
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
// a few dozen steps, it finds no names and no constants.
func CalculateFacts(f *File) *Facts {
	c := &calculator{facts: &Facts{}, seen: map[[2]int]bool{}, folded: map[[2]int]bool{}}
	c.names = bind(f)
	Walk(f, c.visit)
	return c.facts
}

type calculator struct {
	facts *Facts
	names *bindings
	// seen are expressions that are no reference of their own, and folded literals that
	// are part of a constant.
	seen, folded map[[2]int]bool
}

func key(x Node) [2]int {
	s := x.Place()
	return [2]int{s.Start.Offset, s.End.Offset}
}

func (c *calculator) visit(n Node, in *Scope) bool {
	switch n := n.(type) {
	case Import:
		c.facts.Imports = append(c.facts.Imports, n)
	case *Function:
		c.define(n.Span, n.Name, FunctionKind, in, n, nil)
	case *Class:
		c.define(n.Span, n.Name, ClassKind, in, nil, n)
	case Assign:
		for _, t := range n.Targets {
			switch t.(type) {
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
		c.constant(n, in)
	case Name, Attr:
		c.reference(n.(Expr), in)
	case Const, Operation, Template, Index:
		c.constant(n.(Expr), in)
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
	c.facts.Definitions = append(c.facts.Definitions, Definition{Span: s, Kind: kind, Name: in.Qualified(name), Function: f, Class: class})
}

// hide takes an expression and what it is an attribute of out of the references.
func (c *calculator) hide(x Expr) {
	for x != nil && !c.seen[key(x)] {
		c.seen[key(x)] = true
		a, ok := x.(Attr)
		if !ok {
			return
		}
		x = a.X
	}
}

func (c *calculator) reference(x Expr, in *Scope) {
	if c.seen[key(x)] {
		return
	}
	c.hide(x)
	if names, own := c.names.resolve(x, in); len(names)+len(own) > 0 {
		c.facts.References = append(c.facts.References, Reference{Span: x.Place(), In: in, Names: names, Own: own})
	}
}

// constant adds an expression that has a value, unless it is part of one that has.
func (c *calculator) constant(x Expr, in *Scope) {
	if c.folded[key(x)] {
		return
	}
	v, ok := c.names.fold(x, in)
	if !ok {
		return
	}
	c.facts.Constants = append(c.facts.Constants, Constant{Span: x.Place(), In: in, Kind: v.Kind, Text: v.Text})
	if _, plain := x.(Const); plain {
		return
	}
	WalkExpr(x, in, func(n Node, _ *Scope) bool {
		c.folded[key(n)] = true
		return true
	})
}
