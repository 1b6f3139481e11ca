package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func TestScopesKeepRequestsApart(t *testing.T) {
	t.Parallel()
	key := func(scope []string, pairs ...string) string {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return (&Proxy{opts: Options{Scope: scope}}).scopeKey(h)
	}
	tenant := []string{"x-tenant"}
	a := key(tenant, "X-Tenant", "a")
	switch {
	case key(nil, "X-Tenant", "a") != "":
		t.Error("a header that nobody configured makes a scope")
	case a != key(tenant, "X-Tenant", "a", "X-Other", "1"):
		t.Error("another header makes another scope")
	case a == key(tenant, "X-Tenant", "b"), a == key(tenant, "X-Tenant", "a", "Authorization", "Bearer secret"), a == key(tenant, "X-Tenant", "a", "X-Tenant", "a"):
		t.Error("two scopes are one")
	case strings.Contains(key(tenant, "Authorization", "Bearer secret"), "secret"):
		t.Error("a key holds a credential")
	}
}

// With Named, the gate blocks a call that names neither a session nor a caller. Lists pass.
func TestOnlyNamedCallersCall(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "tools/list") {
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`)
			return
		}
		io.WriteString(w, `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`)
	}))
	defer up.Close()
	for _, named := range []bool{false, true} {
		p := start(t, up.URL, gate.New(gate.Options{}))
		p.proxy.opts.Scope, p.proxy.opts.Named = []string{"X-Tenant"}, named
		for header, want := range map[string]string{
			"": `"reason":"http_unproven_scope"`, "X-Tenant": `"result"`, "Authorization": `"result"`, "Mcp-Session-Id": `"result"`, "X-Other": `"reason":"http_unproven_scope"`,
		} {
			if !named {
				want = `"result"`
			}
			for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}`} {
				r, err := http.NewRequest(http.MethodPost, p.URL+"/mcp", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if header != "" {
					r.Header.Set(header, "a")
				}
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				expect := want
				if strings.Contains(body, "tools/list") {
					expect = `"tools"`
				}
				if err != nil || !strings.Contains(string(got), expect) {
					t.Errorf("named %v, %q: %s is answered by %s, %v", named, header, body, got, err)
				}
			}
		}
		gaps := 0
		for _, frames := range p.frames(t) {
			for _, f := range frames {
				if strings.Contains(string(f.Gate), `"evidence_level": "blocked_evidence_gap"`) {
					gaps++
				}
			}
		}
		if named != (gaps == 2) {
			t.Errorf("named %v: %d records of a call that nobody made", named, gaps)
		}
	}
}

// One session more than may be kept apart ends the one that was used longest ago.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	upstream, err := url.Parse("http://127.0.0.1:1/mcp")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for bound, want := range map[int]string{1: "d", 2: "cd", 0: "abcd"} {
		p, err := New(Options{Upstream: upstream, Sessions: bound, Shut: func(l *session.WireLog) { _ = l.Close() }, Open: func(what string) *session.WireLog {
			l, err := session.NewWireLog(session.WireOptions{Dir: dir, What: what})
			if err != nil {
				t.Error(err)
			}
			return l
		}})
		if err != nil {
			t.Fatal(err)
		}
		kept := ""
		for _, key := range []string{"a", "b", "c", "d"} {
			p.sessions.leave(p.sessions.enter(key))
		}
		for e := p.sessions.order.Back(); e != nil; e = e.Prev() {
			kept += e.Value.(*mcpSession).key
		}
		if kept != want {
			t.Errorf("%q are kept, want %q", kept, want)
		}
		p.Close()
	}
}
