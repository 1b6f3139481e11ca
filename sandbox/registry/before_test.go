package registry

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// pipUser is a user of one index of Python packages.
func pipUser(t testing.TB, f *fake) Source {
	t.Helper()
	return source(t, map[string]string{".config/pip/pip.conf": "[global]\nindex-url = " + f.URL + "/simple\n"}, "SSL_CERT_FILE="+authorities(t, f), "REQUESTS_CA_BUNDLE="+authorities(t, f))
}

// An index is as it was at a moment, from the cache as well; archives are not touched.
func TestIndexesAreAsTheyWere(t *testing.T) {
	t.Parallel()
	index := newFake(t, false)
	file := func(version, uploaded string) string {
		return fmt.Sprintf(`{"filename":"a-%s-py3-none-any.whl","url":%q,"hashes":{},"upload-time":%q,"size":7}`, version, index.URL+"/files/a-"+version+"-py3-none-any.whl", uploaded)
	}
	page := fmt.Sprintf(`{"meta":{"api-version":"1.1"},"name":"a","files":[%s,%s,%s,{"filename":"a-0.1.tar.gz","url":"x"},7]}`,
		file("1.0", "2024-01-02T03:04:05.123456Z"), file("2.0", "2024-06-01T00:00:00Z"), file("3.0", "2025-06-01T00:00:00Z"))
	index.page("/simple/a/", pep691+"; charset=utf-8", page)
	index.page("/files/a-1.0-py3-none-any.whl", "application/octet-stream", "archive")
	var mu sync.Mutex
	told := map[string]time.Time{}
	f := start(t, load(t, pipUser(t, index)), Options{
		Cache: t.TempDir(), Keep: true, Before: time.Date(2024, 12, 31, 0, 0, 0, 0, time.UTC),
		Dated: func(file string, at time.Time) {
			mu.Lock()
			defer mu.Unlock()
			told[file] = at
		},
	})
	for _, from := range []string{"the registry", "the cache"} {
		status, body := f.get(t, index.URL+"/simple/a/", "Accept", "text/html")
		var got struct {
			Name  string
			Files []struct{ Filename string }
		}
		if err := json.Unmarshal([]byte(body), &got); status != 200 || err != nil {
			t.Fatalf("from %s: %d %s: %v", from, status, body, err)
		}
		var names []string
		for _, f := range got.Files {
			names = append(names, f.Filename)
		}
		want := []string{"a-1.0-py3-none-any.whl", "a-2.0-py3-none-any.whl"}
		if !slices.Equal(names, want) || got.Name != "a" {
			t.Errorf("from %s: the page has %q, want %q", from, names, want)
		}
		mu.Lock()
		if all := slices.Sorted(maps.Keys(told)); !slices.Equal(all, want) || told[want[0]].Year() != 2024 {
			t.Errorf("from %s: told of %v", from, told)
		}
		mu.Unlock()
	}
	if status, body := f.get(t, index.URL+"/files/a-1.0-py3-none-any.whl"); status != 200 || body != "archive" {
		t.Errorf("the archive: %d %s", status, body)
	}
	if log := index.log(); !strings.Contains(log[0].all, pep691) {
		t.Errorf("the index was asked with %q", log[0].all)
	}
}

// An index that does not say when its files came cannot be as it was.
func TestUndatedIndexes(t *testing.T) {
	t.Parallel()
	for name, page := range map[string][2]string{
		"no moments":   {pep691, `{"name":"a","files":[{"filename":"a-1.0.tar.gz","url":"x"}]}`},
		"HTML":         {"text/html", `<a href="a-1.0.tar.gz">a</a>`},
		"broken":       {pep691, `{"files":[`},
		"another kind": {pep691, `{"files":{"a":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			index := newFake(t, false)
			index.page("/simple/a/", page[0], page[1])
			f := start(t, load(t, pipUser(t, index)), Options{Before: time.Unix(1e9, 0)})
			if status, body := f.get(t, index.URL+"/simple/a/"); status != 502 {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	index := newFake(t, false)
	index.page("/simple/a/", pep691, `{"name":"a","files":[]}`)
	f := start(t, load(t, pipUser(t, index)), Options{Before: time.Unix(1e9, 0)})
	if status, body := f.get(t, index.URL+"/simple/a/"); status != 200 || !strings.Contains(body, `"files":[]`) {
		t.Errorf("a page without files: %d %s", status, body)
	}
}
