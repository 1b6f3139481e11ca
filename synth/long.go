package synth

import (
	"encoding/json"
	"time"
)

// ClassLong is the class of a call with a long argument: some code runs on large documents only.
const ClassLong = "long"

const (
	// maxLong bounds the long arguments of a tool, maxLongBytes those of all tools together and
	// longTime their time: the log of a run has each of them, and each answer that repeats it.
	maxLong      = 4
	maxLongBytes = 1 << 20
	longTime     = 15 * time.Second
	// longCall is how long such a call may take. It is taken back then, and no fault of the
	// server's: nobody says how fast it goes through so long a text.
	longCall = 5 * time.Second
)

// long gives each tool long arguments, one a call: each tool its first before any tool its second.
// Without a long document among the hints nothing long is given. It comes after the attack inputs, since a server may store what it is given or end at it.
func (d *driver) long() {
	if d.cfg.Hints.Long == "" {
		return
	}
	end, left := d.cfg.Now().Add(longTime), maxLongBytes
	text := longText(d.cfg.Seed, longBytes)
	plans := map[*target][]json.RawMessage{}
	for round := range maxLong {
		for _, t := range order(d.tools) {
			if t.leftAlone() || t.slow {
				continue
			}
			if d.stopped != nil || d.cfg.Now().After(end) || !d.more() {
				return
			}
			if gen := d.generator(t); round == 0 && gen != nil {
				plans[t] = gen.Long(d.baseOf(t), text)
			}
			if plan := plans[t]; round < len(plan) && len(plan[round]) <= left {
				left -= len(plan[round])
				d.carryOut(t, Call{What: WhatTool, Tool: t.name, Args: plan[round], Class: ClassLong}, 1)
			}
		}
	}
}
