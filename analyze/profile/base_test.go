package profile

import (
	"fmt"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// An argument that names files below a directory of the server's own has that directory for its base.
func TestBase(t *testing.T) {
	t.Parallel()
	const docs = "/srv/app/src/docs"
	for name, c := range map[string]struct{ argument, opened, want string }{
		"a relative name":         {"guides/start", docs + "/guides/start.md", docs},
		"an absolute one, joined": {"/home/dana/lease.txt", docs + "/home/dana/lease.txt.md", docs},
		"an absolute one":         {"/home/dana/lease.txt", "/home/dana/lease.txt", ""},
		"in the workspace":        {"guides/start", "/home/dana/w/guides/start", ""},
		"in the server's root":    {"guides/start", "/srv/app/guides/start", ""},
		"a part of a longer name": {"guides/start", docs + "/guides/started.md", ""},
		"a short word":            {"main", docs + "/main.js", ""},
		"another's":               {"guides/start", docs + "/guides/end.md", ""},
		"dots":                    {"../docs/guides/start", docs + "/guides/start.md", ""},
	} {
		s := newScene()
		s.ctx.ServerDir = "/srv/app"
		s.in(1, func(at time.Duration) {
			s.hears(fmt.Appendf(nil, `{"method":"tools/call","params":{"name":"show","arguments":{"topic":%q}}}`, c.argument))
			s.openAs(c.opened, "O_RDONLY", at)
		})
		if got := s.Profile().Base("show", "topic"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Who was refused the environment of the first process beside other marks of a container looked for a container.
func TestContainerCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, err string
		later       time.Duration
		want        string
	}{
		"after a mark":         {"/.dockerenv", "EACCES", time.Millisecond, InitEnviron},
		"much later":           {"/.dockerenv", "EACCES", time.Second, "/proc/PID/environ"},
		"after something else": {"/etc/hostname", "EACCES", time.Millisecond, "/proc/PID/environ"},
		"opened":               {"/.dockerenv", "", time.Millisecond, "/proc/PID/environ"},
	} {
		s := newScene()
		s.in(1, func(at time.Duration) {
			s.Record(&trace.Record{Op: trace.OpStat, Call: "access", Tid: 5, Path: c.before, Err: "ENOENT", Ret: -1, Time: at})
			r := trace.Record{Op: trace.OpOpen, Call: "openat", Tid: 5, Path: "/proc/1/environ", Flags: "O_RDONLY", Err: c.err, Time: at + c.later}
			if c.err != "" {
				r.Ret = -1
			}
			s.Record(&r)
		})
		got := ""
		for _, e := range s.Profile().Effects {
			if e.Kind == finding.FileRead && e.Call == 1 && e.Noise == "" {
				got = e.Target
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
