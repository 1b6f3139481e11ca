package agent

import (
	"cmp"
	"slices"
)

// disk sums what the target's processes wrote to file systems that are not in memory, in
// bytes. The kernel adds to a process' count that of each child it waits for, and the agent
// waits for orphans: the counts of the agent and of all that lives, or was not waited
// for, are the whole. A child that its parent lets the kernel reap is not waited for, and is
// counted as of the last sample that saw it.
type disk struct {
	// self is the agent, whose count at the first sample is its own.
	self    int
	own     int64
	written int64

	last map[taskKey]int64
	lost int64 // counts that nobody took over
}

// sample takes the sum anew. Tasks are parents before their children, so that what
// moves to a parent meanwhile is missed until the next sample, and never counted twice.
func (d *disk) sample(tasks []task, read func(pid int) (int64, bool)) {
	first := d.last == nil
	now := make(map[taskKey]int64, len(tasks)+1)
	agent := taskKey{pid: d.self}
	keep := func(k taskKey) {
		n, ok := read(k.pid)
		if !ok {
			n = d.last[k] // it has just ended
		}
		now[k] = max(n, d.last[k])
	}
	keep(agent)
	if first {
		d.own = now[agent]
	}
	for _, t := range tasks {
		keep(taskKey{t.pid, t.start})
	}
	var sum, gone, grown int64
	for k, n := range now {
		sum += n
		if was, ok := d.last[k]; ok {
			grown += n - was
		}
	}
	for k, n := range d.last {
		if _, ok := now[k]; !ok {
			gone += n
		}
	}
	// Whoever was waited for made one that is still there grow.
	d.lost += max(gone-grown, 0)
	d.last = now
	d.written = max(d.written, sum-d.own+d.lost)
}

// family lists the target's processes, those included that ended and were not waited for:
// parents before their children.
func (a *agent) family() []task {
	list, _ := a.listFamily()
	parent := make(map[int]int, len(list))
	for _, t := range list {
		parent[t.pid] = t.ppid
	}
	depth := make(map[int]int, len(list))
	for _, t := range list {
		n := 0
		for pid, ok := t.ppid, true; ok && n < len(list); n++ {
			pid, ok = parent[pid], parent[pid] != 0
		}
		depth[t.pid] = n
	}
	slices.SortStableFunc(list, func(x, y task) int { return cmp.Compare(depth[x.pid], depth[y.pid]) })
	return list
}
