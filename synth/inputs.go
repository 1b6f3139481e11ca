package synth

import (
	"encoding/json"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

const (
	// maxSent bounds the arguments of one target that are kept, so that they can
	// be counted again where its schema changed.
	maxSent = 1_000
	// leastForInvalid is how often a tool is called at least where its last call
	// is to be an invalid one.
	leastForInvalid = 6
)

// inputs is what a target was given.
type inputs struct {
	reached *schema.Coverage // of its present schema, nil where it is not kept
	given   []json.RawMessage
	classes map[string]int
	broken  map[string]bool // the violations that were tried
	sourced bool            // the server's source has literals to try
	// avoided counts arguments that were drawn and not used.
	avoided int
	// rescued says that a call is made because none has succeeded.
	rescued bool
	further bool // its ordinary calls are over: only literals are left to try
	lean    bool // the next call has what is required alone
}

// sent takes in the arguments of a call.
func (t *target) sent(c Call) {
	if t.classes == nil {
		t.classes, t.broken = map[string]int{}, map[string]bool{}
	}
	t.classes[c.Class]++
	if c.Violation != "" {
		t.broken[c.Violation] = true
	}
	if len(t.given) < maxSent {
		t.given = append(t.given, c.Args)
	}
	if t.reached != nil {
		t.reached.Observe(c.Args)
	}
}

// recount starts the count for a new schema with what was given before.
func (t *target) recount() {
	t.reached = t.gen.Coverage()
	for _, args := range t.given {
		t.reached.Observe(args)
	}
}

// counts is what was reached so far.
func (t *target) counts() schema.Counts {
	if t.reached == nil {
		return schema.Counts{}
	}
	return t.reached.Counts()
}

// class is what the next call of a target is to be like. A tool that has not
// answered yet is given what may be right before it is given what is odd.
func (t *target) class() schema.Class {
	k := t.cover.Calls + t.avoided
	switch {
	case t.further:
		return schema.Sourced
	case t.lean:
		return schema.TypicalRequired
	case t.rescued:
		return schema.Learned
	case k == 0:
		return schema.TypicalRequired
	case k == 1:
		return schema.TypicalFull
	case t.slow && t.cover.OK > 0:
		return schema.TypicalFull
	case k%3 == 0:
		return schema.Valid
	case !t.succeeded():
		return schema.Learned
	case k == t.calls-1 && t.calls >= leastForInvalid && t.what == WhatTool:
		return schema.Invalid
	case k%4 == 0:
		return schema.Boundary
	case k%3 == 2 && t.sourced && t.reached != nil && t.reached.Open():
		return schema.Sourced
	}
	return schema.Typical
}

// arguments draws a target's next arguments. A schema that cannot be drawn
// from gets an empty object, and the report says why.
func (d *driver) arguments(t *target) Call {
	empty := Call{Args: json.RawMessage(`{}`), Class: "empty"}
	gen := d.generator(t)
	if gen == nil {
		return empty
	}
	if t.retry != nil && !t.succeeded() {
		retry := t.retry
		t.retry = nil
		if args, err := gen.Canonical(retry); err == nil {
			return Call{Args: args, Class: schema.Learned.String(), From: []int{t.retryFrom}}
		}
	}
	class := t.class()
	t.lean = false
	if class == schema.Invalid {
		if args, what, err := gen.Violate(d.seed(t), t.broken); err == nil {
			return Call{Args: args, Class: class.String(), Violation: what.String()}
		}
		class = schema.Valid
	}
	draw := gen.Draw
	if t.reached != nil && t.cover.Calls > 1 {
		draw = t.reached.Draw
	}
	args, err := draw(d.seed(t), class)
	if err != nil {
		t.cover.Problem = err.Error()
		return empty
	}
	return Call{Args: args, Class: class.String()}
}
