package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The bounds on what a session remembers.
const (
	maxPending = 1024
	maxExpired = 4096
)

// JSON-RPC error codes that this side uses.
const codeMethodNotFound = -32601

// pending is a request that waits. done has room for the one answer that it
// gets from whoever takes it out of the map. The client pairs by itself: the ids
// are its own count, and it tells late answers from second ones, which no tracker
// of others' messages can.
type pending struct {
	method string
	done   chan answer
}

type answer struct {
	msg wire.Message
	err error
}

// message is the shape of everything that is sent.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *replyError     `json:"error,omitempty"`
}

type replyError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// encode is json.Marshal without the escaping of HTML, on one line.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// begin sends a request and returns its id and where its answer will come.
func (c *Client) begin(method string, params json.RawMessage) (int64, *pending, error) {
	c.mu.Lock()
	if c.closed != nil {
		defer c.mu.Unlock()
		return 0, nil, fmt.Errorf("%s: %w", method, c.closed)
	}
	if len(c.pending) >= maxPending {
		defer c.mu.Unlock()
		return 0, nil, fmt.Errorf("%s: %d requests wait already: %w", method, maxPending, errBusy)
	}
	c.lastID++
	id := c.lastID
	p := &pending{method: method, done: make(chan answer, 1)}
	c.pending[id] = p
	c.mu.Unlock()

	line, err := encode(message{Version: "2.0", ID: idOf(id), Method: method, Params: params})
	if err == nil {
		err = c.out.put(line, false)
	}
	if err != nil {
		c.forget(id, false)
		return 0, nil, fmt.Errorf("%s: %w", method, err)
	}
	return id, p, nil
}

// request sends a request and waits at most timeout for its answer.
func (c *Client) request(ctx context.Context, method string, params json.RawMessage, timeout time.Duration) (wire.Message, error) {
	if err := ctx.Err(); err != nil {
		return wire.Message{}, fmt.Errorf("%s: %w", method, err)
	}
	id, p, err := c.begin(method, params)
	if err != nil {
		return wire.Message{}, err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case a := <-p.done:
		return a.result(method)
	case <-timer.C:
		err = fmt.Errorf("%s: %w (%s)", method, ErrTimeout, timeout)
	case <-ctx.Done():
		err = fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
	if !c.forget(id, true) {
		// The answer was taken out of the map at the same moment: it counts.
		a := <-p.done
		return a.result(method)
	}
	c.cancel(id, errors.Is(err, ErrTimeout))
	return wire.Message{}, err
}

// result checks that an answer is one.
func (a answer) result(method string) (wire.Message, error) {
	switch {
	case a.err != nil:
		return wire.Message{}, fmt.Errorf("%s: %w", method, a.err)
	case a.msg.Error == nil && a.msg.Result == nil:
		return wire.Message{}, fmt.Errorf("%s: %w", method, ErrBadAnswer)
	}
	return a.msg, nil
}

// forget gives up on a request. It reports whether the request still waited.
func (c *Client) forget(id int64, expired bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.pending[id]
	if !ok {
		return false
	}
	delete(c.pending, id)
	if expired && len(c.expired) < maxExpired {
		c.expired[id] = p.method
	}
	return true
}

// cancel tells the server that an answer is no longer awaited, as clients do.
func (c *Client) cancel(id int64, timedOut bool) {
	reason := "The request was cancelled"
	if timedOut {
		reason = "Request timed out"
	}
	c.notify("notifications/cancelled", struct {
		RequestID int64  `json:"requestId"`
		Reason    string `json:"reason"`
	}{id, reason})
}

// notify sends a notification if it can be sent: nothing waits for one.
func (c *Client) notify(method string, params any) {
	raw, err := encode(params)
	if err == nil {
		raw, err = encode(message{Version: "2.0", Method: method, Params: raw})
	}
	if err == nil {
		err = c.out.put(raw, true)
	}
	if err != nil {
		c.note(Unsent, "%s: %v", method, err)
	}
}

func idOf(id int64) json.RawMessage { return strconv.AppendInt(nil, id, 10) }
