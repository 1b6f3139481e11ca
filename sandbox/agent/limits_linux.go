package agent

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// samplePeriod is how often the agent sums up what the target uses.
const samplePeriod = 50 * time.Millisecond

// limit ends the run because a limit was reached; the first one is told.
func (a *agent) limit(reason string) {
	if a.limited.Swap(true) {
		return
	}
	a.emit(session.EventLimit{Reason: reason})
	go a.killAll()
}

// usage sums over the target's tasks, those that have ended included.
type usage struct {
	memory  int64
	threads int
	cpu     time.Duration

	last map[taskKey]time.Duration
	past time.Duration
	// untraced is a task that the tracer does not follow, 0 for none.
	untraced int
}

type taskKey struct {
	pid   int
	start uint64
}

// sample takes the sums anew.
func (u *usage) sample(tasks []task, traced bool) {
	u.memory, u.threads, u.cpu = 0, 0, 0
	now := make(map[taskKey]time.Duration, len(tasks))
	for _, t := range tasks {
		t.readStatus()
		u.memory += t.memory + memfds(t.pid)
		u.threads += t.threads
		now[taskKey{t.pid, t.start}] = t.cpu
		u.cpu += t.cpu
		if traced && t.tracer == 0 {
			if again, ok := readTask(t.pid); ok && again.alive() && again.start == t.start {
				u.untraced = t.pid
			}
		}
	}
	for k, cpu := range u.last {
		if _, lives := now[k]; !lives {
			u.past += cpu
		}
	}
	u.last = now
	u.cpu += u.past
}

// watchLimits kills the target when it uses more than it may, and looks after
// what would falsify the record: tasks without a tracer, a stepped wall clock.
func (a *agent) watchLimits() {
	l := a.cfg.Limits
	tick := time.NewTicker(samplePeriod)
	defer tick.Stop()
	var wall <-chan time.Time
	if l.Wall > 0 {
		t := time.NewTimer(l.Wall)
		defer t.Stop()
		wall = t.C
	}
	u := usage{}
	told, full := false, false
	groups := groupCounters()
	for {
		select {
		case <-a.finish:
			return
		case <-wall:
			a.limit(fmt.Sprintf("wall: the sandbox lived longer than %v", l.Wall))
			wall = nil
			continue
		case <-tick.C:
		}
		traced := a.tracer.Load() != 0 && !a.killing.Load()
		u.sample(a.targets(), traced)
		if reason := u.over(l); reason != "" {
			a.limit(reason)
		}
		if l.Disk > 0 {
			if dir := fullDisk(a.cfg); dir != "" && !full {
				full = true
				a.emit(session.EventFull{Path: dir})
			}
		}
		for _, g := range groups {
			if g.hit() {
				a.limit(g.reason)
			}
		}
		if u.untraced != 0 && traced && !told {
			told = true
			a.emit(session.EventLoss{Code: session.GapProcessNotTraced, Reason: fmt.Sprintf("process %d of the target is not traced", u.untraced)})
		}
		if a.tracer.Load() != 0 {
			a.checkClock()
		}
	}
}

// fullDisk names a file system of the target's that has no room left, "" for
// none. Only those in memory are the sandbox's own, and bounded by it.
func fullDisk(c *Config) string {
	for _, dir := range []string{c.User.Home, "/tmp", "/var/tmp", "/dev/shm", c.Dir} {
		var st unix.Statfs_t
		if dir != "" && unix.Statfs(dir, &st) == nil && st.Type == unix.TMPFS_MAGIC && st.Blocks > 0 && st.Bavail == 0 {
			return dir
		}
	}
	return ""
}

// over names the limit that is exceeded.
func (u *usage) over(l Limits) string {
	switch {
	case l.Memory > 0 && u.memory > l.Memory:
		return fmt.Sprintf("memory: %d MiB in use, %d MiB allowed", u.memory>>20, l.Memory>>20)
	case l.Pids > 0 && u.threads > l.Pids:
		return fmt.Sprintf("pids: %d tasks, %d allowed", u.threads, l.Pids)
	case l.CPU > 0 && u.cpu > l.CPU:
		return fmt.Sprintf("cpu: %v used, %v allowed", u.cpu.Round(10*time.Millisecond), l.CPU)
	}
	return ""
}

// checkClock notices that the wall clock, by which the tracer stamps, was stepped.
func (a *agent) checkClock() {
	const tolerance = 20 * time.Millisecond
	now := realtimeOffset()
	if d := now - a.offset; d > tolerance || d < -tolerance {
		a.offset = now
		a.emit(session.EventLoss{Code: session.GapClockStepped, Reason: fmt.Sprintf("the wall clock was stepped by %v: later calls are stamped wrongly", d)})
	}
}
