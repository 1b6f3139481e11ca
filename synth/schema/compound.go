package schema

import "slices"

// array draws an array of a length that the shape allows.
func (d *drawer) array(sh *shape, m *meaning, depth int) (any, bool) {
	a := sh.arr
	n := d.length(a, depth)
	forced, ok := d.placeContains(a, n)
	if !ok {
		return nil, false
	}
	out := make([]any, 0, min(n, 64))
	var seen map[string]bool
	if a.unique {
		seen = make(map[string]bool, n)
	}
	for i := range n {
		item := a.item(i)
		if c, ok := forced[i]; ok {
			item = d.g.with(a, i, c.schema)
		}
		v, ok := d.distinct(item, m, depth+1, seen)
		if !ok {
			if i >= a.minimum && len(forced) == 0 {
				break
			}
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// length is how many items to draw.
func (d *drawer) length(a *arrayShape, depth int) int {
	most := min(3, d.p.MaxSize)
	if !d.typical() {
		most = min(6, d.p.MaxSize)
	}
	if depth+1 >= d.g.depth || d.minimal {
		most = 0
	}
	if d.class == Boundary && most > 0 {
		return d.edgeLength(a)
	}
	hi := min(a.maximum, max(a.minimum, most, min(len(a.prefix), 64)))
	if d.minimal || hi < a.minimum {
		hi = a.minimum
	}
	lo := a.minimum
	if d.typical() && lo == 0 && hi > 0 {
		lo = 1
	}
	if d.typical() && len(a.prefix) > 0 && len(a.prefix) <= hi {
		lo = max(lo, len(a.prefix))
	}
	if d.class == TypicalRequired {
		hi = lo
	}
	return lo + d.rng.Intn(hi-lo+1)
}

// placeContains decides which items satisfy each contains.
func (d *drawer) placeContains(a *arrayShape, n int) (map[int]containing, bool) {
	if len(a.contains) == 0 {
		return nil, true
	}
	at := map[int]containing{}
	var free []int
	for i := range n {
		free = append(free, i)
	}
	for _, c := range a.contains {
		for range c.least {
			if len(free) == 0 {
				// An item may satisfy two of them at once; the judge decides.
				return at, len(at) > 0 || c.least == 0
			}
			k := d.rng.Intn(len(free))
			at[free[k]] = c
			free = slices.Delete(free, k, k+1)
		}
	}
	return at, true
}

// distinct draws an item that is not in seen.
func (d *drawer) distinct(n *node, m *meaning, depth int, seen map[string]bool) (any, bool) {
	tries := 1
	if seen != nil {
		tries = 40
	}
	class := d.class
	defer func() { d.class = class }()
	for try := range tries {
		if try > 10 {
			d.class = Valid
		}
		v, ok := d.node(n, m, depth)
		if !ok || seen == nil {
			return v, ok
		}
		if k := uniqueKey(v); !seen[k] {
			seen[k] = true
			return v, true
		}
	}
	return nil, false
}

// object draws an object.
func (d *drawer) object(sh *shape, m *meaning, depth int) (any, bool) {
	o := sh.obj
	minimal := d.minimal
	out := make(map[string]any, min(len(o.props), 32))
	keep := d.optionalShare(o)
	for i := range o.props {
		p := &o.props[i]
		if !p.required && (len(out) >= o.max || minimal || !d.wants(sh, p, keep, depth)) {
			continue
		}
		v, ok := d.node(p.node, p.meaning, depth+1)
		if !ok {
			if p.required {
				return nil, false
			}
			continue
		}
		d.bytes += len(p.name) + 8
		out[p.name] = v
	}
	if !d.dependents(o, out, depth) {
		return nil, false
	}
	d.trim(o, out)
	if !d.fill(o, m, out, depth, minimal) {
		return nil, false
	}
	return out, true
}

// optionalShare is the chance in 100 of an optional property.
func (d *drawer) optionalShare(o *objectShape) int {
	if d.class == TypicalFull {
		return 100
	}
	if d.class == TypicalRequired {
		return 0
	}
	if d.class == Boundary && d.chance(70) {
		return 100 * d.rng.Intn(2)
	}
	share := 50
	switch {
	case d.class == Learned:
		share = 70
	case d.class == Sourced:
		share = 90
	case d.typical():
		share = 40
	}
	if n := len(o.props); n > 40 {
		share = max(1, share*40/n)
	}
	return share
}

func (d *drawer) wants(sh *shape, p *property, share, depth int) bool {
	if p.height+depth+1 > d.g.depth {
		return false
	}
	if d.cover != nil && d.chance(60) {
		if d.cover.wanted(p.node.set) {
			return true
		}
		for _, s := range sh.conj {
			present, absent := d.cover.missing(point{presentPoint, s, p.name}), d.cover.missing(point{absentPoint, s, p.name})
			if present != absent {
				return present
			}
		}
	}
	return share >= 100 || (share > 0 && d.chance(share))
}

// dependents adds what the properties present bring with them.
func (d *drawer) dependents(o *objectShape, out map[string]any, depth int) bool {
	if len(o.depends) == 0 {
		return true
	}
	for range len(o.depends) + 1 {
		missing := o.missing(out)
		if len(missing) == 0 {
			return true
		}
		for _, name := range missing {
			i, ok := slices.BinarySearch(o.names, name)
			if !ok {
				if o.forbidden[name] {
					return false
				}
				v, ok := d.node(o.extra, &meaning{}, depth+1)
				if !ok {
					return false
				}
				out[name] = v
				continue
			}
			v, ok := d.node(o.props[i].node, o.props[i].meaning, depth+1)
			if !ok {
				return false
			}
			out[name] = v
		}
	}
	return true
}

func (o *objectShape) missing(out map[string]any) []string {
	want := map[string]bool{}
	for name, list := range o.depends {
		if _, ok := out[name]; !ok {
			continue
		}
		for _, other := range list {
			if _, ok := out[other]; !ok {
				want[other] = true
			}
		}
	}
	return sortedKeys(want)
}

// trim takes optional properties out again where there are too many.
func (d *drawer) trim(o *objectShape, out map[string]any) {
	for i := len(o.props) - 1; i >= 0 && len(out) > o.max; i-- {
		if !o.props[i].required {
			delete(out, o.props[i].name)
		}
	}
}

// fill adds properties until there are enough: first known ones, then others.
func (d *drawer) fill(o *objectShape, m *meaning, out map[string]any, depth int, minimal bool) bool {
	want := o.min
	if o.open && !minimal && depth < d.g.depth {
		want = max(want, len(out)+d.surplus(o))
	}
	want = min(want, o.max)
	for i := 0; i < len(o.props) && len(out) < o.min; i++ {
		p := &o.props[i]
		if _, ok := out[p.name]; ok {
			continue
		}
		if v, ok := d.node(p.node, p.meaning, depth+1); ok {
			out[p.name] = v
		}
	}
	for tries := 0; len(out) < want && tries < want*4+16; tries++ {
		d.steps++
		if d.exhausted() {
			return false
		}
		d.addExtra(o, m, out, depth)
	}
	return len(out) >= o.min
}

// surplus is how many undeclared properties are added although none is needed.
func (d *drawer) surplus(o *objectShape) int {
	mapLike := len(o.props) == 0 && (len(o.extra.set) > 0 || len(o.patterns) > 0)
	switch {
	case mapLike && d.class != TypicalRequired:
		return 1 + d.rng.Intn(2)
	case !d.typical() && d.chance(15):
		return 1
	}
	return 0
}

// addExtra adds one property that is not declared by name.
func (d *drawer) addExtra(o *objectShape, m *meaning, out map[string]any, depth int) {
	name, ok := d.extraName(o)
	if !ok || o.forbidden[name] {
		return
	}
	if _, ok := out[name]; ok {
		return
	}
	if _, ok := slices.BinarySearch(o.names, name); ok {
		return
	}
	set := slices.Clone(o.extra.set)
	matched := false
	for _, p := range o.patterns {
		if p.re.MatchString(name) {
			if !matched {
				set, matched = nil, true
			}
			set = append(set, p.schema)
		}
	}
	if (!matched && !o.open) || impossible(set) {
		return
	}
	if o.nameNode != nil && !d.g.holds(o.nameNode.set, name) {
		return
	}
	if v, ok := d.node(d.g.nodeFor(set), m, depth+1); ok {
		d.bytes += len(name) + 8
		out[name] = v
	}
}

// extraName makes up a name: after the schema of names, after a pattern, or an ordinary word.
func (d *drawer) extraName(o *objectShape) (string, bool) {
	if o.nameNode != nil && len(o.patterns) == 0 {
		v, ok := d.node(o.nameNode, nameMeaning, d.g.depth)
		s, isText := v.(string)
		return s, ok && isText
	}
	if len(o.patterns) > 0 && (!o.open || d.p.NextBool()) {
		p := d.g.pattern(o.patterns[d.rng.Intn(len(o.patterns))].re)
		return p.write(d.rng, 0, 24, d.class, d.rng.Intn(8))
	}
	word := ordinaryWords[d.rng.Intn(len(ordinaryWords))]
	if d.chance(50) {
		word += string(rune('a'+d.rng.Intn(26))) + string(rune('0'+d.rng.Intn(10)))
	}
	return word, true
}
