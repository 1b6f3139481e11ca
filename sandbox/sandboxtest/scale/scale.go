package scale

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// deepEnv asks for the whole.
const deepEnv = "COALMINE_DEEP"

// Deep reports whether the whole is asked for.
func Deep() bool { return os.Getenv(deepEnv) != "" }

// N is how often something is done: sample by default, whole where that is asked for.
func N(sample, whole int) int {
	if Deep() {
		return whole
	}
	return sample
}

// Checks lets rapid.Check try n inputs until the test ends, and its own number where
// the whole is asked for. It fails the test where the test's program has no rapid.
// The number is the process's: no parallel test may call it.
func Checks(t testing.TB, n int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f == nil {
		t.Fatal("this test does not import rapid")
	}
	if Deep() {
		return
	}
	before := f.Value.String()
	if err := f.Value.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}
