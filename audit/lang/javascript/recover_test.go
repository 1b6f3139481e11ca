package javascript

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// TestRecover holds what stays of a source with an error: the names that are called.
func TestRecover(t *testing.T) {
	for _, c := range []struct{ name, file, src, calls, unread string }{
		{"a statement", "a.js", "a();\nb(1 2);\nc();", "a b c", "2:5"},
		{"in a function", "a.js", "function f() {\n  a();\n  const = 1;\n  b();\n}\nc();", "a b c", "3:9"},
		{"in an argument", "a.js", "on('x', () => { a(); let [; b(); });\nc();", "on a b c", "1:27"},
		{"a case", "a.js", "switch (x) { case 1: a(; break; case 2: b(); }\nc();", "a b c", "1:24"},
		{"a member", "a.js", "class A { m() { a(); } = ; n() { b(); } }\nc();", "a b c", "1:24"},
		{"no end of a call", "a.js", "a(\nconst x = b();\nc();", "a b c", "2:1"},
		{"a brace too many", "a.js", "a(); }\nb();", "a b", "1:6"},
		{"a brace too few", "a.js", "function f() { a();\nb();", "a b", "2:5"},
		{"a string", "a.js", "a('x);\nb();", "a b", "1:3"},
		{"a template", "a.js", "a(); `b${c()", "a c", "1:13"},
		{"a comment", "a.js", "a(); /* b()", "a", "1:6"},
		{"a regular expression", "a.js", "a(/x\n); b();", "a b", "1:3"},
		{"no JavaScript", "a.js", "\x00\x01 {{ \xff a(", "", "1:1"},
		{"a template in what is skipped", "a.js", "1 2 `a${ {b: `}`} };${d()}`; c()", "c", "1:3"},
		{"a type", "a.ts", "let x: = 1; a();\nb(c;", "a b", "1:8"},
		{"an element", "a.jsx", "a(<b>{c()}</b); d();\ne();", "a c e", "1:14"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Language{}.Parse(c.file, []byte(c.src))
			for _, name := range strings.Fields(c.calls) {
				found := false
				for _, fact := range factsOf(f, []byte(c.src)) {
					found = found || strings.HasSuffix(fact, "call "+name)
				}
				if !found {
					t.Errorf("the call of %s is lost: %s", name, printed(f.Body))
				}
			}
			if len(f.Unread) == 0 {
				t.Fatal("nothing is unread")
			}
			if at := f.Unread[0].Start; fmt.Sprintf("%d:%d", at.Line(), at.Column()) != c.unread {
				t.Errorf("unread from %d:%d, not %s", at.Line(), at.Column(), c.unread)
			}
		})
	}
}

// hostile are sources that take more than linear time or a deep stack where a parser is
// careless. Each is made of n repeated parts.
var hostile = []struct {
	file string
	make func(n int) string
}{
	{"parens.js", func(n int) string { return strings.Repeat("(", n) }},
	{"brackets.js", func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }},
	{"braces.js", func(n int) string { return strings.Repeat("{", n) }},
	{"objects.js", func(n int) string { return "x=" + strings.Repeat("{a:", n) }},
	{"functions.js", func(n int) string { return strings.Repeat("function f(){", n) }},
	{"arrows.ts", func(n int) string { return strings.Repeat("(a)=>", n) + "b" }},
	{"defaults.ts", func(n int) string { return strings.Repeat("(a=", n) }},
	{"conditions.ts", func(n int) string { return strings.Repeat("a?(b):c=>", n) }},
	{"typed.ts", func(n int) string { return strings.Repeat("a?(b):c=>", n) + "d" + strings.Repeat(":e", n) }},
	{"less.ts", func(n int) string { return strings.Repeat("a<", n) }},
	{"angles.ts", func(n int) string { return strings.Repeat("<", n) }},
	{"casts.ts", func(n int) string { return strings.Repeat("<T>", n) + "x" }},
	{"types.ts", func(n int) string { return "let x: " + strings.Repeat("A<", n) }},
	{"infer.ts", func(n int) string { return "type A = " + strings.Repeat("B extends infer C extends ", n) }},
	{"abstract.ts", func(n int) string { return "type A = " + strings.Repeat("new ", n) }},
	{"keyof.ts", func(n int) string { return "type A = " + strings.Repeat("keyof ", n) }},
	{"modifiers.ts", func(n int) string { return "class A {" + strings.Repeat("public ", n) }},
	{"elements.jsx", func(n int) string { return "x=" + strings.Repeat("<a>", n) }},
	{"attributes.jsx", func(n int) string { return "x=" + strings.Repeat("<a b=", n) }},
	{"unary.js", func(n int) string { return strings.Repeat("!", n) + "x" }},
	{"powers.js", func(n int) string { return strings.Repeat("a**", n) + "b" }},
	{"sums.js", func(n int) string { return strings.Repeat("a+b-", n) + "c" }},
	{"members.js", func(n int) string { return "a" + strings.Repeat(".b", n) }},
	{"calls.js", func(n int) string { return "a" + strings.Repeat("()", n) }},
	{"news.js", func(n int) string { return strings.Repeat("new ", n) + "x" }},
	{"classes.js", func(n int) string { return "x=" + strings.Repeat("class extends ", n) }},
	{"elses.js", func(n int) string { return strings.Repeat("if(a);else ", n) + "b" }},
	{"labels.js", func(n int) string { return strings.Repeat("a:", n) + "b" }},
	{"assigns.js", func(n int) string { return strings.Repeat("a=", n) + "b" }},
	{"templates.js", func(n int) string { return strings.Repeat("`${", n) }},
	{"backticks.js", func(n int) string { return strings.Repeat("`", n) + "x" }},
	{"regexps.js", func(n int) string { return strings.Repeat("/", 1) + strings.Repeat("[", n) }},
	{"slashes.js", func(n int) string { return strings.Repeat("a / [\n", n) }},
	{"comments.js", func(n int) string { return strings.Repeat("/*", n) }},
	{"closers.js", func(n int) string { return strings.Repeat(") ", n) }},
	{"errors.js", func(n int) string { return strings.Repeat("a b;\nc;\n", n) }},
	{"imports.js", func(n int) string { return strings.Repeat("import {", n) }},
	{"awaits.js", func(n int) string { return strings.Repeat("await ", n) }},
	{"asyncs.js", func(n int) string { return strings.Repeat("async ", n) }},
	{"calls.ts", func(n int) string { return strings.Repeat("async(a):b=>", n) }},
	{"decorators.ts", func(n int) string { return strings.Repeat("@a(", n) }},
	{"signatures.ts", func(n int) string { return "class A {" + strings.Repeat("[a: [", n) }},
	{"newlines.js", func(n int) string { return strings.Repeat("`\n", n) }},
	{"using.js", func(n int) string { return "{" + strings.Repeat("using x=y;", n) + "}" }},
}

// TestHostile parses sources that are as bad as they can be: none takes much longer for
// each byte when it is longer, and no tree is deep.
func TestHostile(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			src := c.make(200_000)
			begin := time.Now()
			f := Language{}.Parse(c.file, []byte(src))
			if spent := time.Since(begin); spent > 20*time.Second {
				t.Errorf("%d bytes took %v", len(src), spent)
			}
			if d := depth(reflect.ValueOf(f.Body)); d > maxDepth+100 {
				t.Errorf("the tree is %d deep", d)
			}
			if len(f.Unread) > maxUnread {
				t.Errorf("%d parts are unread", len(f.Unread))
			}
		})
	}
}

// depth returns how many nodes lie on the longest way down.
func depth(v reflect.Value) (deep int) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			deep = depth(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			deep = max(deep, depth(v.Index(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			deep = max(deep, depth(v.Field(i)))
		}
		if _, ok := v.Interface().(lang.Node); ok {
			deep++
		}
	}
	return deep
}
