package probe

import (
	"testing"
	"time"
)

func TestBudgets(t *testing.T) {
	for text, want := range map[string]Budget{
		"quick":   {8, 5 * time.Minute, 25 * time.Second, 30 * time.Second},
		"nightly": {200, 30 * time.Minute, 15 * time.Minute, 7*time.Minute + 30*time.Second},
		"10m":     {80, 10 * time.Minute, 5 * time.Minute, 2*time.Minute + 30*time.Second},
		"1m":      {8, 5 * time.Minute, 30 * time.Second, 30 * time.Second},
		"2000h":   {200, 2000 * time.Hour, 1000 * time.Hour, 500 * time.Hour},
		"59s":     {}, "-1h": {}, "": {}, "soon": {}, "5": {},
	} {
		got, err := ParseBudget(text)
		if got != want || (err == nil) != (want.Calls > 0) {
			t.Errorf("%q: %+v %v, want %+v", text, got, err, want)
		}
	}
}
