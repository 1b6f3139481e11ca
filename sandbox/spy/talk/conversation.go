package talk

import (
	"fmt"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Transport is how a client and a server speak.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio"
	Sock  Transport = "unix"
	HTTP  Transport = "http"
	SSE   Transport = "sse"
)

func (t Transport) stdio() bool { return t == Stdio || t == Sock }

// Conversation is one client and one server.
type Conversation struct {
	// ID counts conversations from 1.
	ID        int
	Transport Transport
	// Client and Server are the processes, with PID 0 where one is not known.
	Client, Server *Process
	// Host is an HTTP server's name as the client gave it.
	Host string
	// Messages counts what was handed on, Lost the bytes that are missing.
	Messages, Lost int64
	// Last is when the last message crossed.
	Last time.Duration
	// Sink is for who takes the messages.
	Sink any

	ended bool
	lanes []Key // the directions that carried messages of stdio
	order [2]int
}

// Message is one line, one body or one event's data, as it crossed.
type Message struct {
	Conversation *Conversation
	Dir          session.Dir
	// At is when it was written.
	At       time.Duration
	From, To *Process
	Raw      []byte
	// SSE are the fields of an event, HTTP what is known of a message of HTTP; nil for
	// others.
	SSE  *session.SSE
	HTTP *Web
}

// Web says where a message of HTTP belongs.
type Web struct {
	// Host and Path are the request's.
	Host, Path string
	// Request says that the message stood in a request, and not in an answer.
	Request bool
}

// direction says who sent a message.
func (c *Conversation) direction(m *Message) session.Dir {
	if m.From == c.Client || m.From.PID == c.Client.PID && c.Client.PID != c.Server.PID {
		return session.C2S
	}
	if c.Client.PID != c.Server.PID {
		return session.S2C
	}
	if client, _ := byClient(m.Raw); client {
		return session.C2S
	}
	return session.S2C
}

// meet decides by the first message who is the client.
func (c *Conversation) meet(m *Message) {
	client, sure := byClient(m.Raw)
	switch {
	case !sure && m.To.Parent != 0 && m.To.Parent == m.From.PID:
		client = true
	case !sure && m.From.Parent != 0 && m.From.Parent == m.To.PID:
		client = false
	}
	c.Client, c.Server = m.From, m.To
	if !client {
		c.Client, c.Server = m.To, m.From
	}
}

func (e *Engine) conversation(key string, t Transport) *Conversation {
	if c := e.convs[key]; c != nil && !c.ended {
		return c
	}
	e.count++
	c := &Conversation{ID: e.count, Transport: t, Last: e.now}
	e.convs[key] = c
	return c
}

// lineConversation finds the conversation of a stream of lines. What a process has on its
// standard input and output is one with its client, though these are two pipes or pairs
// of sockets; any other socket is a conversation by itself.
func (e *Engine) lineConversation(s *stream, raw []byte) *Conversation {
	a, b := s.writer.PID, s.reader.PID
	pair := fmt.Sprintf("pair %d %d", min(a, b), max(a, b))
	if s.key.Kind == Unix && s.readerFD != 0 && s.writerFD != 1 {
		link := "unix " + s.key.end()
		if back := "unix " + s.key.Back().end(); back < link {
			link += back
		} else {
			link = back + link
		}
		other := e.convs[pair]
		if other == nil || e.convs[link] != nil || other.carries(s.key, e) {
			return e.conversation(link, Sock)
		}
	}
	c := e.conversation(pair, Stdio)
	if s.key.Kind == Unix && len(c.lanes) == 0 && s.readerFD != 0 && s.writerFD != 1 {
		c.Transport = Sock
	}
	if !slices.Contains(c.lanes, s.key) {
		c.lanes = append(c.lanes, s.key)
	}
	return c
}

// carries reports whether a conversation has a stream from the same process already.
func (c *Conversation) carries(k Key, e *Engine) bool {
	s := e.streams[k]
	return slices.ContainsFunc(c.lanes, func(l Key) bool {
		o := e.streams[l]
		return l == k.Back() || o != nil && s != nil && o != s && o.writer != nil && s.writer != nil && o.writer.PID == s.writer.PID
	})
}
