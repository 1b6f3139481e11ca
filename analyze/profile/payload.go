package profile

import (
	"maps"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/opaque"
)

// maxPayloads bounds how many payloads a profile holds.
const maxPayloads = 4096

// Payload is something that the server sent or returned, looks random, and stands in none
// of the inputs before it.
type Payload struct {
	Phase finding.Phase
	Call  int // 0 outside of calls
	Tool  string
	// To is the peer that it was sent to ("host:port"), "" where it was returned.
	To string
	// Length is in bytes as it stands there; Sum tells equal payloads.
	Length int
	Sum    uint64
}

// Input takes a frame of the client's: what it holds explains what comes back of it.
func (b *Builder) Input(raw []byte) {
	b.hears(raw)
	for _, s := range opaque.Spans(raw) {
		b.given[s.Sum] = true
	}
}

// sealed notes what of a text looks random. A text in which decoys were found is read: its
// rest may be theirs too.
func (b *Builder) sealed(text []byte, p Payload) {
	spans := opaque.Spans(text)
	if len(spans) == 0 || len(b.find.Find(text)) > 0 {
		return
	}
	for _, s := range spans {
		p.Length, p.Sum = s.Length, s.Sum
		if len(b.out.Payloads) < maxPayloads && !b.given[s.Sum] && !slices.Contains(b.out.Payloads, p) {
			b.out.Payloads = append(b.out.Payloads, p)
		}
	}
}

// sealedIn notes what looks random of a message that was sent at a moment.
func (b *Builder) sealedIn(f *flow, m *message, at time.Duration) {
	if f.known.Opaque {
		return // it is told as a whole
	}
	s := b.intervalAt(at)
	p := Payload{Phase: s.phase, Call: s.call, Tool: b.toolOf(s.call), To: b.peer(f)}
	b.sealed([]byte(m.line), p)
	for _, name := range slices.Sorted(maps.Keys(m.header)) {
		for _, v := range m.header[name] {
			b.sealed([]byte(v), p)
		}
	}
	b.sealed(m.body, p)
}
