//go:build linux && e2e

package probe

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/trace/bpf"
)

// inBackends runs a test for each backend that is to be had.
func inBackends(t *testing.T, test func(t *testing.T, backend string)) {
	for _, backend := range backends {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			need(t, backend)
			test(t, backend)
		})
	}
}

func TestCommandsThatCannotStart(t *testing.T) {
	t.Parallel()
	inBackends(t, func(t *testing.T, backend string) {
		l := newLab(t, "honest")
		if err := os.WriteFile(l.path("plain"), []byte("#!/bin/sh\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ command, says string }{
			{"no-such-command-anywhere", "command not found"},
			{l.path("no-such-file"), "command not found"},
			{l.path("plain"), "permission denied"},
			{filepath.Dir(l.path("")), "error: "},
		} {
			l.run(backend, nil, l.flags(backend, "--", c.command)...).says(2, "error: ", c.says, "hint: ")
		}
	})
}

// What a server's bytes hold must not reach a terminal, a workflow's log or a viewer as they are.
func TestEvilNamesAreEscaped(t *testing.T) {
	t.Parallel()
	inBackends(t, func(t *testing.T, backend string) {
		l := newLab(t, "hostile")
		for _, format := range []string{"text", "json", "sarif"} {
			c := l.run(backend, nil, l.flags(backend, "--format", format, "--", l.path("hostile"), "evil-names")...)
			c.says(1)
			harmless(t, format, c.out.Bytes())
			harmless(t, "stderr", c.err.Bytes())
			if format != "text" {
				c.valid()
			}
		}
		for _, name := range []string{report.FileJSON, report.FileSARIF} {
			data, err := os.ReadFile(filepath.Join(l.logDir(), name))
			if err != nil {
				t.Fatal(err)
			}
			harmless(t, name, data)
		}
	})
}

func (c *child) valid() {
	c.l.t.Helper()
	if !json.Valid(c.out.Bytes()) {
		c.l.t.Errorf("no JSON: %.300s", c.out.String())
	}
}

// harmless looks for what acts on a terminal or in a workflow's log.
func harmless(t *testing.T, where string, data []byte) {
	t.Helper()
	for _, r := range string(data) {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f {
			t.Errorf("%s holds U+%04X", where, r)
			return
		}
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "::") || strings.HasPrefix(line, "##[") {
			t.Errorf("%s has a line that is a workflow command: %.100q", where, line)
		}
	}
}

// A server that says too much must not make coalmine hold it all.
func TestMemoryIsBounded(t *testing.T) {
	const most = 320 << 20
	inBackends(t, func(t *testing.T, backend string) {
		for _, mode := range []string{"huge-line", "fill-stdout", "fill-stderr"} {
			l := newLab(t, "hostile")
			c := l.start(backend, nil, l.flags(backend, "--calls", "1", "--", l.path("hostile"), mode)...)
			if got := c.peak(); got > most || got == 0 {
				t.Errorf("%s: coalmine took %d MiB", mode, got>>20)
			}
			c.wait()
			c.says(3)
		}
	})
}

func TestNoEngine(t *testing.T) {
	t.Parallel()
	l := newLab(t, "honest")
	dead := "DOCKER_HOST=unix://" + filepath.Join(l.dir, "no.sock")
	l.run("docker", []string{dead}, l.flags("docker", "--", l.path("honest"))...).says(2, "error: docker: ", "hint: start Docker")
	need(t, "local")
	c := l.run("auto", []string{dead}, l.flags("auto", "--", l.path("honest"))...)
	c.says(0, "sandbox: local, since docker is not to be had")
}

func TestEngineDenied(t *testing.T) {
	t.Parallel()
	sandboxtest.Need(t, "docker", "root")
	l := newLab(t, "honest")
	if err := os.Mkdir(l.out, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(l.out, 0o777); err != nil {
		t.Fatal(err)
	}
	l.as = &syscall.Credential{Uid: 54321, Gid: 54321}
	c := l.run("docker", []string{"HOME=/nonexistent"}, l.flags("docker", "--", l.path("honest"))...)
	c.says(2, "permission denied", "hint: ", "--sandbox local")
}

func TestContainerKilled(t *testing.T) {
	t.Parallel()
	need(t, "docker")
	l := newLab(t, "hostile")
	c := l.start("docker", nil, l.flags("docker", "--", l.path("hostile"), "mute-after-list")...)
	c.until(`"kind":"call"`)
	for _, id := range containers(t, c.cmd.Process.Pid) {
		if out, err := exec.Command("docker", "kill", id).CombinedOutput(); err != nil {
			t.Fatalf("docker kill: %v %s", err, out)
		}
	}
	c.wait()
	c.says(3, "inconclusive", "the sandbox ended without notice", "137")
	l.readable(l.logDir())
	if left := containers(t, c.cmd.Process.Pid); len(left) > 0 {
		t.Errorf("containers remain: %v", left)
	}
}

// engineProxy hands connections on to the engine until it dies.
type engineProxy struct {
	path  string
	ln    net.Listener
	mu    sync.Mutex
	conns []net.Conn
	dead  bool
}

func newEngineProxy(t *testing.T, dir string) *engineProxy {
	t.Helper()
	p := &engineProxy{path: filepath.Join(dir, "engine.sock")}
	var err error
	if p.ln, err = net.Listen("unix", p.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.die)
	go func() {
		for {
			in, err := p.ln.Accept()
			if err != nil {
				return
			}
			p.relay(in)
		}
	}()
	return p
}

func (p *engineProxy) relay(in net.Conn) {
	out, err := net.Dial("unix", "/var/run/docker.sock")
	if err != nil {
		_ = in.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, in, out)
	if p.dead {
		_, _ = in.Close(), out.Close()
	}
	p.mu.Unlock()
	pipe := func(dst, src net.Conn) {
		_, _ = io.Copy(dst, src)
		if half, ok := dst.(*net.UnixConn); ok {
			_ = half.CloseWrite()
		}
	}
	go pipe(out, in)
	go pipe(in, out)
}

// die cuts everything off, as an engine that is killed does.
func (p *engineProxy) die() {
	_ = p.ln.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for _, c := range p.conns {
		_ = c.Close()
	}
}

// The engine dies in the middle of a run: what was seen is judged, what is left
// is said, and coalmine clean removes it when the engine is back.
func TestEngineDies(t *testing.T) {
	t.Parallel()
	need(t, "docker")
	l := newLab(t, "hostile")
	p := newEngineProxy(t, l.dir)
	c := l.start("docker", []string{"DOCKER_HOST=unix://" + p.path}, l.flags("docker", "--", l.path("hostile"), "mute-after-list")...)
	c.until(`"kind":"call"`)
	p.die()
	c.wait()
	c.says(3, "inconclusive", "coalmine clean")
	l.readable(l.logDir())
	if _, err := os.Stat(filepath.Join(l.logDir(), report.FileJSON)); err != nil {
		t.Errorf("what was seen is not judged: %v", err)
	}
	l.cleaned(c.cmd.Process.Pid)
}

// cleaned runs coalmine clean and checks that nothing of a dead run remains.
func (l *lab) cleaned(pid int) {
	l.t.Helper()
	l.run("docker", nil, "clean").says(0)
	if left := containers(l.t, pid); len(left) > 0 {
		l.t.Errorf("containers remain: %v", left)
	}
}

// withoutStrace runs a command where strace is no program.
const withoutStrace = `for s in $(which -a strace); do mount --bind /dev/null "$s"; done; exec "$@"`

func TestNoTracer(t *testing.T) {
	t.Parallel()
	inBackends(t, func(t *testing.T, backend string) {
		sandboxtest.Need(t, "root", "unshare")
		l := newLab(t, "honest")
		l.wrap = []string{"unshare", "--mount", "sh", "-c", withoutStrace, "sh"}
		c := l.run(backend, nil, l.flags(backend, "--tracer", "strace", "--", l.path("honest"))...)
		c.says(2, "error: ", "strace", "hint: ", "install")
		if ok, _ := bpf.Supported(); ok == "yes" {
			l.run(backend, nil, l.flags(backend, "--", l.path("honest"))...).says(0, "tracer ebpf")
		}
		l.run(backend, nil, l.flags(backend, "--tracer", "none", "--", l.path("honest"))...).says(3, "no tracer watched the run")
	})
}

func TestOutThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	need(t, "local")
	l := newLab(t, "honest")
	if err := os.WriteFile(l.out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.run("local", nil, l.flags("local", "--", l.path("honest"))...).says(2, "error: ", "hint: name a directory that can be written")
	l.out = "/proc/out"
	l.run("local", nil, l.flags("local", "--", l.path("honest"))...).says(2, "error: ", "hint: name a directory that can be written")
}

// A limit on the size of files is a disk that is full after so many bytes.
func TestOutIsFull(t *testing.T) {
	inBackends(t, func(t *testing.T, backend string) {
		sandboxtest.Need(t, "prlimit")
		l := newLab(t, "honest")
		for _, size := range []string{"0", "300", "6000", "20000"} {
			l.wrap = []string{"prlimit", "--fsize=" + size + ":", "--"}
			l.run(backend, nil, l.flags(backend, "--", l.path("honest"))...).says(2, "error: ", "file too large", "hint: ", "full")
		}
		if ok, _ := bpf.Supported(); ok == "yes" {
			l.run(backend, nil, l.flags(backend, "--tracer", "ebpf", "--", l.path("honest"))...).says(2, "error: ", "file too large", "hint: ", "full")
		}
		// A hard limit binds the sandbox too: it may be refused, and must end.
		l.wrap = []string{"prlimit", "--fsize=6000", "--"}
		l.run(backend, nil, l.flags(backend, "--", l.path("honest"))...).says(2, "error: ", "file too large")
	})
}

// interruptions name, by a text of the trace, a moment, and a server that stays in it.
var interruptions = []struct{ phase, at, mode string }{
	{"start", `"type":"ready"`, "never-answers"},
	{"handshake", `"phase":"handshake"`, "never-answers"},
	{"list", `"phase":"list"`, "five-thousand-tools"},
	{"call", `"kind":"call"`, "mute-after-list"},
	{"shutdown", `"phase":"shutdown"`, "ignores-eof"},
}

func TestInterruptAtEveryPhase(t *testing.T) {
	inBackends(t, func(t *testing.T, backend string) {
		for _, i := range interruptions {
			l := newLab(t, "hostile")
			c := l.start(backend, nil, l.flags(backend, "--timeout", "60s", "--call-timeout", "60s", "--", l.path("hostile"), i.mode)...)
			c.until(i.at)
			before := time.Now()
			if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			c.wait()
			c.says(130, "error: interrupted")
			if took := time.Since(before); took > 20*time.Second {
				t.Errorf("%s: the end took %s", i.phase, took)
			}
			l.readable(l.logDir())
			if backend == "docker" {
				if left := containers(t, c.cmd.Process.Pid); len(left) > 0 {
					t.Errorf("%s: containers remain: %v", i.phase, left)
				}
			}
		}
	})
}

// Between the command and the first line of the log there are moments too.
func TestInterruptBeforeTheLog(t *testing.T) {
	t.Parallel()
	inBackends(t, func(t *testing.T, backend string) {
		l := newLab(t, "honest")
		for wait := 5 * time.Millisecond; wait < 2*time.Second; wait = wait * 8 / 3 {
			ctx, cancel := context.WithTimeout(context.Background(), wait)
			_, err := runRequest(ctx, l.options(backend, l.path("honest")))
			cancel()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after %s: %v", wait, err)
			}
		}
	})
}

func TestKilled(t *testing.T) {
	inBackends(t, func(t *testing.T, backend string) {
		for _, at := range []string{`"type":"ready"`, `"kind":"call"`} {
			l := newLab(t, "hostile")
			c := l.start(backend, nil, l.flags(backend, "--", l.path("hostile"), "mute-after-list")...)
			c.until(at)
			if err := c.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			c.wait()
			if backend == "docker" {
				l.cleaned(c.cmd.Process.Pid)
			}
			l.readable(l.logDir())
			judgedFromLog(t, l.logDir())
		}
	})
}

// judgedFromLog judges what a killed run left: never clean.
func judgedFromLog(t *testing.T, dir string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	res, err := analyze.JudgeRun(root, analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Verdict == analyze.Clean {
		t.Error("a run that was cut off is called clean")
	}
}

// Runs one after the other must not leave goroutines behind.
func TestNoGoroutineRemains(t *testing.T) {
	for _, backend := range backends {
		t.Run(backend, func(t *testing.T) {
			need(t, backend)
			l := newLab(t, "hostile")
			l.probe(l.options(backend, l.path("hostile"), "banner"))
			before := runtime.NumGoroutine()
			o := l.options(backend, l.path("hostile"), "mute-after-list")
			quick(&o)
			l.probe(o)
			var usage *sandbox.UsageError
			if _, err := runRequest(t.Context(), l.options(backend, l.path("nothing"))); !errors.As(err, &usage) {
				t.Errorf("a command that is not there: %v", err)
			}
			for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
			if now := runtime.NumGoroutine(); now > before {
				stacks := make([]byte, 1<<20)
				t.Errorf("%d goroutines, %d before\n%s", now, before, stacks[:runtime.Stack(stacks, true)])
			}
			if backend == "docker" {
				if left := containers(t, os.Getpid()); len(left) > 0 {
					t.Errorf("containers remain: %v", left)
				}
			}
		})
	}
}
