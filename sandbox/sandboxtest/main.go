package sandboxtest

import (
	"os"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/agent"
)

// Main runs a package's tests, or is the agent where the test's program was started as
// one. It does not return; a TestMain calls it.
func Main(m *testing.M) {
	if agent.Invoked() {
		os.Exit(agent.Main())
	}
	code := m.Run()
	CleanUp()
	os.Exit(code)
}
