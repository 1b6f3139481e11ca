package profile

import "slices"

// maxEnded is how many tasks that ended are remembered.
const maxEnded = 1024

// ended are the numbers of the server's latest tasks that ended. Whoever started one may still
// set its limits or look for it, until it has heard of the end.
type ended struct {
	tids [maxEnded]int
	next int
}

func (e *ended) add(tid int) {
	e.tids[e.next%maxEnded] = tid
	e.next++
}

func (e *ended) has(tid int) bool { return slices.Contains(e.tids[:min(e.next, maxEnded)], tid) }

// ours reports whether a task is of the server's own tree, or was until it ended.
func (b *Builder) ours(tid int) bool { return b.tasks[tid] != nil || b.ended.has(tid) }
