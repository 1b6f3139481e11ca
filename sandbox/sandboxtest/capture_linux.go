package sandboxtest

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Capture keeps the marks ("<mark NAME>") in all frames that cross any interface
// of the calling thread's network namespace, until the test ends. It needs root.
type Capture struct {
	fd   int
	done chan struct{}

	mu    sync.Mutex
	marks []string
}

// NewCapture starts to capture.
func NewCapture(t testing.TB) *Capture {
	t.Helper()
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, all)
	if err != nil {
		t.Fatal(err)
	}
	c := &Capture{fd: fd, done: make(chan struct{})}
	limit := unix.Timeval{Usec: 50_000}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(c.run)
	t.Cleanup(func() {
		close(c.done)
		ended.Wait()
		_ = unix.Close(fd)
	})
	return c
}

func (c *Capture) run() {
	b := make([]byte, 64<<10)
	for {
		select {
		case <-c.done:
			return
		default:
		}
		n, _, err := unix.Recvfrom(c.fd, b, 0)
		if err != nil {
			continue // nothing came, or an interface is gone
		}
		if _, rest, found := bytes.Cut(b[:n], []byte("<mark ")); found {
			mark, _, _ := strings.Cut(string(rest), ">")
			c.mu.Lock()
			c.marks = append(c.marks, mark)
			c.mu.Unlock()
		}
	}
}

// Marks are those that were seen, each once.
func (c *Capture) Marks() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Clone(c.marks)
	slices.Sort(out)
	return slices.Compact(out)
}

// Await waits for a mark. What was sent before it has then been seen too.
func (c *Capture) Await(t testing.TB, mark string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !slices.Contains(c.Marks(), mark); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the mark %q never came, but %q", mark, c.Marks())
		}
	}
}
