//go:build linux && e2e

package docker

import (
	"os"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// TestMain lets the test's own program be the agent.
func TestMain(m *testing.M) {
	if agent.Invoked() {
		os.Exit(agent.Main())
	}
	code := m.Run()
	sandboxtest.CleanUp()
	os.Exit(code)
}
