//go:build unix

package tap

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// pollFile is a file whose Read and Write wait in the kernel, each on a thread
// of its own: Write in poll(2), Read in poll(2) or, of a pipe that Close can
// knock at, in read(2) itself. The runtime's poller takes twice as many system
// calls to pass a small message on, and lets other threads spin for it while the
// server wants the processor. One goroutine may read and one write at a time.
type pollFile struct {
	fd   int
	wake [2]int // a pipe, closed to end every wait in poll
	pipe bool
	// blocking says that the flag O_NONBLOCK is not ours to set.
	blocking bool
	// patient says that Read waits in read(2).
	patient atomic.Bool
	// drained says that a Read would most likely have to wait.
	drained bool
	using   sync.RWMutex
	once    sync.Once

	reading, closed atomic.Bool
}

// pollable takes f over as a pollFile, to be read from or else written to; f
// itself is returned where that is not possible.
func pollable(f *os.File, read bool) io.ReadWriteCloser {
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
		p.pipe = st.Mode&unix.S_IFMT == unix.S_IFIFO
		// A terminal's flags belong to everybody who has it open.
		p.blocking = !p.pipe && st.Mode&unix.S_IFMT != unix.S_IFSOCK
		if n, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3); err == nil {
			p.fd = n
		}
	})
	if p.fd < 0 {
		return f
	}
	p.patient.Store(read && p.pipe && p.knockable())
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
		if err := unix.SetNonblock(f.fd, !f.patient.Load()); err != nil {
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

// room waits until something can be written.
func (f *pollFile) room() error {
	f.using.RLock()
	defer f.using.RUnlock()
	if f.fd < 0 {
		return fs.ErrClosed
	}
	return f.wait(unix.POLLOUT)
}

// Read implements io.Reader.
func (f *pollFile) Read(p []byte) (int, error) {
	f.using.RLock()
	defer f.using.RUnlock()
	if f.fd < 0 {
		return 0, fs.ErrClosed
	}
	for {
		if !f.patient.Load() && (f.drained || f.blocking) {
			if err := f.wait(unix.POLLIN); err != nil {
				return 0, err
			}
		}
		n, err := f.read(p)
		f.drained = n < len(p)
		switch {
		case f.closed.Load():
			return 0, fs.ErrClosed
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case errors.Is(err, unix.EAGAIN) && f.patient.Load():
			f.patient.Store(false) // somebody else has set the flag
		case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR):
			return 0, err
		}
	}
}

// read is read(2), where Close knows of it.
func (f *pollFile) read(p []byte) (int, error) {
	f.reading.Store(true)
	defer f.reading.Store(false)
	if f.closed.Load() {
		return 0, fs.ErrClosed
	}
	return unix.Read(f.fd, p)
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

// writeEnd opens the other end of a pipe that is read from.
func (f *pollFile) writeEnd() (int, error) {
	return unix.Open("/proc/self/fd/"+strconv.Itoa(f.fd), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
}

// knockable reports whether Close can end a wait in read(2).
func (f *pollFile) knockable() bool {
	w, err := f.writeEnd()
	return err == nil && unix.Close(w) == nil
}

// knock ends a wait in read(2), which nothing but a byte does: the reader takes
// it and throws it away, since the file is closed by then.
func (f *pollFile) knock() {
	if !f.patient.Load() || !f.reading.Load() {
		return
	}
	w, err := f.writeEnd()
	if err != nil {
		return // it could be opened before; the reader ends with the pipe
	}
	_, _ = unix.Write(w, []byte{'\n'}) // a full pipe wakes the reader too
	_ = unix.Close(w)                  // nothing was left to be written
}

// Close ends a Read and a Write that wait, and implements io.Closer.
func (f *pollFile) Close() error {
	err := fs.ErrClosed
	f.once.Do(func() {
		f.closed.Store(true)
		woken := unix.Close(f.wake[1])
		f.knock()
		f.using.Lock()
		defer f.using.Unlock()
		err = errors.Join(woken, unix.Close(f.fd), unix.Close(f.wake[0]))
		f.fd = -1
	})
	return err
}
