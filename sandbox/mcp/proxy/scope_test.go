package proxy

import (
	"net/http"
	"strings"
	"testing"
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
