package experiment

import (
	"encoding/json"
	"slices"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// crashing starts a server again that ended in a call, with the tool alone that ended it:
// what else it would have been given must not go unseen.
var crashing = Experiment{
	Name: "crashing", Role: session.RoleFurther, Stage: StageAfter, OneTool: true, Dir: "crashing", Rounds: 4,
	Proves: "what a tool does with the other inputs than the one that ends the server",
	When:   func(c *Case) bool { return len(c.Rounds) < len(endings(c)) },
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		next := endings(c)[len(c.Rounds)]
		took := c.Seen.Took
		for _, r := range c.Rounds {
			took += r.Took
		}
		return remaining(p, took).OnlyCalling(next.Tool, next.Avoid), nil
	},
	Progress: always("starting again for the tool that ended the server"),
	How:      always("in a start for this tool alone"),
	Lost:     "the further start for the tool that ended the server",
}

// Ending is a tool at which a server ended, and the arguments with which it did.
type Ending struct {
	Tool  string
	Avoid []json.RawMessage
}

// endings are the starts that are due for tools alone, in their order: one for each tool
// that ended the server, and one more where the server ended in that start again.
func endings(c *Case) []Ending {
	list := slices.Clone(c.Endings)
	for i, r := range c.Rounds {
		if i < len(list) && r.CrashedWith != nil && r.Crashed == list[i].Tool {
			avoid := append(slices.Clone(list[i].Avoid), r.CrashedWith)
			list = append(list, Ending{list[i].Tool, avoid})
		}
	}
	return list
}

// endingsOf are the tools at which the declared run and the starts after it ended.
func endingsOf(c *Case, restarts []run.Observations) []Ending {
	var out []Ending
	for _, seen := range append([]run.Observations{c.Seen}, restarts...) {
		known := slices.ContainsFunc(out, func(e Ending) bool { return e.Tool == seen.Crashed })
		if seen.CrashedWith != nil && !known {
			out = append(out, Ending{seen.Crashed, []json.RawMessage{seen.CrashedWith}})
		}
	}
	return out
}
