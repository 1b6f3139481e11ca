package agent

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// wait is what a call that blocks waits for: futex(2), poll(2), epoll_wait(2),
// select(2), nanosleep(2), clock_nanosleep(2), read(2), wait4(2), sigtimedwait(2).
type wait struct {
	// endless says that no timer ends it.
	endless bool
	// timeout is how long it lasts, unless at, an address in the caller's memory, holds a
	// struct timespec or timeval with that; unit is what the second number counts.
	timeout time.Duration
	at      uint64
	unit    time.Duration
	// absolute says that not a length stands there but a moment, realtime by which clock:
	// CLOCK_REALTIME in place of CLOCK_MONOTONIC.
	absolute, realtime bool
	// file is the descriptor that is read, -1 for none.
	file int
}

const (
	clockRealtime = 256 // FUTEX_CLOCK_REALTIME
	futexCommand  = 127 // of the operation, without its flags
	futexWait     = 0   // with a relative timeout
	futexWaitBits = 9   // with an absolute one
	timerAbstime  = 1
	// lowest is where the stacks of programs with 64 bits lie above: calls of others have other numbers.
	lowest = 1 << 32
)

// waitOf reads what /proc/PID/syscall says of a blocked task: the number, six arguments
// and two registers. It knows the calls in which programs usually wait.
func waitOf(line string) (wait, bool) {
	f := strings.Fields(line)
	if len(f) != 9 {
		return wait{}, false
	}
	nr, err := strconv.Atoi(f[0])
	if err != nil {
		return wait{}, false
	}
	var args [7]uint64 // and the stack's pointer
	for i := range args {
		if args[i], err = strconv.ParseUint(f[i+1], 0, 64); err != nil {
			return wait{}, false
		}
	}
	if args[6] < lowest {
		return wait{}, false
	}
	endless, timespec := wait{endless: true, file: -1}, func(at uint64) wait {
		return wait{at: at, endless: at == 0, unit: time.Nanosecond, file: -1}
	}
	millis := func(n uint64) wait {
		return wait{timeout: time.Duration(int32(n)) * time.Millisecond, endless: int32(n) < 0, file: -1}
	}
	switch nr {
	case unix.SYS_READ, unix.SYS_READV:
		return wait{endless: true, file: int(int32(args[0]))}, true
	case unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_RT_SIGSUSPEND, sysPause:
		return endless, true
	case unix.SYS_EPOLL_PWAIT, sysEpollWait:
		return millis(args[3]), true
	case sysPoll:
		return millis(args[2]), true
	case unix.SYS_EPOLL_PWAIT2:
		return timespec(args[3]), true
	case unix.SYS_PPOLL, unix.SYS_RT_SIGTIMEDWAIT:
		return timespec(args[2]), true
	case unix.SYS_PSELECT6:
		return timespec(args[4]), true
	case sysSelect:
		w := timespec(args[4])
		w.unit = time.Microsecond
		return w, true
	case unix.SYS_NANOSLEEP:
		return timespec(args[0]), args[0] != 0
	case unix.SYS_CLOCK_NANOSLEEP:
		w := timespec(args[2])
		w.absolute, w.realtime = args[1]&timerAbstime != 0, args[0] == unix.CLOCK_REALTIME
		return w, args[2] != 0 && args[0] <= unix.CLOCK_MONOTONIC
	case unix.SYS_FUTEX:
		w := timespec(args[3])
		command := args[1] & futexCommand
		w.absolute, w.realtime = command == futexWaitBits, args[1]&clockRealtime != 0
		return w, command == futexWait || command == futexWaitBits
	}
	return wait{}, false
}

// readTime reads a struct timespec or timeval of a task's.
func readTime(tid int, at uint64, unit time.Duration) (time.Duration, bool) {
	b := make([]byte, 16)
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	n, err := unix.ProcessVMReadv(tid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}, 0)
	if err != nil || n != len(b) {
		return 0, false
	}
	return timeOf(b, unit)
}

// timeOf reads the seconds and a part of one, as the kernel accepts them.
func timeOf(b []byte, unit time.Duration) (time.Duration, bool) {
	seconds, part := int64(binary.NativeEndian.Uint64(b)), int64(binary.NativeEndian.Uint64(b[8:]))
	if seconds < 0 || part < 0 || time.Duration(part) >= time.Second/unit {
		return 0, false
	}
	if seconds >= int64(never/time.Second) {
		return never, true
	}
	return time.Duration(seconds)*time.Second + time.Duration(part)*unit, true
}
