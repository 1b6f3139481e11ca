package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// learn keeps the session's id.
func (w *Web) learn(r *http.Response, m wire.Message) {
	if id := r.Header.Get(headerSession); id != "" && m.Method == methodInitialize {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.session = id
	}
}

// events reads a stream that answers a request, and asks for the rest of it
// where it breaks off before the answer.
func (w *Web) events(ctx context.Context, r *http.Response, m wire.Message) error {
	for resumed := 0; ; resumed++ {
		last, retry, answered, err := w.read(r, m)
		if answered || !m.IsRequest() {
			return nil
		}
		if last == "" || resumed == maxResumes {
			return errors.Join(errors.New("the stream ended without an answer"), err)
		}
		select {
		case <-time.After(retry):
		case <-ctx.Done():
			return ctx.Err()
		}
		again, err := w.request(ctx, http.MethodGet, w.Endpoint(), nil, wire.Message{})
		if err != nil {
			return err
		}
		again.Header.Set("Last-Event-Id", last)
		next, err := w.http.Do(again)
		if err != nil {
			return err
		}
		defer next.Body.Close()
		if next.StatusCode != http.StatusOK {
			return fmt.Errorf("HTTP status %d for the rest of a stream", next.StatusCode)
		}
		r = next
	}
}

// read passes on a stream's messages. It says which event came last, when to
// ask again, and whether m was answered.
func (w *Web) read(r *http.Response, m wire.Message) (last string, retry time.Duration, answered bool, err error) {
	retry = 100 * time.Millisecond
	split := wire.NewEventSplitter(w.opts.MaxLine)
	each := func(e wire.Event) {
		if e.ID != "" {
			last = e.ID
		}
		if d, err := time.ParseDuration(e.Retry + "ms"); err == nil {
			retry = min(d, 5*time.Second)
		}
		switch {
		case len(bytes.TrimSpace(e.Data)) == 0:
		case w.opts.Older && e.Name == "endpoint":
			w.located(string(e.Data))
		default:
			messages, _ := wire.Parse(e.Data) // what is none is the client's to tell
			answered = answered || m.IsRequest() && answers(messages, m)
			w.hear(e.Data, messages, m)
		}
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Body.Read(buf)
		split.Feed(buf[:n], each)
		if answered || err != nil {
			return last, retry, answered, err
		}
	}
}
