package client

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Feed takes one line that the server sent, with or without its line end. It
// never blocks and keeps nothing of line.
func (c *Client) Feed(line []byte) {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) > c.opts.MaxLine {
		c.note(Oversize, "a line of %d bytes was not read", len(line))
		return
	}
	// The messages share the line's bytes and outlive this call.
	messages, err := wire.Parse(bytes.Clone(line))
	if err != nil && !errors.Is(err, wire.ErrEmpty) {
		c.note(BadLine, "a line of %d bytes is not a message: %s", len(line), clipped(err))
	}
	for _, m := range messages {
		switch {
		case m.IsRequest():
			c.serve(m)
		case m.IsNotification():
			c.mu.Lock()
			c.count(m.Method)
			c.mu.Unlock()
		default:
			c.deliver(m)
		}
	}
}

// deliver hands an answer to the request that waits for it.
func (c *Client) deliver(m wire.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if isNull(m.ID) {
		what := "a result"
		if m.Error != nil {
			what = "an error"
		}
		c.notice(NullID, "%s answers no request: its id is null", what)
		return
	}
	id, exact, ok := wire.IDNumber(m.ID)
	if !ok || id < 1 || id > c.lastID {
		c.notice(UnknownID, "an answer to the id %s, which was never sent", quoted(m.ID))
		return
	}
	p, waiting := c.pending[id]
	if !waiting {
		c.deliverLate(id, m)
		return
	}
	if !exact {
		c.notice(ChangedID, "%s: the id %d came back as %s", p.method, id, quoted(m.ID))
	}
	delete(c.pending, id)
	p.done <- answer{msg: m}
}

// deliverLate accounts for an answer that nobody waits for; c.mu is held.
func (c *Client) deliverLate(id int64, m wire.Message) {
	method, late := c.expired[id]
	if !late {
		c.notice(DuplicateID, "the request %d was answered once more", id)
		return
	}
	delete(c.expired, id)
	c.notice(LateAnswer, "%s: the request %d was answered after its time", method, id)
	if method == methodDiscover && m.Error == nil {
		c.lateDiscover = true
	}
}

// serve answers a server's request: ping always, roots and a model's answer if
// configured. A user declines, or is not there to be asked; nobody else is.
func (c *Client) serve(m wire.Message) {
	if isNull(m.ID) {
		c.note(NullID, "a request %s has null for an id and gets no answer", quoted(m.Method))
		return
	}
	reply := message{Version: "2.0", ID: m.ID}
	kind := Answered
	switch {
	case m.Method == "ping":
		reply.Result = json.RawMessage(`{}`)
	case m.Method == methodRoots && len(c.opts.Roots) > 0:
		reply.Result = c.roots()
	case m.Method == methodElicit && c.opts.Declines:
		kind = Declined
		reply.Result = declined
	case m.Method == methodSample && c.mayAnswer():
		reply.Result = c.answerOfModel()
	default:
		kind = Declined
		reply.Error = &replyError{Code: codeMethodNotFound, Message: "Method not found"}
	}
	c.note(kind, "the server asked for %s", quoted(m.Method))
	line, err := encode(reply)
	if err == nil {
		err = c.out.put(line, true)
	}
	if err != nil {
		c.note(Unsent, "the reply to the server's %s: %v", quoted(m.Method), err)
	}
}

// The requests of a server that need a capability of the client.
const (
	methodElicit = "elicitation/create"
	methodSample = "sampling/createMessage"
	methodRoots  = "roots/list"
)

// maxSampled bounds the answers of a model in one session: a server may ask on for ever.
const maxSampled = 64

// mayAnswer counts an answer of the model's, and reports whether there is one.
func (c *Client) mayAnswer() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opts.Model == "" || c.sampled >= maxSampled {
		return false
	}
	c.sampled++
	return true
}

// answerOfModel is the same whatever was asked.
func (c *Client) answerOfModel() json.RawMessage {
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	out, _ := encode(struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
		Model   string  `json:"model"`
		Stop    string  `json:"stopReason"`
	}{"assistant", content{"text", c.opts.Model}, "model", "endTurn"})
	return out
}

// roots is the answer to a request for them.
func (c *Client) roots() json.RawMessage {
	out, _ := encode(struct {
		Roots []Root `json:"roots"`
	}{c.opts.Roots})
	return out
}

// declined is a user's answer to any form, which is never read.
var declined = json.RawMessage(`{"action":"decline"}`)

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}
