package scale

import (
	"flag"
	"hash/fnv"
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

// Part reports whether a case belongs to the sample: every nth by its name, and all where
// the whole is asked for.
func Part(name string, n uint32) bool { return Deep() || Hash(name)>>16%n == 0 }

// Hash is a number for a name, by which tests choose. Part takes its upper half: whoever
// chooses something else takes the lower, or all cases of a sample choose alike.
func Hash(name string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()
}

// First is the first n cases, and all where the whole is asked for.
func First[T any](n int, all []T) []T { return all[:N(min(n, len(all)), len(all))] }

// One is the one case that a name chooses, and all where the whole is asked for.
func One[T any](name string, all []T) []T {
	if Deep() || len(all) == 0 {
		return all
	}
	i := int(Hash(name)>>1) % len(all)
	return all[i : i+1]
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
