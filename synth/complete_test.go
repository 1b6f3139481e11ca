package synth

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// completing is a fake that completes, and whose tools may wait for their call's end.
type completing struct {
	*fake
	waits bool
}

func (c completing) Complete(_ context.Context, of client.Completion, argument, value string) (client.Result, error) {
	c.log = append(c.log, "complete "+of.Prompt+of.Template+" "+argument+" "+value)
	return success("{}"), nil
}

func (c completing) CallTool(ctx context.Context, name string, args json.RawMessage) (client.Result, error) {
	if deadline, ok := ctx.Deadline(); ok && c.waits && c.fake.now.Add(cancelAfter*2).After(deadline) {
		<-ctx.Done()
		return client.Result{}, ctx.Err()
	}
	return c.fake.CallTool(ctx, name, args)
}

func TestArgumentsAreCompletedWhereThatIsDeclared(t *testing.T) {
	for _, capabilities := range []string{`{"completions":{}}`, `{}`} {
		f := newFake()
		f.surface.Capabilities = json.RawMessage(capabilities)
		f.surface.Prompts = []wire.Prompt{{Name: "plan", Arguments: []wire.PromptArgument{{Name: "city"}}}}
		f.surface.Templates = []wire.ResourceTemplate{{URITemplate: "notes://{day}"}}
		if _, err := Drive(t.Context(), Config{Session: completing{f, false}, Surface: f.surface, Calls: 1, Now: f.clock}); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(f.log, "\n")
		if got := strings.Contains(all, "complete plan city") && strings.Contains(all, "complete notes://{day} day"); got != (capabilities != `{}`) {
			t.Errorf("%s: %s", capabilities, all)
		}
	}
}

// Oracle inputs come after the ordinary calls, are the same for the same seed,
// and count for nothing else; one call is taken back.
func TestOracleInputs(t *testing.T) {
	drive := func(seed int64) ([]Call, []Outcome, Report) {
		f := newFake(tool("echo", anything))
		var calls []Call
		var outcomes []Outcome
		world := &oracle.World{Root: "/w", Outside: oracle.File{Stem: "/home/dana/Documents/lease", Value: "ref x"}}
		r, err := Drive(t.Context(), Config{Session: completing{f, false}, Surface: f.surface, Calls: 3, Seed: seed, Now: f.clock, World: world,
			OnCall: func(c Call) { calls = append(calls, c) }, OnReturn: func(_ Call, o Outcome, _ client.Result) { outcomes = append(outcomes, o) }})
		if err != nil {
			t.Fatal(err)
		}
		return calls, outcomes, r
	}
	calls, _, r := drive(4)
	again, _, _ := drive(4)
	if len(calls) != len(again) || r.Tools[0].Calls != 3 || r.Tools[0].OraclesTried != r.Tools[0].OraclesPlanned || r.Tools[0].OraclesTried < 20 {
		t.Fatalf("%d and %d calls, %+v", len(calls), len(again), r.Tools)
	}
	taken := 0
	for i, c := range calls {
		if string(c.Args) != string(again[i].Args) || c.Tool != again[i].Tool {
			t.Errorf("call %d: %s, and again %s", i+1, c, again[i])
		}
		if c.Class == ClassCancelled {
			taken++
		}
		if i < 3 && len(c.Oracles) > 0 {
			t.Errorf("call %d carries an oracle: %s", i+1, c)
		}
	}
	if taken != 1 {
		t.Errorf("%d calls were taken back", taken)
	}
}
