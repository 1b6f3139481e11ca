//go:build linux && e2e

package site

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/browser"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// The site of a sweep in a real browser: ten thousand results are one page that can be
// searched, and a server's page has its history.
func TestSiteInABrowser(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	servers := scale.N(1000, 10_000)
	dir, out := t.TempDir(), t.TempDir()
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var jobs []store.Job
	for i := range servers {
		name := fmt.Sprintf("server-%05d", i)
		key := "npm:" + name
		if i == 7 {
			key = "npm:@team/" + name
		}
		jobs = append(jobs, store.Job{Name: name, Target: listing.Target{Key: key, Name: name, Version: "1.0.0"}})
	}
	w := &store.Sweep{Name: "night", Source: "a registry", Started: time.Unix(1_780_000_000, 0)}
	if err := s.Begin(t.Context(), w, jobs, nil); err != nil {
		t.Fatal(err)
	}
	for i, j := range jobs {
		r := &store.Result{Key: j.Target.Key, Version: "1.0.0", Verdict: []string{"clean", "findings", "inconclusive"}[i%3]}
		if i%3 == 1 {
			r.Findings = []store.Finding{{Rule: "CM101", Severity: "high", Title: "Undeclared connection", Message: "connected to a host", Fingerprint: j.Name}}
		}
		if _, err := s.Record(t.Context(), w.ID, j.Name, store.HowRun, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(t.Context(), w.ID, time.Unix(1_780_003_600, 0)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := Write(t.Context(), s, root, Options{}); err != nil {
		t.Fatal(err)
	}
	b := browser.Start(t)
	b.Inspect(t, "sweep-index", "file://"+filepath.Join(out, "index.html"))
	search := func(words, verdict, name string) (shown int, count string) {
		var got struct {
			Shown int
			Count string
		}
		b.Eval(fmt.Sprintf(`for (const [id, value] of [["search", %q], ["verdict", %q], ["package", %q]]) { const e = document.getElementById(id); e.value = value; e.dispatchEvent(new Event("input")); }
			({Shown: document.querySelectorAll("tbody tr").length, Count: document.getElementById("count").textContent})`, words, verdict, name), &got)
		return got.Shown, got.Count
	}
	if shown, count := search("", "", ""); shown != 500 || count != fmt.Sprintf("%d of %d, the first 500 are shown", servers, servers) {
		t.Errorf("without a search: %d rows, %q", shown, count)
	}
	if shown, count := search("server-00501", "", ""); shown != 1 || count != fmt.Sprintf("1 of %d", servers) {
		t.Errorf("one name: %d rows, %q", shown, count)
	}
	if shown, _ := search("server-0050", "findings", ""); shown != 3 {
		t.Errorf("names and a verdict: %d rows", shown)
	}
	if shown, _ := search("", "findings", "npm:server-0050"); shown != 3 {
		t.Errorf("packages that begin so: %d rows", shown)
	}
	if shown, _ := search("", "", "server-0050"); shown != 0 {
		t.Errorf("packages that do not begin so: %d rows", shown)
	}
	var offered string
	b.Eval(`[...document.querySelectorAll("#packages option")].map((o) => o.value).join(" ")`, &offered)
	if offered != "npm: npm:@team/" {
		t.Errorf("packages that are offered: %q", offered)
	}
	var page string
	search("server-00502", "", "")
	b.Eval(`document.querySelector("tbody a").href`, &page)
	b.Inspect(t, "sweep-server", page)
}
