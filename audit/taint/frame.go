package taint

import (
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// env holds the variables of a function, by name or by path: "self.root".
type env struct {
	vars  map[string]*value
	outer *env
	// dotted is set where one of the keys is a path.
	dotted bool
}

// put binds a name or a path here.
func (e *env) put(key string, v *value) {
	e.dotted = e.dotted || strings.Contains(key, ".")
	e.vars[key] = v
}

// copied is the variables for one of several ways. It costs what it copies.
func (f *frame) copied(e *env) *env {
	f.a.work -= len(e.vars) / 8
	return &env{vars: maps.Clone(e.vars), outer: e.outer, dotted: e.dotted}
}

func (e *env) get(key string) (*value, bool) {
	for ; e != nil; e = e.outer {
		if v, ok := e.vars[key]; ok {
			return v, true
		}
	}
	return nil, false
}

// set binds a name where it is bound already, or else here.
func (e *env) set(key string, v *value) {
	at := e
	for o := e; o != nil; o = o.outer {
		if _, ok := o.vars[key]; ok {
			at = o
			break
		}
	}
	at.put(key, v)
}

// closure is a function with the variables around it.
type closure struct {
	body sinks.Body
	env  *env
	// frame is the one that it was made in, nil for a function of the module.
	frame *frame
}

// frame is a function under analysis.
type frame struct {
	a   *analysis
	src *source
	fn  sinks.Body
	env *env
	// aliases lead from a variable to what it was made of.
	aliases map[string]alias
	// calls are the values of the calls of the present statement.
	calls map[[2]int]*value
	// loops collect the variables at the jumps out of each loop and switch around.
	loops [][]*env
	// holding is what the conditions around the present statement check.
	holding []check
	// constants is set where the value of a module's name is calculated.
	constants bool
	// under are the conditions on which the present statement is reached, where guards are looked for.
	under []Condition
	out   outcome
	// name is what the steps call the function.
	name string
}

// alias says that what is checked of one variable is checked of another, for some classes.
type alias struct {
	key  string
	mask class
	// relative is set for the way from a directory to a path: without ".." it stays in it.
	relative bool
}

// outcome is what a call of a function means to its caller.
type outcome struct {
	result *value
	// gains are the classes for which a parameter is harmless once the function
	// returns, and yes and no those where it returns something true, or false or no error.
	gains, yes, no []class
	returned       bool
	self           map[string]*value
}

func (a *analysis) newFrame(s *source, b sinks.Body, outer *env) *frame {
	name := b.Name
	if name == "" {
		name = b.Function.Name
	}
	return &frame{a: a, src: s, fn: b, env: &env{vars: map[string]*value{}, outer: outer}, aliases: map[string]alias{}, calls: map[[2]int]*value{}, name: name, out: outcome{result: nothing}}
}

// isReceiver reports whether a parameter is the object of a method.
func (f *frame) isReceiver(i int, p lang.Param) bool {
	if i != 0 || f.fn.In == nil || f.fn.In.Class == nil {
		return false
	}
	return f.src.Language == "Go" || p.Name == "self" || p.Name == "cls"
}

// positions is how many parameters a call has to give a value by position.
func (f *frame) positions(c *callInfo) int {
	n := 0
	for i, p := range f.fn.Function.Params {
		if !p.Rest && p.Default == nil && c.named[p.Name] == nil && !f.isReceiver(i, p) {
			n++
		}
	}
	return n
}

// bindParam gives a parameter its value.
func (f *frame) bindParam(p lang.Param, v *value) {
	if p.Pattern != nil {
		f.bind(p.Pattern, v, false)
		return
	}
	f.env.put(p.Name, v)
}

// body walks a function's own.
func (f *frame) body(fn *lang.Function) {
	n := len(fn.Params)
	f.out.gains, f.out.yes, f.out.no = full(n), full(n), full(n)
	if !f.block(fn.Body) {
		f.exit(nil)
	}
}

func full(n int) []class {
	out := make([]class, n)
	for i := range out {
		out[i] = ^class(0)
	}
	return out
}

// block walks statements, and reports whether what follows them is never reached.
func (f *frame) block(list []lang.Stmt) bool {
	under := f.under
	ended := f.statements(list)
	f.under = under
	return ended
}

func (f *frame) statements(list []lang.Stmt) bool {
	for _, s := range list {
		if f.a.work--; f.a.work <= 0 {
			return false
		}
		if f.a.work&1023 == 0 && f.a.ctx.Err() != nil {
			f.a.work = 0
			return false
		}
		clear(f.calls)
		if f.stmt(s) {
			return true
		}
	}
	return false
}

func (f *frame) stmt(s lang.Stmt) bool {
	switch s := s.(type) {
	case lang.ExprStmt:
		return f.exprStmt(s.X)
	case lang.Assign:
		f.assign(s)
	case lang.Return:
		v := nothing
		if s.X != nil {
			v = f.eval(s.X)
			if f.a.guarding {
				v = f.told(v, s.X)
			}
		}
		if s.Op == "return" {
			f.out.result = merge(f.out.result, f.stepped(v, s.Span, "returned by "+f.name))
			f.exit(s.X)
		}
		return true
	case lang.If:
		return f.branch(s)
	case lang.Loop:
		f.loop(s)
	case lang.Switch:
		return f.switchCases(s)
	case lang.Try:
		return f.try(s)
	case lang.With:
		for _, x := range s.Items {
			f.eval(x)
		}
		return f.block(s.Body)
	case lang.Block:
		return f.block(s.Body)
	case lang.Jump:
		if s.Op == "break" || s.Op == "continue" {
			if n := len(f.loops); n > 0 {
				f.loops[n-1] = append(f.loops[n-1], f.copied(f.env))
			}
			return true
		}
	case *lang.Function:
		if f.fn.Name != "" || f.fn.In != nil || f.env.outer != nil || f.fn.Function.Name != "" {
			f.env.put(s.Name, f.function(s))
		}
	case lang.Export:
		if s.Value != nil {
			f.eval(s.Value)
		}
	}
	return false
}

// exprStmt walks an expression for its effects.
func (f *frame) exprStmt(x lang.Expr) bool {
	if op, ok := x.(lang.Operation); ok && op.Op == "assert" && len(op.Operands) > 0 {
		f.eval(op.Operands[0])
		f.apply(f.implied(op.Operands[0], true))
		return false
	}
	f.eval(x)
	if c, ok := x.(lang.Call); ok {
		if site := f.src.facts.CallAt(c.Place()); site != nil {
			return slices.ContainsFunc(site.Names, func(n string) bool { return leaves[n] })
		}
	}
	return false
}

// leaves are functions that never return.
var leaves = set("sys.exit exit quit os._exit process.exit node:process.exit os.Exit log.Fatal log.Fatalf log.Fatalln panic syscall.Exit")

func (f *frame) branch(s lang.If) bool {
	f.eval(s.Test)
	before, tool := f.env, f.a.tool
	whenTrue, whenFalse := f.implied(s.Test, true), f.implied(s.Test, false)
	where, elsewhere := f.conditions(s.Test, true), f.conditions(s.Test, false)
	ended := onlyWindows(s.Test) || f.never(s.Test) || f.skipsCheck(s)
	f.env = f.copied(before)
	f.apply(whenTrue)
	f.named(s.Test)
	holding := f.holding
	f.holding = slices.Concat(holding, whenTrue)
	if !ended {
		f.assuming(where, func() { ended = f.block(s.Then) })
	}
	then := f.env
	f.holding = slices.Concat(holding, whenFalse)
	defer func() { f.holding = holding }()
	f.a.tool = tool
	f.env = f.copied(before)
	f.apply(whenFalse)
	otherEnded := false
	f.assuming(elsewhere, func() { otherEnded = f.block(s.Else) })
	switch {
	case ended && otherEnded:
		return true
	case ended:
		f.under = slices.Concat(f.under, elsewhere) // to the end of the block
	case otherEnded:
		f.under = slices.Concat(f.under, where)
		f.env = then
	default:
		f.env = join(then, f.env)
	}
	return false
}

// named takes the name of a tool from a comparison with it, where the handler serves all.
func (f *frame) named(test lang.Expr) {
	op, ok := test.(lang.Operation)
	if !ok || f.a.tool != "" || op.Op != "==" && op.Op != "===" || len(op.Operands) != 2 {
		return
	}
	for i, x := range op.Operands {
		if c, ok := x.(lang.Const); ok && c.Kind == lang.String && c.Text != "tools/call" && f.choosesTool(op.Operands[1-i]) {
			f.a.tool = c.Text
		}
	}
}

// choosesTool reports whether an expression may be the name of the tool that is called.
func (f *frame) choosesTool(x lang.Expr) bool {
	if f.a.raw {
		switch lastOf(x) {
		case "name", "tool", "toolName", "tool_name":
			return true
		}
	}
	return f.eval(x).tainted()
}

// join is what holds after one of two ways.
func join(a, b *env) *env {
	out := &env{vars: map[string]*value{}, outer: a.outer, dotted: a.dotted || b.dotted}
	for k, v := range a.vars {
		out.vars[k] = v
	}
	for k, v := range b.vars {
		if old, ok := out.vars[k]; ok {
			out.vars[k] = merge(old, v)
		} else {
			out.vars[k] = v
		}
	}
	return out
}

func (f *frame) switchCases(s lang.Switch) bool {
	subject := nothing
	if s.Subject != nil {
		subject = f.eval(s.Subject)
	}
	before, tool := f.env, f.a.tool
	var after *env
	f.loops = append(f.loops, nil)
	hasDefault := false
	for _, c := range s.Cases {
		f.env = f.copied(before)
		f.a.tool = tool
		hasDefault = hasDefault || len(c.Patterns) == 0
		f.match(s, c, subject)
		ended := false
		f.assuming(f.conditionsOfCase(s, c), func() { ended = f.block(c.Body) })
		if !ended {
			after = joinOr(after, f.env)
		}
	}
	f.a.tool = tool
	if !hasDefault {
		after = joinOr(after, before)
	}
	after = f.leave(after)
	if after == nil {
		f.env = before
		return true
	}
	f.env = after
	return false
}

func joinOr(a, b *env) *env {
	if a == nil {
		return b
	}
	return join(a, b)
}

// match binds what a case binds, and notes that the subject is one of its constants.
func (f *frame) match(s lang.Switch, c lang.Case, subject *value) {
	constants := len(c.Patterns) > 0
	for _, p := range c.Patterns {
		k, ok := p.(lang.Const)
		if !ok {
			constants = false
			if s.Subject == nil { // of Go: switch { case x == "a": }
				f.eval(p)
				if len(c.Patterns) == 1 {
					f.apply(f.implied(p, true))
				}
				continue
			}
			f.bind(p, subject.element(), false)
			continue
		}
		if f.a.tool == "" && k.Kind == lang.String && f.choosesTool(s.Subject) && len(c.Patterns) == 1 && k.Text != "tools/call" {
			f.a.tool = k.Text
		}
	}
	if constants && s.Subject != nil {
		f.apply(f.checks(s.Subject, all))
	}
	if c.Guard != nil {
		f.eval(c.Guard)
		f.apply(f.implied(c.Guard, true))
	}
}

func (f *frame) try(s lang.Try) bool {
	before := f.copied(f.env)
	ended := f.block(s.Body)
	if !ended {
		ended = f.block(s.Else)
	}
	after := f.env
	var out *env
	if !ended {
		out = after
	}
	start := join(before, after)
	for _, h := range s.Handlers {
		f.env = f.copied(start)
		if h.Name != nil {
			f.bind(h.Name, nothing, false)
		}
		if !f.block(h.Body) {
			out = joinOr(out, f.env)
		}
	}
	if out == nil {
		f.env = start
		f.block(s.Finally)
		return true
	}
	f.env = out
	return f.block(s.Finally)
}
