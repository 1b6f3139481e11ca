package pii

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// words goes through the runs of letters, digits, + / and = that have a digit: what is told by
// its length, its digits or its first letters.
func (m *matcher) words() {
	t := m.t
	for i := nextDigit(t, 0); i < len(t); i = nextDigit(t, i) {
		start, seen := i, byte(0)
		for start > 0 && classOf[t[start-1]]&key40 != 0 {
			start--
			seen |= classOf[t[start]]
		}
		for ; i < len(t) && classOf[t[i]]&key40 != 0; i++ {
			seen |= classOf[t[i]]
		}
		n := i - start
		if n == 40 && seen&upper != 0 && seen&lower != 0 && isRandom(t[start:i]) && m.isAWS(start) {
			m.add(awsSecret, start, i)
		}
		m.digits(start, i)
	}
}

// nextDigit is where the next digit stands from i on, the text's length for none. It looks at eight bytes at once.
func nextDigit(t []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(t); i += 8 {
		// Of each byte that is no more than seven bits, the top bit tells whether it is at least '0', and whether it is
		// more than '9'.
		w := binary.LittleEndian.Uint64(t[i:])
		seven := w &^ tops
		if found := (seven + ones*(0x80-'0')) &^ (seven + ones*(0x7F-'9')) &^ w & tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(t) && classOf[t[i]]&digit == 0 {
		i++
	}
	return i
}

// before is how far before a value the words may stand that say what it is.
const before = 64

// isAWS reports whether the text says that a value is a key of AWS: forty digits of base 64 may
// be anything.
func (m *matcher) isAWS(at int) bool {
	words := bytes.ToLower(m.t[max(at-before, 0):at])
	return bytes.Contains(words, []byte("aws")) || bytes.Contains(words, []byte("secret")) || m.mentionsAWS()
}

// mentionsAWS reports whether the prefix of an access key stands anywhere in the text.
func (m *matcher) mentionsAWS() bool {
	if !m.awsKnown {
		m.aws, m.awsKnown = bytes.Contains(m.t, []byte("AKIA")) || bytes.Contains(m.t, []byte("ASIA")), true
	}
	return m.aws
}

// digits looks at what the digits of one word can be.
func (m *matcher) digits(start, end int) {
	for i := start; i < end; {
		if classOf[m.t[i]]&alnum == 0 {
			i++
			continue
		}
		j := i
		for j < end && classOf[m.t[j]]&alnum != 0 {
			j++
		}
		m.number(i, j)
		i = j
	}
}

// number looks at one run of letters and digits.
func (m *matcher) number(i, j int) {
	n := j - i
	switch {
	case n == 20 && m.has(i, "AKIA") && m.all(i, j, digit|upper):
		m.add(awsAccess, i, j)
		return
	case n >= 15 && n <= 34 && m.is(i, upper) && m.is(i+1, upper) && m.is(i+2, digit) && m.is(i+3, digit) && m.all(i, j, digit|upper) && validIBAN(m.t[i:j]):
		m.add(ibanNumber, i, j)
		return
	case n >= 13 && n <= 16 && m.all(i, j, digit) && cardShape(m.t[i:j]) && validLuhn(m.t[i:j]):
		m.add(creditCard, i, j)
		return
	case n > 3:
		// A long run may still end or begin with the digits of another shape.
		m.edges(i, j)
		return
	}
	m.ssn(i)
	m.privateIP(i)
}

// edges looks where digits follow letters: the shapes below only ask that no
// digit precedes them.
func (m *matcher) edges(i, j int) {
	k := j
	for k > i && m.is(k-1, digit) {
		k--
	}
	if k > i && k < j {
		m.ssn(k)
		m.privateIP(k)
	}
}

func (m *matcher) all(i, j int, classes byte) bool { return m.span(i, classes) >= j }

// ssn is three digits, two and four.
func (m *matcher) ssn(i int) {
	if i > 0 && m.is(i-1, digit) || m.span(i, digit)-i != 3 || !m.has(i+3, "-") {
		return
	}
	if m.span(i+4, digit)-i-4 == 2 && m.has(i+6, "-") && m.span(i+7, digit)-i-7 == 4 && validSSN(m.t[i:i+11]) {
		m.add(ssnNumber, i, i+11)
	}
}

// privateIP is an address of RFC 1918.
func (m *matcher) privateIP(i int) {
	// What goes before must be no part of a longer number or address.
	if i > 0 && (m.is(i-1, digit) || m.t[i-1] == '.' && i > 1 && m.is(i-2, digit)) {
		return
	}
	var octets [4]int
	j := i
	for k := range octets {
		end := m.span(j, digit)
		if end == j || end-j > 3 {
			return
		}
		for ; j < end; j++ {
			octets[k] = octets[k]*10 + int(m.t[j]-'0')
		}
		if octets[k] > 255 {
			return
		}
		if k < 3 {
			if !m.has(j, ".") {
				return
			}
			j++
		}
	}
	a, b := octets[0], octets[1]
	if a == 10 || a == 172 && b >= 16 && b <= 31 || a == 192 && b == 168 {
		m.add(privateIP, i, j)
	}
}
