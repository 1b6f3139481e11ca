package detect

import (
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var (
	// upOrErase is a move of the cursor to a line above, or an erasure there.
	upOrErase = lazyregexp.New("(?:\x1b\\[|\u009b)([0-9]*)([AFKJ])")
	// controls are the sequences that a line is read without.
	controls = lazyregexp.New("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]")
)

const (
	// maxErasing bounds what is read of a text, maxErasures the erasures that are looked at, and maxErased the lines
	// that are told.
	maxErasing  = 256 << 10
	maxErasures = 1000
	maxErased   = 20
	// maxUp is more lines than a terminal has, beyond which no cursor moves, and maxErasedLine is how much of one is read, in bytes.
	maxUp         = 1000
	maxErasedLine = 4 << 10
	// leastErased is how many letters and digits a line has that says something.
	leastErased = 8
)

// erased are the lines of a text that it takes off the terminal again: the cursor moves up to them, and erases them.
// Whoever reads the text there does not see what a model reads. Payload is the line.
func erased(s string) (found []TerminalSequence) {
	s = s[:min(len(s), maxErasing)]
	up, from := 0, -1
	for _, m := range upOrErase.Compiled().FindAllStringSubmatchIndex(s, maxErasures) {
		if from >= 0 && strings.ContainsRune(s[from:m[0]], '\n') {
			up, from = 0, -1
		}
		n, _ := strconv.Atoi(s[m[2]:m[3]])
		switch s[m[4]] {
		case 'A', 'F':
			if from < 0 {
				from = m[0]
			}
			up = min(up+min(max(n, 1), maxUp), maxUp)
			continue
		}
		if up == 0 || len(found) >= maxErased {
			continue
		}
		if line := lineAbove(s[:from], up); tells(line) {
			found = append(found, TerminalSequence{Kind: "erase", Says: "shows “" + name(line) + "” and erases it: whoever reads it in a terminal does not see it", Severity: 3, Payload: line, Offset: from, End: m[1]})
		}
		up, from = 0, -1
	}
	return found
}

// lineAbove is the line so many above the last one of a text, as it is seen.
func lineAbove(text string, up int) string {
	for ; up > 0; up-- {
		i := strings.LastIndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		text = text[:i]
	}
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.TrimSpace(controls.Compiled().ReplaceAllString(line[:min(len(line), maxErasedLine)], ""))
}

// tells reports whether a line has more than a mark or a number.
func tells(line string) bool {
	n := 0
	for _, c := range line {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80 {
			n++
		}
	}
	return n >= leastErased
}
