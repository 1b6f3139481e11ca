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
			return f.checks(x, allowed(outside(c)))
		}
		return nil
	}
	begins, ends := anchored(p.tree)
	return f.checks(x, p.safe(begins || how == "match" || how == "fullmatch", ends || how == "fullmatch"))
}

// safe are the classes for which a text is harmless that a pattern matches from its beginning, and to its end.
func (p pattern) safe(begins, ends bool) class {
	if !begins {
		return 0
	}
	out := class(0)
	if chars, ok := runes(p.tree); ok && ends {
		out = allowed(chars)
	}
	if !beginsWithDash(p.tree) {
		out |= argument
	}
	return out
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
func allowed(c charset) class {
	out := class(0)
	if !c.any(";&|`$()<>\n\\\"'*?~{}[]!#") {
		out |= command
	}
	if !c.any("-") {
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

// beginsWithDash reports whether a text that a pattern matches at its beginning may begin with a dash, blanks
// aside, for they may be trimmed.
func beginsWithDash(tree *syntax.Regexp) bool {
	dash, empty := firstDash(tree)
	return dash || empty
}

// firstDash reports whether a match may begin with a dash, and whether it may be nothing but blanks.
func firstDash(tree *syntax.Regexp) (dash, empty bool) {
	switch tree.Op {
	case syntax.OpLiteral:
		text := strings.TrimLeft(string(tree.Rune), blanks)
		return strings.HasPrefix(text, "-"), text == ""
	case syntax.OpCharClass:
		return holds(tree.Rune, '-'), strings.ContainsFunc(blanks, func(r rune) bool { return holds(tree.Rune, r) })
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true, true
	case syntax.OpCapture, syntax.OpPlus:
		return firstDash(tree.Sub[0])
	case syntax.OpStar, syntax.OpQuest, syntax.OpRepeat:
		dash, _ = firstDash(tree.Sub[0])
		return dash, true
	case syntax.OpConcat:
		for _, s := range tree.Sub {
			d, e := firstDash(s)
			if dash = dash || d; !e {
				return dash, false
			}
		}
		return dash, true
	case syntax.OpAlternate:
		for _, s := range tree.Sub {
			d, e := firstDash(s)
			dash, empty = dash || d, empty || e
		}
		return dash, empty
	}
	return false, true // an anchor
}

// blanks are the characters that trimming takes away (ECMA-262, WhiteSpace and LineTerminator).
const blanks = " \t\n\v\f\r\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

// holds reports whether a list of ranges holds a character.
func holds(list []rune, r rune) bool {
	for i := 0; i+1 < len(list); i += 2 {
		if list[i] <= r && r <= list[i+1] {
			return true
		}
	}
	return false
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
	return allowed(left)
}

// withoutAny are the classes for which a text without these characters is harmless.
func withoutAny(list string) class {
	var c charset
	for _, r := range list {
		c.add(r, r)
	}
	return allowed(outside(c))
}
