package tap

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"golang.org/x/sys/unix"
)

// pipeSize is the default of /proc/sys/fs/pipe-max-size.
const pipeSize = 1 << 20

// widen enlarges a pipe; that it may not is no fault.
func widen(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		if n, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && n < pipeSize {
			_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
		}
	})
}

// giveWay has this goroutine's thread wait for the processor behind the relay's
// and the peers'; the thread ends with the goroutine.
func giveWay() {
	runtime.LockOSThread()
	if p, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil { // 20 less the nice value
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-p+5) // at most 19, and never refused
	}
}

// bulk passes what is large from pipe to pipe by moving its pages, and gives the
// recorder the same pages in a pipe beside the way: no byte is copied before it
// is delivered.
type bulk struct {
	src, dst *pollFile
	side     int // what is written to of the recorder's pipe
	pages    *os.File
	waiting  atomic.Int64 // bytes that the recorder has not read
}

// bulkFrom is how much a Read has to bring for bulk to be tried.
const bulkFrom = 16 << 10

// newBulk returns nil where one of the two is no pipe.
func newBulk(src, dst any) *bulk {
	from, ok := src.(*Side)
	to, ok2 := dst.(*Side)
	if !ok || !ok2 {
		return nil
	}
	r, ok := from.r.(*pollFile)
	w, ok2 := to.w.(*pollFile)
	if !ok || !ok2 || !r.pipe || !w.pipe {
		return nil
	}
	return &bulk{src: r, dst: w, side: -1}
}

// open makes the recorder's pipe, which few sessions need.
func (b *bulk) open() bool {
	if b.side >= 0 {
		return true
	}
	var p [2]int
	if unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK) != nil {
		return false
	}
	_, _ = unix.FcntlInt(uintptr(p[1]), unix.F_SETPIPE_SZ, pipeSize) // as in widen
	b.side, b.pages = p[1], os.NewFile(uintptr(p[0]), "recorder")
	return true
}

// ready reports whether the recorder's pipe is empty, so that it is worth trying.
func (b *bulk) ready() bool { return b != nil && b.waiting.Load() == 0 }

// Read is the recorder's.
func (b *bulk) Read(p []byte) (int, error) {
	n, err := b.pages.Read(p)
	b.waiting.Add(-int64(n))
	return n, err
}

// pass delivers what is there now, as far as the recorder's pipe has room, and
// returns how much that was.
func (b *bulk) pass(q *queue, d session.Dir) (passed int64, err error) {
	if !b.open() {
		return 0, nil
	}
	for {
		n := b.show()
		if n <= 0 {
			return passed, nil // nothing there, no room, or the end: Read says which
		}
		b.waiting.Add(n)
		q.putPages(d, Now(), b, n)
		for n > 0 {
			m, err := b.move(n)
			n -= max(m, 0)
			passed += max(m, 0)
			switch {
			case err == nil || errors.Is(err, unix.EINTR):
			case errors.Is(err, unix.EAGAIN):
				if err := b.dst.room(); err != nil {
					return passed, err
				}
			default:
				return passed, err
			}
		}
	}
}

// show gives the recorder what is there.
func (b *bulk) show() int64 {
	b.src.using.RLock()
	defer b.src.using.RUnlock()
	if b.src.fd < 0 {
		return 0
	}
	n, _ := unix.Tee(b.src.fd, b.side, pipeSize, unix.SPLICE_F_NONBLOCK) // as its caller says
	return n
}

// move delivers at most n bytes that are there.
func (b *bulk) move(n int64) (int64, error) {
	b.src.using.RLock()
	defer b.src.using.RUnlock()
	b.dst.using.RLock()
	defer b.dst.using.RUnlock()
	if b.src.fd < 0 || b.dst.fd < 0 {
		return 0, fs.ErrClosed
	}
	return unix.Splice(b.src.fd, nil, b.dst.fd, nil, int(n), unix.SPLICE_F_NONBLOCK)
}

// close ends the recorder's pipe, of which it has yet to read what it was told;
// its own end of it is closed when nobody holds that any more.
func (b *bulk) close() {
	if b.side >= 0 {
		_ = unix.Close(b.side) // a pipe
	}
}
