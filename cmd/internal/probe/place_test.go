package probe

import (
	"errors"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/inplace"
	"github.com/coalmine-dev/coalmine/sandbox/local"
)

// In place the process that would dial is in the sinkhole too.
func TestAllowInPlace(t *testing.T) {
	t.Parallel()
	var usage *sandbox.UsageError
	if err := supported(t.Context(), inplace.New(), &plan.Options{Surroundings: plan.Surroundings{Network: "allow=api.example.com"}}); !errors.As(err, &usage) || !strings.Contains(err.Error(), "no host can be allowed") {
		t.Errorf("%v", err)
	}
}

// In place two servers that run at once could open each other's memory.
func TestOneRunAtATimeInPlace(t *testing.T) {
	t.Parallel()
	o := &plan.Options{Jobs: 4}
	if n := jobs(t.Context(), inplace.New(), o); n != 1 {
		t.Errorf("in place %d", n)
	}
	if n := jobs(t.Context(), local.New(), o); n != 4 {
		t.Errorf("in sandboxes of their own %d", n)
	}
}

// More servers at once than the memory holds would end each other.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		processors int
		free, each int64
		want       int
	}{
		{8, 16 << 30, 1 << 30, 8},
		{8, 4 << 30, 1 << 30, 4},
		{8, 1 << 20, 1 << 30, 1},
		{8, 0, 1 << 30, 8},
		{8, 1 << 62, 0, 8},
		{0, 0, 0, 1},
	} {
		if got := sideBySide(c.processors, c.free, c.each); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
