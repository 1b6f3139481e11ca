package rules

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

var tiles = wire.Tool{Name: "weigh_area", Description: "Fetches the tiles around a place."}

// asksTiles is a run of tiles whose calls sent sequences of requests with these sums, 0 for none.
func asksTiles(sums ...uint64) *Run {
	r := newRun(tiles)
	r.Profile.Calls, r.Profile.Sent, r.Profile.Requests = nil, map[int]profile.Sent{}, map[string][]uint64{}
	for i, sum := range sums {
		r.Profile.Calls = append(r.Profile.Calls, profile.Call{N: i + 1, Tool: tiles.Name, What: "tool", Outcome: "ok"})
		r.Args[i+1] = json.RawMessage(`{"zoom":3}`)
		if sum > 0 {
			r.Profile.Sent[i+1] = profile.Sent{Peer: "a.tiles.example:443", Sum: sum}
			r.Profile.Requests["tiles.example"] = append(r.Profile.Requests["tiles.example"], sum)
		}
	}
	return r
}

// against is a run with its controls, and runs with other values of the secrets, or without them.
func against(added bool, controls, varied []*Run) *Run {
	r := asksTiles(1, 2)
	r.Controls = controls
	r.Varied = []Varied{{Factor: FactorSecrets, How: "with other values of the secrets", Added: added, Runs: varied}}
	return r
}

var ofSteering = []ruleCase{
	{"CM111", "other requests with other secrets", against(false, []*Run{asksTiles(1, 2), asksTiles(1, 2)}, []*Run{asksTiles(5, 6), asksTiles(7, 8)}), finding.Critical},
	{"CM111", "other requests each time", against(false, []*Run{asksTiles(1, 2), asksTiles(3, 4)}, []*Run{asksTiles(5, 6), asksTiles(7, 8)}), ""},
	{"CM111", "the same requests", against(false, []*Run{asksTiles(1, 2), asksTiles(1, 2)}, []*Run{asksTiles(1, 2), asksTiles(5, 6)}), ""},
	{"CM111", "the same requests in another order", against(false, []*Run{asksTiles(1, 2), asksTiles(1, 2)}, []*Run{asksTiles(2, 1), asksTiles(2, 1)}), ""},
	{"CM111", "one request more", against(false, []*Run{asksTiles(1, 2), asksTiles(1, 2)}, []*Run{asksTiles(1, 2, 3), asksTiles(1, 2, 3)}), ""},
	{"CM111", "no requests with other secrets", against(false, []*Run{asksTiles(1, 2), asksTiles(1, 2)}, []*Run{asksTiles(0, 0), asksTiles(0, 0)}), ""},
	{"CM111", "other requests without secrets", against(true, []*Run{asksTiles(1, 2), asksTiles(1, 2)}, []*Run{asksTiles(5, 6), asksTiles(7, 8)}), ""},
}

func TestUnsteady(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run  *Run
		want []int
	}{
		"other requests for the same arguments": {asksTiles(1, 2, 1, 3), []int{2, 4}},
		"the same requests":                     {asksTiles(1, 1, 1), nil},
		"none":                                  {asksTiles(0, 0, 1), nil},
		"other arguments":                       {args(asksTiles(1, 2), `{"zoom":4}`), nil},
	} {
		if got := Unsteady(c.run); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
