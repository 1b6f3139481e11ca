package experiment

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
