package client

import (
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The defaults of Options.
const (
	DefaultHandshakeTimeout = 30 * time.Second
	DefaultCallTimeout      = 30 * time.Second
	DefaultDiscoverTimeout  = 5 * time.Second
)

// What a client can fail with, beside a JSON-RPC error, which is a Result.
var (
	// ErrClosed says that the server's output or input ended.
	ErrClosed = errors.New("the server closed the connection")
	// ErrTimeout says that an answer did not come in time.
	ErrTimeout = errors.New("no answer in time")
	// ErrBadAnswer says that a message is not an answer: it has neither result nor error.
	ErrBadAnswer = errors.New("the answer has neither a result nor an error")
	// ErrIncomplete says that a list was cut at one of this package's bounds.
	ErrIncomplete = errors.New("the list is incomplete")
	// ErrEndedAtDiscover comes beside ErrClosed from Connect when the server
	// ended at server/discover, before it answered anything. Some servers of the
	// older era end at any other first message: start again with SkipDiscover.
	ErrEndedAtDiscover = errors.New("the server ended at server/discover")
	// errBusy says that too much waits for the server already.
	errBusy = errors.New("the server does not read its input")
)

// Root is a directory that the client offers to the server.
type Root struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
}

// Options say how to speak. The zero value is ready to use.
type Options struct {
	// HandshakeTimeout bounds Connect as a whole.
	HandshakeTimeout time.Duration
	// CallTimeout bounds each request after the handshake.
	CallTimeout time.Duration
	// DiscoverTimeout is how long a server may stay silent on server/discover
	// before initialize is tried on the same process.
	DiscoverTimeout time.Duration
	// MaxLine is the longest line that is parsed, wire.MaxLine if not positive.
	MaxLine int
	// SkipDiscover starts with initialize.
	SkipDiscover bool
	// Info is who the client says it is; a common client's if Name is empty.
	Info wire.Implementation
	// Declines declares that there is a user to be asked (elicitation), as most
	// clients do, and declines each request: what a server does only where it can ask
	// is seen, and it is told nothing.
	Declines bool
	// Model is what a model of the user's is made to answer to each request for its
	// answer (sampling), at most maxSampled times; "" means that none is offered.
	Model string
	// Roots are offered to the server. None means that the capability is not
	// declared and a request for them is declined.
	Roots []Root
}

// ordinary is the introduction of a client that servers meet every day.
var ordinary = wire.Implementation{Name: "claude-ai", Version: "0.1.0"}

func (o Options) filled() Options {
	if o.HandshakeTimeout <= 0 {
		o.HandshakeTimeout = DefaultHandshakeTimeout
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = DefaultCallTimeout
	}
	if o.DiscoverTimeout <= 0 {
		o.DiscoverTimeout = DefaultDiscoverTimeout
	}
	if o.MaxLine <= 0 {
		o.MaxLine = wire.MaxLine
	}
	if o.Info.Name == "" {
		o.Info = ordinary
	}
	return o
}

// Client is one session with one server. Its methods may be called from many
// goroutines. It owns no goroutine but the one that is sending at the moment.
type Client struct {
	opts Options
	out  *sender

	mu     sync.Mutex
	lastID int64
	// pending holds the requests that wait for an answer.
	pending map[int64]*pending
	// expired holds the ids that were given up on, so that an answer that
	// comes late is not taken for a second one.
	expired map[int64]string
	closed  error
	// meta is the _meta of every request of the modern era, nil before it.
	meta json.RawMessage
	// tasked are the tools that can be called as a task only.
	tasked map[string]bool
	// kept are the pages of lists that came last.
	kept map[string]keptPage
	// lateDiscover says that server/discover was answered well, but late.
	lateDiscover bool
	// sampled counts the answers of a model.
	sampled int
	counts  Counters
	notices []Notice
}

// New returns a Client that sends each line, without its line end, through
// send. One call to send runs at a time; it may block, but must return once
// the transport is closed.
func New(send func(line []byte) error, opts Options) *Client {
	c := &Client{
		opts:    opts.filled(),
		pending: map[int64]*pending{},
		expired: map[int64]string{},
		kept:    map[string]keptPage{},
		counts:  Counters{Notices: map[Kind]int64{}},
	}
	c.out = &sender{send: send, failed: c.Closed}
	return c
}

// Closed says that the server's stream ended: every pending and later call
// fails with ErrClosed and err. Only the first call counts.
func (c *Client) Closed(err error) {
	c.mu.Lock()
	if c.closed != nil {
		c.mu.Unlock()
		return
	}
	c.closed = ErrClosed
	if err != nil {
		c.closed = closedError{err}
	}
	waiting := c.pending
	c.pending = map[int64]*pending{}
	cause := c.closed
	c.mu.Unlock()
	c.out.stop(cause)
	for _, p := range waiting {
		p.done <- answer{err: cause}
	}
}

// closedError is ErrClosed with the transport's own reason.
type closedError struct{ cause error }

func (e closedError) Error() string   { return ErrClosed.Error() + ": " + e.cause.Error() }
func (e closedError) Unwrap() []error { return []error{ErrClosed, e.cause} }
