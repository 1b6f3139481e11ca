package bpf

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// decoder turns events into records. It is not safe for concurrent use.
type decoder struct {
	abis [2]*abi
	ns   uint32
	emit func(*trace.Record)
	lose func(n uint64, why string)
	seq  uint64
	// chosen says that all are the target's of whom the kernel's side tells, and process
	// is who did what is decoded.
	chosen  bool
	process int32

	family
	execs  map[int32]*execArgs // by the machine's number of the task
	early  map[int32]*event    // likewise
	leader map[int32]*trace.Record
	// refused keeps calls that a filter answered.
	refused bool
	// files is told which files processes run and open, nil for nobody.
	files func(pid int, path string)
	gone  map[int32]bool // processes whose last thread has ended before their first

	rec   trace.Record
	peers []trace.Addr
}

// execArgs are what an exec was given, kept from its enter to its exit.
type execArgs struct {
	path, given string
	argv        []string
	flags       string
	fd          int
	real        bool
	tgid        int32
	enter       *event // the enter, where something of it was not in memory
	script      bool   // the program names an interpreter
	below       bool   // the path is the kernel's name of what is below a descriptor
}

// The decoder's bounds: an honest run stays far below.
const (
	maxPending = 1 << 14
	maxArgv    = 256
)

// unread stands for a word of an argument list that was not in memory.
const unread = "…"

func newDecoder(abis *[2]*abi, ns uint32, target int, emit func(*trace.Record), lose func(uint64, string)) *decoder {
	return &decoder{abis: *abis, ns: ns, emit: emit, lose: lose, family: newFamily(int32(target)),
		execs: map[int32]*execArgs{}, early: map[int32]*event{}, leader: map[int32]*trace.Record{}, gone: map[int32]bool{}}
}

// take handles one event.
func (d *decoder) take(e *event) {
	if e.Flags&flagCut != 0 {
		d.lose(1, "a path or an argument was longer than the tracer keeps")
	}
	d.process = e.TGID
	d.meet(e, d.ns)
	switch e.Kind {
	case eventForked:
		d.forked(e, d.ns)
	case eventEarlyArgs:
		d.enter(e)
	case eventExeced:
		d.execed(e)
	case eventExited:
		d.exited(e)
	case eventSignal:
		d.signal(e)
	case eventCall:
		d.call(e)
	}
}

// send numbers a record and hands it on.
func (d *decoder) send() {
	d.seq++
	d.rec.Seq = d.seq
	d.emit(&d.rec)
}

// watched says whether a process is the target's. One of which nobody has seen
// the birth is taken for the target's, and is a loss.
func (d *decoder) watched(e *event) bool {
	switch d.whose(e.TGID) {
	case theirs:
		return true
	case ours:
		return false
	}
	if !d.started {
		d.adopt(e.TGID, ours)
		return false
	}
	if !d.chosen {
		d.lose(1, "a process of the target's was not seen to start")
	}
	d.adopt(e.TGID, theirs)
	return true
}

func (d *decoder) signal(e *event) {
	// The kernel's own defaults and strace's: what is ignored by default says nothing.
	switch name := signalName(uint64(e.NR)); name {
	case "SIGCHLD", "SIGURG", "SIGWINCH", "SIGCONT", "SIGKILL":
	default:
		if d.watched(e) {
			d.rec = trace.Record{Time: time.Duration(e.Time), Tid: int(e.TID), Call: "signal", Op: trace.OpOther, FD: -1, Flags: name}
			d.send()
		}
	}
}

// exited handles a task's end. A process's first thread stays until the others
// have ended, and is reported then.
func (d *decoder) exited(e *event) {
	known := d.watched(e)
	delete(d.execs, e.PID)
	delete(d.early, e.PID)
	d.forget(e)
	r := trace.Record{Time: time.Duration(e.Time), Tid: int(e.TID), Call: "exit", Op: trace.OpExit, FD: -1}
	if sig := uint64(e.Ret) & 0x7f; sig != 0 {
		r.Ret, r.Err = -1, signalName(sig)
	} else {
		r.Ret = e.Ret >> 8 & 0xff
	}
	last := e.Flags&flagLast != 0
	if e.Flags&flagLeader != 0 && !last && !d.gone[e.TGID] && len(d.leader) < maxPending {
		if known {
			d.leader[e.TGID] = &r
		}
		return
	}
	if known {
		d.rec = r
		d.send()
	}
	if held := d.leader[e.TGID]; held != nil && last {
		d.rec = *held
		d.rec.Time = r.Time
		d.send()
		delete(d.leader, e.TGID)
	}
	switch {
	case last && e.Flags&flagLeader == 0 && d.leader[e.TGID] == nil && len(d.gone) < maxPending && d.living[e.PID]:
		d.gone[e.TGID] = true
	case last || e.Flags&flagLeader != 0:
		delete(d.gone, e.TGID)
		d.release(e.TGID)
	}
}

// enter keeps what a call was given that is told when it is entered.
func (d *decoder) enter(e *event) {
	c := d.abis[e.Flags&flagCompat].calls[e.NR%nCalls]
	if c == nil || d.whose(e.TGID) == ours && d.started {
		return
	}
	if len(d.execs)+len(d.early) >= maxPending {
		d.lose(1, "too many calls under way")
		return
	}
	if c.Op != trace.OpExec {
		d.early[e.PID] = e.clone()
		return
	}
	d.begin(e, c)
	d.arguments(e, c)
	x := &execArgs{path: d.rec.Path, given: d.rec.Given, argv: wordsOf(e), flags: d.rec.Flags, fd: d.rec.FD, real: d.rec.Real, tgid: e.TGID}
	if e.Flags&flagLate != 0 {
		x.enter = e.clone()
	}
	d.execs[e.PID] = x
}

// wordsOf is an exec's argument list.
func wordsOf(e *event) []string {
	var out []string
	for _, b := range e.blobs {
		if b.what != blobWord {
			continue
		}
		switch word := e.text(b); {
		case b.fault == 1:
			out = append(out, unread)
		case b.fault == 2 || len(out) == maxArgv:
			return append(out, "…")
		case len(word) > 1024:
			out = append(out, word[:1024]+"…")
		default:
			out = append(out, word)
		}
	}
	return out
}

// execed handles the moment in which an exec has succeeded, where there is
// something to say: a thread takes its leader's number, or an argument is told
// from the new memory.
func (d *decoder) execed(e *event) {
	old := int32(uint32(e.Args[0]))
	x := d.execs[old]
	if old != e.PID {
		delete(d.execs, old)
		delete(d.leader, e.TGID)
		d.move(old, e)
		if x != nil {
			d.execs[e.PID] = x
		}
		if d.watched(e) && e.Child > 0 {
			d.rec = trace.Record{Time: time.Duration(e.Time), Tid: int(e.Child), Call: "exit", Op: trace.OpExit, FD: -1}
			d.send()
		}
	}
	switch {
	case x == nil && e.Flags&flagLate != 0 && len(d.execs) < maxPending:
		d.execs[e.PID] = unentered(e)
	case e.Flags&flagLate != 0 && x != nil && x.enter != nil:
		d.late(e, x)
	}
}

// descriptors is where the kernel has a program that is given by a descriptor.
const descriptors = "/dev/fd/"

// unentered is what an exec was given whose enter nobody has seen, by what the
// kernel has made of it.
func unentered(e *event) *execArgs {
	x := &execArgs{fd: -1, tgid: e.TGID, script: e.Flags&flagScript != 0}
	if b, ok := e.find(0); ok && len(b.data) > 1 {
		o := operand{text: e.text(b), isText: true, fd: -1}
		x.path, x.below = o.resolve(e), strings.HasPrefix(o.text, descriptors)
		if x.path != o.text {
			x.given = o.text
		}
		if words, ok := e.find(blobWord); ok && words.fault == 0 {
			x.argv = strings.Split(e.text(words), "\x00")
			// A script's list is its interpreters' words, its path and the rest of its own.
			if i := slices.Index(x.argv, o.text); x.script && i > 0 {
				x.argv = x.argv[i:]
			}
		}
	}
	return x
}

// late fills in what was not in memory at an exec's enter: the kernel's own copy of
// the program's name, and the arguments as they are in the new memory.
func (d *decoder) late(e *event, x *execArgs) {
	c := d.abis[x.enter.Flags&flagCompat].calls[x.enter.NR%nCalls]
	at := uint8(slices.Index(c.Args, trace.ArgPath))
	name, ok := e.find(0)
	if b, had := x.enter.find(at); ok && had && b.fault != 0 {
		text := e.text(name)
		if at > 0 {
			// The kernel names what is below a descriptor by that.
			below := descriptors + strconv.Itoa(int(int32(x.enter.Args[0])))
			if rest, ok := strings.CutPrefix(text, below); ok && (rest == "" || rest[0] == '/') {
				text = strings.TrimPrefix(rest, "/")
			}
		}
		x.enter.blobs = slices.DeleteFunc(x.enter.blobs, func(b blob) bool { return b.what == at })
		x.enter.blobs = append(x.enter.blobs, blob{what: at, data: append([]byte(text), 0)})
		d.begin(x.enter, c)
		d.arguments(x.enter, c)
		x.path, x.given, x.flags, x.fd, x.real = d.rec.Path, d.rec.Given, d.rec.Flags, d.rec.FD, d.rec.Real
	}
	words, ok := e.find(blobWord)
	if !ok || len(x.argv) > 0 && !slices.Contains(x.argv, unread) {
		return
	}
	now := strings.Split(e.text(words), "\x00")
	// A script's list begins with its interpreter's words in the place of its first.
	if n := len(x.argv); n > 0 && len(now) > n {
		first := x.argv[0]
		if first == unread {
			first = e.text(name)
		}
		now = append([]string{first}, now[len(now)-n+1:]...)
	}
	x.argv = now
}

// begin starts a call's record.
func (d *decoder) begin(e *event, c *trace.Call) {
	d.rec = trace.Record{Time: time.Duration(e.Time), Tid: int(e.TID), Call: c.Name, Op: c.Op, FD: -1, Ret: e.Ret}
	d.peers = d.peers[:0]
	switch {
	case e.Flags&flagFatal != 0:
		d.rec.Ret, d.rec.Unfinished = -1, true
	case e.Ret < 0 && e.Ret >= -4095:
		d.rec.Ret, d.rec.Err = -1, errno(-e.Ret)
	}
	// What the kernel answers without an enter, a filter has answered.
	d.rec.Injected = e.Flags&flagNoEnter != 0 && d.rec.Err != "" && c.Op != trace.OpExec
}

// call handles a call that has returned, or in which its task has ended.
func (d *decoder) call(e *event) {
	c := d.abis[e.Flags&flagCompat].calls[e.NR%nCalls]
	// A new task returns from a fork that it has not entered.
	if c == nil || c.Forks && e.Flags&flagNoEnter != 0 && e.Ret == 0 {
		return
	}
	mine := d.watched(e)
	d.begin(e, c)
	if d.rec.Injected && !d.refused {
		return
	}
	if x := d.early[e.PID]; x != nil && c.Op != trace.OpExec {
		delete(d.early, e.PID)
		e.merge(x)
	}
	if c.Op == trace.OpExec {
		d.execExit(e, c)
		if !mine && d.execOK(e, d.rec.OK()) {
			mine = true
		}
	} else if mine {
		d.arguments(e, c)
	}
	if !mine {
		return
	}
	d.finish(e, c)
	d.file(e)
	d.send()
	for i := range d.peers {
		d.rec.Addr = &d.peers[i]
		d.send()
	}
}

// file tells of a program that runs from now on, or of a file that was opened.
func (d *decoder) file(e *event) {
	switch {
	case d.files == nil || !d.rec.OK():
	case d.rec.Op == trace.OpExec:
		d.files(int(e.TGID), "")
	case d.rec.Op == trace.OpOpen && d.rec.Real:
		d.files(int(e.TGID), d.rec.Path)
	}
}

// execExit fills an exec's record from what its enter has kept: at the exit the
// arguments are gone, or another thread has rewritten them.
func (d *decoder) execExit(e *event, c *trace.Call) {
	x := d.execs[e.PID]
	delete(d.execs, e.PID)
	if x == nil {
		x = d.orphan(e)
	}
	d.running(e, x)
	if e.Ret < 0 && (x == nil || e.Flags&flagLate != 0) {
		d.arguments(e, c)
		d.rec.Argv = wordsOf(e)
	}
	unseen := x == nil && (e.Ret >= 0 || e.Flags&flagNoEnter == 0) || x != nil && x.below && c.Name == "execveat"
	if unseen && d.started && d.whose(e.TGID) != ours {
		d.lose(1, "an exec's arguments were not seen")
	}
	if x == nil {
		return
	}
	if d.rec.Argv == nil {
		d.rec.Argv = x.argv
	}
	if d.rec.Path == "" {
		d.rec.Path, d.rec.Given, d.rec.Flags, d.rec.FD, d.rec.Real = x.path, x.given, x.flags, x.fd, x.real
	}
}

// running fills in where an exec was called, and what runs from then on.
func (d *decoder) running(e *event, x *execArgs) {
	if b, ok := e.find(blobCwd); ok {
		d.rec.Cwd = e.path(b)
	}
	if b, ok := e.find(blobExe); ok && d.rec.OK() {
		d.rec.Exe, d.rec.Script = e.path(b), e.Flags&flagScript != 0 || x != nil && x.script
	}
}

// orphan finds the exec of a thread that has taken its leader's number and failed
// after it: nothing tells of that.
func (d *decoder) orphan(e *event) *execArgs {
	if e.Ret >= 0 || e.PID != e.TGID {
		return nil
	}
	for pid, x := range d.execs {
		if x.tgid == e.TGID {
			delete(d.execs, pid)
			return x
		}
	}
	return nil
}

// finish does what concerns more than one argument.
func (d *decoder) finish(e *event, c *trace.Call) {
	switch {
	case c.Forks:
		if d.rec.OK() && d.rec.Ret > 0 {
			// A fork whose enter was not seen is known by the birth alone.
			d.rec.Child = int(cmp.Or(e.Child, d.newest[e.PID]))
			if d.rec.Child == 0 {
				d.lose(1, "a new task was not seen to start")
			}
		}
		if c.Name == "clone" {
			d.rec.Flags = cloneText(e.Args[0])
		}
	case c.Name == "creat":
		d.rec.Flags = "O_WRONLY|O_CREAT|O_TRUNC"
	}
	if c.Opens && d.rec.OK() {
		d.rec.FD = int(int32(d.rec.Ret))
		if b, ok := e.find(blobResult); ok {
			given := d.rec.Given
			if given == "" {
				given = d.rec.Path
			}
			d.rec.Path, d.rec.Real, d.rec.Given = e.path(b), true, ""
			if given != d.rec.Path {
				d.rec.Given = given
			}
		}
	}
}
