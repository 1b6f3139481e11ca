package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

const (
	removeTimeout = 30 * time.Second
	// lastWords is how long the end of the stream waits for the engine to say why.
	lastWords = 2 * time.Second
)

// conn is a container and the stream to the agent in it.
type conn struct {
	cli         *client.Client
	setup       *setup
	id          string
	stream      *client.HijackedResponse
	out         io.ReadCloser
	diagnostics *sandbox.Tail
	// ended is closed when the engine has said how the container ended.
	ended  chan struct{}
	cancel context.CancelFunc

	closing sync.Mutex
	closed  bool
}

var _ sandbox.Conn = (*conn)(nil)

// Read implements io.Reader: the agent's stdout.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if err != nil {
		// So that Diagnostics tells why.
		select {
		case <-c.ended:
		case <-time.After(lastWords):
		}
	}
	return n, err
}

// Write implements io.Writer: the agent's stdin.
func (c *conn) Write(p []byte) (int, error) { return c.stream.Conn.Write(p) }

// CloseWrite ends the agent's stdin.
func (c *conn) CloseWrite() error { return c.stream.CloseWrite() }

// Config implements sandbox.Conn.
func (c *conn) Config(cfg *agent.Config) {
	cfg.Strace = c.setup.strace
	cfg.Account = true
	cfg.Bound = diskBound(c.setup.spec)
	cfg.Policy.NoReserve = true // what an image lets everybody write to may lie on the engine's disk
	cfg.Env = addPath(cfg.Env, c.setup.image.env)
	cfg.Files = slices.Concat(passable(c.setup.spec.ServerDir), c.setup.owned(), cfg.Files)
}

// rootHome is the one directory that images close to all others and that users
// keep servers in.
const rootHome = "/root"

// passable opens the way to the server's directory: root's HOME of the image,
// which holds nothing of a user's, can be passed through and not listed.
func passable(serverDir string) []rootfs.File {
	if !strings.HasPrefix(serverDir, rootHome+"/") {
		return nil
	}
	return []rootfs.File{{Path: rootHome, Dir: true, Mode: 0o711, Root: true}}
}

// firstPIDs is the machine's first pid namespace, as the kernel names it.
const firstPIDs = "pid:[4026531836]"

// SharesHostKernel implements sandbox.HostKernel: the engine's machine has this one's name and
// kernel, its programs are run by that kernel itself, and this process sees them all.
func (*Backend) SharesHostKernel(ctx context.Context) sandbox.Support {
	engine, cli := Engine(ctx)
	if cli == nil {
		return engine
	}
	defer func() { _ = cli.Close() }()
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	r, err := cli.Info(ctx, client.InfoOptions{})
	if err != nil {
		return sandbox.Support{OK: sandbox.Unknown, Reason: explain(err, "ask for the engine's machine").Error()}
	}
	name, _ := os.Hostname()
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	switch {
	case r.Info.Name != name || r.Info.KernelVersion != strings.TrimSpace(string(release)):
		return sandbox.Support{OK: sandbox.No, Reason: "the engine is on another machine"}
	case pidNamespace() != firstPIDs:
		return sandbox.Support{OK: sandbox.No, Reason: "this process does not see the containers' processes"}
	case !SharesKernel(r.Info.DefaultRuntime):
		return sandbox.Support{OK: sandbox.No, Reason: "another kernel may be in the engine's runtime " + r.Info.DefaultRuntime}
	}
	return sandbox.Support{OK: sandbox.Yes}
}

// SharesKernel reports whether a container runtime is known to run its containers on
// the engine's own kernel; "" is the engine's default.
func SharesKernel(runtime string) bool {
	return runtime == "" || runtime == "runc" || runtime == "crun"
}

// AgentPID implements sandbox.AgentProcess. The engine's word is checked: a remote
// one, or one in a virtual machine, numbers the processes of another kernel.
func (c *conn) AgentPID(ctx context.Context) (int, error) {
	r, err := c.cli.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{})
	if err != nil {
		return 0, explain(err, "ask for the container's process")
	}
	if r.Container.State == nil || r.Container.State.Pid <= 0 {
		return 0, errors.New("docker: the container has no process")
	}
	pid := r.Container.State.Pid
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil || !strings.Contains(string(groups), c.id) {
		return 0, &sandbox.UsageError{
			Err:  errors.New("docker: the container's processes are not among this machine's: eBPF cannot watch them"),
			Hint: "use --tracer strace",
		}
	}
	return pid, nil
}

// Diagnostics implements sandbox.Conn.
func (c *conn) Diagnostics() string { return c.diagnostics.String() }

// awaitEnd notes how the container ended. When ctx is cancelled the engine's answer
// is cut off, which is an answer, too.
func (c *conn) awaitEnd(ctx context.Context, wait client.ContainerWaitResult) {
	defer close(c.ended)
	select {
	case r := <-wait.Result:
		if r.StatusCode == 0 {
			return
		}
		why := ""
		if state, err := c.cli.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{}); err == nil && state.Container.State != nil && state.Container.State.OOMKilled {
			why = ": out of memory"
		}
		c.diagnostics.Note(fmt.Sprintf("the container ended with status %d%s", r.StatusCode, why))
	case err := <-wait.Error:
		if ctx.Err() == nil {
			c.diagnostics.Note("the engine's answer was cut off: " + err.Error())
		}
	}
}

// Close implements sandbox.Conn. It works after ctx has been cancelled, and may
// be tried again after it failed.
func (c *conn) Close(ctx context.Context) error {
	c.closing.Lock()
	defer c.closing.Unlock()
	if c.closed {
		return nil
	}
	if c.stream != nil {
		c.stream.Close()
		_ = c.out.Close()
	}
	if c.cancel != nil {
		c.cancel()
		<-c.ended
	}
	if c.id != "" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
		defer cancel()
		if err := remove(ctx, c.cli, c.id); err != nil {
			return fmt.Errorf("%w (coalmine clean removes it later)", err)
		}
	}
	c.closed = true
	return c.cli.Close()
}

// remove kills and removes a container with its volumes. That it is gone
// already, or going, is success.
func remove(ctx context.Context, cli *client.Client, id string) error {
	err := untilGone(ctx, func() error {
		_, err := cli.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		return err
	})
	if err != nil {
		return fmt.Errorf("docker: remove container %.12s: %w", id, err)
	}
	return nil
}

// removeVolume removes a volume. That it is gone already, or going, is success.
func removeVolume(ctx context.Context, cli *client.Client, name string) error {
	err := untilGone(ctx, func() error {
		_, err := cli.VolumeRemove(ctx, name, client.VolumeRemoveOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("docker: remove volume %.12s: %w", name, err)
	}
	return nil
}

// untilGone asks for a removal until it is done: what someone else removes at the same time
// conflicts until then. What conflicts for removeTimeout is in use.
func untilGone(ctx context.Context, request func() error) error {
	end := time.After(removeTimeout)
	for {
		err := request()
		switch {
		case cerrdefs.IsNotFound(err):
			return nil
		case !cerrdefs.IsConflict(err):
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-end:
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// removeUnanswered removes what a request may have made whose answer was lost.
func (c *conn) removeUnanswered(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	list, err := c.cli.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", labelName+"="+c.setup.name)})
	if err != nil {
		return
	}
	for _, s := range list.Items {
		_ = remove(ctx, c.cli, s.ID)
	}
}

// demultiplex takes the engine's stream apart. Its goroutine ends with the
// stream, or when the reader is closed.
func demultiplex(in *bufio.Reader, diagnostics io.Writer) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		_, err := stdcopy.StdCopy(w, diagnostics, in)
		_ = w.CloseWithError(err) // nil is the end of the stream
	}()
	return r
}
