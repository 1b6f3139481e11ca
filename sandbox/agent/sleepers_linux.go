package agent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxSleepers bounds the tasks that are looked at, maxLinks the descriptors of one
	// of their processes: a target with more of either is never shown to rest.
	maxSleepers, maxLinks = 128, 128
	// maxStat is more than the kernel writes into any of a task's files that are read.
	maxStat = 1024
)

// sleepers tells whether the tasks of a target sleep, and until when. Only one
// goroutine may use it.
//
// Each task is looked at twice, all of them once before any of them again. A task that
// slept at both times, and was not put on a processor from before the first to after
// the second, slept all the while; if that is true of all tasks, there is a moment
// at which all of them slept, and none of them could wake another.
type sleepers struct {
	// processes lists the target's processes.
	processes func() ([]task, error)
	tasks     map[int]*sleeper
	// born is the number given last in this pid namespace when the tasks were listed: while it
	// stays, there are no more of them. "" is unknown.
	born string
	// listed is the begin of the last look that knew all tasks.
	listed time.Duration
	// local are the sockets that lead to no network, by their inodes.
	local map[string]bool
}

// sleeper is one task.
type sleeper struct {
	pid, tid               int
	schedstat, stat, calls int // its files in /proc
	// looked is the begin of the last look, or where there was none the last moment
	// at which there was no such task.
	looked time.Duration
	sleep  sleep
	// monitor says that it is the monitor thread of a Go program, checked that this was looked for.
	monitor, checked bool
}

// sleep is a wait of a task's.
type sleep struct {
	// runs is how often the task was put on a processor before.
	runs uint64
	// call is the call in which it waits, as the kernel writes it.
	call string
	// since is a moment before the wait began.
	since time.Duration
	// until is the earliest moment at which a timer ends it; known says that it is known.
	until time.Duration
	known bool
}

// errEnded says that a task has ended.
var errEnded = errors.New("the task has ended")

func newSleepers(processes func() ([]task, error)) *sleepers {
	return &sleepers{processes: processes, tasks: map[int]*sleeper{}, local: map[string]bool{}, listed: clock()}
}

// look looks at all tasks. A timer counts where it may be due within the window;
// sockets says that the target may have some that lead out of its processes.
func (s *sleepers) look(window time.Duration, sockets bool) stillness {
	begin := clock()
	out := stillness{due: map[int]sleep{}}
	if born := lastPID(); born == "" || born != s.born {
		if err := s.list(born); err != nil {
			out.doubt = true
			return out
		}
	}
	pids := map[int]bool{}
	for tid, t := range s.tasks {
		asleep, err := t.look(begin)
		switch {
		case errors.Is(err, errEnded):
			s.forget(tid)
			continue
		case err != nil || asleep && !t.sleep.known:
			out.doubt = true
		case !asleep:
			out.busy = true
		case s.ticks(t):
			continue
		case t.sleep.until < begin+window:
			out.due[tid] = t.sleep
		}
		pids[t.pid] = true
	}
	if sockets && out.rests() {
		for pid := range pids {
			out.doubt = out.doubt || s.reachesOut(pid)
		}
	}
	for _, t := range s.tasks {
		out.busy = out.busy || !t.monitor && !t.still()
	}
	if s.born == "" || s.born != lastPID() {
		out.busy, s.born = true, ""
		return out
	}
	s.listed = begin
	return out
}

// beyond is how long the shortest wait still lasts that ends later than far from now.
func (s *sleepers) beyond(far time.Duration) (left time.Duration, ok bool) {
	now := clock()
	for _, t := range s.tasks {
		rest := t.sleep.until - now
		if t.sleep.known && t.sleep.until != never && rest > far && (!ok || rest < left) {
			left, ok = rest, true
		}
	}
	return left, ok
}

// list takes in which tasks there are, where born is the number given last before.
func (s *sleepers) list(born string) error {
	processes, err := s.processes()
	if err != nil {
		return err
	}
	s.born = ""
	highest, now := 0, map[int]bool{}
	for _, p := range processes {
		dir, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.pid))
		if err != nil {
			continue // it has ended, or is not looked at: its number was given before
		}
		for _, e := range dir {
			tid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}
			now[tid], highest = true, max(highest, tid)
			if err := s.add(p.pid, tid); err != nil && !isEnded(err) {
				return err
			}
		}
	}
	for tid := range s.tasks {
		if !now[tid] {
			s.forget(tid)
		}
	}
	// A number below that of a living task was not counted in this namespace.
	if n, err := strconv.Atoi(born); err == nil && n >= highest && born == lastPID() {
		s.born = born
	}
	return nil
}

// add takes in a task, unless it is known.
func (s *sleepers) add(pid, tid int) error {
	if s.tasks[tid] != nil && s.tasks[tid].pid == pid {
		return nil
	}
	if s.forget(tid); len(s.tasks) >= maxSleepers {
		return fmt.Errorf("the target has more than %d tasks", maxSleepers)
	}
	t := &sleeper{pid: pid, tid: tid, schedstat: -1, stat: -1, calls: -1, looked: s.listed}
	for name, fd := range map[string]*int{"schedstat": &t.schedstat, "stat": &t.stat, "syscall": &t.calls} {
		var err error
		if *fd, err = unix.Open(fmt.Sprintf("/proc/%d/task/%d/%s", pid, tid, name), unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			t.close()
			return err
		}
	}
	s.tasks[tid] = t
	return nil
}

func (s *sleepers) forget(tid int) {
	if t := s.tasks[tid]; t != nil {
		t.close()
		delete(s.tasks, tid)
	}
}

func (t *sleeper) close() {
	for _, fd := range []int{t.schedstat, t.stat, t.calls} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// look takes in what the task does, and reports whether it sleeps.
func (t *sleeper) look(begin time.Duration) (asleep bool, err error) {
	runs, err := t.runs()
	if err != nil {
		return false, err
	}
	state, err := t.state()
	if err != nil {
		return false, err
	}
	call, err := readAt(t.calls)
	if err != nil {
		return false, err
	}
	if runs != t.sleep.runs || string(call) != t.sleep.call {
		t.sleep = sleep{runs: runs, call: string(call), since: t.looked}
	}
	t.looked = begin
	if state != 'S' || t.running() {
		return false, nil
	}
	// What is absolute by another clock is read each time: that clock may be set.
	t.sleep.until, t.sleep.known = t.ends()
	return true, nil
}

// running says that the task was awake when its call was read.
func (t *sleeper) running() bool { return strings.HasPrefix(t.sleep.call, "running") }

// still reports whether the task has slept since it was looked at.
func (t *sleeper) still() bool {
	call, err := readAt(t.calls)
	if err != nil || string(call) != t.sleep.call || t.running() {
		return false
	}
	runs, err := t.runs()
	return err == nil && runs == t.sleep.runs
}

// runs is how often the task was put on a processor.
func (t *sleeper) runs() (uint64, error) {
	b, err := readAt(t.schedstat)
	if err != nil {
		return 0, err
	}
	_, n, err := schedstat(b)
	if err == nil && n == 0 {
		err = errors.New("the kernel does not count how often tasks run")
	}
	return n, err
}

// schedstat reads what the kernel counts of a task (proc_pid_schedstat): for how long it was
// ready and had no processor, and how often it was put on one.
func schedstat(b []byte) (delay time.Duration, runs uint64, err error) {
	f := bytes.Fields(b)
	if len(f) != 3 {
		return 0, 0, errors.New("a task's schedstat is not understood")
	}
	n, err := strconv.ParseInt(string(f[1]), 10, 64)
	if err != nil {
		return 0, 0, err
	}
	runs, err = strconv.ParseUint(string(f[2]), 10, 64)
	return time.Duration(n), runs, err
}

// state is the task's state, with errEnded for one that does nothing any more.
func (t *sleeper) state() (byte, error) {
	b, err := readAt(t.stat)
	if err != nil {
		return 0, err
	}
	// The name may hold anything: the state follows its last parenthesis.
	at := bytes.LastIndexByte(b, ')') + 2
	if at < 2 || at >= len(b) {
		return 0, errors.New("a task's stat is not understood")
	}
	if b[at] == 'Z' || b[at] == 'X' {
		return 0, errEnded
	}
	return b[at], nil
}

// ends is the earliest moment at which a timer ends the wait.
func (t *sleeper) ends() (until time.Duration, known bool) {
	w, ok := waitOf(t.sleep.call)
	if !ok || w.file >= 0 && !t.waitsAt(w.file) {
		return 0, false
	}
	timeout := w.timeout
	if w.at != 0 {
		var ok bool
		if timeout, ok = readTime(t.tid, w.at, w.unit); !ok {
			return 0, false
		}
	}
	switch {
	case w.endless:
		return never, true
	case !w.absolute:
		return t.sleep.since + min(timeout, never-t.sleep.since), true
	case w.realtime:
		return timeout - realtimeOffset(), true
	}
	return timeout, true
}

// waitsAt reports whether a read of a descriptor ends only by what somebody writes.
func (t *sleeper) waitsAt(fd int) bool {
	to, err := os.Readlink(fmt.Sprintf("/proc/%d/task/%d/fd/%d", t.pid, t.tid, fd))
	return err == nil && strings.HasPrefix(to, "pipe:")
}

// reachesOut reports whether a process may have sockets that lead to a network.
func (s *sleepers) reachesOut(pid int) bool {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	d, err := os.Open(dir)
	if err != nil {
		return true
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(-1)
	if err != nil || len(names) > maxLinks {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool {
		to, err := os.Readlink(dir + name)
		if err != nil {
			return true
		}
		inode, ok := strings.CutPrefix(to, "socket:[")
		return ok && !s.isLocal(strings.TrimSuffix(inode, "]"))
	})
}

// maxLocal bounds the sockets that are remembered.
const maxLocal = 4096

// isLocal reports whether a socket is one of this machine's own, AF_UNIX.
func (s *sleepers) isLocal(inode string) bool {
	if s.local[inode] {
		return true
	}
	table, err := os.ReadFile("/proc/self/net/unix")
	if err != nil {
		return false
	}
	clear(s.local)
	for line := range bytes.Lines(table) {
		const column = 6
		if f := bytes.Fields(line); len(f) > column && len(s.local) < maxLocal {
			s.local[string(f[column])] = true
		}
	}
	return s.local[inode]
}

// lastPID is the number that was given to a task last in this pid namespace, "" where
// the kernel does not say it.
func lastPID() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	f := bytes.Fields(b)
	if len(f) != 5 {
		return ""
	}
	return string(f[4])
}

// readAt reads one of a task's files from its begin.
func readAt(fd int) ([]byte, error) {
	b := make([]byte, maxStat)
	for {
		n, err := unix.Pread(fd, b, 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ESRCH), err == nil && n == 0:
			return nil, errEnded
		case err != nil:
			return nil, err
		}
		return b[:n], nil
	}
}
