package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
)

const (
	// dialWait bounds the host's answer to a dial.
	dialWait = 15 * time.Second
	// maxDialRequest bounds a sink's request, maxAnswer what is answered.
	maxDialRequest, maxAnswer = 1 << 10, 255
)

// dialRequest is a sink's request for a connection. The sink sends one end of a
// socket pair with it.
type dialRequest struct {
	Network string `json:"network"`
	Host    string `json:"host"`
	Port    int    `json:"port"`
}

// dialClient is the sink's side. Each request brings the agent one end of a new pair.
type dialClient struct{ fd int }

// dial implements sinkhole.Config.Dial.
func (a *dialClient) dial(ctx context.Context, network, host string, port int) (net.Conn, error) {
	kind := unix.SOCK_STREAM
	if network == "udp" {
		kind = unix.SOCK_SEQPACKET
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("make a pair: %w", err)
	}
	request, err := json.Marshal(dialRequest{network, host, port})
	if err == nil {
		err = unix.Sendmsg(a.fd, request, unix.UnixRights(pair[1]), nil, unix.MSG_NOSIGNAL)
	}
	_ = unix.Close(pair[1])
	if err != nil {
		_ = unix.Close(pair[0])
		return nil, fmt.Errorf("ask the agent: %w", err)
	}
	conn, err := fileConn(pair[0], network)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	if err := readDialResult(conn, network); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, conn.SetReadDeadline(time.Time{})
}

// fileConn makes a connection of one end of a pair.
func fileConn(fd int, network string) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "connection")
	defer func() { _ = f.Close() }()
	conn, err := net.FileConn(f)
	if err == nil && network == "udp" {
		conn = packets{conn}
	}
	return conn, err
}

// readDialResult reads how a dial went: a byte that counts the text of an error.
func readDialResult(conn net.Conn, network string) error {
	b := make([]byte, 1+maxAnswer)
	read := func(b []byte) (int, error) { return conn.Read(b) }
	if network != "udp" {
		read = func(b []byte) (int, error) {
			if _, err := io.ReadFull(conn, b[:1]); err != nil {
				return 0, err
			}
			n, err := io.ReadFull(conn, b[1:1+int(b[0])])
			return 1 + n, err
		}
	}
	n, err := read(b)
	switch {
	case err != nil:
		return fmt.Errorf("wait for the host: %w", err)
	case n == 0 || n != 1+int(b[0]):
		return errors.New("wait for the host: half an answer")
	case n > 1:
		return errors.New(string(b[1:n]))
	}
	return nil
}

// packets keeps the bounds of datagrams, and an empty one apart from the end.
type packets struct{ net.Conn }

// Read reads one datagram.
func (p packets) Read(b []byte) (int, error) {
	whole := make([]byte, 1+len(b))
	n, err := p.Conn.Read(whole)
	return copy(b, whole[min(n, 1):n]), err
}

// Write sends one datagram.
func (p packets) Write(b []byte) (int, error) {
	n, err := p.Conn.Write(append([]byte{0}, b...))
	return max(n-1, 0), err
}

// openDialChannel makes the channel for the sink's requests and returns its end. What the
// sink asks for, the host dials.
func (a *agent) openDialChannel() (int, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make the channel for dials: %w", err)
	}
	if c := &a.cfg.Network.Sinkhole; len(c.Allow)+len(c.Services) == 0 {
		return pair[1], unix.Close(pair[0])
	}
	go a.serveDials(pair[0])
	return pair[1], nil
}

// serveDials takes requests until the sink is gone.
func (a *agent) serveDials(control int) {
	defer func() { _ = unix.Close(control) }()
	b, oob := make([]byte, maxDialRequest), make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, _, _, err := unix.Recvmsg(control, b, oob, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		var q dialRequest
		fd := received(oob[:oobn])
		if fd < 0 {
			continue
		}
		if json.Unmarshal(b[:n], &q) != nil {
			_ = unix.Close(fd)
			continue
		}
		go a.dial(q, fd)
	}
}

// received is the descriptor that came along, -1 for none.
func received(oob []byte) int {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return -1
	}
	for _, m := range messages {
		if fds, err := unix.ParseUnixRights(&m); err == nil && len(fds) == 1 {
			return fds[0]
		}
	}
	return -1
}

// dial is the whole life of a connection that the sink asked for.
func (a *agent) dial(q dialRequest, fd int) {
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return
	}
	local, err := fileConn(fd, q.Network)
	if err != nil {
		return
	}
	defer func() { _ = local.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), dialWait)
	defer cancel()
	conn, err := a.conns.Open(ctx, mux.Addr{Net: q.Network, Host: q.Host, Port: q.Port})
	if err != nil {
		_, _ = local.Write(refusalText(err)) // a sink that is gone asks no more
		return
	}
	if _, err := local.Write([]byte{0}); err != nil {
		_ = conn.Close()
		return
	}
	_, _, _ = conn.Relay(local, mux.Relay{Packets: q.Network == "udp", Stall: mux.Stall, Farewell: mux.Farewell}) // the host keeps the account
}

// refusalText answers the sink why there is no connection, as readDialResult reads it.
func refusalText(err error) []byte {
	text := err.Error()
	var reset *mux.ResetError
	if errors.As(err, &reset) {
		text = cmp.Or(reset.Reason, "the connection was refused") // no text would say that it is made
	}
	text = text[:min(len(text), maxAnswer)]
	return append([]byte{byte(len(text))}, text...)
}
