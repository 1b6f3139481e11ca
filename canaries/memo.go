package canaries

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

const (
	// leastKnown is the least length of a part that is remembered: shorter ones are soon looked at again.
	leastKnown = 16 << 10
	// maxKnown bounds the parts that are remembered.
	maxKnown = 16 << 10
)

// memo remembers the parts of streams below whose layers nothing is. A server that gives the
// same long answer to each of many calls makes all searches together cost hardly more than
// one. It takes calls from many goroutines.
type memo struct {
	mu    sync.Mutex
	empty map[[sha256.Size]byte]struct{}
}

// partKey names a part of which the first old bytes were looked at before.
func partKey(b []byte, old int) (key [sha256.Size]byte, long bool) {
	if len(b) < leastKnown {
		return key, false
	}
	h := sha256.New()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(old)))
	_, _ = h.Write(b)
	h.Sum(key[:0])
	return key, true
}

func (m *memo) has(key [sha256.Size]byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.empty[key]
	return ok
}

func (m *memo) add(key [sha256.Size]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.empty == nil || len(m.empty) >= maxKnown {
		m.empty = map[[sha256.Size]byte]struct{}{}
	}
	m.empty[key] = struct{}{}
}
