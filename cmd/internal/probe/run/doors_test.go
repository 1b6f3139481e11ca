package run

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/literals"
)

// opened is a door in front of a handler, and the facts that are seen at it. Requests and answers go as bytes.
func opened(t *testing.T, handler http.HandlerFunc) (d *door, facts *[]session.RemoteFact) {
	t.Helper()
	facts = new([]session.RemoteFact)
	return &door{
		to: mux.Addr{Net: "tcp", Host: "localhost", Port: 3000},
		send: func(q request) (reply, bool) {
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(q.text(3000))))
			if err != nil {
				t.Fatalf("no request: %v", err)
			}
			w := httptest.NewRecorder()
			handler(w, r)
			raw, err := httputil.DumpResponse(w.Result(), true)
			if err != nil {
				t.Fatal(err)
			}
			return replyOf(raw)
		},
		fact: func(what session.RemoteFact, _ string, _ ...any) { *facts = append(*facts, what) },
	}, facts
}

func initialized(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/mcp" && r.ContentLength > 0:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	case r.Method == http.MethodOptions:
	default:
		http.NotFound(w, r)
	}
}

func TestOwnPort(t *testing.T) {
	t.Parallel()
	checked := func(host, origin bool, next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if host && r.Host == foreign || origin && r.Header.Get("Origin") != "" {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			next(w, r)
		}
	}
	anyOrigin := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		initialized(w, r)
	}
	for _, c := range []struct {
		what    string
		handler http.HandlerFunc
		want    []session.RemoteFact
	}{
		{"nothing is checked", initialized, []session.RemoteFact{session.PortNoAuthorization, session.RemoteRebinding}},
		{"the host is", checked(true, false, initialized), []session.RemoteFact{session.PortNoAuthorization, session.RemoteOrigin}},
		{"both are", checked(true, true, initialized), []session.RemoteFact{session.PortNoAuthorization}},
		{"the host is, and any origin may read", checked(true, false, anyOrigin), []session.RemoteFact{session.PortNoAuthorization, session.RemoteOrigin, session.RemoteCORS}},
		{"any origin may read, and none gets an answer", checked(true, true, anyOrigin), []session.RemoteFact{session.PortNoAuthorization}},
		{"a credential is asked for", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }, nil},
		{"a fault of the protocol", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"error":{}}`)) }, nil},
	} {
		d, facts := opened(t, c.handler)
		d.protocol(false, "/mcp")
		if !slices.Equal(*facts, c.want) {
			t.Errorf("%s: %q, want %q", c.what, *facts, c.want)
		}
	}
	d, facts := opened(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/event-stream")
			return
		}
		http.NotFound(w, r)
	})
	if d.protocol(true, "/message"); !slices.Equal(*facts, []session.RemoteFact{session.PortNoAuthorization, session.RemoteRebinding}) {
		t.Errorf("the older transport: %q", *facts)
	}
}

func TestOtherPort(t *testing.T) {
	t.Parallel()
	list := []literals.Route{{Method: "POST", Path: "/run"}, {Method: "GET", Path: "/page"}, {Method: "GET", Path: "/state"}}
	for _, c := range []struct {
		what string
		open []string // what answers
		want []session.RemoteFact
	}{
		{"a route with data", []string{"GET /state"}, []session.RemoteFact{session.PortNoAuthorization, session.PortRebinding}},
		{"a route that changes something", []string{"POST /run"}, []session.RemoteFact{session.PortNoAuthorization, session.PortRebinding}},
		{"a page", []string{"GET /page"}, nil},
		{"nothing", nil, nil},
	} {
		var asked []string
		d, facts := opened(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Method+" "+r.URL.Path)
			if !slices.Contains(c.open, r.Method+" "+r.URL.Path) {
				http.NotFound(w, r)
				return
			}
			if r.URL.Path != "/page" {
				w.Header().Set("Content-Type", "application/json")
			}
			_, _ = w.Write([]byte(`{}`))
		})
		d.routes(list, "")
		if !slices.Equal(*facts, c.want) || !slices.Equal(asked[:3], []string{"GET /page", "GET /state", "POST /run"}) {
			t.Errorf("%s: %q, want %q; asked for %q", c.what, *facts, c.want, asked)
		}
		d.own = true
		asked, *facts = nil, nil
		if d.routes(list, "/run"); len(*facts) > 0 || len(asked) != 2 {
			t.Errorf("%s, at its own port: %q, asked for %q", c.what, *facts, asked)
		}
	}
}

func FuzzReplyOf(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"))
	f.Add([]byte("HTTP/1.1 101 x\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got, ok := replyOf(raw); ok && len(got.body) > maxHeard {
			t.Fatalf("%d bytes", len(got.body))
		}
	})
}
