package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// request is what a peer got.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// peer is a server made of functions. Its handlers run on the client's sending
// goroutine and answer by feeding the client.
type peer struct {
	c *Client
	// on holds the answers by method; "" is for every other request.
	on map[string]func(p *peer, r request)

	mu  sync.Mutex
	got []request
}

func newPeer(opts Options, on map[string]func(*peer, request)) *peer {
	p := &peer{on: on}
	p.c = New(p.receive, opts)
	return p
}

func (p *peer) receive(line []byte) error {
	if bytes.ContainsRune(line, '\n') {
		return fmt.Errorf("a line end in a line")
	}
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	p.mu.Lock()
	p.got = append(p.got, r)
	p.mu.Unlock()
	if r.Method == "" {
		return nil
	}
	if h, ok := p.on[r.Method]; ok {
		h(p, r)
	} else if h, ok := p.on[""]; ok && r.ID != nil {
		h(p, r)
	}
	return nil
}

func (p *peer) feed(format string, args ...any) { p.c.Feed(fmt.Appendf(nil, format, args...)) }

// requests returns what arrived so far, by method if one is given.
func (p *peer) requests(method string) []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []request
	for _, r := range p.got {
		if r.Method == method || method == "*" {
			out = append(out, r)
		}
	}
	return out
}

// give answers with a result, fail with an error.
func give(result string) func(*peer, request) {
	return func(p *peer, r request) { p.feed(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result) }
}

func fail(code int, message string) func(*peer, request) {
	return func(p *peer, r request) {
		p.feed(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, r.ID, code, message)
	}
}

func silent(*peer, request) {}

var (
	unknown = fail(-32601, "Method not found")
	oldInit = give(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","title":"Old","version":"3"},"instructions":"be kind"}`)
	newInit = give(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"4"}},"ttlMs":0,"cacheScope":"private"}`)
	oneTool = give(`{"tools":[{"name":"x","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}}]}`)
)

// legacy is a server of the older era with more handlers, or others.
func legacy(more map[string]func(*peer, request)) map[string]func(*peer, request) {
	on := map[string]func(*peer, request){methodInitialize: oldInit, "tools/list": oneTool, "": unknown}
	for k, h := range more {
		on[k] = h
	}
	return on
}

func modern(more map[string]func(*peer, request)) map[string]func(*peer, request) {
	on := map[string]func(*peer, request){methodDiscover: newInit, "tools/list": oneTool, "": unknown}
	for k, h := range more {
		on[k] = h
	}
	return on
}

// Time-outs: short ones for peers that stay silent on purpose, where the test
// waits them out, patient ones where an answer is sure to come.
var (
	short   = Options{HandshakeTimeout: 20 * time.Second, CallTimeout: 300 * time.Millisecond, DiscoverTimeout: 300 * time.Millisecond}
	patient = Options{}
)

// kinds counts the notices by kind, as text.
func kinds(c *Client) string {
	var out []string
	for _, n := range c.Notices() {
		out = append(out, string(n.Kind))
	}
	return strings.Join(out, " ")
}

// eventually waits for something that another goroutine brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// noLeaks fails the test if a goroutine of this package or of the SDK outlives it.
func noLeaks(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		var stacks string
		eventually(t, "no goroutine is left", func() bool {
			buf := make([]byte, 1<<20)
			stacks = string(buf[:runtime.Stack(buf, true)])
			n := 0
			for g := range strings.SplitSeq(stacks, "\n\n") {
				if (strings.Contains(g, "sandbox/client") || strings.Contains(g, "go-sdk")) && !strings.Contains(g, "testing.tRunner") && !strings.Contains(g, "testing.(*F)") {
					n++
				}
			}
			return n == 0
		})
	})
}
