//go:build linux && e2e

package network

import (
	"context"
	"encoding/json"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/synth"
)

// called is one exact call of the fixture caller, and what came of it.
type called struct {
	how, url string
	result   client.Result
	err      error
}

// text is what the tool answered.
func (c *called) text() string {
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if c.err != nil {
		return "call: " + c.err.Error()
	}
	if json.Unmarshal(c.result.Raw, &r) != nil || len(r.Content) == 0 {
		return "no content: " + string(c.result.Raw)
	}
	if r.IsError {
		return "error: " + r.Content[0].Text
	}
	return r.Content[0].Text
}

// calls makes these calls in place of a drive; during, if any, is told of each that begins.
func calls(o *probetest.Request, list []*called, during func(c *called, conv *run.Session)) {
	o.Driver = func(ctx context.Context, c *run.Session) error {
		for i, one := range list {
			args, err := json.Marshal(map[string]string{"how": one.how, "url": one.url})
			if err != nil {
				return err
			}
			call := synth.Call{N: i + 1, Tool: "call", What: "tool"}
			c.OnCall(call)
			if during != nil {
				during(one, c)
			}
			one.result, one.err = c.CallTool(ctx, call.Tool, args)
			outcome := synth.OK
			if one.err != nil || one.result.Err != nil || one.result.IsError {
				outcome = synth.Error
			}
			if err := c.Sync(ctx); err != nil && one.err == nil {
				return err
			}
			c.OnReturn(call, outcome, one.result)
			if one.err != nil {
				return one.err
			}
		}
		return nil
	}
}
