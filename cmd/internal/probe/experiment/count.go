package experiment

import (
	"fmt"
	"sync/atomic"
)

// Count counts the runs of a target. The zero Count is ready, and nil counts nothing.
type Count struct{ begun, done atomic.Int64 }

// begin counts a run that waits for room or is under way, until end.
func (c *Count) begin() (end func()) {
	if c == nil {
		return func() {}
	}
	c.begun.Add(1)
	return func() { c.done.Add(1) }
}

// String says how many runs are done and left, "" before the second. More may turn out to be called for.
func (c *Count) String() string {
	done, begun := c.done.Load(), c.begun.Load() // in this order: no more are done than begun
	if begun < 2 {
		return ""
	}
	return fmt.Sprintf("runs: %d done, %d left", done, begun-done)
}
