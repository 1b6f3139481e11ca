package trace

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock is the time by which tracers stamp their records, CLOCK_MONOTONIC.
func Clock() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano())
}
