package synth

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

const modal = `{"type":"object","required":["mode"],"additionalProperties":false,"properties":{
 "mode":{"enum":["read","write","append","list","stat"]},"force":{"type":"boolean"},"limit":{"type":"integer","minimum":1,"maximum":50}}}`

// TestInputsAreCounted holds that eight calls reach every member and every
// optional argument, and that the report says so.
func TestInputsAreCounted(t *testing.T) {
	f := newFake(tool("run", modal))
	r := drive(t, f, Config{Seed: 3})
	got := r.Tools[0]
	if got.Inputs.Enums != (schema.Count{Reached: 5, Total: 5}) || got.Inputs.Optional != (schema.Count{Reached: 4, Total: 4}) {
		t.Errorf("reached %+v by %q", got.Inputs, f.log)
	}
	if got.Inputs.Pairs.Total == 0 || got.Inputs.Pairs.Reached == 0 || got.Inputs.Pairs.Reached > got.Inputs.Pairs.Total {
		t.Errorf("pairs %+v", got.Inputs.Pairs)
	}
	sum := 0
	for _, n := range got.Classes {
		sum += n
	}
	if sum != 8 || got.Classes["invalid"] != 1 || got.Classes["boundary"] != 1 || got.Classes["typical-required"] != 1 {
		t.Errorf("classes %v", got.Classes)
	}
}

// TestLastCallBreaksOneThing holds that the invalid call comes last, names what
// is wrong, and is really refused by the schema.
func TestLastCallBreaksOneThing(t *testing.T) {
	g, err := schema.New(json.RawMessage(modal), schema.Options{Object: true})
	if err != nil {
		t.Fatal(err)
	}
	f := newFake(tool("run", modal))
	var calls []Call
	drive(t, f, Config{Calls: 6, OnCall: func(c Call) { calls = append(calls, c) }})
	for i, c := range calls {
		err := g.Check(c.Args)
		switch last := i == len(calls)-1; {
		case last && (c.Class != "invalid" || c.Violation == "" || !errors.Is(err, schema.ErrInvalid)):
			t.Errorf("the last call %+v %s: %v", c, c.Args, err)
		case !last && (c.Violation != "" || err != nil):
			t.Errorf("call %+v %s: %v", c, c.Args, err)
		}
	}
}

// TestNothingOddBeforeAnAnswer: a tool that refuses all is not given what is odd on purpose.
func TestNothingOddBeforeAnAnswer(t *testing.T) {
	f := newFake(tool("run", modal))
	f.tool = func(string, json.RawMessage) (client.Result, error) { return refusal("not today"), nil }
	r := drive(t, f, Config{})
	if n := r.Tools[0].Classes; n["invalid"]+n["boundary"] != 0 {
		t.Errorf("classes %v", n)
	}
}

// TestCountSurvivesARedeclaration: what was given before counts for the new schema too.
func TestCountSurvivesARedeclaration(t *testing.T) {
	f := newFake(tool("run", modal))
	second := strings.Replace(modal, `"stat"]`, `"stat","touch"]`, 1)
	calls := 0
	f.tool = func(string, json.RawMessage) (client.Result, error) {
		if calls++; calls == 4 {
			f.surface = &wire.Surface{Tools: []wire.Tool{tool("run", second)}}
		}
		return success("ok"), nil
	}
	r := drive(t, f, Config{})
	if got := r.Tools[0].Inputs.Enums; got.Total != 6 || got.Reached < 5 {
		t.Errorf("reached %+v by %q", got, f.log)
	}
}
