package analyze

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/pii"
	"github.com/coalmine-dev/coalmine/analyze/rules"
)

// maxSpilled bounds what is kept of data on stderr, leastSpilled is the severity of a pattern
// from which on it is kept, and maxSpoken bounds the bytes of stderr that are looked at.
const (
	maxSpilled   = 100
	leastSpilled = 3
	maxSpoken    = 4 << 20
)

// spill finds credentials and personal data in what the server wrote on stderr. Decoys are left
// out: they are followed by their values.
func (j *judge) spill(s string, at time.Duration) {
	if len(j.spilled) >= maxSpilled || j.building() {
		return
	}
	if j.scanner == nil {
		j.scanner = pii.NewScanner(nil)
	}
	if j.spoken += len(s); j.spoken > maxSpoken || !j.holds([]byte(s)) {
		return
	}
	for _, h := range slices.Clone(j.scanner.Scan([]byte(j.set.Redact(strings.ToValidUTF8(s, "\uFFFD"))))) {
		if h.Severity < leastSpilled || len(j.spilled) >= maxSpilled {
			continue
		}
		j.spilled = append(j.spilled, rules.Spilled{
			Category: h.Category, What: h.Description, Value: string(j.scanner.Value(h)), Phase: finding.Phase(j.phase),
			Fact: rules.Fact{Time: at, Tool: j.tool, Call: j.call, Text: fmt.Sprintf("stderr holds %s: %s", h.Description, pii.Tag(h.Category, h.End-h.Start))},
		})
	}
}

// holds reports whether a text has data that is kept.
func (j *judge) holds(s []byte) bool {
	return slices.ContainsFunc(j.scanner.Scan(s), func(h pii.Hit) bool { return h.Severity >= leastSpilled })
}
