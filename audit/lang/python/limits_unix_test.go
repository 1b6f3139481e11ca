package python

import (
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// What is nested without end becomes Unread, and what is long without end is read.
func TestDeepAndLong(t *testing.T) {
	const n = 100_000
	lines := func(line string) string { return strings.Repeat(line, n) }
	var ladder strings.Builder
	for i := range 2000 {
		ladder.WriteString(strings.Repeat(" ", i) + "if x:\n")
	}
	for _, c := range []struct {
		name, src string
		deep      bool
	}{
		{"parentheses", lines("(") + lines(")"), true},
		{"brackets", lines("["), true},
		{"unary", lines("-") + "1", true},
		{"not", lines("not ") + "1", true},
		{"lambda", lines("lambda:") + "1", true},
		{"conditions", lines("a if b else ") + "c", true},
		{"powers", lines("a**") + "c", true},
		{"await", lines("await ") + "c", true},
		{"attributes", "a" + lines(".b"), true},
		{"calls", "a" + lines("()"), true},
		{"mixed operators", "a" + lines("+b-c"), true},
		{"f-strings", lines("f'{") + "a", true},
		{"formats", "f'" + lines("{a:") + "'", true},
		{"patterns", "match a:\n case " + lines("[") + ":\n  pass", true},
		{"elif", "if a: b\n" + lines("elif c: d\n"), true},
		{"blocks", ladder.String(), true},
		{"quotes", lines("'"), true},
		{"backslashes", lines("\\"), true},
		{"with", lines("with (a"), true},
		{"operators", "a" + lines("+b"), false},
		{"comparisons", "a" + lines("<b"), false},
		{"elements", "[" + lines("a,") + "]", false},
		{"strings", "(" + lines("'a'\n") + ")", false},
		{"statements", lines("a;") + "\n" + lines("b\n"), false},
		{"decorators", lines("@a\n") + "def f(): pass", false},
		{"targets", lines("a = ") + "b", false},
		{"match words", lines("match a\n"), true},
		{"errors", lines("a b\n"), true},
		{"dedents", lines("if a:\n  b\n c\n"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := cputime.Used(t)
			f := parse(c.src)
			lang.Walk(f, func(lang.Node, *lang.Scope) bool { return true })
			if took := cputime.Used(t) - from; took > 5*time.Second {
				t.Errorf("took %v of the processors", took)
			}
			if (len(f.Unread) > 0) != c.deep {
				t.Errorf("unread: %d", len(f.Unread))
			}
		})
	}
}
