package agent

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
)

// openCarrier listens on the loopback port whose connections the host serves.
func (a *agent) openCarrier() error {
	if a.cfg.Carrier == 0 {
		return nil
	}
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(a.cfg.Carrier)))
	if err != nil {
		return fmt.Errorf("listen for connections to the host: %w", err)
	}
	go func() {
		<-a.finish
		_ = l.Close()
	}()
	go func() {
		for {
			local, err := l.Accept()
			if err != nil {
				return
			}
			go a.tunnel(local)
		}
	}()
	return nil
}

// tunnel passes one connection on to the host, which keeps the account.
func (a *agent) tunnel(local net.Conn) {
	defer func() { _ = local.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), dialWait)
	defer cancel()
	conn, err := a.conns.Open(ctx, mux.Addr{Net: "tcp", Host: "localhost", Port: a.cfg.Carrier})
	if err != nil {
		return
	}
	_, _, _ = conn.Relay(local, mux.Relay{Stall: mux.Stall, Farewell: mux.Farewell})
}
