package run

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Why the client is told that the connection is over.
var (
	errServerClosed = errors.New("the server closed its stdout")
	errServerEnded  = errors.New("the server ended")
	errStreamEnded  = errors.New("the server's stream of events ended")
	errOnPort       = fmt.Errorf("no answer on stdout in the %s since the server listened on a port", portAlone)
)

// conversation is the work with an MCP server.
type conversation struct {
	runner   Runner
	services services
	lines    lines
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
		Info: s.plan.Identity.Client, Declines: true, Model: modelsAnswer, Roots: rootsOf(s.plan), SkipDiscover: s.plan.Server.Initialize, CallTimeout: s.plan.Budget.CallTimeout,
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

// portAlone is how long a server that listens on a port has to answer on its stdout, where stdio is only a guess. It is
// looked for portFirst after the start, and then every portNext.
const portAlone, portFirst, portNext = 5 * time.Second, 3 * time.Second, 500 * time.Millisecond

// shake makes the handshake. Where stdio is only a guess, it ends early with a server that listens on a port instead.
func (s *Session) shake(ctx context.Context) (*wire.Surface, error) {
	if !s.plan.Server.Guessed {
		return s.Connect(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	wg.Go(func() {
		for wait := portFirst; ; wait = portNext {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			if s.listens(ctx) {
				break
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(portAlone):
			cancel(errOnPort)
		}
	})
	return s.Connect(ctx)
}

// silent reports whether a handshake failed since no answer came in time.
func silent(err error) bool { return errors.Is(err, client.ErrTimeout) || errors.Is(err, errOnPort) }

// listens reports whether the server listens on a port of TCP.
func (s *Session) listens(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	ports, err := s.sandbox.Ports(bounded)
	return err == nil && len(ports) > 0
}

// discoverTimeout is how long a server may stay silent before it is taken for
// one of the older era: one that opens a port answers nothing before it has.
func discoverTimeout(p *plan.Plan) time.Duration {
	if p.Server.Transport != plan.TransportStdio {
		return 15 * time.Second
	}
	return 3 * time.Second
}
