package synth

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

const (
	// maxCombined bounds the calls of one tool that combine what its arguments may be, maxVainly those of
	// a tool that has refused every call, and choiceTime the calls of all.
	maxCombined = 100
	maxVainly   = 12
	choiceTime  = 10 * time.Second
)

// choices calls each tool with every combination of its two arguments that have the most values to choose from, such as
// an action and what it is done to, that it was not given with all its arguments. Where one argument alone has some,
// it is called with each.
func (d *driver) choices() {
	end := d.cfg.Now().Add(choiceTime)
	for _, t := range order(d.tools) {
		if !d.due(t) {
			continue
		}
		for n, args := range d.combinations(t) {
			if n >= maxVainly && t.cover.OK == 0 || t.gone || t.slow || t.cover.Timeouts > 0 {
				break
			}
			if !d.more() || d.cfg.Now().After(end) {
				return
			}
			d.carryOut(t, Call{What: WhatTool, Tool: t.name, Args: args, Class: schema.Typical.String()}, 1)
		}
	}
}

// combinations are the arguments of those calls.
func (d *driver) combinations(t *target) (out []json.RawMessage) {
	gen := d.generator(t)
	if gen == nil {
		return nil
	}
	choices := gen.Choices()
	if len(choices) == 0 {
		return nil
	}
	first, second, whole := choices[0], schema.Choice{Values: []any{nil}}, false
	if len(choices) > 1 {
		second, whole = choices[1], true
	}
	drawn := d.fullest(t, gen)
	if drawn == nil {
		return nil
	}
	had := map[string]bool{}
	for _, args := range t.given {
		if given, ok := membersOf(args); ok && (!whole || len(given) >= len(drawn)) {
			had[fmt.Sprint(given[first.Name], given[second.Name])] = true
		}
	}
	for _, b := range second.Values {
		for _, a := range first.Values {
			if len(out) >= maxCombined || had[fmt.Sprint(a, b)] {
				continue
			}
			drawn[first.Name] = a
			if whole {
				drawn[second.Name] = b
			}
			made, err := json.Marshal(drawn)
			if err != nil {
				continue
			}
			if made, err = gen.Canonical(made); err == nil {
				out = append(out, made)
			}
		}
	}
	return out
}
