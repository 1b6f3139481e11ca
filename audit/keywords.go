package audit

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
	"github.com/zricethezav/gitleaks/v8/config"
)

// keywords finds in a text the words of rules, each rule of which is nearby or not.
type keywords struct {
	trie *ahocorasick.Trie
	// near has for each word how far around it the expressions of nearby rules reach, 0
	// for none, and far whether a rule that is not nearby has it. runs are what one of the
	// nearby rules needs there.
	near []int
	runs []charRun
	far  []bool
}

// maxReach bounds how long a match of a nearby rule is, in bytes.
const maxReach = 1 << 10

// reach is how long a match of a rule may be, where each match holds one of its words: its
// expression needs to be tried only so far around them. It is 0 for a rule of which that is
// not known.
func reach(r config.Rule) int {
	if r.Regex == nil || r.Path != nil || len(r.Keywords) == 0 {
		return 0
	}
	tree, err := syntax.Parse(r.Regex.String(), syntax.Perl)
	if err != nil {
		return 0
	}
	n := longest(tree)
	if n < 0 || n > maxReach || !holdsOne(tree, r.Keywords) {
		return 0
	}
	return n + 8 // what it looks at beside its match
}

func newKeywords(near, far map[string]config.Rule) *keywords {
	k := &keywords{}
	at := map[string]int{}
	var words []string
	id := func(w string) int {
		w = strings.ToLower(w)
		if _, there := at[w]; !there {
			at[w] = len(words)
			words = append(words, w)
			k.near, k.runs, k.far = append(k.near, 0), append(k.runs, charRun{least: maxReach}), append(k.far, false)
		}
		return at[w]
	}
	for _, r := range near {
		run := charRun{}
		if tree, err := syntax.Parse(r.Regex.String(), syntax.Perl); err == nil {
			run = runIn(tree)
		}
		for _, w := range r.Keywords {
			i := id(w)
			k.near[i] = max(k.near[i], reach(r))
			k.runs[i] = k.runs[i].or(run)
		}
	}
	for _, r := range far {
		for _, w := range r.Keywords {
			k.far[id(w)] = true
		}
	}
	k.trie = ahocorasick.NewTrieBuilder().AddStrings(words).Build()
	return k
}

// places are the parts of a text around the words of nearby rules, and whether a rule that
// is not nearby has a word in it.
func (k *keywords) places(src string) (near []window, far bool) {
	low := []byte(src)
	for i, c := range low {
		if c >= 'A' && c <= 'Z' {
			low[i] = c | 0x20
		}
	}
	k.trie.Walk(low, func(end, n, word int64) bool {
		far = far || k.far[word]
		if r := k.near[word]; r > 0 {
			if from, to := max(int(end)+1-int(n)-r, 0), min(int(end)+1+r, len(src)); k.runs[word].in(src[from:to]) {
				near = appendWindow(near, src, from, to)
			}
		}
		return true
	})
	return near, far
}

// charRun is what each match of an expression holds: so many bytes in a row of a class. A secret
// is such a run, and most places of a word have none nearby.
type charRun struct {
	class [4]uint64 // a bit for each byte
	least int
}

// shortestRun is a length below which a run tells nothing.
const shortestRun = 8

// or is what a match of one of two expressions holds.
func (c charRun) or(o charRun) charRun {
	for i := range c.class {
		c.class[i] |= o.class[i]
	}
	c.least = min(c.least, o.least)
	return c
}

// in reports whether a text holds the run.
func (c *charRun) in(s string) bool {
	for i, n := 0, 0; i < len(s); i++ {
		if n++; c.class[s[i]>>6]&(1<<(s[i]&63)) == 0 {
			n = 0
		}
		if n >= c.least {
			return true
		}
	}
	return c.least == 0
}

// runIn is the longest run that each match of an expression holds, of no length for none.
func runIn(re *syntax.Regexp) (out charRun) {
	switch re.Op {
	case syntax.OpCapture:
		return runIn(re.Sub[0])
	case syntax.OpConcat:
		for _, s := range re.Sub {
			if r := runIn(s); r.least > out.least {
				out = r
			}
		}
	case syntax.OpAlternate:
		out = runIn(re.Sub[0])
		for _, s := range re.Sub[1:] {
			out = out.or(runIn(s))
		}
	case syntax.OpRepeat:
		if class := re.Sub[0]; class.Op == syntax.OpCharClass && re.Min >= shortestRun {
			out = charRun{classOf(class.Rune), re.Min}
		}
	}
	return out
}

// classOf are the bytes of which characters of a class consist.
func classOf(ranges []rune) (out [4]uint64) {
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= min(ranges[i+1], unicode.MaxASCII); r++ {
			out[r>>6] |= 1 << (r & 63)
		}
		if ranges[i+1] > unicode.MaxASCII {
			out[2], out[3] = ^uint64(0), ^uint64(0)
		}
	}
	return out
}

// longest is the most bytes that a match takes, -1 without a bound.
func longest(re *syntax.Regexp) int {
	all := func(join func(a, b int) int) int {
		n := 0
		for _, sub := range re.Sub {
			m := longest(sub)
			if m < 0 {
				return -1
			}
			n = join(n, m)
		}
		return n
	}
	switch re.Op {
	case syntax.OpLiteral:
		return 4 * len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		if !slices.ContainsFunc(re.Rune, func(r rune) bool { return r > unicode.MaxASCII }) && re.Op == syntax.OpCharClass {
			return 1
		}
		return 4
	case syntax.OpConcat:
		return all(func(a, b int) int { return a + b })
	case syntax.OpAlternate, syntax.OpCapture, syntax.OpQuest:
		return all(func(a, b int) int { return max(a, b) })
	case syntax.OpRepeat:
		n := longest(re.Sub[0])
		if re.Max < 0 || n < 0 {
			return -1
		}
		return re.Max * n
	case syntax.OpStar, syntax.OpPlus:
		return -1
	}
	return 0 // an empty match
}

// holdsOne reports whether each match holds one of some words, in any case.
func holdsOne(re *syntax.Regexp, words []string) bool {
	if hold(texts(re), words) {
		return true
	}
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return holdsOne(re.Sub[0], words)
	case syntax.OpRepeat:
		return re.Min > 0 && holdsOne(re.Sub[0], words)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !holdsOne(s, words) })
	case syntax.OpConcat:
		run := []string{""}
		for _, s := range re.Sub {
			if holdsOne(s, words) {
				return true
			}
			if next := texts(s); next == nil || len(run)*len(next) > maxTexts {
				run = []string{""}
			} else if run = product(run, next); hold(run, words) {
				return true
			}
		}
	}
	return false
}

// maxTexts bounds the texts of an expression that are looked at.
const maxTexts = 200

// texts are all that an expression matches, in lower case, nil for too many.
func texts(re *syntax.Regexp) []string {
	out := []string{""}
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCharClass:
		out = nil
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i+1]-re.Rune[i] > 4 {
				return nil
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				out = append(out, strings.ToLower(string(r)))
			}
		}
	case syntax.OpConcat:
		for _, s := range re.Sub {
			next := texts(s)
			if next == nil || len(out)*len(next) > maxTexts {
				return nil
			}
			out = product(out, next)
		}
	case syntax.OpAlternate:
		out = nil
		for _, s := range re.Sub {
			next := texts(s)
			if next == nil {
				return nil
			}
			out = append(out, next...)
		}
	case syntax.OpCapture, syntax.OpQuest:
		if out = texts(re.Sub[0]); out != nil && re.Op == syntax.OpQuest {
			out = append(out, "")
		}
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
	default:
		return nil
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) == 0 || len(out) > maxTexts {
		return nil
	}
	return out
}

func product(a, b []string) (out []string) {
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

// hold reports whether each of some texts holds one of some words.
func hold(list, words []string) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(s string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, strings.ToLower(w)) })
	})
}
