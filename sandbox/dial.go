package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/egress"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
)

// connect makes the host's side of the connections between this process and the
// sandbox. The agent may open some only to hosts that the Spec allows.
func (r *Run) connect(s *Spec) {
	if s.Carry != nil {
		r.conns = mux.NewHost(func(c *mux.Conn) {
			if c.Accept() == nil {
				s.Carry(c)
				<-c.Context().Done()
			}
		})
		return
	}
	if s.Network != nil && len(s.Network.Sinkhole.Allow) > 0 {
		r.egress = egress.NewDialer(s.Network.Sinkhole.Allow)
	}
	if r.egress == nil && len(s.Services) == 0 {
		r.conns = mux.NewHost(nil)
		return
	}
	services := s.Services
	r.conns = mux.NewHost(func(c *mux.Conn) {
		if c.Addr().Net == mux.NetService {
			serve(c, services[c.Addr().Host])
			return
		}
		if r.egress == nil {
			c.Reset("no host is allowed")
			return
		}
		r.egress.Serve(c)
	})
}

// serve relays a connection to a service, nil for one that is not there.
func serve(c *mux.Conn, dial func(context.Context) (net.Conn, error)) {
	if dial == nil {
		c.Reset("there is no such service")
		return
	}
	local, err := dial(c.Context())
	if err != nil {
		c.Reset("the service does not answer")
		return
	}
	if c.Accept() != nil {
		_ = local.Close()
		return
	}
	_, _, _ = c.Relay(local, mux.Relay{Stall: mux.Stall, Farewell: mux.Farewell}) // either side may end it
}

// Ports lists the TCP ports on which the target listens, in rising order.
func (r *Run) Ports(ctx context.Context) ([]int, error) { return r.ports(ctx, agent.CommandPorts) }

// UDPPorts lists the UDP ports at which the target takes datagrams of anybody, in rising
// order: those that it bound, and those that the kernel drew for its own questions.
func (r *Run) UDPPorts(ctx context.Context) ([]int, error) {
	return r.ports(ctx, agent.CommandUDPPorts)
}

func (r *Run) ports(ctx context.Context, command agent.CommandType) ([]int, error) {
	a, err := r.askFor(ctx, agent.Command{Type: command})
	if err != nil {
		return nil, err
	}
	if !a.answered {
		return nil, ErrOver
	}
	return a.ports, nil
}

// Dial connects to a port on which the target listens, on the sandbox's own
// loopback. The connection ends with the run, or when it is closed.
func (r *Run) Dial(ctx context.Context, port int) (net.Conn, error) {
	return r.DialAddr(ctx, mux.Addr{Net: "tcp", Host: "localhost", Port: port})
}

// DialAddr is Dial for a port of TCP or UDP, or a unix socket in the sandbox. Over one of
// datagrams each write is one, and the end is never told.
func (r *Run) DialAddr(ctx context.Context, to mux.Addr) (net.Conn, error) {
	c, err := r.conns.Open(ctx, to)
	var reset *mux.ResetError
	if errors.As(err, &reset) {
		return nil, fmt.Errorf("connect to the target: %q", reset.Reason)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the target: %w", err)
	}
	return c, nil
}

// Heard is the run's clock when the target last sent something over a connection
// that Dial made.
func (r *Run) Heard() time.Duration { return r.conns.Heard() }

// Reached lists the attempts to reach allowed hosts, by this process's own word.
// It is complete once the run is over.
func (r *Run) Reached() []egress.Reached {
	if r.egress == nil {
		return nil
	}
	return r.egress.Reached()
}
