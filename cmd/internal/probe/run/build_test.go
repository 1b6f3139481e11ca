package run_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan/plantest"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/fake"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// shell is a shell that is given a build's script.
type shell struct {
	// built is called at the script's end: it says what the shell prints, and "" for nothing.
	built func(*fake.Process) string
	// tree is the archive that it writes then.
	tree []byte
	done bool
}

func (s *shell) Start(p *fake.Process) { p.Ready() }
func (s *shell) Rest(*fake.Process)    {}
func (s *shell) Stop(p *fake.Process)  { p.Exit(0, "") }

func (s *shell) Line(p *fake.Process, line []byte) {
	switch {
	case s.done:
		p.Stdout(s.tree)
		p.Exit(0, "")
	case strings.HasPrefix(string(line), "echo $said"):
		s.done = true
		if said := s.built(p); said != "" {
			p.Stdout([]byte(said))
		}
	}
}

// archive holds a file and a link that leads out.
func archive(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := errors.Join(
		w.WriteHeader(&tar.Header{Name: "./made", Mode: 0o644, Size: 5}), func() error { _, err := w.Write([]byte("works")); return err }(),
		w.WriteHeader(&tar.Header{Name: "./out", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), w.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A build's scripts run watched; how they ended and what they made is all that comes out.
func TestBuild(t *testing.T) {
	says := func(text string) func(*fake.Process) string { return func(*fake.Process) string { return text } }
	enough := errors.New("enough")
	for _, c := range []struct {
		name  string
		built func(p *fake.Process, cancel func()) string
		// cut is how much of the archive comes, 0 for all.
		cut      int
		statuses []int
		err      string
	}{
		{"well", func(p *fake.Process, _ func()) string {
			p.Record(trace.Record{Op: trace.OpOpen, Path: "/etc/shadow", Err: "EACCES"})
			return says("0 3\n")(p)
		}, 0, []int{0, 3}, ""},
		{"prints what is no status", func(*fake.Process, func()) string { return "0 x\n" }, 0, nil, "not how its scripts ended"},
		{"prints a status too many", func(*fake.Process, func()) string { return "0 0 0\n" }, 0, nil, "not how its scripts ended"},
		{"ends before its scripts do", func(p *fake.Process, _ func()) string { p.Exit(1, ""); return "" }, 0, nil, "how the build's scripts ended"},
		{"cuts its archive off", func(*fake.Process, func()) string { return "0 0\n" }, 700, []int{0, 0}, "unpack what was built"},
		{"loses its sandbox", func(p *fake.Process, _ func()) string { p.Dies("boom"); return "" }, 0, nil, "it took longer than 5m0s"},
		{"never ends", func(*fake.Process, func()) string { return "" }, 0, nil, "it took longer than 5m0s"},
		{"is given up", func(_ *fake.Process, cancel func()) string { cancel(); return "" }, 0, nil, enough.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubbled(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				dir, to := directory(t), t.TempDir()
				s := &shell{tree: archive(t), built: func(p *fake.Process) string { return c.built(p, func() { cancel(enough) }) }}
				if c.cut > 0 {
					s.tree = s.tree[:c.cut]
				}
				tree := &install.Tree{Native: true, Steps: []install.Step{{Command: "make", Dir: "."}, {Command: "make more", Dir: "."}}}
				p := plantest.Plan(t)
				p.Server.ServerDir = "/srv/server"
				b := fake.Of(func() fake.Target { return s })
				seen, err := run.Runner{Backend: b, Progress: func(string) {}}.Run(ctx, p.Building(plan.Scripts{Tree: tree, To: to}), dir)
				if !slices.Equal(seen.Statuses, c.statuses) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, %v; want %v, %q", seen.Statuses, err, c.statuses, c.err)
				}
				if now, _ := b.Alive(); now != 0 {
					t.Errorf("%d sandboxes are left", now)
				}
				l := readLog(t, dir)
				if l.header.Phase != session.PhaseBuild {
					t.Errorf("the log is of the phase %q", l.header.Phase)
				}
				if c.err != "" {
					return
				}
				data, err := os.ReadFile(filepath.Join(to, "made"))
				if err != nil || string(data) != "works" || !slices.Equal(seen.Dropped, []string{"out"}) {
					t.Errorf("%q, %v; dropped %q", data, err, seen.Dropped)
				}
				if !slices.ContainsFunc(l.records, func(r trace.Record) bool { return r.Path == "/etc/shadow" }) {
					t.Errorf("records: %+v", l.records)
				}
			})
		})
	}
}

// A helper ends by itself at the end of its stdin. It has a log of its own, and what it prints is
// for the sink alone.
func TestHelper(t *testing.T) {
	bubbled(t, func(t *testing.T) {
		b := fake.Of(func() fake.Target {
			s := notes()
			s.Stopped = func(p *fake.Process) {
				p.Stdout([]byte("an archive"))
				p.Record(trace.Record{Op: trace.OpOpen, Path: "/etc/pip.conf", Real: true})
				p.Misses(2, "the buffer was full")
				p.Exit(7, "")
			}
			return s
		})
		began, dir, sink := time.Now(), directory(t), &printed{}
		seen, err := run.Runner{Backend: b, Sink: sink}.Run(t.Context(), plantest.Plan(t).Helping("/usr/bin/pip"), dir)
		if err != nil || seen.Exit.Code != 7 || seen.Lost != 2 || time.Since(began) > 0 {
			t.Errorf("%+v, %d lost, %v after %s", seen.Exit, seen.Lost, err, time.Since(began))
		}
		if sink.text != "an archive" {
			t.Errorf("it printed %q", sink.text)
		}
		l := readLog(t, dir)
		if len(l.header.Command) != 1 || len(l.frames) > 0 || !slices.ContainsFunc(l.records, func(r trace.Record) bool { return r.Path == "/etc/pip.conf" }) {
			t.Errorf("%q, %d frames, %+v", l.header.Command, len(l.frames), l.records)
		}
		if now, _ := b.Alive(); now != 0 {
			t.Errorf("%d sandboxes are left", now)
		}
	})
}

// printed keeps what a helper prints.
type printed struct {
	sandbox.NopSink
	text string
}

// Stdout implements sandbox.Sink.
func (p *printed) Stdout(_ time.Duration, data []byte) { p.text += string(data) }
