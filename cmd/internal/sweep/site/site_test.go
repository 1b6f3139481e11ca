package site

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
)

// Names and messages of a server act on no page, and choose no file's name.
func TestAHostileSite(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const evil = `</script><script>alert(1)</script><img src=x onerror=alert(2)>`
	key := "npm:../../" + evil
	for i, version := range []string{"1.0.0", "1.0.1"} {
		w := &store.Sweep{Name: string(rune('a' + i)), Source: evil, Started: time.Unix(int64(i), 0), Refused: []string{evil}, Incomplete: evil}
		job := store.Job{Name: "j", Target: listing.Target{Key: key, Name: evil, Version: version, Words: []string{"x"}}}
		if err := s.Begin(t.Context(), w, []store.Job{job}, nil); err != nil {
			t.Fatal(err)
		}
		r := &store.Result{Key: key, Version: version, Verdict: "findings", Error: evil, Findings: []store.Finding{{Rule: "CM101", Severity: "high", Tool: "=HYPERLINK(1)", Title: evil, Message: evil, Fingerprint: version}}}
		for _, want := range []bool{true, false} { // the second time says nothing new
			if got, err := s.Record(t.Context(), w.ID, "j", store.HowRun, r); err != nil || got != want {
				t.Errorf("recorded %t, %v", got, err)
			}
		}
		if err := s.Finish(t.Context(), w.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := Write(t.Context(), s, root, Options{Base: "https://example.com/" + evil}); err != nil {
		t.Fatal(err)
	}
	pages := 0
	err = filepath.WalkDir(out, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		pages++
		if strings.HasSuffix(name, ".html") && (strings.Contains(string(data), "<script>alert") || strings.Contains(string(data), "<img")) {
			t.Errorf("%s has markup of the server's", name)
		}
		if strings.HasSuffix(name, ".csv") && strings.Contains(string(data), ",=HYPERLINK") {
			t.Error("the table has a formula of the server's")
		}
		return err
	})
	if err != nil || pages != 5 {
		t.Errorf("%d files, %v", pages, err)
	}
	feed, err := os.Open(filepath.Join(out, "feed.xml"))
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	items := 0
	for d := xml.NewDecoder(feed); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "item" {
			items++
		}
	}
	if items != 1 {
		t.Errorf("%d new findings in the feed", items)
	}
}
