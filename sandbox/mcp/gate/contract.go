package gate

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The methods that tell of the contract.
const (
	methodList       = "tools/list"
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
	noteChanged      = "notifications/tools/list_changed"
)

// The bounds of a session.
const (
	maxWaiting = 4096
	maxTools   = 10_000
	maxPages   = 1000
	// maxDeclared bounds the bytes of a list, all its pages together.
	maxDeclared = 64 << 20
)

// requests are those that wait for an answer, by id. Of too many the oldest go.
type requests struct {
	mu    sync.Mutex
	byID  map[string]request
	order []string
}

type request struct {
	method, tool, cursor string
}

func newRequests() *requests { return &requests{byID: map[string]request{}} }

func (r *requests) add(m wire.Message) {
	q := request{method: m.Method}
	switch m.Method {
	case methodList:
		if raw, ok := wire.Member(m.Params, "cursor"); ok {
			_ = json.Unmarshal(raw, &q.cursor) // no string is no cursor
		}
	case "tools/call":
		q.tool, _ = callOf(m.Params)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id := idKey(m.ID)
	if _, again := r.byID[id]; !again {
		r.order = append(r.order, id)
	}
	r.byID[id] = q
	for len(r.order) > maxWaiting {
		delete(r.byID, r.order[0])
		r.order = r.order[1:]
	}
}

// take returns the request that an id answers.
func (r *requests) take(id json.RawMessage) (request, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := idKey(id)
	q, ok := r.byID[key]
	delete(r.byID, key)
	if len(r.order) > 2*len(r.byID)+64 {
		kept := r.order[:0]
		for _, id := range r.order {
			if _, ok := r.byID[id]; ok {
				kept = append(kept, id)
			}
		}
		r.order = kept
	}
	return q, ok
}

// contract is what a server has declared: its newest complete list of tools.
type contract struct {
	mu sync.Mutex
	// tools is nil before the first complete list.
	tools map[string]wire.Tool
	// stale says that the server has announced another list.
	stale bool
	// waived says that a call has waited for a list in vain: the next need not.
	waived bool
	// changed is closed when any of these change.
	changed chan struct{}
	// pages are the list in progress, next the cursor of the page that it lacks.
	pages map[string]wire.Tool
	count int
	size  int // in bytes
	next  string

	instructions json.RawMessage
	server       json.RawMessage
	introduced   bool
}

func newContract() *contract { return &contract{changed: make(chan struct{})} }

// tell wakes those who wait. The lock is held.
func (c *contract) tell() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// asked says that a list was asked for: waiting for one makes sense again.
func (c *contract) asked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waived = false
}

// await returns the tools that are declared now, or why nobody knows them.
func (c *contract) await(ctx context.Context, hold time.Duration) (map[string]wire.Tool, string) {
	timeout := time.NewTimer(hold)
	defer timeout.Stop()
	for {
		c.mu.Lock()
		tools, stale, waived, changed := c.tools, c.stale, c.waived, c.changed
		c.mu.Unlock()
		if tools != nil && !stale {
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

// announced says that the list is another now.
func (c *contract) announced() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale, c.waived = c.tools != nil, false
	c.pages, c.next, c.count = nil, "", 0
	c.tell()
}

// page takes an answer to tools/list. A list is complete with the page that
// names no next one; a page that does not go on where the last one ended
// belongs to a list that was given up.
func (c *contract) page(cursor string, result json.RawMessage) {
	tools, next, err := wire.ParseTools(result)
	c.mu.Lock()
	defer c.mu.Unlock()
	if cursor == "" {
		c.pages, c.count, c.size = map[string]wire.Tool{}, 0, 0
	} else if c.pages == nil || cursor != c.next {
		return
	}
	if err != nil && len(tools) == 0 {
		c.pages = nil
		return
	}
	for _, t := range tools {
		c.pages[t.Name] = t
	}
	c.count, c.size = c.count+1, c.size+len(result)
	if c.count > maxPages || c.size > maxDeclared || len(c.pages) > maxTools {
		c.pages = nil
		return
	}
	if c.next = next; next != "" {
		return
	}
	c.tools, c.pages, c.stale, c.waived = c.pages, nil, false, false
	c.tell()
}

// introduce takes an answer to initialize or server/discover.
func (c *contract) introduce(result json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.introduced, c.instructions, c.server = true, nil, nil
	wire.EachMember(result, func(key string, value json.RawMessage) {
		switch key {
		case "instructions":
			if string(value) != "null" {
				c.instructions = value
			}
		case "serverInfo":
			c.server = value
		}
	})
}
