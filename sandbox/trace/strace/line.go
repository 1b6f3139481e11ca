package strace

import (
	"bytes"
	"fmt"
	"runtime"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// result is what stands behind a call's arguments.
type result struct {
	value int64
	errno []byte // "ENOENT"
	code  uint64 // an errno without a name
	note  []byte // the annotation of a returned descriptor, still escaped
	noted bool
	pid   int64 // the returned task in strace's pid namespace, 0 if not told
	// none: the call did not return.
	none     bool
	injected bool
}

var (
	unfinished = []byte(" <unfinished ...>")
	detached   = []byte(" <detached ...>")
	renumbered = []byte(" <pid changed to ")
	ellipsis   = []byte(" ...>")
	resumed    = []byte("<... ")
	resumedEnd = []byte(" resumed>")
	superseded = []byte("superseded by execve in pid ")
)

// parse handles one line: "TID SECONDS.NANOSECONDS WHAT".
func (p *Parser) parse(line []byte) error {
	tid, n := number(line)
	if n == 0 || tid <= 0 || tid > 1<<30 {
		return fmt.Errorf("no task: %w", ErrSyntax)
	}
	b := line[n:]
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	stamp, b, ok := p.clock(b)
	if !ok {
		return fmt.Errorf("no time: %w", ErrSyntax)
	}
	switch {
	case bytes.HasPrefix(b, []byte("+++ ")):
		return p.exit(int(tid), stamp, b[4:])
	case bytes.HasPrefix(b, []byte("--- ")):
		return p.signal(int(tid), stamp, b[4:])
	case bytes.HasPrefix(b, []byte("[ ")):
		// The task changed between 32 and 64 bits: its calls say so themselves.
		return nil
	case bytes.HasPrefix(b, resumed):
		return p.resume(int(tid), b[len(resumed):])
	}
	t := p.task(int(tid))
	if t != nil && t.text != nil {
		// The rest of that call will never come.
		p.abandon(t)
	}
	switch {
	case bytes.HasSuffix(b, unfinished):
		if t == nil {
			return ErrTooMany
		}
		return p.suspend(t, stamp, b[:len(b)-len(unfinished)])
	case bytes.HasSuffix(b, ellipsis) && bytes.LastIndex(b, renumbered) > 0:
		// A thread's exec: its leader's number resumes it, after "superseded".
		if t == nil {
			return ErrTooMany
		}
		return p.suspend(t, stamp, b[:bytes.LastIndex(b, renumbered)])
	case bytes.HasSuffix(b, detached):
		return ErrDetached
	}
	return p.syscall(t, int(tid), stamp, b, true)
}

// clock reads a time stamp of six to nine decimals and the space behind it.
func (p *Parser) clock(b []byte) (time.Duration, []byte, bool) {
	sec, n := number(b)
	if n == 0 || n > 12 || sec < 0 || sec > 1<<33 || n == len(b) || b[n] != '.' {
		return 0, nil, false
	}
	b = b[n+1:]
	frac, digits := int64(0), 0
	for digits < len(b) && digits < 9 && b[digits] >= '0' && b[digits] <= '9' {
		frac = frac*10 + int64(b[digits]-'0')
		digits++
	}
	if digits == 0 || digits == len(b) || b[digits] != ' ' {
		return 0, nil, false
	}
	for i := digits; i < 9; i++ {
		frac *= 10
	}
	return time.Duration(sec*int64(time.Second)+frac) - p.offset, b[digits+1:], true
}

// exit handles what stands behind "+++ ": the end of a task.
func (p *Parser) exit(tid int, stamp time.Duration, b []byte) error {
	r := trace.Record{Time: stamp, Tid: tid, Call: "exit", Op: trace.OpExit, FD: -1}
	switch {
	case bytes.HasPrefix(b, []byte("exited with ")):
		v, n := number(b[12:])
		if n == 0 {
			return fmt.Errorf("no exit status: %w", ErrSyntax)
		}
		r.Ret = v
	case bytes.HasPrefix(b, []byte("killed by ")):
		r.Ret = -1
		r.Err = p.strings.get(cut(b[10:], ' ', ' '))
	case bytes.HasPrefix(b, superseded):
		v, n := number(b[len(superseded):])
		if n == 0 || v <= 0 || v > 1<<30 {
			return fmt.Errorf("no task: %w", ErrSyntax)
		}
		return p.supersede(tid, int(v), stamp)
	default:
		return fmt.Errorf("unknown end of a task: %w", ErrSyntax)
	}
	p.end(r)
	return nil
}

// end emits a task's end, and before it the call in which the task ended.
func (p *Parser) end(r trace.Record) {
	if t := p.tasks[r.Tid]; t != nil {
		if t.text != nil {
			p.abandon(t)
		}
		delete(p.tasks, r.Tid)
		if p.last == t {
			p.last = nil
		}
	}
	p.rec = r
	p.send()
}

// supersede handles a thread's execve: the thread takes its leader's number, and its
// own is gone.
func (p *Parser) supersede(leader, thread int, stamp time.Duration) error {
	from, to := p.tasks[thread], p.task(leader)
	if from != nil && to != nil {
		if to.text != nil {
			p.abandon(to)
		}
		to.fs = from.fs
		to.text, to.call, to.time = from.text, from.call, from.time
		from.text, from.call = nil, nil
	}
	p.end(trace.Record{Time: stamp, Tid: thread, Call: "exit", Op: trace.OpExit, FD: -1})
	return nil
}

// signal handles what stands behind "--- ".
func (p *Parser) signal(tid int, stamp time.Duration, b []byte) error {
	if bytes.HasPrefix(b, []byte("stopped by ")) {
		return nil
	}
	name := cut(b, ' ', ' ')
	if len(name) < 4 || !bytes.HasPrefix(name, []byte("SIG")) || !bytes.HasSuffix(b, []byte(" ---")) {
		return fmt.Errorf("unknown signal: %w", ErrSyntax)
	}
	p.rec = trace.Record{Time: stamp, Tid: tid, Call: "signal", Op: trace.OpOther, FD: -1, Flags: p.strings.get(name)}
	p.send()
	return nil
}

// resume handles what stands behind "<... ": the rest of an unfinished call.
func (p *Parser) resume(tid int, b []byte) error {
	end := bytes.Index(b, resumedEnd)
	if end < 0 {
		return fmt.Errorf("nothing is resumed: %w", ErrSyntax)
	}
	t := p.tasks[tid]
	if t == nil || t.text == nil || !bytes.Equal(t.call, b[:end]) {
		return fmt.Errorf("the resumed call had not begun: %w", ErrSyntax)
	}
	b = b[end+len(resumedEnd):]
	if bytes.HasSuffix(b, detached) {
		p.abandon(t)
		return ErrDetached
	}
	stamp := t.time
	p.joined = append(append(p.joined[:0], p.release(t)...), b...)
	return p.syscall(t, tid, stamp, p.joined, true)
}

// syscall handles "name(arguments) = result". whole is false for a call that
// never returned, of which only a beginning is there.
func (p *Parser) syscall(t *task, tid int, stamp time.Duration, b []byte, whole bool) error {
	open := bytes.IndexByte(b, '(')
	if open <= 0 || open > 64 {
		return fmt.Errorf("no call: %w", ErrSyntax)
	}
	name := b[:open]
	rest, err := p.split(b[open+1:], whole)
	if err != nil {
		return err
	}
	p.result = result{none: true}
	if whole {
		if err = p.parseResult(rest); err != nil {
			return err
		}
	}
	c, known := calls[string(name)]
	if known && c == nil {
		return nil
	}
	p.rec = trace.Record{Time: stamp, Tid: tid, Op: trace.OpOther, FD: -1}
	p.rec.Injected = p.result.injected
	p.rec.Unfinished = p.result.none
	p.rec.Ret = p.result.value
	switch {
	case p.result.none:
		p.rec.Ret = -1
	case len(p.result.errno) > 0:
		p.rec.Ret = -1
		p.rec.Err = p.strings.get(p.result.errno)
	}
	if c == nil {
		p.rec.Call = p.strings.get(name)
		if n := newer[p.rec.Call]; n != "" {
			p.rec.Call, p.rec.Op = n, calls[n].Op
		}
		p.send()
		return nil
	}
	p.rec.Call, p.rec.Op = c.Name, c.Op
	return p.decode(t, c)
}

// parseResult reads " = …" into p.result.
func (p *Parser) parseResult(b []byte) error {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	if len(b) < 3 || b[0] != '=' || b[1] != ' ' {
		return fmt.Errorf("no result: %w", ErrSyntax)
	}
	b = b[2:]
	r := &p.result
	if b[0] == '?' {
		b = b[1:]
		if len(b) > 2 && b[1] == 'E' {
			r.none, r.value, r.errno = false, -1, cut(b[1:], ' ', ' ')
		}
		return nil
	}
	v, n := number(b)
	if n == 0 {
		return fmt.Errorf("no result: %w", ErrSyntax)
	}
	r.none, r.value = false, v
	b = b[n:]
	if note, rest, ok := annotation(b); ok {
		r.note, r.noted, b = note, true, rest
	}
	switch {
	case v == -1 && bytes.HasPrefix(b, []byte(" E")):
		r.errno = cut(b[1:], ' ', ' ')
	case v == -1 && bytes.HasPrefix(b, []byte(" (errno ")):
		code, _ := number(b[8:])
		r.code, r.errno = uint64(code), cut(b[2:], ')', ')')
	case bytes.HasPrefix(b, []byte(" /* ")):
		r.pid, _ = number(b[4:])
	}
	r.injected = bytes.HasSuffix(b, []byte("(INJECTED)"))
	return nil
}

// send numbers the record and hands it on.
func (p *Parser) send() {
	p.seq++
	p.rec.Seq = p.seq
	if p.emit != nil {
		p.emit(&p.rec)
	}
}

// harmless are the numbers of calls whose loss after a thread's exec is no loss.
// A 32-bit program numbers its calls otherwise; of its calls with these numbers
// only mount (21) is traced, which no ordinary user may.
var harmless = map[string]map[uint64]bool{
	"amd64": {21: true /* access */, 158: true /* arch_prctl */, 204: true /* sched_getaffinity */, 218: true /* set_tid_address */},
	"arm64": {48: true /* faccessat */, 96: true /* set_tid_address */, 123: true /* sched_getaffinity */},
}[runtime.GOARCH]

// swallowed tells the number of the call that strace took for the end of this
// exec, and mends the exec's result: as there is a next call, the exec succeeded.
func (p *Parser) swallowed() (uint64, bool) {
	var number uint64
	switch {
	case p.result.value > 0:
		number = uint64(p.result.value)
	case p.result.code > 4095:
		number = -p.result.code
	default:
		return 0, false
	}
	p.rec.Ret, p.rec.Err = 0, ""
	return number, true
}
