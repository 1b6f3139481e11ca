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

// Pause sleeps for d, to some 50 µs; time.Sleep takes a whole millisecond at the least where
// nothing else runs. It holds a thread meanwhile, and nothing ends it early.
func Pause(d time.Duration) {
	end := unix.NsecToTimespec(int64(Clock() + d))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &end, nil) == unix.EINTR {
		continue // the runtime interrupts its threads
	}
}
