package serve

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// lastAnswers is how long the end of the input waits for answers under way.
const lastAnswers = 30 * time.Second

// DrainBeforeEOF makes a client's input end only when its requests are answered: the
// SDK gives up what is under way at the end of the input, and a client may write
// all that it asks, close, and read.
func DrainBeforeEOF(ctx context.Context, in io.Reader, out io.Writer) (io.ReadCloser, io.WriteCloser) {
	p := &drainer{ctx: ctx, in: in, out: out, asked: wire.NewSplitter(0), answered: wire.NewSplitter(0), changed: make(chan struct{}, 1)}
	return reader{p}, writer{p}
}

type drainer struct {
	ctx             context.Context
	in              io.Reader
	out             io.Writer
	mu              sync.Mutex
	asked, answered *wire.Splitter
	open            int
	changed         chan struct{}
}

// count adds by for each message in p that is a request, or a response.
func (p *drainer) count(s *wire.Splitter, data []byte, requests bool, by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Feed(data, func(l wire.Line) {
		var e wire.Envelope
		if e.Read(l.Raw) == nil && e.ID != nil && (e.Method != nil) == requests {
			p.open += by
		}
	})
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *drainer) pending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open > 0
}

// drain waits for the answers under way.
func (p *drainer) drain() {
	end := time.NewTimer(lastAnswers)
	defer end.Stop()
	for p.pending() {
		select {
		case <-p.changed:
		case <-end.C:
			return
		case <-p.ctx.Done():
			return
		}
	}
}

type reader struct{ *drainer }

func (r reader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	r.count(r.asked, b[:n], true, 1)
	if errors.Is(err, io.EOF) {
		if n > 0 {
			return n, nil
		}
		// A last line without its end is a message, too.
		r.count(r.asked, []byte{'\n'}, true, 1)
		r.drain()
	}
	return n, err
}

func (reader) Close() error { return nil }

type writer struct{ *drainer }

func (w writer) Write(b []byte) (int, error) {
	n, err := w.out.Write(b)
	w.count(w.answered, b[:n], false, -1)
	return n, err
}

func (writer) Close() error { return nil }
