package schema

import (
	"encoding/json"
	"math/big"
	"strings"
)

// edgeWholes are the numbers at which programs count otherwise, for a range
// that is open.
var edgeWholes = []string{"0", "1", "-1", "127", "128", "255", "256", "65535", "65536", "2147483647", "2147483648", "-2147483648", "4294967296",
	"9007199254740991", "9007199254740993"}

// edgeFractions stand beside them where a number need not be whole.
var edgeFractions = []string{"0.1", "-0.5", "1e-7", "0.30000000000000004", "1.7976931348623157e308"}

// edgeLengths are the lengths at which a text is tried whose length is open.
var edgeLengths = []int{0, 1, 2, 255, 256, 1024, 4096}

// affordable says that a number keeps the tool neither busy for ever nor out of
// memory, where it is a wait or a size.
func (m *meaning) affordable(r *big.Rat) bool {
	most := int64(0)
	switch m.kind {
	case kSeconds:
		most = 2
	case kMillis:
		most = 3_000
	case kLimit, kPixels, kPage, kOffset:
		most = 70_000
	default:
		return true
	}
	return r.Cmp(big.NewRat(most, 1)) <= 0
}

// edgeNumber draws a number at a bound, next to one, or where numbers get awkward.
func (d *drawer) edgeNumber(n *numeric, m *meaning, t typeSet) (json.Number, bool) {
	var list []string
	step := n.step
	if step == nil {
		step = big.NewRat(1, 1)
	}
	add := func(r *big.Rat) {
		for k := range int64(2) {
			x := new(big.Rat).Mul(step, big.NewRat(k, 1))
			for _, y := range []*big.Rat{new(big.Rat).Add(r, x), new(big.Rat).Sub(r, x)} {
				if v, ok := number(y); ok && n.allows(y) && (m.affordable(y) || n.min != nil && n.min.Cmp(y) == 0) {
					list = append(list, string(v.(json.Number)))
				}
			}
		}
	}
	if n.min != nil {
		add(nearestStep(n.min, step, false))
	}
	if n.max != nil {
		add(nearestStep(n.max, step, true))
	}
	if n.min == nil || n.max == nil {
		for _, s := range edgeWholes {
			if r, ok := ratText(s); ok && n.allows(r) && m.affordable(r) {
				list = append(list, s)
			}
		}
	}
	if n.step == nil && t == tNumber {
		for _, s := range edgeFractions {
			if r, ok := ratText(s); ok && n.allows(r) && m.affordable(r) {
				list = append(list, s)
			}
		}
	}
	if len(list) == 0 {
		return "", false
	}
	return json.Number(list[d.rng.Intn(len(list))]), true
}

// edgeText draws a text of a length at a bound, or at one where programs count otherwise.
func (d *drawer) edgeText(t *textual, try int) (string, bool) {
	lengths := []int{t.min, t.min + 1}
	if t.max <= maxTextEver {
		lengths = append(lengths, t.max, max(t.max-1, t.min))
	} else {
		for _, n := range edgeLengths {
			if n >= t.min {
				lengths = append(lengths, n)
			}
		}
	}
	n := lengths[d.rng.Intn(len(lengths))]
	if n > t.max {
		n = t.max
	}
	if len(t.patterns) > 0 {
		return t.patterns[d.rng.Intn(len(t.patterns))].write(d.rng, n, min(t.max, max(n, t.min+64)), Valid, try)
	}
	unit := d.of("a", "a", "A1 ", "é", "日", "😀", " ", "0")
	rs := []rune(strings.Repeat(unit, n/len([]rune(unit))+1))
	return string(rs[:n]), true
}

// edgeLength is how many items an array has that is as short or as long as it may be.
func (d *drawer) edgeLength(a *arrayShape) int {
	hi := a.maximum
	if hi > a.minimum+128 {
		hi = a.minimum + 8
	}
	return []int{a.minimum, hi, min(a.minimum+1, hi), max(hi-1, a.minimum)}[d.rng.Intn(4)]
}
