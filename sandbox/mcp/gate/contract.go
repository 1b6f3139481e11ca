package gate

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// bounds are those of a session.
var bounds = wire.Bounds{Pending: 4096, Entries: 10_000, Pages: 1000, Bytes: 64 << 20}

// contract is what a server has declared: its newest list of tools that crossed
// whole. The tracker is a loose and generous one: a client may believe any list
// that crosses, under any id that reads like its own, and the gate must know it.
type contract struct {
	mu    sync.Mutex
	state *wire.State
	// said is what the server said of itself last, nil before it did.
	said *wire.Introduction
	// waived says that a call has waited for a list in vain: the next need not.
	waived bool
	// changed is closed when the list or waived changes.
	changed chan struct{}
	// loops are the times of late calls, by what they are.
	loops map[[sha256.Size]byte][]time.Time
	// answers are what a person allowed for the session.
	answers map[answered]bool
}

// newContract returns a session's contract, and what tracks its messages.
func newContract() (*contract, *wire.Tracker) {
	track := wire.NewTracker(wire.Options{Bounds: bounds, Generous: true, Loose: true})
	return &contract{state: track.State, changed: make(chan struct{})}, track
}

// await returns the tools that are declared now, or why nobody knows them.
func (c *contract) await(ctx context.Context, hold time.Duration) (*wire.Toolset, string) {
	timeout := time.NewTimer(hold)
	defer timeout.Stop()
	for {
		c.mu.Lock()
		tools, stale, waived, changed := c.state.Surface, c.state.Stale(), c.waived, c.changed
		c.mu.Unlock()
		if tools != nil {
			return tools, ""
		}
		why := "no complete tools/list has crossed"
		if stale {
			why = "the list of tools has changed and was not read again"
		}
		if waived {
			return nil, why
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, why
		case <-timeout.C:
			c.mu.Lock()
			c.waived = true
			c.mu.Unlock()
			return nil, why
		}
	}
}

// learn takes what a message of the server's has told. The lock is held.
func (c *contract) learn(track *wire.Tracker, m *wire.Message, seen *wire.Seen) {
	if seen.Introduction != nil {
		c.said = seen.Introduction
	}
	announced := m.Method == wire.NoteToolsChanged
	if announced {
		// The pages of one list must not be taken for those of another.
		track.Abandon()
	}
	if announced || c.state.Declared {
		c.waived = false
		close(c.changed)
		c.changed = make(chan struct{})
	}
}
