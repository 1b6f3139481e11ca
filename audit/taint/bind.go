package taint

import (
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// stepped is a value with one more step on its way, if it is tainted.
func (f *frame) stepped(v *value, at lang.Span, text string) *value {
	if !v.tainted() {
		return v
	}
	return v.with(func(t *taint) {
		if t.way != nil && t.way.length >= maxWay || t.way != nil && t.way.Span == at && t.way.File == f.src.Path {
			return
		}
		n := 1
		if t.way != nil {
			n += t.way.length
		}
		t.way = &way{Step: Step{File: f.src.Path, Span: at, Text: text}, before: t.way, length: n}
	})
}

// assign binds targets to a value.
func (f *frame) assign(a lang.Assign) *value {
	if a.Value == nil {
		return nothing
	}
	v := f.told(f.eval(a.Value), a.Value)
	for _, t := range a.Targets {
		switch a.Op {
		case "=", ":=":
			if key := keyOf(t); key != "" {
				f.bind(t, f.stepped(v, a.Span, "assigned to "+key), a.Declares != "" || a.Op == ":=" && f.src.Language == "Go")
				f.alias(key, a.Value)
			} else {
				f.bind(t, v, a.Declares != "")
				f.aliasParts(t, a.Value)
			}
		case "+=":
			v = f.sum([]*value{f.eval(t), v})
			f.bind(t, v, false)
		default: // the value of a ??= b is a's, too
			v = merge(f.eval(t), v)
			f.bind(t, v, false)
		}
	}
	return v
}

// told is the value of a condition, with what its truth means.
func (f *frame) told(v *value, x lang.Expr) *value {
	if when, unless := f.conditions(x, true), f.conditions(x, false); len(when)+len(unless) > 0 {
		out := *v
		out.when, out.unless = when, unless
		v = &out
	}
	op, isOperation := x.(lang.Operation)
	_, isIndex := x.(lang.Index) // of Go: _, ok := table[key]
	if isOperation && op.Op != "+" && !v.tainted() && v.call == nil || isIndex && f.src.Language == "Go" && !v.tainted() {
		out := *v
		out.yes, out.no = f.implied(x, true), f.implied(x, false)
		if len(out.yes)+len(out.no) > 0 {
			return &out
		}
	}
	return v
}

// aliasParts notes the aliases of a, err := f(x).
func (f *frame) aliasParts(target, of lang.Expr) {
	if c, ok := target.(lang.Collection); ok && c.Kind == lang.Tuple && len(c.Items) > 0 {
		if key := keyOf(c.Items[0].Value); key != "" {
			f.alias(key, of)
		}
	}
}

// bind gives the names of a target their values. A new name of a scope hides others.
func (f *frame) bind(target lang.Expr, v *value, fresh bool) {
	switch t := target.(type) {
	case lang.Name:
		delete(f.aliases, t.ID)
		for k := range f.env.vars {
			if !f.env.dotted {
				break
			}
			if strings.HasPrefix(k, t.ID+".") {
				delete(f.env.vars, k)
			}
		}
		if fresh {
			f.env.put(t.ID, v)
		} else {
			f.env.set(t.ID, v)
		}
	case lang.Attr, lang.Index:
		if key := keyOf(t); key != "" {
			if isBehindHost(t) {
				v = v.safer(request)
			}
			f.env.set(key, v)
			return
		}
		if i, ok := t.(lang.Index); ok && f.src.Language == "JavaScript" {
			f.setByKey(i, v)
		}
		if i, ok := t.(lang.Index); ok { // an element of a list or a dictionary
			if key := keyOf(i.X); key != "" && v.tainted() {
				f.env.set(key, merge(f.eval(i.X), &value{taints: v.flat()}))
			}
		}
	case lang.Assign: // a default
		for _, x := range t.Targets {
			if v.tainted() || t.Value == nil {
				f.bind(x, v, fresh)
			} else {
				f.bind(x, merge(v, f.eval(t.Value)), fresh)
			}
		}
	case lang.Spread:
		f.bind(t.X, v, fresh)
	case lang.Collection:
		for i, it := range t.Items {
			f.bindItem(t, i, it, v, fresh)
		}
	}
}

// isBehindHost reports whether a target is a part of a URL that chooses no host.
func isBehindHost(x lang.Expr) bool {
	a, ok := x.(lang.Attr)
	return ok && (a.Name == "pathname" || a.Name == "search" || a.Name == "hash")
}

func (f *frame) bindItem(t lang.Collection, i int, it lang.Item, v *value, fresh bool) {
	switch k := it.Key.(type) {
	case lang.Const:
		if supplied := f.source(k.Text, it.Value.Place(), v); supplied != nil && v.fields[k.Text] == nil {
			f.bind(it.Value, supplied, fresh)
			return
		}
		f.bind(it.Value, f.stepped(v.field(k.Text), it.Value.Place(), "taken out as "+k.Text), fresh)
		return
	case nil:
	default:
		f.bind(it.Value, v.element(), fresh)
		return
	}
	n, named := it.Value.(lang.Name)
	switch {
	case t.Kind == lang.Dict && named:
		f.bind(it.Value, v.field(n.ID), fresh)
	case t.Kind != lang.Dict && i < len(v.items) && v.list:
		f.bind(it.Value, v.items[i], fresh)
	case t.Kind == lang.Tuple && f.src.Language == "Go":
		f.bindResult(it.Value, i, v, fresh)
	default:
		f.bind(it.Value, v.element(), fresh)
	}
}

// bindResult binds one of several results: the text is the first, and what was checked
// is told by the others.
func (f *frame) bindResult(target lang.Expr, i int, v *value, fresh bool) {
	if i == 0 {
		out := *v
		out.yes, out.no = nil, nil
		f.bind(target, &out, fresh)
		return
	}
	f.bind(target, &value{yes: v.yes, no: v.no}, fresh)
}
