package analyze

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	var a arguments
	for call := range maxArguments {
		a.keep(call, json.RawMessage("{}"))
	}
	if a.keep(0, json.RawMessage("[]")); a.more || string(a.of[0]) != "[]" || a.bytes != 2*maxArguments {
		t.Errorf("%d arguments of %d bytes, more %v", len(a.of), a.bytes, a.more)
	}
	if a.keep(maxArguments, json.RawMessage("{}")); !a.more || len(a.of) != maxArguments {
		t.Errorf("%d arguments, more %v", len(a.of), a.more)
	}
	var large arguments
	mib := json.RawMessage(bytes.Repeat([]byte("1"), 1<<20))
	for call := range 100 {
		large.keep(call, mib)
	}
	if !large.more || len(large.of) != maxArgumentBytes>>20 {
		t.Errorf("%d arguments of a mebibyte", len(large.of))
	}
	var frames tainted
	for seq := range uint64(maxTainted + 2) {
		frames.add(2 * seq)
	}
	const first = 2 * maxTainted
	if !frames.known(0) || frames.perhaps(1) || frames.perhaps(first-1) || frames.known(first) || !frames.perhaps(first) || !frames.perhaps(first+1) {
		t.Errorf("more %v from %d", frames.more, frames.from)
	}
}

// What is not remembered is a reason for doubt.
func TestBoundsOfMemoryAreGaps(t *testing.T) {
	t.Parallel()
	j := newJudge(session.Header{})
	r := j.reading(false)
	r.w = newWireReader(r.b, &j.timelines)
	r.w.args.more = true
	r.bounds()
	if len(j.gaps) == 0 || j.gaps[len(j.gaps)-1].Code != session.GapAnalysisBounded {
		t.Errorf("%+v", j.gaps)
	}
}
