package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// loopbackTimeout bounds a connection over the loopback.
	loopbackTimeout = 5 * time.Second
	// maxPorts bounds the ports that are told of.
	maxPorts = 1024
)

// serve makes a connection that the host opens: to a port or a unix socket on which the
// target listens. What the target says counts as its output.
func (a *agent) serve(c *mux.Conn) {
	local, err := dialTarget(c.Context(), c.Addr())
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

// dialTarget connects to a unix socket, or to a port by IPv4 if the target listens there.
func dialTarget(ctx context.Context, to mux.Addr) (net.Conn, error) {
	d := net.Dialer{Timeout: loopbackTimeout}
	if to.Net == "unix" {
		return dialSocket(ctx, &d, to.Host)
	}
	port := strconv.Itoa(to.Port)
	if to.Net == "udp" {
		host := "127.0.0.1"
		if ports := bound(udpBound, -1); !slices.Contains(ports[0], to.Port) && slices.Contains(ports[1], to.Port) {
			host = "::1"
		}
		return d.DialContext(ctx, "udp", net.JoinHostPort(host, port))
	}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	if err == nil {
		return conn, nil
	}
	six, sixErr := d.DialContext(ctx, "tcp", net.JoinHostPort("::1", port))
	if sixErr == nil {
		return six, nil
	}
	return nil, err
}

// dialSocket connects to a unix socket of streams or of datagrams. The target made it, and
// may have put something else in its place: no link is followed.
func dialSocket(ctx context.Context, d *net.Dialer, path string) (net.Conn, error) {
	if !strings.HasPrefix(path, "@") {
		if st, err := os.Lstat(path); err != nil || st.Mode().Type() != os.ModeSocket {
			return nil, errors.Join(err, errors.New("there is no socket"))
		}
	}
	conn, err := d.DialContext(ctx, "unix", path)
	if errors.Is(err, unix.EPROTOTYPE) {
		return d.DialContext(ctx, "unixgram", path)
	}
	return conn, err
}

// answerPorts tells the host the ports of one kind on which the target listens, in rising order.
func (a *agent) answerPorts(c Command, before []int, kind socketKind) {
	uid := a.cfg.User.UID
	if a.cfg.SingleUID {
		uid = -1
	}
	ports := slices.DeleteFunc(listening(kind, uid), func(p int) bool { return slices.Contains(before, p) })
	a.emit(session.EventPorts{N: c.N, Ports: ports[:min(len(ports), maxPorts)]})
}

// socketKind says in which files of /proc/net sockets stand, of IPv4 and of IPv6, and in which
// state those are to which others may speak (include/net/tcp_states.h).
type socketKind struct {
	files [2]string
	state string
}

var (
	tcpListening = socketKind{[2]string{"/proc/self/net/tcp", "/proc/self/net/tcp6"}, "0A"}
	// A socket of UDP that is connected to a peer has another state.
	udpBound = socketKind{[2]string{"/proc/self/net/udp", "/proc/self/net/udp6"}, "07"}
)

// listening lists the ports on which a user's sockets listen, everybody's if uid is negative, in
// rising order.
func listening(kind socketKind, uid int) []int {
	both := bound(kind, uid)
	ports := slices.Concat(both[0], both[1])
	slices.Sort(ports)
	return slices.Compact(ports)
}

// bound lists the same apart, for IPv4 and for IPv6, in the kernel's order.
func bound(kind socketKind, uid int) (ports [2][]int) {
	for i, name := range kind.files {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			fields := strings.Fields(lines.Text())
			// sl local_address rem_address st queues timer retrnsmt uid
			if len(fields) < 8 || fields[3] != kind.state || uid >= 0 && fields[7] != strconv.Itoa(uid) {
				continue
			}
			_, port, _ := strings.Cut(fields[1], ":")
			if n, err := strconv.ParseUint(port, 16, 16); err == nil && n > 0 {
				ports[i] = append(ports[i], int(n))
			}
		}
		f.Close()
	}
	return ports
}
