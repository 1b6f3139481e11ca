//go:build unix

package tap

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// pollFile is a file whose Read and Write wait in poll(2), each on a thread of
// its own. The runtime's poller takes twice as many system calls to pass a
// small message on, and lets other threads spin for it while the server wants
// the processor. One goroutine may read and one write at a time.
type pollFile struct {
	fd   int
	wake [2]int // a pipe, closed to end every wait
	// blocking says that the flag O_NONBLOCK is not ours to set.
	blocking bool
	// drained says that a Read would most likely have to wait.
	drained bool
	using   sync.RWMutex
	once    sync.Once
}

// pollable takes f over as a pollFile; f itself is returned where that is not possible.
func pollable(f *os.File) io.ReadWriteCloser {
	raw, err := f.SyscallConn()
	if err != nil {
		return f
	}
	p := &pollFile{fd: -1}
	_ = raw.Control(func(fd uintptr) {
		var st unix.Stat_t
		if unix.Fstat(int(fd), &st) != nil {
			return
		}
		// A terminal's flags belong to everybody who has it open.
		p.blocking = st.Mode&unix.S_IFMT != unix.S_IFIFO && st.Mode&unix.S_IFMT != unix.S_IFSOCK
		if n, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3); err == nil {
			p.fd = n
		}
	})
	if p.fd < 0 {
		return f
	}
	if err := p.prepare(); err != nil {
		_ = unix.Close(p.fd) // f is still there
		return f
	}
	// The peer sees the end only when no descriptor is left.
	f.Close()
	return p
}

func (f *pollFile) prepare() error {
	if !f.blocking {
		if err := unix.SetNonblock(f.fd, true); err != nil {
			return err
		}
	}
	if err := unix.Pipe(f.wake[:]); err != nil {
		return err
	}
	unix.CloseOnExec(f.wake[0])
	unix.CloseOnExec(f.wake[1])
	return nil
}

// wait returns when the file is ready, or with fs.ErrClosed when it is closed.
func (f *pollFile) wait(events int16) error {
	fds := [2]unix.PollFd{{Fd: int32(f.fd), Events: events}, {Fd: int32(f.wake[0])}}
	for {
		_, err := unix.Poll(fds[:], -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case fds[1].Revents != 0:
			return fs.ErrClosed
		default:
			return nil
		}
	}
}

// Read implements io.Reader.
func (f *pollFile) Read(p []byte) (int, error) {
	f.using.RLock()
	defer f.using.RUnlock()
	if f.fd < 0 {
		return 0, fs.ErrClosed
	}
	for {
		if f.drained || f.blocking {
			if err := f.wait(unix.POLLIN); err != nil {
				return 0, err
			}
		}
		n, err := unix.Read(f.fd, p)
		f.drained = n < len(p)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR):
			return 0, err
		}
	}
}

// Write implements io.Writer.
func (f *pollFile) Write(p []byte) (done int, err error) {
	f.using.RLock()
	defer f.using.RUnlock()
	if f.fd < 0 {
		return 0, fs.ErrClosed
	}
	for done < len(p) {
		n, err := unix.Write(f.fd, p[done:])
		done += max(n, 0)
		switch {
		case err == nil || errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			if err := f.wait(unix.POLLOUT); err != nil {
				return done, err
			}
		default:
			return done, err
		}
	}
	return done, nil
}

// Close ends a Read and a Write that wait, and implements io.Closer.
func (f *pollFile) Close() error {
	err := fs.ErrClosed
	f.once.Do(func() {
		woken := unix.Close(f.wake[1])
		f.using.Lock()
		defer f.using.Unlock()
		err = errors.Join(woken, unix.Close(f.fd), unix.Close(f.wake[0]))
		f.fd = -1
	})
	return err
}
