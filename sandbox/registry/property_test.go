package registry

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// world is some registries whose answers a property test draws anew for each case.
type world struct {
	servers []*httptest.Server
	mu      sync.Mutex
	answers map[string]func(http.ResponseWriter, *http.Request)
	seen    []sent
}

// sent is a request that a registry got.
type sent struct {
	server              int
	path, authorization string
}

func newWorld(t *testing.T, n int) *world {
	w := &world{}
	for i := range n {
		s := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.mu.Lock()
			w.seen = append(w.seen, sent{i, r.URL.EscapedPath(), r.Header.Get("Authorization")})
			answer := w.answers[fmt.Sprint(i, r.URL.EscapedPath())]
			w.mu.Unlock()
			if answer == nil {
				http.NotFound(rw, r)
				return
			}
			answer(rw, r)
		}))
		t.Cleanup(s.Close)
		w.servers = append(w.servers, s)
	}
	return w
}

// place is where the model says that a secret belongs.
type place struct {
	server int
	path   string
}

var (
	worldRegistries = []string{"/", "/npm/", "/npm/team/", "/npm-other/", "/pypi/simple/", "/simple/", "/pypi/"}
	worldPaths      = []string{"/", "/a", "/npm/a", "/npm/team/a", "/npm/team/a/-/a.tgz", "/npm-other/a", "/npm-other/a/-/a.tgz", "/npmx/a", "/pypi/simple/a/", "/pypi/packages/a.whl", "/simple/a/", "/packages/a.whl", "/pypi/a.whl", "/other/a.whl", "/npm/-/whoami"}
)

// configure draws a user's settings and the model of them: where each secret belongs.
func (w *world) configure(rt *rapid.T, home string) (env []string, model map[string]place) {
	model = map[string]place{}
	var rc strings.Builder
	var indexes []string
	secret := func(server int, path string) string {
		s := fmt.Sprintf("s3cret-%d", len(model))
		model[s] = place{server, path}
		return s
	}
	for i := range rapid.IntRange(1, 3).Draw(rt, "npm registries") {
		server, path := rapid.IntRange(0, len(w.servers)-1).Draw(rt, "server"), rapid.SampledFrom(worldRegistries).Draw(rt, "path")
		scope := ""
		if i > 0 {
			scope = fmt.Sprintf("@s%d:", i)
		}
		fmt.Fprintf(&rc, "%sregistry=%s%s\n", scope, w.servers[server].URL, path)
	}
	hosts := map[string]bool{}
	for range rapid.IntRange(0, 4).Draw(rt, "npm credentials") {
		server, path := rapid.IntRange(0, len(w.servers)-1).Draw(rt, "server"), rapid.SampledFrom(worldRegistries).Draw(rt, "path")
		dart := strings.TrimPrefix(w.servers[server].URL, "https:") + path
		if hosts[dart] {
			continue
		}
		hosts[dart] = true
		switch s := secret(server, path); rapid.IntRange(0, 2).Draw(rt, "kind") {
		case 0:
			fmt.Fprintf(&rc, "%s:_authToken=%s\n", dart, s)
		case 1:
			fmt.Fprintf(&rc, "%s:_auth=%s\n", dart, base64.StdEncoding.EncodeToString([]byte("u:"+s)))
		case 2:
			fmt.Fprintf(&rc, "%s:username=u\n%s:_password=%s\n", dart, dart, base64.StdEncoding.EncodeToString([]byte(s)))
		}
	}
	for range rapid.IntRange(1, 3).Draw(rt, "indexes") {
		server, path := rapid.IntRange(0, len(w.servers)-1).Draw(rt, "server"), rapid.SampledFrom(worldRegistries).Draw(rt, "path")
		address := w.servers[server].URL + path
		if rapid.Bool().Draw(rt, "with a password") {
			s := secret(server, strings.TrimSuffix(path, "simple/"))
			address = strings.Replace(address, "https://", "https://u:"+s+"@", 1)
		}
		indexes = append(indexes, address)
	}
	env = append(env, "PIP_INDEX_URL="+indexes[0], "PIP_EXTRA_INDEX_URL="+strings.Join(indexes[1:], " "), "UV_DEFAULT_INDEX=https://uv.invalid/simple", "GOPROXY=off", "GOSUMDB=off")
	if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte(rc.String()), 0o600); err != nil {
		rt.Fatal(err)
	}
	return env, model
}

// answer draws what the registries answer: pages with links, redirects, refusals.
func (w *world) answer(rt *rapid.T) {
	address := func(label string) string {
		return w.servers[rapid.IntRange(0, len(w.servers)-1).Draw(rt, label)].URL + rapid.SampledFrom(worldPaths).Draw(rt, label+" path")
	}
	answers := map[string]func(http.ResponseWriter, *http.Request){}
	for i := range w.servers {
		for _, path := range worldPaths {
			var f func(http.ResponseWriter, *http.Request)
			switch kind := rapid.IntRange(0, 4).Draw(rt, "answer"); kind {
			case 0, 1:
				to, status := address("redirect"), []int{302, 307}[kind]
				f = func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Location", to)
					rw.WriteHeader(status)
				}
			case 2:
				to := address("link")
				f = func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(rw, `{"versions":{"1":{"dist":{"tarball":%q}}},"files":[{"url":%q}]}`, to, to)
				}
			case 3:
				to := address("link")
				f = func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Content-Type", "text/html")
					rw.Header().Set("ETag", `"1"`)
					fmt.Fprintf(rw, `<a href="%s">a</a>`, to)
				}
			case 4:
				f = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusUnauthorized) }
			}
			answers[fmt.Sprint(i, path)] = f
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers, w.seen = answers, nil
}

// Whatever a user's settings say, registries answer and a client asks: each secret is seen
// at its own place alone, and nothing of the client's own authenticates.
func TestCredentialsStayAtTheirPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	ca := authorities(t, &fake{Server: w.servers[0]})
	used := 0
	rapid.Check(t, func(rt *rapid.T) {
		home, err := os.MkdirTemp(t.TempDir(), "home")
		if err != nil {
			rt.Fatal(err)
		}
		env, model := w.configure(rt, home)
		w.answer(rt)
		s, err := Load(Source{Env: append(env, "SSL_CERT_FILE="+ca), Home: home, System: home})
		if err != nil {
			rt.Fatal(err)
		}
		p, err := NewProxy(s, Options{Tools: []Tool{NPM, Pip}})
		if err != nil {
			rt.Fatal(err)
		}
		defer p.Close()
		if rapid.Bool().Draw(rt, "public") {
			for _, server := range w.servers { // as if all were public
				p.allow.hosts[strings.TrimPrefix(server.URL, "https://")] = true
			}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "requests") {
			address := w.servers[rapid.IntRange(0, len(w.servers)-1).Draw(rt, "asked")].URL + rapid.SampledFrom(worldPaths).Draw(rt, "asked path")
			r := httptest.NewRequest(http.MethodGet, address, nil)
			r.Header.Set("Authorization", "Bearer of-the-client")
			r.Header.Set("Proxy-Authorization", "Bearer of-the-client")
			answer := httptest.NewRecorder()
			p.serveProxy(answer, r)
			for secret := range model {
				if strings.Contains(answer.Body.String()+fmt.Sprint(answer.Header()), secret) {
					rt.Fatalf("the client reads %s", secret)
				}
			}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, got := range w.seen {
			if got.authorization == "" {
				continue
			}
			used++
			if !belongs(got, model) {
				rt.Fatalf("server %d got %q at %s; the secrets are %+v", got.server, got.authorization, got.path, model)
			}
		}
	})
	if used == 0 {
		t.Error("no credential was ever sent: the property says nothing")
	}
}

// belongs reports whether the secret of a request is that of its place.
func belongs(got sent, model map[string]place) bool {
	kind, value, _ := strings.Cut(got.authorization, " ")
	if kind == "Basic" {
		decoded, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return false
		}
		_, value, _ = strings.Cut(string(decoded), ":")
	}
	p, ok := model[value]
	return ok && p.server == got.server && strings.HasPrefix(got.path, p.path)
}
