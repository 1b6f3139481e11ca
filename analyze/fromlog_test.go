package analyze

import (
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Effects are one only where all that names them is the same, however the names are cut.
func TestEffectsOfALogAreTold(t *testing.T) {
	t.Parallel()
	did := func(effect, target, rung, actor string, calls ...string) session.Did {
		return session.Did{Effect: effect, Target: target, Rung: rung, Actor: actor, Calls: calls}
	}
	first := did("read", "/a", "attempted", "node", "bc")
	for name, c := range map[string]struct {
		other session.Did
		want  int
	}{
		"the same":        {first, 1},
		"target and tool": {did("read", "/ab", "attempted", "node", "c"), 2},
		"kind and target": {did("read/", "a", "attempted", "node", "bc"), 2},
		"rung and actor":  {did("read", "/a", "attemptedn", "ode", "bc"), 2},
		"another phase":   {did("read", "/abc", "attempted", "node"), 2},
	} {
		if got := observedIn([]session.Did{first, c.other}, ""); len(got) != c.want || got[0].Count != 3-c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
