package scale

import (
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
