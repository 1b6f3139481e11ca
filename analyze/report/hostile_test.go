package report

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// evils have fooled pages, comments, terminals and workflow runners before.
var evils = []string{
	hostile,
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='x`, `</style><script>x</script>`, `{{.}}`, `<!--`, `]]>`, `&lt;b&gt;`, `javascript:alert(1)`,
	`[click](https://example.org)`, `![x](https://example.org/a.png)`, "`code` ``x``", "```\nfence", `| a | b |`, `@everyone`, `#1 owner/repo#2 https://example.org www.example.org`, `<https://example.org>`, `**bold** _it_ ~~no~~`, "\n# title\n- item\n> quote\n", `\`, `</details>`,
	"\x1b[31m\x1b]8;;https://example.org\x07", "\x9b31m", "\r", "a\rb", "\u202eevil\u2066", "\u200b\u2028\u2029",
	"::set-output name=x::y", "\n::error::x", "##[add-mask]x", "##vso[task.setvariable variable=x]y", "\xff\xfe", "\x00",
}

func evilText() *rapid.Generator[string] {
	one := rapid.OneOf(rapid.SampledFrom(evils), rapid.StringN(1, 40, 200), rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 20), func(b []byte) string { return string(b) }))
	// A letter at both ends keeps every text one that is shown.
	return rapid.Map(rapid.SliceOfN(one, 1, 4), func(s []string) string { return "x" + strings.Join(s, "") + "x" })
}

// staged is a sample that also has what only pages show.
func staged(evil string) *analyze.Result {
	res := sample(evil)
	res.Observed = []finding.Effect{
		{Kind: finding.FileWrite, Target: evil, Tool: evil, Call: 1, Count: 2, Phase: finding.PhaseCall, Rung: finding.RungOpened},
		{Kind: finding.NetConnect, Target: evil, Count: 1, Phase: finding.PhaseStart, Noise: ""},
	}
	res.Decoys = map[string]string{evil: evil}
	res.Timelines = []analyze.Timeline{{Call: 1, Tool: evil, What: "tool", Outcome: "ok", Start: 1, End: 1e6, Moments: []analyze.Moment{
		{Time: 2, Lane: analyze.LaneSent, Text: evil, Source: "frame", Seq: 1}, {Time: 3, Lane: analyze.LaneFiles, Text: evil, Noise: "runtime", Source: "record", Seq: 1},
	}}}
	res.Coverage.Unseen, res.Coverage.Accepted = []string{evil}, []string{evil}
	res.Baseline = &analyze.Compared{File: evil, Known: []analyze.Known{{Rule: "CM101", Severity: finding.High, Message: evil, Tool: evil}}}
	res.Policy = &analyze.Policed{File: evil, Accepted: []analyze.Accepted{{Known: analyze.Known{Rule: "CM101", Message: evil, Tool: evil}, Reason: evil, Owner: evil, Until: "2027-01-31"}}}
	res.Run.Package = &session.Package{Kind: "npm", Name: evil, Version: evil, Integrity: evil, Digest: evil, Packages: 3, Bin: evil, AsOf: evil, AsOfWhy: session.AsOfUnstarted, Again: []string{evil}, LinksLeftOut: []string{evil},
		Build: session.Build{State: session.BuildFailed, Why: evil, Steps: []session.BuildStep{{Package: evil, Event: evil, Status: 1}}}}
	res.Rules = []custom.Doc{{ID: "ORG-001", Name: evil, Severity: finding.High, Over: custom.Effects, Help: evil, References: []string{"https://example.com/rules"}, Tags: []string{"x"}}}
	res.Findings = append(res.Findings, finding.Finding{Rule: "ORG-001", Severity: finding.High, Title: evil, Message: evil, Tool: evil, Fingerprint: "f00", Confidence: finding.Certain})
	res.Run.Sandbox, res.Run.Tracer, res.Run.Network, res.Run.ID = evil, evil, evil, evil
	return res
}

// skeleton is what is left of a report without its texts: it must not depend on them.
func skeleton(form string, raw []byte) string {
	switch form {
	case "html":
		return fmt.Sprint(bytes.Count(raw, []byte("<")), bytes.Count(raw, []byte(">")), bytes.Count(raw, []byte(`"`)), tags.FindAllString(string(raw), -1))
	case "markdown":
		return spans.ReplaceAllString(string(raw), "``")
	case "junit":
		return elements(raw)
	}
	return ""
}

var (
	tags  = regexp.MustCompile(`</?[a-z0-9]+`)
	spans = regexp.MustCompile("`[^`\n]+`")
)

func elements(raw []byte) string {
	d := xml.NewDecoder(bytes.NewReader(raw))
	var out []string
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return strings.Join(out, " ")
		}
		if err != nil {
			return err.Error()
		}
		if s, ok := tok.(xml.StartElement); ok {
			out = append(out, s.Name.Local)
		}
	}
}

// No text that a server has a say in acts in any report.
func TestHostileTextsActNowhere(t *testing.T) {
	want := map[string]string{}
	for form, raw := range reportsOf(t, staged("ordinary")) {
		want[form] = skeleton(form, raw)
	}
	check := func(t interface{ Fatalf(string, ...any) }, evil string, reports map[string][]byte) {
		for form, raw := range reports {
			if got := skeleton(form, raw); got != want[form] {
				t.Fatalf("%s is built otherwise with %q:\n%s\nthan\n%s", form, evil, got, want[form])
			}
			acts(t, form, evil, raw)
		}
	}
	for _, evil := range evils {
		check(t, evil, reportsOf(t, staged("x"+evil+"x")))
	}
	scale.Checks(t, 25)
	rapid.Check(t, func(rt *rapid.T) {
		evil := evilText().Draw(rt, "evil")
		check(rt, evil, reportsOf(rt, staged(evil)))
	})
}

// acts fails where a terminal or a workflow runner would obey a report.
func acts(t interface{ Fatalf(string, ...any) }, form, evil string, raw []byte) {
	for _, r := range string(raw) {
		if r != '\n' && r != '\uFFFD' && !unicode.IsPrint(r) && !unicode.Is(unicode.Variation_Selector, r) {
			t.Fatalf("%s shows %U with %q", form, r, evil)
		}
	}
	for l := range strings.SplitSeq(string(raw), "\n") {
		if strings.HasPrefix(strings.TrimSpace(l), "::") || strings.Contains(l, "##[") || strings.Contains(l, "##vso[") {
			t.Fatalf("%s: a runner would obey %q", form, l)
		}
	}
	if (form == "json" || form == "sarif") && !json.Valid(raw) {
		t.Fatalf("%s is not JSON with %q", form, evil)
	}
}

// A check of the checks: each sees what it is for.
func TestSkeletonsSeeWhatActs(t *testing.T) {
	for form, pair := range map[string][2]string{
		"html": {"<p>x</p>", "<p>x<b></p>"}, "markdown": {"`a` b", "`a` [b](c)"}, "junit": {"<a>x</a>", "<a>x<b/></a>"},
	} {
		if skeleton(form, []byte(pair[0])) == skeleton(form, []byte(pair[1])) {
			t.Errorf("%s: %q and %q are the same", form, pair[0], pair[1])
		}
	}
}

// A server that says ten million characters of everything gets reports that can be opened.
func TestHugeTextsAreBounded(t *testing.T) {
	huge := strings.Repeat("<![](x) ", scale.N(2, 10)<<20/8)
	text, err := json.Marshal(huge)
	if err != nil {
		t.Fatal(err)
	}
	l := analyzetest.New(t, nil)
	l.Begin(`{"name":"big","description":`+string(text)+`}`, analyzetest.Note)
	l.Call("big", `{}`, func() { l.Open("/data/"+huge[:4000], "O_WRONLY|O_CREAT", "") }, nil)
	l.Call("format_note", `{"text":`+string(text)+`}`, nil, nil)
	l.End()
	res := l.Judge(analyze.Options{})
	if len(res.Declared.Tools) != 2 {
		t.Fatalf("%d tools were declared: the log has no such text", len(res.Declared.Tools))
	}
	for form, raw := range reportsOf(t, res) {
		if len(raw) > 1<<20 {
			t.Errorf("%s has %d bytes", form, len(raw))
		}
	}
	unsealed := staged(huge)
	for form, write := range map[string]func(io.Writer) error{
		"html":     func(w io.Writer) error { return HTML(w, unsealed, HTMLOptions{}) },
		"markdown": func(w io.Writer) error { return Markdown(w, unsealed) },
		"junit":    func(w io.Writer) error { return JUnit(w, unsealed) },
		"text":     func(w io.Writer) error { return Text(w, unsealed, TextOptions{}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if b.Len() > 1<<20 {
			t.Errorf("%s has %d bytes of a result that nobody bounded", form, b.Len())
		}
	}
}

// A summary stays what a comment may hold, however much there is to say.
func TestMarkdownIsBounded(t *testing.T) {
	res := sample(strings.Repeat("long ", 200))
	for range 500 {
		res.Findings = append(res.Findings, res.Findings[0])
		res.Coverage.Tools = append(res.Coverage.Tools, res.Coverage.Tools[0])
		res.Inconclusive = append(res.Inconclusive, res.Inconclusive[0])
	}
	for i := range 5000 {
		tool := strings.Repeat("`|<b>", 20) + strconv.Itoa(i%200)
		res.Observed = append(res.Observed, finding.Effect{Kind: finding.Exec, Tool: tool, Call: 1, Count: 1, Target: strings.Repeat("x`|", 100) + strconv.Itoa(i),
			Explained: &finding.Explanation{Class: finding.ClassClaim, Where: "description", Text: strconv.Itoa(i%40) + strings.Repeat("|`", 100)}})
	}
	var b bytes.Buffer
	if err := Markdown(&b, res); err != nil {
		t.Fatal(err)
	}
	if b.Len() > maxMarkdown {
		t.Errorf("it has %d bytes", b.Len())
	}
	if !strings.Contains(b.String(), "more findings, the least severe, in report.json") {
		t.Error("it does not say what it leaves out")
	}
	if strings.Count(b.String(), "<details>") != strings.Count(b.String(), "</details>") {
		t.Error("something stays open")
	}
}

// TestMarkdownLedger: what each tool did stands there with what explains it, first what nothing explains, and
// what is weak is said to be.
func TestMarkdownLedger(t *testing.T) {
	res := sample("a")
	claim := func(text string, s finding.Strength) *finding.Explanation {
		return &finding.Explanation{Class: finding.ClassClaim, Strength: s, Where: "description", Text: text}
	}
	res.Observed = []finding.Effect{
		{Kind: finding.NetConnect, Tool: "fetch", Count: 1, Target: "api.example:443", Explained: claim("web", finding.StrengthClaimed)},
		{Kind: finding.Exec, Tool: "fetch", Count: 1, Target: "/usr/bin/git", Explained: claim("git", finding.StrengthWeak)},
		{Kind: finding.FileRead, Tool: "fetch", Count: 1, Target: "/home/dana/a"},
		{Kind: finding.FileRead, Tool: "fetch", Count: 3, Target: "/etc/hosts", Noise: "runtime", Explained: &finding.Explanation{Class: finding.ClassOrdinary, Text: "runtime"}},
		{Kind: finding.Exec, Count: 1, Target: "/bin/sh", Explained: &finding.Explanation{Class: finding.ClassOrdinary, Strength: finding.StrengthWeak, Text: "launch"}},
	}
	var b bytes.Buffer
	if err := Markdown(&b, res); err != nil {
		t.Fatal(err)
	}
	want := "| `fetch` | Opened `/home/dana/a` | `not declared` |\n| `fetch` | Connected to `api.example:443` | `description: “web”` |\n| `fetch` | Ran `/usr/bin/git` | `description: “git” (weak)` |\n" +
		"| `fetch` | 3 events | `ordinary in any program` |\n| outside of calls | Ran `/bin/sh` | `ordinary: launch (weak)` |\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("no\n%s\nin\n%s", want, b.String())
	}
}

// What it ends with is there, and nothing stays open, wherever the room runs out.
func TestMarkdownIsClosed(t *testing.T) {
	for n := range 40 {
		res := sample("a")
		res.Run.Reproduce = "coalmine probe -- node server.js"
		res.Coverage.Reached = slices.Repeat([]string{strings.Repeat("h", 100+n)}, 1000)
		var b bytes.Buffer
		if err := Markdown(&b, res); err != nil {
			t.Fatal(err)
		}
		if b.Len() > maxMarkdown || strings.Count(b.String(), "<details>") != strings.Count(b.String(), "</details>") || !strings.Contains(b.String(), "Reproduce: ") {
			t.Errorf("with hosts of %d letters it has %d bytes, and ends with %q", 100+n, b.Len(), b.String()[b.Len()-60:])
		}
	}
}

func TestGoldenMarkdownAndJUnit(t *testing.T) {
	for _, name := range []string{"leaky", "crashed", "unfinished", "honest"} {
		reports := reportsOf(t, judged(t)[name])
		golden(t, "testdata/"+name+".md", reports["markdown"])
		golden(t, "testdata/"+name+".junit.xml", reports["junit"])
	}
}

func TestLine(t *testing.T) {
	for name, want := range map[string]string{
		"leaky":  "notes 1.0.0: findings (1 critical, 3 high, 1 info)",
		"honest": "notes 1.0.0: clean",
	} {
		if got := Line(judged(t)[name]); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := Line(judged(t)["unfinished"]); !strings.Contains(got, "; not checked: reason 0 and ") {
		t.Errorf("unfinished: %q", got)
	}
}

// SARIF keeps GitHub's bound by leaving out the least severe, and says so.
func TestSARIFLeavesOutTheLeastSevere(t *testing.T) {
	res := sample("x")
	low := res.Findings[0]
	low.Severity = finding.Low
	res.Findings = append(slices.Repeat([]finding.Finding{low}, maxSARIF+10), res.Findings...)
	_, doc := sarifOf(t, res)
	run := doc["runs"].([]any)[0].(map[string]any)
	results := run["results"].([]any)
	if len(results) != maxSARIF {
		t.Errorf("%d results", len(results))
	}
	for i, r := range results {
		if level := r.(map[string]any)["level"]; (level == "error") != (i < 2) {
			t.Fatalf("result %d is of level %v", i, level)
		}
	}
	said, err := json.Marshal(run["invocations"])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(said, []byte("left out the 12 least severe results")) {
		t.Errorf("nothing says what was left out: %s", said)
	}
}

// A log that GitHub would refuse for its size has fewer results.
func TestSARIFKeepsGitHubsSize(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{1})
	noise := func() string {
		b := make([]byte, 450)
		_, _ = rng.Read(b) // it never fails
		return hex.EncodeToString(b)
	}
	res := sample("x")
	f := res.Findings[0]
	res.Findings = nil
	for range maxSARIF {
		f.Message, f.Evidence = noise(), []finding.Evidence{{Text: noise()}, {Text: noise()}, {Text: noise()}, {Text: noise()}, {Text: noise()}}
		f.Reproduce = noise()
		res.Findings = append(res.Findings, f)
	}
	var b bytes.Buffer
	if err := SARIF(&b, res, SARIFOptions{Default: finding.Location{Path: "x"}}); err != nil {
		t.Fatal(err)
	}
	if n := packed(b.Bytes()); n > maxPacked {
		t.Errorf("%d bytes packed", n)
	}
	if !strings.Contains(b.String(), "least severe results") {
		t.Error("nothing was left out, or nothing says so")
	}
}

// TestSARIFMessagesAreInert: no part of what a server says is a link, an image, HTML
// or somebody's name in a message.
func TestSARIFMessagesAreInert(t *testing.T) {
	acts := regexp.MustCompile(`\]\(|\]\[|\]:|!\[|<[A-Za-z/!?]|(^|[^\w/@])@[A-Za-z0-9-]+([^\w/-]|$)`)
	for _, evil := range []string{
		"[click](https://evil.example)", "![](https://evil.example/p.png)", "[a][b]", "[b]: https://evil.example", "<img src=x>", "<https://evil.example>", "<!-- x", "hey @octocat, look", "@octocat", "@octocat @hubot",
		"](](((", "[x](1)", "\\[x](1)", "!![[a]](x)", "[[x]](2)",
	} {
		var b bytes.Buffer
		if err := SARIF(&b, staged(evil), SARIFOptions{Default: At("x.json")}); err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		seen := 0
		var walk func(v any, message bool)
		walk = func(v any, message bool) {
			switch v := v.(type) {
			case map[string]any:
				for k, m := range v {
					if s, ok := m.(string); ok && message && k == "text" {
						seen++
						if acts.MatchString(s) {
							t.Errorf("%q stands in the message %q", evil, s)
						}
					}
					walk(m, k == "message")
				}
			case []any:
				for _, m := range v {
					walk(m, false)
				}
			}
		}
		walk(doc, false)
		if seen == 0 {
			t.Fatal("there is no message")
		}
	}
	for _, plain := range []string{"ran npm install @scope/pkg a@b.example", "x [ssh-key] y", "1 < 2", "/node_modules/@scope/pkg/index.js"} {
		if got := inert(plain); got != plain {
			t.Errorf("%q becomes %q", plain, got)
		}
	}
}
