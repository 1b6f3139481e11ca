package rules

import (
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
)

// What is sent and looks random is a reason for doubt where it is long, has no format, and is new in each run.
func TestFresh(t *testing.T) {
	t.Parallel()
	run := func(ps ...profile.Payload) *Run {
		for i := range ps {
			ps[i].Phase, ps[i].Tool = finding.PhaseCall, "quote"
		}
		return &Run{Profile: &profile.Profile{Payloads: ps}}
	}
	ticket := func(call int, sum uint64) profile.Payload {
		return profile.Payload{Call: call, To: "quotes.example:443", Length: 6000, Sum: sum}
	}
	returned, image, session := ticket(1, 1), ticket(1, 1), ticket(1, 1)
	returned.To, image.Format, session.Length = "", true, 64
	for name, c := range map[string]struct {
		declared *Run
		controls []*Run
		want     int
	}{
		"new in each run":          {run(ticket(1, 1), ticket(2, 2)), []*Run{run(ticket(1, 3)), run(ticket(4, 5))}, 1},
		"the same":                 {run(ticket(1, 1)), []*Run{run(ticket(1, 1)), run(ticket(1, 1))}, 0},
		"the same in another call": {run(ticket(1, 1)), []*Run{run(ticket(3, 1)), run(ticket(1, 1))}, 0},
		"not sent again":           {run(ticket(1, 1)), []*Run{run(), run()}, 0},
		"returned":                 {run(returned), []*Run{run(returned)}, 0},
		"an image":                 {run(image), []*Run{run(ticket(1, 2))}, 0},
		"a session's name":         {run(session), []*Run{run(ticket(1, 2))}, 0},
		"no other run":             {run(ticket(1, 1)), nil, 0},
	} {
		c.declared.Controls = c.controls
		if got := len(Fresh(c.declared)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
