package bpf

// owner says whose a process is.
type owner uint8

const (
	unknown owner = iota
	ours          // the agent's
	theirs        // the target's
)

// maxTasks bounds what is remembered of tasks.
const maxTasks = 1 << 16

// family knows whose each process is and how tasks are numbered. The target's
// first task is the agent's until its second exec, which starts the target's program.
type family struct {
	target  int32
	execs2  int
	started bool
	owners  map[int32]owner // by the machine's number of the process
	living  map[int32]bool  // processes' first threads, by the machine's number
	numbers map[own]int32   // a task's number in the watched namespace, by its own
	newest  map[int32]int32 // the last task that each has made, by the machine's number of the maker
	// Of threads that end at the same time each may seem to be the last: whose a
	// process was is known a while longer.
	ended []int32        // processes that have, oldest first
	over  map[int32]bool // those of them whose number is no other's since
}

// maxEnded bounds the processes that are known though they have ended.
const maxEnded = 1 << 10

// own is how a task numbers itself.
type own struct {
	ns uint32
	nr int32
}

func newFamily(target int32) family {
	return family{target: target, owners: map[int32]owner{}, living: map[int32]bool{}, numbers: map[own]int32{}, newest: map[int32]int32{}, over: map[int32]bool{}}
}

func (f *family) whose(tgid int32) owner { return f.owners[tgid] }

func (f *family) adopt(tgid int32, o owner) {
	delete(f.over, tgid)
	if len(f.owners) < maxTasks {
		f.owners[tgid] = o
	}
}

// meet learns how a task of another namespace is numbered.
func (f *family) meet(e *event, ns uint32) {
	if e.NS != ns && e.TID > 0 && len(f.numbers) < maxTasks {
		f.numbers[own{e.NS, e.Own}] = e.TID
	}
}

// forked learns of a new task before it has run: a process belongs to whom its parent does.
func (f *family) forked(e *event, ns uint32) {
	if e.ChildNS != ns && len(f.numbers) < maxTasks {
		f.numbers[own{e.ChildNS, e.ChildOwn}] = e.Child
	}
	if len(f.newest) < maxTasks {
		f.newest[e.PID] = e.Child
	}
	pid, tgid := int32(uint32(e.Args[0])), int32(uint32(e.Args[1]))
	o := f.owners[e.TGID]
	if o == unknown && !f.started {
		o = ours
		f.adopt(e.TGID, o)
	}
	if pid == tgid {
		f.adopt(tgid, o)
		if len(f.living) < maxTasks {
			f.living[tgid] = true
		}
	}
}

// execOK counts the target's first task's execs; it reports whether this one
// starts the target's program.
func (f *family) execOK(e *event, ok bool) bool {
	if f.started || !ok || e.TID != f.target {
		return false
	}
	f.execs2++
	if f.execs2 < 2 {
		return false
	}
	f.started = true
	f.adopt(e.TGID, theirs)
	return true
}

// forget drops a task that has ended.
func (f *family) forget(e *event) {
	delete(f.numbers, own{e.NS, e.Own})
	delete(f.newest, e.PID)
	if e.Flags&flagLeader != 0 {
		delete(f.living, e.PID)
	}
}

// release drops a process that has ended.
func (f *family) release(tgid int32) {
	if f.over[tgid] {
		return
	}
	f.over[tgid] = true
	f.ended = append(f.ended, tgid)
	if len(f.ended) <= maxEnded {
		return
	}
	if first := f.ended[0]; f.over[first] {
		delete(f.over, first)
		delete(f.owners, first)
	}
	f.ended = f.ended[1:]
}

// move learns that a thread has taken its leader's number.
func (f *family) move(_ int32, e *event) {
	if len(f.living) < maxTasks {
		f.living[e.TGID] = true
	}
}

// translate turns a task's number in the caller's namespace into that in the
// watched one. What is no task's number, and what is not known, stays as it is.
func (f *family) translate(e *event, nr int32, ns uint32) int {
	if nr > 0 && e.NS != ns {
		if n, ok := f.numbers[own{e.NS, nr}]; ok {
			return int(n)
		}
	}
	return int(nr)
}
