package inplace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// Command is how a container that can be a sandbox is started.
const Command = options + "coalmine probe -- COMMAND…"

// options leave out the engine's own filter of system calls, which refuses them unseen. The
// agent installs one before it starts the target (package seccomp).
const options = "docker run --rm --network none --cap-add SYS_PTRACE --cap-add NET_ADMIN --security-opt seccomp=unconfined --sysctl net.ipv6.conf.all.disable_ipv6=0 "

// command is Command with a further option of the engine.
func command(option string) string { return options + option + "coalmine probe -- COMMAND…" }

// Backend is the container around this process.
type Backend struct{}

// New returns the backend.
func New() *Backend { return &Backend{} }

// Name is "inplace".
func (*Backend) Name() string { return "inplace" }

// Here reports whether this process is the first of a container, where no other
// backend can work and this one may.
func Here() bool { return os.Getpid() == 1 }

// needed are the capabilities without which the target could not be held or watched.
var needed = map[string]uint{
	"SYS_PTRACE": unix.CAP_SYS_PTRACE, "NET_ADMIN": unix.CAP_NET_ADMIN, "SETUID": unix.CAP_SETUID, "SETGID": unix.CAP_SETGID,
	"SETPCAP": unix.CAP_SETPCAP, "CHOWN": unix.CAP_CHOWN, "KILL": unix.CAP_KILL,
}

// Supported implements sandbox.Backend.
func (*Backend) Supported(context.Context) sandbox.Support {
	no := func(format string, a ...any) sandbox.Support {
		return sandbox.Support{OK: sandbox.No, Reason: fmt.Sprintf(format, a...), Hint: Command}
	}
	if !Here() {
		return no("this process is not the first of a container")
	}
	effective, err := capabilities()
	if err != nil {
		return sandbox.Support{OK: sandbox.Unknown, Reason: err.Error()}
	}
	for name, bit := range needed {
		if effective&(1<<bit) == 0 {
			return no("the container lacks the capability %s", name)
		}
	}
	all, err := net.Interfaces()
	if err != nil {
		return sandbox.Support{OK: sandbox.Unknown, Reason: err.Error()}
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			return no("the container has a network (%s)", i.Name)
		}
	}
	if v, err := os.ReadFile("/proc/sys/net/ipv6/conf/all/disable_ipv6"); err == nil && strings.TrimSpace(string(v)) != "0" {
		return no("IPv6 is switched off in the container")
	}
	mounts, err := hostMounts()
	if err != nil {
		return no("coalmine cannot tell which paths of the host are mounted: %v", err)
	}
	if reason, hint := writable(mounts); reason != "" {
		return sandbox.Support{OK: sandbox.No, Reason: reason, Hint: hint}
	}
	if _, err := shown.Program("strace"); err != nil {
		return sandbox.Support{OK: sandbox.No, Reason: "strace is not installed", Hint: "apt-get install strace"}
	}
	return sandbox.Support{OK: sandbox.Yes, Reason: "this container"}
}

// capabilities reads this process's effective set.
func capabilities() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "CapEff:"); ok {
			return strconv.ParseUint(strings.TrimSpace(v), 16, 64)
		}
	}
	return 0, errors.New("the kernel does not tell the capabilities")
}

// Start implements sandbox.Backend.
func (b *Backend) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Conn, error) {
	if s := b.Supported(ctx); s.OK != sandbox.Yes {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("this container cannot be the sandbox: %s", s.Reason), Hint: s.Hint}
	}
	view, err := b.look(ctx, &spec)
	if err != nil {
		return nil, err
	}
	self := spec.AgentPath
	if self == "" {
		self = "/proc/self/exe"
	}
	c := &conn{spec: spec, cmd: exec.Command(self)}
	c.cmd.Args, c.cmd.Env, c.cmd.Dir, c.cmd.Stderr = []string{"init"}, agent.Env(), "/", &c.stderr
	// A session of its own: the user's terminal must not be the target's.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("in place: %w", err)
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("in place: %w", err)
	}
	if err := c.prepare(view); err != nil {
		c.restore()
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		c.restore()
		return nil, fmt.Errorf("in place: start the agent: %w", err)
	}
	return c, nil
}

// look is what is copied of the server's files. What of the host is mounted can be read
// by the server at its own place as well, and nothing here can keep it from that: with
// secrets in it, it is refused.
func (b *Backend) look(ctx context.Context, spec *sandbox.Spec) (*shown.View, error) {
	if err := mountedSecrets(); err != nil {
		return nil, err
	}
	if spec.ServerFrom == "" {
		return nil, nil // it is the container's own
	}
	return spec.Look(ctx)
}

// mountedSecrets refuses mounts with secrets in them. What is mounted stays as it is for
// as long as this process lives.
var mountedSecrets = sync.OnceValue(func() error {
	mounts, err := hostMounts()
	if err != nil {
		return fmt.Errorf("in place: %w", err)
	}
	for _, m := range mounts {
		v, err := shown.Look(context.Background(), shown.Request{Dir: m.point, Histories: true})
		if err != nil {
			return sandbox.NotShown(m.point, err)
		}
		if len(v.Covers) > 0 {
			return &sandbox.UsageError{
				Err:  fmt.Errorf("%s holds secrets that the server could read: %s", m.point, filepath.Join(m.point, v.Covers[0].Path)),
				Hint: "mount only the directory that the server runs from: " + command("-v "+sandbox.Quoted(m.root+"/DIR:"+m.point+"/DIR:ro")+" "),
			}
		}
	}
	return nil
})

// Mounted reports whether a directory is the host's, and has to be copied.
func (*Backend) Mounted(dir string) bool {
	mounts, err := hostMounts()
	return err != nil || mountOf(mounts, dir) != nil
}

// Shows implements sandbox.Shower: the container, and what of the host is mounted in it.
func (b *Backend) Shows(ctx context.Context, spec sandbox.Spec) ([]session.Shown, error) {
	view, err := b.look(ctx, &spec)
	if err != nil {
		return nil, err
	}
	out := []session.Shown{{Path: "/", Why: session.ShownContainer}}
	mounts, err := hostMounts()
	for _, m := range mounts {
		out = append(out, session.Shown{Path: m.root, As: m.point, Why: session.ShownContainer})
	}
	if view != nil {
		out = append(out, spec.ShownServer(view))
	}
	return out, err
}

// conn is the running sandbox.
type conn struct {
	spec    sandbox.Spec
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	stderr  sandbox.Tail
	passwd  []byte   // /etc/passwd as it was, nil if it was left alone
	made    []string // what was not there before the run
	closing sync.Once
	closed  error
}

// prepare gives the target's uid a name, and notes what the run will add to the container.
// The server's files are copied where they come from elsewhere.
func (c *conn) prepare(view *shown.View) error {
	for _, p := range append([]string{c.spec.User.Home, agent.TrustDir, "/run/user"}, c.spec.Workspaces...) {
		if _, err := os.Lstat(p); errors.Is(err, os.ErrNotExist) {
			c.made = append(c.made, p)
		}
	}
	if view != nil && c.spec.ServerFrom != "" {
		c.made = append(c.made, c.spec.ServerDir)
		if err := c.makeDirs(filepath.Dir(c.spec.ServerDir)); err != nil {
			return fmt.Errorf("in place: %w", err)
		}
		if err := copyView(view, c.spec.ServerDir, c.spec.User.UID, c.spec.User.GID); err != nil {
			return fmt.Errorf("in place: copy %s: %w", view.Real, err)
		}
	}
	old, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return fmt.Errorf("in place: %w", err)
	}
	u := c.spec.User
	line := fmt.Sprintf("%s:x:%d:%d::%s:/bin/bash\n", u.Name, u.UID, u.GID, u.Home)
	if err := os.WriteFile("/etc/passwd", append(append([]byte(nil), old...), line...), 0o644); err != nil {
		return fmt.Errorf("in place: name the target's user: %w", err)
	}
	c.passwd = old
	return nil
}

// makeDirs makes a directory below HOME, which belongs to the target with all above it.
func (c *conn) makeDirs(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	home := c.spec.User.Home
	for d := dir; shown.Within(d, home) && home != "/"; d = filepath.Dir(d) {
		if err := os.Lchown(d, c.spec.User.UID, c.spec.User.GID); err != nil {
			return err
		}
	}
	return nil
}

// Read implements sandbox.Conn.
func (c *conn) Read(p []byte) (int, error) { return c.out.Read(p) }

// Write implements sandbox.Conn.
func (c *conn) Write(p []byte) (int, error) { return c.in.Write(p) }

// Config implements sandbox.Conn: the container has its name already, and the
// workspaces are made in it.
func (c *conn) Config(cfg *agent.Config) {
	cfg.Hostname = ""
	cfg.HostFiles = true
	cfg.Policy.NoReserve = true
	if cfg.Network != nil { // the container's network outlives the run
		network := *cfg.Network
		network.Sinkhole.Interface = ""
		cfg.Network = &network
	}
	if cfg.TraceSet != "" {
		if path, err := shown.Program("strace"); err == nil {
			cfg.Strace = []string{path}
		}
	}
	for _, w := range c.spec.Workspaces {
		cfg.Files = append([]rootfs.File{{Path: w, Mode: 0o755, Dir: true}}, cfg.Files...)
	}
}

// Diagnostics implements sandbox.Conn.
func (c *conn) Diagnostics() string { return c.stderr.String() }

// endTimeout bounds the wait for the agent to end all that it started.
const endTimeout = 5 * time.Second

// Close implements sandbox.Conn. As the first process of the container this one
// is spared by the signal to all.
func (c *conn) Close(context.Context) error {
	c.closing.Do(func() {
		_ = c.in.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = c.cmd.Wait()
		}()
		select {
		case <-done:
		case <-time.After(endTimeout):
		}
		if Here() {
			_ = unix.Kill(-1, unix.SIGKILL)
		} else {
			_ = c.cmd.Process.Kill()
		}
		<-done
		c.restore()
	})
	return c.closed
}

func (c *conn) restore() {
	var errs []error
	if c.passwd != nil {
		errs = append(errs, os.WriteFile("/etc/passwd", c.passwd, 0o644))
	}
	for _, p := range c.made {
		errs = append(errs, os.RemoveAll(p))
	}
	c.closed = errors.Join(errs...)
}
