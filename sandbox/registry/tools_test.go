package registry

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Indexes of Python packages: PEP 503 and PEP 691, files beside the index, PEP 658, and
// pages that lie behind a redirect.
func TestPythonIndex(t *testing.T) {
	t.Parallel()
	own := newFake(t, false)
	const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // "abc"
	own.page("/pypi/simple/a/", "text/html; charset=utf-8", `<base href="/pypi/files/x/"><a href="../a-1.whl#sha256=`+sum+`" data-dist-info-metadata="true">a</a>
		<a href=b.tar.gz>b</a><a href="https://127.0.0.1:1/c.whl">c</a><a href="http://[::bad">d</a>`)
	own.page("/pypi/simple/j/", "application/vnd.pypi.simple.v1+json", `{"meta":1,"files":[{"url":"../../j-1.whl","hashes":{"sha256":"`+sum+`"},"core-metadata":{"sha256":"x"}},{"url":7},3]}`)
	own.on("/pypi/simple/A", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/pypi/simple/a/", http.StatusMovedPermanently)
	})
	for _, path := range []string{"/pypi/files/a-1.whl", "/pypi/files/a-1.whl.metadata", "/pypi/files/x/b.tar.gz", "/pypi/j-1.whl", "/pypi/j-1.whl.metadata", "/pypi/files/unlinked.whl"} {
		own.page(path, "application/octet-stream", "abc")
	}
	src := source(t, nil, "SSL_CERT_FILE="+authorities(t, own), "PIP_INDEX_URL="+strings.Replace(own.URL, "https://", "https://u:p@", 1)+"/pypi/simple")
	f := start(t, load(t, src), Options{Tools: []Tool{Pip}})
	if status, _ := f.get(t, own.URL+"/pypi/files/a-1.whl"); status != 403 {
		t.Errorf("before a page linked to it: %d", status)
	}
	if status, _ := f.get(t, own.URL+"/pypi/simple/A"); status != 301 {
		t.Errorf("a redirect within the index: %d", status)
	}
	for path, want := range map[string]int{"/pypi/simple/a/": 200, "/pypi/simple/j/": 200} {
		if status, body := f.get(t, own.URL+path); status != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for path, want := range map[string]int{
		"/pypi/files/a-1.whl": 200, "/pypi/files/a-1.whl.metadata": 200, "/pypi/files/x/b.tar.gz": 200, "/pypi/j-1.whl": 200, "/pypi/j-1.whl.metadata": 200,
		"/pypi/files/unlinked.whl": 403, "/pypi/simple/../files/a-1.whl": 400,
	} {
		if status, body := f.get(t, own.URL+path); status != want || status == 200 && body != "abc" {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for _, a := range own.log() {
		if a.authorization != basic("u", "p") {
			t.Errorf("%s got %q", a.path, a.authorization)
		}
	}
}

// Each scope's registry gets its own token.
func TestScopedRegistries(t *testing.T) {
	t.Parallel()
	main, scoped := newFake(t, false), newFake(t, false)
	main.page("/a", "application/json", "{}")
	scoped.page("/npm/@s%2fa", "application/json", "{}")
	rc := fmt.Sprintf("registry=%s\n@s:registry=%s/npm\n//%s/:_authToken=main\n//%s/npm/:_authToken=scoped\n", main.URL, scoped.URL, main.host(), scoped.host())
	f := start(t, load(t, source(t, map[string]string{".npmrc": rc}, "SSL_CERT_FILE="+authorities(t, main, scoped))), Options{Tools: []Tool{NPM}})
	for address, want := range map[string]int{main.URL + "/a": 200, scoped.URL + "/npm/@s%2fa": 200, scoped.URL + "/a": 403} {
		if status, body := f.get(t, address); status != want {
			t.Errorf("%s: %d %s", address, status, body)
		}
	}
	if log := main.log(); len(log) != 1 || log[0].authorization != "Bearer main" {
		t.Errorf("%+v", log)
	}
	if log := scoped.log(); len(log) != 1 || log[0].authorization != "Bearer scoped" || log[0].path != "/npm/@s%2fa" {
		t.Errorf("%+v", log)
	}
}

// The go command asks no proxy for a host on loopback: it is given another name for it.
func TestGoProxyOnLoopback(t *testing.T) {
	t.Parallel()
	own := newFake(t, true)
	own.page("/go/example.com/m/@v/v1.0.0.info", "application/json", `{"Version":"v1.0.0"}`)
	f := start(t, load(t, source(t, nil, "GOPROXY="+strings.Replace(own.URL, "http://", "http://u:p@", 1)+"/go", "GOSUMDB=off")), Options{Tools: []Tool{Go}})
	var address string
	for _, v := range f.Client(Go, f.addr, "/c").Env {
		if value, ok := strings.CutPrefix(v, "GOPROXY="); ok {
			address = value
		}
	}
	if u, err := url.Parse(address); err != nil || isLoopback(u.Hostname()) {
		t.Fatalf("GOPROXY=%s", address)
	}
	for range 2 {
		if status, body := f.get(t, address+"/example.com/m/@v/v1.0.0.info"); status != 200 || body != `{"Version":"v1.0.0"}` {
			t.Errorf("%d %s", status, body)
		}
	}
	if log := own.log(); len(log) != 1 || log[0].authorization != basic("u", "p") {
		t.Errorf("%+v", log)
	}
}

// git may fetch from the repositories that are named, and push to none.
func TestRepositories(t *testing.T) {
	t.Parallel()
	own := newFake(t, false)
	own.on("/r.git/info/refs", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "refs") })
	own.on("/r.git/git-upload-pack", func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	s := load(t, source(t, nil, "SSL_CERT_FILE="+authorities(t, own)))
	f := start(t, s, Options{Tools: []Tool{NPM}, Repositories: []string{own.URL + "/r.git"}})
	post := func(path string) int {
		resp, err := f.http.Post(own.URL+path, "application/x-git-upload-pack-request", strings.NewReader("want"))
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode == http.StatusOK && string(body) != "want" {
			t.Errorf("%s: %q", path, body)
		}
		return resp.StatusCode
	}
	// A repository's host is the word of a package: loopback stays closed.
	if status, _ := f.get(t, own.URL+"/r.git/info/refs?service=git-upload-pack"); status != 403 || len(own.log()) > 0 {
		t.Errorf("a repository on loopback: %d", status)
	}
	f.upstream.hosts[own.host()] = true // as if it were public
	if status, body := f.get(t, own.URL+"/r.git/info/refs?service=git-upload-pack"); status != 200 || body != "refs" {
		t.Errorf("%d %s", status, body)
	}
	if status := post("/r.git/git-upload-pack"); status != 200 {
		t.Errorf("fetch: %d", status)
	}
	for _, path := range []string{"/r.git/info/refs?service=git-receive-pack", "/r.git/config", "/other.git/info/refs?service=git-upload-pack"} {
		if status, _ := f.get(t, own.URL+path); status != 403 {
			t.Errorf("%s: %d", path, status)
		}
	}
	if status := post("/r.git/git-receive-pack"); status != 403 {
		t.Errorf("push: %d", status)
	}
	for _, bad := range []string{"http://example.com/r", "ssh://git@example.com/r", "https://u:p@example.com/r", "git@example.com:r"} {
		if _, err := NewProxy(s, Options{Repositories: []string{bad}}); err == nil {
			t.Errorf("%s is allowed", bad)
		}
	}
}
