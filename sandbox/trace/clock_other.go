//go:build !linux

package trace

import "time"

// Clock is 0 where nothing is traced.
func Clock() time.Duration { return 0 }

// Pause sleeps for d.
func Pause(d time.Duration) { time.Sleep(d) }
