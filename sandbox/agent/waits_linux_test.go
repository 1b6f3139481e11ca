package agent

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestWaitOf(t *testing.T) {
	const stack = 0x7fff00000000
	line := func(nr int, sp uint64, args ...uint64) string {
		args = append(args, make([]uint64, 6-len(args))...)
		return fmt.Sprintf("%d 0x%x 0x%x 0x%x 0x%x 0x%x 0x%x 0x%x 0x401000\n", nr, args[0], args[1], args[2], args[3], args[4], args[5], sp)
	}
	all := ^uint64(0)
	for name, c := range map[string]struct {
		line string
		want wait
		ok   bool
	}{
		"running":            {"running\n", wait{}, false},
		"in no call":         {"-1 0x7fff00000000 0x401000\n", wait{}, false},
		"nonsense":           {"a b c d e f g h i", wait{}, false},
		"another call":       {line(unix.SYS_WRITE, stack, 1), wait{}, false},
		"32 bits":            {line(unix.SYS_WAIT4, 0xffffd000), wait{}, false},
		"read":               {line(unix.SYS_READ, stack, 7), wait{endless: true, file: 7}, true},
		"wait4":              {line(unix.SYS_WAIT4, stack, all), wait{endless: true, file: -1}, true},
		"epoll without end":  {line(unix.SYS_EPOLL_PWAIT, stack, 4, 0, 128, 0xffffffff), wait{endless: true, timeout: -time.Millisecond, file: -1}, true},
		"epoll with timeout": {line(unix.SYS_EPOLL_PWAIT, stack, 4, 0, 128, 15), wait{timeout: 15 * time.Millisecond, file: -1}, true},
		"futex without end":  {line(unix.SYS_FUTEX, stack, 0x10, 128), wait{endless: true, unit: 1, file: -1}, true},
		"futex for a while":  {line(unix.SYS_FUTEX, stack, 0x10, 128, 0, 0x20), wait{at: 0x20, unit: 1, file: -1}, true},
		"futex until":        {line(unix.SYS_FUTEX, stack, 0x10, 128|9, 0, 0x20), wait{at: 0x20, unit: 1, absolute: true, file: -1}, true},
		"futex until a time": {line(unix.SYS_FUTEX, stack, 0x10, 256|9, 0, 0x20), wait{at: 0x20, unit: 1, absolute: true, realtime: true, file: -1}, true},
		"futex of a lock":    {line(unix.SYS_FUTEX, stack, 0x10, 6, 0, 0x20), wait{}, false},
		"nanosleep":          {line(unix.SYS_NANOSLEEP, stack, 0x20), wait{at: 0x20, unit: 1, file: -1}, true},
		"clock of a process": {line(unix.SYS_CLOCK_NANOSLEEP, stack, 2, 0, 0x20), wait{}, false},
		"sleep until":        {line(unix.SYS_CLOCK_NANOSLEEP, stack, 1, 1, 0x20), wait{at: 0x20, unit: 1, absolute: true, file: -1}, true},
	} {
		got, ok := waitOf(c.line)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %+v, %v; want %+v, %v", name, got, ok, c.want, c.ok)
		}
	}
}

func TestTimeOf(t *testing.T) {
	for _, c := range []struct {
		seconds, part int64
		unit          time.Duration
		want          time.Duration
		ok            bool
	}{
		{1, 500, time.Nanosecond, time.Second + 500, true},
		{1, 500, time.Microsecond, time.Second + 500*time.Microsecond, true},
		{1 << 62, 0, time.Nanosecond, never, true},
		{-1, 0, time.Nanosecond, 0, false},
		{0, 1e9, time.Nanosecond, 0, false},
		{0, -1, time.Nanosecond, 0, false},
	} {
		b := binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, uint64(c.seconds)), uint64(c.part))
		if got, ok := timeOf(b, c.unit); got != c.want || ok != c.ok {
			t.Errorf("%d, %d of %s: %s, %v", c.seconds, c.part, c.unit, got, ok)
		}
	}
}

// What the kernel writes is read whatever it is.
func FuzzWaitOf(f *testing.F) {
	f.Add("running\n")
	f.Add("202 0x1 0x80 0x0 0x0 0x0 0x0 0x7fff00000000 0x401000\n")
	f.Fuzz(func(t *testing.T, line string) {
		if w, ok := waitOf(line); ok && w.timeout > time.Duration(1<<31)*time.Millisecond {
			t.Errorf("%+v", w)
		}
	})
}
