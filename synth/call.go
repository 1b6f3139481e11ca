package synth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// slowCall is how long a call may take before its target counts as slow.
const slowCall = 3 * time.Second

// call calls a target once; left is how many calls share the time with it.
func (d *driver) call(t *target, left int) {
	if first := t.takeFirst(); first != nil {
		d.carryOut(t, *first, left)
		return
	}
	d.carryOut(t, d.drawn(t), left)
}

// drawn is a target's next call, without a number.
func (d *driver) drawn(t *target) Call {
	c := d.arguments(t)
	for n := 0; n < maxAvoided && d.avoids(&c); n++ {
		t.avoided++
		c = d.arguments(t)
	}
	c.What, c.Tool, c.Of = t.what, t.name, t.of
	if t.expand != nil {
		c.Tool = t.expand(c.Args)
	}
	return c
}

// maxAvoided is how often other arguments are drawn in place of those that are avoided.
const maxAvoided = 4

// avoids says that a call has arguments at which the server ended.
func (d *driver) avoids(c *Call) bool {
	return slices.ContainsFunc(d.cfg.Avoid, func(args json.RawMessage) bool { return bytes.Equal(args, c.Args) })
}

// carryOut makes one call of a target, takes in what came of it, and says how it ended.
// A call that ended the server before is not made again.
func (d *driver) carryOut(t *target, c Call, left int) Outcome {
	if d.avoids(&c) {
		return Crash
	}
	planned := c.N > 0 // its place in the first round
	d.n++
	c.N = d.n
	if !planned {
		c.From = d.learnedFrom(t, c)
	}
	if c.Class != ClassReplay && c.Class != ClassRows {
		c.Turn = t.turns.of(t.gen, c.Args).turn
	}
	most := d.timeout(left)
	switch c.Class {
	case ClassCancelled:
		most = cancelAfter
	case ClassLong:
		most = min(most, longCall)
	}
	ctx, cancel := context.WithTimeout(d.ctx, most)
	d.cfg.OnCall(c)
	begin := d.cfg.Now()
	r, err := d.perform(ctx, t, c)
	cancel()
	t.slow = t.slow || d.cfg.Now().Sub(begin) > slowCall
	if d.ctx.Err() != nil && err != nil {
		d.stopped = d.ctx.Err()
	}
	o := outcome(r, err)
	if (c.Class == ClassCancelled || c.Class == ClassLong) && o == Timeout {
		o = Cancelled
	}
	d.sync(c)
	t.asks = t.asks || d.cfg.Asked()
	d.cfg.OnReturn(c, o, r)
	// What the answer says, whatever its form; of attack inputs nothing is learned.
	said := o
	if o == OK && t.what == WhatTool && c.Class != ClassOracle && isSoftError(r) {
		said = IsError
	}
	d.count(t, c, o, said)
	t.worked = t.worked || o == OK && len(c.Oracles) == 0
	d.turn(t, c, said)
	t.sent(c)
	if o == Crash {
		d.report.Crashed, d.stopped = &c, ErrCrash
		return o
	}
	d.learn(t, c, said, r)
	t.cover.Made++
	if d.worthListing(c) && d.relist(c) {
		t.cover.Listed++
	}
	return o
}

func (d *driver) perform(ctx context.Context, t *target, c Call) (client.Result, error) {
	switch t.what {
	case WhatResource:
		return d.cfg.Session.ReadResource(ctx, c.Tool)
	case WhatCompletion:
		completer, ok := d.cfg.Session.(Completer)
		if !ok {
			return client.Result{}, errors.New("the session completes nothing")
		}
		return completer.Complete(ctx, t.of, t.name, "")
	case WhatPrompt:
		var m map[string]string
		if err := json.Unmarshal(c.Args, &m); err != nil {
			m = nil
		}
		return d.cfg.Session.GetPrompt(ctx, t.name, m)
	}
	if c.asksProgress() {
		ctx = client.WithProgress(ctx, fmt.Sprintf("progress-%d", c.N))
	}
	return d.cfg.Session.CallTool(ctx, t.name, c.Args)
}

// asksProgress says that a call of a tool asks for notifications of its progress.
func (c *Call) asksProgress() bool {
	return c.What == WhatTool && (c.Progress || c.Class == schema.TypicalFull.String())
}

// count keeps oracle calls apart: they are no measure of what a tool can do.
func (d *driver) count(t *target, c Call, o, said Outcome) {
	if c.Class == ClassReplay || slices.Contains(ofBase, c.Class) {
		if o == Timeout {
			t.cover.Timeouts++
		}
		return
	}
	random := c.Class == schema.Valid.String() || c.Class == schema.Boundary.String() || c.Class == schema.Invalid.String()
	// What stands in the source makes sense in one argument out of many.
	weak := random || c.Class == schema.Sourced.String() && t.base != nil
	fuller := members(c.Args) >= members(t.base)
	switch succeeded := t.succeeded(); {
	case o == OK && said != OK:
		t.soft++
		fuller = fuller && !succeeded
	case o == OK:
		fuller = fuller || !succeeded // better than what a soft error answered
	}
	if o == OK && !weak && fuller {
		t.base, t.baseFrom = c.Args, c.N
	}
	t.cover.Calls++
	switch o {
	case OK:
		t.cover.OK++
		if t.cover.FirstOK == 0 {
			t.cover.FirstOK = c.N
		}
	case IsError:
		t.cover.IsError++
	case Timeout:
		t.cover.Timeouts++
	case Error:
		t.cover.Errors++
	}
}

// sync waits until what the call did is recorded, so that it is the call's.
func (d *driver) sync(c Call) {
	ctx, cancel := context.WithTimeout(d.ctx, d.cfg.CallTimeout)
	defer cancel()
	if err := d.cfg.Session.Sync(ctx); err != nil && d.ctx.Err() == nil {
		d.shortfall(session.GapCallNotSettled, c.Tool, "what call %d (%s %s) did may be counted to a later one: %v", c.N, c.What, c.Tool, err)
	}
}

// compare takes in what a listing after a call says otherwise than the last, and reports
// whether it says anything.
func (d *driver) compare(c Call, s *wire.Surface) (changed bool) {
	print := fingerprint(s)
	if print == d.print {
		return false
	}
	d.print = print
	now := declarations(s)
	change := compare(d.known, now)
	d.known = now
	if change.empty() {
		return false
	}
	d.changed(c, change)
	for _, t := range d.tools {
		t.gone = true
	}
	for _, t := range s.Tools {
		d.addTool(t)
	}
	d.addOthers(s)
	return true
}

const (
	maxChanges = 200
	maxNames   = 100
)

// changed reports a change, bounded: a server may change everything each time.
func (d *driver) changed(after Call, c Change) {
	c.After = after
	for _, list := range []*[]string{&c.Added, &c.Removed, &c.Changed} {
		if n := len(*list); n > maxNames {
			*list = append((*list)[:maxNames:maxNames], fmt.Sprintf("and %d more", n-maxNames))
		}
	}
	if len(d.report.Changes) < maxChanges {
		d.report.Changes = append(d.report.Changes, c)
	}
	d.cfg.OnChange(c)
}

// members counts the arguments of a call: of two that succeeded the fuller one is
// the better, and of equally full ones the later, which knows more of the answers.
func members(args json.RawMessage) int {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return 0
	}
	return len(given)
}
