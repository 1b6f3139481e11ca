package detect

import (
	"hash/maphash"
	"sync"
)

// Known remembers what was read in long texts, for a server that says the same again: a page that stands in a
// hundred answers, of several runs, is read once. Several goroutines may use it. The zero value is ready.
type Known struct {
	mu   sync.Mutex
	seed maphash.Seed
	of   map[knownText]any
}

// knownText is a text, and what was read in it.
type knownText struct {
	what string
	hash uint64
}

// leastKnown is how long a text is that is worth remembering, and maxKnown how many are remembered.
const (
	leastKnown = 2 << 10
	maxKnown   = 1 << 14
)

// Once reads a text, or returns what the same reader, which what names, made of the same text before. What is read
// must depend on the text alone, and nobody may change it. A nil Known remembers nothing.
func Once[T any](k *Known, what, s string, read func(string) T) T {
	if k == nil || len(s) < leastKnown {
		return read(s)
	}
	key := k.key(what, s)
	k.mu.Lock()
	known, ok := k.of[key]
	k.mu.Unlock()
	if ok {
		return known.(T)
	}
	out := read(s)
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.of) < maxKnown {
		k.of[key] = out
	}
	return out
}

func (k *Known) key(what, s string) knownText {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.seed, k.of = maphash.MakeSeed(), map[knownText]any{}
	}
	return knownText{what, maphash.String(k.seed, s)}
}
