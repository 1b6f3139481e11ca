package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
)

// Bare is a backend without a root of its own: the test's program as an agent
// in fresh namespaces, over the host's files. It proves the agent, not a
// sandbox: what it runs can write wherever the user may.
type Bare struct {
	// Strace is the tracer's argument prefix; nil runs untraced.
	Strace []string
	// SingleUID maps one uid only, as an ordinary user's sandbox has it.
	SingleUID bool
	// InPlace makes no pid namespace: the agent is not PID 1.
	InPlace bool
}

const (
	// inside is the uid and gid of a Bare sandbox's only user with SingleUID.
	inside = 1000
	// nobody is that user's uid on the host where the test is root: it owns nothing there.
	nobody = 54321
)

// Name implements sandbox.Backend.
func (b Bare) Name() string { return "bare" }

// Supported implements sandbox.Backend.
func (b Bare) Supported(context.Context) sandbox.Support {
	if reason := missing("userns"); reason != "" {
		return sandbox.Support{OK: sandbox.No, Reason: reason}
	}
	return sandbox.Support{OK: sandbox.Yes}
}

// attributes are the namespaces, as root's or as an ordinary user's sandbox.
func (b Bare) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID |
			syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Setsid: true,
	}
	if b.InPlace {
		a.Cloneflags &^= syscall.CLONE_NEWPID
	}
	if b.SingleUID || os.Getuid() != 0 {
		uid, gid := os.Getuid(), os.Getgid()
		if uid == 0 {
			uid, gid = nobody, nobody
			a.Credential = &syscall.Credential{Uid: inside, Gid: inside}
			a.GidMappingsEnableSetgroups = true
		}
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: inside, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: inside, HostID: gid, Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_KILL,
			unix.CAP_SETPCAP, unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_DAC_OVERRIDE, unix.CAP_CHOWN, unix.CAP_FOWNER}
		return a
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1 << 20}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1 << 20}}
	a.GidMappingsEnableSetgroups = true
	return a
}

// Start implements sandbox.Backend.
func (b Bare) Start(_ context.Context, spec sandbox.Spec) (sandbox.Conn, error) {
	path := spec.AgentPath
	if path == "" {
		path = "/proc/self/exe"
	}
	cmd := &exec.Cmd{Path: path, Args: []string{"init"}, Env: []string{}, SysProcAttr: b.attributes(), WaitDelay: time.Second}
	c := &bareConn{cmd: cmd, bare: b}
	cmd.Stderr = &c.said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("bare sandbox: %w", err)
	}
	// A pipe of our own: the agent's last frames must outlive its exit.
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("bare sandbox: %w", err)
	}
	cmd.Stdout = theirs
	c.in, c.out = in, out
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("bare sandbox: %w", err)
	}
	return c, nil
}

// bareConn is the connection to a Bare sandbox's agent.
type bareConn struct {
	cmd  *exec.Cmd
	bare Bare
	in   io.WriteCloser
	out  *os.File
	said limited
	once sync.Once
	err  error
}

func (c *bareConn) Read(p []byte) (int, error)  { return c.out.Read(p) }
func (c *bareConn) Write(p []byte) (int, error) { return c.in.Write(p) }
func (c *bareConn) Diagnostics() string         { return c.said.String() }

func (c *bareConn) Config(cfg *agent.Config) {
	cfg.HostFiles = true
	if cfg.TraceSet != "" {
		cfg.Strace = c.bare.Strace
	}
	if c.bare.SingleUID || os.Getuid() != 0 {
		cfg.SingleUID = true
		cfg.User.UID, cfg.User.GID = inside, inside
	}
}

// Pid is the agent's pid on the host.
func (c *bareConn) Pid() int { return c.cmd.Process.Pid }

// AgentPID implements sandbox.AgentProcess.
func (c *bareConn) AgentPID(context.Context) (int, error) {
	if c.bare.InPlace {
		return 0, errors.New("this sandbox has no pid namespace of its own")
	}
	return c.Pid(), nil
}

// CloseInput ends the agent's stdin, as the host's death would.
func (c *bareConn) CloseInput() error { return c.in.Close() }

func (c *bareConn) Close(context.Context) error {
	c.once.Do(func() {
		_ = c.cmd.Process.Kill()
		err := c.cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
			c.err = err
		}
		_ = c.in.Close()
		_ = c.out.Close()
	})
	return c.err
}

// limited keeps the last 64 KiB written.
type limited struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Write(p)
	if extra := l.b.Len() - 64<<10; extra > 0 {
		l.b.Next(extra)
	}
	return len(p), nil
}

func (l *limited) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// probeNamespaces finds out whether a process like this one may make namespaces.
func probeNamespaces() string {
	cmd := exec.Command("true")
	cmd.SysProcAttr = Bare{}.attributes()
	if err := cmd.Run(); err != nil {
		return "user namespaces are not allowed: " + err.Error()
	}
	return ""
}
