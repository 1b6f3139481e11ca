package run

import (
	"testing"
	"time"
)

// Some calls are followed by a person's pause, few enough to cost less than two seconds.
func TestPausesOfAPerson(t *testing.T) {
	at := map[int]bool{}
	for seed := range int64(50) {
		var all time.Duration
		long := 0
		for call := range 100 {
			d := pauseAfter(seed, call)
			if d != pauseAfter(seed, call) {
				t.Fatalf("seed %d: call %d has two pauses", seed, call)
			}
			if d > 0 {
				at[call] = true
				long++
				all += d
			}
		}
		if long != pauses || all > 2*time.Second {
			t.Errorf("seed %d: %d pauses of %s", seed, long, all)
		}
	}
	if len(at) < 5 {
		t.Errorf("all seeds pause after the calls %v", at)
	}
}
