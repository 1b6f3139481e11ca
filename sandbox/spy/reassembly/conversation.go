package reassembly

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
	lanes []lane // of stdio and sockets
}

// Message is one line, one body or one event's data, as it crossed.
type Message struct {
	Conversation *Conversation
	Dir          session.Dir
	// At is when it was written.
	At       time.Duration
	From, To *Process
	Raw      []byte
	// Cut says that Raw has the beginning of a message that is too long, and its length.
	Cut bool
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

// sockets are the two ends of a stream. The inodes are 0 while unknown, and those of a pipe are its key's.
type sockets struct {
	key                      Key
	writerInode, readerInode uint64
}

// isReplaced reports whether one of them is gone, and another socket has its address in the kernel: one of by, which
// are the ends of a stream between the same addresses.
func (s *sockets) isReplaced(by sockets) bool {
	if by.key.Kind != Unix {
		return false
	}
	if by.key == s.key.Back() {
		by = sockets{s.key, by.readerInode, by.writerInode}
	}
	other := func(was, is uint64) bool { return was != 0 && is != 0 && was != is }
	return by.key == s.key && (other(s.writerInode, by.writerInode) || other(s.readerInode, by.readerInode))
}

// lane is a stream of a conversation's, and who writes into it.
type lane struct {
	sockets
	from int
}

// lineConversation finds the conversation of a stream of lines. What a process has on its
// standard input and output is one with its client, though these are two pipes or two
// pairs of sockets. A socket on which both sides speak is a conversation by itself.
func (e *Engine) lineConversation(s *stream) *Conversation {
	a, b := s.writer.PID, s.reader.PID
	name := fmt.Sprintf("pair %d %d", min(a, b), max(a, b))
	if s.key.Kind == Unix {
		one, other := s.key.end(), s.key.Back().end()
		name = "unix " + min(one, other) + max(one, other)
	}
	c := e.convs[name]
	if c != nil && slices.ContainsFunc(c.lanes, func(l lane) bool { return l.isReplaced(s.sockets) }) {
		e.forget(c)
	}
	if c == nil || c.ended {
		if c = e.halfOf(s); c != nil {
			e.convs[name] = c
			c.Transport = Stdio
		} else {
			c = e.conversation(name, Stdio)
			if s.key.Kind == Unix && s.readerFD != 0 && s.writerFD != 1 {
				c.Transport = Sock
			}
		}
	}
	if !slices.ContainsFunc(c.lanes, func(l lane) bool { return l.key == s.key && l.from == a }) {
		c.lanes = append(c.lanes, lane{s.sockets, a})
	}
	return c
}

// halfOf finds a conversation of the same two processes in which only the reader of a
// stream has spoken, on another one.
func (e *Engine) halfOf(s *stream) *Conversation {
	for _, c := range e.convs {
		if c.ended || !c.Transport.stdio() || len(c.lanes) == 0 || c.lanes[0].from != s.reader.PID || c.Server == nil ||
			c.Client.PID+c.Server.PID != s.writer.PID+s.reader.PID {
			continue
		}
		if !slices.ContainsFunc(c.lanes, func(l lane) bool { return l.from == s.writer.PID || l.key == s.key.Back() }) {
			return c
		}
	}
	return nil
}
