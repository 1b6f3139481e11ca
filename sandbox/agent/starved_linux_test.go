package agent

import (
	"testing"
	"time"
)

func TestRunDelay(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1200 3000000 17\n": 3 * time.Millisecond,
		"0 0 0\n":           0,
		"":                  0,
		"12":                0,
		"1 x 2":             0,
	} {
		if got := runDelay(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
