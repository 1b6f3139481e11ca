package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/literals"
)

const welcome = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"n","version":"1"}}}`

// mcpAt serves the protocol at a path, and notes what it was told there.
func mcpAt(path, sessionID string, told *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method != http.MethodPost || r.URL.Path != path:
			http.NotFound(w, r)
		case bytes.Contains(body, []byte(`"initialize"`)):
			w.Header().Set("Mcp-Session-Id", sessionID)
			_, _ = io.WriteString(w, welcome)
		default:
			*told = append(*told, fmt.Sprintf("%s %s %s", r.Header.Get("Mcp-Session-Id"), r.Header.Get("MCP-Protocol-Version"), body))
		}
	}
}

// olderAt serves the older transport: a stream that names where messages go.
func olderAt(path, messages string, told *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodGet && r.URL.Path == path:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: endpoint\r\ndata: "+messages+"\r\n\r\n")
		case r.Method == http.MethodPost && r.URL.Path == "/messages":
			*told = append(*told, r.URL.RequestURI()+" "+string(body))
			w.WriteHeader(http.StatusAccepted)
		default:
			http.NotFound(w, r)
		}
	}
}

// A port that answers as the protocol does is begun with and listed, and asked as the own port is. Others are not.
func TestOtherPortsThatSpeakTheProtocol(t *testing.T) {
	t.Parallel()
	open := []session.RemoteFact{session.PortNoAuthorization, session.RemoteRebinding}
	list := func(id string) []string {
		return []string{id + " 2025-03-26 " + initializedBody, id + " 2025-03-26 " + listBody}
	}
	older := []string{"/messages?session=1 " + helloBody, "/messages?session=1 " + initializedBody, "/messages?session=1 " + listBody}
	var told []string
	for _, c := range []struct {
		what    string
		handler http.HandlerFunc
		facts   []session.RemoteFact
		told    []string
	}{
		{"at /mcp", mcpAt("/mcp", "abc-1", &told), open, list("abc-1")},
		{"at the root, without a session", mcpAt("/", "", &told), open, list("")},
		{"at /sse", mcpAt("/sse", "", &told), open, list("")},
		{"at a route of the source", mcpAt("/api/mcp", "", &told), open, list("")},
		{"a session's id that is no header", mcpAt("/mcp", "a b", &told), open, list("")},
		{"the older transport", olderAt("/sse", "/messages?session=1", &told), open, older},
		{"the older transport, with an address", olderAt("/sse", "http://elsewhere.example.com/messages?session=1", &told), open, older},
		{"a stream of something else", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: reload\ndata: 1\n\n")
		}, nil, nil},
		{"what is asked comes back", func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }, nil, nil},
		{"some result", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"result":"ok"}`) }, nil, nil},
		{"nothing", http.NotFound, nil, nil},
		{"a credential is asked for", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, welcome)
		}, nil, nil},
	} {
		told = nil
		d, facts := opened(t, c.handler)
		d.client([]literals.Route{{Method: "POST", Path: "/api/mcp"}, {Method: "GET", Path: "/state"}})
		if !slices.Equal(*facts, c.facts) || !slices.Equal(told, c.told) {
			t.Errorf("%s: %q, want %q; told %q, want %q", c.what, *facts, c.facts, told, c.told)
		}
	}
}

// The doors of a server that is probed over its input and output are asked so, and the own port only as a page would ask it.
func TestDoorsAreSpokenTo(t *testing.T) {
	t.Parallel()
	for own, want := range map[int]bool{0: true, 3000: false} {
		var told []string
		handler := mcpAt("/mcp", "", &told)
		ds, _ := doorsFor(t, 1, 0, 0, nil)
		ds.s.rec = &recorder{}
		found := ds.s.doorsOf(nil, own, nil)
		if own == 0 {
			found = ds.s.doorsOf([]mux.Addr{{Net: "tcp", Host: "localhost", Port: 3000}}, 0, nil)
		}
		found.knock = func(_ context.Context, to mux.Addr, q request) (reply, bool) {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(q.method, "http://localhost:3000"+q.path, strings.NewReader(q.body))
			handler(w, r)
			return reply{status: w.Code, header: w.Header(), body: w.Body.Bytes()}, true
		}
		found.request(t.Context())
		if got := slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "tools/list") }); got != want {
			t.Errorf("own port %d: told %q", own, told)
		}
	}
}

func TestHearingUntilEnough(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, "one")
		_, _ = io.WriteString(w, "two") // and the stream stays open
	}()
	var parts []string
	got, err := hear(r, func(raw []byte) bool {
		parts = append(parts, string(raw))
		return len(raw) == 6
	})
	if string(got) != "onetwo" || err != nil || len(parts) != 2 {
		t.Errorf("%q %v %q", got, err, parts)
	}
}
