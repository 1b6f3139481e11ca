//go:build linux && e2e

package faults

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
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/trace/bpf"
)

func TestCommandsThatCannotStart(t *testing.T) {
	t.Parallel()
	probetest.InBackends(t, func(t *testing.T, backend string) {
		l := probetest.New(t, "honest")
		if err := os.WriteFile(l.Path("plain"), []byte("#!/bin/sh\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ command, says string }{
			{"no-such-command-anywhere", "command not found"},
			{l.Path("no-such-file"), "command not found"},
			{l.Path("plain"), "permission denied"},
			{filepath.Dir(l.Path("")), "error: "},
		} {
			l.Run(backend, nil, l.Flags(backend, "--", c.command)...).Says(2, "error: ", c.says, "hint: ")
		}
	})
}

// What a server's bytes hold must not reach a terminal, a workflow's log or a viewer as they are.
func TestEvilNamesAreEscaped(t *testing.T) {
	t.Parallel()
	probetest.InBackends(t, func(t *testing.T, backend string) {
		l := probetest.New(t, "hostile")
		for _, format := range []string{"text", "json", "sarif"} {
			c := l.Run(backend, nil, l.Flags(backend, "--format", format, "--", l.Path("hostile"), "evil-names")...)
			c.Says(1)
			harmless(t, format, c.Out.Bytes())
			harmless(t, "stderr", c.Err.Bytes())
			if format != "text" {
				valid(c)
			}
		}
		for _, name := range []string{report.FileJSON, report.FileSARIF} {
			data, err := os.ReadFile(filepath.Join(l.LogDir(), name))
			if err != nil {
				t.Fatal(err)
			}
			harmless(t, name, data)
		}
	})
}

func valid(c *probetest.Child) {
	c.Lab.T.Helper()
	if !json.Valid(c.Out.Bytes()) {
		c.Lab.T.Errorf("no JSON: %.300s", c.Out.String())
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
	probetest.InAllBackends(t, func(t *testing.T, backend string) {
		for _, mode := range scale.First(1, []string{"fill-stdout", "huge-line", "fill-stderr"}) {
			if !slices.Contains(probetest.Paired(mode), backend) {
				continue
			}
			l := probetest.New(t, "hostile")
			c := l.Start(backend, nil, l.Flags(backend, "--calls", "1", "--", l.Path("hostile"), mode)...)
			if got := c.Peak(); got > most || got == 0 {
				t.Errorf("%s: coalmine took %d MiB", mode, got>>20)
			}
			c.Wait()
			c.Says(3)
		}
	})
}

func TestNoEngine(t *testing.T) {
	t.Parallel()
	l := probetest.New(t, "honest")
	dead := "DOCKER_HOST=unix://" + filepath.Join(l.Dir, "no.sock")
	l.Run("docker", []string{dead}, l.Flags("docker", "--", l.Path("honest"))...).Says(2, "error: docker: ", "hint: start Docker")
	probetest.Need(t, "local")
	c := l.Run("auto", []string{dead}, l.Flags("auto", "--", l.Path("honest"))...)
	c.Says(0, "sandbox: local, since docker is not available")
}

func TestEngineDenied(t *testing.T) {
	t.Parallel()
	sandboxtest.Need(t, "docker", "root")
	l := probetest.New(t, "honest")
	if err := os.Mkdir(l.Out, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(l.Out, 0o777); err != nil {
		t.Fatal(err)
	}
	l.As = &syscall.Credential{Uid: 54321, Gid: 54321}
	c := l.Run("docker", []string{"HOME=/nonexistent"}, l.Flags("docker", "--", l.Path("honest"))...)
	c.Says(2, "permission denied", "hint: ", "--sandbox local")
}

func TestContainerKilled(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "docker")
	l := probetest.New(t, "hostile")
	c := l.Start("docker", nil, l.Flags("docker", "--", l.Path("hostile"), "mute-after-list")...)
	c.Until(`"kind":"call"`)
	for _, id := range probetest.Containers(t, c.Cmd.Process.Pid) {
		if out, err := exec.Command("docker", "kill", id).CombinedOutput(); err != nil {
			t.Fatalf("docker kill: %v %s", err, out)
		}
	}
	c.Wait()
	c.Says(3, "inconclusive", "the sandbox ended without notice", "137")
	l.Readable(l.LogDir())
	if left := probetest.Containers(t, c.Cmd.Process.Pid); len(left) > 0 {
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
	probetest.Need(t, "docker")
	l := probetest.New(t, "hostile")
	p := newEngineProxy(t, l.Dir)
	c := l.Start("docker", []string{"DOCKER_HOST=unix://" + p.path}, l.Flags("docker", "--", l.Path("hostile"), "mute-after-list")...)
	c.Until(`"kind":"call"`)
	p.die()
	c.Wait()
	c.Says(3, "inconclusive", "coalmine clean")
	l.Readable(l.LogDir())
	if _, err := os.Stat(filepath.Join(l.LogDir(), report.FileJSON)); err != nil {
		t.Errorf("what was seen is not judged: %v", err)
	}
	cleaned(l, c.Cmd.Process.Pid)
}

// cleaned runs coalmine clean and checks that nothing of a dead run remains.
func cleaned(l *probetest.Lab, pid int) {
	l.T.Helper()
	l.Run("docker", nil, "clean").Says(0)
	if left := probetest.Containers(l.T, pid); len(left) > 0 {
		l.T.Errorf("containers remain: %v", left)
	}
}

// withoutStrace runs a command where strace is no program.
const withoutStrace = `for s in $(which -a strace); do mount --bind /dev/null "$s"; done; exec "$@"`

func TestNoTracer(t *testing.T) {
	t.Parallel()
	probetest.InBackends(t, func(t *testing.T, backend string) {
		sandboxtest.Need(t, "root", "unshare")
		l := probetest.New(t, "honest")
		l.Wrap = []string{"unshare", "--mount", "sh", "-c", withoutStrace, "sh"}
		c := l.Run(backend, nil, l.Flags(backend, "--tracer", "strace", "--", l.Path("honest"))...)
		c.Says(2, "error: ", "strace", "hint: ", "install")
		if ok, _ := bpf.Supported(); ok == "yes" {
			l.Run(backend, nil, l.Flags(backend, "--", l.Path("honest"))...).Says(0, "tracer ebpf")
		}
		l.Run(backend, nil, l.Flags(backend, "--tracer", "none", "--", l.Path("honest"))...).Says(3, "no tracer watched the run")
	})
}

func TestOutThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	l := probetest.New(t, "honest")
	if err := os.WriteFile(l.Out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.Run("local", nil, l.Flags("local", "--", l.Path("honest"))...).Says(2, "error: ", "hint: name a directory that can be written")
	l.Out = "/proc/out"
	l.Run("local", nil, l.Flags("local", "--", l.Path("honest"))...).Says(2, "error: ", "hint: name a directory that can be written")
}

// A limit on the size of files is a disk that is full after so many bytes.
func TestOutIsFull(t *testing.T) {
	probetest.InBackends(t, func(t *testing.T, backend string) {
		sandboxtest.Need(t, "prlimit")
		l := probetest.New(t, "honest")
		for _, size := range []string{"0", "300", "6000", "20000"} {
			l.Wrap = []string{"prlimit", "--fsize=" + size + ":", "--"}
			l.Run(backend, nil, l.Flags(backend, "--", l.Path("honest"))...).Says(2, "error: ", "file too large", "hint: ", "full")
		}
		if ok, _ := bpf.Supported(); ok == "yes" {
			l.Run(backend, nil, l.Flags(backend, "--tracer", "ebpf", "--", l.Path("honest"))...).Says(2, "error: ", "file too large", "hint: ", "full")
		}
		// A hard limit binds the sandbox too: it may be refused, and must end.
		l.Wrap = []string{"prlimit", "--fsize=6000", "--"}
		l.Run(backend, nil, l.Flags(backend, "--", l.Path("honest"))...).Says(2, "error: ", "file too large")
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
	probetest.InBackends(t, func(t *testing.T, backend string) {
		for _, i := range interruptions {
			l := probetest.New(t, "hostile")
			c := l.Start(backend, nil, l.Flags(backend, "--timeout", "60s", "--call-timeout", "60s", "--", l.Path("hostile"), i.mode)...)
			c.Until(i.at)
			before := time.Now()
			if err := c.Cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			c.Wait()
			c.Says(130, "error: interrupted")
			if took := time.Since(before); took > 20*time.Second {
				t.Errorf("%s: the end took %s", i.phase, took)
			}
			l.Readable(l.LogDir())
			if backend == "docker" {
				if left := probetest.Containers(t, c.Cmd.Process.Pid); len(left) > 0 {
					t.Errorf("%s: containers remain: %v", i.phase, left)
				}
			}
		}
	})
}

// Between the command and the first line of the log there are moments too.
func TestInterruptBeforeTheLog(t *testing.T) {
	t.Parallel()
	probetest.InBackends(t, func(t *testing.T, backend string) {
		l := probetest.New(t, "honest")
		for wait := 5 * time.Millisecond; wait < 2*time.Second; wait = wait * 8 / 3 {
			ctx, cancel := context.WithTimeout(context.Background(), wait)
			_, err := probetest.Run(ctx, l.Options(backend, l.Path("honest")))
			cancel()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after %s: %v", wait, err)
			}
		}
	})
}

func TestKilled(t *testing.T) {
	probetest.InBackends(t, func(t *testing.T, backend string) {
		for _, at := range []string{`"type":"ready"`, `"kind":"call"`} {
			l := probetest.New(t, "hostile")
			c := l.Start(backend, nil, l.Flags(backend, "--", l.Path("hostile"), "mute-after-list")...)
			c.Until(at)
			if err := c.Cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			c.Wait()
			if backend == "docker" {
				cleaned(l, c.Cmd.Process.Pid)
			}
			l.Readable(l.LogDir())
			judgedFromLog(t, l.LogDir())
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
	for _, backend := range probetest.Backends {
		t.Run(backend, func(t *testing.T) {
			probetest.Need(t, backend)
			l := probetest.New(t, "hostile")
			l.Probe(l.Options(backend, l.Path("hostile"), "banner"))
			before := runtime.NumGoroutine()
			o := l.Options(backend, l.Path("hostile"), "mute-after-list")
			quick(&o)
			l.Probe(o)
			var usage *sandbox.UsageError
			if _, err := probetest.Run(t.Context(), l.Options(backend, l.Path("nothing"))); !errors.As(err, &usage) {
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
				if left := probetest.Containers(t, os.Getpid()); len(left) > 0 {
					t.Errorf("containers remain: %v", left)
				}
			}
		})
	}
}
