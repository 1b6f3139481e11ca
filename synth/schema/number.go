package schema

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// anyRange is how far from zero a number goes where nothing bounds it.
const anyRange = 1000

// finish precomputes the bounds as whole numbers.
func (n *numeric) finish() {
	n.low, n.high = math.MinInt64/4, math.MaxInt64/4
	if n.min != nil {
		n.hasLow = true
		n.low = wholeAbove(n.min, n.exMin)
	}
	if n.max != nil {
		n.hasHigh = true
		n.high = wholeBelow(n.max, n.exMax)
	}
	n.simple = n.step == nil || (n.step.IsInt() && n.step.Num().IsInt64() && n.step.Num().Int64() == 1)
	if n.min != nil && n.max != nil {
		c := n.min.Cmp(n.max)
		n.impossible = c > 0 || (c == 0 && (n.exMin || n.exMax))
	}
	if n.step != nil && !n.impossible {
		lo, hi, ok := n.steps()
		n.impossible = ok && lo.Cmp(hi) > 0
	}
}

func (n *numeric) empty() bool { return n.impossible }

const wholeLimit = math.MaxInt64 / 4

func wholeAbove(r *big.Rat, exclusive bool) int64 {
	q := ceil(r)
	if exclusive && r.IsInt() {
		q.Add(q, big.NewInt(1))
	}
	return saturate(q)
}

func wholeBelow(r *big.Rat, exclusive bool) int64 {
	q := floor(r)
	if exclusive && r.IsInt() {
		q.Sub(q, big.NewInt(1))
	}
	return saturate(q)
}

func floor(r *big.Rat) *big.Int {
	return new(big.Int).Div(r.Num(), r.Denom())
}

func ceil(r *big.Rat) *big.Int {
	q := floor(r)
	if !r.IsInt() {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func saturate(q *big.Int) int64 {
	if !q.IsInt64() || q.Int64() > wholeLimit || q.Int64() < -wholeLimit {
		if q.Sign() < 0 {
			return -wholeLimit
		}
		return wholeLimit
	}
	return q.Int64()
}

// steps are the least and greatest multiples of the step; false where a side is open.
func (n *numeric) steps() (lo, hi *big.Int, both bool) {
	if n.min != nil {
		q := new(big.Rat).Quo(n.min, n.step)
		lo = ceil(q)
		if n.exMin && q.IsInt() {
			lo.Add(lo, big.NewInt(1))
		}
	}
	if n.max != nil {
		q := new(big.Rat).Quo(n.max, n.step)
		hi = floor(q)
		if n.exMax && q.IsInt() {
			hi.Sub(hi, big.NewInt(1))
		}
	}
	return lo, hi, lo != nil && hi != nil
}

// number draws a number, mostly where the fast way suffices.
func (d *drawer) number(sh *shape, m *meaning, t typeSet) (any, bool) {
	n := sh.num
	if d.class == Sourced {
		if v, ok := d.sourcedNumber(n, m, t); ok {
			return v, true
		}
	}
	if d.typical() {
		if v, ok := m.number(d, n); ok {
			return v, true
		}
	}
	if d.class == Boundary {
		if v, ok := d.edgeNumber(n, m, t); ok {
			return v, true
		}
	}
	far := n.low <= -wholeLimit+1 && n.hasLow || n.high >= wholeLimit-1 && n.hasHigh
	if n.simple && n.low <= n.high && !far && (n.whole || t == tInteger || d.chance(40)) {
		return d.whole(n), true
	}
	if n.step == nil && !far {
		if v, ok := d.fraction(n); ok {
			return v, true
		}
	}
	return d.exact(n)
}

// near narrows an open range to where ordinary numbers are.
func (d *drawer) near(n *numeric) (lo, hi int64) {
	span := int64(anyRange)
	if d.typical() {
		span = 10
	}
	lo, hi = n.low, n.high
	switch {
	case !n.hasLow && !n.hasHigh:
		lo, hi = -span, span
		if d.typical() {
			lo = 1
		}
	case !n.hasLow:
		lo = hi - span
		if d.typical() && hi >= 1 {
			lo = max(lo, 1)
		}
	case !n.hasHigh:
		hi = lo + span
		if lo < 0 && d.typical() {
			lo, hi = max(lo, 0), max(lo+span, 10)
		}
	case d.typical():
		lo = max(lo, min(hi, 0))
		if lo == 0 && hi > 0 {
			lo = 1
		}
		hi = min(hi, lo+span)
	}
	return lo, hi
}

func (d *drawer) whole(n *numeric) json.Number {
	lo, hi := d.near(n)
	if !d.typical() && d.chance(20) {
		if n.hasLow && d.p.NextBool() {
			return json.Number(strconv.FormatInt(n.low, 10))
		}
		if n.hasHigh {
			return json.Number(strconv.FormatInt(n.high, 10))
		}
	}
	return json.Number(strconv.FormatInt(lo+d.rng.Int63n(hi-lo+1), 10))
}

// fraction draws a number of at most two decimals.
func (d *drawer) fraction(n *numeric) (json.Number, bool) {
	lo, hi := d.near(n)
	if hi < lo || hi-lo > 1<<40 {
		return "", false
	}
	v := lo*100 + d.rng.Int63n((hi-lo)*100+1)
	s := json.Number(decimal(v, 2))
	r, ok := rat(s)
	return s, ok && n.allows(r)
}

// decimal writes v/10^places without needless zeros.
func decimal(v int64, places int) string {
	s := new(big.Rat).SetFrac64(v, int64(math.Pow10(places))).FloatString(places)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func (n *numeric) allows(r *big.Rat) bool {
	if n.min != nil {
		if c := r.Cmp(n.min); c < 0 || (c == 0 && n.exMin) {
			return false
		}
	}
	if n.max != nil {
		if c := r.Cmp(n.max); c > 0 || (c == 0 && n.exMax) {
			return false
		}
	}
	return n.step == nil || new(big.Rat).Quo(r, n.step).IsInt()
}

// exact draws in arbitrary precision: multiples, narrow ranges, huge bounds.
func (d *drawer) exact(n *numeric) (any, bool) {
	if n.step == nil {
		return d.between(n)
	}
	lo, hi, _ := n.steps()
	span := big.NewInt(20)
	switch {
	case lo == nil && hi == nil:
		lo, hi = big.NewInt(1), big.NewInt(20)
	case lo == nil:
		lo = new(big.Int).Sub(hi, span)
	case hi == nil:
		hi = new(big.Int).Add(lo, span)
	}
	width := new(big.Int).Sub(hi, lo)
	if width.Sign() < 0 {
		return nil, false
	}
	k := new(big.Int).Add(lo, d.below(width))
	return number(new(big.Rat).Mul(new(big.Rat).SetInt(k), n.step))
}

// below draws from 0 to limit.
func (d *drawer) below(limit *big.Int) *big.Int {
	if limit.IsInt64() && limit.Int64() < math.MaxInt64 {
		return big.NewInt(d.rng.Int63n(limit.Int64() + 1))
	}
	return new(big.Int).Rand(d.rng, limit)
}

// between draws from a range without a step.
func (d *drawer) between(n *numeric) (any, bool) {
	lo, hi := n.min, n.max
	one := big.NewRat(anyRange, 1)
	switch {
	case lo == nil && hi == nil:
		lo, hi = new(big.Rat).Neg(one), one
	case lo == nil:
		lo = new(big.Rat).Sub(hi, one)
	case hi == nil:
		hi = new(big.Rat).Add(lo, one)
	}
	part := big.NewRat(d.rng.Int63n(1023)+1, 1024)
	r := new(big.Rat).Sub(hi, lo)
	r.Add(lo, r.Mul(r, part))
	if !n.allows(r) {
		return nil, false
	}
	return number(r)
}

// number writes r as decimal digits, exactly or not at all.
func number(r *big.Rat) (any, bool) {
	if r.IsInt() {
		return json.Number(r.Num().String()), true
	}
	places, exact := r.FloatPrec()
	if !exact || places > maxNumberText {
		return nil, false
	}
	return json.Number(r.FloatString(places)), true
}
