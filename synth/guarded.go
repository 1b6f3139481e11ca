package synth

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// ClassGuard is the class of a call whose arguments pass the tests before a sink of the source.
const ClassGuard = "guard"

const (
	// maxGuarded bounds a tool's calls that pass tests, and guardTime those of all tools.
	maxGuarded = 24
	guardTime  = 15 * time.Second
	// guardedOracles is how many of a tool's guards have oracle inputs behind them.
	guardedOracles = 3
	// guardRounds is how often a guard is tried whose tool has refused what passes it.
	guardRounds = 4
)

// guardedCall is a call that passes the tests of one guard.
type guardedCall struct {
	t     *target
	guard *schema.Guard
	done  bool
}

// guarded calls each tool with what the source tests its arguments for: each guard once, before
// other literals of the source are tried.
func (d *driver) guarded() {
	for _, t := range order(d.tools) {
		for i := range d.cfg.Hints.Guards {
			g := &d.cfg.Hints.Guards[i]
			if g.Tool == t.name && len(d.guardedCalls) < maxGuarded*len(d.tools) {
				d.guardedCalls = append(d.guardedCalls, &guardedCall{t: t, guard: g})
			}
		}
	}
	d.guardedRound(d.cfg.Now().Add(guardTime))
}

// guardedAgain gives what is left of the time to the guards that no call has passed without
// an error: each with other arguments beside.
func (d *driver) guardedAgain() {
	end := d.cfg.Now().Add(guardTime)
	for range guardRounds {
		d.guardedRound(end)
	}
}

func (d *driver) guardedRound(end time.Time) {
	made := map[*target]int{}
	for _, c := range d.guardedCalls {
		if c.done || c.t.leftAlone() || made[c.t] >= maxGuarded {
			continue
		}
		if d.stopped != nil || d.cfg.Now().After(end) || !d.more() {
			return
		}
		made[c.t]++
		base := c.t.base
		if base == nil || c.t.guards > 0 {
			base = d.anyArguments(c.t)
		}
		c.t.guards++
		args, ok := d.meeting(c.guard, base)
		if !ok {
			c.done = true
			continue
		}
		c.done = d.carryOut(c.t, Call{What: WhatTool, Tool: c.t.name, Args: args, Class: ClassGuard}, 1) == OK
	}
}

// anyArguments are arguments of a tool that it may accept.
func (d *driver) anyArguments(t *target) json.RawMessage {
	if gen := d.generator(t); gen != nil {
		if args, err := gen.Draw(d.seed(t)+int64(t.guards), schema.Typical); err == nil {
			return args
		}
	}
	return json.RawMessage(`{}`)
}

// meeting is a copy of arguments that passes a guard's tests. A literal that could lead elsewhere
// is not given.
func (d *driver) meeting(g *schema.Guard, base json.RawMessage) (json.RawMessage, bool) {
	if slices.ContainsFunc(g.Asks, func(a schema.Ask) bool { return a.Test != "matches" && !d.harmless(a.Text) }) {
		return nil, false
	}
	var args map[string]any
	dec := json.NewDecoder(bytes.NewReader(base))
	dec.UseNumber()
	if dec.Decode(&args) != nil || args == nil {
		args = map[string]any{}
	}
	if !g.Meet(args, d.matching) {
		return nil, false
	}
	out, err := json.Marshal(args)
	return out, err == nil
}

// guardedInputs put oracle inputs beside what passes the tests of a guard: into the arguments
// that it does not ask for.
func (d *driver) guardedInputs(t *target, base json.RawMessage, token func(int) string) []probeInput {
	var out []probeInput
	n := 0
	for i := range d.cfg.Hints.Guards {
		g := &d.cfg.Hints.Guards[i]
		if g.Tool != t.name || n == guardedOracles {
			continue
		}
		args, ok := d.meeting(g, base)
		if !ok {
			continue
		}
		n++
		places := slices.DeleteFunc(oracle.Places(args), func(p oracle.Place) bool { return g.Needs(p.Name) })
		for _, in := range placed(args, places, oracle.Count(), oraclesPerCall, d.oracleAt(t, token)) {
			in.guarded = true
			out = append(out, in)
		}
	}
	return out
}

// placed gives each place its next input before any place the one after, at most so many in all.
func placed(base json.RawMessage, places []oracle.Place, rounds, most int, next func(round int, p oracle.Place) oracle.Input) []probeInput {
	var out []probeInput
	for k := 0; k < rounds && len(places) > 0 && len(out) < most; k++ {
		for _, p := range places {
			in := next(k, p)
			in.At = p.At
			args, ok := oracle.Put(base, p.At, in.In(p.Value))
			if ok && len(out) < most {
				out = append(out, probeInput{args: args, in: []session.Injection{in.Injection}})
			}
		}
	}
	return out
}

// oracleAt gives the oracles' inputs for a place, by what its name means.
func (d *driver) oracleAt(t *target, token func(int) string) func(int, oracle.Place) oracle.Input {
	said := t.words()
	return func(k int, p oracle.Place) oracle.Input {
		in := oracle.At(d.cfg.World, oracle.MeaningOf(p.Name), k, token(k))
		in.Said = said
		return in
	}
}

// words are what a tool says of itself and its arguments.
func (t *target) words() string {
	return strings.Join([]string{t.name, t.decl.Title, t.decl.Description, string(t.decl.InputSchema)}, "\n")
}
