package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
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
		"the verdict":        "3 undeclared behaviours",
		"what was said":      "<bdi>purely local</bdi>",
		"an absent hint":     "destructiveHint <b>not declared</b>",
		"what was done":      "<bdi>~/.ssh/id_rsa</bdi>",
		"how far":            `<li class="on">read`,
		"the evidence":       "trace.jsonl seq 3",
		"a timeline":         `aria-label="Call 1 of format_note: 5 events in 6.0 ms"`,
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
