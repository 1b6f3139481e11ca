package registry

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// fake is a registry on loopback, which writes down what it is asked.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	asked []asked
	pages map[string]func(http.ResponseWriter, *http.Request)
}

type asked struct{ method, path, authorization, all string }

// newFake starts a registry, with TLS unless plain.
func newFake(t testing.TB, plain bool) *fake {
	t.Helper()
	f := &fake{pages: map[string]func(http.ResponseWriter, *http.Request){}}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var all strings.Builder
		_ = r.Header.Write(&all)
		f.mu.Lock()
		f.asked = append(f.asked, asked{r.Method, r.URL.EscapedPath(), r.Header.Get("Authorization"), all.String()})
		page := f.pages[r.URL.EscapedPath()]
		f.mu.Unlock()
		if page == nil {
			http.NotFound(w, r)
			return
		}
		page(w, r)
	})
	if plain {
		f.Server = httptest.NewServer(h)
	} else {
		f.Server = httptest.NewTLSServer(h)
	}
	t.Cleanup(f.Close)
	return f
}

// page has the registry answer a path with a text.
func (f *fake) page(path, kind, text string) {
	f.on(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	})
}

func (f *fake) on(path string, h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages[path] = h
}

func (f *fake) log() []asked {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]asked(nil), f.asked...)
}

func (f *fake) host() string {
	return strings.TrimPrefix(strings.TrimPrefix(f.URL, "https://"), "http://")
}

// connectStatus is how net/http words the refusal of a CONNECT.
var connectStatus = regexp.MustCompile(`^.*: Forbidden$`)

// fixture is a user's home, the proxy made of its settings and a client of the proxy.
type fixture struct {
	*Proxy
	addr string
	http *http.Client
}

// authorities is a PEM file with the certificates of registries.
func authorities(t testing.TB, fakes ...*fake) string {
	t.Helper()
	var all []byte
	for _, f := range fakes {
		if c := f.Certificate(); c != nil {
			all = append(all, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
		}
	}
	if all == nil {
		return authorities(t, newFake(t, false)) // a file of authorities may not be empty
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// source is a user with files in the home, by their names, and variables; system-wide
// files are none of this machine's.
func source(t testing.TB, files map[string]string, env ...string) Source {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Source{Env: env, Home: home, System: filepath.Join(home, "system")}
}

func load(t testing.TB, src Source) *Settings {
	t.Helper()
	s, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func start(t testing.TB, s *Settings, o Options) *fixture {
	t.Helper()
	if o.Tools == nil {
		o.Tools = []Tool{NPM, Pip, UV, Go}
	}
	p, err := NewProxy(s, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(p.Client(NPM, "", "/c").Files[0].Data)
	proxy := &url.URL{Scheme: "http", Host: l.Addr().String()}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(transport.CloseIdleConnections)
	return &fixture{p, l.Addr().String(), &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// get asks for an address; status is 0 where the proxy answers nothing whole.
func (f *fixture) get(t testing.TB, address string, header ...string) (status int, body string) {
	t.Helper()
	return f.do(t, http.MethodGet, address, header...)
}

func (f *fixture) do(t testing.TB, method, address string, header ...string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := f.http.Do(r)
	if err != nil {
		if code := connectStatus.FindString(err.Error()); code != "" {
			return http.StatusForbidden, err.Error()
		}
		return 0, err.Error()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(data)
}

// npmUser is a user of one npm registry with a token.
func npmUser(t testing.TB, f *fake, path, token string) Source {
	t.Helper()
	rc := fmt.Sprintf("registry=%s%s\n//%s%s:_authToken=%s\n", f.URL, path, f.host(), path, token)
	return source(t, map[string]string{".npmrc": rc}, "SSL_CERT_FILE="+authorities(t, f))
}

func packument(tarball, body string) string {
	sum := sha512.Sum512([]byte(body))
	return fmt.Sprintf(`{"name":"a","versions":{"1.0.0":{"dist":{"tarball":%q,"integrity":"sha512-%s"}}}}`, tarball, base64.StdEncoding.EncodeToString(sum[:]))
}

// hasReason reports whether a problem with a host has a reason.
func hasReason(list []Problem, host, reason string) bool {
	for _, p := range list {
		if p.Host == host && strings.Contains(p.Reason, reason) {
			return true
		}
	}
	return false
}

// The registry gets its credential; a host that an index links to gets none.
func TestCredentialsReachTheRegistryAlone(t *testing.T) {
	t.Parallel()
	own, files := newFake(t, false), newFake(t, false)
	src := npmUser(t, own, "/npm/", "t0ken")
	src.Env = []string{"SSL_CERT_FILE=" + authorities(t, own, files)}
	own.page("/npm/a", "application/json", packument(files.URL+"/a.tgz", "archive"))
	own.page("/npm/a/-/a.tgz", "application/octet-stream", "own")
	files.page("/a.tgz", "application/octet-stream", "archive")
	f := start(t, load(t, src), Options{})
	if status, _ := f.get(t, files.URL+"/a.tgz"); status != http.StatusForbidden {
		t.Errorf("before anything linked to it: %d", status)
	}
	if status, body := f.get(t, own.URL+"/npm/a", "Authorization", "Bearer of the client", "Cookie", "c=1"); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := f.get(t, own.URL+"/npm/a/-/a.tgz"); status != 200 || body != "own" {
		t.Errorf("%d %s", status, body)
	}
	for _, a := range own.log() {
		if a.authorization != "Bearer t0ken" || strings.Contains(a.all, "Cookie") {
			t.Errorf("the registry got %+v", a)
		}
	}
	// A host on loopback is no public one, even where an index links to it.
	if status, _ := f.get(t, files.URL+"/a.tgz"); status != http.StatusForbidden {
		t.Errorf("a link to loopback: %d", status)
	}
	if len(files.log()) > 0 {
		t.Errorf("the linked host was asked: %+v", files.log())
	}
	if r := f.Report(); !hasReason(r.Refused, files.host(), "not public") || !hasReason(r.Refused, files.host(), "not one of your registries") {
		t.Errorf("report %+v", r)
	}
}

// What an index links to is fetched without a credential, from the very address.
func TestLinksAreFetchedPlainly(t *testing.T) {
	t.Parallel()
	own, files := newFake(t, false), newFake(t, false)
	src := npmUser(t, own, "/npm/", "t0ken")
	src.Env = []string{"SSL_CERT_FILE=" + authorities(t, own, files)}
	own.page("/npm/a", "application/json", packument(files.URL+"/a+b.tgz", "archive"))
	files.page("/a%2Bb.tgz", "application/octet-stream", "archive")
	f := start(t, load(t, src), Options{})
	f.upstream.hosts[files.host()] = true // as if it were public
	if status, body := f.get(t, own.URL+"/npm/a"); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := f.get(t, files.URL+"/a%2Bb.tgz"); status != 200 || body != "archive" {
		t.Errorf("%d %s", status, body)
	}
	for _, other := range []string{"/a+b.tgz?x=1", "/", "/a+b.tgz/x", "/c.tgz"} {
		if status, _ := f.get(t, files.URL+other); status != http.StatusForbidden {
			t.Errorf("%s: %d", other, status)
		}
	}
	if status, _ := f.do(t, http.MethodPost, files.URL+"/a%2Bb.tgz"); status != http.StatusForbidden {
		t.Errorf("POST: %d", status)
	}
	if log := files.log(); len(log) != 1 || log[0].authorization != "" {
		t.Errorf("the linked host got %+v", log)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	own, other, internal := newFake(t, false), newFake(t, false), newFake(t, true)
	src := npmUser(t, own, "/npm/", "t0ken")
	src.Env = []string{"SSL_CERT_FILE=" + authorities(t, own, other)}
	to := func(path, target string) {
		own.on(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) })
	}
	to("/npm/away/-/a.tgz", other.URL+"/a.tgz")
	to("/npm/within", "/npm/there")
	to("/npm/out", "/private")
	to("/npm/inside/-/a.tgz", internal.URL+"/a.tgz")
	to("/npm/metadata/-/a.tgz", "http://169.254.169.254/latest/meta-data/")
	to("/npm/name/-/a.tgz", "https://localhost:1/a.tgz")
	to("/npm/file/-/a.tgz", "file:///etc/passwd")
	to("/npm/down/-/a.tgz", "http://93.184.216.34/a.tgz")
	to("/npm/loop/-/a.tgz", other.URL+"/loop")
	other.on("/loop", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/loop?x", http.StatusFound)
	})
	other.page("/a.tgz", "application/octet-stream", "archive")
	own.page("/private", "text/plain", "not of npm")
	internal.page("/a.tgz", "text/plain", "internal")
	f := start(t, load(t, src), Options{})
	f.upstream.hosts[other.host()] = true // as if it were public
	for _, c := range []struct {
		path   string
		status int
		reason string
	}{
		{"/npm/away/-/a.tgz", 200, ""}, {"/npm/within", 302, ""}, {"/npm/out", 200, ""},
		{"/npm/inside/-/a.tgz", 403, "https to http"}, {"/npm/metadata/-/a.tgz", 403, "https to http"}, {"/npm/name/-/a.tgz", 403, "not public"},
		{"/npm/file/-/a.tgz", 403, "something other than a plain address"}, {"/npm/down/-/a.tgz", 403, "https to http"}, {"/npm/loop/-/a.tgz", 403, "more than 5 times"},
	} {
		status, _ := f.get(t, own.URL+c.path)
		if status != c.status || c.reason != "" && !hasReason(f.Report().Refused, own.host(), c.reason) {
			t.Errorf("%s: %d, want %d %q: %+v", c.path, status, c.status, c.reason, f.Report().Refused)
		}
	}
	for _, a := range other.log() {
		if a.authorization != "" {
			t.Errorf("another host got the credential: %+v", a)
		}
	}
	for _, a := range own.log() {
		if want := strings.HasPrefix(a.path, "/npm/"); want != (a.authorization != "") {
			t.Errorf("%s got %q", a.path, a.authorization)
		}
	}
	if len(internal.log()) > 0 {
		t.Error("the internal host was asked")
	}
}

// A registry on loopback over plain http is served when a setting names it, and no
// other port of that host is.
func TestPlainRegistryOnLoopback(t *testing.T) {
	t.Parallel()
	own, other := newFake(t, true), newFake(t, true)
	own.page("/a", "application/json", packument(other.URL+"/a.tgz", "x"))
	own.on("/b/-/b.tgz", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/a.tgz", http.StatusFound)
	})
	other.page("/a.tgz", "text/plain", "internal")
	f := start(t, load(t, npmUser(t, own, "/", "t0ken")), Options{})
	if status, body := f.get(t, own.URL+"/a"); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	for _, address := range []string{other.URL + "/a.tgz", own.URL + "/b/-/b.tgz", strings.Replace(own.URL, "127.0.0.1", "localhost", 1) + "/a"} {
		if status, _ := f.get(t, address); status != http.StatusForbidden {
			t.Errorf("%s: %d", address, status)
		}
	}
	if len(other.log()) > 0 {
		t.Errorf("another port was asked: %+v", other.log())
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	own := newFake(t, false)
	for _, path := range []string{"/npm/a", "/npm/-/npm/v1/tokens", "/npm/-/whoami", "/other", "/npm/%2e%2e/other"} {
		own.page(path, "text/plain", "x")
	}
	f := start(t, load(t, npmUser(t, own, "/npm/", "t0ken")), Options{Tools: []Tool{NPM}})
	for _, c := range [][2]string{
		{"GET", own.URL + "/other"}, {"GET", own.URL + "/npm-other/a"}, {"GET", own.URL + "/npm/-/npm/v1/tokens"}, {"GET", own.URL + "/npm/-/whoami"},
		{"GET", own.URL + "/npm/%2e%2e/other"}, {"GET", own.URL + "/npm/..%2fother"}, {"GET", own.URL + "/npm/%252e%252e/other"}, {"GET", own.URL + "/npm/..;/other"}, {"GET", own.URL + "/npm/a%5c..%5cb"},
		{"POST", own.URL + "/npm/a"}, {"PUT", own.URL + "/npm/a"}, {"DELETE", own.URL + "/npm/a"}, {"OPTIONS", own.URL + "/npm/a"},
		{"GET", "https://pypi.org/simple/a/"}, {"GET", "https://93.184.216.34/"}, {"GET", "http://127.0.0.1:1/"}, {"GET", "http://" + own.host() + "/npm/a"},
	} {
		if status, body := f.do(t, c[0], c[1]); status != http.StatusForbidden && status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", c, status, body)
		}
	}
	if len(own.log()) > 0 {
		t.Errorf("the registry was asked: %+v", own.log())
	}
	if status, _ := f.do(t, http.MethodHead, own.URL+"/npm/a"); status != 200 {
		t.Errorf("HEAD: %d", status)
	}
}

// Nothing that a client writes to the proxy has it reach another host or fail.
func TestHostileConnect(t *testing.T) {
	t.Parallel()
	own := newFake(t, false)
	own.page("/npm/a", "application/json", "{}")
	f := start(t, load(t, npmUser(t, own, "/npm/", "t0ken")), Options{Limits: Limits{Stall: 5 * time.Second}})
	host := own.host()
	for _, line := range []string{
		"CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n", "CONNECT " + host + "@127.0.0.1:22 HTTP/1.1\r\n\r\n", "CONNECT user:pass@" + host + " HTTP/1.1\r\n\r\n",
		"CONNECT /" + host + " HTTP/1.1\r\n\r\n", "CONNECT http://" + host + "/ HTTP/1.1\r\n\r\n", "CONNECT [::1]:22 HTTP/1.1\r\n\r\n", "CONNECT [fe80::1%25lo]:22 HTTP/1.1\r\n\r\n",
		"CONNECT " + host + "\x00.example.com:443 HTTP/1.1\r\n\r\n", "CONNECT " + host + "#x HTTP/1.1\r\n\r\n", "CONNECT 2130706433:22 HTTP/1.1\r\n\r\n", "CONNECT 127.0.0.1:99999999999 HTTP/1.1\r\n\r\n",
		"CONNECT  HTTP/1.1\r\n\r\n", "CONNECT " + strings.Repeat("a", 100_000) + ":443 HTTP/1.1\r\n\r\n", "GET /npm/a HTTP/1.1\r\nHost: " + host + "\r\n\r\n", "\x16\x03\x01\x00\x05hello", "GET https://\x1b[31m/ HTTP/1.1\r\n\r\n",
		"GET https://" + host + "/npm/a HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 5\r\n\r\nhello", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: " + host + "\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(conn, line)
		resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodGet})
		if err == nil && resp.StatusCode < 400 {
			t.Errorf("%.80q: %s", line, resp.Status)
		}
		_ = conn.Close()
	}
	for _, a := range own.log() {
		t.Errorf("the registry was asked: %+v", a)
	}
	for _, p := range f.Report().Refused {
		if strings.ContainsFunc(p.Host+p.Path+p.Reason, func(r rune) bool { return r < ' ' || r > '~' }) || len(p.Host) > 1000 {
			t.Errorf("reported as it was written: %+v", p)
		}
	}
}

// Within a tunnel only its own host may be named, over TLS and without.
func TestTunnelNamesItsHost(t *testing.T) {
	t.Parallel()
	own, second := newFake(t, false), newFake(t, true)
	own.page("/npm/a", "application/json", "{}")
	second.page("/a", "application/json", `{"x":1}`)
	src := npmUser(t, own, "/npm/", "t0ken")
	src.Env = append(src.Env, "npm_config_@s:registry="+second.URL)
	f := start(t, load(t, src), Options{})
	for _, c := range []struct{ connect, host, path, want string }{
		{second.host(), second.host(), "/a", "200"}, {second.host(), own.host(), "/npm/a", "421"}, {second.host(), "", "/a", "4"}, {own.host(), own.host(), "/npm/a", "403"},
	} {
		conn, err := net.Dial("tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\nGET %s HTTP/1.1\r\nHost: %s\r\n\r\n", c.connect, c.connect, c.path, c.host)
		r := bufio.NewReader(conn)
		if resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect}); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%+v: %v", c, err)
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil || !strings.HasPrefix(resp.Status, c.want) {
			t.Errorf("%+v: %v %v", c, resp, err)
		}
		_ = conn.Close()
	}
}

func TestRegistryErrorsAreReported(t *testing.T) {
	t.Parallel()
	own := newFake(t, false)
	own.on("/npm/private", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Basic")
		w.WriteHeader(http.StatusUnauthorized)
	})
	own.on("/npm/cut/-/a.tgz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "short")
	})
	src := npmUser(t, own, "/npm/", "t0ken")
	gone := newFake(t, false)
	gone.Close()
	src.Env = append(src.Env, "npm_config_@g:registry="+gone.URL)
	f := start(t, load(t, src), Options{})
	for _, c := range []struct {
		address, reason string
		status          int
	}{
		{own.URL + "/npm/private", "answered 401 Unauthorized to the credential", 401}, {own.URL + "/npm/cut/-/a.tgz", "cut its answer off", 0},
		{gone.URL + "/a", "refused the connection", 502},
	} {
		u, _ := url.Parse(c.address)
		if status, _ := f.get(t, c.address); status != c.status || !hasReason(f.Report().Failed, u.Host, c.reason) {
			t.Errorf("%s: %d %+v", c.address, status, f.Report().Failed)
		}
	}
	if status, _ := f.get(t, own.URL+"/npm/none"); status != 404 {
		t.Errorf("a package that is not there: %d", status)
	}
}

// The authorities are those of the user's settings.
func TestAuthorities(t *testing.T) {
	t.Parallel()
	own := newFake(t, false)
	own.page("/a/", "application/json", "{}")
	ca := authorities(t, own)
	other := filepath.Join(t.TempDir(), "other.pem")
	authority, err := sinkhole.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, authority.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool   Tool
		rc     string
		env    []string
		status int
	}{
		{NPM, "", nil, 502}, {Pip, "", nil, 502},
		{NPM, "", []string{"SSL_CERT_FILE=" + ca}, 200}, {NPM, "", []string{"NODE_EXTRA_CA_CERTS=" + ca}, 200}, {NPM, "cafile=" + ca, nil, 200},
		{NPM, "cafile=" + other, []string{"SSL_CERT_FILE=" + ca, "NODE_EXTRA_CA_CERTS=" + ca}, 502}, {NPM, "strict-ssl=false", nil, 200},
		{Pip, "", []string{"SSL_CERT_FILE=" + other, "SSL_CERT_DIR=" + filepath.Dir(ca)}, 200}, {Pip, "", []string{"REQUESTS_CA_BUNDLE=" + ca}, 200}, {Pip, "", []string{"CURL_CA_BUNDLE=" + ca}, 200},
		{Pip, "", []string{"PIP_CERT=" + ca, "REQUESTS_CA_BUNDLE=" + other}, 200}, {Pip, "", []string{"PIP_CERT=" + other, "REQUESTS_CA_BUNDLE=" + ca}, 502},
		{Pip, "", []string{"PIP_TRUSTED_HOST=" + own.host()}, 200}, {Pip, "", []string{"PIP_TRUSTED_HOST=127.0.0.1"}, 200}, {Pip, "", []string{"PIP_TRUSTED_HOST=127.0.0.1:1"}, 502},
	} {
		src := source(t, map[string]string{".npmrc": "registry=" + own.URL + "\n" + c.rc + "\n"}, append(c.env, "PIP_INDEX_URL="+own.URL)...)
		f := start(t, load(t, src), Options{Tools: []Tool{c.tool}})
		if status, _ := f.get(t, own.URL+"/a/"); status != c.status {
			t.Errorf("%s %s %s: %d %+v", c.tool, c.rc, c.env, status, f.Report())
		}
		if c.status != 200 && !hasReason(f.Report().Failed, own.host(), "authority that is not trusted") {
			t.Errorf("%s %s %s: %+v", c.tool, c.rc, c.env, f.Report().Failed)
		}
	}
}

// A client certificate is presented to its own registry alone.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	authority, err := sinkhole.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	cert, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, data := range map[string][]byte{cert: authority.PEM(), keyFile: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: authority.Key})} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var fakes []*fake
	for range 2 {
		f := &fake{}
		f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%d certificates", len(r.TLS.PeerCertificates))
		}))
		f.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
		f.StartTLS()
		t.Cleanup(f.Close)
		fakes = append(fakes, f)
	}
	rc := fmt.Sprintf("registry=%s\n@s:registry=%s\n//%s/:certfile=%s\n//%s/:keyfile=%s\n", fakes[0].URL, fakes[1].URL, fakes[0].host(), cert, fakes[0].host(), keyFile)
	f := start(t, load(t, source(t, map[string]string{".npmrc": rc}, "SSL_CERT_FILE="+authorities(t, fakes...))), Options{})
	for i, want := range []string{"1 certificates", "0 certificates"} {
		if status, body := f.get(t, fakes[i].URL+"/a"); status != 200 || body != want {
			t.Errorf("%d %s, want %s", status, body, want)
		}
	}
	rc = strings.ReplaceAll(rc, keyFile, "pkcs11:token=card")
	if s := load(t, source(t, map[string]string{".npmrc": rc})); !slices.ContainsFunc(s.Unserved, func(u Unserved) bool { return strings.Contains(u.What, "client certificate") }) {
		t.Errorf("%+v", s.Unserved)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	own := newFake(t, false)
	flood := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for range 64 {
			if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<10)); err != nil {
				return
			}
		}
	}
	own.on("/npm/page", flood)
	own.on("/npm/a/-/a.tgz", flood)
	own.on("/npm/announced/-/a.tgz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.WriteHeader(http.StatusOK)
	})
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	stall := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	own.on("/npm/slow/-/a.tgz", stall)
	own.on("/npm/slow", stall)
	own.on("/npm/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := load(t, npmUser(t, own, "/npm/", "t0ken"))
	f := start(t, s, Options{Limits: Limits{Metadata: 32 << 10, Artifact: 48 << 10, Stall: 200 * time.Millisecond}})
	for _, c := range []struct {
		path, reason string
		status       int
	}{
		{"/npm/page", "larger than is allowed", 502}, {"/npm/a/-/a.tgz", "larger than is allowed", 0}, {"/npm/announced/-/a.tgz", "larger than is allowed", 502},
		{"/npm/slow", "sent nothing for too long", 502}, {"/npm/slow/-/a.tgz", "sent nothing for too long", 0}, {"/npm/silent", "did not answer in time", 502},
	} {
		if status, body := f.get(t, own.URL+c.path); status != c.status || !hasReason(f.Report().Failed, own.host(), c.reason) {
			t.Errorf("%s: %d %s %+v", c.path, status, body, f.Report().Failed)
		}
	}
	f = start(t, s, Options{Limits: Limits{Total: 40 << 10, Requests: 2}})
	for i, want := range []int{0, 0, 503} {
		if status, _ := f.get(t, own.URL+"/npm/a/-/a.tgz"); status != want {
			t.Errorf("request %d: %d, want %d", i, status, want)
		}
	}
}

// Close ends what is under way: a client that says nothing, one within a tunnel, and a
// request that the registry does not answer.
func TestClose(t *testing.T) {
	t.Parallel()
	own := newFake(t, false)
	began := make(chan struct{})
	own.on("/npm/a", func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	})
	p, err := NewProxy(load(t, npmUser(t, own, "/npm/", "t0ken")), Options{Tools: []Tool{NPM}})
	if err != nil {
		t.Fatal(err)
	}
	var ours []net.Conn
	for _, text := range []string{"", "CONNECT " + own.host() + " HTTP/1.1\r\n\r\n", "GET https://" + own.host() + "/npm/a HTTP/1.1\r\nHost: " + own.host() + "\r\n\r\n"} {
		a, b := net.Pipe()
		p.ServeConn(b)
		if _, err := io.WriteString(a, text); err != nil {
			t.Fatal(err)
		}
		ours = append(ours, a)
	}
	if _, err := bufio.NewReader(ours[1]).ReadString('\n'); err != nil { // it is in the tunnel
		t.Fatal(err)
	}
	<-began
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range ours {
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("after Close: %v", err)
		}
	}
	a, b := net.Pipe()
	p.ServeConn(b)
	if _, err := a.Read(make([]byte, 1)); err == nil {
		t.Error("it serves after Close")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// The socket itself refuses internal addresses, whatever a name server says.
func TestDialPublic(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	n := &network{}
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "0.0.0.0"} {
		c, err := n.dialPublic(context.Background(), "tcp", net.JoinHostPort(host, port))
		if !errors.Is(err, errInternal) {
			t.Errorf("%s: %v", host, err)
		}
		if c != nil {
			_ = c.Close()
		}
	}
}

// The user's proxy is used with its own password, which no registry sees.
func TestUsersProxy(t *testing.T) {
	t.Parallel()
	own := newFake(t, true)
	own.page("/a", "application/json", "{}")
	var mu sync.Mutex
	var passwords []string
	forward := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		passwords = append(passwords, r.Header.Get("Proxy-Authorization"))
		mu.Unlock()
		_, _ = fmt.Fprintf(w, "{\"through\":%q}", r.URL.Host+"|"+r.Header.Get("Authorization"))
	}))
	defer forward.Close()
	proxy := strings.Replace(forward.URL, "http://", "http://user:pr0xy@", 1)
	src := source(t, map[string]string{".npmrc": "registry=http://registry.example.com/\n//registry.example.com/:_authToken=t0ken\nproxy=" + proxy + "\n"})
	f := start(t, load(t, src), Options{})
	status, body := f.get(t, "http://registry.example.com/a")
	if status != 200 || body != `{"through":"registry.example.com|Bearer t0ken"}` {
		t.Errorf("%d %s", status, body)
	}
	if len(passwords) != 1 || passwords[0] != basic("user", "pr0xy") {
		t.Errorf("the proxy got %q", passwords)
	}
	if text := fmt.Sprintf("%+v %#v", f.settings, f.settings); strings.Contains(text, "pr0xy") || strings.Contains(text, "t0ken") {
		t.Error("the settings print a secret")
	}
	// A link to an internal address does not go through it either.
	inside, err := parseAddress("http://10.0.0.1/a.tgz")
	if err != nil {
		t.Fatal(err)
	}
	f.allow.links.add(inside, NPM, digest{})
	if status, _ := f.get(t, inside.String()); status != http.StatusForbidden || len(passwords) != 1 {
		t.Errorf("an internal address through the proxy: %d, %q", status, passwords)
	}
	// Its own address is none of the public ones.
	u, _ := url.Parse(forward.URL)
	if err := f.upstream.guard(context.Background(), f.settings.networks[NPM], u); err == nil {
		t.Error("a link may lead to the user's proxy")
	}
}
