package scale

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// tried is how many inputs rapid.Check tries in a test that asks for 7.
func tried(t *testing.T) (n int) {
	t.Helper()
	t.Run("sample", func(t *testing.T) {
		Checks(t, 7)
		rapid.Check(t, func(*rapid.T) { n++ })
	})
	return n
}

func TestASampleIsSmaller(t *testing.T) {
	t.Setenv(deepEnv, "")
	if got := tried(t); got != 7 || N(3, 9) != 3 {
		t.Errorf("%d inputs, N %d", got, N(3, 9))
	}
	t.Setenv(deepEnv, "1")
	if got := tried(t); got <= 7 || N(3, 9) != 9 {
		t.Errorf("the whole: %d inputs, N %d", got, N(3, 9))
	}
}

// The sample holds cases of each other choice by the same hash.
func TestASampleChoosesNothingElse(t *testing.T) {
	t.Setenv(deepEnv, "")
	var seen [2]int
	for n := range 200 {
		if name := "case-" + strconv.Itoa(n); Part(name, 2) {
			seen[Hash(name)>>1%2]++
		}
	}
	if seen[0] < 20 || seen[1] < 20 {
		t.Errorf("of a sample of 200 cases %d and %d chose each of two", seen[0], seen[1])
	}
}
