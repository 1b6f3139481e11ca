package agent

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
)

// pump carries one descriptor to the host as it becomes readable. What it has
// read has been sent before drain returns, so a sync can say "up to now".
type pump struct {
	file *os.File
	// send gets what one read returned; an error ends the pump.
	send func(stamp time.Duration, p []byte) error
	// closed is called once, at end of file.
	closed func()

	mu   sync.Mutex
	buf  []byte
	over bool
	done chan struct{}
}

// newPump takes over a non-blocking descriptor.
func newPump(fd int, name string, send func(time.Duration, []byte) error, closed func()) *pump {
	return &pump{
		file: os.NewFile(uintptr(fd), name), send: send, closed: closed,
		buf: make([]byte, mux.MaxPayload), done: make(chan struct{}),
	}
}

// run pumps until the end of the file.
func (p *pump) run() {
	defer close(p.done)
	defer func() { _ = p.file.Close() }()
	raw, err := p.file.SyscallConn()
	if err != nil {
		return
	}
	for over := false; !over; {
		err := raw.Read(func(fd uintptr) bool {
			n, ended := p.take(int(fd))
			over = ended
			return ended || n > 0
		})
		if err != nil {
			return
		}
	}
}

// take reads and sends once; n is 0 when nothing was there.
func (p *pump) take(fd int) (n int, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return 0, true
	}
	for {
		n, err := unix.Read(fd, p.buf)
		stamp := clock()
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return 0, false
		case err != nil || n <= 0 || p.send(stamp, p.buf[:n]) != nil:
			p.over = true
			if p.closed != nil {
				p.closed()
			}
			return 0, true
		}
		return n, false
	}
}

// drain sends what is in the pipe now. A writer that never rests cannot hold
// it up: what arrives meanwhile is left to run.
func (p *pump) drain() {
	raw, err := p.file.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		left, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		for err == nil && left > 0 {
			n, over := p.take(int(fd))
			if over || n == 0 {
				return
			}
			left -= n
		}
		// A reader that is between read and send holds the lock until it has sent.
		p.mu.Lock()
		p.mu.Unlock() //nolint:staticcheck // an empty critical section is the point
	})
}

// pipe makes a pipe whose given end is non-blocking for the agent; the other is
// as a program expects it, and belongs to the target where uid is not negative,
// so that it can open /dev/stdout again.
func pipe(agentReads bool, uid, gid int) (mine, theirs int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return 0, 0, fmt.Errorf("make a pipe: %w", err)
	}
	mine, theirs = fds[1], fds[0]
	if agentReads {
		mine, theirs = fds[0], fds[1]
	}
	_, _ = unix.FcntlInt(uintptr(mine), unix.F_SETPIPE_SZ, 1<<20)
	if uid >= 0 {
		_ = unix.Fchown(theirs, uid, gid)
	}
	if err := unix.SetNonblock(mine, true); err != nil {
		return 0, 0, fmt.Errorf("make a pipe: %w", err)
	}
	return mine, theirs, nil
}
