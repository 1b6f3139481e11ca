package experiment

import (
	"bytes"
	"regexp"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// secondCalls is how often each tool is called in a second start, at least.
	secondCalls = 3
	// secondTime bounds a second start.
	secondTime = 30 * time.Second
	// secondLater is how far its clock is ahead: somebody starts the server again some days
	// later.
	secondLater = "+3d"
	// secondRounds is how often a server that counts its starts is started again, and maxCounter
	// how large a file is, in bytes, that may hold such a count.
	secondRounds = 3
	maxCounter   = 1 << 10
)

// secondStart starts a server that left files behind a second time among them: what waits
// for that must not go unseen. A server whose files count is started more often.
var secondStart = Experiment{
	Name: "second", Role: session.RoleFurther, Stage: StageFurther, Dir: "second", Rounds: secondRounds, Optional: true,
	Proves: "what the server does once it finds the files that it left",
	When: func(c *Case) bool {
		return slices.ContainsFunc(c.Seen.Left, isFile) && (len(c.Rounds) == 0 || counts(c))
	},
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		b := p.Budget
		b.Calls, b.Timeout = min(secondCalls, b.Calls), min(secondTime, b.Timeout)
		p = daysLater(p, c).WithLeft(leftAfter(c, len(c.Rounds)))
		return p.WithoutOracles().Collecting(len(c.Rounds)+1 < secondRounds).WithBudget(b), nil
	},
	Progress: always("starting a second time with the same HOME"),
	How:      always("in a second start with the same HOME"),
	Lost:     "the further start with the same HOME",
}

// leftAfter are the files that the server left in the declared run and a number of starts after it.
func leftAfter(c *Case, rounds int) []rootfs.File {
	out := slices.Clone(c.Seen.Left)
	for _, r := range c.Rounds[:rounds] {
		for _, f := range r.Left {
			if i := slices.IndexFunc(out, func(o rootfs.File) bool { return o.Path == f.Path }); i >= 0 {
				out[i] = f
			} else {
				out = append(out, f)
			}
		}
	}
	return out
}

func isFile(f rootfs.File) bool { return !f.Dir }

var digits = regexp.MustCompile(`[0-9]+`)

// counts reports whether the latest start wrote a small file anew that it had found, and
// nothing but numbers differ in it.
func counts(c *Case) bool {
	before := leftAfter(c, len(c.Rounds)-1)
	return slices.ContainsFunc(c.Rounds[len(c.Rounds)-1].Left, func(f rootfs.File) bool {
		i := slices.IndexFunc(before, func(o rootfs.File) bool { return o.Path == f.Path })
		return i >= 0 && !f.Dir && len(f.Data) <= maxCounter && !bytes.Equal(f.Data, before[i].Data) &&
			bytes.Equal(digits.ReplaceAll(f.Data, nil), digits.ReplaceAll(before[i].Data, nil))
	})
}

// daysLater moves the clock of a plan where that is to be had: files then are as much
// older. It is no reason for doubt where the server's program keeps its clock. In a
// container a library of this machine's might keep a program from starting.
func daysLater(p plan.Plan, c *Case) plan.Plan {
	later, err := clock(secondLater)(p, c)
	if err != nil || c.Plan.Sandbox.Backend != "local" {
		return p
	}
	return later.Preloading("").With(plan.Variable{Name: "NO_FAKE_STAT", Value: "1"})
}
