package synth

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand"
	"slices"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

// Guided is what a search for inputs that reach new code came to.
type Guided struct {
	// Steps are its calls in order, up to the last one that reached new code; nil where none did.
	Steps []Step
	// Kept counts the calls that reached new code, Tries all calls.
	Kept, Tries int
}

const (
	// ClassGuided is the class of a call that varies another to reach new code.
	ClassGuided = "guided"
	// leastPatience is how many calls of a tool may reach nothing, however many tools there are.
	leastPatience = 8
	// again is how often an input is varied at once that reached new code.
	again = 4
	// redraws bounds the variations drawn for one call, none of which is new and valid.
	redraws = 8
	// maxVaried bounds the arguments that are varied, in bytes: a long document is given once.
	maxVaried = 8 << 10
)

// pool are the inputs of one tool that are varied.
type pool struct {
	*target
	// corpus are all inputs, and kept those of them that reached new code.
	corpus, kept []map[string]any
	seen         map[string]bool
	// next is, for each place of a text, the literal of the source that stands there next.
	next map[string]int
	// left is how many calls may still reach nothing new.
	left int
	// fresh is how often the latest input is still varied at once.
	fresh int
}

// Guide varies the arguments of known calls, mostly of those that useful names by their places,
// and keeps and varies further those that reach new code. reached says how much of the code has run so far, which never falls, and
// whether there is more to be looked for; without that the search ends. Each tool in turn has one call, and more at once where a call of it reached
// something. tries bounds the calls of all, and a tool is left after its share of them without anything
// new. The same seed, known calls and answers give the same calls.
func (p *Player) Guide(known []Step, useful map[int]bool, tries int, reached func() (int, bool)) Guided {
	d := p.d
	d.prepare()
	d.stopped = nil
	pools := d.pools(known, useful)
	var out Guided
	var made []Step
	for _, q := range pools {
		q.left = max(tries/len(pools), leastPatience)
	}
	best, more := reached()
	for more && len(pools) > 0 && out.Tries < tries {
		pools = slices.DeleteFunc(pools, func(q *pool) bool { return q.left <= 0 || q.gone || q.cover.Timeouts >= maxTimeouts })
		for _, q := range pools {
			for first := true; first || q.fresh > 0; first = false {
				if out.Tries >= tries || !d.more() {
					return out
				}
				c, ok := d.varied(q, out.Tries)
				if !ok {
					q.left, q.fresh = 0, 0
					break
				}
				out.Tries++
				end := d.carryOut(q.target, c, 1)
				made = append(made, Step{What: WhatTool, Name: q.name, Args: c.Args})
				now := best
				if more = end != Crash; more {
					now, more = reached()
				}
				if now > best || end == Crash {
					out.Kept++
					out.Steps = slices.Clone(made)
				}
				if !more {
					return out
				}
				q.took(c, now > best)
				best = max(best, now)
			}
		}
	}
	return out
}

// pools are the tools that are called, with the arguments that known calls gave them. A tool
// that oracles alone called, or no call, starts with what is drawn for it.
func (d *driver) pools(known []Step, useful map[int]bool) []*pool {
	var out []*pool
	for _, t := range order(d.tools) {
		q := &pool{target: t, seen: map[string]bool{}, next: map[string]int{}}
		for i, s := range known {
			if s.What != WhatTool || s.Name != t.name {
				continue
			}
			q.seen[string(s.Args)] = true
			if args, ok := membersOf(s.Args); ok && len(s.Oracles) == 0 && len(s.Args) <= maxVaried {
				q.corpus = append(q.corpus, args)
				if useful[i] {
					q.kept = append(q.kept, args)
				}
			}
		}
		out = append(out, q)
	}
	return out
}

func membersOf(raw json.RawMessage) (map[string]any, bool) {
	var m map[string]any
	return m, json.Unmarshal(raw, &m) == nil && m != nil
}

// took takes in what a call came to.
func (q *pool) took(c Call, reached bool) {
	q.left--
	q.fresh = max(q.fresh-1, 0)
	if args, ok := membersOf(c.Args); ok && reached {
		q.corpus, q.kept = append(q.corpus, args), append(q.kept, args)
		q.left, q.fresh = q.left+again, again
	}
}

// varied draws the next arguments of a tool, none that it was given before.
func (d *driver) varied(q *pool, n int) (Call, bool) {
	gen := d.generator(q.target)
	if gen == nil {
		return Call{}, false
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00guide\x00%s\x00%d", d.cfg.Seed, q.name, n)
	rng := rand.New(schema.NewSource(int64(h.Sum64())))
	for range redraws {
		raw, err := gen.Draw(rng.Int63(), donorClasses[rng.Intn(len(donorClasses))])
		if err != nil {
			continue
		}
		if donor, ok := membersOf(raw); ok && len(q.corpus) > 0 {
			v := variation{rng: rng, texts: d.cfg.Hints.Literals.Texts, next: q.next}
			if made, err := json.Marshal(v.of(q.parent(rng), donor, "")); err == nil {
				if raw, err = gen.Canonical(made); err != nil {
					continue
				}
			}
		}
		if !q.seen[string(raw)] {
			q.seen[string(raw)] = true
			return Call{What: WhatTool, Tool: q.name, Args: raw, Class: ClassGuided}, true
		}
	}
	return Call{}, false
}

// donorClasses are the kinds of values that a variation takes, as often as they stand here.
var donorClasses = []schema.Class{schema.Sourced, schema.Sourced, schema.Typical, schema.Learned, schema.Valid, schema.Boundary}

// parent is the input to be varied: mostly one that reached new code, and of those the later ones.
func (q *pool) parent(rng *rand.Rand) map[string]any {
	n := len(q.kept)
	switch {
	case n > 0 && q.fresh > 0:
		return q.kept[n-1]
	case n > 0 && rng.Intn(4) > 0:
		return q.kept[max(rng.Intn(n), rng.Intn(n))]
	}
	return q.corpus[rng.Intn(len(q.corpus))]
}

// variation changes one member of an input.
type variation struct {
	rng *rand.Rand
	// texts are the literals of the server's source, those first that it compares with. next
	// is which of them a place has next, so that each has all of them in turn.
	texts []string
	next  map[string]int
}

// of is a copy of parent in which one member is another, of those that parent or donor has.
// place is where it stands in the arguments.
func (v *variation) of(parent, donor map[string]any, place string) map[string]any {
	out := maps.Clone(parent)
	names := slices.Sorted(maps.Keys(donor))
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if _, both := donor[name]; !both {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return out
	}
	name := names[v.rng.Intn(len(names))]
	have, had := out[name]
	given, gives := donor[name]
	switch {
	case !gives && v.rng.Intn(2) == 0:
		delete(out, name)
	case !gives:
		out[name] = v.value(have, have, place+"/"+name)
	case !had:
		out[name] = v.value(given, given, place+"/"+name)
	default:
		out[name] = v.value(have, given, place+"/"+name)
	}
	return out
}

// value is what stands in place of have, where a donor has given.
func (v *variation) value(have, given any, place string) any {
	switch have := have.(type) {
	case map[string]any:
		if donor, ok := given.(map[string]any); ok && v.rng.Intn(4) > 0 {
			return v.of(have, donor, place)
		}
	case []any:
		if donor, ok := given.([]any); ok && len(have) > 0 && len(donor) > 0 && v.rng.Intn(4) > 0 {
			out := slices.Clone(have)
			i := v.rng.Intn(len(out))
			out[i] = v.value(out[i], donor[v.rng.Intn(len(donor))], place+"/-")
			return out
		}
	case string:
		if len(v.texts) > 0 && v.rng.Intn(4) > 0 {
			return v.text(have, place)
		}
	case float64:
		if v.rng.Intn(3) == 0 {
			return []float64{have + 1, have - 1, -have, have * 2}[v.rng.Intn(4)]
		}
	}
	return given
}

// text is a literal of the source, or a text with one before or behind it: servers look for
// prefixes, suffixes and words.
func (v *variation) text(old, place string) string {
	join := v.rng.Intn(4)
	if join == 0 {
		place += " joined"
	}
	literal := v.texts[v.next[place]%len(v.texts)]
	v.next[place]++
	if join == 0 {
		return []string{literal + old, old + literal, literal + " " + old, old + " " + literal}[v.rng.Intn(4)]
	}
	return literal
}
