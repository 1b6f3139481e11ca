//go:build linux && e2e

package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/browser"
)

// shown are the pages that are looked at: verdicts of each kind, hostile texts,
// and more of everything than is shown.
func shown(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	out := map[string]string{}
	pages := judged(t)
	pages["large"] = large(t, 45).Judge(analyze.Options{})
	for name, res := range pages {
		out[name] = filepath.Join(dir, name+".html")
		if err := os.WriteFile(out[name], htmlOf(t, res), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// The pages in a real browser: at a phone's and a desk's width, in light and
// dark and on paper, nothing sticks out, nothing is loaded, and axe-core has
// nothing to object to.
func TestPageInABrowser(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	b := browser.Start(t)
	for name, file := range shown(t) {
		b.Open("file://" + file)
		b.LoadAxe(t)
		for _, v := range []browser.View{{Width: 390, Medium: "light"}, {Width: 390, Medium: "dark"}, {Width: 1280, Medium: "light"}, {Width: 1280, Medium: "dark"}, {Width: 800, Medium: "print"}} {
			b.Look(t, name, v)
			// axe-core judges screens. A phone's page in light and a desk's in dark
			// differ in all that it looks at; the plainest page is judged in every view.
			if v.Medium == "print" || name != "crashed" && (v.Width < 600) == (v.Medium == "dark") {
				continue
			}
			for _, x := range b.Violations(t) {
				t.Errorf("%s in %d %s: axe: %s", name, v.Width, v.Medium, x)
			}
		}
		b.Silent(t, name)
	}
}

// What the browser's silence means: it speaks of a page that loads something,
// and axe-core of one that nobody can read.
func TestBrowserSpeaks(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	file := filepath.Join(t.TempDir(), "bad.html")
	if err := os.WriteFile(file, []byte(`<!DOCTYPE html><title>x</title><img src="http://example.org/a.png"><p style="color:#eee">grey on white</p>`), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browser.Start(t)
	b.Open("file://" + file)
	b.Show(390, "light", "")
	b.LoadAxe(t)
	if len(b.Left()) != 1 {
		t.Errorf("requests: %q", b.Requests)
	}
	found := map[string]bool{}
	for _, v := range b.Violations(t) {
		found[v.ID] = true
	}
	for _, id := range []string{"image-alt", "color-contrast", "html-has-lang"} {
		if !found[id] {
			t.Errorf("axe-core does not object: %s", id)
		}
	}
}
