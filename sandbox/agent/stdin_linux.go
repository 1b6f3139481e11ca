package agent

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// stdinBound bounds the queue: a host that keeps to the window cannot reach it.
const stdinBound = StdinWindow + 1<<20

// stdinWriter writes the target's stdin from a bounded queue, so that a target that
// does not read never keeps the agent from hearing the host.
type stdinWriter struct {
	file *os.File
	// about is called before a write with the bytes in all that it completes.
	about func(total int64)
	// refused is called once when the target has closed its stdin.
	refused func()

	mu     sync.Mutex
	wake   *sync.Cond
	queue  [][]byte
	queued int
	ended  bool
	total  int64
	// written counts the bytes that were written, or that nobody reads any more.
	written atomic.Int64
}

func newStdinWriter(fd int, about func(int64), refused func()) *stdinWriter {
	f := &stdinWriter{file: os.NewFile(uintptr(fd), "stdin"), about: about, refused: refused}
	f.wake = sync.NewCond(&f.mu)
	return f
}

// put queues a copy of p; an empty p closes stdin after what is queued.
func (f *stdinWriter) put(p []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.ended:
		return nil
	case len(p) == 0:
		f.ended = true
	case f.queued+len(p) > stdinBound:
		return fmt.Errorf("the host sent more than %d bytes of stdin ahead", StdinWindow)
	default:
		f.queue = append(f.queue, append([]byte(nil), p...))
		f.queued += len(p)
	}
	f.wake.Signal()
	return nil
}

// abandon closes stdin now, whatever is queued or being written.
func (f *stdinWriter) abandon() {
	f.mu.Lock()
	f.ended, f.queue = true, nil
	f.wake.Signal()
	f.mu.Unlock()
	_ = f.file.Close()
}

// run writes until stdin is closed from either side.
func (f *stdinWriter) run() {
	defer func() { _ = f.file.Close() }()
	open := true
	for {
		p := f.next()
		if p == nil {
			return
		}
		f.total += int64(len(p))
		f.about(f.total)
		if open {
			if _, err := f.file.Write(p); err != nil {
				open = false
				if !errors.Is(err, os.ErrClosed) {
					f.refused()
				}
			}
		}
		f.written.Store(f.total)
	}
}

func (f *stdinWriter) next() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 && !f.ended {
		f.wake.Wait()
	}
	if len(f.queue) == 0 {
		return nil
	}
	p := f.queue[0]
	f.queue = f.queue[1:]
	f.queued -= len(p)
	return p
}
