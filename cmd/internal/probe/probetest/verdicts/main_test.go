//go:build linux && e2e

package verdicts

import (
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// TestMain lets the test's own program be the agent.
func TestMain(m *testing.M) { sandboxtest.Main(m) }
