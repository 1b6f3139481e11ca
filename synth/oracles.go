package synth

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// ClassOracle is the class of a call whose arguments carry an oracle's input.
const ClassOracle = "oracle"

// oraclesPerCall is how many oracle inputs a tool gets for each ordinary call.
const oraclesPerCall = 15

// slowOracles is how many a slow tool gets at most.
const slowOracles = 2

// probeInput is one oracle input for one tool.
type probeInput struct {
	args json.RawMessage
	in   []session.Injection
}

// oracles gives every tool its oracle inputs, in turns: each tool one before
// any tool the next.
func (d *driver) oracles() {
	w := d.cfg.World
	if w == nil || d.stopped != nil {
		return
	}
	d.oraclesFrom = d.cfg.Now()
	end := d.oraclesFrom.Add(d.cfg.OracleTime)
	plans := map[*target][]probeInput{}
	for _, t := range d.tools {
		plans[t] = d.oraclePlan(t)
		t.cover.OraclesPlanned = len(plans[t])
	}
	for k := 0; ; k++ {
		left := false
		for _, t := range order(d.tools) {
			if k >= len(plans[t]) || t.gone || t.cover.Timeouts >= maxTimeouts || t.slow && k >= slowOracles {
				continue
			}
			if left = true; !d.more() {
				return
			}
			if d.cfg.Now().After(end) {
				return
			}
			p := plans[t][k]
			d.carryOut(t, Call{What: WhatTool, Tool: t.name, Args: p.args, Class: ClassOracle, Oracles: p.in}, 1)
			t.cover.OraclesTried++
		}
		if !left {
			break
		}
	}
	d.hiddenTools(end)
	d.takeBack()
	d.relistingOracles = 0 // the last listing is never left out
	d.relist(Call{N: d.n, Class: ClassOracle})
}

// oraclePlan lists a tool's inputs: each place gets its next before any place
// the one after.
func (d *driver) oraclePlan(t *target) []probeInput {
	base := t.base
	if base == nil {
		var err error
		if gen := d.generator(t); gen != nil {
			if base, err = gen.Draw(d.seed(t), 0); err != nil {
				base = nil
			}
		}
	}
	if base == nil {
		base = json.RawMessage(`{}`)
	}
	n := 0
	token := func(int) string {
		n++
		return oracle.Token(d.cfg.Seed, t.name, n)
	}
	out := d.wholeInputs(base, token)
	most := oraclesPerCall * d.cfg.Calls
	places := oracle.Places(base)
	for k := 0; k < oracle.Count() && len(places) > 0; k++ {
		for _, p := range places {
			in := oracle.At(d.cfg.World, oracle.MeaningOf(p.Name), k, token(k))
			in.At = p.At
			args, ok := oracle.Put(base, p.At, in.In(p.Value))
			if ok && len(out) < most {
				out = append(out, probeInput{args, []session.Injection{in.Injection}})
			}
		}
	}
	return append(out, d.literalInputs(base, places)...)
}

// literalInputs put each likely literal of the server's source into each place:
// what it compares with may be what it waits for.
func (d *driver) literalInputs(base json.RawMessage, places []oracle.Place) []probeInput {
	var out []probeInput
	texts := d.cfg.Hints.Literals.Texts
	for _, text := range texts[:min(len(texts), likely)] {
		for _, p := range places {
			if args, ok := oracle.Put(base, p.At, text); ok && len(out) < likely {
				out = append(out, probeInput{args, nil})
			}
		}
	}
	return out
}

// wholeInputs are those that add to the arguments as a whole.
func (d *driver) wholeInputs(base json.RawMessage, token func(int) string) []probeInput {
	var out []probeInput
	if args, in, ok := oracle.Extra(base, d.cfg.World, d.cfg.Words, token); ok {
		out = append(out, probeInput{args, in})
	}
	for k := range oracle.Prototypes {
		if args, in, ok := oracle.Prototype(base, k, token(k)); ok {
			out = append(out, probeInput{args, []session.Injection{in}})
		}
	}
	return out
}

// hiddenTools calls tools that were never declared: likely ones, and those that the
// source or the texts of the declarations name.
func (d *driver) hiddenTools(end time.Time) {
	var declared []string
	for _, t := range d.tools {
		declared = append(declared, t.name)
	}
	n := 0
	token := func(int) string {
		n++
		return oracle.Token(d.cfg.Seed, "a tool of no declaration", n)
	}
	for k, name := range oracle.HiddenTools(d.cfg.Seed, declared, slices.Concat(d.cfg.Words, mentioned(d.cfg.Surface))) {
		if slices.Contains(d.cfg.Skip, name) {
			continue // an earlier start ended at it
		}
		if slices.Contains(declared, name) || d.cfg.Now().After(end) || !d.more() {
			return
		}
		args, in, ok := oracle.Extra(json.RawMessage(`{}`), d.cfg.World, nil, token)
		if !ok {
			return
		}
		if k == 0 {
			args, in = json.RawMessage(`{}`), nil
		}
		t := &target{what: WhatTool, name: name, cover: Coverage{Name: name}}
		d.carryOut(t, Call{What: WhatTool, Tool: name, Args: args, Class: ClassOracle, Oracles: append([]session.Injection{oracle.HiddenTool(k)}, in...)}, 1)
	}
}

// String names a call for a reader.
func (c Call) String() string { return fmt.Sprintf("%s %s %s", c.What, c.Tool, c.Args) }
