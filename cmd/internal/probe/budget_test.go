package probe

import (
	"testing"
	"time"
)

// A server that crashes late in each of its starts does not multiply the budget.
func TestTimeLeft(t *testing.T) {
	for _, c := range []struct{ timeout, took, want time.Duration }{
		{30 * time.Minute, 0, 30 * time.Minute}, {30 * time.Minute, 10 * time.Minute, 20 * time.Minute},
		{30 * time.Minute, 29*time.Minute + 50*time.Second, secondTime}, {30 * time.Minute, time.Hour, secondTime},
		{10 * time.Second, 4 * time.Second, 10 * time.Second},
	} {
		if got := timeLeft(c.timeout, c.took); got != c.want {
			t.Errorf("%s of %s taken: %s left, not %s", c.took, c.timeout, got, c.want)
		}
	}
}

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
