package canaries

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// block is how many bytes the shift table looks at together.
const block = 4

// pattern is a text to find, and what finding it proves.
type pattern struct {
	text string
	hit  int  // index into matcher.hits
	fold bool // the text is in small letters, and stands for any case
}

// at reports whether b starts with the pattern.
func (p *pattern) at(b []byte) bool {
	if len(b) < len(p.text) {
		return false
	}
	b = b[:len(p.text)]
	if !p.fold {
		return string(b) == p.text
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != p.text[i] {
			return false
		}
	}
	return true
}

// matcher finds many texts at once, after Wu and Manber: it looks at the last
// four bytes of a window as long as the shortest text, and a table says how
// far the window may move before any text can end there. Values are random, so
// that it mostly moves by the whole window; an automaton of all texts would
// look at every byte, in a table of some fifty megabytes.
type matcher struct {
	hits     []Hit // ID and Encoding of each thing that can be found
	patterns []pattern
	shift    []uint8
	bits     int              // the shift table has a place for each number of so many bits
	byBlock  map[uint32]int32 // the first pattern whose window ends in a block, counted from 1
	next     []int32          // the next such pattern after each, 0 for none
	min, max int              // the lengths of the shortest and the longest text
	alphabet [256]bool        // the bytes that occur in a text
	deep     *matcher         // the search of a dive: for the same texts, and rare ones
	keyed    []keyed          // the searches for texts under an unknown key
	known    memo             // the parts in which no dive found anything
}

// A shift table has a hundred places for each text, as far as it stays in a processor's cache.
const (
	leastTableBits = 10
	tableBits      = 18
)

// slot is a block's place in a shift table. Blocks that share one only make the window move less far.
func slot(v uint32, width int) uint32 { return v * 0x9E3779B1 >> (32 - width) }

// blockOf is the block that starts b, the same for both cases of a letter.
func blockOf(b []byte) uint32 { return binary.LittleEndian.Uint32(b) | 0x20202020 }

// newMatcher makes the search for a list of canaries, and with layers what a dive needs.
func newMatcher(list []Canary, c cutter, layers bool) *matcher {
	m := &matcher{}
	if layers {
		m.keyed, m.deep = newKeyed(), &matcher{}
	}
	m.collect(list, c)
	m.index()
	if m.deep != nil {
		m.deep.index()
	}
	for i := range m.keyed {
		m.keyed[i].index()
	}
	return m
}

// index makes the tables of the patterns.
func (m *matcher) index() {
	if len(m.patterns) == 0 {
		return
	}
	m.byBlock, m.next = make(map[uint32]int32, len(m.patterns)), make([]int32, len(m.patterns))
	m.min = len(m.patterns[0].text)
	for _, p := range m.patterns {
		m.min, m.max = min(m.min, len(p.text)), max(m.max, len(p.text))
	}
	m.min = min(m.min, 255)
	m.bits = min(max(bits.Len(uint(100*len(m.patterns))), leastTableBits), tableBits)
	m.shift = bytes.Repeat([]byte{uint8(m.min - block + 1)}, 1<<m.bits)
	for n := len(m.patterns) - 1; n >= 0; n-- {
		p := &m.patterns[n]
		text := []byte(p.text)
		for _, c := range text {
			m.alphabet[c] = true
			if p.fold && c >= 'a' && c <= 'z' {
				m.alphabet[c-'a'+'A'] = true
			}
		}
		for end := block; end <= m.min; end++ {
			v := blockOf(text[end-block:])
			at := &m.shift[slot(v, m.bits)]
			*at = min(*at, uint8(m.min-end))
			if end == m.min {
				m.next[n], m.byBlock[v] = m.byBlock[v], int32(n+1)
			}
		}
	}
}

// keep is how much of a stream's end a text may start in, and go on after it.
func (m *matcher) keep() int { return max(m.max-1, 0) }

// formsEach is about how many texts stand for a decoy.
const formsEach = 96

// collect writes every needle in every encoding, each text once.
func (m *matcher) collect(list []Canary, cut cutter) {
	known := make(map[string]bool, formsEach*len(list))
	for _, c := range list {
		needles := cut.needles(c)
		for _, e := range encodings {
			m.hits = append(m.hits, Hit{ID: c.ID, Encoding: e.name})
			for _, n := range needles {
				for i := range m.keyed {
					m.keyed[i].take(len(m.hits)-1, underKey(e.name, n))
				}
				for _, form := range e.forms(n) {
					if len(form) >= cut.least && !known[form] {
						known[form] = true
						p := pattern{text: strings.Clone(form), hit: len(m.hits) - 1, fold: e.fold}
						if m.deep != nil {
							m.deep.patterns = append(m.deep.patterns, p)
						}
						if !e.rare {
							m.patterns = append(m.patterns, p)
						}
					}
				}
			}
		}
	}
}

// scan calls found for every text that starts in b before limit.
func (m *matcher) scan(b []byte, limit int, found func(p *pattern, start int)) {
	if len(m.patterns) == 0 {
		return
	}
	shift, width, last := m.shift, m.bits, min(len(b), limit+m.min-1)
	for end := m.min; end <= last; {
		v := blockOf(b[end-block:])
		if s := shift[slot(v, width)]; s > 0 {
			end += int(s)
			continue
		}
		start := end - m.min
		for n := m.byBlock[v]; n > 0; n = m.next[n-1] {
			if p := &m.patterns[n-1]; p.at(b[start:]) {
				found(p, start)
			}
		}
		end++
	}
}
