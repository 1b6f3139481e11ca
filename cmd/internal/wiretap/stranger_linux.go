package wiretap

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// stranger says why the program at the other end of a connection is not taken for a person
// at a terminal, "" if it is. A program of the same user that makes a terminal of its
// own and runs coalmine in it cannot be told from a person.
func stranger(conn net.Conn) string {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return "it is no unix socket"
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err.Error()
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) { peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil || failed != nil {
		return "the kernel does not say who it is"
	}
	return judgePeer(int(peer.Pid), int(peer.Uid), proc{})
}

// proc is what the machine says of processes. A test has another one.
type proc struct {
	stat func(pid int) []string // the fields behind the name
	link func(name string) (string, error)
	same func(pid int) bool // whether it runs this very program
	self int
	uid  int
}

// The fields of /proc/PID/stat behind the name (proc(5)).
const (
	fieldParent   = 1
	fieldSession  = 3
	fieldTerminal = 4
)

// judgePeer is stranger for a process and its user.
func judgePeer(pid, uid int, p proc) string {
	p.complete()
	if uid != p.uid && uid != 0 {
		return "it is another user's program"
	}
	if !p.same(pid) {
		return "it is not the coalmine that the gate is"
	}
	mine, its := p.stat(p.self), p.stat(pid)
	if len(mine) <= fieldTerminal || len(its) <= fieldTerminal {
		return "it has ended, or /proc does not show it"
	}
	if in, err := p.link(fmt.Sprintf("/proc/%d/fd/0", pid)); err != nil || !strings.HasPrefix(in, "/dev/pts/") && !strings.HasPrefix(in, "/dev/tty") || its[fieldTerminal] == "0" {
		return "nobody types at a terminal there"
	}
	if its[fieldSession] == mine[fieldSession] {
		return "it is in the gate's own terminal, where the server is too"
	}
	for at, steps := pid, 0; at > 1 && steps < 64; steps++ {
		if at == p.self {
			return "the gate, or its server, has started it"
		}
		f := p.stat(at)
		if len(f) <= fieldParent {
			break
		}
		at, _ = strconv.Atoi(f[fieldParent])
	}
	return ""
}

// complete fills in this machine.
func (p *proc) complete() {
	if p.stat != nil {
		return
	}
	*p = proc{
		stat: func(pid int) []string {
			data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil {
				return nil
			}
			return strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		},
		link: os.Readlink,
		same: func(pid int) bool {
			its, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
			mine, other := os.Stat("/proc/self/exe")
			return err == nil && other == nil && os.SameFile(its, mine)
		},
		self: os.Getpid(), uid: os.Geteuid(),
	}
}
