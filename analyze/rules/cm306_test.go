package rules

import (
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A server that answers every name alike serves no hidden tool, though a name stands in its answer.
func TestEveryNameIsAnsweredAlike(t *testing.T) {
	t.Parallel()
	call := func(n int, tool, oracle string) profile.Call {
		return profile.Call{N: n, Tool: tool, What: "tool", Outcome: "ok", Oracles: []session.Injection{{Oracle: oracle}}}
	}
	r := &Run{Surface: &wire.Surface{}, Profile: &profile.Profile{Calls: []profile.Call{
		call(1, "qzx1", session.OracleControl), call(2, "debug", session.OracleTool), call(3, "admin", session.OracleTool), call(4, "text", session.OracleTool), call(5, "exec", session.OracleTool),
	}}, Undeclared: map[int]string{
		1: `{"content":[{"text":"hi","type":"text"}]}`, 2: `{"content":[{"text":"hi","type":"text"}]}`, 3: `{"content":[{"text":"hi","type":"text"}]}`,
		4: `{"content":[{"":"hi","type":""}]}`, 5: `{"content":[{"text":"done","type":"text"}]}`,
	}}
	got := checkCM306(r)
	if len(got) != 1 || got[0].Tool != "exec" {
		t.Errorf("%+v", got)
	}
}
