package profile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// script plays a run: "call N TOOL", "reply N", "return N", "fork T C [thread]",
// "read T" (the task opens the key), each a millisecond times ten after the one before;
// "late T MS" is a read whose record says that it was MS milliseconds ago, "born T C MS" such
// a fork.
func script(t *testing.T, b *Builder, text string) {
	t.Helper()
	now := time.Second
	b.Record(&trace.Record{Op: trace.OpExec, Tid: 1, Path: "/usr/bin/node", Time: now})
	b.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseIdle), Time: now})
	for line := range strings.Lines(text) {
		now += 10 * time.Millisecond
		var n, m int
		var word string
		f := strings.Fields(line)
		if len(f) > 1 {
			_, _ = fmt.Sscan(f[1], &n)
		}
		if len(f) > 2 {
			_, _ = fmt.Sscan(f[2], &m)
			word = f[2]
		}
		switch {
		case len(f) == 0:
		case f[0] == "call":
			b.Mark(&session.Mark{Kind: session.MarkCall, Call: n, Tool: word, Time: now})
		case f[0] == "reply":
			b.Crossed(&session.Mark{Kind: session.MarkFrame, Seq: uint64(n), Time: now}, true)
		case f[0] == "return":
			b.Mark(&session.Mark{Kind: session.MarkReturn, Call: n, What: "ok", Time: now})
		case f[0] == "fork":
			flags := "SIGCHLD"
			if len(f) > 3 {
				flags = "CLONE_VM|CLONE_THREAD"
			}
			b.Record(&trace.Record{Op: trace.OpFork, Tid: n, Child: m, Flags: flags, Time: now})
		case f[0] == "born":
			var ago int
			_, _ = fmt.Sscan(f[3], &ago)
			b.Record(&trace.Record{Op: trace.OpFork, Tid: n, Child: m, Flags: "SIGCHLD", Time: now - time.Duration(ago)*time.Millisecond})
		case f[0] == "read":
			b.Record(&trace.Record{Op: trace.OpOpen, Call: "openat", Tid: n, Path: key, Flags: "O_RDONLY", Time: now})
		case f[0] == "late":
			b.Record(&trace.Record{Op: trace.OpOpen, Call: "openat", Tid: n, Path: key, Flags: "O_RDONLY", Time: now - time.Duration(m)*time.Millisecond})
		default:
			t.Fatalf("%q", line)
		}
	}
}

// What is done late, apart or on a server's own account is never pinned on the
// tool that happens to be called.
func TestAttribution(t *testing.T) {
	for name, c := range map[string]struct{ run, want string }{
		"in its call":                                 {"call 1 a\nread 1\nreply 1\nreturn 1\ncall 2 b\nreply 2\nreturn 2", "a"},
		"a delayed timer":                             {"call 1 a\nreply 1\nreturn 1\nread 1\ncall 2 b\nreply 2\nreturn 2", "idle?"},
		"after the reply":                             {"call 1 a\nreply 1\nread 1\nreturn 1", "a?"},
		"a detached child":                            {"call 1 a\nfork 1 5\nfork 5 6\nreply 1\nreturn 1\ncall 2 b\nread 6\nreply 2\nreturn 2", "a"},
		"a child at work after the reply":             {"call 1 a\nfork 1 5\nreply 1\nread 5\nreturn 1", "a"},
		"a grandchild at work after the reply":        {"call 1 a\nfork 1 5\nreply 1\nfork 5 6\nread 6\nreturn 1", "a"},
		"a child born after the reply":                {"call 1 a\nreply 1\nfork 1 5\nread 5\nreturn 1", "a?"},
		"a poller":                                    {"call 1 a\nread 1\nreply 1\nreturn 1\nread 1\ncall 2 b\nread 1\nreply 2\nreturn 2", "a? idle? b?"},
		"a poller's child":                            {"fork 1 9\ncall 1 a\nread 9\nreply 1\nreturn 1\nread 9\ncall 2 b\nread 9\nreply 2\nreturn 2", "a? idle? b?"},
		"a pool's thread":                             {"call 1 a\nfork 1 7 thread\nreply 1\nreturn 1\ncall 2 b\nread 7\nreply 2\nreturn 2", "b"},
		"a worker born in a call, working in another": {"call 1 a\nfork 1 5\nreply 1\nreturn 1\ncall 2 b\nreply 2\nreturn 2\ncall 3 c\nread 5\nreply 3\nreturn 3", "a"},
		"a record that comes late":                    {"call 1 a\nreply 1\nreturn 1\ncall 2 b\nlate 1 15\nreply 2\nreturn 2", "idle?"},
		"a birth in the call before":                  {"call 1 a\nreply 1\nreturn 1\ncall 2 b\nborn 1 5 35\nread 5\nreply 2\nreturn 2", "a"},
		"a birth before any call":                     {"call 1 a\nborn 1 5 15\nread 5\nreply 1\nreturn 1", "a"},
		"a record after the reply of the call before": {"call 1 a\nreply 1\nreturn 1\ncall 2 b\nlate 1 25\nreply 2\nreturn 2", "a?"},
		"a record of the call before":                 {"call 1 a\nreply 1\nreturn 1\ncall 2 b\nlate 1 35\nreply 2\nreturn 2", "a"},
	} {
		b := builder()
		script(t, b, c.run)
		var got []string
		for _, e := range b.Profile().Effects {
			if e.Kind != finding.Secret {
				continue
			}
			s := e.Tool
			if e.Call == 0 {
				s = string(e.Phase)
			}
			if e.Ambiguous {
				s += "?"
			}
			got = append(got, s)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A server goes on with a call that was cancelled: that is no work of its own
// between calls, which would make the same in an earlier call anybody's.
func TestACancelledCallGoesOn(t *testing.T) {
	b := builder()
	connect := func(at time.Duration) {
		b.Record(&trace.Record{Op: trace.OpOpen, Tid: 1, Time: at, Path: "/home/dana/x", Flags: "O_WRONLY|O_CREAT"})
	}
	b.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseIdle), Time: time.Second})
	b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: "do", Time: 2 * time.Second})
	connect(2*time.Second + time.Millisecond)
	b.Mark(&session.Mark{Kind: session.MarkReturn, Call: 1, What: "ok", Time: 3 * time.Second})
	b.Mark(&session.Mark{Kind: session.MarkCall, Call: 2, Tool: "do", Time: 4 * time.Second})
	b.Mark(&session.Mark{Kind: session.MarkReturn, Call: 2, What: "cancelled", Time: 5 * time.Second})
	connect(5*time.Second + time.Millisecond)
	b.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseList), Time: 6 * time.Second})
	got := map[int]bool{}
	for _, e := range b.Profile().Effects {
		got[e.Call] = e.Ambiguous
	}
	if len(got) != 2 || got[1] || !got[2] {
		t.Errorf("ambiguous by call: %v, want only 2", got)
	}
}
