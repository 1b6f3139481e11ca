package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Backend makes sandboxes from namespaces of this machine.
type Backend struct{}

// New returns the backend; it needs nothing to be set up.
func New() *Backend { return &Backend{} }

// Name is "local".
func (*Backend) Name() string { return "local" }

// Start starts the agent as the first process of fresh namespaces. The sandbox
// lives until the connection is closed, or this process ends.
func (*Backend) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ids, err := newMapping(spec.User.UID, spec.User.GID)
	if err != nil {
		return nil, fmt.Errorf("local sandbox: %w", err)
	}
	h, err := thisHost(spec)
	if err != nil {
		return nil, err
	}
	p, err := newSetup(ctx, h, spec, ids.uid, ids.gid)
	if err != nil {
		return nil, err
	}
	g, err := newGroup(spec)
	c := &conn{setup: p, ids: ids, group: g, ended: make(chan struct{}), read: make(chan struct{})}
	if err != nil {
		c.stderr.Note("control group: " + err.Error())
	}
	if err := c.start(spec.AgentPath); err != nil {
		c.group.remove()
		return nil, err
	}
	return c, nil
}

// Shows implements sandbox.Shower.
func (*Backend) Shows(ctx context.Context, spec sandbox.Spec) ([]session.Shown, error) {
	h, err := thisHost(spec)
	if err != nil {
		return nil, err
	}
	p, err := newSetup(ctx, h, spec, os.Getuid(), os.Getgid())
	if err != nil {
		return nil, err
	}
	return p.shows(), nil
}

// thisHost is where a Spec's command is looked up: from this process' working
// directory, in the user's search path, then in the target's.
func thisHost(spec sandbox.Spec) (host, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return host{}, fmt.Errorf("find the working directory: %w", err)
	}
	home, _ := os.UserHomeDir()
	path := filepath.SplitList(os.Getenv("PATH"))
	for _, v := range spec.Env {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			path = append(path, filepath.SplitList(value)...)
		}
	}
	h := host{cwd: cwd, home: home, path: path, env: os.Getenv, bounds: spec.Bounds}
	if spec.ServerFrom != "" {
		if h.from, err = filepath.EvalSymlinks(spec.ServerFrom); err != nil {
			return host{}, fmt.Errorf("the server's files: %w", err)
		}
		h.shown = filepath.Clean(spec.ServerDir)
	}
	return h, nil
}

// conn is a running sandbox.
type conn struct {
	setup *setup
	ids   mapping

	group   *group // nil where none could be made
	process *os.Process
	in, out *os.File
	stderr  sandbox.Tail

	// ended is closed when PID 1, and so everything, has ended; read when its
	// stderr has been read to the end.
	ended, read chan struct{}
	closing     sync.Once
	closed      sync.Once
}

const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// agentCaps are what the agent needs to build the sandbox and to watch it, in its own user namespace.
var agentCaps = []uintptr{
	unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_KILL, unix.CAP_SETPCAP,
	unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_CHOWN, unix.CAP_FOWNER,
}

// start makes the pipes and the process.
func (c *conn) start(agentPath string) error {
	if agentPath == "" {
		agentPath = "/proc/self/exe"
	}
	var pipes [3][2]*os.File
	var err error
	for i := range pipes {
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			closePipes(pipes[:i])
			return fmt.Errorf("local sandbox: make a pipe: %w", err)
		}
	}
	theirs := []*os.File{pipes[0][0], pipes[1][1], pipes[2][1]}
	if c.group != nil {
		events, err := os.Open(c.group.events)
		if err != nil {
			closePipes(pipes[:])
			return fmt.Errorf("local sandbox: %w", err)
		}
		theirs = append(theirs, events) // agent.EventsFD
	}
	attr := &os.ProcAttr{
		Dir: "/", Env: agent.Env(), Files: theirs,
		Sys: &syscall.SysProcAttr{
			Cloneflags:  namespaces,
			UidMappings: c.ids.uids, GidMappings: c.ids.gids, GidMappingsEnableSetgroups: !c.ids.single,
			// A session of its own: the user's terminal must not be the target's.
			Setsid: true, Pdeathsig: syscall.SIGKILL,
		},
	}
	if c.ids.single && c.ids.uid != 0 {
		// Only root keeps its capabilities over the exec that makes it the agent.
		attr.Sys.AmbientCaps = agentCaps
	}
	started := make(chan error, 1)
	go c.hold(agentPath, attr, started)
	err = <-started
	if err != nil {
		closePipes(pipes[:])
		return cannotStart(err)
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	c.in, c.out = pipes[0][1], pipes[1][0]
	if c.group != nil {
		// The agent waits for its Config, so nothing has been started yet.
		if err := c.group.add(c.process.Pid); err != nil {
			c.group.remove()
			c.group = nil
			c.stderr.Note("control group: " + err.Error())
		}
	}
	go func() {
		defer close(c.read)
		_, _ = io.Copy(&c.stderr, pipes[2][0])
		_ = pipes[2][0].Close()
	}()
	return nil
}

func closePipes(pipes [][2]*os.File) {
	for _, p := range pipes {
		_, _ = p[0].Close(), p[1].Close()
	}
}

// hold starts PID 1 and waits for its end on one thread: the signal that kills the sandbox
// when its parent dies is sent when that thread ends.
func (c *conn) hold(path string, attr *os.ProcAttr, started chan<- error) {
	// Never unlocked: the thread has its own keyring below, and ends with this.
	runtime.LockOSThread()
	// The user's login may have put keys into the session's keyring, which a
	// process inherits whatever its namespaces. Where there are no keyrings there is no need.
	_, _ = unix.KeyctlJoinSessionKeyring("")
	process, err := os.StartProcess(path, []string{"init"}, attr)
	c.process = process
	started <- err
	if err != nil {
		return
	}
	_, _ = process.Wait()
	close(c.ended)
}

// cannotStart says why the kernel refused namespaces.
func cannotStart(err error) error {
	if errors.Is(err, os.ErrPermission) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EUSERS) || errors.Is(err, unix.EINVAL) {
		reason, hint := whyNoNamespaces()
		return &sandbox.UsageError{Err: fmt.Errorf("local sandbox: %s: %w", reason, err), Hint: hint}
	}
	return fmt.Errorf("local sandbox: start the agent: %w", err)
}

// Read reads the agent's stream.
func (c *conn) Read(p []byte) (int, error) { return c.out.Read(p) }

// Write writes to the agent.
func (c *conn) Write(p []byte) (int, error) { return c.in.Write(p) }

// Config adds the root, the tracer, the ids and the command as it is inside.
func (c *conn) Config(cfg *agent.Config) {
	layout := c.setup.layout
	// The root is read-only once it is built, so everything is planted while it is not.
	layout.Files = slices.Concat(layout.Files, c.setup.plantable(cfg.Files))
	cfg.Files = nil
	cfg.Root = &layout
	cfg.Command = c.setup.command
	cfg.Dir = c.setup.dir
	cfg.Env = append(withPath(cfg.Env, c.setup.path), c.setup.vars...)
	cfg.SingleUID = c.ids.single
	cfg.User.UID, cfg.User.GID = c.ids.uid, c.ids.gid
	cfg.Grouped = c.group != nil
	cfg.Strace = nil
	if c.setup.strace != "" {
		cfg.Strace = []string{c.setup.strace}
	}
}

// withPath puts directories first in an environment's search path.
func withPath(env, dirs []string) []string {
	out := slices.Clone(env)
	if len(dirs) == 0 {
		return out
	}
	first := strings.Join(dirs, ":")
	for i, v := range out {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			out[i] = "PATH=" + first + ":" + value
			return out
		}
	}
	return append(out, "PATH="+first+":/usr/local/bin:/usr/bin:/bin")
}

// SharesHostKernel implements sandbox.HostKernel.
func (*Backend) SharesHostKernel(context.Context) sandbox.Support {
	return sandbox.Support{OK: sandbox.Yes}
}

// AgentPID implements sandbox.AgentProcess.
func (c *conn) AgentPID(context.Context) (int, error) { return c.process.Pid, nil }

// Diagnostics is the tail of what the agent printed.
func (c *conn) Diagnostics() string { return c.stderr.String() }

// Close kills PID 1, with which the kernel ends everything in the sandbox and
// takes down its mounts, and waits for that.
func (c *conn) Close(ctx context.Context) error {
	c.closing.Do(func() {
		_ = c.process.Kill()
		_ = c.in.Close()
	})
	select {
	case <-c.ended:
	case <-ctx.Done():
		return fmt.Errorf("local sandbox: wait for its end: %w", context.Cause(ctx))
	}
	_ = c.out.Close()
	<-c.read
	c.closed.Do(c.group.remove)
	return nil
}
