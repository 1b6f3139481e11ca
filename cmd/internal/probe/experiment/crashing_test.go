package experiment

import (
	"encoding/json"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
)

func TestEndings(t *testing.T) {
	t.Parallel()
	at := func(tool, args string) run.Observations {
		return run.Observations{Crashed: tool, CrashedWith: json.RawMessage(args)}
	}
	c := &Case{Seen: at("a", `{"n":1}`)}
	c.Endings = endingsOf(c, []run.Observations{at("b", `{}`), at("a", `{"n":2}`), {Crashed: "stop"}})
	if len(c.Endings) != 2 || c.Endings[0].Tool != "a" || c.Endings[1].Tool != "b" {
		t.Fatalf("%v", c.Endings)
	}
	c.Rounds = []run.Observations{at("a", `{"n":3}`), {}}
	got := endings(c)
	if len(got) != 3 || got[2].Tool != "a" || len(got[2].Avoid) != 2 || !crashing.When(c) {
		t.Errorf("%v", got)
	}
	c.Rounds = append(c.Rounds, run.Observations{})
	if crashing.When(c) {
		t.Error("a start that nothing gave reason for")
	}
}
