package proxy

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

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
