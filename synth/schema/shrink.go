package schema

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/leanovate/gopter"
)

const (
	maxShrinks     = 4_000
	maxShrinkDepth = maxHeight
)

// Shrinker yields simpler values that the schema still allows: without what is
// optional, with fewer items, shorter texts, numbers nearer to zero, and the
// earlier members of an enum. Every step is simpler by one measure, so that
// shrinking ends.
func (g *Generator) Shrinker() gopter.Shrinker {
	return func(x any) gopter.Shrink {
		v, ok := x.(Value)
		if !ok {
			return gopter.NoShrink
		}
		list := g.simpler(v.V)
		i := 0
		return func() (any, bool) {
			for i < len(list) {
				i++
				g.mu.Lock()
				ok := g.judge(g.top, list[i-1])
				g.mu.Unlock()
				if ok {
					return Value{list[i-1]}, true
				}
			}
			return nil, false
		}
	}
}

// shrinking collects the candidates for one value.
type shrinking struct {
	g    *Generator
	seen map[string]bool
	out  []any
}

func (g *Generator) simpler(v any) []any {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &shrinking{g: g, seen: map[string]bool{key(v): true}}
	s.at(g.root, v, 0, func(w any) {
		if k := key(w); len(s.out) < maxShrinks && !s.seen[k] {
			s.seen[k] = true
			s.out = append(s.out, w)
		}
	})
	return s.out
}

// at offers simpler forms of v where the schemas of n apply; n may be nil.
func (s *shrinking) at(n *node, v any, depth int, offer func(any)) {
	if depth > maxShrinkDepth || len(s.out) >= maxShrinks {
		return
	}
	var sh *shape
	if n != nil {
		sh = s.g.shapeOf(n, fitting{s.g, v})
		if sh.isFixed && s.members(sh, v, offer) {
			return
		}
	}
	switch v := v.(type) {
	case map[string]any:
		s.object(sh, v, depth, offer)
	case []any:
		s.array(sh, v, depth, offer)
	case string:
		s.text(sh, v, offer)
	case json.Number:
		s.number(sh, v, offer)
	case bool:
		if v {
			offer(false)
		}
	}
}

// members offers the earlier members of each enum; false where there is none,
// but a constant, which may hold only on the side of an alternative that v takes.
func (s *shrinking) members(sh *shape, v any, offer func(any)) (found bool) {
	k := key(v)
	for _, c := range sh.conj {
		if c.Enum == nil {
			continue
		}
		found = true
		for _, w := range c.Enum.Values[:min(len(c.Enum.Values), maxFixed)] {
			if key(w) == k {
				break
			}
			offer(w)
		}
	}
	return found
}

func (s *shrinking) object(sh *shape, v map[string]any, depth int, offer func(any)) {
	names := sortedKeys(v)
	without := func(drop ...string) map[string]any {
		w := make(map[string]any, len(v))
		for k, x := range v {
			if !slices.Contains(drop, k) {
				w[k] = x
			}
		}
		return w
	}
	if len(names) > 2 {
		offer(without(names[len(names)/2:]...))
		offer(without(names[:len(names)/2]...))
	}
	if optional := s.optional(sh, names); len(optional) > 1 {
		offer(without(optional...))
	}
	for _, name := range names {
		offer(without(name))
	}
	for _, name := range names {
		s.at(childNode(sh, name), v[name], depth+1, func(x any) {
			w := without()
			w[name] = x
			offer(w)
		})
	}
}

func (s *shrinking) optional(sh *shape, names []string) []string {
	if sh == nil || sh.obj == nil {
		return nil
	}
	var out []string
	for _, name := range names {
		i, ok := slices.BinarySearch(sh.obj.names, name)
		if !ok || !sh.obj.props[i].required {
			out = append(out, name)
		}
	}
	return out
}

func childNode(sh *shape, name string) *node {
	if sh == nil || sh.obj == nil {
		return nil
	}
	if i, ok := slices.BinarySearch(sh.obj.names, name); ok {
		return sh.obj.props[i].node
	}
	return sh.obj.extra
}

func (s *shrinking) array(sh *shape, v []any, depth int, offer func(any)) {
	if len(v) > 0 {
		offer([]any{})
	}
	if len(v) > 1 {
		offer(slices.Clone(v[:len(v)/2]))
		offer(slices.Clone(v[len(v)/2:]))
	}
	for i := range v {
		offer(slices.Delete(slices.Clone(v), i, i+1))
	}
	for i := range v {
		var n *node
		if sh != nil && sh.arr != nil {
			n = sh.arr.item(i)
		}
		s.at(n, v[i], depth+1, func(x any) {
			w := slices.Clone(v)
			w[i] = x
			offer(w)
		})
	}
}

// text offers shorter texts, then texts of plainer characters.
func (s *shrinking) text(sh *shape, v string, offer func(any)) {
	rs := []rune(v)
	least := 0
	if sh != nil && sh.str != nil {
		least = sh.str.min
	}
	shorter := func(t string) {
		if n := utf8.RuneCountInString(t); n < len(rs) && n >= least {
			offer(t)
		}
	}
	shorter("")
	if least > 0 && least < len(rs) {
		shorter(string(rs[:least]))
	}
	shorter(string(rs[:len(rs)/2]))
	shorter(string(rs[len(rs)/2:]))
	for i := range min(len(rs), 200) {
		shorter(string(rs[:i]) + string(rs[i+1:]))
	}
	if plain := strings.Map(plainer, v); plain != v {
		offer(plain)
	}
	for i := range min(len(rs), 200) {
		if p := plainer(rs[i]); p != rs[i] {
			offer(string(rs[:i]) + string(p) + string(rs[i+1:]))
		}
	}
}

// plainer maps each character to the plainest of its sort; it is idempotent.
func plainer(r rune) rune {
	switch {
	case r >= '0' && r <= '9':
		return '0'
	case r == 'A' || (r >= 'B' && r <= 'Z'):
		return 'A'
	case r == 'a' || r == ' ' || (r > ' ' && r < '0'):
		return r
	}
	return 'a'
}

// number offers numbers nearer to zero, or of fewer digits.
func (s *shrinking) number(sh *shape, v json.Number, offer func(any)) {
	r, ok := rat(v)
	if !ok {
		return
	}
	try := func(x *big.Rat) {
		if x.IsInt() && x.Num().BitLen() > 4096 {
			return
		}
		if c := new(big.Rat).Abs(x).Cmp(new(big.Rat).Abs(r)); c < 0 || (c == 0 && x.Sign() > r.Sign()) {
			if n, ok := number(x); ok {
				offer(n)
			}
		}
	}
	try(new(big.Rat))
	if sh != nil && sh.num != nil {
		for _, b := range []*big.Rat{sh.num.min, sh.num.max} {
			if b != nil {
				try(b)
			}
		}
	}
	try(new(big.Rat).Abs(r))
	whole := new(big.Int).Quo(r.Num(), r.Denom())
	try(new(big.Rat).SetInt(whole))
	try(new(big.Rat).SetInt(new(big.Int).Quo(whole, big.NewInt(2))))
	one := big.NewRat(1, 1)
	if r.Sign() < 0 {
		one.Neg(one)
	}
	try(new(big.Rat).Sub(r, one))
	if sh != nil && sh.num != nil && sh.num.step != nil {
		step := new(big.Rat).Set(sh.num.step)
		if r.Sign() < 0 {
			step.Neg(step)
		}
		try(new(big.Rat).Sub(r, step))
	}
}
