package cli

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/audit/online"
)

// askerOf asks a server of the test's own, with a cache of its own.
func askerOf(t *testing.T, h http.HandlerFunc) (*webAsker, string) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	c := s.Client()
	c.CheckRedirect = sameHost
	return &webAsker{http: c, cache: root}, s.URL
}

func TestAnswersAreKept(t *testing.T) {
	t.Parallel()
	asked := 0
	w, at := askerOf(t, func(rw http.ResponseWriter, r *http.Request) {
		asked++
		if r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v", r.Header)
		}
		fmt.Fprintf(rw, `{"n":%d}`, asked)
	})
	ask := func(q online.Question, want string) {
		t.Helper()
		if a, err := w.Ask(t.Context(), q); err != nil || a.Status != 200 || string(a.Body) != want {
			t.Errorf("%d %s %v, want %s", a.Status, a.Body, err, want)
		}
	}
	get, post := online.Question{URL: at + "/a"}, online.Question{URL: at + "/a", Body: []byte("{}")}
	ask(get, `{"n":1}`)
	ask(get, `{"n":1}`)
	ask(post, `{"n":2}`)
	list, err := fs.ReadDir(w.cache.FS(), ".")
	if err != nil || len(list) != 2 {
		t.Fatalf("%v %v", list, err)
	}
	old := time.Now().Add(-2 * answerAge)
	for _, d := range list {
		if err := w.cache.Chtimes(d.Name(), old, old); err != nil {
			t.Fatal(err)
		}
	}
	ask(get, `{"n":3}`)
	w.makeRoom(maxCached)
	if list, err := fs.ReadDir(w.cache.FS(), "."); err != nil || len(list) != 0 {
		t.Errorf("%v %v: no room was made", list, err)
	}
}

func TestAnswersLeadNowhere(t *testing.T) {
	t.Parallel()
	w, at := askerOf(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(rw, r, "https://other.example/", http.StatusFound)
		case "/plain":
			http.Redirect(rw, r, "http://"+r.Host+"/", http.StatusFound)
		case "/long":
			for range maxAnswer>>20 + 1 {
				_, _ = rw.Write(make([]byte, 1<<20))
			}
		}
	})
	for _, p := range []string{"/away", "/plain", "/long"} {
		if a, err := w.Ask(t.Context(), online.Question{URL: at + p}); err == nil {
			t.Errorf("%s: %d", p, a.Status)
		}
	}
	if w.failed == nil || !strings.Contains(w.failed.Error(), "leads to another host") {
		t.Errorf("%v", w.failed)
	}
}

// The package that is asked about is the one that was fetched, whatever its manifests say.
func TestPackageThatIsAskedAbout(t *testing.T) {
	t.Parallel()
	for target, path := range map[string]string{"npm:@a/b": "npm:@a/b@1.0.0", "pypi:A_b[x]==1.0.0": "pypi:a-b==1.0.0", ".": "."} {
		r := &audit.Report{Profile: audit.Profile{Path: path, Runtime: "python", PackageName: "said", Version: "2"}}
		want := map[string]audit.LockedPackage{
			"npm:@a/b": {Ecosystem: audit.NPM, Name: "@a/b", Version: "1.0.0"}, "pypi:A_b[x]==1.0.0": {Ecosystem: audit.PyPI, Name: "a-b", Version: "1.0.0"}, ".": {Ecosystem: audit.PyPI, Name: "said", Version: "2"},
		}[target]
		if got := packageOf(target, r); got != want {
			t.Errorf("%s: %+v, want %+v", target, got, want)
		}
	}
}
