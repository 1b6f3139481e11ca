package literals

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

const (
	maxPatterns = 100
	// maxExpression bounds one regular expression, in bytes.
	maxExpression = 300
	// maxMarks bounds the places of one file that are looked at, beforeMark and behindMark what is looked at there,
	// maxWindow how much is searched for a mark at a time.
	maxMarks   = 400
	beforeMark = 80
	behindMark = maxExpression + 100
	maxWindow  = 4096
)

// Pattern is a regular expression of the source that a whole text is compared with.
type Pattern struct {
	// Name is the constant that holds it, or the variable that is compared with it.
	Name string
	// Expression is in Go's syntax, without anchors.
	Expression string
}

// quotedExpression is an expression between one kind of quotation marks.
const quotedExpression = `[rR]?(?:"((?:[^"\\\n]|\\.)+)"|'((?:[^'\\\n]|\\.)+)'|` + "`([^`\n]+)`" + `)`

var (
	// namedPattern is a constant with a compiled expression, in Python, Go, Ruby and JavaScript.
	namedPattern = lazyregexp.New(`([A-Za-z_]\w*)\s*(?::[^=\n]{1,40})?:?=\s*(?:re\.compile|regexp\.(?:MustCompile|Compile)|(?:new )?RegExp|Regexp\.new)\(\s*` + quotedExpression)
	// wholePattern is an expression at the place where it is compared, in Python.
	wholePattern = lazyregexp.New(`\bre\.(?:fullmatch|match)\(\s*` + quotedExpression + `\s*,\s*([A-Za-z_][\w.]*\(?)`)
	// slashedPattern is a constant with a literal expression, in JavaScript and Ruby.
	slashedPattern = lazyregexp.New(`([A-Za-z_]\w*)\s*[:=]\s*/(\^(?:[^/\\\n]|\\.)+\$)/[a-z]*`)
	// testedPattern is a literal expression at the place where it is compared.
	testedPattern = lazyregexp.New(`/(\^(?:[^/\\\n]|\\.)+\$)/[a-z]*\.(?:test|exec)\(\s*(?:String\(\s*)?([A-Za-z_$][\w.$]*\(?)`)
	// matchedPattern is one that a text is asked to match.
	matchedPattern = lazyregexp.New(`([A-Za-z_$][\w.$]*)\.match\(\s*/(\^(?:[^/\\\n]|\\.)+\$)/[a-z]*`)
)

// Expressions stand close behind one of these marks, and their names close before.
var marks = []string{"re.compile(", "re.fullmatch(", "re.match(", "regexp.", "RegExp(", "Regexp.new(", "/^"}

// patternsOf are the expressions of one file with which whole texts are compared, in their order.
func patternsOf(source string) []Pattern {
	var out []Pattern
	add := func(name, expression string, anchored bool) {
		if !anchored && !strings.HasPrefix(expression, "^") {
			return
		}
		p, ok := inGo(expression)
		found := Pattern{Name: lastPart(name), Expression: p}
		if ok && len(out) < maxPatterns && !slices.Contains(out, found) {
			out = append(out, found)
		}
	}
	for _, near := range besideMarks(source) {
		for _, m := range namedPattern.FindAllStringSubmatch(near, maxPatterns) {
			add(m[1], m[2]+m[3]+m[4], strings.Contains(source, m[1]+".fullmatch(") || strings.Contains(source, m[1]+".match("))
		}
		for _, m := range wholePattern.FindAllStringSubmatch(near, maxPatterns) {
			add(m[4], m[1]+m[2]+m[3], true)
		}
		for _, m := range slashedPattern.FindAllStringSubmatch(near, maxPatterns) {
			add(m[1], m[2], false)
		}
		for _, m := range testedPattern.FindAllStringSubmatch(near, maxPatterns) {
			add(m[2], m[1], false)
		}
		for _, m := range matchedPattern.FindAllStringSubmatch(near, maxPatterns) {
			add(m[1], m[2], false)
		}
	}
	return out
}

// besideMarks are the parts of a source that have a mark, in their order.
func besideMarks(source string) []string {
	var out []string
	for at := 0; len(out) < maxMarks && at < len(source); {
		next := -1
		for _, m := range marks {
			if i := strings.Index(source[at:min(len(source), at+maxWindow)], m); i >= 0 && (next < 0 || i < next) {
				next = i
			}
		}
		if next < 0 {
			at += maxWindow - len("re.fullmatch(")
			continue
		}
		out = append(out, source[max(0, at+next-beforeMark):min(len(source), at+next+behindMark)])
		at += next + 1
	}
	return out
}

// lastPart is the name behind the last dot that is no method's, as in "args.bucket" and in "args.bucket.trim(".
func lastPart(name string) string {
	if method := strings.HasSuffix(name, "("); method {
		name = name[:max(strings.LastIndexByte(name, '.'), 0)]
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}

// inGo writes an expression in Go's syntax without its anchors; false for one that Go does not know.
func inGo(expression string) (string, bool) {
	if len(expression) > maxExpression {
		return "", false
	}
	expression = strings.TrimPrefix(expression, "^")
	for _, end := range []string{`$`, `\Z`, `\z`} {
		if rest, found := strings.CutSuffix(expression, end); found && !strings.HasSuffix(rest, `\`) {
			expression = rest
			break
		}
	}
	expression = strings.ReplaceAll(expression, `\/`, `/`)
	parsed, err := syntax.Parse(expression, syntax.Perl)
	return expression, err == nil && expression != "" && parsed.Op != syntax.OpEmptyMatch
}
