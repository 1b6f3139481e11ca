package fake

import (
	"context"
	"io"
	"sync"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
)

// Backend starts Targets in place of sandboxes.
type Backend struct {
	// New makes the target of one run.
	New func(sandbox.Spec) Target
	// Refuses is the error of Start, nil for none.
	Refuses error
	// Stays is the error of closing a sandbox, nil for none.
	Stays error

	mu    sync.Mutex
	specs []sandbox.Spec
	// alive are the sandboxes that are there, and most is how many there were at once.
	alive, most int
}

// Of is a backend whose runs are all of one kind of target.
func Of(t func() Target) *Backend {
	return &Backend{New: func(sandbox.Spec) Target { return t() }}
}

// Name implements sandbox.Backend.
func (*Backend) Name() string { return "local" }

// Supported implements sandbox.Backend.
func (*Backend) Supported(context.Context) sandbox.Support { return sandbox.Support{OK: sandbox.Yes} }

// Start implements sandbox.Backend.
func (b *Backend) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.specs = append(b.specs, spec)
	if b.Refuses != nil {
		return nil, b.Refuses
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	b.alive++
	b.most = max(b.most, b.alive)
	c := &conn{backend: b, over: make(chan struct{})}
	c.in, c.toAgent = io.Pipe()
	c.fromAgent, c.out = io.Pipe()
	p := newProcess(c)
	go p.run(b.New(spec))
	return c, nil
}

// Specs are what was to be started so far, in order.
func (b *Backend) Specs() []sandbox.Spec {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]sandbox.Spec(nil), b.specs...)
}

// Alive says how many sandboxes were not closed, and how many there were at once.
func (b *Backend) Alive() (now, most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.alive, b.most
}

// conn is the connection to a fake agent.
type conn struct {
	backend   *Backend
	tracer    tracer
	in        *io.PipeReader // what the agent reads
	toAgent   *io.PipeWriter
	fromAgent *io.PipeReader
	out       *io.PipeWriter // what the agent writes
	said      sandbox.Tail
	over      chan struct{} // closed when the agent has ended
	once      sync.Once
}

// Read implements sandbox.Conn.
func (c *conn) Read(p []byte) (int, error) { return c.fromAgent.Read(p) }

// Write implements sandbox.Conn.
func (c *conn) Write(p []byte) (int, error) { return c.toAgent.Write(p) }

// Config implements sandbox.Conn: there is no strace here, and so no prefix of it.
func (*conn) Config(*agent.Config) {}

// Diagnostics implements sandbox.Conn.
func (c *conn) Diagnostics() string { return c.said.String() }

// Tracer implements sandbox.Traced.
func (c *conn) Tracer() sandbox.Tracer { return &c.tracer }

// Close implements sandbox.Conn. It returns when the agent has ended.
func (c *conn) Close(context.Context) error {
	c.once.Do(func() {
		_ = c.toAgent.CloseWithError(io.EOF)
		_ = c.fromAgent.CloseWithError(io.ErrClosedPipe)
		<-c.over
		c.backend.mu.Lock()
		c.backend.alive--
		c.backend.mu.Unlock()
	})
	return c.backend.Stays
}
