package run_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan/plantest"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/fake"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// notes is a plain server with one tool.
func notes() *fake.Script { return &fake.Script{Tools: []string{fake.Tool("note", "Formats a note.")}} }

// bubbled runs a test on a clock that stands while anybody works. A goroutine that is left
// behind fails it.
func bubbled(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	plantest.Plan(t) // its keys are made outside
	synctest.Test(t, f)
}

// directory is a run's, empty.
func directory(t *testing.T) *os.Root {
	t.Helper()
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return dir
}

// made is a run in a backend, and its directory.
func made(ctx context.Context, t *testing.T, b sandbox.Backend, p plan.Plan) (run.Observations, *os.Root, error) {
	t.Helper()
	dir := directory(t)
	seen, err := run.Runner{Backend: b, Progress: func(string) {}}.Run(ctx, p, dir)
	return seen, dir, err
}

// log is everything in a run's log.
type log struct {
	header  session.Header
	frames  []string
	marks   []session.Mark
	records []trace.Record
}

func readLog(t *testing.T, dir *os.Root) (l log) {
	t.Helper()
	r, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	l.header = r.Header
	for f, err := range r.Frames() {
		if err != nil {
			t.Fatal(err)
		}
		l.frames = append(l.frames, string(f.Dir)+" "+string(f.Bytes()))
	}
	for line, err := range r.Trace() {
		switch {
		case err != nil:
			t.Fatal(err)
		case line.Mark != nil:
			l.marks = append(l.marks, *line.Mark)
		case line.Record != nil:
			l.records = append(l.records, *line.Record)
		}
	}
	if r.Torn() {
		t.Error("the log is torn")
	}
	return l
}

// of lists what the marks of a kind say.
func (l *log) of(kind session.MarkKind, say func(*session.Mark) string) []string {
	var out []string
	for i := range l.marks {
		if l.marks[i].Kind == kind {
			out = append(out, say(&l.marks[i]))
		}
	}
	return out
}

func (l *log) gaps() []string {
	out := l.of(session.MarkInconclusive, func(m *session.Mark) string { return string(m.Code) })
	slices.Sort(out)
	return slices.Compact(out)
}

// What a call sent is with it, also where the sinkhole tells it late: it is asked once the
// server is seen to make a socket, in the same call as well.
func TestSinkholeIsAskedOfSockets(t *testing.T) {
	bubbled(t, func(t *testing.T) {
		s := notes()
		s.Call = func(c fake.Call) (string, bool) {
			if c.N == 2 {
				c.Record(trace.Record{Op: trace.OpSocket, FD: -1, Ret: 4, Addr: &trace.Addr{Family: "inet"}})
			}
			if c.N >= 2 && c.N <= 3 {
				c.Late(trace.Flow{Type: trace.FlowQuery, Flow: uint64(c.N), Proto: "udp", Host: "example.com", Method: "A"})
			}
			return "noted", true
		}
		_, dir, err := made(t.Context(), t, fake.Of(func() fake.Target { return s }), plantest.Plan(t))
		if err != nil {
			t.Fatal(err)
		}
		r, err := session.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		call, sent := 0, map[int]int{}
		for line, err := range r.Trace() {
			switch {
			case err != nil:
				t.Fatal(err)
			case line.Mark != nil && line.Mark.Kind == session.MarkCall:
				call = line.Mark.Call
			case line.Mark != nil && line.Mark.Kind == session.MarkReturn:
				call = 0
			case line.Flow != nil:
				sent[call]++
			}
		}
		if !maps.Equal(sent, map[int]int{2: 1, 3: 1}) {
			t.Errorf("what was sent is in the calls %v, want one each in 2 and 3", sent)
		}
	})
}

// A plan goes in; the log, the plan's file and observations come out.
func TestRun(t *testing.T) {
	bubbled(t, func(t *testing.T) {
		p := plantest.Plan(t)
		left := p.Identity.Home + "/.cache/notes"
		s := notes()
		s.Files = map[string]string{left: "1"}
		s.Call = func(c fake.Call) (string, bool) {
			if c.N == 1 {
				c.Record(trace.Record{Op: trace.OpOpen, Path: left, Flags: "O_WRONLY|O_CREAT", Real: true, FD: 3, Ret: 3})
				c.Record(trace.Record{Op: trace.OpOpen, Path: "/root/.ssh/id_rsa", Flags: "O_RDONLY", Err: "EACCES"})
				c.Flow(trace.Flow{Type: trace.FlowQuery, Flow: 1, Proto: "udp", Host: "qzxk39vjw1.com", Method: "A", NoName: true})
			}
			return "noted", true
		}
		b := fake.Of(func() fake.Target { return s })
		seen, dir, err := made(t.Context(), t, b, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(seen.Steps) < 2 || seen.Steps[0].Name != "note" || seen.Crashed != "" || seen.Took <= 0 {
			t.Errorf("%+v", seen)
		}
		if len(seen.Left) != 1 || seen.Left[0].Path != left || string(seen.Left[0].Data) != "1" {
			t.Errorf("left: %+v", seen.Left)
		}
		if !slices.Equal(seen.NoNames, []string{"qzxk39vjw1.com"}) || seen.LookedIn != (plan.Account{User: "root", Home: "/root"}) || seen.TriedLoopback {
			t.Errorf("%q, %+v", seen.NoNames, seen.LookedIn)
		}
		data, err := dir.ReadFile(plan.FileName)
		if err != nil {
			t.Fatal(err)
		}
		if written, err := plan.Decode(data); err != nil || written.RunID != p.RunID || written.Experiment != "declared" {
			t.Errorf("%s of %s, %v", written.Experiment, written.RunID, err)
		}
		l := readLog(t, dir)
		if l.header.RunID != p.RunID || l.header.Sandbox != "local" || len(l.header.Canaries) < 10 || l.gaps() != nil {
			t.Errorf("%s in %s, gaps %q", l.header.RunID, l.header.Sandbox, l.gaps())
		}
		phases := slices.Compact(l.of(session.MarkPhase, func(m *session.Mark) string { return m.Phase }))
		if len(phases) < 5 || !slices.Equal(phases[:4], []string{"start", "handshake", "list", "idle"}) || phases[len(phases)-1] != "shutdown" {
			t.Errorf("phases: %q", phases)
		}
		if returned := l.of(session.MarkReturn, func(m *session.Mark) string { return m.What }); len(returned) != len(seen.Steps) || returned[0] != "ok" {
			t.Errorf("returned: %q", returned)
		}
		if len(l.records) != 4 || l.records[0].Op != trace.OpExec || l.records[1].Path != left || l.records[3].Op != trace.OpExit {
			t.Errorf("records: %+v", l.records)
		}
		if now, _ := b.Alive(); now != 0 || len(b.Specs()) != 1 {
			t.Errorf("%d sandboxes are left of %d", now, len(b.Specs()))
		}
	})
}

// What servers do wrong is recorded, and is no error.
func TestServersThatMisbehave(t *testing.T) {
	never := func(method string) func(*fake.Process, string) bool {
		return func(_ *fake.Process, asked string) bool { return asked != method }
	}
	for _, c := range []struct {
		name   string
		breaks func(*fake.Script)
		gaps   []string
		check  func(*testing.T, run.Observations, *log)
	}{
		{"ends in a call", func(s *fake.Script) {
			s.Call = func(c fake.Call) (string, bool) { c.Exit(1, ""); return "", false }
		}, []string{"calls-incomplete"}, func(t *testing.T, seen run.Observations, l *log) {
			if seen.Crashed != "note" || string(seen.CrashedWith) != string(seen.Steps[0].Args) || len(seen.Steps) != 1 {
				t.Errorf("%+v", seen)
			}
			if got := l.of(session.MarkReturn, func(m *session.Mark) string { return m.What }); !slices.Equal(got, []string{"crash"}) {
				t.Errorf("returned: %q", got)
			}
		}},
		{"never answers a call", func(s *fake.Script) {
			s.Call = func(fake.Call) (string, bool) { return "", false }
		}, nil, func(t *testing.T, seen run.Observations, l *log) {
			got := l.of(session.MarkReturn, func(m *session.Mark) string { return m.What })
			if seen.Crashed != "" || len(got) == 0 || got[0] != "timeout" || seen.Took < 5*time.Second {
				t.Errorf("after %s: %q", seen.Took, got)
			}
		}},
		{"never answers a listing", func(s *fake.Script) { s.Asked = never("tools/list") }, nil, func(t *testing.T, seen run.Observations, l *log) {
			if !slices.Contains(l.gaps(), "not-listed") || len(seen.Steps) > 0 && seen.Steps[0].Name == "note" {
				t.Errorf("gaps %q, steps %v", l.gaps(), seen.Steps)
			}
		}},
		{"never answers the handshake", func(s *fake.Script) {
			s.Asked = func(*fake.Process, string) bool { return false }
		}, []string{"handshake-failed"}, func(t *testing.T, seen run.Observations, l *log) {
			if len(seen.Steps) > 0 || seen.Took < 10*time.Second {
				t.Errorf("after %s: %+v", seen.Took, seen)
			}
		}},
		{"ends at once", func(s *fake.Script) {
			s.Started = func(p *fake.Process) { p.Ready(); p.Exit(3, "") }
		}, nil, func(t *testing.T, seen run.Observations, l *log) {
			if !slices.Contains(l.gaps(), "handshake-failed") || len(seen.Steps) > 0 {
				t.Errorf("gaps %q, %+v", l.gaps(), seen)
			}
		}},
		{"floods", func(s *fake.Script) {
			line := []byte(strings.Repeat("x", 1<<16) + "\n")
			s.Call = func(c fake.Call) (string, bool) {
				for c.Stdout(line) {
				}
				return "", false
			}
		}, []string{"calls-incomplete"}, func(t *testing.T, seen run.Observations, l *log) {
			limits := l.of(session.MarkEvent, func(m *session.Mark) string {
				if e, ok := m.Event.Body.(session.EventLimit); ok {
					return e.Reason
				}
				return ""
			})
			if !slices.Contains(limits, "output") || seen.Crashed != "note" {
				t.Errorf("%q, crashed in %q", limits, seen.Crashed)
			}
		}},
		{"floods without a line's end", func(s *fake.Script) {
			s.Call = func(c fake.Call) (string, bool) {
				for c.Stdout(make([]byte, 1<<16)) {
				}
				return "", false
			}
		}, []string{"calls-incomplete"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubbled(t, func(t *testing.T) {
				p := plantest.Plan(t)
				p.Sandbox.Limits.Output = 1 << 20
				b := fake.Of(func() fake.Target { s := notes(); c.breaks(s); return s })
				seen, dir, err := made(t.Context(), t, b, p)
				if err != nil {
					t.Fatal(err)
				}
				l := readLog(t, dir)
				if got := l.gaps(); c.gaps != nil && !slices.Equal(got, c.gaps) {
					t.Errorf("gaps %q, want %q", got, c.gaps)
				}
				if c.check != nil {
					c.check(t, seen, &l)
				}
				if now, _ := b.Alive(); now != 0 {
					t.Errorf("%d sandboxes are left", now)
				}
			})
		})
	}
}

// A server that ends at the newer handshake is started again with the older one.
func TestEndsAtDiscover(t *testing.T) {
	bubbled(t, func(t *testing.T) {
		b := fake.Of(func() fake.Target {
			s := notes()
			s.Asked = func(p *fake.Process, method string) bool {
				if method == "server/discover" {
					p.Exit(1, "")
					return false
				}
				return true
			}
			return s
		})
		seen, dir, err := made(t.Context(), t, b, plantest.Plan(t))
		if err != nil || len(b.Specs()) != 2 || len(seen.Steps) == 0 {
			t.Fatalf("%d starts, %d calls, %v", len(b.Specs()), len(seen.Steps), err)
		}
		if l := readLog(t, dir); l.gaps() != nil || !strings.Contains(l.frames[0], `"initialize"`) {
			t.Errorf("gaps %q, first %s", l.gaps(), l.frames[0])
		}
	})
}

// A backend may fail in each stage of a run: before the server runs that is an error, and
// after it a reason for doubt.
func TestBackendsThatFail(t *testing.T) {
	refused := errors.New("no room")
	inCall := func(f func(*fake.Process)) func(*fake.Script) {
		return func(s *fake.Script) { s.Call = func(c fake.Call) (string, bool) { f(c.Process); return "", false } }
	}
	started := func(f func(*fake.Process)) func(*fake.Script) { return func(s *fake.Script) { s.Started = f } }
	for _, c := range []struct {
		name           string
		refuses, stays error
		breaks         func(*fake.Script)
		err            string // "" for none
		usage          bool
		gaps           []string
	}{
		{name: "refuses", refuses: refused, err: "start the sandbox: no room"},
		{name: "refuses, with a remedy", refuses: &sandbox.UsageError{Err: refused, Hint: "make room"}, err: "no room", usage: true},
		{name: "dies before there is a process", breaks: started(func(p *fake.Process) { p.Dies("boom") }), err: "its agent said: boom"},
		{name: "says why there is no process", breaks: started(func(p *fake.Process) { p.Fails("no such program", "install it") }), err: "no such program", usage: true},
		{name: "dies before the program", breaks: started(func(p *fake.Process) { p.Event(session.EventReady{Task: fake.Task}); p.Dies("") }), err: "start the sandbox: "},
		{name: "makes no sense", breaks: started((*fake.Process).Garbage), err: "start the sandbox: "},
		{name: "dies in a call", breaks: inCall(func(p *fake.Process) { p.Dies("boom") }), gaps: []string{"calls-incomplete", "input-not-read", "sandbox-ended"}},
		{name: "makes no sense in a call", breaks: inCall((*fake.Process).Garbage), gaps: []string{"calls-incomplete", "input-not-read", "sandbox-ended"}},
		{name: "loses its tracer in a call", breaks: inCall(func(p *fake.Process) { p.Unwatched("detached") }), gaps: []string{"calls-incomplete"}},
		{name: "loses records", breaks: func(s *fake.Script) {
			s.Call = func(c fake.Call) (string, bool) { c.Misses(3, "the buffer was full"); return "", true }
		}, gaps: []string{"records-lost"}},
		{name: "dies at the end", breaks: func(s *fake.Script) { s.Stopped = func(p *fake.Process) { p.Dies("") } }, gaps: []string{"sandbox-ended"}},
		{name: "stays", stays: errors.New("busy"), gaps: []string{"sandbox-not-removed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubbled(t, func(t *testing.T) {
				b := fake.Of(func() fake.Target {
					s := notes()
					if c.breaks != nil {
						c.breaks(s)
					}
					return s
				})
				b.Refuses, b.Stays = c.refuses, c.stays
				_, dir, err := made(t.Context(), t, b, plantest.Plan(t))
				var usage *sandbox.UsageError
				switch {
				case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)), errors.As(err, &usage) != c.usage:
					t.Errorf("error %v, want %q", err, c.err)
				case c.err == "":
					l := readLog(t, dir)
					for _, gap := range c.gaps {
						if !slices.Contains(l.gaps(), gap) {
							t.Errorf("gaps %q lack %s", l.gaps(), gap)
						}
					}
				}
				if now, _ := b.Alive(); now != 0 {
					t.Errorf("%d sandboxes are left", now)
				}
			})
		})
	}
}

// A run that is given up ends at once wherever it is, with the reason, a whole log and no sandbox.
func TestCancelled(t *testing.T) {
	enough := errors.New("enough")
	for _, c := range []struct {
		name   string
		breaks func(s *fake.Script, cancel func())
	}{
		{"before the program runs", func(s *fake.Script, cancel func()) {
			s.Started = func(p *fake.Process) { p.Event(session.EventReady{Task: fake.Task}); cancel() }
		}},
		{"in the handshake", func(s *fake.Script, cancel func()) {
			s.Asked = func(*fake.Process, string) bool { cancel(); return false }
		}},
		{"in the listing", func(s *fake.Script, cancel func()) {
			s.Asked = func(_ *fake.Process, method string) bool {
				if method == "tools/list" {
					cancel()
				}
				return method != "tools/list"
			}
		}},
		{"in a call", func(s *fake.Script, cancel func()) {
			s.Call = func(fake.Call) (string, bool) { cancel(); return "", false }
		}},
		{"in a flood", func(s *fake.Script, cancel func()) {
			s.Call = func(c fake.Call) (string, bool) {
				for n := 0; c.Stdout([]byte("x\n")); n++ {
					if n == 100 {
						cancel()
					}
				}
				return "", false
			}
		}},
		{"between calls", func(s *fake.Script, cancel func()) { s.Rests = func(*fake.Process) { cancel() } }},
		{"at the end", func(s *fake.Script, cancel func()) { s.Stopped = func(*fake.Process) { cancel() } }},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubbled(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				s := notes()
				c.breaks(s, func() { cancel(enough) })
				b := fake.Of(func() fake.Target { return s })
				began := time.Now()
				_, dir, err := made(ctx, t, b, plantest.Plan(t))
				if !errors.Is(err, enough) {
					t.Errorf("the error is %v", err)
				}
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it took %s", took)
				}
				if now, _ := b.Alive(); now != 0 {
					t.Errorf("%d sandboxes are left", now)
				}
				if l := readLog(t, dir); l.header.RunID == "" {
					t.Error("there is no log")
				}
			})
		})
	}
}

// A log that cannot be written ends the run: nothing runs unseen.
func TestNoLog(t *testing.T) {
	for _, name := range []string{session.TraceFile, session.FramesFile, plan.FileName} {
		t.Run(name, func(t *testing.T) {
			bubbled(t, func(t *testing.T) {
				dir := directory(t)
				if err := dir.Mkdir(name, 0o700); err != nil {
					t.Fatal(err)
				}
				calls := 0
				b := fake.Of(func() fake.Target {
					s := notes()
					s.Call = func(fake.Call) (string, bool) { calls++; return "", true }
					return s
				})
				_, err := run.Runner{Backend: b, Progress: func(string) {}}.Run(t.Context(), plantest.Plan(t), dir)
				var usage *sandbox.UsageError
				if !errors.As(err, &usage) || calls > 0 {
					t.Errorf("%d calls, %v", calls, err)
				}
				if now, _ := b.Alive(); now != 0 {
					t.Errorf("%d sandboxes are left", now)
				}
			})
		})
	}
}

// Runs of one seed against one server are alike, but for what they are named by.
func TestSameRun(t *testing.T) {
	bubbled(t, func(t *testing.T) {
		var logs []string
		p := plantest.Plan(t)
		for range 2 {
			_, dir, err := made(t.Context(), t, fake.Of(func() fake.Target { return notes() }), p)
			if err != nil {
				t.Fatal(err)
			}
			l := readLog(t, dir)
			logs = append(logs, fmt.Sprint(l.frames, l.of(session.MarkCall, func(m *session.Mark) string { return m.Tool + m.What }), len(l.records)))
		}
		if logs[0] != logs[1] {
			t.Errorf("%s\nis not\n%s", logs[0], logs[1])
		}
	})
}
