package analyze

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxVerdict bounds the answers that are read, and maxKeptVerdict what is kept of each.
const maxVerdict, maxKeptVerdict = 64 << 10, 1 << 10

// verified keeps what a tool answered to a signed text, or to what was given in its place.
func (w *wireReader) verified(seq uint64, call int, m *wire.Message) {
	c := w.callOf(call)
	if c == nil || len(w.facts.Verified) >= maxFacts || len(m.Result) > maxVerdict {
		return
	}
	for _, in := range c.Oracles {
		if in.Oracle == session.OracleSignature {
			w.facts.Verified = append(w.facts.Verified, rules.Verified{Fact: w.fact(seq, in.Context), At: in.At, Answer: clip(verdictOf(m), maxKeptVerdict)})
		}
	}
}

// digits differ from call to call where an answer says when or how long.
var digits = lazyregexp.New(`\d+`)

// verdictOf is what an answer says of a text in its argument: its truth values, or else its words without numbers.
func verdictOf(m *wire.Message) string {
	var result struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	if m.Error != nil || json.Unmarshal(m.Result, &result) != nil || result.IsError {
		return ""
	}
	texts := []string{string(result.StructuredContent)}
	for _, part := range result.Content {
		texts = append(texts, part.Text)
	}
	for _, text := range texts {
		var members map[string]any
		if json.Unmarshal([]byte(text), &members) != nil {
			continue
		}
		said := ""
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if is, isBool := members[name].(bool); isBool {
				said += name + map[bool]string{true: " is true\n", false: " is false\n"}[is]
			}
		}
		if said != "" {
			return said
		}
	}
	return digits.ReplaceAllString(strings.Join(texts, "\n"), "0")
}
