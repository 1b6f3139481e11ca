package taint

import (
	"regexp/syntax"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// pattern is a regular expression of a source.
type pattern struct {
	text string
	tree *syntax.Regexp
	// global is set for the flag g of JavaScript.
	global bool
}

func ofTree(tree *syntax.Regexp) pattern { return pattern{tree: tree} }

// maxPattern bounds the bytes of a pattern.
const maxPattern = 500

// pattern returns the regular expression that an expression is, or was compiled from.
func (f *frame) pattern(x lang.Expr, v *value) (pattern, bool) {
	text, flags := "", ""
	switch k := x.(type) {
	case lang.Const:
		text = k.Text
		if k.Kind == lang.Regexp {
			text, flags = lang.SplitRegexp(k.Text)
		}
	case lang.Call:
		if len(k.Args) > 0 && (lastOf(k.Func) == "compile" || lastOf(k.Func) == "MustCompile" || lastOf(k.Func) == "RegExp") {
			p, ok := f.pattern(k.Args[0].Value, nothing)
			if len(k.Args) > 1 && lastOf(k.Func) == "RegExp" {
				more, _ := lang.Fold(k.Args[1].Value)
				return compiled(p.text, more.Text)
			}
			return p, ok
		}
	case lang.Name, lang.Attr:
		name := lastOf(x)
		if y := f.src.assigned[name]; y != nil {
			if _, again := y.(lang.Name); !again {
				return f.pattern(y, nothing)
			}
		}
	}
	if text == "" && v != nil && v.known {
		text = v.text
	}
	if text == "" || len(text) > maxPattern {
		return pattern{}, false
	}
	return compiled(text, flags)
}

// compiled is a pattern with the flags of JavaScript: i, m and s are those of Go, and g
// says that all places count.
func compiled(text, flags string) (pattern, bool) {
	mode := syntax.Perl
	if strings.Contains(flags, "i") {
		mode |= syntax.FoldCase
	}
	if strings.Contains(flags, "m") {
		mode &^= syntax.OneLine
	}
	if strings.Contains(flags, "s") {
		mode |= syntax.DotNL
	}
	tree, err := syntax.Parse(goSyntax(text), mode)
	if err != nil || text == "" {
		return pattern{}, false
	}
	return pattern{text: text, tree: tree.Simplify(), global: strings.Contains(flags, "g")}, true
}

// goSyntax is a pattern of Python or JavaScript as Go reads it.
func goSyntax(text string) string {
	return strings.NewReplacer(`\Z`, `\z`, `\/`, `/`, `\-`, `\-`).Replace(text)
}

// matches is what a match, or its absence, means.
func (f *frame) matches(re, x lang.Expr, how string, truth bool) []check {
	if x == nil {
		return nil
	}
	p, ok := f.pattern(re, f.eval(re))
	if !ok {
		return nil
	}
	if !truth {
		if c, ok := oneClass(p.tree); ok && how != "fullmatch" && how != "match" {
			return f.checks(x, allowed(outside(c), "x"))
		}
		return nil
	}
	begins, ends := anchored(p.tree)
	if (!begins && how != "fullmatch" && how != "match") || !ends && how != "fullmatch" {
		if begins || how == "match" || how == "fullmatch" {
			if r, ok := firstRune(p.tree); ok && r != '-' {
				return f.checks(x, argument)
			}
		}
		return nil
	}
	chars, ok := runes(p.tree)
	if !ok {
		return nil
	}
	return f.checks(x, allowed(chars, p.text))
}

// charset tells which of the first 128 characters a text may have, and others by high.
type charset struct {
	low  [128]bool
	high bool
}

func (c charset) any(list string) bool {
	for _, r := range list {
		if c.low[r] {
			return true
		}
	}
	return false
}

// allowed are the classes for which a text of these characters is harmless.
func allowed(c charset, text string) class {
	out := class(0)
	if !c.any(";&|`$()<>\n\\\"'*?~{}[]!#") {
		out |= command
	}
	if !c.any("-") || strings.HasPrefix(text, "^[") && !firstHasDash(text) {
		out |= argument
	}
	if !c.any("/") {
		out |= pathname | noDots | noRoot
	}
	if !c.any(".") {
		out |= noDots
	}
	if !c.any("/:@?#\\.") {
		out |= request
	}
	if !c.any("'\"`;() \t\n/*=") {
		out |= statement
	}
	out |= selector // a text
	if !c.any("_") {
		out |= noProto
	}
	if !c.any("o") {
		out |= noConstructor
	}
	if !c.any("()[]{}.'\"`;=<>$") {
		out |= code | object
	}
	return out
}

// firstHasDash reports whether the class at the beginning of a pattern holds a dash.
func firstHasDash(text string) bool {
	tree, err := syntax.Parse(goSyntax(text), syntax.Perl)
	if err != nil {
		return true
	}
	for _, s := range tree.Simplify().Sub {
		if s.Op == syntax.OpBeginText || s.Op == syntax.OpBeginLine {
			continue
		}
		if s.Op == syntax.OpPlus && len(s.Sub) == 1 {
			s = s.Sub[0]
		}
		if s.Op == syntax.OpCharClass {
			return ranges(s.Rune).low['-']
		}
		if s.Op == syntax.OpLiteral && len(s.Rune) > 0 {
			return s.Rune[0] == '-'
		}
		return true
	}
	return true
}

func firstRune(tree *syntax.Regexp) (rune, bool) {
	for _, s := range append([]*syntax.Regexp{}, tree.Sub...) {
		if s.Op == syntax.OpBeginText || s.Op == syntax.OpBeginLine {
			continue
		}
		if s.Op == syntax.OpLiteral && len(s.Rune) > 0 {
			return s.Rune[0], true
		}
		break
	}
	return 0, false
}

// anchored reports whether a pattern matches from the beginning of a text, and to its end.
func anchored(tree *syntax.Regexp) (begins, ends bool) {
	switch tree.Op {
	case syntax.OpConcat:
		if n := len(tree.Sub); n > 0 {
			begins, _ = anchored(tree.Sub[0])
			_, ends = anchored(tree.Sub[n-1])
		}
	case syntax.OpCapture:
		return anchored(tree.Sub[0])
	case syntax.OpAlternate:
		begins, ends = true, true
		for _, s := range tree.Sub {
			b, e := anchored(s)
			begins, ends = begins && b, ends && e
		}
	case syntax.OpBeginText:
		begins = true
	case syntax.OpEndText:
		ends = true
	}
	return begins, ends
}

// runes are the characters that a match may have.
func runes(tree *syntax.Regexp) (charset, bool) {
	var out charset
	switch tree.Op {
	case syntax.OpLiteral:
		for _, r := range tree.Rune {
			out.add(r, r)
		}
		if tree.Flags&syntax.FoldCase != 0 {
			for r := 'A'; r <= 'z'; r++ {
				out.low[r] = out.low[r] || r <= 'Z' || r >= 'a'
			}
		}
	case syntax.OpCharClass:
		return ranges(tree.Rune), true
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return out, false
	default:
		for _, s := range tree.Sub {
			c, ok := runes(s)
			if !ok {
				return out, false
			}
			for i, in := range c.low {
				out.low[i] = out.low[i] || in
			}
			out.high = out.high || c.high
		}
	}
	return out, true
}

func ranges(list []rune) charset {
	var out charset
	for i := 0; i+1 < len(list); i += 2 {
		out.add(list[i], list[i+1])
	}
	return out
}

func (c *charset) add(from, to rune) {
	for r := from; r <= min(to, 127); r++ {
		c.low[r] = true
	}
	c.high = c.high || to > 127
}

// oneClass is the class that a pattern looks for one character of.
func oneClass(tree *syntax.Regexp) (charset, bool) {
	for tree.Op == syntax.OpCapture || tree.Op == syntax.OpPlus || tree.Op == syntax.OpStar && len(tree.Sub) == 1 {
		tree = tree.Sub[0]
	}
	switch tree.Op {
	case syntax.OpCharClass:
		return ranges(tree.Rune), true
	case syntax.OpLiteral:
		if len(tree.Rune) == 1 {
			return ranges([]rune{tree.Rune[0], tree.Rune[0]}), true
		}
	}
	return charset{}, false
}

// outside are the characters that are not in a set.
func outside(c charset) charset {
	var out charset
	for i, in := range c.low {
		out.low[i] = !in
	}
	out.high = true
	return out
}

// leftBy are the classes for which a text is harmless once all that a pattern finds is
// replaced by another text.
func leftBy(p pattern, with string) class {
	c, ok := oneClass(p.tree)
	if !ok {
		return 0
	}
	left := outside(c)
	if with == `'\''` || with == `'\\''` || with == `'"'"'` {
		return command // closed, escaped and opened again
	}
	for _, r := range with {
		if r < 128 {
			left.low[r] = true
		}
	}
	return allowed(left, "")
}

// withoutAny are the classes for which a text without these characters is harmless.
func withoutAny(list string) class {
	var c charset
	for _, r := range list {
		c.add(r, r)
	}
	return allowed(outside(c), "")
}
