package answers

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// What runs an argument, by what stands before that: code in the process itself, or the whole of
// a shell's line. A pattern's method exec runs nothing.
var (
	runsCode = lazyregexp.New(`(?:(?:^|[^.\w$])(?:eval|import)|\bFunction|\brunIn(?:New|This)?Context|\bcompileFunction|\bvm\.Script|\._compile)\s*\(`)
	runsLine = lazyregexp.New(`(?:(?:^|[^.\w$])(?:exec|execSync|system|popen)|\bchild_process\.exec(?:Sync)?|\bcp\.exec(?:Sync)?|\bos\.(?:system|popen)|\bsubprocess\.get(?:status)?output)\s*\(\s*$`)
	// inPython are those of runsCode that only Python has.
	inPython = lazyregexp.New(`(?:^|[^.\w])(?:eval|exec|compile)\s*\(`)
)

const (
	// maxArgument is how far into the arguments of what runs code a value is looked for, and maxCall how much of a
	// statement before a value is looked at for such a call.
	maxArgument, maxCall = 120, 160
	// maxCalls bounds the calls that run code, and maxTexts the places that decode a text, of one file.
	maxCalls, maxTexts = 2_000, 2_000
)

// runOf is what stands for what the code runs of a value, by what stands before the value.
func (s *scope) runOf(before string) string {
	before = before[max(0, len(before)-maxCall):]
	switch {
	case slices.ContainsFunc(codeIn(before, s.python), func(c span) bool { return c.to == len(before) }):
		return sinkhole.PlantedCode
	case runsLine.MatchString(before):
		return sinkhole.PlantedLine
	}
	return ""
}

// span is a part of a source.
type span struct{ from, to int }

// codeIn are the arguments of the calls that run code, in order.
func codeIn(src string, python bool) []span {
	found := runsCode.FindAllStringIndex(src, maxCalls)
	if python {
		found = append(found, inPython.FindAllStringIndex(src, maxCalls)...)
	}
	out := make([]span, 0, len(found))
	for _, m := range found {
		arguments := src[m[1]:min(len(src), m[1]+maxArgument)]
		if i := strings.IndexAny(arguments, ";\n"); i >= 0 {
			arguments = arguments[:i]
		}
		out = append(out, span{m[1], m[1] + len(arguments)})
	}
	slices.SortFunc(out, func(a, b span) int { return a.from - b.from })
	return out
}

// codeName is a member's name that promises code.
var codeName = lazyregexp.New(`(?i)^(?:.*_)?(?:code|script|formula|expr|expression|javascript|js|python|py|function|fn|handler|hook|transform|template|condition|predicate|program|snippet|lambda|when|rule|plugin|source)$`)

// evaluates finds the evaluators of a source: where there is one, members with the name of code are
// answered with code wherever they are read.
var evaluates = lazyregexp.New(`(?m)(?:^|[^.\w$])(?:eval|exec)\s*\(|\bnew\s+Function\s*\(|\brunIn(?:New|This)?Context\s*\(|\bcompileFunction\s*\(`)

// memberName is a name by which code reads a member of something.
var memberName = lazyregexp.New(`(?:\[|\.get\()\s*["'](\w{2,30})["']|\.(\w{2,30})`)

// maxCodeNames bounds the names of code that unknown elements get, and maxReads the reads of members of one file that are
// looked at for them.
const maxCodeNames, maxReads = 8, 20_000

// codeNames are the names that promise code and by which a source reads members.
func codeNames(src string, out []string) []string {
	for range maxReads {
		if len(out) >= maxCodeNames {
			break
		}
		m := memberName.FindStringSubmatchIndex(src)
		if m == nil {
			break
		}
		name := src[max(m[2], m[4]):max(m[3], m[5])] // one of two, the other is -1
		src = src[m[1]:]
		if !slices.Contains(out, name) && codeName.MatchString(humps.ReplaceAllString(name, "${1}_$2")) {
			out = append(out, name)
		}
	}
	return out
}

// withCode gives every member of such a name code, where nothing else is known. The elements of a
// list have the members names, where nothing else is known.
func (s *shape) withCode(name string, names []string) {
	if s == nil {
		return
	}
	if s.kind == list && (s.element == nil || s.element.empty()) {
		for _, n := range names {
			s.of().member(n)
		}
	}
	if (s.kind == unknown || s.kind == text) && s.value == nil && s.runs == "" && codeName.MatchString(humps.ReplaceAllString(name, "${1}_$2")) {
		s.runs = sinkhole.PlantedCode
	}
	for member, m := range s.members {
		m.withCode(member, names)
	}
	s.element.withCode(strings.TrimSuffix(name, "s"), names)
}

// decodesText is what decodes an answer as a text.
var decodesText = lazyregexp.New(`\.(?:(?:text|content)\b|(?:arrayBuffer|read)\(\))`)

// runsText reports whether one of the calls that run code has the text that is decoded at a place: there itself, or by
// one of the names that it is given, in the code behind.
func runsText(src string, calls []span, at span, names string) bool {
	for _, c := range calls {
		switch {
		case c.from <= at.from:
			if at.from <= c.to {
				return true
			}
		case c.from >= at.to+maxScope:
			return false
		case c.from >= at.to && names != "" && names[0] != '{':
			if start, _ := nextName(src[c.from:c.to], names, 0); start >= 0 {
				return true
			}
		}
	}
	return false
}

// programsOf are the addresses of which a file runs the text that they answer with, each once.
func programsOf(src string, python bool) [][]string {
	texts := decodesText.FindAllStringIndex(src, maxTexts)
	if len(texts) == 0 {
		return nil
	}
	var out [][]string
	calls := codeIn(src, python)
	for _, m := range texts {
		// What ends before this place is of no use to later ones either.
		for len(calls) > 0 && calls[0].from+maxArgument < m[0] {
			calls = calls[1:]
		}
		from := max(0, m[0]-maxStatement)
		from += strings.LastIndexAny(src[from:m[0]], ";\n") + 1
		names := ""
		if a := assigned.FindStringSubmatch(src[from:m[0]]); a != nil {
			names = a[1]
		}
		if !runsText(src, calls, span{m[0], m[1]}, names) {
			continue
		}
		words := wordsOf(src[max(0, from-maxBefore):m[1]])
		if len(words) > 0 && !slices.ContainsFunc(out, func(o []string) bool { return slices.Equal(o, words) }) {
			out = append(out, words)
		}
		if len(out) >= maxRoots {
			break
		}
	}
	return out
}
