package tap

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// bufferSize is what is read at once; a buffer with less than minRead left is done.
	bufferSize = 256 << 10
	minRead    = 64 << 10
	// keptBuffers are made at the start and kept: what a large frame needs both ways.
	keptBuffers = 12
	// maxQueued bounds the bytes, as whole buffers, that wait for the recorder.
	maxQueued = 20 << 20
	// pause is how long the recorder leaves the processor to the relay.
	pause = 5 * time.Millisecond
)

// buffer is read into by one pump, piece after piece, and read from by the
// recorder. It is used again when neither holds it.
type buffer struct {
	data []byte
	used int
	refs atomic.Int32
}

// item is one chunk on its way to the recorder, or a direction's end.
type item struct {
	d     session.Dir
	stamp time.Duration
	p     []byte
	lost  int64 // bytes missing before p
	end   bool
	buf   *buffer
	// pages has n bytes in place of p.
	pages io.Reader
	n     int64
}

// queue stands between the pumps and the recorder. It never makes a pump wait:
// what finds no room is counted and told to the recorder as lost.
type queue struct {
	rec  Recorder
	free chan *buffer // buffers to be used again, in memory already
	wake chan struct{}
	done chan struct{}
	held atomic.Int64 // buffers that items hold, in bytes

	seen      atomic.Int64 // bytes that were to be recorded
	delivered atomic.Int64 // bytes that the recorder has had

	page []byte // what the recorder reads pages into

	mu    sync.Mutex
	items []item
	gap   [2]int64 // by direction, bytes lost since the last item
	err   error    // why the recorder is gone: nothing is queued any more
}

func newQueue(rec Recorder) *queue {
	q := &queue{rec: rec, free: make(chan *buffer, maxQueued/bufferSize), wake: make(chan struct{}, 1), done: make(chan struct{})}
	for range keptBuffers {
		b := &buffer{data: make([]byte, bufferSize)}
		for i := 0; i < bufferSize; i += 4096 {
			b.data[i] = 1 // so that no page is faulted in when the first frame passes
		}
		q.free <- b
	}
	return q
}

// room is a buffer with at least minRead bytes to read into: b itself if it has them.
func (q *queue) room(b *buffer) *buffer {
	if b != nil && len(b.data)-b.used >= minRead {
		return b
	}
	if b != nil {
		q.release(b)
	}
	select {
	case b = <-q.free:
	default:
		b = &buffer{data: make([]byte, bufferSize)}
	}
	b.used = 0
	b.refs.Store(1)
	return b
}

// release gives up one hold on b.
func (q *queue) release(b *buffer) {
	if b.refs.Add(-1) == 0 {
		q.held.Add(-b.counted())
		select {
		case q.free <- b:
		default:
		}
	}
}

// counted is what b adds to held: nothing until an item holds it.
func (b *buffer) counted() int64 {
	if b.used == 0 {
		return 0
	}
	return bufferSize
}

func index(d session.Dir) int {
	if d == session.C2S {
		return 0
	}
	return 1
}

// put queues p, which lies in b, or counts it as lost.
func (q *queue) put(d session.Dir, stamp time.Duration, b *buffer, p []byte) {
	q.seen.Add(int64(len(p)))
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil || b.used == 0 && q.held.Load() >= maxQueued {
		// Nothing holds the piece: the pump reads into it again.
		q.gap[index(d)] += int64(len(p))
		return
	}
	if b.used == 0 {
		q.held.Add(bufferSize)
	}
	b.used += len(p)
	b.refs.Add(1)
	q.items = append(q.items, item{d: d, stamp: stamp, p: p, lost: q.gap[index(d)], buf: b})
	q.gap[index(d)] = 0
}

// putPages queues n bytes that are in a pipe for the recorder.
func (q *queue) putPages(d session.Dir, stamp time.Duration, pages io.Reader, n int64) {
	q.seen.Add(n)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, item{d: d, stamp: stamp, lost: q.gap[index(d)], pages: pages, n: n})
	q.gap[index(d)] = 0
}

// end queues the direction's end and gives up the pump's buffer.
func (q *queue) end(d session.Dir, stamp time.Duration, b *buffer) {
	q.mu.Lock()
	q.items = append(q.items, item{d: d, stamp: stamp, lost: q.gap[index(d)], end: true})
	q.gap[index(d)] = 0
	q.mu.Unlock()
	q.release(b)
	q.kick()
}

// kick wakes the recorder if it sleeps for want of items.
func (q *queue) kick() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// close says that nothing more is queued.
func (q *queue) close() { close(q.done) }

// run hands items to the recorder until the queue is closed and empty. It lets
// each burst pass before it takes the processor, unless much is waiting.
func (q *queue) run() {
	giveWay()
	var batch []item
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for closed := false; !closed; {
		q.trim()
		select {
		case <-q.wake:
		case <-q.done:
		}
		if q.held.Load() < maxQueued/4 {
			timer.Reset(pause)
			select {
			case <-timer.C:
			case <-q.done:
			}
		}
		select {
		case <-q.done:
			closed = true
		default:
		}
		q.mu.Lock()
		batch, q.items = q.items, batch[:0]
		q.mu.Unlock()
		for i := range batch {
			q.deliver(&batch[i])
			batch[i] = item{}
		}
	}
}

// trim gives up the buffers that a flood needed, once it is over.
func (q *queue) trim() {
	for q.held.Load() == 0 && len(q.free) > keptBuffers {
		select {
		case <-q.free:
		default:
		}
	}
}

// deliver hands one item to the recorder. A panic there ends recording, not the relay.
func (q *queue) deliver(it *item) {
	defer func() {
		if p := recover(); p != nil {
			q.abandon(fmt.Errorf("the recorder panicked: %v", p))
		}
		if it.buf != nil {
			q.release(it.buf)
		}
	}()
	if _, err := q.result(); err != nil {
		return
	}
	if it.lost > 0 {
		q.rec.Lost(it.d, it.stamp, it.lost)
	}
	if len(it.p) > 0 {
		q.rec.Bytes(it.d, it.stamp, it.p)
		q.delivered.Add(int64(len(it.p)))
	}
	if it.n > 0 {
		q.deliverPages(it)
	}
	if it.end {
		q.rec.End(it.d, it.stamp)
	}
}

// deliverPages reads what a pipe has for the recorder.
func (q *queue) deliverPages(it *item) {
	if q.page == nil {
		q.page = make([]byte, bufferSize)
	}
	for it.n > 0 {
		n, err := it.pages.Read(q.page[:min(it.n, bufferSize)])
		if err != nil {
			q.rec.Lost(it.d, it.stamp, it.n)
			return
		}
		it.n -= int64(n)
		q.rec.Bytes(it.d, it.stamp, q.page[:n])
		q.delivered.Add(int64(n))
	}
}

// abandon ends recording.
func (q *queue) abandon(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
	}
}

// result is how many bytes the recorder did not get, and why it ended early.
func (q *queue) result() (unrecorded int64, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.seen.Load() - q.delivered.Load(), q.err
}
