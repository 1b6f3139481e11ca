package analyze

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/analyze/text"
)

// Quote writes words so that a shell reads them as they are.
func Quote(words ...string) string { return quoteAll(words) }

// quoteAll joins a command so that a shell reads the same words. What can not
// be shown is written as bash's $'…'.
func quoteAll(argv []string) string {
	var out []string
	for _, a := range argv {
		switch {
		case a != "" && !strings.ContainsFunc(a, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-", r)
		}):
		case !utf8.ValidString(a) || text.Printable(a, len(a)) != a:
			a = quoteBytes(a)
		default:
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

// quoteBytes writes every byte that is no printable ASCII by its number.
func quoteBytes(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\' || c == '\'':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c > '~':
			// Three octal digits end by themselves, whatever follows.
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}
