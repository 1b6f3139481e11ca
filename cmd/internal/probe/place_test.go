package probe

import (
	"errors"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/inplace"
)

// In place the process that would dial is in the sinkhole too.
func TestAllowInPlace(t *testing.T) {
	t.Parallel()
	var usage *sandbox.UsageError
	if err := supported(t.Context(), inplace.New(), &plan.Options{Surroundings: plan.Surroundings{Network: "allow=api.example.com"}}); !errors.As(err, &usage) || !strings.Contains(err.Error(), "no host can be allowed") {
		t.Errorf("%v", err)
	}
}
