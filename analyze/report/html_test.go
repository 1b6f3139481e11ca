package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

func htmlOf(t testing.TB, res *analyze.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, res, HTMLOptions{Files: []string{"report.json", "session.jsonl"}}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// elsewhere is what of a page has its own home: the style and the rules' help.
var elsewhere = regexp.MustCompile(`(?s)<style>.*?</style>|<details><summary>About .*?</details>|sha256-[A-Za-z0-9+/=&#;]+`)

func TestGoldenHTML(t *testing.T) {
	for _, name := range []string{"leaky", "crashed"} {
		golden(t, "testdata/"+name+".html", elsewhere.ReplaceAll(htmlOf(t, judged(t)[name]), []byte("…")))
	}
}

func TestPageShowsWhatMatters(t *testing.T) {
	page := string(htmlOf(t, judged(t)["leaky"]))
	for what, want := range map[string]string{
		"the verdict":        "3 things it did not say",
		"what was said":      "<bdi>purely local</bdi>",
		"an absent hint":     "destructiveHint <b>not declared</b>",
		"what was done":      "<bdi>~/.ssh/id_rsa</bdi>",
		"how far":            `<li class="on">read`,
		"the evidence":       "trace.jsonl seq 3",
		"a timeline":         `aria-label="Call 1 of format_note: 5 moments in 6.0 ms"`,
		"a decoy on it":      `class="m-secrets"`,
		"a failed attempt":   `class="m-network hollow"`,
		"coverage":           `<bdi>format_note</bdi></th><td>8</td><td>8</td>`,
		"the audit":          "<b>75</b> of 100 (C)",
		"how to see it":      "coalmine probe --sandbox local --network none --seed 1 -- node /srv/notes/index.js",
		"a policy of itself": "default-src &#39;none&#39;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %s: %q", what, want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "style=") {
		t.Error("a script or a style beside the one that the policy names")
	}
}

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

// large is the log of n calls of forty tools, two frames a call.
func large(t testing.TB, n int) *analyzetest.Log {
	l := analyzetest.New(t, nil)
	var tools []string
	for i := range 40 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":"Reads a file at a path, or downloads it.","inputSchema":{"properties":{"path":{}}},"annotations":{"readOnlyHint":true}}`, i))
	}
	l.Begin(tools...)
	for i := range n {
		l.Call(fmt.Sprintf("tool_%d", i%40), `{"path":"/data/notes.txt"}`, func() {
			if i%3 == 0 {
				l.Open(fmt.Sprintf("/var/lib/app/%d", i), "O_WRONLY|O_CREAT", "")
			}
			if i == 7 {
				for k := range 200 {
					l.Open(fmt.Sprintf("/var/lib/app/%d", k), "O_RDONLY", "")
				}
			}
		}, nil)
	}
	l.End()
	return l
}

// A page of ten thousand frames is written within a second, however many there are.
func TestLargePageIsBounded(t *testing.T) {
	res := large(t, 5000).Judge(analyze.Options{})
	start := time.Now()
	page := htmlOf(t, res)
	took := time.Since(start)
	t.Logf("%d bytes in %s", len(page), took)
	if took > time.Second {
		t.Errorf("it took %s", took)
	}
	if len(page) > 2<<20 {
		t.Errorf("it has %d bytes", len(page))
	}
}

func BenchmarkHTML(b *testing.B) {
	res := large(b, 5000).Judge(analyze.Options{})
	b.ResetTimer()
	for b.Loop() {
		var w bytes.Buffer
		if err := HTML(&w, res, HTMLOptions{}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(w.Len()))
	}
}
