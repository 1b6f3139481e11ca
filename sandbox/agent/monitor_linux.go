package agent

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// longestTick is the longest sleep of a Go program's monitor thread between two
	// looks at its processors (runtime/proc.go, sysmon).
	longestTick = 10 * time.Millisecond
	// noteWithin is where the linkers place the note of the build ID: in the first page.
	noteWithin = 4096
	// maxEnviron bounds what is read of an environment.
	maxEnviron = 1 << 20
)

// nanosleep begins the line of a task that waits in nanosleep(2).
var nanosleep = strconv.Itoa(unix.SYS_NANOSLEEP) + " "

// goNote begins the note of a Go program's build ID: the type and the name
// (cmd/link/internal/ld/elf.go, ELF_NOTE_GOBUILDID_TAG).
var goNote = []byte("\x04\x00\x00\x00Go\x00\x00")

// ticks reports whether a task only ticks: whether it is the monitor thread of a Go
// program, in a sleep between two looks. Such a thread runs none of the program's own code, and
// wakes nobody while the other threads have idle processors to give. With one processor alone,
// it is what hands on work that waits behind a thread in a system call, and counts.
func (s *sleepers) ticks(t *sleeper) bool {
	if t.pid == t.tid || !strings.HasPrefix(t.sleep.call, nanosleep) {
		return false
	}
	if t.sleep.until-t.sleep.since > longestTick {
		return false
	}
	// The runtime starts it before any other thread.
	for _, other := range s.tasks {
		if other.pid == t.pid && other.tid != t.pid && other.tid < t.tid {
			return false
		}
	}
	if !t.checked {
		t.monitor, t.checked = isGo(t.pid) && processors(t.pid) > 1, true
	}
	return t.monitor
}

// isGo reports whether a process runs a Go program.
func isGo(pid int) bool {
	b, err := head(fmt.Sprintf("/proc/%d/exe", pid), noteWithin)
	return err == nil && bytes.Contains(b, goNote)
}

// processors is how many processors a Go program may use at once when it starts, 1 where that
// is not known: those that the kernel gives it, unless its environment says something else.
func processors(pid int) int {
	var set unix.CPUSet
	environ, err := head(fmt.Sprintf("/proc/%d/environ", pid), maxEnviron)
	if err != nil || len(environ) == maxEnviron || unix.SchedGetaffinity(pid, &set) != nil {
		return 1
	}
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.HasPrefix(v, []byte("GOMAXPROCS=")) {
			return 1
		}
	}
	return set.Count()
}

// head reads the begin of a file.
func head(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, most))
}
