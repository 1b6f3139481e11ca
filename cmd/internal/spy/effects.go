package spy

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/spy"
	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const (
	// hold is how long a system call waits for the messages that crossed before it: a
	// message is handed on only once nothing older can come.
	hold = 300 * time.Millisecond
	// followEvery is how often the tracer is asked how far it is.
	followEvery = 50 * time.Millisecond
	// forever is a moment behind all others.
	forever time.Duration = 1 << 62
	// maxHeld bounds what waits.
	maxHeld = 1 << 16
	// trial is how long a process is watched that has not turned out to be a server.
	trial = 5 * time.Second
	// pause is how often a server is judged at most.
	pause = 500 * time.Millisecond
	// maxServers bounds the servers that are judged at a time.
	maxServers = 256
	// maxProcesses bounds the processes of which it is known whose they are.
	maxProcesses = 1 << 16
)

// tracer tells of the system calls of processes, as bpf.Tracer does.
type tracer interface {
	Watch(pid int) error
	Unwatch(pid int)
}

// effects is what the servers do beside talking. All but record and lose are called from
// the watch's goroutine.
type effects struct {
	w      *watch
	tracer tracer
	// family is a process and what it has started, and parent who started it, 0 for unknown.
	family func(pid int) []int
	parent func(pid int) int
	alive  func(pid int) bool

	mu   sync.Mutex
	came []happened
	lost map[string]uint64
	// reached is the moment, of the clock, up to which the tracer has told of everything.
	reached atomic.Int64

	held    held
	tried   map[int]time.Duration // processes since when they were watched
	servers map[int]*observed
	owners  map[int]int // the server to which a process belongs, 0 for none
	places  map[string][]canaries.Canary
	swept   time.Duration
	seq     uint64
}

// happened is a system call, or a message of a server's.
type happened struct {
	at     time.Duration
	seq    uint64
	pid    int
	record *trace.Record
	cross  *crossing
}

// crossing is a message with the calls that it begins and ends.
type crossing struct {
	server       *observed
	conversation int
	dir          session.Dir
	raw          []byte
	records      []*record
}

func newEffects(w *watch, t tracer) *effects {
	return &effects{
		w: w, tracer: t, family: func(pid int) []int { return spy.WithChildren([]int{pid}) },
		parent: spy.Parent, alive: spy.Alive,
		lost: map[string]uint64{}, tried: map[int]time.Duration{}, servers: map[int]*observed{}, owners: map[int]int{}, places: map[string][]canaries.Canary{},
	}
}

// record takes a system call from the tracer, which keeps it.
func (e *effects) record(pid int, r *trace.Record) {
	c := *r
	if r.Addr != nil {
		a := *r.Addr
		c.Addr = &a
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.came) >= maxHeld {
		e.lost["system calls found no room in coalmine"]++
		return
	}
	e.came = append(e.came, happened{at: r.Time, pid: pid, record: &c})
}

// lose takes the tracer's own losses.
func (e *effects) lose(n uint64, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost[why] += n
}

// drainer tells when it has told of all that happened before, as bpf.Tracer does.
type drainer interface {
	Drain(ctx context.Context) error
}

// following runs follow beside the watch. end ends it and waits for that: what it notes after finish would have the last
// effects wait for ever.
func (e *effects) following(ctx context.Context, t drainer) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.follow(ctx, t)
	}()
	return func() {
		cancel()
		<-done
	}
}

// follow notes how far the tracer is, until the context ends: on a busy machine it tells of a system
// call long after the messages that crossed behind it.
func (e *effects) follow(ctx context.Context, t drainer) {
	for ctx.Err() == nil {
		at := trace.Clock()
		if t.Drain(ctx) == nil {
			e.reached.Store(int64(at))
		}
		select {
		case <-ctx.Done():
		case <-time.After(followEvery):
		}
	}
}

// try watches a process that speaks, and what it has started, until it is known who is a
// server: what a server does before its first message is understood would be missed.
func (e *effects) try(pid int) {
	if _, known := e.tried[pid]; known || pid <= 1 {
		return
	}
	for _, p := range e.family(pid) {
		if _, known := e.tried[p]; !known {
			e.tried[p] = trace.Clock()
			e.watch(p)
		}
	}
}

func (e *effects) watch(pid int) {
	if err := e.tracer.Watch(pid); err != nil {
		e.lose(1, "processes that could not be watched")
	}
}

// message takes a message that was printed, with its records.
func (e *effects) message(m *reassembly.Message, records []*record) {
	s := e.meet(m.Conversation.Server)
	if s == nil {
		return
	}
	e.push(happened{at: m.At, cross: &crossing{server: s, conversation: m.Conversation.ID, dir: m.Dir, raw: bytes.Clone(m.Raw), records: records}})
}

// meet finds a server, or begins to watch one.
func (e *effects) meet(p *reassembly.Process) *observed {
	if p == nil || p.PID <= 1 {
		return nil
	}
	if s := e.servers[p.PID]; s != nil {
		return s
	}
	if len(e.servers) >= maxServers {
		e.lose(1, "messages of servers that found no room")
		return nil
	}
	tree := e.family(p.PID)
	for _, pid := range tree {
		e.watch(pid)
	}
	s := e.observe(p, tree)
	e.servers[p.PID] = s
	maps.DeleteFunc(e.owners, func(_, owner int) bool { return owner == 0 })
	for _, pid := range tree {
		e.owners[pid] = p.PID
	}
	return s
}

func (e *effects) push(h happened) {
	if len(e.held) >= 2*maxHeld {
		e.lose(1, "system calls and messages found no room in coalmine")
		return
	}
	e.seq++
	h.seq = e.seq
	heap.Push(&e.held, h)
}

// advance handles what nothing older can come before any more. All messages up to now, a time of
// the clock by which all is stamped, are at hand.
func (e *effects) advance(now time.Duration) {
	upTo := min(now, time.Duration(e.reached.Load()))
	e.mu.Lock()
	came := e.came
	e.came = nil
	e.mu.Unlock()
	for _, h := range came {
		e.push(h)
	}
	for len(e.held) > 0 && e.held[0].at+hold <= upTo {
		e.handle(heap.Pop(&e.held).(happened))
	}
	for _, s := range e.servers {
		if s.dirty && now-s.judged >= pause {
			s.judged = now
			e.report(s)
		}
	}
	if now-e.swept >= time.Second {
		e.swept = now
		e.sweep(now)
	}
}

// finish handles all that is left. Nobody follows the tracer any more.
func (e *effects) finish() {
	e.reached.Store(int64(forever))
	e.advance(forever)
	for _, s := range e.servers {
		e.report(s)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.Copy(e.w.result.Kernel, e.lost)
}

func (e *effects) handle(h happened) {
	if h.cross != nil {
		h.cross.server.cross(h.cross, h.at)
		return
	}
	r := h.record
	owner := e.ownerOf(h.pid)
	switch {
	case r.Op == trace.OpFork && r.OK() && r.Child > 0 && !strings.Contains(r.Flags, "CLONE_THREAD"):
		e.own(r.Child, owner)
	case r.Op == trace.OpExit && r.Tid == h.pid:
		delete(e.owners, h.pid)
	}
	if s := e.servers[owner]; s != nil {
		s.did(r)
	} else if e.tried[h.pid] == 0 {
		e.tracer.Unwatch(h.pid) // who has been tried, or was started by one who was
	}
}

// ownerOf is the server to which a process belongs: itself, or the next one of those that
// started it. 0 is for none.
func (e *effects) ownerOf(pid int) int {
	var way []int
	owner := 0
	for at := pid; at > 1 && len(way) < 64; at = e.parent(at) {
		if e.servers[at] != nil {
			owner = at
			break
		}
		if known, ok := e.owners[at]; ok {
			owner = known
			break
		}
		way = append(way, at)
	}
	for _, at := range way {
		e.own(at, owner)
	}
	return owner
}

func (e *effects) own(pid, owner int) {
	if len(e.owners) < maxProcesses {
		e.owners[pid] = owner
	}
}

// sweep ends the watch of who is no server, and forgets servers that have ended.
func (e *effects) sweep(now time.Duration) {
	for pid, since := range e.tried {
		if since > 0 && now-since > trial {
			e.tried[pid] = 0 // it was tried
			if e.ownerOf(pid) == 0 {
				e.tracer.Unwatch(pid)
			}
		}
	}
	if len(e.tried) > maxProcesses {
		clear(e.tried)
	}
	if len(e.owners) >= maxProcesses {
		clear(e.owners)
	}
	for pid, s := range e.servers {
		if now-s.last > trial && !e.alive(pid) {
			e.report(s)
			delete(e.servers, pid)
			delete(e.tried, pid)
		}
	}
}

// calls are the methods that run something of a server's, by what is called.
var calls = map[string]string{wire.MethodCall: "tool", "resources/read": "resource", "prompts/get": "prompt"}

// named is what a call is of.
func (r *record) named() string {
	var p struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
	}
	_ = json.Unmarshal(r.Params, &p) // a call of nothing that has a name
	if p.Name == "" {
		return p.URI
	}
	return p.Name
}

// key tells the requests of a server's conversations apart.
func (c *crossing) key(id json.RawMessage) string { return fmt.Sprintf("%d %s", c.conversation, id) }

// held orders by time; what happened at one time stays as it came.
type held []happened

// Len implements heap.Interface.
func (h held) Len() int { return len(h) }

// Less implements heap.Interface.
func (h held) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}

// Swap implements heap.Interface.
func (h held) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *held) Push(x any) { *h = append(*h, x.(happened)) }

// Pop implements heap.Interface.
func (h *held) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = happened{}
	*h = (*h)[:len(*h)-1]
	return last
}
