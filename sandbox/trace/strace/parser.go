package strace

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// What the second argument of a parser's bad function wraps.
var (
	// ErrSyntax: the line is not one of strace's as the parser knows them.
	ErrSyntax = errors.New("line not understood")
	// ErrTooLong: the line was longer than maxLine and was dropped.
	ErrTooLong = errors.New("line too long")
	// ErrTooMany: more calls were under way than the parser keeps.
	ErrTooMany = errors.New("too many calls under way")
	// ErrSwallowed: strace took a call of a new program for its exec's end.
	ErrSwallowed = errors.New("the call after a thread's exec was not recorded")
	// ErrUntraced: a task was made that strace does not follow.
	ErrUntraced = errors.New("a task was made outside the tracer's sight")
	// ErrFiltered: the target installed a filter that can deny calls unseen.
	ErrFiltered = errors.New("the target filters its own calls")
	// ErrDetached: strace let a task go.
	ErrDetached = errors.New("the tracer let a task go")
)

// The parser's bounds. They hold whatever the log says; an honest one stays far below.
const (
	maxLine     = 6 << 20  // stringLimit² escaped bytes fit
	maxTasks    = 1 << 16  // tasks whose directory or unfinished call is kept
	maxPending  = 1 << 13  // unfinished calls
	maxHeld     = 16 << 20 // bytes of unfinished calls
	maxBadLine  = 512      // bytes of a line that bad is shown
	maxArgs     = 12       // arguments of a call that are looked at
	maxArgv     = 256      // words of Argv
	maxArgvSize = 32 << 10 // bytes of Argv
	maxPath     = 16 << 10 // bytes of a path
	keepLine    = 64 << 10 // capacity of a line buffer that is kept for the next
)

// Parser reads strace's log, as Args has it written, in pieces of any size.
// It is not safe for concurrent use.
type Parser struct {
	offset time.Duration
	emit   func(*trace.Record)
	bad    func(line []byte, err error)

	line []byte // the beginning of a line whose end has not come
	long bool   // the line is being dropped for its length
	seq  uint64
	lost uint64

	tasks   map[int]*task
	last    *task // the task of the line before, most often this line's too
	home    string
	pending int
	held    int
	forking []*task  // tasks within an unfinished fork
	free    [][]byte // buffers for unfinished calls

	rec     trace.Record
	addr    trace.Addr
	argv    []string
	args    [maxArgs][]byte
	nargs   int
	passed  []string
	peers   []trace.Addr // further peers of a sendmmsg
	result  result
	fs      *directory // of the call being decoded
	scratch []byte
	joined  []byte
	strings interner
}

// task is what has to be remembered of a running task.
type task struct {
	tid  int
	fs   *directory
	text []byte // the unfinished call, from its name on
	call []byte // its name, a part of text
	time time.Duration
}

// directory is a task's root and working directory, shared by CLONE_FS.
type directory struct{ cwd, root string }

// NewParser makes a parser. realtimeOffset is CLOCK_REALTIME minus the run's clock.
//
// emit gets each record in the order in which calls ended. The record, its Argv,
// its Passed and its Addr are valid during the call only; the strings in them may be kept. As a
// child often runs before its parent's fork has returned, a child's first records may come
// before the record that names it as Child; the Time of that one is earlier.
//
// bad gets each line that was not understood, and each that shows that
// something else was not recorded; the line is cut at 512 bytes, valid during
// the call, and the error wraps one of this package's. Each such call is a loss.
func NewParser(realtimeOffset time.Duration, emit func(*trace.Record), bad func(line []byte, err error)) *Parser {
	return &Parser{offset: realtimeOffset, emit: emit, bad: bad, tasks: make(map[int]*task)}
}

// SetDir says in which directory the first task starts, so that the relative
// paths of its first calls can be resolved. strace tells soon after, in any case.
func (p *Parser) SetDir(dir string) { p.home = dir }

// Lost is how many times bad was called.
func (p *Parser) Lost() uint64 { return p.lost }

// Write takes the next bytes of the log. It never fails.
func (p *Parser) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			p.hold(b)
			break
		}
		if len(p.line) == 0 && !p.long {
			p.take(b[:end])
		} else {
			p.hold(b[:end])
			if !p.long {
				p.take(p.line)
			}
			p.drop()
		}
		b = b[end+1:]
	}
	return n, nil
}

// hold keeps the beginning of a line.
func (p *Parser) hold(b []byte) {
	if p.long {
		return
	}
	if len(p.line)+len(b) > maxLine {
		p.line = append(p.line, b[:min(len(b), maxBadLine)]...)
		p.fail(p.line, ErrTooLong)
		p.drop()
		p.long = true
		return
	}
	p.line = append(p.line, b...)
}

// drop forgets the held line.
func (p *Parser) drop() {
	p.long = false
	p.line = p.line[:0]
	if cap(p.line) > keepLine {
		p.line = nil
	}
}

// take parses one whole line, unless it is too long.
func (p *Parser) take(line []byte) {
	if len(line) > maxLine {
		p.fail(line, ErrTooLong)
		return
	}
	if err := p.parse(line); err != nil {
		p.fail(line, err)
	}
	if cap(p.scratch) > keepLine {
		p.scratch = nil
	}
	if cap(p.joined) > keepLine {
		p.joined = nil
	}
}

func (p *Parser) fail(line []byte, err error) {
	p.lost++
	if p.bad != nil {
		p.bad(line[:min(len(line), maxBadLine)], err)
	}
}

// Close ends the log: a line without its end is lost, calls that never returned are
// emitted as Unfinished in the order in which they were entered.
func (p *Parser) Close() error {
	if len(p.line) > 0 {
		p.fail(p.line, fmt.Errorf("the log ends within a line: %w", ErrSyntax))
	}
	p.drop()
	var open []*task
	for _, t := range p.tasks {
		if t.text != nil {
			open = append(open, t)
		}
	}
	slices.SortFunc(open, func(a, b *task) int {
		if a.time != b.time {
			return int(min(max(a.time-b.time, -1), 1))
		}
		return a.tid - b.tid
	})
	for _, t := range open {
		p.abandon(t)
	}
	clear(p.tasks)
	p.last = nil
	return nil
}

// task finds a task, making it if there is room. It returns nil if there is none.
func (p *Parser) task(tid int) *task {
	if p.last != nil && p.last.tid == tid {
		return p.last
	}
	t := p.tasks[tid]
	if t == nil {
		if len(p.tasks) >= maxTasks {
			return nil
		}
		t = &task{tid: tid, fs: &directory{}}
		switch {
		case len(p.tasks) == 0:
			t.fs.cwd = p.home
		case len(p.forking) == 1:
			// The child of the only fork under way.
			from := p.forking[0]
			if bytes.Contains(from.text, []byte("CLONE_FS")) {
				t.fs = from.fs
			} else {
				*t.fs = *from.fs
			}
		}
		p.tasks[tid] = t
	}
	p.last = t
	return t
}

// addTask gives a new task its parent's directory.
func (p *Parser) addTask(parent *task, tid int, shared bool) {
	t := p.tasks[tid]
	if t == nil {
		if len(p.tasks) >= maxTasks {
			return
		}
		t = &task{tid: tid}
		p.tasks[tid] = t
	}
	switch {
	case shared:
		t.fs = parent.fs
	case t.fs == nil:
		t.fs = &directory{cwd: parent.fs.cwd, root: parent.fs.root}
	case t.fs.cwd == "":
		*t.fs = *parent.fs
	}
}

// suspend keeps an unfinished call until its end comes.
func (p *Parser) suspend(t *task, stamp time.Duration, text []byte) error {
	if t.text != nil {
		p.abandon(t)
	}
	if p.pending >= maxPending || p.held+len(text) > maxHeld {
		return ErrTooMany
	}
	var buf []byte
	if n := len(p.free); n > 0 {
		buf, p.free = p.free[n-1], p.free[:n-1]
	}
	buf = append(buf[:0], text...)
	t.text = buf
	t.call = t.text[:max(bytes.IndexByte(t.text, '('), 0)]
	t.time = stamp
	p.pending++
	p.held += len(text)
	if c := calls[string(t.call)]; c != nil && c.Forks {
		p.forking = append(p.forking, t)
	}
	return nil
}

// release forgets a task's unfinished call. The returned text is valid until
// the next suspend.
func (p *Parser) release(t *task) []byte {
	text := t.text
	t.text, t.call = nil, nil
	p.pending--
	p.held -= len(text)
	if i := slices.Index(p.forking, t); i >= 0 {
		p.forking = slices.Delete(p.forking, i, i+1)
	}
	if cap(text) <= 4<<10 && len(p.free) < 256 {
		p.free = append(p.free, text)
	}
	return text
}

// abandon emits a task's unfinished call as one that never returned.
func (p *Parser) abandon(t *task) {
	stamp := t.time
	text := p.release(t)
	if err := p.syscall(t, t.tid, stamp, text, false); err != nil {
		p.fail(text, err)
	}
}
