package run

import (
	"context"
	"errors"
	"net/url"
	"path"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
)

// Why the client is told that the connection is over.
var (
	errServerClosed = errors.New("the server closed its stdout")
	errServerEnded  = errors.New("the server ended")
	errStreamEnded  = errors.New("the server's stream of events ended")
)

// conversation is the work with an MCP server.
type conversation struct {
	runner       Runner
	skipDiscover bool
	services     services
	lines        lines
}

func (c *conversation) prepare(ctx context.Context, s *Session, spec *sandbox.Spec) (sandbox.Sink, error) {
	spec.Compare, spec.Await = true, true
	var err error
	if c.services, err = c.runner.startServices(ctx, s.plan); err != nil {
		return nil, err
	}
	c.services.serve(spec)
	c.lines = connect(s)
	s.rec.client = client.New(c.lines.send, client.Options{
		Info: s.plan.Identity.Client, Declines: true, Model: modelsAnswer, Roots: rootsOf(s.plan), SkipDiscover: c.skipDiscover, CallTimeout: s.plan.Budget.CallTimeout,
		HandshakeTimeout: handshakeTimeout(s.plan), DiscoverTimeout: discoverTimeout(s.plan),
	})
	s.Client, s.endpoint = s.rec.client, c.lines.endpoint
	s.progress("starting in the " + c.runner.Backend.Name() + " sandbox")
	return s.rec, nil
}

func (c *conversation) do(ctx context.Context, s *Session) error { return s.exercise(ctx) }

func (c *conversation) close() error {
	if c.lines.close != nil {
		c.lines.close()
	}
	return c.services.close()
}

// modelsAnswer is what a server hears of the model that it asks for an answer. Its place name is
// found again where the server sends the answer on.
const modelsAnswer = "I have read this, and have nothing to add. The visit to Wintergreen stays on Thursday."

// rootsOf are the workspaces of a plan, as a client offers them.
func rootsOf(p *plan.Plan) []client.Root {
	var out []client.Root
	for _, dir := range p.Server.Workspaces {
		out = append(out, client.Root{URI: (&url.URL{Scheme: "file", Path: dir}).String(), Name: path.Base(dir)})
	}
	return out
}

// handshakeTimeout is how long a handshake may take. What records which code runs slows the start down: in a Python
// without sys.monitoring every call of an import is traced.
func handshakeTimeout(p *plan.Plan) time.Duration {
	most := 30 * time.Second
	if p.Drive.Record != "" {
		most *= 3
	}
	return min(most, p.Budget.Timeout)
}

// discoverTimeout is how long a server may stay silent before it is taken for
// one of the older era: one that opens a port answers nothing before it has.
func discoverTimeout(p *plan.Plan) time.Duration {
	if p.Server.Transport != plan.TransportStdio {
		return 15 * time.Second
	}
	return 3 * time.Second
}
