package taint

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// Test is how a condition compares a parameter with a literal.
type Test string

// The tests. All but Clock name a parameter.
const (
	// Equals, Begins, Ends and Contains compare a text, and Equals a number too.
	Equals   Test = "equals"
	Begins   Test = "begins"
	Ends     Test = "ends"
	Contains Test = "contains"
	// Matches compares a text with a regular expression.
	Matches Test = "matches"
	// Above and Below compare a number, Longer and Shorter the length of a text or a list.
	Above   Test = "above"
	Below   Test = "below"
	Longer  Test = "longer"
	Shorter Test = "shorter"
	// Digest compares a digest of the parameter: the literal does not say what meets it.
	Digest Test = "digest"
	// Clock compares the time of the call.
	Clock Test = "clock"
)

// Condition is a test that a value has to pass.
type Condition struct {
	Test Test
	// Parameter is the last part of the parameter's name: "path" of args.path.
	Parameter string
	// Text is the literal: a text, a number as it is written, or the length.
	Text string
	// Number is set where the literal is a number.
	Number bool
	// OneOf is set where the test passes for others too, of which Text is the first.
	OneOf bool
	File  string
	Place lang.Span
}

// conditions are what has to hold for an expression to be true, or false.
func (f *frame) conditions(x lang.Expr, truth bool) []Condition {
	if !f.a.guarding || x == nil {
		return nil
	}
	if f.a.work--; f.a.work <= 0 {
		return nil
	}
	switch x := x.(type) {
	case lang.Operation:
		return f.conditionsOf(x, truth)
	case lang.Assign:
		return f.conditions(x.Value, truth)
	case lang.Call:
		if out := f.conditionsOfCall(x, truth); out != nil {
			return out
		}
		v, ok := f.calls[place(x)]
		if !ok {
			v = f.eval(x)
		}
		return v.conditions(truth)
	case lang.Name, lang.Attr:
		return f.eval(x).conditions(truth)
	}
	return nil
}

func (v *value) conditions(truth bool) []Condition {
	if truth {
		return v.when
	}
	return v.unless
}

func (f *frame) conditionsOf(x lang.Operation, truth bool) []Condition {
	switch x.Op {
	case "not", "!":
		if len(x.Operands) == 1 {
			return f.conditions(x.Operands[0], !truth)
		}
	case "await", "!!":
		if len(x.Operands) == 1 {
			return f.conditions(x.Operands[0], truth)
		}
	case "and", "&&", "or", "||":
		return f.conditionsOfAll(x, truth)
	}
	if len(x.Operands) != 2 {
		return nil
	}
	a, b := x.Operands[0], x.Operands[1]
	switch x.Op {
	case "==", "===", "is":
		if truth {
			return f.compared(a, b, Equals, x.Span)
		}
	case "!=", "!==", "is not":
		if !truth {
			return f.compared(a, b, Equals, x.Span)
		}
	case "in", "not in":
		if truth == (x.Op == "in") {
			return f.contained(a, b, x.Span)
		}
	case ">", ">=", "<", "<=":
		above := strings.HasPrefix(x.Op, ">") == truth
		if above {
			return f.compared(a, b, Above, x.Span)
		}
		return f.compared(a, b, Below, x.Span)
	}
	return nil
}

// conditionsOfAll are those of all operands, where all have to hold, or else those of the first
// operand that has some.
func (f *frame) conditionsOfAll(x lang.Operation, truth bool) []Condition {
	all := truth == (x.Op == "and" || x.Op == "&&")
	var out []Condition
	for _, o := range x.Operands {
		more := f.conditions(o, truth)
		if all {
			out = append(out, more...)
			continue
		}
		if len(more) > 0 {
			out = slices.Clone(more)
			for i := range out {
				out[i].OneOf = true
			}
			return out
		}
	}
	return out
}

// mirrored is a test with its sides exchanged.
var mirrored = map[Test]Test{Above: Below, Below: Above, Equals: Equals}

// compared is what a comparison asks of the one side that a caller supplies.
func (f *frame) compared(a, b lang.Expr, test Test, at lang.Span) []Condition {
	if out := f.comparedWith(a, b, test, at); out != nil {
		return out
	}
	return f.comparedWith(b, a, mirrored[test], at)
}

func (f *frame) comparedWith(x, literal lang.Expr, test Test, at lang.Span) []Condition {
	v := f.eval(literal)
	if f.eval(x).made == clock && (v.made == moment || v.known && v.text != "" && v.made != flag) {
		return []Condition{{Test: Clock, Text: v.text, File: f.src.Path, Place: at}}
	}
	if !v.known || v.made == flag || v.text == "" {
		return nil
	}
	c, isConst := literal.(lang.Const)
	number := isConst && c.Kind == lang.Number || !isConst && isNumber(v.text)
	if of := lengthOf(x); of != nil && number && test != Equals {
		if test == Above {
			return f.condition(of, Longer, v.text, true, at)
		}
		return f.condition(of, Shorter, v.text, true, at)
	}
	if (test == Above || test == Below) && !number {
		return nil
	}
	return f.condition(x, test, v.text, number, at)
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789.-") == ""
}

// lengthOf is what a length is of, nil for no length.
func lengthOf(x lang.Expr) lang.Expr {
	switch x := x.(type) {
	case lang.Attr:
		if x.Name == "length" || x.Name == "size" {
			return x.X
		}
	case lang.Call:
		if n, ok := x.Func.(lang.Name); ok && n.ID == "len" && len(x.Args) == 1 {
			return x.Args[0].Value
		}
	}
	return nil
}

// contained is what x in list asks: that a text has a part, or that it is one of a list.
func (f *frame) contained(x, list lang.Expr, at lang.Span) []Condition {
	if v := f.eval(x); v.known && v.text != "" {
		return f.condition(list, Contains, v.text, false, at)
	}
	v := f.eval(list)
	var first *value
	if len(v.items) > 0 {
		first = v.items[0]
	} else if keys := sortedKeys(v.fields); len(keys) > 0 {
		first = constant(keys[0])
	}
	if first == nil || !first.known || first.text == "" {
		return nil
	}
	out := f.condition(x, Equals, first.text, isNumber(first.text), at)
	for i := range out {
		out[i].OneOf = len(v.items)+len(v.fields) > 1
	}
	return out
}

// condition is a test of an expression, if it is a parameter's value.
func (f *frame) condition(x lang.Expr, test Test, text string, number bool, at lang.Span) []Condition {
	for _, t := range f.eval(x).taints {
		if t.embedded || t.joined {
			continue
		}
		if t.safe&digested != 0 {
			test = Digest
		}
		return []Condition{{Test: test, Parameter: parameterOf(t.origin), Text: text, Number: number, File: f.src.Path, Place: at}}
	}
	return nil
}

// methodTests are methods that test their receiver, or their first argument.
var methodTests = map[string]Test{
	"startsWith": Begins, "startswith": Begins, "endsWith": Ends, "endswith": Ends, "includes": Contains, "contains": Contains, "has": Contains, "equals": Equals,
	"test": Matches, "exec": Matches, "match": Matches, "search": Matches, "fullmatch": Matches, "MatchString": Matches,
}

// functionTests are functions that test their first argument with their second.
var functionTests = map[string]Test{
	"strings.HasPrefix": Begins, "strings.HasSuffix": Ends, "strings.Contains": Contains, "strings.EqualFold": Equals,
	"hmac.compare_digest": Equals, "secrets.compare_digest": Equals, "crypto.timingSafeEqual": Equals, "crypto/subtle.ConstantTimeCompare": Equals, "operator.eq": Equals,
	"re.match": Matches, "re.fullmatch": Matches, "re.search": Matches, "regexp.MatchString": Matches,
}

func (f *frame) conditionsOfCall(x lang.Call, truth bool) []Condition {
	if !truth || len(x.Args) == 0 {
		return nil
	}
	first := x.Args[0].Value
	if site := f.src.facts.CallAt(x.Place()); site != nil && len(x.Args) > 1 {
		for _, n := range site.Names {
			_, name := sinks.Of(f.src.Language, n, nil)
			test, second := functionTests[name], x.Args[1].Value
			if test == Matches {
				return f.matched(second, first, x.Span)
			}
			if test != "" {
				if out := f.testedBy(first, second, test, x.Span); out != nil {
					return out
				}
				return f.testedBy(second, first, test, x.Span)
			}
		}
	}
	m, ok := x.Func.(lang.Attr)
	if !ok {
		return nil
	}
	if (m.Name == "After" || m.Name == "Before") && f.eval(m.X).made == clock && f.eval(first).made == moment {
		return []Condition{{Test: Clock, File: f.src.Path, Place: x.Span}}
	}
	switch test := methodTests[m.Name]; test {
	case "":
	case Matches:
		if f.src.Language == "JavaScript" && (m.Name == "match" || m.Name == "search") {
			return f.matched(m.X, first, x.Span)
		}
		return f.matched(first, m.X, x.Span)
	case Contains:
		if v := f.eval(m.X); len(v.taints) == 0 { // list.includes(x)
			return f.contained(first, m.X, x.Span)
		}
		return f.testedBy(m.X, first, test, x.Span)
	default:
		return f.testedBy(m.X, first, test, x.Span)
	}
	return nil
}

func (f *frame) testedBy(x, literal lang.Expr, test Test, at lang.Span) []Condition {
	v := f.eval(literal)
	several := false
	if len(v.items) > 0 { // x.endswith((".md", ".txt"))
		v, several = v.items[0], true
	}
	if !v.known || v.text == "" || v.made == flag {
		return nil
	}
	out := f.condition(x, test, v.text, false, at)
	for i := range out {
		out[i].OneOf = several
	}
	return out
}

func (f *frame) matched(x, re lang.Expr, at lang.Span) []Condition {
	p, ok := f.pattern(re, f.eval(re))
	if !ok {
		return nil
	}
	return f.condition(x, Matches, p.text, false, at)
}
