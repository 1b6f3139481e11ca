package analyze

import (
	"encoding/json"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// TestInputsReachTheCoverage: what a mark says of a tool's arguments stands
// beside that tool's calls, and nowhere else.
func TestInputsReachTheCoverage(t *testing.T) {
	j := &judge{}
	for _, m := range []session.Mark{
		{Kind: session.MarkInputs, What: "tool", Tool: "a", Inputs: &session.Inputs{Classes: map[string]int{"valid": 2}, Enums: session.Reached{Reached: 3, Total: 4}}},
		{Kind: session.MarkInputs, What: "tool", Tool: "b", Unread: json.RawMessage(`"torn`)},
		{Kind: session.MarkInputs, What: "prompt", Tool: "c", Inputs: &session.Inputs{}},
	} {
		j.mark(&m)
	}
	got := withInputs([]ToolCoverage{{Name: "a", What: "tool"}, {Name: "b", What: "tool"}, {Name: "c", What: "tool"}}, j.inputs)
	if got[0].Inputs == nil || got[0].Inputs.Enums != (session.Reached{Reached: 3, Total: 4}) || got[0].Inputs.Classes["valid"] != 2 {
		t.Errorf("%+v", got[0])
	}
	if got[1].Inputs != nil || got[2].Inputs != nil {
		t.Errorf("%+v", got[1:])
	}
}
