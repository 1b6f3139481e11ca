package run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
)

// How long a server has to open a port, and how often it is looked for.
const (
	portTimeout = 30 * time.Second
	portEvery   = 50 * time.Millisecond
)

var errNoPort = fmt.Errorf("the server listens on no port after %s", portTimeout)

// lines carries the client's lines to a server.
type lines struct {
	send  func(line []byte) error
	close func()
	// endpoint is the path that HTTP goes to, "" for none or none yet.
	endpoint func() string
}

// connect returns how the run's server is spoken to, once the sandbox has started.
func connect(s *Session) lines {
	p, rec, ready, run := s.plan, s.rec, s.ready, func() *sandbox.Run { return s.sandbox }
	if p.Server.Transport == plan.TransportStdio {
		return lines{close: func() {}, endpoint: func() string { return "" }, send: func(line []byte) error {
			<-ready
			rec.sending(line)
			return run().Stdin(append(append([]byte(nil), line...), '\n'))
		}}
	}
	port := &port{ready: ready, run: run, found: rec.spokenTo}
	w := client.NewWeb(client.WebOptions{
		Dial: port.dial, Port: port.find, Older: p.Server.Transport == plan.TransportSSE,
		Receive: func(line []byte) { rec.received(run().Heard(), line) },
		Ended:   func(err error) { rec.client.Closed(errors.Join(errStreamEnded, err)) },
	})
	return lines{close: w.Close, endpoint: w.Endpoint, send: func(line []byte) error {
		<-ready
		rec.posted(line)
		return w.Send(line)
	}}
}

// port is where a server listens: the lowest of the ports that it has opened
// when it is first seen to have any.
type port struct {
	ready <-chan struct{}
	run   func() *sandbox.Run
	found func(port int)

	mu     sync.Mutex
	number int
}

// dial connects to the server, and waits for it to listen.
func (p *port) dial(ctx context.Context) (net.Conn, error) {
	n, err := p.find(ctx)
	if err != nil {
		return nil, err
	}
	return p.run().Dial(ctx, n)
}

// find waits for the server to listen, and returns its port.
func (p *port) find(ctx context.Context) (int, error) {
	<-p.ready
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.number > 0 {
		return p.number, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, portTimeout, errNoPort)
	defer cancel()
	for {
		ports, err := p.run().Ports(ctx)
		if err != nil {
			return 0, err
		}
		if len(ports) > 0 {
			p.number = ports[0]
			p.found(p.number)
			return p.number, nil
		}
		select {
		case <-time.After(portEvery):
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}
