package taint

import "github.com/coalmine-dev/coalmine/audit/lang"

// loop evaluates a loop once.
func (f *frame) loop(s lang.Loop) {
	f.block(s.Init)
	var iter *value
	if s.Iter != nil {
		iter = f.eval(s.Iter)
	}
	if s.Test != nil {
		f.eval(s.Test)
	}
	before := f.env
	f.env = f.copied(before)
	f.loops = append(f.loops, nil)
	if s.Target != nil && iter != nil {
		f.bindElement(s.Target, s.Iter, iter, false)
	}
	if s.Test != nil {
		f.apply(f.implied(s.Test, true))
	}
	after := before
	var ofAll class
	if !f.block(s.Body) {
		f.block(s.Step)
		ofAll = f.ofEach(s)
		after = join(before, f.env)
	}
	after = f.leave(after)
	f.env = after
	f.apply(f.checks(s.Iter, ofAll))
	f.block(s.Else)
}

// ofEach are the classes for which a loop of Python checks each element at its end: whoever comes past the
// loop has a list of such elements. A jump out of the body leaves elements unchecked.
func (f *frame) ofEach(s lang.Loop) class {
	target, ok := s.Target.(lang.Name)
	if !ok || f.src.Language != "Python" || len(f.loops[len(f.loops)-1]) > 0 || rebinds(s.Body, target.ID) {
		return 0
	}
	return f.ofElement(target)
}

// ofElement are the classes for which the variable of a loop was checked.
func (f *frame) ofElement(target lang.Expr) class {
	name, ok := target.(lang.Name)
	if !ok {
		return 0
	}
	v, ok := f.env.get(name.ID)
	if !ok || !v.tainted() {
		return 0
	}
	return v.sure() & learned
}

// rebinds reports whether statements give a name another value.
func rebinds(body []lang.Stmt, name string) bool {
	found := false
	lang.Walk(&lang.File{Body: body}, func(n lang.Node, _ *lang.Scope) bool {
		var targets []lang.Expr
		switch n := n.(type) {
		case lang.Assign:
			targets = n.Targets
		case lang.Loop:
			targets = []lang.Expr{n.Target}
		}
		for _, t := range targets {
			lang.WalkExpr(t, nil, func(n lang.Node, _ *lang.Scope) bool {
				of, ok := n.(lang.Name)
				found = found || ok && of.ID == name
				return true
			})
		}
		return true
	})
	return found
}

// leave joins the variables of the jumps out of the innermost loop.
func (f *frame) leave(after *env) *env {
	n := len(f.loops) - 1
	for _, e := range f.loops[n] {
		if after == nil {
			after = e
		} else {
			after = join(after, e)
		}
	}
	f.loops = f.loops[:n]
	return after
}

// bindElement binds the target of a loop to an element of what it goes through, which is the value of an expression.
func (f *frame) bindElement(target, through lang.Expr, iter *value, fresh bool) {
	element := iter.element()
	if c, ok := target.(lang.Collection); ok && len(c.Items) == 2 && f.counts(through) {
		if f.src.Language != "Go" { // where "_" stands there, too
			f.bind(c.Items[0].Value, nothing, fresh)
		}
		f.bind(c.Items[1].Value, element, fresh)
		return
	}
	f.bind(target, element, fresh)
}

// counts reports whether a loop through an expression has a number beside each element: a loop of Go, enumerate(list)
// and list.entries().
func (f *frame) counts(through lang.Expr) bool {
	c, ok := through.(lang.Call)
	switch f.src.Language {
	case "Go":
		return true
	case "Python":
		name, is := c.Func.(lang.Name)
		return ok && is && name.ID == "enumerate" && f.src.assigned["enumerate"] == nil
	case "JavaScript":
		method, is := c.Func.(lang.Attr)
		return ok && is && method.Name == "entries" && len(c.Args) == 0 && f.eval(method.X).list
	}
	return false
}
