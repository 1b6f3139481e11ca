package schema

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxGrown bounds what a value is lengthened by so that it is too long.
const maxGrown = 1 << 14

func (b *breaker) text(p place, s *jsonschema.Schema, v string) {
	rs := []rune(v)
	if s.MinLength != nil && *s.MinLength > 0 && *s.MinLength <= len(rs) {
		b.offer("minLength", p, string(rs[:*s.MinLength-1]))
	}
	if s.MaxLength != nil && *s.MaxLength-len(rs) < maxGrown {
		last := "a"
		if len(rs) > 0 {
			last = string(rs[len(rs)-1])
		}
		b.offer("maxLength", p, v+strings.Repeat(last, *s.MaxLength+1-len(rs)))
	}
	if s.Pattern != nil {
		for _, t := range []string{v + "!", "!" + v, "~ \u00a0!", "", strings.Repeat("!", utf8.RuneCountInString(v))} {
			if !s.Pattern.MatchString(t) {
				b.offer("pattern", p, t)
			}
		}
	}
	if s.Format != nil {
		b.offer("format", p, "no "+strings.ReplaceAll(s.Format.Name, "-", " "))
		b.offer("format", p, v+" %")
		b.offer("format", p, "[")
	}
}

func (b *breaker) number(p place, s *jsonschema.Schema, v json.Number, types typeSet) {
	r, ok := rat(v)
	if !ok {
		return
	}
	step := big.NewRat(1, 1)
	if s.MultipleOf != nil {
		step = s.MultipleOf
	}
	write := func(keyword string, x *big.Rat) {
		if n, ok := number(x); ok {
			b.offer(keyword, p, n)
		}
	}
	if s.Minimum != nil {
		write("minimum", new(big.Rat).Sub(nearestStep(s.Minimum, step, false), step))
	}
	if s.Maximum != nil {
		write("maximum", new(big.Rat).Add(nearestStep(s.Maximum, step, true), step))
	}
	if s.ExclusiveMinimum != nil {
		write("exclusiveMinimum", s.ExclusiveMinimum)
	}
	if s.ExclusiveMaximum != nil {
		write("exclusiveMaximum", s.ExclusiveMaximum)
	}
	if s.MultipleOf == nil {
		return
	}
	off := new(big.Rat).Quo(step, big.NewRat(2, 1))
	if types&tNumber == 0 {
		off = big.NewRat(1, 1)
	}
	write("multipleOf", new(big.Rat).Add(r, off))
	write("multipleOf", new(big.Rat).Sub(r, off))
}

// nearestStep is the multiple of step at r or next to it, upwards or downwards.
func nearestStep(r, step *big.Rat, down bool) *big.Rat {
	q := new(big.Rat).Quo(r, step)
	k := ceil(q)
	if down {
		k = floor(q)
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt(k), step)
}

func (b *breaker) array(p place, s *jsonschema.Schema, v []any) {
	if s.MinItems != nil && *s.MinItems > 0 && *s.MinItems <= len(v) {
		b.offer("minItems", p, slices.Clone(v[:*s.MinItems-1]))
	}
	if s.MaxItems != nil && *s.MaxItems-len(v) < maxGrown {
		b.offer("maxItems", p, grown(v, *s.MaxItems+1))
	}
	if s.UniqueItems && len(v) > 0 {
		b.offer("uniqueItems", p, append(slices.Clone(v), v[0]))
		if len(v) > 1 {
			w := slices.Clone(v)
			w[1] = w[0]
			b.offer("uniqueItems", p, w)
		}
	}
	if s.Contains != nil {
		b.contains(p, s, v)
	}
	longer := grown(v, len(v)+1)
	b.offer("additionalItems", p, longer)
	b.offerAt("false", p, []string{strconv.Itoa(len(v))}, longer)
}

// grown repeats the last item until there are n.
func grown(v []any, n int) []any {
	out := slices.Clone(v)
	for len(out) < n {
		last := any(json.Number("7"))
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		out = append(out, last)
	}
	return out
}

func (b *breaker) contains(p place, s *jsonschema.Schema, v []any) {
	keyword := "contains"
	if s.MinContains != nil {
		keyword = "minContains"
	}
	var rest []any
	var one any
	for _, item := range v {
		if b.g.judge(s.Contains, item) {
			one = item
			continue
		}
		rest = append(rest, item)
	}
	if rest == nil {
		rest = []any{}
	}
	b.offer(keyword, p, rest)
	if s.MaxContains != nil && one != nil && *s.MaxContains < maxItemsEver {
		out := slices.Clone(v)
		for range *s.MaxContains + 1 {
			out = append(out, one)
		}
		b.offer("maxContains", p, out)
	}
}

func (b *breaker) object(p place, s *jsonschema.Schema, v map[string]any) {
	without := func(drop string) map[string]any {
		w := make(map[string]any, len(v))
		for k, x := range v {
			if k != drop {
				w[k] = x
			}
		}
		return w
	}
	with := func(name string, x any) map[string]any {
		w := without(name)
		w[name] = x
		return w
	}
	for _, name := range s.Required {
		b.offer("required", p, without(name))
	}
	for _, list := range []map[string][]string{s.DependentRequired, dependencyNames(s)} {
		for _, name := range sortedKeys(list) {
			if _, ok := v[name]; !ok {
				continue
			}
			for _, other := range list[name] {
				if other != name {
					b.offer("dependentRequired", p, without(other))
				}
			}
		}
	}
	fresh := freshName(s)
	b.offer("additionalProperties", p, with(fresh, "extra"))
	b.offerAt("false", p, []string{fresh}, with(fresh, "extra"))
	for _, name := range sortedKeys(s.Properties) {
		if t := s.Properties[name]; t.Bool != nil && !*t.Bool {
			b.offerAt("false", p, []string{name}, with(name, "extra"))
		}
	}
	if s.PropertyNames != nil {
		for _, name := range []string{"not a name!", "", strings.Repeat("x", 300), "7"} {
			b.offer("propertyNames", p, with(name, "extra"))
		}
	}
	b.counts(p, s, v)
}

// counts offers objects of too few and of too many properties.
func (b *breaker) counts(p place, s *jsonschema.Schema, v map[string]any) {
	names := sortedKeys(v)
	if s.MinProperties != nil && *s.MinProperties > 0 && *s.MinProperties <= len(v) {
		w := map[string]any{}
		for _, name := range names {
			if slices.Contains(s.Required, name) || len(names)-len(w) <= 0 {
				w[name] = v[name]
			}
		}
		for _, name := range names {
			if len(w) < *s.MinProperties-1 {
				w[name] = v[name]
			}
		}
		b.offer("minProperties", p, w)
	}
	if s.MaxProperties == nil || *s.MaxProperties-len(v) > maxItemsEver {
		return
	}
	w := put(v, []string{freshName(s)}, "extra").(map[string]any)
	for i := 0; len(w) <= *s.MaxProperties; i++ {
		w["extra"+strconv.Itoa(i)] = "extra"
	}
	b.offer("maxProperties", p, w)
}

func dependencyNames(s *jsonschema.Schema) map[string][]string {
	out := map[string][]string{}
	for name, v := range s.Dependencies {
		if list, ok := v.([]string); ok {
			out[name] = list
		}
	}
	return out
}
