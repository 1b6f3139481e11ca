package synth

import (
	"fmt"
	"math/rand"
	"strings"
)

const (
	// longBytes keeps a message below 64 KiB, the longest line that some servers' readers take.
	longBytes = 56 << 10
	// longFile is the size of the long document of a workspace, and longName its name.
	longFile = 40 << 10
	longName = "docs/handbook.md"
)

// longText is a document of about so many bytes, of a line for every thirty or so of them: code
// that asks how long a text is counts characters, lines, words or paragraphs.
func longText(seed int64, size int) string {
	r := rand.New(rand.NewSource(seed))
	var b strings.Builder
	b.WriteString("# Handbook\n")
	for chapter := 1; b.Len() < size; chapter++ {
		fmt.Fprintf(&b, "\n## %d. The %s\n\n", chapter, pick(r, undertakings))
		for range 2 + r.Intn(3) {
			for range 1 + r.Intn(3) {
				b.WriteString(longLine(r) + "\n")
			}
			b.WriteString("\n")
		}
		for range 2 + r.Intn(4) {
			fmt.Fprintf(&b, "- %s\n", pick(r, chores))
		}
	}
	return b.String()[:strings.LastIndexByte(b.String()[:size], '\n')+1]
}

// longLine is a sentence.
func longLine(r *rand.Rand) string {
	switch r.Intn(5) {
	case 0:
		return pick(r, outlooks)
	case 3:
		return clause(r)
	case 1:
		return fmt.Sprintf("%s %s asked for %d of them in %s.", pick(r, givenNames), pick(r, familyNames), 2+r.Intn(90), pick(r, months))
	case 2:
		return fmt.Sprintf("Each %s comes from %s.", pick(r, articles), pick(r, cities))
	}
	return fmt.Sprintf("The %s needs a new %s by %s.", pick(r, undertakings), pick(r, articles), pick(r, weekdays))
}

// clause is a sentence whose meaning hangs on a negation or a number: what a tool makes of it shows whether it keeps what
// was written.
func clause(r *rand.Rand) string {
	n := 2 + r.Intn(60)
	return pick(r, []string{
		"The supplier shall not be liable for delays of the " + pick(r, undertakings) + ".",
		"The tenant must not sublet the " + pick(r, undertakings) + " without written consent.",
		fmt.Sprintf("Payment is due within %d days of the invoice.", n),
		fmt.Sprintf("Either party may terminate with notice of %d days.", n),
		fmt.Sprintf("The deposit is not refundable after %d days.", n),
		fmt.Sprintf("Do not store more than %d of them in the %s.", n, pick(r, undertakings)),
		fmt.Sprintf("A fee of %d percent is charged, and it does not include tax.", 2+r.Intn(20)),
		"Records of " + pick(r, cities) + " are never passed on to third parties.",
	})
}
