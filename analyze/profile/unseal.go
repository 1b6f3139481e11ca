package profile

import (
	"bytes"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
)

// The bounds of what is kept to be decoded: texts, and the bytes of each.
const (
	maxSealed     = 64
	maxSealedText = 64 << 10
)

// sealedText is something that was sent over a flow and looks random.
type sealedText struct {
	flow *flow
	data []byte
	at   time.Duration
}

// unsealLater keeps what looks random, until all is known that the server was given.
func (b *Builder) unsealLater(f *flow, data []byte, at time.Duration) {
	if len(b.sealedTexts) < maxSealed && f.known.Service == "" {
		b.sealedTexts = append(b.sealedTexts, sealedText{f, bytes.Clone(data[:min(len(data), maxSealedText)]), at})
	}
}

// unseal looks for what the server was given in what looks random: packed and encoded it stands nowhere as it is.
func (b *Builder) unseal() {
	if len(b.sealedTexts) == 0 || len(b.relays.given) == 0 {
		return
	}
	var words []string
	for _, g := range b.relays.given {
		if !g.whole {
			words = append(words, g.word)
		}
	}
	set := canaries.OfTexts(words)
	for _, t := range b.sealedTexts {
		hits, _ := set.FindBody(t.data, nil) // what cannot be unpacked is a gap by itself
		call := b.intervalAt(t.at).call
		for _, h := range hits {
			if i, known := b.relays.index[h.ID]; known {
				b.sentGiven(t.flow, b.relays.given[i], carriedAt{call, t.at})
			}
		}
	}
	b.sealedTexts = nil
}

// sentGiven notes that a text was sent which the call itself was given, or another one.
func (b *Builder) sentGiven(f *flow, g *givenText, c carriedAt) {
	arguments, known := b.relays.arguments[c.call]
	switch {
	case c.call > 0 && known && wasGiven(arguments, g.word):
		for _, other := range f.carried {
			if other.call == c.call {
				return
			}
		}
		f.carried = append(f.carried[:len(f.carried):len(f.carried)], c)
	case known || c.call == 0:
		f.relays(g, c)
	}
}

// relays notes that a text was sent in a call that was not given it, or outside of calls.
func (f *flow) relays(g *givenText, c carriedAt) {
	if len(f.relayed) >= maxCarried || g.first > c.call && c.call > 0 {
		return
	}
	for _, r := range f.relayed {
		if r.call == c.call && r.text == g {
			return
		}
	}
	f.relayed = append(f.relayed[:len(f.relayed):len(f.relayed)], relayedAt{c, g})
}
