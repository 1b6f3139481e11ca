package sandbox

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/trace/reached"
)

// What was reached is told once nobody writes it any more.
func TestCameWaitsForTheEnd(t *testing.T) {
	t.Parallel()
	r := &Run{over: make(chan struct{})}
	if hits, err := r.Came(); hits != nil || err != nil {
		t.Errorf("without places: %v, %v", hits, err)
	}
	r.reach.places, r.reach.hits = &reached.Places{}, []bool{true}
	if hits, err := r.Came(); hits != nil || err == nil {
		t.Errorf("before the end: %v, %v", hits, err)
	}
	close(r.over)
	if hits, err := r.Came(); !slices.Equal(hits, []bool{true}) || err != nil {
		t.Errorf("after the end: %v, %v", hits, err)
	}
}
