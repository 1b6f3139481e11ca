package detect

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// contract is a long text whose sentences bear a negation or a number.
func contract() string {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "The supplier shall not be liable for delays of order %d.\n", i)
		fmt.Fprintf(&b, "Payment of bill %d is due within 30 days of the invoice.\n\n", i)
		fmt.Fprintf(&b, "The goods of shelf %d come from the northern market hall.\n", i)
		fmt.Fprintf(&b, "Each page of part %d was read by a second person.\n", i)
		fmt.Fprintf(&b, "The parties met in spring to settle chapter %d of the text.\n\n", i)
	}
	return b.String()
}

// Sentences that lose their negation or get another number are told, of a tool that gives a text back otherwise.
func TestReworded(t *testing.T) {
	t.Parallel()
	text := contract()
	replace := func(old, by string, n int) string { return strings.Replace(text, old, by, n) }
	for _, c := range []struct {
		name, given, result string
		want                int
	}{
		{"given back", text, text, 0},
		{"wrapped anew", text, strings.ReplaceAll(text, "\n", " "), 0},
		{"in capitals", text, strings.ToUpper(text), 0},
		{"numbered", text, regexp.MustCompile(`(?m)^`).ReplaceAllString(text, "7. "), 0},
		{"without a negation", text, replace("shall not be", "shall be", -1), 1},
		{"without one negation", text, replace("shall not be", "shall be", 1), 0},
		{"with another number", text, replace("30 days", "60 days", -1), 1},
		{"with a number of its own text", text, replace("30 days", "11 days", -1), 0},
		{"masked", text, replace("30 days", "** days", -1), 0},
		{"without small words", text, strings.NewReplacer(" the ", " ", " not ", " ", " of ", " ", " by ", " ").Replace(text), 0},
		{"a summary", text, "The supplier shall be liable for delays of order 1.\n" + strings.Repeat("Summary. ", 60), 0},
		{"in another text", strings.Repeat("no ", 200), text, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, all := toldOf(t, "reworded", `{"name":"lay_out","inputSchema":{"type":"object"}}`, "text", [][2]string{{c.given, c.result}}); got != c.want {
				t.Errorf("told %d times, want %d: %+v", got, c.want, all)
			}
		})
	}
}
