package registry

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func openTestCache(t *testing.T, dir string, most int64) *cache {
	t.Helper()
	c, err := openCache(dir, most)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// keep puts an answer into a cache.
func keep(t *testing.T, c *cache, key, body string) {
	t.Helper()
	d, err := c.create()
	if err != nil {
		t.Fatal(err)
	}
	defer d.discard()
	if _, err := io.WriteString(d, body); err != nil {
		t.Fatal(err)
	}
	if err := d.commit(stored{Key: key, Type: "text/plain"}); err != nil {
		t.Fatal(err)
	}
}

// files lists what a cache's directory holds.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A kept answer is found as it was, and never once its file was changed or exchanged.
func TestCacheVerifies(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	c := openTestCache(t, dir, 1<<20)
	defer c.close()
	a, b := cacheKey("a"), cacheKey("b")
	keep(t, c, a, "body")
	f := c.find(a, digest{})
	if f == nil {
		t.Fatal("it is not found")
	}
	if body, err := io.ReadAll(f.body()); err != nil || string(body) != "body" || f.Type != "text/plain" {
		t.Errorf("%q %+v %v", body, f.stored, err)
	}
	f.close()
	if f := c.find(a, newDigest("sha256", strings.Repeat("0", 64))); f != nil {
		t.Error("it is found with the digest of another file")
	}
	path := filepath.Join(dir, cacheName(a))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	spoiled := func(change func([]byte) []byte) []byte { return change(append([]byte(nil), whole...)) }
	for name, data := range map[string][]byte{
		"changed":   spoiled(func(d []byte) []byte { d[len(d)-1] ^= 1; return d }),
		"cut":       spoiled(func(d []byte) []byte { return d[:len(d)-1] }),
		"longer":    spoiled(func(d []byte) []byte { return append(d, 'x') }),
		"no header": spoiled(func(d []byte) []byte { return d[:100] }),
		"empty":     {},
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if f := c.find(a, digest{}); f != nil {
			t.Errorf("%s: it is found", name)
		}
	}
	// One answer's file in the place of another's.
	keep(t, c, a, "body")
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, cacheName(b))), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, filepath.Join(dir, cacheName(b))); err != nil {
		t.Fatal(err)
	}
	if f := c.find(b, digest{}); f != nil {
		t.Error("another answer is found")
	}
	// A link out of the cache is not followed.
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, path); err != nil {
		t.Fatal(err)
	}
	if f := c.find(a, digest{}); f != nil {
		t.Error("a link out of the cache is followed")
	}
}

// Those that were used last stay within the bound; drafts of ended processes go.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	c := openTestCache(t, dir, 3*(headerSize+4))
	past := time.Now().Add(-24 * time.Hour)
	for i := range 6 {
		k := cacheKey(fmt.Sprint(i))
		keep(t, c, k, "body")
		at := past.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(filepath.Join(dir, cacheName(k)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if f := c.find(cacheKey("0"), digest{}); f == nil { // it is used: it stays
		t.Fatal("it is not found")
	} else {
		f.close()
	}
	for _, name := range []string{"tmp-old", "tmp-new", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(dir, "tmp-old"), past, past); err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	c = openTestCache(t, dir, 1<<20)
	defer c.close()
	for i, want := range []bool{true, false, false, false, true, true} {
		f := c.find(cacheKey(fmt.Sprint(i)), digest{})
		if f != nil {
			f.close()
		}
		if (f != nil) != want {
			t.Errorf("answer %d: found %v, want %v", i, f != nil, want)
		}
	}
	if got := files(t, dir); len(got) != 5 { // three answers, the new draft and what is not ours
		t.Errorf("%q", got)
	}
}

// Many at once write and read the same answers.
func TestCacheIsShared(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c, err := openCache(dir, 1)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 50 {
				k := cacheKey(fmt.Sprint(i % 5))
				d, err := c.create()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.WriteString(d, "body of "+k)
				if err := d.commit(stored{Key: k}); err != nil {
					t.Error(err)
				}
				d.discard()
				if f := c.find(k, digest{}); f != nil {
					if body, err := io.ReadAll(f.body()); err != nil || string(body) != "body of "+k {
						t.Errorf("%q %v", body, err)
					}
					f.close()
				}
				if i%10 == 0 {
					if err := c.trim(time.Now()); err != nil {
						t.Error(err)
					}
				}
			}
			if err := c.close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestCacheIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	c := openTestCache(t, dir, 1)
	defer c.close()
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// An archive is asked for once; one that is not what its index says is never kept; pages
// are asked for again and may answer that they did not change.
func TestProxyKeepsAnswers(t *testing.T) {
	t.Parallel()
	own := newFake(t, false)
	tarball := own.URL + "/npm/a/-/a.tgz"
	own.on("/npm/a", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, packument(tarball, "archive"))
	})
	own.page("/npm/a/-/a.tgz", "application/octet-stream", "forgery")
	s := load(t, npmUser(t, own, "/npm/", "t0ken"))
	dir := filepath.Join(t.TempDir(), "cache")
	round := func(t *testing.T, s *Settings, wantPage, wantArchive int) Report {
		f := start(t, s, Options{Cache: dir})
		if status, body := f.get(t, own.URL+"/npm/a"); status != wantPage {
			t.Errorf("page: %d %s", status, body)
		}
		if status, body := f.get(t, tarball); status != wantArchive || status == 200 && body != "archive" {
			t.Errorf("archive: %d %s", status, body)
		}
		r := f.Report()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		return r
	}
	if r := round(t, s, 200, 0); !hasReason(r.Failed, own.host(), "digest") || r.Cached != 0 {
		t.Errorf("a forged archive: %+v", r)
	}
	own.page("/npm/a/-/a.tgz", "application/octet-stream", "archive")
	if r := round(t, s, 200, 200); r.Cached != 1 || len(r.Failed) > 0 {
		t.Errorf("an archive for the first time: %+v", r)
	}
	before := len(own.log())
	if r := round(t, s, 200, 200); r.Cached != 2 || r.Bytes != 0 {
		t.Errorf("an archive again: %+v", r)
	}
	if log := own.log()[before:]; len(log) != 1 || log[0].path != "/npm/a" {
		t.Errorf("asked again: %+v", log)
	}
	// Who has another credential does not get what the first one fetched.
	own.on("/npm/a/-/a.tgz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	round(t, load(t, npmUser(t, own, "/npm/", "another")), 200, 401)
	for _, path := range files(t, dir) {
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "t0ken") {
			t.Errorf("%s holds the credential, or %v", path, err)
		}
	}
}

// A page that its registry calls fresh is not asked for again.
func TestFreshPages(t *testing.T) {
	t.Parallel()
	own := newFake(t, false)
	for path, control := range map[string]string{"/npm/fresh": "public, max-age=300", "/npm/never": "no-store, max-age=300", "/npm/stale": "max-age=0"} {
		own.on(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", control)
			_, _ = io.WriteString(w, "{}")
		})
	}
	f := start(t, load(t, npmUser(t, own, "/npm/", "t0ken")), Options{})
	for range 2 {
		for _, path := range []string{"/npm/fresh", "/npm/never", "/npm/stale"} {
			f.get(t, own.URL+path)
		}
	}
	count := map[string]int{}
	for _, a := range own.log() {
		count[a.path]++
	}
	if count["/npm/fresh"] != 1 || count["/npm/never"] != 2 || count["/npm/stale"] != 2 {
		t.Errorf("asked %v", count)
	}
}

// Without a network the cache answers alone: old pages too, and those that nobody else would keep.
func TestOffline(t *testing.T) {
	t.Parallel()
	own := newFake(t, false)
	own.on("/npm/a", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, packument(own.URL+"/npm/a/-/a.tgz", "archive"))
	})
	own.page("/npm/a/-/a.tgz", "application/octet-stream", "archive")
	settings, dir := load(t, npmUser(t, own, "/npm/", "t0ken")), t.TempDir()
	for _, kept := range []bool{false, true} {
		f := start(t, settings, Options{Cache: dir, Keep: kept})
		for _, path := range []string{"/npm/a", "/npm/a/-/a.tgz"} {
			if status, body := f.get(t, own.URL+path); status != http.StatusOK {
				t.Fatalf("%d %s", status, body)
			}
		}
		asked := len(own.log())
		away := start(t, settings, Options{Cache: dir, Offline: true})
		for path, want := range map[string]int{"/npm/a": http.StatusOK, "/npm/a/-/a.tgz": http.StatusOK, "/npm/b": http.StatusGatewayTimeout} {
			if path == "/npm/a" && !kept {
				want = http.StatusGatewayTimeout
			}
			if status, body := away.get(t, own.URL+path); status != want || status != http.StatusOK && !strings.Contains(body, "coalmine prepare") {
				t.Errorf("kept %t, %s: %d %s", kept, path, status, body)
			}
		}
		if now := len(own.log()); now != asked {
			t.Errorf("the registry was asked %d times", now-asked)
		}
	}
}
