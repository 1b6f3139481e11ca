package answers

import (
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// What runs an argument, by what stands before that: code in the process itself, or the whole of
// a shell's line. A pattern's method exec runs nothing.
var (
	runsCode = regexp.MustCompile(`(?:(?:^|[^.\w$])(?:eval|import)|\bFunction|\brunIn(?:New|This)?Context|\bcompileFunction|\bvm\.Script|\._compile)\s*\([^;\n]{0,120}$`)
	runsLine = regexp.MustCompile(`(?:(?:^|[^.\w$])(?:exec|execSync|system|popen)|\bchild_process\.exec(?:Sync)?|\bcp\.exec(?:Sync)?|\bos\.(?:system|popen)|\bsubprocess\.get(?:status)?output)\s*\(\s*$`)
	// inPython are those of runsCode that only Python has.
	inPython = regexp.MustCompile(`(?:^|[^.\w])(?:eval|exec|compile)\s*\([^;\n]{0,120}$`)
)

// runOf is what stands for what the code runs of a value, by what stands before the value.
func (s *scope) runOf(before string) string {
	switch {
	case s.python && inPython.MatchString(before), runsCode.MatchString(before):
		return sinkhole.PlantedCode
	case runsLine.MatchString(before):
		return sinkhole.PlantedLine
	}
	return ""
}

// codeName is a member's name that promises code.
var codeName = regexp.MustCompile(`(?i)^(?:.*_)?(?:code|script|formula|expr|expression|javascript|js|python|py|function|fn|handler|hook|transform|template|condition|predicate|program|snippet|lambda|when|rule|plugin|source)$`)

// evaluates finds the evaluators of a source: where there is one, members with the name of code are
// answered with code wherever they are read.
var evaluates = regexp.MustCompile(`(?m)(?:^|[^.\w$])(?:eval|exec)\s*\(|\bnew\s+Function\s*\(|\brunIn(?:New|This)?Context\s*\(|\bcompileFunction\s*\(`)

// memberName is a name by which code reads a member of something.
var memberName = regexp.MustCompile(`(?:\[|\.get\()\s*["'](\w{2,30})["']|\.(\w{2,30})`)

// maxCodeNames bounds the names of code that unknown elements get.
const maxCodeNames = 8

// codeNames are the names that promise code and by which a source reads members.
func codeNames(src string, out []string) []string {
	for _, m := range memberName.FindAllStringSubmatch(src, 20_000) {
		name := m[1] + m[2]
		if len(out) < maxCodeNames && !slices.Contains(out, name) && codeName.MatchString(humps.ReplaceAllString(name, "${1}_$2")) {
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

// texts decode an answer as a text.
var texts = []string{".text()", ".arrayBuffer()", ".read()", ".text", ".content", ".read().decode("}

// runsText reports whether the text of an answer that the code before at decodes is run: in the
// same statement, or by the name that it is given.
func (s *scope) runsText(before string, names, after string) bool {
	if s.runOf(before) == sinkhole.PlantedCode {
		return true
	}
	if names == "" || strings.HasPrefix(names, "{") {
		return false
	}
	for at := 0; ; {
		i := strings.Index(after[at:], names)
		if i < 0 {
			return false
		}
		i += at
		at = i + len(names)
		line := after[:i][strings.LastIndexByte(after[:i], '\n')+1:]
		if (line == "" || !wordAhead.MatchString(line)) && s.runOf(line) == sinkhole.PlantedCode {
			return true
		}
	}
}

// programsOf are the addresses of which a file runs the text that they answer with.
func programsOf(src string, python bool) [][]string {
	var out [][]string
	s := scope{python: python}
	for _, word := range texts {
		for at := 0; len(out) < maxRoots; {
			i := strings.Index(src[at:], word)
			if i < 0 {
				break
			}
			at += i + len(word)
			from := max(0, at-len(word)-maxStatement)
			from += strings.LastIndexAny(src[from:at-len(word)], ";\n") + 1
			before, names := src[from:at-len(word)], ""
			if m := assigned.FindStringSubmatch(before); m != nil {
				names = m[1]
			}
			if !s.runsText(before, names, src[at:min(len(src), at+maxScope)]) {
				continue
			}
			if words := wordsOf(src[max(0, from-maxBefore):at]); len(words) > 0 {
				out = append(out, words)
			}
		}
	}
	return out
}
