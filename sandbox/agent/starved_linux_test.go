package agent

import (
	"testing"
	"time"
)

func TestSchedstat(t *testing.T) {
	for text, want := range map[string]struct {
		delay time.Duration
		runs  uint64
		ok    bool
	}{
		"1200 3000000 17\n": {3 * time.Millisecond, 17, true},
		"0 0 0\n":           {0, 0, true},
		"":                  {},
		"12":                {},
		"1 x 2":             {},
	} {
		delay, runs, err := schedstat([]byte(text))
		if delay != want.delay || runs != want.runs || (err == nil) != want.ok {
			t.Errorf("%q: %s, %d, %v, want %v", text, delay, runs, err, want)
		}
	}
}
