package synth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// planFirst draws the first call of each target before any call is made. What it draws
// depends on the seed, the declarations and this program alone, and no answer changes it.
func (d *driver) planFirst() {
	var plan []Call
	for _, list := range [][]*target{order(d.tools), d.resources, d.prompts, d.complete} {
		for _, t := range list {
			if !d.more() {
				break
			}
			c := d.drawn(t)
			c.N = len(plan) + 1
			t.first = &c
			plan = append(plan, c)
		}
	}
	d.cfg.OnPlan(plan)
}

// takeFirst is a target's first call as it was planned, nil where that was made or where
// the declaration has changed since.
func (t *target) takeFirst() *Call {
	c := t.first
	t.first = nil
	return c
}

// unplayed says how many calls of the first round were not made, "" for none.
func (d *driver) unplayed() string {
	left := 0
	for _, t := range slices.Concat(d.tools, d.resources, d.prompts, d.complete) {
		if t.first != nil {
			left++
		}
	}
	if left == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d calls of the first round were not made)", left)
}

// maxTaught bounds the values whose origin is known.
const maxTaught = 20_000

// taught notes that the answer to the latest call holds a value. What the declarations
// hold already is nothing that an answer teaches.
func (d *driver) taught(value string) {
	if _, known := d.origins[value]; known || len(d.origins) >= maxTaught {
		return
	}
	if d.origins == nil {
		d.origins = map[string]int{}
	}
	d.origins[value] = d.n
}

// maxFrom bounds the calls that one call names.
const maxFrom = 16

// ofBase are the classes of calls whose arguments are those of one that succeeded, or nearly.
var ofBase = []string{ClassOracle, ClassSequence, ClassCancelled, ClassGuard, ClassLong, ClassRows}

// learnedFrom are the calls whose answers the arguments of a call may come from, in order:
// those whose answers have one of its values, and those of refusals that changed the
// schema from which it is drawn.
func (d *driver) learnedFrom(t *target, c Call) []int {
	from := slices.Concat(c.From, t.schemaFrom)
	if t.baseFrom > 0 && slices.Contains(ofBase, c.Class) {
		from = append(from, t.baseFrom)
	}
	eachScalar(c.Args, func(text string) {
		if n := d.origins[text]; n > 0 {
			from = append(from, n)
		}
	})
	slices.Sort(from)
	from = slices.Compact(from)
	return from[max(0, len(from)-maxFrom):]
}

// eachScalar calls f with each text and each number of a JSON value.
func eachScalar(args json.RawMessage, f func(text string)) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return
	}
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		if depth > maxWalk {
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for _, w := range v {
				walk(w, depth+1)
			}
		case []any:
			for _, w := range v {
				walk(w, depth+1)
			}
		case string:
			f(v)
		case json.Number:
			f(v.String())
		}
	}
	walk(v, 0)
}
