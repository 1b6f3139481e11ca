package profile

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const key = "/home/dana/.ssh/id_rsa"

func builder() *Builder {
	return NewBuilder(Context{Home: "/home/dana", ServerDir: "/srv/notes", Workspaces: []string{"/data"},
		Canaries: []canaries.Canary{{ID: "ssh-key", Kind: "ssh", Value: "a-value-that-stands-nowhere-else", Path: key}}})
}

func TestReadNoise(t *testing.T) {
	b := builder()
	for _, c := range []struct{ path, exe, class, root string }{
		{"/usr/share/zoneinfo/UTC", "", noiseLocale, "/usr/share/zoneinfo"},
		{"/etc/resolv.conf", "", noiseResolver, "/etc/resolv.conf"},
		{"/etc/resolv.conf.bak", "", "", ""},
		{"/etc/ssl/certs/x.pem", "", noiseResolver, "/etc/ssl"},
		{"/srv/notes/lib/x.js", "", noiseOwn, "/srv/notes"},
		{"/srv/notes2/x.js", "", "", ""},
		{"/srv", "", noiseRuntime, "/"},
		{"/", "", noiseRuntime, "/"},
		{"/proc/self/status", "", noiseKernel, "/proc"},
		{"/usr/lib/x.so", "", noiseRuntime, "/usr"},
		{"/usrlocal/x", "", "", ""},
		{"/home/dana/.pyenv/versions/3.11/lib/x.py", "/home/dana/.pyenv/versions/3.11/bin/python3", noiseRuntime, "/home/dana/.pyenv/versions/3.11"},
		{"/home/dana/.pyenv/versions/3.11/lib/x.py", "/usr/bin/node", "", ""},
		{"/etc/passwd", "/bin/sh", noiseResolver, "/etc/passwd"},
		{"/etc/shadow", "/bin/sh", "", ""},
		{"/data/x.md", "", noiseAsked, "/data"},
		{"/tmp/x", "", noiseScratch, "/tmp"},
		{"/home/dana/.cache/x", "", noiseScratch, "/home/dana/.cache"},
		{"/home/dana/notes.md", "", "", ""},
	} {
		if class, root := b.readNoise(c.path, c.exe); class != c.class || root != c.root {
			t.Errorf("%s by %q: %q, %q; want %q, %q", c.path, c.exe, class, root, c.class, c.root)
		}
	}
}

func TestWriteNoise(t *testing.T) {
	b := builder()
	b.ctx.Planted = map[string]bool{"/tmp/of-the-user": true}
	for _, c := range []struct{ path, exe, class string }{
		{"/srv/notes/__pycache__/x.cpython-311.pyc.1234", "/usr/bin/python3.11", noiseBytecode},
		{"/srv/notes/__pycache__", "/usr/bin/python3.11", noiseBytecode},
		{"/srv/notes/__pycache__/x.pyc", "/usr/bin/node", ""},
		{"/home/dana/x.pyc", "/usr/bin/python3", ""},
		{"/data/.git/index.lock", "/usr/bin/git", noiseGitIndex},
		{"/data/.git/index.lock", "/usr/bin/node", ""},
		{"/data/.git/config", "/usr/bin/git", ""},
		{"/dev/null", "", noiseKernel},
		{"/data/x", "", ""},
		{"/usr/bin/x", "", ""},
		{"/home/dana/.cache/x.json", "", noiseScratch},
		{"/home/dana/.cache/fontconfig/x.sh", "", noiseScratch},
		{"/home/dana/.cache/p10k-instant-prompt-dana.zsh", "", ""},
		{"/home/dana/.cache/nvim/luac/x", "", ""},
		{"/run/user/1000/x", "", noiseScratch},
		{"/run/user/1000/systemd/transient/x.service", "", ""},
		{"/tmp/of-the-user", "", ""},
	} {
		if class, _ := b.writeNoise(c.path, c.exe, nil); class != c.class {
			t.Errorf("%s by %s: %q, want %q", c.path, c.exe, class, c.class)
		}
	}
}

// A package that a runner keeps in its cache writes there into its own directory.
func TestWritesOfAnInstalledPackage(t *testing.T) {
	b := builder()
	b.ctx.ServerDir = "/home/dana/.cache/uv/archive-v0/x"
	for path, class := range map[string]string{
		b.ctx.ServerDir + "/lib/state.json": "", "/home/dana/.cache/pictures/x": noiseScratch, "/tmp/x": noiseScratch, "/home/dana/.cache/uv/archive-v0/x2": "",
	} {
		if got, _ := b.writeNoise(path, "/usr/bin/python3.11", nil); got != class {
			t.Errorf("%s: %q, want %q", path, got, class)
		}
	}
	b.ctx.ServerDir = "/tmp/checkout"
	if got, _ := b.writeNoise("/tmp/checkout/x", "/usr/bin/node", nil); got != noiseScratch {
		t.Errorf("a directory that is temporary itself: %q", got)
	}
}

func TestCleanProc(t *testing.T) {
	for in, want := range map[string]string{
		"/proc/self/root" + key:                       key,
		"/proc/1/root/../" + key:                      "/proc/1" + key,
		"/proc/1/task/2/root" + key:                   key,
		"/proc/self/root/proc/thread-self/root" + key: key,
		"/proc/self/root":                             "/",
		"/proc/self/rootkit":                          "/proc/self/rootkit",
		"/proc/net/tcp":                               "/proc/net/tcp",
		"/proc/self/task":                             "/proc/self/task",
		"/proc/self/task/":                            "/proc/self/task",
		"/usr/../home/dana/./.ssh//id_rsa":            key,
		"relative":                                    "relative",
		"":                                            ".",
		strings.Repeat("/proc/self/root", 5000) + "/x": "/x",
	} {
		if got := cleanProc(in); got != want {
			t.Errorf("%.60q: %q, want %q", in, got, want)
		}
	}
}

// A link to the tree that holds it must neither hang nor fill the memory.
func TestLinksOfWholeTrees(t *testing.T) {
	b := builder()
	for i := range 40 {
		b.Record(&trace.Record{Op: trace.OpLink, Call: "symlink", Path: "/", To: fmt.Sprintf("/tmp/s%d", i)})
		b.Record(&trace.Record{Op: trace.OpRename, Call: "rename", Path: "/", To: fmt.Sprintf("/tmp/r%d", i)})
	}
	if n := len(b.secrets); n > maxSecrets {
		t.Errorf("%d names", n)
	}
	if !b.Profile().Truncated {
		t.Error("names were given up, and nothing says so")
	}
}

func TestEffectsAreBounded(t *testing.T) {
	b := builder()
	for i := range maxEffects + 10 {
		b.Record(&trace.Record{Op: trace.OpOpen, Path: fmt.Sprintf("/x/%d", i), Flags: "O_RDONLY"})
	}
	if p := b.Profile(); len(p.Effects) != maxEffects || !p.Truncated || p.Records != maxEffects+10 {
		t.Errorf("%d effects, truncated %v, %d records", len(p.Effects), p.Truncated, p.Records)
	}
}

func TestWhatDoesNotAddUp(t *testing.T) {
	b := builder()
	b.Mark(&session.Mark{Kind: session.MarkReturn, Call: 3})
	b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: "a"})
	b.Mark(&session.Mark{Kind: session.MarkReturn, Call: 2, What: "ok"})
	b.Mark(&session.Mark{Kind: session.MarkEvent, Unread: []byte("[]")})
	b.Mark(&session.Mark{Kind: session.MarkLoss, N: -5})
	b.Record(&trace.Record{Op: trace.OpConnect})
	b.Record(&trace.Record{Op: trace.OpFork, Child: 7, Err: "EAGAIN"})
	p := b.Profile()
	if len(p.Calls) != 1 || p.Calls[0].Outcome != "" {
		t.Errorf("calls %+v", p.Calls)
	}
	if p.Lost != 2 {
		t.Errorf("lost %d", p.Lost)
	}
}

// A child's work stays the call's in which it was born; so does its child's.
func TestLineage(t *testing.T) {
	b := builder()
	rec := func(r trace.Record) { r.Time = time.Second; b.Record(&r) }
	rec(trace.Record{Op: trace.OpExec, Tid: 1, Path: "/usr/bin/node"})
	b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: "a"})
	rec(trace.Record{Op: trace.OpFork, Tid: 1, Child: 2})
	b.Mark(&session.Mark{Kind: session.MarkReturn, Call: 1, What: "ok"})
	rec(trace.Record{Op: trace.OpFork, Tid: 2, Child: 3})
	b.Mark(&session.Mark{Kind: session.MarkCall, Call: 2, Tool: "b"})
	rec(trace.Record{Op: trace.OpExec, Tid: 3, Path: "/usr/bin/curl"})
	rec(trace.Record{Op: trace.OpOpen, Tid: 3, Path: key, Flags: "O_RDONLY"})
	// The same number, another task: it is the present call's.
	rec(trace.Record{Op: trace.OpExit, Tid: 3})
	rec(trace.Record{Op: trace.OpFork, Tid: 1, Child: 3})
	rec(trace.Record{Op: trace.OpOpen, Tid: 3, Path: "/x", Flags: "O_RDONLY"})
	want := "exec 0 launch, exec 1, secret 1, file.read 2"
	var got []string
	for _, e := range b.Profile().Effects {
		s := fmt.Sprintf("%s %d", e.Kind, e.Call)
		if e.Noise != "" {
			s += " " + e.Noise
		}
		got = append(got, s)
		if e.Kind == finding.Secret && (e.Actor != "curl" || e.Tool != "a") {
			t.Errorf("%+v", e)
		}
	}
	if strings.Join(got, ", ") != want {
		t.Errorf("%s; want %s", strings.Join(got, ", "), want)
	}
}

// Memory without a file is none that changed; a file of such a name is one.
func TestMemoryIsNoFile(t *testing.T) {
	for given, want := range map[string]string{"": noiseKernel, "/proc/self/fd/7": noiseKernel, "/dev/fd/7": noiseKernel, "/memfd:x": "", "memfd:x": ""} {
		for _, r := range []trace.Record{
			{Op: trace.OpTrunc, Call: "ftruncate", Path: "/memfd:x", Given: given, FD: -1},
			{Op: trace.OpOpen, Call: "openat", Path: "/memfd:x", Given: given, Flags: "O_RDWR|O_CREAT", FD: 3},
		} {
			if e := effects(r); len(e) != 1 || e[0].Noise != want {
				t.Errorf("%s of %q: %+v", r.Call, given, e)
			}
		}
	}
}

// A program that the command names by its path is named, and so is what it starts. A runner of
// programs is not, and neither is what the server starts beside it.
func TestNamedPrograms(t *testing.T) {
	b := NewBuilder(Context{Home: "/home/dana", Given: []string{"--browser=/usr/bin/chromium", "/usr/bin/bash"}})
	exec := func(tid int, program string) {
		b.Record(&trace.Record{Op: trace.OpExec, Tid: tid, Path: program, FD: -1})
	}
	fork := func(tid, child int) {
		b.Record(&trace.Record{Op: trace.OpFork, Call: "fork", Tid: tid, Child: child, FD: -1})
	}
	exec(1, "/usr/bin/node")
	for child, program := range map[int]string{2: "/usr/bin/chromium", 3: "/usr/bin/uname", 4: "/usr/bin/bash"} {
		fork(1, child)
		exec(child, program)
		fork(child, 10*child)
		exec(10*child, "/usr/bin/expr"+program)
	}
	got := map[string]bool{}
	for _, e := range b.Profile().Effects {
		if e.Kind == finding.Exec {
			got[e.Target] = e.Named
		}
	}
	want := map[string]bool{
		"/usr/bin/node": false, "/usr/bin/chromium": true, "/usr/bin/expr/usr/bin/chromium": true,
		"/usr/bin/uname": false, "/usr/bin/expr/usr/bin/uname": false, "/usr/bin/bash": false, "/usr/bin/expr/usr/bin/bash": false,
	}
	if !maps.Equal(got, want) {
		t.Errorf("named %v, want %v", got, want)
	}
}
