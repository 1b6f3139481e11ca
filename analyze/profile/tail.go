package profile

import (
	"slices"

	"github.com/coalmine-dev/coalmine/canaries"
)

// maxTail is more than any decoy takes in the widest of its encodings.
const maxTail = 16 << 10

// tail is the end of a stream that is searched as it comes: a decoy may be split
// over what was written.
type tail struct {
	kept  []byte
	total int64 // the offset behind kept
}

// more searches the next piece, with what came before it: what is new. The error
// is canaries.ErrOpaque where a part could not be searched.
func (t *tail) more(set *canaries.Set, text string) ([]canaries.Hit, error) {
	old, base := len(t.kept), t.total-int64(len(t.kept))
	t.kept = append(t.kept, text...)
	t.total += int64(len(text))
	var before, out []canaries.Hit
	now, err := set.FindBody(t.kept, nil)
	if len(now) > 0 {
		before, _ = set.FindBody(t.kept[:old], nil)
	}
	for _, h := range now {
		if !slices.Contains(before, h) {
			h.Offset += base
			out = append(out, h)
		}
	}
	// Nothing is told twice: the next search begins behind what is told.
	if len(out) > 0 {
		t.kept = t.kept[:0]
	}
	if extra := len(t.kept) - maxTail; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return out, err
}
