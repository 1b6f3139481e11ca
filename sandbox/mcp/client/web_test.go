package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// webServers are the SDK's handlers of every transport and era.
func webServers() map[string]http.Handler {
	of := func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1"}, &mcp.ServerOptions{Instructions: "be kind"})
		type in struct {
			Text string `json:"text"`
		}
		mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(ctx context.Context, r *mcp.CallToolRequest, i in) (*mcp.CallToolResult, any, error) {
			_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "hello"}) //nolint:staticcheck // older clients get it
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: i.Text}}}, nil, nil
		})
		return s
	}
	return map[string]http.Handler{
		"streamable": mcp.NewStreamableHTTPHandler(of, nil),
		"json":       mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{JSONResponse: true}),
		"stateless":  mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{Stateless: true}),
		"older":      mcp.NewSSEHandler(of, nil),
	}
}

func webClient(t *testing.T, h http.Handler, older bool, o Options) *Client {
	t.Helper()
	up := httptest.NewServer(h)
	var c *Client
	port := func(context.Context) (int, error) { return up.Listener.Addr().(*net.TCPAddr).Port, nil }
	w := NewWeb(WebOptions{Older: older, Port: port, Dial: func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", up.Listener.Addr().String())
	}, Receive: func(line []byte) { c.Feed(line) }, Ended: func(err error) { c.Closed(err) }})
	c = New(w.Send, o)
	t.Cleanup(func() {
		w.Close()
		up.CloseClientConnections()
		up.Close()
	})
	return c
}

// A server that checks the Host header against DNS rebinding takes the loopback address with its port, and nothing else.
func TestWebNamesThePort(t *testing.T) {
	inner := webServers()["streamable"]
	checks := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if own := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); r.Host != fmt.Sprintf("localhost:%d", own.Port) {
			rw.WriteHeader(http.StatusMisdirectedRequest)
			return
		}
		inner.ServeHTTP(rw, r)
	})
	if _, err := webClient(t, checks, false, Options{CallTimeout: 10 * time.Second}).Connect(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWebTransports(t *testing.T) {
	for name, h := range webServers() {
		for _, skip := range []bool{false, true} {
			c := webClient(t, h, name == "older", Options{SkipDiscover: skip, CallTimeout: 10 * time.Second})
			s, err := c.Connect(t.Context())
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if err := c.List(t.Context(), s); err != nil || len(s.Tools) != 1 || s.Instructions != "be kind" {
				t.Errorf("%s: %v, %+v", name, err, s)
			}
			for range 3 {
				r, err := c.CallTool(t.Context(), "echo", json.RawMessage(`{"text":"grüße"}`))
				if err != nil || !strings.Contains(string(r.Raw), "grüße") {
					t.Errorf("%s: %s, %v", name, r.Raw, err)
				}
			}
			t.Logf("%s, skip %v: protocol %s", name, skip, s.Protocol)
		}
	}
}

// A stream that breaks off before its answer is asked for the rest.
func TestWebResumes(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	c := webClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.Header.Get("Last-Event-Id"))
		mu.Unlock()
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&m) == nil && m.Method == methodInitialize {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodPost {
			w.Write([]byte("id: 7\nretry: 1\ndata:\n\n"))
			return
		}
		w.Write([]byte("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"late\"}]}}\n\n"))
	}), false, Options{SkipDiscover: true})
	s, err := c.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.List(t.Context(), s); err != nil || len(s.Tools) != 1 {
		t.Errorf("%v, %+v", err, s.Tools)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(asked, "GET 7") {
		t.Errorf("asked for %q", asked)
	}
}

// Whatever a server answers, a request ends and nothing is followed elsewhere.
func TestWebHostile(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"nothing":   func(http.ResponseWriter, *http.Request) {},
		"refusal":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"not found": http.NotFound,
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://93.184.216.34/", http.StatusTemporaryRedirect)
		},
		"garbage": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("garbage")) },
		"stream": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Write([]byte("data: nothing\n\n"))
		},
		"long": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write(make([]byte, wire.MaxLine+10))
		},
	} {
		c := webClient(t, h, false, Options{HandshakeTimeout: 10 * time.Second, SkipDiscover: true})
		if _, err := c.Connect(t.Context()); err == nil {
			t.Errorf("%s: a session was opened", name)
		}
	}
}
