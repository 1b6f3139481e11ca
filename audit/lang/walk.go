package lang

// Scope is a function or a class that encloses a node. The module itself is nil.
type Scope struct {
	// Outer is the scope around this one, nil for one in the module itself.
	Outer *Scope
	// Function or Class is set, and the other is nil.
	Function *Function
	Class    *Class
	// Name is qualified: "Server.handle.inner". A function without a name has that of
	// what it is assigned to, or adds nothing.
	Name string
}

// InFunction returns the innermost function around a node with its scope, nil for none.
func (s *Scope) InFunction() *Scope {
	for s != nil && s.Function == nil {
		s = s.Outer
	}
	return s
}

// InClass returns the class whose methods a node belongs to, nil for none.
func (s *Scope) InClass() *Scope {
	for s != nil && s.Class == nil {
		s = s.Outer
	}
	return s
}

// Qualified returns the name of a definition in a scope.
func (s *Scope) Qualified(name string) string {
	switch {
	case s == nil || s.Name == "":
		return name
	case name == "":
		return s.Name
	}
	return s.Name + "." + name
}

// Walk visits the statements and expressions of a file, each before those within it.
// Where visit returns false, what is within is left out. What a function evaluates when
// it is defined (decorators, defaults, annotations) lies in the scope around it.
func Walk(f *File, visit func(n Node, in *Scope) bool) {
	w := walker{visit: visit}
	w.stmts(f.Body)
}

// WalkExpr visits an expression of a scope, and the expressions within it.
func WalkExpr(x Expr, in *Scope, visit func(n Node, in *Scope) bool) {
	w := walker{visit: visit, in: in}
	w.expr(x)
}

type walker struct {
	visit func(Node, *Scope) bool
	in    *Scope
	// name is what the next function without a name is assigned to.
	name string
}

func (w *walker) stmts(body []Stmt) {
	for _, s := range body {
		w.stmt(s)
	}
}

func (w *walker) exprs(list []Expr) {
	for _, x := range list {
		w.expr(x)
	}
}

func (w *walker) args(list []Arg) {
	for _, a := range list {
		w.expr(a.Value)
	}
}

func (w *walker) stmt(n Stmt) {
	switch s := n.(type) {
	case nil:
		return
	case Assign:
		w.assign(n, s)
		return
	case *Function:
		w.function(s)
		return
	case *Class:
		w.class(s)
		return
	}
	if !w.visit(n, w.in) {
		return
	}
	switch s := n.(type) {
	case ExprStmt:
		w.expr(s.X)
	case Return:
		w.expr(s.X)
	case If:
		w.expr(s.Test)
		w.stmts(s.Then)
		w.stmts(s.Else)
	case Loop:
		w.stmts(s.Init)
		w.expr(s.Target)
		w.expr(s.Iter)
		w.expr(s.Test)
		w.stmts(s.Step)
		w.stmts(s.Body)
		w.stmts(s.Else)
	case Switch:
		w.expr(s.Subject)
		for _, c := range s.Cases {
			w.exprs(c.Patterns)
			w.expr(c.Guard)
			w.stmts(c.Body)
		}
	case Try:
		w.stmts(s.Body)
		for _, h := range s.Handlers {
			w.expr(h.Type)
			w.expr(h.Name)
			w.stmts(h.Body)
		}
		w.stmts(s.Else)
		w.stmts(s.Finally)
	case With:
		w.exprs(s.Items)
		w.stmts(s.Body)
	case Block:
		w.stmts(s.Body)
	case Jump:
		w.exprs(s.Operands)
	case Export:
		w.expr(s.Value)
	}
}

func (w *walker) expr(n Expr) {
	switch x := n.(type) {
	case nil:
		return
	case Assign:
		w.assign(n, x)
		return
	case *Function:
		w.function(x)
		return
	case *Class:
		w.class(x)
		return
	}
	w.name = ""
	if !w.visit(n, w.in) {
		return
	}
	switch x := n.(type) {
	case Attr:
		w.expr(x.X)
	case Index:
		w.expr(x.X)
		w.exprs(x.Keys)
	case Call:
		w.expr(x.Func)
		w.args(x.Args)
	case Operation:
		w.exprs(x.Operands)
	case Template:
		w.exprs(x.Parts)
	case Collection:
		w.items(x.Items)
	case Spread:
		w.expr(x.X)
	}
}

func (w *walker) items(items []Item) {
	for _, it := range items {
		w.expr(it.Key)
		if c, ok := it.Key.(Const); ok && c.Kind == String {
			w.name = c.Text
		}
		w.expr(it.Value)
		w.name = ""
	}
}

// assign walks an assignment, which n is as a node.
func (w *walker) assign(n Node, a Assign) {
	if !w.visit(n, w.in) {
		return
	}
	w.exprs(a.Targets)
	w.expr(a.Annotation)
	w.name = ""
	if len(a.Targets) > 0 {
		w.name = lastName(a.Targets[0])
	}
	w.expr(a.Value)
	w.name = ""
}

// lastName is the name that a function gets from the target that it is assigned to.
func lastName(target Expr) string {
	switch t := target.(type) {
	case Name:
		return t.ID
	case Attr:
		return t.Name
	}
	return ""
}

func (w *walker) params(list []Param) {
	for _, p := range list {
		w.exprs(p.Decorators)
		w.expr(p.Pattern)
		w.expr(p.Annotation)
		w.expr(p.Default)
	}
}

// within walks a body in a scope of its own.
func (w *walker) within(s *Scope, body []Stmt) {
	s.Outer = w.in
	w.in = s
	w.stmts(body)
	w.in = s.Outer
}

func (w *walker) function(f *Function) {
	name := f.Name
	if name == "" {
		name = w.name
	}
	w.name = ""
	if !w.visit(f, w.in) {
		return
	}
	w.exprs(f.Decorators)
	w.params(f.TypeParams)
	w.params(f.Params)
	w.expr(f.Returns)
	w.within(&Scope{Function: f, Name: w.in.Qualified(name)}, f.Body)
}

func (w *walker) class(c *Class) {
	name := c.Name
	if name == "" {
		name = w.name
	}
	w.name = ""
	if !w.visit(c, w.in) {
		return
	}
	w.exprs(c.Decorators)
	w.params(c.TypeParams)
	w.args(c.Bases)
	w.within(&Scope{Class: c, Name: w.in.Qualified(name)}, c.Body)
}
