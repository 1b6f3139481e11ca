package taint

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// bare is what is made of an object without a prototype.
const bare = "bare"

// reaches are the taints of a key that may lead to a prototype: "__proto__" alone, or
// "constructor" and "prototype".
func reaches(k *value) []taint {
	return slices.DeleteFunc(k.flat(), func(t taint) bool {
		return t.safe&(prototype|number) != 0 || t.safe&(noProto|noConstructor) == noProto|noConstructor
	})
}

// chosen is the property of an object of the server's by a key of the caller's, nil for
// anything else. In JavaScript the key "__proto__" leads to the prototype of all objects.
func (f *frame) chosen(x lang.Index, base *value) *value {
	if f.src.Language != "JavaScript" || len(x.Keys) != 1 || x.Keys[0] == nil || base.list || len(base.items) > 0 {
		return nil
	}
	k := f.eval(x.Keys[0])
	via := addTaints(slices.Clone(base.via), reaches(k))
	if k.known || len(via) == 0 && base.made != bare {
		return nil
	}
	out := *base.element()
	if base.made == bare {
		out.made = bare
		return &out
	}
	if len(base.fields) > 0 { // a table of functions is called by its key
		out.fields, out.made, out.call = base.fields, "table", nil
	}
	out.via = via
	return &out
}

// setByKey notes target[key] = v. What the server puts under the key of an object of its own
// hides the prototype there.
func (f *frame) setByKey(target lang.Index, v *value) {
	if len(target.Keys) != 1 || target.Keys[0] == nil {
		return
	}
	base, k := f.eval(target.X), f.eval(target.Keys[0])
	switch {
	case k.known:
	case len(base.via) > 0 && len(reaches(k)) > 0:
		f.pollutes(base.via, "a property by its key", target.Span)
	case len(base.via)+len(v.via) == 0 && !v.tainted():
		f.apply(f.checks(target.Keys[0], ordinaryKey))
	}
}

// setsProperties notes a call that sets properties of an object that the caller chose:
// Object.assign(object[key], more), setattr(getattr(object, name), name, value).
func (f *frame) setsProperties(c *callInfo) {
	for _, n := range c.canonical {
		switch {
		case n == "Object.assign" && len(c.args) > 1 && len(c.arg(0).via) > 0 && union(c.args[1:]).tainted(),
			n == "setattr" && len(c.args) > 2 && len(c.arg(0).via) > 0 && len(reaches(c.arg(1))) > 0:
			f.pollutes(c.arg(0).via, n, c.call.Span)
		}
	}
}

// attributeBy is the result of getattr(object, name) with a name of the caller's, nil for
// another. "__class__" and "__globals__" lead to what all objects share.
func (f *frame) attributeBy(n string, c *callInfo) *value {
	switch {
	case n == "getattr" && len(c.args) > 1:
		if via := addTaints(slices.Clone(c.arg(0).via), reaches(c.arg(1))); len(via) > 0 {
			return &value{via: via}
		}
	case n == "Object.create" && len(c.call.Args) == 1:
		if k, ok := c.call.Args[0].Value.(lang.Const); ok && k.Kind == lang.Null {
			return &value{made: bare}
		}
	}
	return nil
}

func (f *frame) pollutes(via []taint, name string, at lang.Span) {
	f.report(prototype, via, name, &callInfo{call: lang.Call{Span: at}})
}

// mergesDeeper reports whether a function that is active is called again with a property that
// the caller chose, and was not before: a deep merge.
func (f *frame) mergesDeeper(fn *lang.Function, c *callInfo) bool {
	n := 0
	for _, active := range f.a.active {
		if active == fn {
			n++
		}
	}
	return n == 1 && slices.ContainsFunc(c.args, func(v *value) bool { return len(v.via) > 0 })
}

// notKey are the classes for which a key is harmless that is not a text.
func notKey(text string) class {
	switch text {
	case "__proto__":
		return noProto
	case "constructor", "prototype":
		return noConstructor
	}
	return 0
}

// notAmong are the classes for which a key is harmless that is in no list of these.
func (f *frame) notAmong(list lang.Expr) class {
	out := class(0)
	for _, text := range f.constantsIn(list, 0) {
		out |= notKey(text)
	}
	return out
}

// constantsIn are the texts of a list, of a set of one, or of a name of either.
func (f *frame) constantsIn(x lang.Expr, depth int) []string {
	if depth > 3 {
		return nil
	}
	switch x := x.(type) {
	case lang.Name:
		return f.constantsIn(f.src.assigned[x.ID], depth+1)
	case lang.Call:
		if len(x.Args) == 1 {
			return f.constantsIn(x.Args[0].Value, depth+1)
		}
	case lang.Collection:
		var out []string
		for _, it := range x.Items {
			if k, ok := it.Value.(lang.Const); ok && k.Kind == lang.String && len(out) < maxFields {
				out = append(out, k.Text)
			}
		}
		return out
	}
	return nil
}

// inherited leaves out of some classes what "key in object" does not say in JavaScript, where
// an object has its prototype's properties too.
func (f *frame) inherited(c class) class {
	if f.src.Language == "JavaScript" {
		return c &^ prototype
	}
	return c
}
