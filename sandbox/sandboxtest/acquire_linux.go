package sandboxtest

import (
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

// Weights for Acquire, by what a test starts at one time.
const (
	Light = 1 // a process, or a small server in the local sandbox
	Heavy = 2 // a container, a browser, or a server that starts one
	Storm = 4 // what keeps cores or memory busy all the time
)

// Acquire waits for weight of the slots that all test processes share and holds them
// until the test ends: see slots.Acquire, also for where to call it.
func Acquire(t testing.TB, weight int) {
	t.Helper()
	slots.Acquire(t, weight)
}
