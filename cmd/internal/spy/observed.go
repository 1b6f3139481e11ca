package spy

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const (
	// maxJudged bounds the messages and the system calls of one judgement: then the next one
	// begins, which knows what the server declares.
	maxJudged = 20_000
	// maxOpen bounds the calls that are open, and the ones that are remembered.
	maxOpen = 1024
	// maxDeclared bounds the messages with declarations that are kept, in bytes.
	maxDeclared = 4 << 20
)

// observed is a server that is judged.
type observed struct {
	process *reassembly.Process
	name    *serverInfo
	talks   []int // its conversations
	begin   func() *analyze.Observed
	judge   *analyze.Observed
	taken   int // by judge
	seq     uint64
	calls   int
	open    map[string]*openCall
	past    []openCall
	called  bool
	// declared are the messages that declare something, to begin another judgement with.
	declared []declaration

	dirty        bool
	judged, last time.Duration
	shown        map[effectKey]bool
	told         map[string]bool // findings by fingerprint
}

// openCall is a call from its request to its answer; end is 0 while it is open.
type openCall struct {
	n, talk    int
	tool, what string
	start, end time.Duration
}

type declaration struct {
	method string
	cross  *crossing
	at     time.Duration
}

type effectKey struct {
	kind          finding.EffectKind
	target, actor string
	rung          finding.Rung
	phase         finding.Phase
	call          int
}

// observe begins to judge a server that runs, with what it has started before.
func (e *effects) observe(p *reassembly.Process, tree []int) *observed {
	header := e.header(p)
	places := e.placesBelow(header.Home)
	s := &observed{process: p, open: map[string]*openCall{}, shown: map[effectKey]bool{}, told: map[string]bool{}}
	s.begin = func() *analyze.Observed {
		o := analyze.Observe(header, places)
		running(p, tree, func(r *trace.Record) { o.Take(session.Entry{Line: session.Line{Record: r}}) })
		return o
	}
	s.renew()
	return s
}

// header says what a server is, as far as its process tells. Its environment is not read.
func (e *effects) header(p *reassembly.Process) session.Header {
	h := session.Header{Command: p.Command, User: p.User, Home: "/nonexistent"}
	if u, err := user.LookupId(strconv.Itoa(p.UID)); err == nil && filepath.IsAbs(u.HomeDir) && u.HomeDir != "/" {
		h.Home = u.HomeDir
	}
	if len(p.Command) == 0 || p.Container != "" {
		return h // a container's paths are not this machine's
	}
	exe, cwd := links(p.PID)
	dir, workspaces := sandbox.ServerDir(cwd, p.Command, func(string) (string, error) { return exe, nil })
	wide := func(d string) bool { return d == "" || d == h.Home || strings.HasPrefix(h.Home+"/", d+"/") || d == "/" }
	if !wide(dir) {
		h.ServerDir = dir
	}
	h.Workspaces = slices.DeleteFunc(workspaces, wide)
	return h
}

// links are the file that a process runs and its directory, "" for unknown.
func links(pid int) (exe, cwd string) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	exe, _ = os.Readlink(dir + "exe") // it may have ended
	cwd, _ = os.Readlink(dir + "cwd")
	return exe, cwd
}

// running tells of what runs already as of system calls: the server's program, its
// threads and the processes that it has started.
func running(p *reassembly.Process, tree []int, tell func(*trace.Record)) {
	exe, cwd := links(p.PID)
	if len(p.Command) > 0 && strings.Contains(p.Command[0], "/") {
		// The path by which it was started tells more: a virtual environment's.
		path := p.Command[0]
		if !filepath.IsAbs(path) {
			path = filepath.Join(cwd, path)
		}
		if _, err := os.Stat(path); err == nil || exe == "" {
			exe = filepath.Clean(path)
		}
	}
	tell(&trace.Record{Tid: p.PID, Call: "execve", Op: trace.OpExec, Path: exe, Argv: p.Command, Cwd: cwd, FD: -1})
	for _, pid := range tree {
		if pid != p.PID {
			tell(&trace.Record{Tid: p.PID, Call: "fork", Op: trace.OpFork, Child: pid, FD: -1})
		}
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			continue
		}
		for _, t := range tasks {
			if tid, err := strconv.Atoi(t.Name()); err == nil && tid != pid {
				tell(&trace.Record{Tid: pid, Call: "clone", Op: trace.OpFork, Flags: "CLONE_THREAD", Child: tid, FD: -1})
			}
		}
	}
}

// placesBelow are the places of secrets below a HOME.
func (e *effects) placesBelow(home string) []canaries.Canary {
	if have, ok := e.places[home]; ok {
		return have
	}
	list, err := canaries.Places(home)
	if err != nil {
		e.w.say("warning: reads of secrets are not recognised below " + home + ": " + err.Error())
	}
	e.places[home] = list
	return list
}

// did takes a system call.
func (s *observed) did(r *trace.Record) {
	s.last = max(s.last, r.Time)
	s.dirty = true
	s.take(session.Entry{Line: session.Line{Record: r}})
}

func (s *observed) take(e session.Entry) {
	s.judge.Take(e)
	s.taken++
	if s.taken >= maxJudged && len(s.open) == 0 && !s.dirty {
		s.renew()
	}
}

// renew begins another judgement: what one remembers is bounded.
func (s *observed) renew() {
	s.judge, s.taken, s.calls, s.past = s.begin(), 0, 0, nil
	clear(s.shown)
	s.mark(session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseIdle)})
	for _, d := range s.declared {
		s.frame(d.cross, d.at)
	}
}

func (s *observed) mark(m session.Mark) { s.judge.Take(session.Entry{Line: session.Line{Mark: &m}}) }

// frame hands a message on with its mark.
func (s *observed) frame(c *crossing, at time.Duration) {
	s.seq++
	f := &session.Frame{Seq: s.seq, Dir: c.dir}
	if wire.CheckJSON(c.raw) == nil {
		f.Message = c.raw
	} else {
		f.Raw = c.raw
	}
	s.take(session.Entry{Line: session.Line{Mark: &session.Mark{Kind: session.MarkFrame, Time: at, Seq: s.seq}}, Frame: f})
}

// cross takes a message. A call is open from before its request to after its answer.
func (s *observed) cross(c *crossing, at time.Duration) {
	s.last = max(s.last, at)
	if !slices.Contains(s.talks, c.conversation) && len(s.talks) < maxOpen {
		s.talks = append(s.talks, c.conversation)
	}
	for _, r := range c.records {
		if r.Server != nil {
			s.name = r.Server
		}
		if r.Type == typeRequest && c.dir == session.C2S {
			s.asked(c, r, at)
		}
	}
	s.frame(c, at)
	if len(s.open) > 1 {
		s.mark(session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseCalls), Time: at})
	}
	for _, r := range c.records {
		if r.Type == typeResponse && c.dir == session.S2C {
			s.answered(c, r, at)
		}
	}
}

// asked takes a request of the client's.
func (s *observed) asked(c *crossing, r *record, at time.Duration) {
	what := calls[r.Method]
	switch {
	case what != "":
		if len(s.open) >= maxOpen {
			return
		}
		s.calls++
		call := &openCall{n: s.calls, talk: c.conversation, tool: r.named(), what: what, start: at}
		s.open[c.key(r.ID)], s.called = call, true
		s.mark(session.Mark{Kind: session.MarkCall, Call: call.n, Tool: call.tool, What: what, Time: at})
	case len(s.open) > 0:
	case introduces(r.Method):
		s.mark(session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseHandshake), Time: at})
	case strings.HasSuffix(r.Method, "/list") && !s.called:
		s.mark(session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseList), Time: at})
	}
	s.declares(c, r.Method, at, strings.HasSuffix(r.Method, "/list") && !strings.Contains(string(r.Params), `"cursor"`))
}

// introduces reports whether a request begins a conversation.
func introduces(method string) bool {
	return method == wire.MethodInitialize || method == wire.MethodDiscover
}

// declares keeps a message if it is one of those that declare something. fresh says that
// a list begins again.
func (s *observed) declares(c *crossing, method string, at time.Duration, fresh bool) {
	if !strings.HasSuffix(method, "/list") && !introduces(method) {
		return
	}
	if fresh {
		s.declared = slices.DeleteFunc(s.declared, func(d declaration) bool { return d.method == method })
	}
	size := len(c.raw)
	for _, d := range s.declared {
		size += len(d.cross.raw)
	}
	if size <= maxDeclared {
		s.declared = append(s.declared, declaration{method, c, at})
	}
}

// answered takes an answer of the server's.
func (s *observed) answered(c *crossing, r *record, at time.Duration) {
	if r.Request != nil {
		s.declares(c, r.Request.Method, at, false)
	}
	call := s.open[c.key(r.ID)]
	if call == nil {
		return
	}
	delete(s.open, c.key(r.ID))
	call.end = at
	if s.past = append(s.past, *call); len(s.past) > maxOpen {
		s.past = s.past[len(s.past)-maxOpen/2:]
	}
	switch len(s.open) {
	case 0:
		s.mark(session.Mark{Kind: session.MarkReturn, Call: call.n, What: string(session.OutcomeOK), Time: at})
	case 1:
		// The one that is left goes on, and what follows may still be another's.
		for _, left := range s.open {
			s.mark(session.Mark{Kind: session.MarkReturn, Call: left.n, What: string(session.OutcomeCancelled), Time: at})
		}
	}
}

// openAt names the calls that were open at a moment.
func (s *observed) openAt(at time.Duration) []string {
	var names []string
	s.eachOpen(at, func(c *openCall) { names = append(names, c.tool) })
	slices.Sort(names)
	return slices.Compact(names)
}

// talksAt are the conversations whose calls were open at a moment.
func (s *observed) talksAt(at time.Duration) []int {
	var talks []int
	s.eachOpen(at, func(c *openCall) { talks = append(talks, c.talk) })
	slices.Sort(talks)
	return slices.Compact(talks)
}

func (s *observed) eachOpen(at time.Duration, f func(*openCall)) {
	for i := range s.past {
		if c := &s.past[i]; c.start <= at && at <= c.end {
			f(c)
		}
	}
	for _, c := range s.open {
		if c.start <= at {
			f(c)
		}
	}
}
