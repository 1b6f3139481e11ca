package agent

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/sandbox/seccomp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// However many calls of however many kinds come, each is counted once, and few are told singly.
func TestRefusedCallsAreCountedWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var told []session.EventRefused
		c := newRefusals(nil, seccomp.Policy{}, func(_ time.Duration, b session.Body) { told = append(told, b.(session.EventRefused)) })
		calls := rapid.SliceOfN(rapid.IntRange(0, 300), 0, 2000).Draw(r, "calls")
		flushes := 1
		for i, kind := range calls {
			c.take(seccomp.Refusal{Name: "socket", Args: fmt.Sprint(kind), Errno: "EPERM"}, 7, time.Duration(i))
			if i%500 == 499 {
				c.flush()
				flushes++
			}
		}
		c.flush()
		var sum int64
		for _, e := range told {
			sum += e.Count
		}
		if bound := (maxRefusedKinds + 1) * (maxRefusedSingly + flushes); sum != int64(len(calls)) || len(told) > bound {
			t.Errorf("%d calls, told of %d in %d events", len(calls), sum, len(told))
		}
		if len(c.kinds) > maxRefusedKinds+1 {
			t.Errorf("%d kinds are kept", len(c.kinds))
		}
	})
}
