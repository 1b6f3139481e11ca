//go:build linux && e2e

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// violation is what axe-core has to say.
type violation struct {
	ID, Impact string
	Nodes      []struct {
		HTML           string
		FailureSummary string
	}
}

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
// nothing to object to. COALMINE_SHOTS names a directory for the pictures.
func TestPageInABrowser(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	sandboxtest.Need(t, "browser", "axe")
	axe, err := os.ReadFile(sandboxtest.Cache("axe", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	for name, file := range shown(t) {
		b.open(file)
		b.eval(string(axe)+";0", nil)
		for _, v := range []view{{360, "light"}, {360, "dark"}, {1280, "light"}, {1280, "dark"}, {800, "print"}} {
			lookAt(t, b, name, v)
		}
		if left := b.left(); len(left) > 0 {
			t.Errorf("%s asks for %q", name, left)
		}
		if len(b.requests) == 0 {
			t.Errorf("%s: the browser tells of no request, not even for the page", name)
		}
		if len(b.said) > 0 {
			t.Errorf("%s: the browser complains: %.500v", name, b.said)
		}
	}
}

// view is a window's width and a scheme, or paper.
type view struct {
	width  int
	medium string
}

func lookAt(t *testing.T, b *browser, page string, v view) {
	t.Helper()
	name := fmt.Sprintf("%s-%d-%s", page, v.width, v.medium)
	if v.medium == "print" {
		b.show(v.width, "light", "print")
	} else {
		b.show(v.width, v.medium, "")
	}
	var size struct{ Width, Height int }
	b.eval(`({Width: document.documentElement.scrollWidth, Height: document.documentElement.scrollHeight})`, &size)
	if size.Width > v.width {
		t.Errorf("%s is %d pixels wide", name, size.Width)
	}
	shot := b.shot(v.width, min(size.Height, 4000))
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	if dark := brightness(img) < 0.5; dark != (v.medium == "dark") {
		t.Errorf("%s: brightness %.2f", name, brightness(img))
	}
	if dir := os.Getenv("COALMINE_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), shot, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// axe-core judges screens. A phone's page in light and a desk's in dark
	// differ in all that it looks at; the plainest page is judged in every view.
	if v.medium == "print" || page != "crashed" && (v.width < 600) == (v.medium == "dark") {
		return
	}
	for _, v := range violations(t, b) {
		t.Errorf("%s: axe: %s (%s): %.300s: %.300s", name, v.ID, v.Impact, v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
	}
}

// violations runs axe-core, with closed details opened.
func violations(t *testing.T, b *browser) []violation {
	t.Helper()
	var raw string
	b.eval(`document.querySelectorAll("details").forEach(d => d.open = true); axe.run().then(r => JSON.stringify(r.violations))`, &raw)
	var out []violation
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// brightness is the mean of a picture, from 0 to 1.
func brightness(img image.Image) float64 {
	sum, n := 0.0, 0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 7 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 7 {
			r, g, bl, _ := img.At(x, y).RGBA()
			sum += float64(r+g+bl) / (3 * 0xffff)
			n++
		}
	}
	return sum / float64(n)
}

// What the browser's silence means: it speaks of a page that loads something,
// and axe-core of one that nobody can read.
func TestBrowserSpeaks(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	sandboxtest.Need(t, "browser", "axe")
	axe, err := os.ReadFile(sandboxtest.Cache("axe", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bad.html")
	if err := os.WriteFile(file, []byte(`<!DOCTYPE html><title>x</title><img src="http://example.org/a.png"><p style="color:#eee">grey on white</p>`), 0o600); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	b.open(file)
	b.show(360, "light", "")
	b.eval(string(axe)+";0", nil)
	if len(b.left()) != 1 {
		t.Errorf("requests: %q", b.requests)
	}
	found := map[string]bool{}
	for _, v := range violations(t, b) {
		found[v.ID] = true
	}
	for _, id := range []string{"image-alt", "color-contrast", "html-has-lang"} {
		if !found[id] {
			t.Errorf("axe-core does not object: %s", id)
		}
	}
}
