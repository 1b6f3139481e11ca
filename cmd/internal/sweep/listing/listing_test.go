package listing

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// entry is one server of a registry, in the form v0.1.
func entry(name, version, status string, latest bool) string {
	return fmt.Sprintf(`{"server":{"name":%q,"version":%q,"packages":[{"registryType":"npm","identifier":"@x/%s","version":%q,"transport":{"type":"stdio"}}]},"_meta":{"io.modelcontextprotocol.registry/official":{"status":%q,"isLatest":%t}}}`,
		name, version, strings.ReplaceAll(name, "/", "-"), version, status, latest)
}

func pageOf(next string, entries ...string) string {
	return fmt.Sprintf(`{"servers":[%s],"metadata":{"nextCursor":%q,"count":%d}}`, strings.Join(entries, ","), next, len(entries))
}

// shown is a line for each target and for what was said.
func shown(l *List, err error) string {
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var b strings.Builder
	for _, t := range l.Targets {
		fmt.Fprintf(&b, "%s %s %q mutable=%t\n", t.Key, t.Version, t.Words, t.Mutable)
	}
	for _, d := range l.Deleted {
		fmt.Fprintf(&b, "deleted %s\n", d)
	}
	for _, r := range l.Refused {
		fmt.Fprintf(&b, "refused %s\n", r)
	}
	if l.Incomplete != "" {
		fmt.Fprintf(&b, "incomplete: %s\n", l.Incomplete)
	}
	return b.String()
}

// served lists a registry of a handler's, and says how long was waited.
func served(t *testing.T, o Options, handle http.HandlerFunc) (string, time.Duration) {
	t.Helper()
	s := httptest.NewServer(handle)
	defer s.Close()
	var waited time.Duration
	o.wait = func(ctx context.Context, d time.Duration) error { waited += d; return ctx.Err() }
	return strings.ReplaceAll(shown(Read(t.Context(), s.URL, o)), strings.TrimPrefix(s.URL, "http://"), "HOST"), waited
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	got, _ := served(t, Options{Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v0.1/servers" || r.URL.Query().Get("updated_since") != "2026-01-02T03:04:05Z" {
			t.Errorf("asked for %s", r.URL)
		}
		switch r.URL.Query().Get("cursor") {
		case "":
			fmt.Fprint(w, pageOf("a/b:1.0", entry("a/one", "1.0.0", "active", true), entry("a/one", "0.9.0", "active", false), entry("a/gone", "1.0.0", "deleted", true)))
		case "a/b:1.0":
			fmt.Fprint(w, pageOf("", entry("a/two", "", "deprecated", true), `{"server":{"name":"a/far","remotes":[{"type":"sse","url":"https://example.com"}]}}`, `{"server":{"name":"a/none"}}`, `7`))
		}
	})
	const want = `npm:@x/a-one 1.0.0 ["npx" "-y" "@x/a-one@1.0.0"] mutable=false
npm:@x/a-two  ["npx" "-y" "@x/a-two"] mutable=true
deleted a/gone
refused "a/far#r1": it is reached by its address, where nobody sees what it does
refused "a/none": it names no package
refused "": an entry is not that of a registry
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHostileRegistries(t *testing.T) {
	t.Parallel()
	n := 0
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		want   string
		waited time.Duration
	}{
		"names that do not show": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, pageOf("", entry("a/good", "1.0.0", "active", true), `{"server":{"name":"a/evil\u001b[31m","packages":[]}}`, `{"server":{"name":"a/\u202eevil","packages":[]}}`, `{"server":{"name":"`+strings.Repeat("x", 300)+`"}}`,
				`{"server":{"name":"a/far","remotes":[{"type":"sse","url":"https://example.com"}]}}`, `{"server":{"name":"a/none"}}`))
		}, `npm:@x/a-good 1.0.0 ["npx" "-y" "@x/a-good@1.0.0"] mutable=false
refused "a/evil\x1b[31m": its name "a/evil\x1b[31m" has characters that do not show
refused "a/\u202eevil": its name "a/\u202eevil" has characters that do not show
refused "` + strings.Repeat("x", 80) + `…": its name has 300 bytes
refused "a/far#r1": it is reached by its address, where nobody sees what it does
refused "a/none": it names no package
`, 0},
		"a cursor that comes back": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, pageOf("again", entry("a/one", "1.0.0", "active", true)))
		}, "npm:@x/a-one 1.0.0 [\"npx\" \"-y\" \"@x/a-one@1.0.0\"] mutable=false\nnpm:@x/a-one 1.0.0 [\"npx\" \"-y\" \"@x/a-one@1.0.0\"] mutable=false\nincomplete: the registry repeats a cursor: its pages have no end\n", 0},
		"endless pages": {func(w http.ResponseWriter, _ *http.Request) {
			n++
			fmt.Fprint(w, pageOf(fmt.Sprint("c", n)))
		}, "incomplete: the registry has more than 5000 pages or 500000 servers\n", 0},
		"a failing page": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("cursor") != "" {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			fmt.Fprint(w, pageOf("next", entry("a/one", "1.0.0", "active", true)))
		}, "npm:@x/a-one 1.0.0 [\"npx\" \"-y\" \"@x/a-one@1.0.0\"] mutable=false\nincomplete: after 1 pages: HOST answers with status 500, 6 times\n", 31 * time.Second},
		"not found": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "error: HOST answers with status 404\n", 0},
		"a large page": {func(w http.ResponseWriter, _ *http.Request) {
			for range 17 {
				_, _ = w.Write(make([]byte, 1<<20))
			}
		}, "error: refused: a page of more than 16777216 bytes\n", 0},
		"a redirect inside": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		}, "error: Get \"http://169.254.169.254/latest\": refused: a redirect to the inside address 169.254.169.254\n", 0},
		"a redirect to a name inside": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://localhost:1/", http.StatusFound)
		}, "error: Get \"http://localhost:1/\": refused: a redirect to the inside host localhost\n", 0},
		"a redirect to another scheme": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "ftp://example.com/", http.StatusFound)
		},
			"error: Get \"ftp://example.com/\": refused: a redirect from http to ftp\n", 0},
		"redirects without an end": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String()+"x", http.StatusFound)
		}, "more than five redirects", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, waited := served(t, Options{}, c.handle)
			if name == "redirects without an end" {
				if !strings.Contains(got, c.want) {
					t.Error(got)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if waited != c.waited {
				t.Errorf("waited %s", waited)
			}
		})
	}
}

// A registry that asks for patience gets it, in seconds or until a date.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	tries := 0
	got, waited := served(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries == 1 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, pageOf("", entry("a/one", "1.0.0", "active", true)))
	})
	if !strings.HasPrefix(got, "npm:@x/a-one") || waited != 7*time.Second {
		t.Errorf("%s after %s", got, waited)
	}
	for text, want := range map[string]time.Duration{"": 0, "3": 3 * time.Second, "-1": 0, "x": 0, "Wed, 21 Oct 2015 07:28:00 GMT": 0} {
		if got := retryAfter(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// A page that did not change is not sent again; one that did is, and what no page names any
// more is not kept. A list of what changed since a time keeps nothing.
func TestPagesAreKept(t *testing.T) {
	t.Parallel()
	version, asked := "1", ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cursor := r.URL.Query().Get("cursor")
		tag, next := `"`+version+cursor+`"`, ""
		if cursor == "" {
			next = "b" + version
			w.Header().Set("Last-Modified", "then")
			tag = `"first ` + version + `"`
		}
		if cursor == "b2" { // it has no ETag
			tag = ""
			w.Header().Set("Last-Modified", "now")
		}
		if tag != "" {
			w.Header().Set("ETag", tag)
		}
		asked += fmt.Sprintf("%s[%s%s] ", cursor, r.Header.Get("If-None-Match"), r.Header.Get("If-Modified-Since"))
		if tag != "" && r.Header.Get("If-None-Match") == tag || tag == "" && r.Header.Get("If-Modified-Since") == "now" {
			asked += "304 "
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, pageOf(next, entry("a/page"+cursor, version, "active", true)))
	}))
	defer s.Close()
	dir := t.TempDir()
	for _, step := range []struct {
		version, asked, targets string
		files                   int
		since                   time.Time
	}{
		{"1", `[] b1[] `, "1 1 ", 2, time.Time{}},
		{"1", `["first 1"] 304 b1["1b1"] 304 `, "1 1 ", 2, time.Time{}},
		{"2", `["first 1"] b2[] `, "2 2 ", 2, time.Time{}},
		{"2", `["first 2"] 304 b2[now] 304 `, "2 2 ", 2, time.Time{}},
		{"2", `[] b2[] `, "2 2 ", 2, time.Unix(1, 0)},
	} {
		version, asked = step.version, ""
		l, err := Read(t.Context(), s.URL, Options{Cache: dir, Since: step.since})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, target := range l.Targets {
			got += target.Version + " "
		}
		files, err := os.ReadDir(dir)
		if err != nil || asked != step.asked || got != step.targets || len(files) != step.files {
			t.Errorf("%+v: asked %q, targets %q, %d files, %v", step, asked, got, len(files), err)
		}
	}
	if l, err := Read(t.Context(), s.URL, Options{Cache: filepath.Join(dir, "file", "\x00")}); err == nil {
		t.Errorf("a cache that cannot be made: %+v", l)
	}
}

func TestOutside(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{"8.8.8.8:443": true, "127.0.0.1:80": false, "10.1.2.3:80": false, "192.168.0.1:80": false, "169.254.169.254:80": false, "100.64.0.1:80": false, "[::1]:80": false,
		"[fd00::1]:80": false, "[::ffff:10.0.0.1]:80": false, "0.0.0.0:80": false, "[2001:4860::1]:443": true, "name:80": false} {
		if err := outside(address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestNPM(t *testing.T) {
	t.Parallel()
	var kept atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var list []string
		from := r.URL.Query().Get("from")
		for i := range map[string]int{"0": 250, "250": 3}[from] {
			list = append(list, fmt.Sprintf(`{"package":{"name":"p%s-%d","version":"1.0.%d"}}`, from, i, i))
		}
		if r.URL.Query().Get("text") != "keywords:mcp" {
			t.Errorf("asked for %s", r.URL)
		}
		w.Header().Set("ETag", `"`+from+`"`)
		if r.Header.Get("If-None-Match") == `"`+from+`"` {
			kept.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, `{"objects":[%s],"total":253}`, strings.Join(list, ","))
	}))
	defer s.Close()
	dir := t.TempDir()
	for _, since := range []time.Time{{}, time.Unix(1, 0)} {
		l, err := npm(t.Context(), s.URL, "mcp", Options{Cache: dir, Since: since})
		if err != nil || len(l.Targets) != 253 || l.Targets[252].Key != "npm:p250-2" || l.Targets[252].Words[0] != "npm:p250-2@1.0.2" || l.Targets[252].Mutable {
			t.Errorf("%+v, %v", l, err)
		}
	}
	if kept.Load() != 2 {
		t.Errorf("%d pages were kept of an earlier sweep, want 2", kept.Load())
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"lines": {"# a comment\nnpm:@a/b@1.2.3 --root /x\n\npypi:c==1.0\noci:img:tag\nnpm:newest\n/bin/own --stdio\n", `npm:@a/b 1.2.3 ["npm:@a/b@1.2.3" "--root" "/x"] mutable=false
pypi:c 1.0 ["pypi:c==1.0"] mutable=false
oci:img tag ["oci:img:tag"] mutable=true
npm:newest  ["npm:newest"] mutable=true
command:/bin/own --stdio  ["/bin/own" "--stdio"] mutable=false
`},
		"a configuration": {`{"mcpServers":{"a":{"command":"uvx","args":["d@2.0"]},"b":{"url":"https://example.com"}}}`, "pypi:d 2.0 [\"uvx\" \"d@2.0\"] mutable=false\nrefused \"b\": it is reached by its address, where nobody sees what it does\n"},
		"a page":          {pageOf("", entry("a/one", "1.0.0", "active", true)), "npm:@x/a-one 1.0.0 [\"npx\" \"-y\" \"@x/a-one@1.0.0\"] mutable=false\n"},
		"nothing":         {"{}", "error: FILE: no MCP servers are configured here\n"},
	} {
		file := filepath.Join(t.TempDir(), "list.json")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(shown(Read(t.Context(), file, Options{Hash: func([]string) string { return "x" }})), file, "FILE")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// FuzzPage reads a page of a registry.
func FuzzPage(f *testing.F) {
	f.Add(pageOf("", entry("a/one", "1.0.0", "active", true)))
	f.Add(`{"servers":[{"server":{"name":"x","packages":[{"registryType":"oci","identifier":"a:b"}]}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		l := &List{}
		l.entry([]byte(text), "active", nil)
		l.line(text, Options{})
		for _, target := range l.Targets {
			if err := target.check(); err != nil || target.Digest() == "" {
				t.Errorf("%+v: %v", target, err)
			}
			if _, err := url.Parse(target.Key); err == nil && strings.ContainsAny(target.Key, "\x1b\n") {
				t.Errorf("%q", target.Key)
			}
		}
	})
}
