package analyzetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The places of every log's run.
const (
	Home      = "/home/dana"
	ServerDir = "/srv/notes"
	Workspace = "/home/dana/workspace"
	Program   = "/usr/bin/node"
	// Target is the task that runs the server.
	Target = 100
)

// Set is one set of decoys, the same in every test.
var Set = sync.OnceValue(func() *canaries.Set {
	s, err := canaries.New(rand.NewChaCha8([32]byte{7}), canaries.Options{User: "dana", Home: Home, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		panic(err)
	}
	return s
})

// Canary is the decoy of this id.
func Canary(t testing.TB, id string) canaries.Canary {
	t.Helper()
	for _, c := range Set().Canaries() {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("there is no canary %q", id)
	return canaries.Canary{}
}

// Log is a run's log under way. Each thing written comes a millisecond after the one before.
type Log struct {
	t     testing.TB
	dir   *os.Root
	log   *session.Log
	now   time.Duration
	seq   uint64
	id    int
	calls int
	// repeats is the call that the next one repeats, 0 for none, and oracles are the attack inputs that it carries.
	repeats int
	oracles []session.Injection
}

// New begins a log; change, if not nil, alters its header.
func New(t testing.TB, change func(*session.Header)) *Log {
	t.Helper()
	return NewWith(t, nil, change)
}

// NewWith is New for a run that is given real values, which the redactor takes out.
func NewWith(t testing.TB, redactor *canaries.Redactor, change func(*session.Header)) *Log {
	t.Helper()
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	out := session.Output{Root: dir, Redactor: redactor}
	h := session.Header{
		RunID: "0123456789abcdef", Started: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), Clock0: time.Second, Seed: 1,
		Command: []string{"node", ServerDir + "/index.js"}, Target: "node notes/index.js", Sandbox: "local", Tracer: "strace", Network: "none",
		Canaries: Set().Canaries(), User: "dana", Home: Home, ServerDir: ServerDir, Workspaces: []string{Workspace}, Version: "1.2.3",
	}
	if change != nil {
		change(&h)
	}
	log, err := out.Create(h)
	if err != nil {
		t.Fatal(err)
	}
	l := &Log{t: t, dir: dir, log: log, now: time.Second}
	return l
}

// Dir is where the log's files are.
func (l *Log) Dir() *os.Root { return l.dir }

// Now is the moment of what was written last.
func (l *Log) Now() time.Duration { return l.now }

func (l *Log) tick() time.Duration {
	l.now += time.Millisecond
	return l.now
}

// Mark writes a mark, of now where it has no time.
func (l *Log) Mark(m session.Mark) {
	if m.Time == 0 {
		m.Time = l.tick()
	}
	l.log.Mark(m)
}

// Phase begins a phase.
func (l *Log) Phase(p finding.Phase) { l.Mark(session.Mark{Kind: session.MarkPhase, Phase: string(p)}) }

// Flow writes what the sinkhole saw, of now where it has no time.
func (l *Log) Flow(f trace.Flow) {
	if f.Stamp == 0 {
		f.Stamp = l.tick()
	}
	l.log.Flow(&f)
}

// Event writes an event of the agent, of now.
func (l *Log) Event(body session.Body) {
	now := l.tick()
	l.log.Mark(session.Mark{Time: now, Kind: session.MarkEvent, Event: &session.Event{Stamp: now, Body: body}})
}

// Record writes a record; what it leaves out is the server's own task, now.
func (l *Log) Record(r trace.Record) {
	l.seq++
	r.Seq = l.seq
	if r.Time == 0 {
		r.Time = l.tick()
	}
	if r.Tid == 0 {
		r.Tid = Target
	}
	if r.Call == "" {
		r.Call = string(r.Op)
	}
	if r.Err != "" {
		r.Ret = -1
	}
	l.log.Record(&r)
}

// Open records an open; errno is "" for one that succeeded.
func (l *Log) Open(path, flags, errno string) {
	l.Record(trace.Record{Op: trace.OpOpen, Call: "openat", Path: path, Flags: flags, Err: errno, Real: errno == "", FD: 5, Ret: 5})
}

// Read records an open of a canary's file and the access to its contents.
func (l *Log) Read(path string) {
	l.Open(path, "O_RDONLY", "")
	l.Event(session.EventAccess{Path: path, Mask: "open|read"})
}

// Connect records a connect.
func (l *Log) Connect(host string, port int, errno string) {
	family := "inet"
	if host != "" && (host[0] == '/' || host[0] == '@') {
		family = "unix"
	}
	l.Record(trace.Record{Op: trace.OpConnect, Path: "socket:[1]", Addr: &trace.Addr{Family: family, Host: host, Port: port}, Err: errno, FD: 6})
}

// Frame writes a line of the wire.
func (l *Log) Frame(d session.Dir, line string) uint64 { return l.log.Frame(d, l.tick(), []byte(line)) }

// Request writes a request and its answer's result.
func (l *Log) Request(method, params, result string) {
	l.id++
	l.Frame(session.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, l.id, method, params))
	l.Frame(session.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, l.id, result))
}

// Note is the twins' tool: read-only, local.
const Note = `{"name":"format_note","description":"Formats a markdown note. Purely local text formatting.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`

// Begin writes the run up to the first call: start, handshake and list of these tools.
func (l *Log) Begin(tools ...string) {
	l.Phase(finding.PhaseStart)
	l.Event(session.EventStarted{Task: Target})
	l.Record(trace.Record{Op: trace.OpExec, Call: "execve", Path: Program, Argv: []string{"node", ServerDir + "/index.js"}})
	l.Phase(finding.PhaseHandshake)
	l.Request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`,
		`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1.0.0"}}`)
	l.Phase(finding.PhaseList)
	l.List(tools...)
	l.Phase(finding.PhaseIdle)
}

// List writes a listing of these tools.
func (l *Log) List(tools ...string) {
	list := ""
	for i, t := range tools {
		if i > 0 {
			list += ","
		}
		list += t
	}
	l.Request("tools/list", `{}`, `{"tools":[`+list+`]}`)
}

// Call writes one call of a tool: work happens between the request and its answer,
// rest between the answer and the call's end.
func (l *Log) Call(tool, args string, work, rest func()) { l.CallEnding(tool, args, "ok", work, rest) }

// Again repeats the call just before, word for word.
func (l *Log) Again(tool, args string, work func()) {
	l.repeats = l.calls
	l.Call(tool, args, work, nil)
	l.repeats = 0
}

// Attack is a call that carries an attack input.
func (l *Log) Attack(tool, args string, oracles ...session.Injection) {
	l.oracles = oracles
	l.Call(tool, args, nil, nil)
	l.oracles = nil
}

// CallSays is a call that the tool answers with this text.
func (l *Log) CallSays(tool, args, said string, work func()) {
	l.call(tool, args, "ok", said, work, nil)
}

// CallEnding is Call with another outcome than "ok".
func (l *Log) CallEnding(tool, args, outcome string, work, rest func()) {
	l.call(tool, args, outcome, "", work, rest)
}

func (l *Log) call(tool, args, outcome, said string, work, rest func()) {
	l.calls++
	l.id++
	l.Mark(session.Mark{Kind: session.MarkCall, Call: l.calls, Tool: tool, What: "tool", N: int64(l.repeats), Oracles: l.oracles})
	name, err := json.Marshal(tool)
	if err != nil {
		l.t.Fatal(err)
	}
	l.Frame(session.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"arguments":%s}}`, l.id, name, args))
	if work != nil {
		work()
	}
	if outcome == "ok" {
		l.answer(false, said)
	}
	if rest != nil {
		rest()
	}
	l.Mark(session.Mark{Kind: session.MarkReturn, Call: l.calls, Tool: tool, What: outcome})
}

// CallFails is a call that the tool answers with an error of its own.
func (l *Log) CallFails(tool, args, said string) {
	l.CallEnding(tool, args, "iserror", func() { l.answer(true, said) }, nil)
}

// answer is the server's answer to the call under way.
func (l *Log) answer(isError bool, said string) {
	result := `{"content":[]}`
	if isError || said != "" {
		result = fmt.Sprintf(`{"isError":%t,"content":[{"type":"text","text":%q}]}`, isError, said)
	}
	l.Frame(session.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, l.id, result))
}

// End writes an ordinary end.
func (l *Log) End() {
	l.Phase(finding.PhaseShutdown)
	l.Record(trace.Record{Op: trace.OpExit})
	l.Event(session.EventExit{})
	l.Event(session.EventDone{})
}

// Close closes the log.
func (l *Log) Close() {
	l.t.Helper()
	if err := l.log.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// Judge closes the log and judges it.
func (l *Log) Judge(o analyze.Options) *analyze.Result {
	l.t.Helper()
	l.Close()
	return Judge(l.t, l.dir, o)
}

// Judge judges the log in a directory.
func Judge(t testing.TB, dir *os.Root, o analyze.Options) *analyze.Result {
	t.Helper()
	r, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	res, err := analyze.JudgeReader(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
