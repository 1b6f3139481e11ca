package session

import "testing"

// The index of an earlier version says by an experiment's name what later ones say by members.
func TestIndexesOfEarlierVersions(t *testing.T) {
	t.Parallel()
	x, err := DecodeIndex([]byte(`{"schema":"coalmine/index/v1","runs":[{"role":"declared","experiment":"declared","dir":"."},
		{"role":"further","experiment":"alone","dir":"alone"},{"role":"further","experiment":"crashing","dir":"crashing-1"},
		{"role":"further","experiment":"mine","dir":"mine","timers":true,"one_tool":true},{"role":"varied","experiment":"alone","dir":"vary/x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ timers, oneTool bool }{{}, {timers: true}, {oneTool: true}, {true, true}, {}} {
		if r := x.Runs[i]; r.Timers != want.timers || r.OneTool != want.oneTool {
			t.Errorf("%+v", r)
		}
	}
}
