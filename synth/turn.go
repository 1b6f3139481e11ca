package synth

import (
	"encoding/json"
	"fmt"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

// branchTurns are the kinds of answers that services give in the calls of one tool, by its branch: the values of the
// two arguments that choose among a few. What one branch asks fails in its own way.
type branchTurns struct {
	by map[string]*branchTurn
	// choosing are the names of those arguments, by the generator that told them.
	choosing []string
	from     *schema.Generator
	// latest is what was served when a branch worked, 0 also for none.
	latest int
}

// branchTurn is what is served to one branch. It stays once the branch has worked.
type branchTurn struct {
	turn   int
	failed bool
	worked bool
}

// maxBranches bounds the branches of a tool that are told apart.
const maxBranches = 200

// of is what is served to the branch of some arguments.
func (b *branchTurns) of(gen *schema.Generator, args json.RawMessage) *branchTurn {
	if gen != b.from {
		b.from, b.choosing = gen, nil
		if gen != nil {
			for _, c := range gen.Choices() {
				if len(b.choosing) < 2 {
					b.choosing = append(b.choosing, c.Name)
				}
			}
		}
	}
	key := ""
	if len(b.choosing) > 0 && len(b.by) < maxBranches {
		given, _ := membersOf(args) // what is no object chooses nothing
		for _, name := range b.choosing {
			key += fmt.Sprintf("%v\x00", given[name])
		}
	}
	t := b.by[key]
	if t == nil {
		if b.by == nil {
			b.by = map[string]*branchTurn{}
		}
		t = &branchTurn{}
		b.by[key] = t
	}
	return t
}

// turn has the services answer otherwise in the next call of a tool's branch that has failed so far, and did after it
// asked one.
func (d *driver) turn(t *target, c Call, o Outcome) {
	ordinary := c.Class != ClassOracle && c.Class != ClassRows && c.Class != ClassReplay && c.Class != schema.Invalid.String()
	if d.cfg.Turns <= 1 || !ordinary {
		return
	}
	at := t.turns.of(t.gen, c.Args)
	switch {
	case o == OK:
		at.worked, t.turns.latest = true, c.Turn
	case (o == IsError || o == Error) && !at.worked && d.cfg.Asked():
		if at.turn = (at.turn + 1) % d.cfg.Turns; !at.failed && t.turns.latest > 0 {
			at.turn = t.turns.latest // what another branch worked with
		}
		at.failed = true
	}
}
