package taint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// apply makes variables harmless for what was checked of them.
func (f *frame) apply(list []check) {
	for _, c := range list {
		v, ok := f.env.get(c.key)
		if !ok {
			v = f.project(c.key)
		}
		if v.tainted() {
			was := v
			v = v.safer(c.safe)
			f.makeSafer(was, v, c.safe)
			if c.begin != "" || c.end != "" {
				with := *v
				with.text, with.end = cmp.Or(c.begin, v.text), cmp.Or(c.end, v.end)
				v = &with
			}
			f.env.put(c.key, v)
		}
	}
}

// makeSafer makes the texts harmless in which a value stood before it was checked, as far as it
// alone makes them harmful.
func (f *frame) makeSafer(was, now *value, safe class) {
	if safe == 0 || was == now {
		return
	}
	of := func(t taint) bool { return slices.Contains(t.parts, was) }
	for e := f.env; e != nil; e = e.outer {
		f.a.work -= len(e.vars) / 8
		for _, key := range sortedKeys(e.vars) {
			v := e.vars[key]
			if _, shadowed := f.env.vars[key]; e != f.env && shadowed || !slices.ContainsFunc(v.taints, of) {
				continue
			}
			f.env.put(key, v.with(func(t *taint) {
				if of(*t) {
					*t = t.within(now)
					t.safe |= safe
				}
			}))
		}
	}
}

// project is the value of a path whose beginning is a variable.
func (f *frame) project(key string) *value {
	for i := strings.LastIndexByte(key, '.'); i > 0; i = strings.LastIndexByte(key[:i], '.') {
		if v, ok := f.env.get(key[:i]); ok {
			for part := range strings.SplitSeq(key[i+1:], ".") {
				v = v.field(part)
			}
			return v
		}
	}
	return nothing
}

// both are the checks that two lists have.
func both(a, b []check) []check {
	var out []check
	for _, x := range a {
		if c := x.safe & of(b, x.key); c != 0 {
			out = append(out, check{key: x.key, safe: c})
		}
	}
	return out
}

// implied are the variables that are harmless where a condition is true, or false.
func (f *frame) implied(x lang.Expr, truth bool) []check {
	if f.a.work--; f.a.work <= 0 {
		return nil
	}
	switch x := x.(type) {
	case lang.Operation:
		return f.impliedBy(x, truth)
	case lang.Call:
		return f.impliedByCall(x, truth)
	case lang.Assign:
		return f.implied(x.Value, truth)
	case lang.Index:
		// An entry of a table that is there: its key is one of the table's.
		if len(x.Keys) == 1 && truth && !f.eval(x.X).tainted() {
			return f.checks(x.Keys[0], f.inherited(all))
		}
	case lang.Name, lang.Attr:
		if a, ok := x.(lang.Attr); ok && truth {
			if of, ok := a.X.(lang.Call); ok {
				return f.addressed(of)
			}
		}
		if key := keyOf(x); key != "" {
			if v, ok := f.env.get(key); ok {
				if truth {
					return v.yes
				}
				return v.no
			}
		}
	}
	return nil
}

func (f *frame) impliedBy(x lang.Operation, truth bool) []check {
	if len(x.Operands) == 0 {
		return nil
	}
	switch x.Op {
	case "not", "!":
		return f.implied(x.Operands[0], !truth)
	case "await", "!!":
		return f.implied(x.Operands[0], truth)
	case "and", "&&", "or", "||":
		joins := truth == (x.Op == "and" || x.Op == "&&")
		out := f.implied(x.Operands[0], truth)
		for _, o := range x.Operands[1:] {
			more := f.implied(o, truth)
			if joins {
				out = append(slices.Clone(out), more...)
			} else {
				out = both(out, more)
			}
		}
		return out
	}
	if len(x.Operands) != 2 {
		return nil
	}
	a, b := x.Operands[0], x.Operands[1]
	switch x.Op {
	case "in", "not in":
		list := f.member(a, b, truth == (x.Op == "in"))
		for i := range list {
			list[i].safe = f.inherited(list[i].safe)
		}
		return list
	case "==", "===", "is", "!=", "!==", "is not":
		return f.equal(a, b, truth == (x.Op[0] == '=' || x.Op == "is"))
	case ">=", ">", "<":
		// list.indexOf(x) >= 0, > -1, < 0
		if c, ok := a.(lang.Call); ok && truth == (x.Op != "<") {
			if m, ok := c.Func.(lang.Attr); ok && m.Name == "indexOf" && len(c.Args) == 1 {
				return f.member(c.Args[0].Value, m.X, true)
			}
		}
	}
	return nil
}

// member is what x in list means.
func (f *frame) member(x, list lang.Expr, truth bool) []check {
	if m, ok := list.(lang.Attr); ok && m.Name == "parents" { // base in path.parents
		if truth && resolved(f.eval(m.X)) {
			return f.checks(m.X, confined)
		}
		return nil
	}
	v := f.eval(list)
	if _, ok := x.(lang.Const); !ok && !truth {
		return f.checks(x, f.notAmong(list))
	}
	if c, ok := x.(lang.Const); ok {
		if !truth && c.Text == "__" && f.src.Language == "Python" {
			return f.checks(list, ordinaryKey)
		}
		if !truth && c.Kind == lang.String {
			if a, ok := list.(lang.Attr); ok && a.Name == "parts" && c.Text == ".." {
				if of, ok := f.aliasOf(a.X); ok {
					return f.checks(lang.Name{ID: of.key}, noDots)
				}
				return f.checks(a.X, noDots)
			}
			return f.checks(list, without(c.Text))
		}
		return nil
	}
	if !truth || v.tainted() || v.known || v.text != "" {
		return nil
	}
	return f.checks(x, all)
}

// without are the classes for which a text without a part is harmless.
func without(part string) class {
	switch part {
	case "..":
		return noDots
	case "/":
		return pathname | noRoot | noDots
	}
	return 0
}

// equal is what a comparison means.
func (f *frame) equal(a, b lang.Expr, truth bool) []check {
	for range 2 {
		if _, isNull := truthOf(b); isNull {
			key := keyOf(a)
			if v, ok := f.env.get(key); ok && key != "" && truth {
				return v.no
			}
			if v, ok := f.env.get(key); ok && key != "" {
				return v.yes
			}
			return nil
		}
		if c, ok := a.(lang.Operation); ok && c.Op == "typeof" && len(c.Operands) == 1 {
			if safe := ofType(b, truth); safe != 0 {
				return f.checks(c.Operands[0], safe)
			}
			return nil
		}
		if c, ok := a.(lang.Call); ok {
			if found := f.equalCall(c, b, truth); found != nil {
				return found
			}
		}
		a, b = b, a
	}
	if !truth {
		for range 2 {
			if c, ok := b.(lang.Const); ok && c.Kind == lang.String {
				return f.checks(a, notKey(c.Text))
			}
			a, b = b, a
		}
		return nil
	}
	va, vb := f.eval(a), f.eval(b)
	switch {
	case va.tainted() && !vb.tainted() && notEmpty(vb):
		return f.checks(a, all)
	case vb.tainted() && !va.tainted() && notEmpty(va):
		return f.checks(b, all)
	}
	return nil
}

// ofType are the classes for which a value is harmless that is of a type, or not of it.
func ofType(kind lang.Expr, truth bool) class {
	k, ok := kind.(lang.Const)
	switch {
	case !ok:
	case truth && (k.Text == "number" || k.Text == "boolean"):
		return all
	case truth && k.Text == "string":
		return selector
	case k.Text == "string":
		return argument // a flag is a text
	}
	return 0
}

func truthOf(x lang.Expr) (isTrue, isNull bool) {
	switch x := x.(type) {
	case lang.Const:
		return false, x.Kind == lang.Null
	case lang.Name:
		return false, x.ID == "nil" || x.ID == "None" || x.ID == "undefined"
	}
	return false, false
}

func notEmpty(v *value) bool { return !v.known || v.text != "" }

// equalCall is what the comparison of a call's result means.
func (f *frame) equalCall(c lang.Call, with lang.Expr, truth bool) []check {
	site := f.src.facts.CallAt(c.Place())
	if site != nil && slices.ContainsFunc(site.Names, func(n string) bool { return strings.HasSuffix(n, "path.commonpath") }) && truth && len(c.Args) == 1 {
		if l, ok := c.Args[0].Value.(lang.Collection); ok {
			var out []check
			for _, it := range l.Items {
				if v := f.eval(it.Value); v.tainted() && resolved(v) {
					out = append(out, f.checks(it.Value, confined)...)
				}
			}
			return out
		}
	}
	if site != nil && truth && len(c.Args) == 1 && keyOf(with) != "" && keyOf(c.Args[0].Value) == keyOf(with) {
		for _, n := range site.Names { // basename(x) == x
			if _, name := sinks.Of(f.src.Language, n, nil); ends[name] != 0 {
				return f.checks(with, ends[name])
			}
		}
	}
	if m, ok := c.Func.(lang.Attr); ok && len(c.Args) == 1 && m.Name == "indexOf" {
		if k, ok := lang.Fold(with); ok && (k.Text == "0" || k.Text == "1") {
			return nil
		}
		return f.member(c.Args[0].Value, m.X, !truth) // === -1
	}
	return nil
}

func resolved(v *value) bool {
	if v == nil {
		return false
	}
	list := v.flat()
	for _, t := range list {
		if !t.resolved {
			return false
		}
	}
	return len(list) > 0
}

// impliedByCall is what the truth of a call's result means.
func (f *frame) impliedByCall(x lang.Call, truth bool) []check {
	var names []string
	if site := f.src.facts.CallAt(x.Place()); site != nil {
		names = site.Names
		if out, ok := f.byFunction(x, names, truth); ok {
			return out
		}
	}
	if a, ok := x.Func.(lang.Attr); ok {
		if out := f.byMethod(x, a, truth); out != nil {
			return out
		}
	} else if n, ok := x.Func.(lang.Name); ok && (n.ID == "any" || n.ID == "all") && len(x.Args) == 1 && truth {
		if c, ok := x.Args[0].Value.(lang.Operation); ok && (c.Op == "comprehension" || c.Op == "generator") && len(c.Operands) > 0 {
			return f.within(func() []check {
				for _, o := range c.Operands[1:] {
					if clause, ok := o.(lang.Operation); ok && len(clause.Operands) > 1 {
						f.bindElement(clause.Operands[0], clause.Operands[1], f.eval(clause.Operands[1]), true)
					}
				}
				return f.implied(c.Operands[0], true)
			})
		}
	}
	v, ok := f.calls[place(x)]
	if !ok {
		v = f.eval(x)
	}
	if truth {
		return v.yes
	}
	return v.no
}

// within runs a question with variables of its own, and keeps what concerns the others.
func (f *frame) within(ask func() []check) []check {
	saved := f.env
	f.env = &env{vars: map[string]*value{}, outer: saved}
	out := ask()
	inner := f.env.vars
	f.env = saved
	return slices.DeleteFunc(slices.Clone(out), func(c check) bool {
		first, _, _ := strings.Cut(c.key, ".")
		_, own := inner[first]
		return own
	})
}
