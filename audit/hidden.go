package audit

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/text"
)

// Bounds of a run of hidden characters: from spells on it can spell a text, and from table
// on it may be a list of the characters.
const (
	spells = 8
	table  = 4
)

// hidesInSource reports whether a run of hidden characters hides code or orders. Source
// has honest uses for single ones: tables of white space, terminal colours, character sets.
func hidesInSource(h text.Hit, src string) bool {
	switch h.Kind {
	case "tag character", "variation selectors":
		return h.N > 1
	case "bidirectional control", "zero-width character", "zero-width joiner":
		run := []rune(src[h.Offset:h.End])
		return slices.ContainsFunc(run, reorders) && !isTable(run) || h.N >= spells && !isTable(run)
	}
	return false
}

// reorders reports whether a character changes the direction of what stands around it: an
// embedding, an override or an isolate (Unicode Standard Annex 9, section 2). The marks
// U+200E, U+200F and U+061C act as an invisible letter does, and reorder no code.
func reorders(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }

// isTable reports whether a run is a list of characters: each of them once, in their order.
func isTable(run []rune) bool {
	return len(run) >= table && slices.IsSorted(run) && len(slices.Compact(slices.Clone(run))) == len(run)
}
