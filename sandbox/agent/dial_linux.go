package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/carry"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// dialWait bounds the host's answer to a dial.
	dialWait = 15 * time.Second
	// maxAsk bounds a sink's question, maxAnswer what is answered.
	maxAsk, maxAnswer = 1 << 10, 255
)

// ask is a sink's wish for a connection; its end of it comes along.
type ask struct {
	Network string `json:"network"`
	Host    string `json:"host"`
	Port    int    `json:"port"`
}

// asker is the sink's side. Each question brings the agent one end of a new pair.
type asker struct{ fd int }

// dial implements sinkhole.Config.Dial.
func (a *asker) dial(ctx context.Context, network, host string, port int) (net.Conn, error) {
	kind := unix.SOCK_STREAM
	if network == "udp" {
		kind = unix.SOCK_SEQPACKET
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("make a pair: %w", err)
	}
	question, err := json.Marshal(ask{network, host, port})
	if err == nil {
		err = unix.Sendmsg(a.fd, question, unix.UnixRights(pair[1]), nil, unix.MSG_NOSIGNAL)
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
	if err := hearAnswer(conn, network); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, conn.SetReadDeadline(time.Time{})
}

// fileConn makes a connection of one end of a pair.
func fileConn(fd int, network string) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "carried")
	defer func() { _ = f.Close() }()
	conn, err := net.FileConn(f)
	if err == nil && network == "udp" {
		conn = packets{conn}
	}
	return conn, err
}

// hearAnswer reads how a dial went: a byte that counts the text of an error.
func hearAnswer(conn net.Conn, network string) error {
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

// dials is the agent's side: what its sink asks for, the host dials. A nil one
// carries nothing.
type dials struct {
	a       *agent
	carrier *carry.Carrier
	control int
	ctx     context.Context
	cancel  context.CancelFunc
}

// hearDials makes the channel for the sink's questions and returns its end.
func (a *agent) hearDials() (int, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make the channel for dials: %w", err)
	}
	if len(a.cfg.Network.Sinkhole.Allow) == 0 {
		return pair[1], unix.Close(pair[0])
	}
	d := &dials{a: a, control: pair[0]}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.carrier = carry.New(func(p []byte) error {
		return a.out.Write(mux.Frame{Stream: mux.Carried, Stamp: clock(), Payload: p})
	})
	a.dials = d
	go d.run()
	return pair[1], nil
}

// run takes questions until the sink is gone.
func (d *dials) run() {
	defer func() { _ = unix.Close(d.control) }()
	b, oob := make([]byte, maxAsk), make([]byte, unix.CmsgSpace(4))
	for id := int64(1); ; id++ {
		n, oobn, _, _, err := unix.Recvmsg(d.control, b, oob, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		var q ask
		fd := received(oob[:oobn])
		if fd < 0 {
			continue
		}
		if json.Unmarshal(b[:n], &q) != nil {
			_ = unix.Close(fd)
			continue
		}
		go d.serve(id, q, fd)
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

// serve is one connection's whole life.
func (d *dials) serve(id int64, q ask, fd int) {
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return
	}
	local, err := fileConn(fd, q.Network)
	if err != nil {
		return
	}
	defer func() { _ = local.Close() }()
	ctx, cancel := context.WithTimeout(d.ctx, dialWait)
	defer cancel()
	conn, err := d.carrier.Open(ctx, id, func() {
		d.a.emit(session.EventDial{ID: id, Network: q.Network, Host: q.Host, Port: q.Port})
	})
	answer := []byte{0}
	if err != nil {
		text := err.Error()
		text = text[:min(len(text), maxAnswer)]
		answer = append([]byte{byte(len(text))}, text...)
	}
	if _, no := local.Write(answer); err != nil || no != nil {
		if err == nil {
			conn.Close()
		}
		return
	}
	_, _, _ = conn.Carry(local, q.Network == "udp", func(int) error { return nil })
}

// take takes what the host sends; a host that breaks the rules is not believed either.
func (d *dials) take(p []byte) {
	if d != nil {
		_ = d.carrier.Take(p)
	}
}

// close ends what is carried.
func (d *dials) close() {
	if d != nil {
		d.cancel()
		d.carrier.Close()
	}
}
