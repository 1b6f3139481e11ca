package experiment

import (
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

// A server is started a third time where a file that it left counts.
func TestStartsAgain(t *testing.T) {
	t.Parallel()
	left := func(path, text string) run.Observations {
		return run.Observations{Left: []rootfs.File{{Path: path, Data: []byte(text)}}}
	}
	for _, x := range []struct {
		name          string
		first, second run.Observations
		again         bool
	}{
		{"a count", left("/h/n", `{"starts": 9}`), left("/h/n", `{"starts": 10}`), true},
		{"the same", left("/h/n", "1"), left("/h/n", "1"), false},
		{"another text", left("/h/n", "a 1"), left("/h/n", "b 2"), false},
		{"another file", left("/h/n", "1"), left("/h/m", "2"), false},
		{"a large file", left("/h/n", "1"+string(make([]byte, maxCounter))), left("/h/n", "2"+string(make([]byte, maxCounter))), false},
		{"nothing more", left("/h/n", "1"), run.Observations{}, false},
	} {
		c := &Case{Seen: x.first}
		if !secondStart.When(c) {
			t.Errorf("%s: no second start", x.name)
		}
		c.Rounds = []run.Observations{x.second}
		if got := secondStart.When(c); got != x.again {
			t.Errorf("%s: a third start: %v", x.name, got)
		}
	}
	c := &Case{Seen: left("/h/n", "1"), Rounds: []run.Observations{left("/h/n", "2"), left("/h/m", "3")}}
	if got := leftAfter(c, 2); len(got) != 2 || string(got[0].Data) != "2" || string(got[1].Data) != "3" {
		t.Errorf("%+v", got)
	}
	if secondStart.When(&Case{}) {
		t.Error("a second start among no files")
	}
}
