package sinkhole

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// sockets are Arm's files, told apart. Closing them leaves the files open.
type sockets struct {
	listeners []*net.TCPListener
	datagrams []*net.UDPConn
	packets   []*os.File // copies of packets that no listener gets
	raw4      *os.File   // for answers from low ports, where those need privilege
	raw6      *os.File
}

// adopt tells files apart.
func adopt(files []*os.File) (*sockets, error) {
	got := &sockets{}
	for _, f := range files {
		if err := got.add(f); err != nil {
			got.close()
			return nil, fmt.Errorf("take %s over: %w", f.Name(), err)
		}
	}
	if len(got.listeners) == 0 || len(got.datagrams) == 0 {
		got.close()
		return nil, errors.New("no listeners were handed over")
	}
	return got, nil
}

func (g *sockets) add(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var domain, typ int
	var failed error
	err = raw.Control(func(fd uintptr) {
		if domain, failed = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DOMAIN); failed == nil {
			typ, failed = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TYPE)
		}
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	switch {
	case domain == unix.AF_NETLINK:
		p, err := duplicate(raw)
		if err != nil {
			return err
		}
		g.packets = append(g.packets, p)
	case typ == unix.SOCK_RAW:
		return g.keep(domain, raw)
	case typ == unix.SOCK_STREAM:
		l, err := net.FileListener(f)
		if err != nil {
			return err
		}
		t, ok := l.(*net.TCPListener)
		if !ok {
			_ = l.Close()
			return fmt.Errorf("it is a %T", l)
		}
		g.listeners = append(g.listeners, t)
	default:
		p, err := net.FilePacketConn(f)
		if err != nil {
			return err
		}
		u, ok := p.(*net.UDPConn)
		if !ok {
			_ = p.Close()
			return fmt.Errorf("it is a %T", p)
		}
		g.datagrams = append(g.datagrams, u)
	}
	return nil
}

// duplicate makes another file of the same socket, on which reads can be ended.
func duplicate(raw syscall.RawConn) (*os.File, error) {
	fd, failed := -1, error(nil)
	err := raw.Control(func(old uintptr) {
		fd, failed = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 3)
	})
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), "packets"), nil
}

func (g *sockets) close() {
	for _, l := range g.listeners {
		_ = l.Close()
	}
	for _, p := range g.datagrams {
		_ = p.Close()
	}
	for _, p := range append(g.packets, g.raw4, g.raw6) {
		if p != nil {
			_ = p.Close()
		}
	}
}
