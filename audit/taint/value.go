package taint

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// class is a set of classes of weaknesses.
type class uint32

// The classes, by the number of the Common Weakness Enumeration.
const (
	command   class = 1 << iota // CWE-78
	argument                    // CWE-88
	pathname                    // CWE-22
	request                     // CWE-918
	code                        // CWE-94
	object                      // CWE-502
	statement                   // CWE-89
	selector                    // CWE-943: an object or code in a query of documents
	prototype                   // CWE-1321
	// noDots and noRoot are no weaknesses: a path has no "..", and is not absolute.
	noDots
	noRoot
	// noProto and noConstructor are not weaknesses: a key is not "__proto__", and neither
	// "constructor" nor "prototype".
	noProto
	noConstructor
	// tried is set where a check of a path was meant to hold and does not.
	tried
	// number is set for a number, and digested for a digest.
	number
	digested

	all = command | argument | pathname | request | code | object | statement | selector | prototype
	// ordinaryKey is what a key is safe for that leads to no prototype.
	ordinaryKey = prototype | noProto | noConstructor
	// learned is what the caller of a function learns of its arguments.
	learned = all | confined | noProto | noConstructor
	// confined is what a path that stays in its directory is safe for.
	confined = pathname | noDots | noRoot | tried
)

// Step is one part of a way.
type Step struct {
	File string
	lang.Span
	// Text says in a few words what happens there.
	Text string
}

// way is the steps to a value, the last one first.
type way struct {
	Step
	before *way
	length int
}

// maxWay bounds the steps of a way.
const maxWay = 40

func (w *way) steps() []Step {
	var out []Step
	for ; w != nil; w = w.before {
		out = append(out, w.Step)
	}
	slices.Reverse(out)
	return out
}

// taint is a parameter that a value comes from.
type taint struct {
	// origin is the parameter with its field: "args.path".
	origin string
	way    *way
	// safe are the classes for which it was checked or made harmless.
	safe class
	// embedded is set where it is a part of a longer text, joined where it follows a
	// directory, and resolved where its path has been made absolute and plain.
	embedded, joined, resolved bool
	// sql is set where the text around it is a statement.
	sql bool
	// parts are the values that stand whole in the text: what is checked of one after the
	// text was made holds for it there.
	parts []*value
}

// within is the taint where its value is a part of a longer text.
func (t taint) within(part *value) taint {
	if len(t.parts) < maxParts {
		t.parts = append(slices.Clip(t.parts), part)
	}
	return t
}

// value is what the analysis knows of an expression. Values are never changed once made.
type value struct {
	taints []taint
	// text is the constant that it is, if known is set; with known unset and a text, it
	// begins with that.
	text  string
	known bool
	// end is a constant that a text ends with which is not known as a whole, "" for none.
	end string
	// fields are properties that are known by name, and items the elements of a list.
	fields map[string]*value
	items  []*value
	list   bool
	// made is "path" or "url" for an object that was made of a text, "cwd" for the
	// directory that the server runs in, "own" for that of its code and "within" for one in
	// that, "flag" for true and false, and madeObject for an object of one of the package's classes.
	made string
	// via are the keys by which a caller chose the value among the properties of an object.
	via []taint
	// call is a function that was not called yet.
	call *closure
	// yes holds what is checked where the value is true, and no where it is false, null
	// or no error.
	yes, no []check
	// when holds the conditions on which the value is true, and unless those on which it is
	// false, where guards are looked for.
	when, unless []Condition
}

// madeObject is what a constructor of the package made.
const madeObject = "object"

// check says that a variable is harmless for classes.
type check struct {
	key  string
	safe class
	// begin and end are what the variable's text begins and ends with, "" for nothing known.
	begin, end string
}

// maxTaints bounds the origins of a value, and maxFields its fields and items.
const maxTaints, maxFields, maxParts = 6, 64, 4

var nothing = &value{}

func constant(text string) *value { return &value{text: text, known: true} }

// tainted reports whether a value comes from a parameter at all.
func (v *value) tainted() bool {
	if len(v.taints) > 0 {
		return true
	}
	for _, f := range v.fields {
		if len(f.taints) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(v.items, func(i *value) bool { return len(i.taints) > 0 })
}

// flat are the taints of a value and of what it holds.
func (v *value) flat() []taint {
	left := maxNodes
	return v.flatten(&left)
}

// maxNodes bounds how many values within a value are looked at.
const maxNodes = 500

func (v *value) flatten(left *int) []taint {
	out := slices.Clone(v.taints)
	for _, name := range sortedKeys(v.fields) {
		if *left--; *left > 0 {
			out = addTaints(out, v.fields[name].flatten(left))
		}
	}
	for _, i := range v.items {
		if *left--; *left > 0 {
			out = addTaints(out, i.flatten(left))
		}
	}
	return out
}

// addTaints joins two lists: of two that have one origin, what is safe in both is safe.
func addTaints(list, more []taint) []taint {
	for _, t := range more {
		i := slices.IndexFunc(list, func(o taint) bool { return o.origin == t.origin && o.embedded == t.embedded && o.joined == t.joined })
		switch {
		case i >= 0:
			safe, parts := list[i].safe&t.safe, list[i].parts
			if !slices.Equal(parts, t.parts) {
				parts = nil
			}
			if safe == list[i].safe && len(parts) == len(list[i].parts) {
				continue
			}
			list = slices.Clone(list)
			if safe != list[i].safe {
				if list[i].safe != 0 && t.safe == 0 {
					list[i] = t
				}
				list[i].sql = list[i].sql || t.sql
			}
			list[i].safe, list[i].parts = safe, parts
		case len(list) < maxTaints:
			list = append(list, t)
		}
	}
	return list
}

// merge is what is one of two values.
func merge(a, b *value) *value { return mergeAt(a, b, 0) }

func mergeAt(a, b *value, depth int) *value {
	switch {
	case a == b || b == nothing || b == nil:
		return orNothing(a)
	case a == nothing || a == nil:
		return b
	}
	out := &value{taints: addTaints(slices.Clone(a.taints), b.taints), list: a.list || b.list}
	if a.text == b.text && a.known && b.known {
		out.text, out.known = a.text, true
	} else {
		out.text = commonBeginning(a.text, b.text)
	}
	out.end = commonEnd(a.ending(), b.ending())
	out.via = addTaints(slices.Clone(a.via), b.via)
	if depth > 3 {
		out.taints = addTaints(a.flat(), b.flat())
		return out
	}
	if len(a.fields)+len(b.fields) > 0 {
		out.fields = map[string]*value{}
		for k, f := range a.fields {
			out.fields[k] = f
		}
		for k, f := range b.fields {
			out.set(k, mergeAt(out.fields[k], f, depth+1))
		}
	}
	if len(a.items) >= len(b.items) {
		out.items = a.items
	} else {
		out.items = b.items
	}
	if a.made == b.made {
		out.made = a.made
	}
	if out.call = a.call; out.call == nil {
		out.call = b.call
	}
	if a.made == flag && b.made == flag {
		out.yes, out.no = oneOf(a, b, "false", a.yes, b.yes), oneOf(a, b, "true", a.no, b.no)
		out.when, out.unless = longer(a.when, b.when), longer(a.unless, b.unless)
	} else if len(a.taints) == 0 && !a.known {
		out.yes, out.no = b.yes, b.no
		out.when, out.unless = b.when, b.unless
	}
	return out
}

// commonBeginning is what two texts both begin with.
func commonBeginning(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// flag marks true and false among the values.
const flag = "flag"

// flag is true or false: where a variable is given it, the conditions around hold.
func (f *frame) flag(text string) *value {
	v := &value{text: text, known: true, made: flag}
	if text == "true" {
		v.yes, v.when = f.holding, f.under
	} else {
		v.no, v.unless = f.holding, f.under
	}
	return v
}

// ending is what a text is known to end with.
func (v *value) ending() string {
	if v.known {
		return v.text
	}
	return v.end
}

func commonEnd(a, b string) string {
	i, j := len(a), len(b)
	for i > 0 && j > 0 && a[i-1] == b[j-1] {
		i, j = i-1, j-1
	}
	return a[i:]
}

// longer is the one of two ways to the same value that asks for more.
func longer(a, b []Condition) []Condition {
	if len(b) > len(a) {
		return b
	}
	return a
}

// oneOf is what is checked where one of two flags is not the given constant.
func oneOf(a, b *value, not string, ofA, ofB []check) []check {
	switch {
	case a.known && a.text == not:
		return ofB
	case b.known && b.text == not:
		return ofA
	}
	return both(ofA, ofB)
}

func orNothing(v *value) *value {
	if v == nil {
		return nothing
	}
	return v
}

// set sets a field of a value that is being made.
func (v *value) set(name string, f *value) {
	if v.fields == nil {
		v.fields = map[string]*value{}
	}
	if _, there := v.fields[name]; there || len(v.fields) < maxFields {
		v.fields[name] = f
	}
}

// field is a property of a value.
func (v *value) field(name string) *value {
	if f := v.fields[name]; f != nil {
		return f
	}
	if len(v.taints) == 0 {
		return nothing
	}
	out := &value{}
	for _, t := range v.taints {
		if v.made != "" && (name == "name" || name == "stem" || name == "suffix") {
			t.safe |= pathname
		}
		if v.made == "" && strings.Count(t.origin, ".") < 4 && !t.embedded && name != "" {
			t.origin = strings.TrimPrefix(t.origin+"."+name, ".")
		}
		out.taints = append(out.taints, t)
	}
	return out
}

// element is any element of a list, or any value of a dictionary.
func (v *value) element() *value {
	out := &value{taints: v.taints}
	for _, i := range v.items {
		out = merge(out, i)
	}
	for _, k := range sortedKeys(v.fields) {
		out = merge(out, v.fields[k])
	}
	return out
}

// with returns a value whose taints are changed.
func (v *value) with(change func(*taint)) *value {
	left := maxNodes
	return v.changed(change, &left)
}

func (v *value) changed(change func(*taint), left *int) *value {
	if *left--; *left <= 0 || !v.tainted() {
		return v
	}
	out := *v
	out.taints = slices.Clone(v.taints)
	for i := range out.taints {
		change(&out.taints[i])
	}
	if len(v.fields) > 0 {
		out.fields = map[string]*value{}
		for _, k := range sortedKeys(v.fields) {
			out.fields[k] = v.fields[k].changed(change, left)
		}
	}
	if len(v.items) > 0 {
		out.items = make([]*value, len(v.items))
		for i, f := range v.items {
			out.items[i] = f.changed(change, left)
		}
	}
	return &out
}

// safer returns a value that is harmless for more classes.
func (v *value) safer(c class) *value {
	if c == 0 {
		return v
	}
	return v.with(func(t *taint) { t.safe |= c })
}

// plain is a value without fields, with all its taints at the top.
func (v *value) plain() *value {
	return &value{taints: v.flat(), text: v.text, known: v.known, made: v.made}
}

// sure are the classes for which each taint of a value is safe.
func (v *value) sure() class {
	out := ^class(0)
	for _, t := range v.flat() {
		out &= t.safe
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
