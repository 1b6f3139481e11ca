package tap

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// drainTimeout bounds how long Relay waits for a recorder once the bytes have passed.
const drainTimeout = 5 * time.Second

var epoch = time.Now()

// Now is the clock of Relay's stamps.
func Now() time.Duration { return time.Since(epoch) }

// Dedicate makes the process a relay's own: it is to stay within so many bytes
// of memory, and each pump that waits in the kernel keeps a processor of the
// runtime to itself, which is then not taken away from it and sought again.
func Dedicate(memory int64) {
	debug.SetMemoryLimit(memory)
	runtime.GOMAXPROCS(runtime.NumCPU() + 2)
}

// Stats says what passed.
type Stats struct {
	// ToServer and ToClient count the bytes that were delivered.
	ToServer, ToClient int64
	// Unrecorded counts the bytes that passed without reaching the recorder.
	Unrecorded int64
	// RecorderErr says why recording stopped, nil if it did not.
	RecorderErr error
}

// Relay passes bytes both ways between client and server until both directions
// have ended, and shows them to rec beside the way: a slow, full or panicking
// recorder costs records, which are counted, never a byte and never time.
//
// A direction that ends is ended on the other side too (CloseWrite, where that
// exists), while the other goes on. A direction whose reader is gone is closed
// towards its writer (CloseRead), as a pipe would be. When ctx is done both
// sides are closed, which has to unblock their Read and Write; Join and Stdio
// make such sides of pipes. Relay returns when all of its goroutines have ended,
// unless the recorder hangs for longer than five seconds. A direction's end,
// even by a peer that died, is no error.
func Relay(ctx context.Context, client, server io.ReadWriter, rec Recorder) (Stats, error) {
	return relay(ctx, client, server, rec, drainTimeout)
}

func relay(ctx context.Context, client, server io.ReadWriter, rec Recorder, drain time.Duration) (Stats, error) {
	q := newQueue(rec)
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		q.run()
	}()
	stop := context.AfterFunc(ctx, func() {
		closeSide(client)
		closeSide(server)
	})
	var wg sync.WaitGroup
	var toServer, toClient atomic.Int64
	var errUp, errDown error
	wg.Go(func() { errUp = pump(q, session.C2S, client, server, &toServer) })
	wg.Go(func() { errDown = pump(q, session.S2C, server, client, &toClient) })
	wg.Wait()
	stop()
	q.close()
	timeout := time.NewTimer(drain)
	defer timeout.Stop()
	select {
	case <-recorded:
	case <-timeout.C:
		q.abandon(errors.New("the recorder hangs"))
	}
	s := Stats{ToServer: toServer.Load(), ToClient: toClient.Load()}
	s.Unrecorded, s.RecorderErr = q.result()
	if err := ctx.Err(); err != nil {
		return s, err
	}
	return s, errors.Join(errUp, errDown)
}

// pump passes one direction. The recorder's share of each chunk is queued
// before it is delivered, so that an answer can never be queued before its question.
func pump(q *queue, d session.Dir, src io.Reader, dst io.Writer, passed *atomic.Int64) error {
	var b *buffer
	large := newBulk(src, dst)
	if large != nil {
		defer large.close()
	}
	for {
		b = q.room(b)
		most := bufferSize
		if large.ready() {
			most = bulkFrom // the rest need not be copied
		}
		n, err := src.Read(b.data[b.used:min(b.used+most, bufferSize)])
		if n > 0 {
			p := b.data[b.used : b.used+n]
			q.put(d, Now(), b, p)
			w, werr := dst.Write(p)
			passed.Add(int64(w))
			if n == most && werr == nil && large.ready() {
				var m int64
				m, werr = large.pass(q, d)
				passed.Add(m)
			}
			q.kick()
			if werr != nil {
				closeRead(src)
				closeWrite(dst)
				q.end(d, Now(), b)
				return ordinary(werr)
			}
		}
		if err != nil {
			closeWrite(dst)
			q.end(d, Now(), b)
			return ordinary(err)
		}
	}
}

// ordinary is err unless it is only how a stream ends.
func ordinary(err error) error {
	for _, end := range []error{io.EOF, io.ErrClosedPipe, fs.ErrClosed, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, end) {
			return nil
		}
	}
	return err
}

func closeWrite(w any) {
	if c, ok := w.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // the other side may be gone already
	}
}

func closeRead(r any) {
	if c, ok := r.(interface{ CloseRead() error }); ok {
		_ = c.CloseRead() // as above
	}
}

func closeSide(s any) {
	if c, ok := s.(io.Closer); ok {
		_ = c.Close() // as above
	}
}
