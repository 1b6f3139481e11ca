package reassembly

import (
	"maps"
	"time"
)

const (
	// maxStreams bounds the streams that are followed at a time.
	maxStreams = 8192
	// idle is how long a stream without a process may stay unused.
	idle = 10 * time.Minute
	// maxBuffered bounds the bytes of unfinished messages of all streams.
	maxBuffered = 256 << 20
)

// Options say what an Engine does with what it finds. Nil functions are not called.
type Options struct {
	// Known completes what the kernel tells of a process. It is called once for each.
	Known func(p *Process)
	// Holder finds who holds the other end of a stream, of a process that was not seen: its
	// reader if reads is true. It returns nil for nobody.
	Holder func(k Key, known int, reads bool) *Process
	// Verdict hears of streams that are not MCP.
	Verdict func(Key, Verdict)
	// Alive reports whether a process is still there.
	Alive func(pid int) bool
	// Emit takes each message in the order in which they were written.
	Emit func(*Message)
	// Ended is told that nothing more comes of a conversation.
	Ended func(*Conversation)
}

// Engine makes messages of chunks. One goroutine uses it.
type Engine struct {
	opts    Options
	order   order
	streams map[Key]*stream
	links   map[Key]*link // of HTTP, by the key of its requests
	convs   map[string]*Conversation
	procs   map[procKey]*Process
	now     time.Duration
	latest  time.Duration // of the chunks that were taken
	looked  time.Duration
	count   int
	closing bool
	// buffered counts the bytes of unfinished messages of all streams.
	buffered int

	// Lost counts the bytes of followed streams that are missing, Unplaced those of them
	// that belong to no conversation.
	Lost, Unplaced int64
	// Cut counts the messages that were too long, so that their beginning alone was handed on.
	Cut int64
}

type procKey struct {
	pid  int
	comm string
}

// New returns an Engine.
func New(o Options) *Engine {
	if o.Known == nil {
		o.Known = func(*Process) {}
	}
	if o.Holder == nil {
		o.Holder = func(Key, int, bool) *Process { return nil }
	}
	if o.Verdict == nil {
		o.Verdict = func(Key, Verdict) {}
	}
	if o.Alive == nil {
		o.Alive = func(int) bool { return true }
	}
	if o.Emit == nil {
		o.Emit = func(*Message) {}
	}
	if o.Ended == nil {
		o.Ended = func(*Conversation) {}
	}
	return &Engine{opts: o, streams: map[Key]*stream{}, links: map[Key]*link{}, convs: map[string]*Conversation{}, procs: map[procKey]*Process{}}
}

// Take takes a chunk, which the Engine keeps.
func (e *Engine) Take(c *Chunk) {
	c.Process = *e.known(c.Process) // it may have ended when the chunk's turn comes
	e.latest = max(e.latest, c.Time)
	e.order.add(c)
}

// Advance hands on what nothing older can come before any more. now is the time of the
// clock by which chunks are stamped. drained says that no chunk of an earlier time waits
// to be taken: where some do, time stands where the last one was taken.
func (e *Engine) Advance(now time.Duration, drained bool) {
	if !drained {
		now = e.latest
	}
	now = max(now, e.now)
	e.now = now
	for c := e.order.next(now); c != nil; c = e.order.next(now) {
		e.chunk(c)
	}
	for _, s := range e.streams {
		s.tick(now)
	}
	for _, l := range e.links {
		l.tick(now)
	}
	if drained && now-e.looked >= time.Second {
		e.looked = now
		e.tidy()
	}
}

// Close hands on all that is left.
func (e *Engine) Close() {
	for c := e.order.next(1 << 62); c != nil; c = e.order.next(1 << 62) {
		e.chunk(c)
	}
	e.closing = true // nobody else will be met
	for _, s := range e.streams {
		s.gapHeld()
		s.end(e.now)
		s.flush(e.now)
	}
	for _, l := range e.links {
		l.close()
	}
	for key, c := range e.convs {
		delete(e.convs, key)
		e.end(c)
	}
}

func (e *Engine) chunk(c *Chunk) {
	if c.Key.Kind == Unix {
		e.dropReplaced(c)
	}
	s := e.streams[c.Key]
	if s == nil {
		if !c.Start || len(e.streams) >= maxStreams {
			e.Lost += int64(len(c.Data))
			e.Unplaced += int64(len(c.Data))
			return
		}
		s = &stream{e: e, sockets: sockets{key: c.Key}, writerFD: -1, readerFD: -1}
		e.streams[c.Key] = s
	}
	s.take(c, max(e.now, c.Time))
}

// dropReplaced ends what was said over sockets that are gone, where the kernel has put others in their places:
// those of a chunk.
func (e *Engine) dropReplaced(c *Chunk) {
	by := sockets{key: c.Key}
	if c.byReader() {
		by.readerInode = c.Inode
	} else {
		by.writerInode = c.Inode
	}
	for _, k := range []Key{c.Key, c.Key.Back()} {
		if s := e.streams[k]; s != nil && s.isReplaced(by) {
			e.drop(s)
		}
	}
}

// drop ends a stream, and its conversation with all its streams.
func (e *Engine) drop(s *stream) {
	e.finish(s)
	if s.conv == nil {
		return
	}
	for _, other := range e.streams {
		if other.conv == s.conv {
			e.finish(other)
		}
	}
	e.forget(s.conv)
}

// forget ends a conversation, under all its names.
func (e *Engine) forget(c *Conversation) {
	maps.DeleteFunc(e.convs, func(_ string, other *Conversation) bool { return other == c })
	e.end(c)
}

// finish hands on what is left of a stream, and forgets it.
func (e *Engine) finish(s *stream) {
	s.gapHeld()
	s.end(e.now)
	was := e.closing
	e.closing = true // nobody else will be met
	s.flush(e.now)
	e.closing = was
	s.whole()
	delete(e.streams, s.key)
}

// known is a process as it was looked up at first. A program that executes another is
// looked up again.
func (e *Engine) known(p Process) *Process {
	k := procKey{p.PID, p.Comm}
	if at := e.procs[k]; at != nil {
		return at
	}
	e.opts.Known(&p)
	e.procs[k] = &p
	return &p
}

func (e *Engine) holder(s *stream, known *Process, reads bool) *Process {
	if p := e.opts.Holder(s.key, known.PID, reads); p != nil {
		return e.known(*p)
	}
	return &Process{}
}

// lose counts bytes that are missing.
func (e *Engine) lose(s *stream, n int64) {
	e.Lost += n
	if s.conv != nil {
		s.conv.Lost += n
	} else {
		e.Unplaced += n
	}
}

// emit hands on a message.
func (e *Engine) emit(c *Conversation, m *Message) {
	if c.ended {
		return
	}
	m.Conversation = c
	if c.Client == nil {
		c.meet(m)
	}
	if m.HTTP == nil {
		m.Dir = c.direction(m)
	}
	if m.Cut {
		e.Cut++
	}
	c.Messages++
	c.Last = m.At
	e.opts.Emit(m)
}

// tidy forgets what is over: streams and conversations of processes that have ended.
func (e *Engine) tidy() {
	gone := map[int]bool{}
	dead := func(p *Process) bool {
		if p == nil || p.PID == 0 {
			return false
		}
		is, ok := gone[p.PID]
		if !ok {
			is = !e.opts.Alive(p.PID)
			gone[p.PID] = is
		}
		return is
	}
	for _, s := range e.streams {
		quiet := e.now - s.used
		if quiet > time.Second && (dead(s.writer) || dead(s.reader)) && e.order.Len() == 0 || quiet > idle && s.web != nil {
			e.finish(s)
		}
	}
	for key, l := range e.links {
		if e.streams[key] == nil && e.streams[key.Back()] == nil {
			l.close()
			delete(e.links, key)
		}
	}
	for key, c := range e.convs {
		if e.now-c.Last > 2*time.Second && (dead(c.Server) || c.Transport.stdio() && dead(c.Client)) {
			delete(e.convs, key)
			e.end(c)
		}
	}
	e.crowd()
	if len(e.procs) > 4*maxStreams {
		clear(e.procs)
	}
}

// crowd ends the conversations that were quiet longest, where there are too many.
func (e *Engine) crowd() {
	if len(e.convs) <= maxStreams {
		return
	}
	for key, c := range e.convs {
		if e.now-c.Last > idle {
			delete(e.convs, key)
			e.end(c)
		}
	}
}

func (e *Engine) end(c *Conversation) {
	if !c.ended {
		c.ended = true
		e.opts.Ended(c)
	}
}
