package probe

import (
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
)

// In place all servers run in the one container: there is room for one, whatever is asked for.
func TestSlots(t *testing.T) {
	for _, c := range []struct {
		sandbox    string
		jobs, want int
	}{{"inplace", 4, 1}, {"inplace", 0, 1}, {"local", 4, 4}, {"docker", 1, 1}} {
		var o plan.Options
		o.Sandbox, o.Jobs = c.sandbox, c.jobs
		if got := Slots(t.Context(), &o); got != c.want {
			t.Errorf("%s, --jobs %d: %d", c.sandbox, c.jobs, got)
		}
	}
}
