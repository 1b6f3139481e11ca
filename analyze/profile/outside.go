package profile

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxRefusal bounds what is read of an answer for words that refuse a path, in bytes, and maxOfCall the latest proofs
// among which those of the call are.
const maxRefusal, maxOfCall = 16 << 10, 64

var (
	// refusesOutside are words by which a server says that a path leads out of where it may work, and refusesClimbs
	// those by which it refuses ".." alone.
	refusesOutside = lazyregexp.New(`(?i)\b(?:outside|escap(?:es|ed|ing)|beyond|leaves?|not (?:with)?in(?:side)?|not under) (?:of )?(?:the |its |your |an? |any )?(?:[\w-]+ ){0,2}(?:director(?:y|ies)|folders?|root|workspace|project|sandbox|vault|base|boundar(?:y|ies)|scope|paths?)\b`)
	refusesClimbs  = lazyregexp.New(`(?i)\b(?:path|directory) traversal\b`)
)

// Refusal is what a server says where it refuses a path.
type Refusal struct {
	Text string
	// Climbs says that it speaks of ".." alone.
	Climbs bool
}

// refusal notes that an answer to a call with a path that leads out of a directory refuses it.
func (b *Builder) refusal(call int, raw []byte) {
	aimed := false
	for _, in := range b.oracles.byCall[call] {
		aimed = aimed || in.Oracle == session.OraclePath
	}
	given := func(h Hit) bool { return h.Call == call && h.How == HitReturn }
	if !aimed || slices.ContainsFunc(b.late.hits[max(0, len(b.late.hits)-maxOfCall):], given) {
		return
	}
	tool := b.toolOf(call)
	if have, ok := b.out.Refusals[tool]; ok && !have.Climbs {
		return
	}
	said := string(raw[:min(len(raw), maxRefusal)])
	if m := refusesOutside.FindString(said); m != "" {
		b.out.Refusals[tool] = Refusal{Text: text.Printable(m, 80)}
	} else if m := refusesClimbs.FindString(said); m != "" {
		b.out.Refusals[tool] = Refusal{Text: text.Printable(m, 80), Climbs: true}
	}
}
