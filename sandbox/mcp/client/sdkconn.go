package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// handshake is the SDK's transport and connection for as long as it conducts
// the handshake. The SDK sees the answers to its own requests and nothing else:
// its requests run on the client's core, under ids of the core's.
type handshake struct {
	c      *Client
	in     chan jsonrpc.Message
	done   chan struct{}
	once   sync.Once
	relays sync.WaitGroup

	mu sync.Mutex
	// sent holds the methods that went out, results the good answers, and refused the methods
	// that the server answered with an error.
	sent    map[string]bool
	results map[string]json.RawMessage
	refused map[string]bool
}

var (
	_ mcp.Transport  = (*handshake)(nil)
	_ mcp.Connection = (*handshake)(nil)
)

func newHandshake(c *Client) *handshake {
	return &handshake{
		c:       c,
		in:      make(chan jsonrpc.Message),
		done:    make(chan struct{}),
		sent:    map[string]bool{},
		results: map[string]json.RawMessage{},
		refused: map[string]bool{},
	}
}

// Connect implements mcp.Transport.
func (h *handshake) Connect(context.Context) (mcp.Connection, error) { return h, nil }

// SessionID implements mcp.Connection.
func (h *handshake) SessionID() string { return "" }

// Close implements mcp.Connection. The server notices nothing of it.
func (h *handshake) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

// end closes the connection and waits for all that ran on its behalf.
func (h *handshake) end() {
	_ = h.Close()
	h.relays.Wait()
}

// asked reports whether a request went out.
func (h *handshake) asked(method string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sent[method]
}

// result returns the raw result of the last good answer to method.
func (h *handshake) result(method string) (json.RawMessage, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	raw, ok := h.results[method]
	return raw, ok
}

// wasRefused reports whether the server answered a request with an error.
func (h *handshake) wasRefused(method string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused[method]
}

// Read implements mcp.Connection.
func (h *handshake) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-h.in:
		return m, nil
	case <-h.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection.
func (h *handshake) Write(_ context.Context, m jsonrpc.Message) error {
	req, ok := m.(*jsonrpc.Request)
	switch {
	case !ok:
		return fmt.Errorf("handshake: a reply to a request that was never passed on")
	case !req.IsCall():
		// A handshake's requests are not to be cancelled, so of the SDK's
		// notifications one is passed on.
		if req.Method == methodInitialized {
			h.c.notify(req.Method, struct{}{})
		}
		return nil
	}
	id, p, err := h.c.begin(req.Method, req.Params)
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.sent[req.Method] = true
	h.mu.Unlock()
	h.relays.Add(1)
	go func() {
		defer h.relays.Done()
		h.relay(req, id, p)
	}()
	return nil
}

// relay passes one answer to the SDK, under the SDK's own id. A server/discover
// that stays unanswered is answered here as an older server would do.
func (h *handshake) relay(req *jsonrpc.Request, id int64, p *pending) {
	var silence <-chan time.Time
	if req.Method == methodDiscover {
		timer := time.NewTimer(h.c.opts.DiscoverTimeout)
		defer timer.Stop()
		silence = timer.C
	}
	response := &jsonrpc.Response{ID: req.ID}
	select {
	case a := <-p.done:
		h.fill(response, req.Method, a)
	case <-silence:
		if h.c.forget(id, true) {
			h.c.note(Handshake, "no answer to server/discover in %s: initialize is tried", h.c.opts.DiscoverTimeout)
			response.Error = &jsonrpc.Error{Code: codeMethodNotFound, Message: "no answer to server/discover"}
		} else {
			h.fill(response, req.Method, <-p.done)
		}
	case <-h.done:
		h.c.forget(id, true)
		return
	}
	select {
	case h.in <- response:
	case <-h.done:
	}
}

// fill puts an answer into the SDK's form and keeps a good one raw.
func (h *handshake) fill(response *jsonrpc.Response, method string, a answer) {
	m, err := a.result(method)
	switch {
	case err != nil:
		response.Error = err
	case m.Error != nil:
		response.Error = &jsonrpc.Error{Code: m.Error.Code, Message: m.Error.Message, Data: m.Error.Data}
		h.mu.Lock()
		h.refused[method] = true
		h.mu.Unlock()
	default:
		response.Result = m.Result
		h.mu.Lock()
		h.results[method] = m.Result
		h.mu.Unlock()
	}
}
