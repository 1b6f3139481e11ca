package agent

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// loopbackTimeout bounds a connection over the loopback.
	loopbackTimeout = 5 * time.Second
	// maxPorts bounds the ports that are told of.
	maxPorts = 1024
)

// serve makes a connection that the host opens: to a port on which the target
// listens. What the target says counts as its output.
func (a *agent) serve(c *mux.Conn) {
	local, err := dialLoopback(c.Context(), c.Addr().Port)
	if err != nil {
		c.Reset(err.Error())
		return
	}
	if c.Accept() != nil {
		_ = local.Close()
		return
	}
	_, _, _ = c.Relay(local, mux.Relay{Sent: func(n int) error { // the host knows how it ended
		total := a.output.Add(int64(n))
		if bound := a.cfg.Limits.Output; bound > 0 && total > bound {
			a.limit(fmt.Sprintf("output: more than %d bytes", bound))
			return &mux.ResetError{Reason: "the limit on output"}
		}
		return nil
	}})
}

// dialLoopback connects to a port, by IPv4 if the target listens there.
func dialLoopback(ctx context.Context, port int) (net.Conn, error) {
	d := net.Dialer{Timeout: loopbackTimeout}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		return conn, nil
	}
	six, sixErr := d.DialContext(ctx, "tcp", net.JoinHostPort("::1", strconv.Itoa(port)))
	if sixErr == nil {
		return six, nil
	}
	return nil, err
}

// answerPorts tells the host the ports on which the target listens, in rising order.
func (a *agent) answerPorts(n int64) {
	uid := a.cfg.User.UID
	if a.cfg.SingleUID {
		uid = -1
	}
	ports := slices.DeleteFunc(listening(uid), func(p int) bool { return slices.Contains(a.notTargets, p) })
	a.emit(session.EventPorts{N: n, Ports: ports[:min(len(ports), maxPorts)]})
}

// listening lists the TCP ports that a user's sockets listen on, everybody's if
// uid is negative, in rising order.
func listening(uid int) []int {
	var ports []int
	for _, name := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			fields := strings.Fields(lines.Text())
			// sl local_address rem_address st queues timer retrnsmt uid
			if len(fields) < 8 || fields[3] != "0A" || uid >= 0 && fields[7] != strconv.Itoa(uid) {
				continue
			}
			_, port, _ := strings.Cut(fields[1], ":")
			if n, err := strconv.ParseUint(port, 16, 16); err == nil && !slices.Contains(ports, int(n)) {
				ports = append(ports, int(n))
			}
		}
		f.Close()
	}
	slices.Sort(ports)
	return ports
}
