package agent

import (
	"fmt"
	"os"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// socketBuffers is what the two buffers of a socket may hold: twice the usual net.core.rmem_max.
const socketBuffers = 2 * 212_992

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
	disk    disk

	last map[taskKey]time.Duration // processor time of each
	past time.Duration
	// sockets counts descriptors of sockets.
	sockets int64
	// untraced is a task that the tracer does not follow, 0 for none.
	untraced int
}

type taskKey struct {
	pid   int
	start uint64
}

// sample takes the sums anew, over tasks that are parents before their children.
func (u *usage) sample(tasks []task, traced bool) {
	u.memory, u.threads, u.cpu, u.sockets = detachedMemory(), 0, 0, 0
	now := make(map[taskKey]time.Duration, len(tasks))
	u.disk.sample(tasks, diskWrites)
	for _, t := range tasks {
		if !t.alive() {
			continue
		}
		t.readStatus()
		files, sockets := openFiles(t.pid)
		u.memory += t.memory + files
		u.sockets += sockets
		u.threads += t.threads
		now[taskKey{t.pid, t.start}] = t.cpu
		u.cpu += t.cpu
		if traced && t.tracer == 0 {
			if again, err := readTask(t.pid); err == nil && again.alive() && again.start == t.start {
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
	u := usage{disk: disk{self: os.Getpid()}}
	told, full, doubted := false, false, false
	groups := groupCounters(a.cfg.Grouped)
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
		u.sample(a.family(), traced)
		if reason := u.over(l); reason != "" {
			a.limit(reason)
		}
		if l.Disk > 0 {
			used, dir := a.disks.look()
			if dir != "" && !full {
				full = true
				a.emit(session.EventFull{Path: dir})
			}
			if used -= a.disks.base; used > disksTogether*l.Disk {
				a.limit(fmt.Sprintf("disk: %d MiB in the sandbox's file systems, %d MiB allowed", used>>20, disksTogether*l.Disk>>20))
			}
		}
		if len(groups) == 0 && l.Memory > 0 && u.sockets*socketBuffers > l.Memory/2 && !doubted {
			doubted = true
			a.emit(session.EventLoss{Code: session.GapMemoryUncounted, Reason: fmt.Sprintf("the server held %d sockets, and nothing bounds what their buffers hold", u.sockets)})
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

// over names the limit that is exceeded.
func (u *usage) over(l Limits) string {
	switch {
	case l.Memory > 0 && u.memory > l.Memory:
		return fmt.Sprintf("memory: %d MiB in use, %d MiB allowed", u.memory>>20, l.Memory>>20)
	case l.Pids > 0 && u.threads > l.Pids:
		return fmt.Sprintf("pids: %d tasks, %d allowed", u.threads, l.Pids)
	case l.Disk > 0 && u.disk.written > l.Disk:
		return fmt.Sprintf("disk: %d MiB written to the sandbox's disk, %d MiB allowed", u.disk.written>>20, l.Disk>>20)
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
