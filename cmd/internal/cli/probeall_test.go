package cli

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Things are done so many at once, and taken in their order, whichever ends first.
func TestSideBySide(t *testing.T) {
	for _, atOnce := range []int{1, 2, 5, 9} {
		synctest.Test(t, func(t *testing.T) {
			const n = 7
			var now, most atomic.Int64
			var mu sync.Mutex
			taken, wait := sideBySide(n, atOnce, func(i int) int {
				mu.Lock()
				most.Store(max(most.Load(), now.Add(1)))
				mu.Unlock()
				time.Sleep(time.Duration(n-i) * time.Second)
				now.Add(-1)
				return i
			})
			for i := range n {
				if got := taken(i); got != i {
					t.Errorf("%d at once: the thing %d is %d", atOnce, i, got)
				}
			}
			wait()
			if want := int64(min(atOnce, n)); most.Load() != want {
				t.Errorf("%d at once: %d were", atOnce, most.Load())
			}
		})
	}
}
