package agent

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/agent/stage"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"golang.org/x/sys/unix"
)

// task is a process as /proc shows it.
type task struct {
	pid, ppid, threads int
	state              byte
	start              uint64
	cpu                time.Duration
	memory             int64
	virtual            int64 // size of the address space, 0 once it is given up
	tracer             int
}

// clockTick is USER_HZ, which is 100 on every platform that Go supports.
const clockTick = 10 * time.Millisecond

// readTask reads a process's lineage and times.
func readTask(pid int) (task, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return task{}, err
	}
	// The name may hold anything, so the fields begin after its last parenthesis.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 21 || len(f[0]) == 0 {
		return task{}, fmt.Errorf("process %d: its stat is not understood", pid)
	}
	num := func(i int) int64 { n, _ := strconv.ParseInt(string(f[i]), 10, 64); return n }
	return task{
		pid: pid, state: f[0][0], ppid: int(num(1)), threads: int(num(17)),
		cpu: time.Duration(num(11)+num(12)) * clockTick, start: uint64(num(19)), virtual: num(20),
	}, nil
}

// readStatus adds what only the longer file says: unshared memory and the tracer.
func (t *task) readStatus() {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(t.pid) + "/status")
	if err != nil {
		return
	}
	for line := range bytes.Lines(b) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		switch string(key) {
		case "RssAnon", "RssShmem":
			kib, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(value), []byte(" kB"))), 10, 64)
			t.memory += kib << 10
		case "TracerPid":
			t.tracer, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
		}
	}
}

// openFiles sums a process's files in memory that have no name: no mapping counts
// them, and no file system's size bounds them. It also counts its sockets.
func openFiles(pid int) (memory, sockets int64) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	d, err := os.Open(dir)
	if err != nil {
		return 0, 0
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(stage.MaxFiles)
	if err != nil {
		return 0, 0
	}
	for _, n := range names {
		to, err := os.Readlink(dir + n)
		switch {
		case err != nil:
		case strings.HasPrefix(to, "socket:"):
			sockets++
		case strings.HasPrefix(to, "/memfd:"):
			var st unix.Stat_t
			if unix.Stat(dir+n, &st) == nil {
				memory += st.Blocks * 512
			}
		}
	}
	return memory, sockets
}

// detachedMemory sums the System V shared memory that no process has attached,
// which therefore no process is charged with.
func detachedMemory() int64 {
	b, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return 0
	}
	return detached(b)
}

// detached reads the table of proc_sysvipc_shm(5).
func detached(table []byte) int64 {
	const attaches, resident, swapped = 6, 14, 15
	var sum int64
	for line := range bytes.Lines(table) {
		f := bytes.Fields(line)
		if len(f) <= swapped || string(f[attaches]) != "0" {
			continue
		}
		for _, i := range []int{resident, swapped} {
			n, _ := strconv.ParseInt(string(f[i]), 10, 64)
			sum += max(n, 0)
		}
	}
	return sum
}

// alive says that a process can still do something, be it without its first thread.
func (t task) alive() bool { return t.state != 'Z' && t.state != 'X' || t.threads > 1 }

// processes lists all processes that /proc shows. With an error the list may lack some.
func processes() ([]task, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var all []task
	var failed error
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		t, err := readTask(pid)
		switch {
		case err == nil:
			all = append(all, t)
		case !isEnded(err):
			failed = err
		}
	}
	return all, failed
}

// ensureProc makes /proc show the agent's own pid namespace: everything that
// counts or kills tasks by their number depends on it.
func ensureProc() error {
	if self, err := os.Readlink("/proc/self"); err == nil && self == strconv.Itoa(os.Getpid()) {
		return nil
	}
	if err := stage.MountProc(); err != nil {
		return fmt.Errorf("/proc belongs to another pid namespace: %w", err)
	}
	return nil
}

// clock is CLOCK_MONOTONIC: the run's only clock.
func clock() time.Duration { return trace.Clock() }

func readClock(id int32) time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(id, &ts)
	return time.Duration(ts.Nano())
}

// realtimeOffset is CLOCK_REALTIME minus the run's clock, the best of a few tries.
func realtimeOffset() time.Duration {
	var offset time.Duration
	best := time.Hour
	for range 5 {
		before := clock()
		real := readClock(unix.CLOCK_REALTIME)
		if d := clock() - before; d < best {
			best, offset = d, real-before-d/2
		}
	}
	return offset
}

// diskWrites is how many bytes a process has caused to be written to a disk, and each
// child that it waited for, false where the kernel does not say. What lies in memory, as all
// of the local sandbox's file systems do, is not counted.
func diskWrites(pid int) (int64, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/io")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(b) {
		if value, ok := bytes.CutPrefix(line, []byte("write_bytes: ")); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
