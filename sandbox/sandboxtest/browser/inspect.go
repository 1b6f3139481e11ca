//go:build linux

package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// View is a window's width in pixels and a scheme ("light", "dark"), or paper ("print").
type View struct {
	Width  int
	Medium string
}

// Screens are a phone's and a desk's window in both schemes.
var Screens = []View{{390, "light"}, {390, "dark"}, {1280, "light"}, {1280, "dark"}}

// Violation is an objection of axe-core's.
type Violation struct {
	ID, Impact string
	Nodes      []struct {
		HTML           string
		FailureSummary string
	}
}

// String names the rule and the first place.
func (v Violation) String() string {
	if len(v.Nodes) == 0 {
		return v.ID
	}
	return fmt.Sprintf("%s (%s): %.300s: %.300s", v.ID, v.Impact, v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
}

// Look shows the open page in a view and fails where it is wider than the window, or is not
// as bright as its scheme. COALMINE_SHOTS names a directory for the pictures.
func (b *Browser) Look(t testing.TB, page string, v View) {
	t.Helper()
	name := fmt.Sprintf("%s-%d-%s", page, v.Width, v.Medium)
	if v.Medium == "print" {
		b.Show(v.Width, "light", "print")
	} else {
		b.Show(v.Width, v.Medium, "")
	}
	var size struct{ Width, Height int }
	b.Eval(`({Width: document.documentElement.scrollWidth, Height: document.documentElement.scrollHeight})`, &size)
	if size.Width > v.Width {
		t.Errorf("%s is %d pixels wide", name, size.Width)
	}
	shot := b.Shot(v.Width, min(size.Height, 4000))
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	if dark := brightness(img) < 0.5; dark != (v.Medium == "dark") {
		t.Errorf("%s: brightness %.2f", name, brightness(img))
	}
	if dir := os.Getenv("COALMINE_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), shot, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// LoadAxe loads axe-core into the open page.
func (b *Browser) LoadAxe(t testing.TB) {
	t.Helper()
	sandboxtest.Need(t, "axe")
	axe, err := os.ReadFile(sandboxtest.Cache("axe", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b.Eval(string(axe)+";0", nil)
}

// Violations runs axe-core, which LoadAxe loaded, with closed details opened.
func (b *Browser) Violations(t testing.TB) []Violation {
	t.Helper()
	var raw string
	b.Eval(`document.querySelectorAll("details").forEach(d => d.open = true); axe.run().then(r => JSON.stringify(r.violations))`, &raw)
	var out []Violation
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Inspect opens a page and holds it to everything: no view is too wide, nothing is loaded from
// elsewhere, the browser has no complaint, and axe-core has none in either scheme.
func (b *Browser) Inspect(t testing.TB, name, url string) {
	t.Helper()
	for _, v := range Screens {
		b.Show(v.Width, v.Medium, "")
		b.Open(url)
		b.Look(t, name, v)
		// A phone's page in light and a desk's in dark differ in all that axe-core looks at.
		if (v.Width < 600) == (v.Medium == "light") {
			b.LoadAxe(t)
			for _, x := range b.Violations(t) {
				t.Errorf("%s in %d %s: axe: %s", name, v.Width, v.Medium, x)
			}
		}
		b.Silent(t, name)
	}
}

// Silent fails where the open page asked for anything elsewhere or wrote to the console.
func (b *Browser) Silent(t testing.TB, name string) {
	t.Helper()
	if left := b.Left(); len(left) > 0 {
		t.Errorf("%s asks for %q", name, left)
	}
	if len(b.Requests) == 0 {
		t.Errorf("%s: the browser tells of no request, not even for the page", name)
	}
	if len(b.Said) > 0 {
		t.Errorf("%s: the browser complains: %.500v", name, b.Said)
	}
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
