package profile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

const (
	// leastCounts is how many numbers the notifications of one call hold at least for them to
	// carry a text, and leastSteps how many different steps there are between them: who counts
	// takes the same step each time.
	leastCounts, leastSteps = 24, 8
	// maxCounts bounds the numbers that are kept of a call.
	maxCounts = 4096
)

// counted keeps how far the server says that a call has come: a text may be told in the numbers
// of notifications, of which each alone looks like any other.
func (b *Builder) counted(call int, raw []byte) {
	if call == 0 || !bytes.Contains(raw, []byte(`notifications/progress`)) || len(b.counts[call]) >= maxCounts {
		return
	}
	var m struct {
		Method string
		Params struct{ Progress float64 }
	}
	if json.Unmarshal(raw, &m) == nil && m.Method == "notifications/progress" {
		b.counts[call] = append(b.counts[call], m.Params.Progress)
	}
}

// addCounts adds to the payloads the numbers of calls that go up by no steady step: whether the
// secrets are in them, only runs with others can tell.
func (b *Builder) addCounts() {
	for _, call := range slices.Sorted(maps.Keys(b.counts)) {
		list, steps := b.counts[call], map[float64]bool{}
		for i := range list[1:] {
			steps[list[i+1]-list[i]] = true
		}
		if len(list) < leastCounts || len(steps) < leastSteps || len(b.out.Payloads) >= maxPayloads {
			continue
		}
		sum := fnv.New64a()
		for _, n := range list {
			_ = binary.Write(sum, binary.LittleEndian, math.Float64bits(n)) // a hash never fails
		}
		p := Payload{Phase: finding.PhaseCall, Call: call, Tool: b.toolOf(call), Length: len(list), Sum: sum.Sum64()}
		b.out.Payloads = append(b.out.Payloads, p)
	}
}
