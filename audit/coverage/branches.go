package coverage

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/python"
)

// branch is a place of code that may run or not, whatever runs around it.
type branch struct {
	at lang.Pos
	// untold says that no recording can tell whether it ran: of Python whole lines are
	// recorded, and another branch begins in this one.
	untold bool
}

// AllRan reports whether every branch ran of the files that were loaded, and of functions to which
// a way leads. Where that cannot be told it is false.
func (c *Code) AllRan(r *Recording) bool {
	if r.Empty() {
		return false
	}
	x := c.comparison(r)
	for i := range c.functions {
		ran := x.ran(c.functions[i].File)
		switch {
		case x.owners[i] == Foreign:
		case x.together[i] != 0, ran == nil && x.way[i] != "", ran != nil && (ran.unfit || !x.entered[i]):
			return false
		}
	}
	for file, branches := range c.branches {
		ran := x.ran(file)
		if ran != nil && slices.ContainsFunc(branches, func(b branch) bool {
			return (b.untold || !ran.at(b.at)) && c.of(file, b.at) != Foreign
		}) {
			return false
		}
	}
	return true
}

// at reports whether the code at a place ran.
func (f *ran) at(p lang.Pos) bool {
	if len(f.entered)+len(f.lines) == 0 {
		return f.covers(p.Offset())
	}
	return f.lines[p.Line()]
}

// branchesOf lists the branches of a file: each statement that does something, each
// function without a name, and each part of a condition that calls something. Jumps do nothing.
func branchesOf(f *lang.File) []branch {
	var out []branch
	heads := map[int]bool{} // lines in which a statement or a condition begins
	begin := func(p lang.Pos) (first bool) {
		first = !heads[p.Line()]
		heads[p.Line()] = true
		return first
	}
	lines := f.Language == python.Language{}.Name()
	lang.Walk(f, func(n lang.Node, in *lang.Scope) bool {
		at := n.Place().Start
		switch n := n.(type) {
		case lang.ExprStmt:
			if _, constant := n.X.(lang.Const); constant {
				return true
			}
		case lang.Assign:
			if n.Value == nil {
				return true
			}
		case lang.Return:
			if f := in.InFunction(); f != nil && f.Function.Name == "" && len(f.Function.Body) == 1 && !calls(n.X) {
				return true // a lambda that only takes a value
			}
		case lang.Import:
		case lang.If, lang.Loop, lang.Switch, lang.Try, lang.With, *lang.Function, *lang.Class:
			begin(at)
			return true
		case lang.Operation:
			parts := conditional(n)
			if len(parts) > 0 {
				begin(at)
			}
			for _, x := range parts {
				out = append(out, branch{x, !begin(x) && lines})
			}
			return true
		default:
			return true
		}
		out = append(out, branch{at, !begin(at) && lines})
		return true
	})
	return out
}

// conditional are the places of the operands that may be left out and that call something.
func conditional(o lang.Operation) []lang.Pos {
	always := 0 // the operand that runs whatever the others come to
	switch o.Op {
	case "and", "or", "&&", "||", "??", "?:":
	case "if else":
		always = 1
	default:
		return nil
	}
	var out []lang.Pos
	for i, x := range o.Operands {
		if i != always && calls(x) {
			out = append(out, x.Place().Start)
		}
	}
	return out
}

// calls reports whether an expression calls something.
func calls(x lang.Expr) bool {
	found := false
	lang.WalkExpr(x, nil, func(n lang.Node, _ *lang.Scope) bool {
		_, call := n.(lang.Call)
		found = found || call
		return !found
	})
	return found
}
