package analyze

import "encoding/json"

// The bounds of what is remembered of each call and each frame. A log with more is read to its
// end, and leaves a gap.
const (
	maxArguments     = 50_000
	maxArgumentBytes = 64 << 20
	maxTainted       = 100_000
)

// arguments are those of each call, by its number. The zero value has none.
type arguments struct {
	of    map[int]json.RawMessage
	bytes int
	// more says that some were left out.
	more bool
}

// keep sets the arguments of a call, where there is room.
func (a *arguments) keep(call int, args json.RawMessage) {
	if a.of == nil {
		a.of = map[int]json.RawMessage{}
	}
	before, known := a.of[call]
	size := a.bytes + len(args) - len(before)
	if size > maxArgumentBytes || !known && len(a.of) >= maxArguments {
		a.more = true
		return
	}
	a.of[call], a.bytes = args, size
}

// tainted are the frames that hold a canary's value, by seq. The zero value has none.
type tainted struct {
	frames map[uint64]bool
	// more says that some were left out, all from the frame from on.
	more bool
	from uint64
}

func (t *tainted) add(seq uint64) {
	switch {
	case t.frames == nil:
		t.frames = map[uint64]bool{seq: true}
	case len(t.frames) < maxTainted:
		t.frames[seq] = true
	case !t.more:
		t.more, t.from = true, seq
	}
}

// known reports whether a frame certainly holds a value, perhaps whether it may hold one.
func (t *tainted) known(seq uint64) bool { return t.frames[seq] }

func (t *tainted) perhaps(seq uint64) bool { return t.frames[seq] || t.more && seq >= t.from }
