package agent

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// comm is what every process of coalmine's calls itself in a sandbox.
const comm = "init"

// setComm names the calling thread.
func setComm() {
	if name, err := unix.BytePtrFromString(comm); err == nil {
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0, 0, 0)
	}
}

// nameThreads renames this process and all of its threads: those that the Go
// runtime made before us bear the name of the program's file, and so does what one
// of them starts meanwhile. Nobody is left when a look at all finds none to rename.
func nameThreads() {
	for range 100 {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		renamed := false
		for _, t := range tasks {
			file := "/proc/self/task/" + t.Name() + "/comm"
			if name, err := os.ReadFile(file); err == nil && string(name) != comm+"\n" {
				renamed = os.WriteFile(file, []byte(comm), 0) == nil || renamed
			}
		}
		if !renamed {
			return
		}
	}
}

// task is a process as /proc shows it.
type task struct {
	pid, ppid, threads int
	state              byte
	start              uint64
	cpu                time.Duration
	memory             int64
	tracer             int
}

// clockTick is USER_HZ, which is 100 on every platform that Go supports.
const clockTick = 10 * time.Millisecond

// readTask reads a process's lineage and times; false when it is gone.
func readTask(pid int) (task, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return task{}, false
	}
	// The name may hold anything, so the fields begin after its last parenthesis.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 || len(f[0]) == 0 {
		return task{}, false
	}
	num := func(i int) int64 { n, _ := strconv.ParseInt(string(f[i]), 10, 64); return n }
	return task{
		pid: pid, state: f[0][0], ppid: int(num(1)), threads: int(num(17)),
		cpu: time.Duration(num(11)+num(12)) * clockTick, start: uint64(num(19)),
	}, true
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

// memfds sums a process's files in memory that have no name: no mapping counts
// them, and no file system's size bounds them.
func memfds(pid int) int64 {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	d, err := os.Open(dir)
	if err != nil {
		return 0
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(maxFiles)
	if err != nil {
		return 0
	}
	var sum int64
	for _, n := range names {
		to, err := os.Readlink(dir + n)
		if err != nil || !strings.HasPrefix(to, "/memfd:") {
			continue
		}
		var st unix.Stat_t
		if unix.Stat(dir+n, &st) == nil {
			sum += st.Blocks * 512
		}
	}
	return sum
}

// alive says that a task can still do something.
func (t task) alive() bool { return t.state != 'Z' && t.state != 'X' }

// processes lists all processes that /proc shows.
func processes() []task {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var all []task
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if t, ok := readTask(pid); ok {
			all = append(all, t)
		}
	}
	return all
}

// ensureProc makes /proc show the agent's own pid namespace: everything that
// counts or kills tasks by their number depends on it.
func ensureProc() error {
	if self, err := os.Readlink("/proc/self"); err == nil && self == strconv.Itoa(os.Getpid()) {
		return nil
	}
	if err := mountProc(); err != nil {
		return fmt.Errorf("/proc is of another pid namespace: %w", err)
	}
	return nil
}

// clock is CLOCK_MONOTONIC: the run's only clock.
func clock() time.Duration { return readClock(unix.CLOCK_MONOTONIC) }

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
