package taint

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// formatsObject notes a text of the caller's that Python's str.format fills with an object of the package: by its
// attributes the text leads to the globals of the program ("{card.__init__.__globals__}"). Texts and numbers have no
// such attributes.
func (f *frame) formatsObject(c *callInfo) {
	if f.src.Language != "Python" || c.method != "format" && c.method != "format_map" || c.recv == nil || !c.recv.tainted() {
		return
	}
	if slices.ContainsFunc(c.all(), func(v *value) bool { return v.made == madeObject }) || slices.ContainsFunc(c.call.Args, func(a lang.Arg) bool { return f.isObject(a.Value, 0) }) {
		f.report(code, partOf(c.recv.flat()), "str."+c.method, c)
	}
}

// maxObjects bounds how far the expression of an object is followed.
const maxObjects = 4

// isObject reports whether an expression is, or holds, an object of one of the package's own classes.
func (f *frame) isObject(x lang.Expr, depth int) bool {
	if depth > maxObjects {
		return false
	}
	switch x := x.(type) {
	case lang.Call:
		n := lastOf(x.Func)
		return n != "" && f.a.class(f.src, n) != nil
	case lang.Collection:
		return slices.ContainsFunc(x.Items, func(it lang.Item) bool { return f.isObject(it.Value, depth+1) })
	case lang.Name:
		if x.ID == "self" {
			return true
		}
		if of := f.src.assigned[x.ID]; of != nil && f.isObject(of, depth+1) {
			return true
		}
		return f.assignsObject(x.ID, depth)
	}
	return false
}

// assignsObject reports whether the function gives a name such an object, or a parameter of that name is annotated as one.
func (f *frame) assignsObject(name string, depth int) bool {
	found := false
	fn := f.fn.Function
	for _, p := range fn.Params {
		if p.Name == name && p.Annotation != nil && f.a.class(f.src, lastOf(p.Annotation)) != nil {
			return true
		}
	}
	lang.Walk(&lang.File{Body: fn.Body}, func(n lang.Node, _ *lang.Scope) bool {
		if a, ok := n.(lang.Assign); ok && !found {
			for _, t := range a.Targets {
				if id, ok := t.(lang.Name); ok && id.ID == name {
					found = f.isObject(a.Value, depth+1)
				}
			}
		}
		return !found
	})
	return found
}
