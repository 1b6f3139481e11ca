package tui

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

// theme says how text is drawn. Without colour, weight and reverse remain.
type theme struct{ color bool }

func (t theme) bold(s string) string     { return ansi.NewStyle().Bold().Styled(s) }
func (t theme) dim(s string) string      { return ansi.NewStyle().Faint().Styled(s) }
func (t theme) selected(s string) string { return ansi.NewStyle().Reverse(true).Styled(ansi.Strip(s)) }

func (t theme) paint(c ansi.BasicColor, s string) string {
	if !t.color || s == "" {
		return s
	}
	return ansi.NewStyle().ForegroundColor(c).Styled(s)
}

func (t theme) bad(s string) string    { return t.paint(ansi.Red, s) }
func (t theme) good(s string) string   { return t.paint(ansi.Green, s) }
func (t theme) warn(s string) string   { return t.paint(ansi.Yellow, s) }
func (t theme) accent(s string) string { return t.paint(ansi.Cyan, s) }

func (t theme) severity(s finding.Severity) string {
	word := pad(string(s), 8)
	switch s {
	case finding.Critical, finding.High:
		return t.bad(word)
	case finding.Medium:
		return t.warn(word)
	}
	return t.accent(word)
}

// maxMarks is how many combining marks stay on one character: more of them would be drawn over
// the lines around it.
const maxMarks = 3

// clean makes any text safe for one line of a terminal, in at most n bytes.
func clean(s string, n int) string {
	s = text.Printable(s, n)
	marks := 0
	return strings.Map(func(r rune) rune {
		if !unicode.IsMark(r) {
			marks = 0
			return r
		}
		if marks++; marks > maxMarks {
			return -1
		}
		return r
	}, s)
}

// fit cuts a line to a width in cells.
func fit(s string, w int) string { return ansi.Truncate(s, max(w, 0), "…") }

// pad cuts or fills a line to a width in cells.
func pad(s string, w int) string {
	s = fit(s, w)
	return s + strings.Repeat(" ", max(0, w-ansi.StringWidth(s)))
}

// left is pad with the text at the right side.
func left(s string, w int) string {
	s = fit(s, w)
	return strings.Repeat(" ", max(0, w-ansi.StringWidth(s))) + s
}

// hardwrap breaks a line that is clean into parts of a width in cells.
func hardwrap(s string, w int) []string {
	return strings.Split(ansi.Hardwrap(s, w, true), "\n")
}

// plainText is a line without its styles.
func plainText(s string) string { return ansi.Strip(s) }
