package literals

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

const (
	maxText = 200
	// around is how much of a line beside a literal says what it is for.
	around = 60
	// beside is what a look beside a literal costs, in bytes scanned.
	beside = 200
)

var (
	comparesBefore = lazyregexp.New(`(?:===?|!==?|<>|[<>]=?|\b(?:case|in|is|eq|when)|\b(?:includes|startsWith|endsWith|startswith|endswith|indexOf|find|has|equals|` +
		`equalsIgnoreCase|contains|Contains|HasPrefix|HasSuffix|EqualFold|match|test|search|compare|count|get)\((?:[\w.]+,\s*)?)\s*[(\[]?\s*$`)
	comparesAfter = lazyregexp.New(`^\s*(?:===?|!==?|\bin\b|\)?\s*=>)`)
	listsBefore   = lazyregexp.New(`[\[{,(|]\s*$`)
	importsBefore = lazyregexp.New(`(?:\brequire\(|\bfrom|\bimport|\bimport\()\s*$`)
	// A slash after one of these begins an expression, not a division.
	expressionBefore = lazyregexp.New(`(?:^|[=(,:\[!&|?{};+]|\breturn)\s*$`)
	lengthBefore     = lazyregexp.New(`(?:\.length|\blen\([\w.\[\]]+\)|\.size(?:\(\))?|\.count\(\)|\.Length)\s*(?:===?|!==?|[<>]=?|%)\s*$`)
)

// scanner goes through one file, lexically: it knows strings, comments and
// numbers, and takes the rest as it comes.
type scanner struct {
	c       *collector
	s       string
	pos     int
	comment string
	left    int // bytes that may still be scanned, those scanned twice included
}

func (c *collector) file(s, comment string) {
	c.n = 0
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	sc := scanner{c: c, s: s, comment: comment, left: 48*len(s) + 1<<16}
	for sc.pos < len(s) && c.n <= maxPerFile && sc.left > 0 {
		sc.next()
	}
}

func (sc *scanner) next() {
	rest := sc.s[sc.pos:]
	b := rest[0]
	switch {
	case strings.HasPrefix(rest, sc.comment):
		sc.skipTo("\n", 0)
	case sc.comment == "//" && strings.HasPrefix(rest, "/*"):
		sc.skipTo("*/", 2)
	case sc.comment == "#" && (strings.HasPrefix(rest, `"""`) || strings.HasPrefix(rest, `'''`)):
		sc.skipTo(rest[:3], 3)
	case b == '/' && sc.comment == "//" && expressionBefore.MatchString(sc.before(sc.pos)):
		sc.expression()
	case b == '"' || b == '\'' || b == '`':
		sc.text(b)
	case b >= '0' && b <= '9':
		sc.number()
	case letter(b):
		sc.pos++
		for sc.pos < len(sc.s) && (letter(sc.s[sc.pos]) || sc.s[sc.pos] >= '0' && sc.s[sc.pos] <= '9') {
			sc.pos++
		}
	default:
		sc.pos++
	}
}

// expression skips a regular expression, whose quotation marks quote nothing.
func (sc *scanner) expression() {
	class := false
	for i := sc.pos + 1; i < len(sc.s) && sc.s[i] != '\n'; i++ {
		sc.left--
		switch sc.s[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				sc.pos = i + 1
				return
			}
		}
	}
	sc.pos++
}

// skipTo goes behind the next end that lies at least from bytes ahead.
func (sc *scanner) skipTo(end string, from int) {
	i := strings.Index(sc.s[min(sc.pos+from, len(sc.s)):], end)
	if i < 0 {
		sc.pos = len(sc.s)
		return
	}
	sc.pos += from + i + len(end)
}

// before and after are what stands beside a literal on its line.
func (sc *scanner) before(start int) string {
	sc.left -= beside
	from := max(0, start-around)
	s := sc.s[from:start]
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func (sc *scanner) after(end int) string {
	s := sc.s[end:min(len(sc.s), end+around)]
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// text reads a quoted text. One that its line does not end is no text, but the
// quotation mark of something else, such as an expression's.
func (sc *scanner) text(quote byte) {
	start := sc.pos
	i := start + 1
	for i < len(sc.s) && sc.s[i] != quote {
		sc.left--
		if sc.s[i] == '\n' && quote != '`' {
			sc.pos = start + 1
			return
		}
		if sc.s[i] == '\\' {
			i++
		}
		i++
	}
	if i >= len(sc.s) {
		sc.pos = start + 1
		return
	}
	sc.pos = i + 1
	if i-start > 2*maxText || strings.TrimSpace(sc.s[start+1:i]) == "" {
		return
	}
	value := Unquote(sc.s[start+1 : i])
	before, after := sc.before(start), sc.after(sc.pos)
	r := rankOf(before, after)
	if !worthwhile(value, r) || importsBefore.MatchString(before) || (quote == '`' && strings.Contains(value, "${")) {
		return
	}
	sc.c.add(found{text: value, rank: r})
}

func rankOf(before, after string) rank {
	switch {
	case comparesBefore.MatchString(before), comparesAfter.MatchString(after):
		return compared
	case listsBefore.MatchString(before):
		return listed
	}
	return other
}

// worthwhile leaves out what no input would be compared with: prose, and what
// says nothing.
func worthwhile(s string, r rank) bool {
	if s == "" || len(s) > maxText || s == "use strict" || strings.ContainsRune(s, '\ufffd') {
		return false
	}
	if KeyLike(s) {
		return false
	}
	if r == compared {
		return true
	}
	return len(s) > 1 && strings.Count(s, " ") <= 6 && !strings.Contains(s, "\n")
}

// keyRun is how long an unbroken run of letters and digits is in a key or token.
const keyRun = 20

// KeyLike says that a text could be somebody's key: what a source should not
// hold is not handed on.
func KeyLike(s string) bool {
	run, digits, letters := 0, false, false
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case letter(c) && c != '_', c == '+', c == '/', c == '=':
			letters = true
		default:
			run, digits, letters = 0, false, false
			continue
		}
		if run++; run >= keyRun && digits && letters {
			return true
		}
	}
	return false
}

// Unquote undoes the escapes that most languages share, in a text without its quotation marks. One that has others is
// returned as it is.
func Unquote(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out string
	if json.Unmarshal([]byte(`"`+strings.NewReplacer(`\\`, `\\`, `\'`, `'`, "\\`", "`", `\"`, `\"`, `"`, `\"`).Replace(s)+`"`), &out) == nil {
		return out
	}
	return s
}

// number reads a decimal number; others are left alone.
func (sc *scanner) number() {
	start := sc.pos
	for sc.pos < len(sc.s) && (sc.s[sc.pos] >= '0' && sc.s[sc.pos] <= '9' || letter(sc.s[sc.pos]) || sc.s[sc.pos] == '.') {
		sc.pos++
	}
	text := strings.TrimSuffix(strings.ReplaceAll(sc.s[start:sc.pos], "_", ""), "n")
	if len(text) > 20 || !json.Valid([]byte(text)) {
		return
	}
	before := sc.before(start)
	negative := strings.HasSuffix(before, "-") && comparesBefore.MatchString(before[:len(before)-1])
	if negative {
		text, before = "-"+text, before[:len(before)-1]
	}
	if lengthBefore.MatchString(before) {
		sc.c.add(found{text: text, length: true, rank: compared})
		return
	}
	r := rankOf(before, sc.after(sc.pos))
	if r != compared && (text == "0" || text == "1") {
		return
	}
	sc.c.add(found{text: text, number: true, rank: r})
}

// small is a number as a length that can be tried.
func small(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n <= 1<<16
}
