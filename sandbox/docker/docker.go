package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// DefaultImage is the project's own image, of the Dockerfile at the top.
const DefaultImage = "coalmine"

const (
	// pingTimeout bounds the wait for an engine's first answer.
	pingTimeout = 5 * time.Second
	// stepTimeout bounds each request that must not be cut off half done.
	stepTimeout = 60 * time.Second
)

// Backend makes sandboxes with the engine that DOCKER_HOST, the docker
// command's current context or the usual socket names.
type Backend struct {
	// Image is what Supported looks for; "" is DefaultImage. A Spec names its own.
	Image string
}

var _ sandbox.Backend = (*Backend)(nil)

// New returns a Backend for an image, "" for the default one.
func New(image string) *Backend { return &Backend{Image: image} }

// Name implements sandbox.Backend.
func (*Backend) Name() string { return "docker" }

// Supported implements sandbox.Backend: an engine answers and has the image.
func (b *Backend) Supported(ctx context.Context) sandbox.Support {
	engine, cli := Engine(ctx)
	if cli == nil {
		return engine
	}
	defer func() { _ = cli.Close() }()
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	name := cmp.Or(b.Image, DefaultImage)
	if _, err := findImage(ctx, cli, name); err != nil {
		var usage *sandbox.UsageError
		if !errors.As(err, &usage) {
			return sandbox.Support{OK: sandbox.Unknown, Reason: err.Error()}
		}
		return sandbox.Support{OK: sandbox.No, Reason: usage.Error(), Hint: usage.Hint}
	}
	return sandbox.Support{OK: sandbox.Yes, Reason: engine.Reason + ", image " + name}
}

// Engine finds out whether a Docker Engine answers. The client is nil unless one does.
func Engine(ctx context.Context) (sandbox.Support, *client.Client) {
	cli, err := connect(ctx)
	if err == nil {
		reason := "Docker Engine at " + cli.DaemonHost()
		if v, err := cli.ServerVersion(ctx, client.ServerVersionOptions{}); err == nil {
			reason = "Docker Engine " + v.Version
		}
		return sandbox.Support{OK: sandbox.Yes, Reason: reason}, cli
	}
	s := sandbox.Support{OK: sandbox.Unknown, Reason: err.Error()}
	var usage *sandbox.UsageError
	if errors.As(err, &usage) {
		s.OK, s.Hint = sandbox.No, usage.Hint
	}
	return s, nil
}

// Start implements sandbox.Backend. Whatever goes wrong, the container that it
// made is gone when it returns an error.
func (b *Backend) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Conn, error) {
	spec.Image = cmp.Or(spec.Image, b.Image, DefaultImage)
	cli, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	c, err := start(ctx, cli, spec)
	if err != nil {
		_ = cli.Close()
		return nil, err
	}
	return c, nil
}

// Shows implements sandbox.Shower: a container has the server's files, copied, and of the
// rest of this machine the agent and the tracer.
func (b *Backend) Shows(ctx context.Context, spec sandbox.Spec) ([]session.Shown, error) {
	view, err := spec.Look(ctx)
	if err != nil || view == nil {
		return nil, err
	}
	return []session.Shown{spec.ShownServer(view)}, nil
}

// start prepares a container and launches it, without IPv6 where the machine has none.
func start(ctx context.Context, cli *client.Client, spec sandbox.Spec) (*conn, error) {
	p, err := prepare(ctx, cli, spec)
	if err != nil {
		return nil, err
	}
	defer p.close()
	c, err := launch(ctx, cli, p)
	if errors.Is(err, errNoIPv6) {
		p.noIPv6 = true
		c, err = launch(ctx, cli, p)
	}
	return c, err
}

// launch makes the container step by step; each step's failure undoes them all.
func launch(ctx context.Context, cli *client.Client, p *setup) (*conn, error) {
	c := &conn{cli: cli, setup: p, diagnostics: new(sandbox.Tail), ended: make(chan struct{})}
	started := false
	defer func() {
		// A panic passes here, too.
		if !started {
			_ = c.Close(ctx)
		}
	}()
	steps := []func(context.Context) error{c.create, c.findCommand, c.copyPrograms, c.attach, c.run, c.copyServer}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	started = true
	return c, nil
}

// create makes the container. The request is never cut off by ctx: an engine
// may finish it all the same, and the container would be nobody's.
func (c *conn) create(ctx context.Context) error {
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	r, err := c.cli.ContainerCreate(whole, client.ContainerCreateOptions{
		Name: c.setup.name, Config: c.setup.config(), HostConfig: c.setup.hostConfig(),
	})
	if err != nil {
		c.removeUnanswered(ctx)
		return explainStart(err, c.setup, "create the container")
	}
	c.id = r.ID
	for _, w := range r.Warnings {
		c.diagnostics.Note("engine: " + w)
	}
	return ctx.Err()
}

// attach connects to the agent's streams, before there is an agent.
func (c *conn) attach(ctx context.Context) error {
	r, err := c.cli.ContainerAttach(ctx, c.id, client.ContainerAttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return explain(err, "attach to the container")
	}
	c.stream = &r.HijackedResponse
	c.out = demultiplex(r.Reader, c.diagnostics)
	return nil
}

// run registers for the container's end, and starts it.
func (c *conn) run(ctx context.Context) error {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	wait := c.cli.ContainerWait(life, c.id, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	go c.awaitEnd(life, wait)
	whole, done := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer done()
	if _, err := c.cli.ContainerStart(whole, c.id, client.ContainerStartOptions{}); err != nil {
		return explainStart(err, c.setup, "start the container")
	}
	return ctx.Err()
}

// findCommand refuses a command that the image lacks before anything is copied.
// It leaves to the agent what may still come from elsewhere.
func (c *conn) findCommand(ctx context.Context) error {
	p := c.setup
	if len(p.spec.Command) == 0 {
		return nil
	}
	candidates := p.candidates(p.spec.Command[0])
	for _, file := range candidates {
		if _, err := c.cli.ContainerStatPath(ctx, c.id, client.ContainerStatPathOptions{Path: file}); !cerrdefs.IsNotFound(err) {
			return nil
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	return &sandbox.UsageError{
		Err:  fmt.Errorf("command not found: %s: the image %s lacks it", p.spec.Command[0], p.spec.Image),
		Hint: "name an image that has it by --image, or use --sandbox local",
	}
}

// copyPrograms puts the agent and the tracer where they will be started.
func (c *conn) copyPrograms(ctx context.Context) error {
	return copyIn(ctx, c.cli, c.id, c.setup.programs())
}

// copyServer comes after the start, because only a running container holds the
// file systems in memory that the server's directory is copied to. The agent
// waits for its Config meanwhile.
func (c *conn) copyServer(ctx context.Context) error {
	if c.setup.server == nil {
		return nil
	}
	return copyIn(ctx, c.cli, c.id, c.setup.server.write)
}

// copyIn streams what write yields into the container's root as a plain archive.
func copyIn(ctx context.Context, cli *client.Client, id string, write func(io.Writer) error) error {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := write(w)
		_ = w.CloseWithError(err)
		written <- err
	}()
	_, err := cli.CopyToContainer(ctx, id, client.CopyToContainerOptions{DestinationPath: "/", Content: r})
	_ = r.Close()
	// A closed pipe is the engine's refusal, as the writer sees it.
	if werr := <-written; werr != nil && !errors.Is(werr, io.ErrClosedPipe) {
		return fmt.Errorf("docker: copy into the container: %w", werr)
	}
	if err != nil {
		return explain(err, "copy into the container")
	}
	return nil
}

// Identity is the content of the image that is started.
func (b *Backend) Identity(ctx context.Context) (string, error) {
	cli, err := connect(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = cli.Close() }()
	img, err := findImage(ctx, cli, cmp.Or(b.Image, DefaultImage))
	if err != nil {
		return "", err
	}
	return img.id, nil
}
