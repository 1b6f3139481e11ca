package site

import (
	"bytes"
	"context"
	"embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
)

//go:embed *.tmpl site.css site.js
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"clean": func(s string) string { return text.Printable(s, 2000) },
	"day":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
}).ParseFS(files, "*.tmpl"))

// maxTrend bounds the rounds in the index's trend.
const maxTrend = 60

// row is a server on the index, in few bytes: ten thousand of them are one page.
type row struct {
	Name    string   `json:"n"`
	Key     string   `json:"k"`
	Version string   `json:"v"`
	Verdict string   `json:"r"`
	Rules   []string `json:"f,omitempty"`
	How     string   `json:"h"`
	Page    string   `json:"p"`
}

// Options say what a site shows.
type Options struct {
	// Source is whose sweeps are shown, "" for that of the last finished sweep.
	Source string
	// Base is the site's own address for the links of the feed, "" for no links.
	Base string
	// Runs is the directory of the kept runs, nil where there is none.
	Runs *os.Root
}

// Write writes the site of a source's sweeps into a directory. Files of an earlier site are
// replaced. notes say what is not shown.
func Write(ctx context.Context, s *store.Store, dir *os.Root, o Options) (notes []string, err error) {
	sweeps, err := s.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	rounds, err := Rounds(sweeps, o.Source)
	if err != nil {
		return nil, err
	}
	now, err := rounds[0].Entries(ctx, s)
	if err != nil {
		return nil, err
	}
	copied, err := writeServers(ctx, s, dir, o.Runs, now)
	if err != nil {
		return nil, err
	}
	if copied.full {
		rounds[0].Notes = append(rounds[0].Notes, fmt.Sprintf("not all reports are copied: they have more than %d bytes", int64(maxReports)))
	}
	if err := writeIndex(ctx, s, dir, rounds, now); err != nil {
		return nil, err
	}
	if err := writeLists(dir, rounds[0].newest(), now); err != nil {
		return nil, err
	}
	var changes []Change
	if len(rounds) > 1 {
		before, err := rounds[1].Entries(ctx, s)
		if err != nil {
			return nil, err
		}
		if changes, err = news(ctx, s, before, now); err != nil {
			return nil, err
		}
	}
	return rounds[0].Notes, writeFeed(dir, o.Base, rounds[0].newest().Started, changes)
}

// PageOf is the page of a server within the site.
func PageOf(key string) string { return path.Join("servers", report.Slug(key)+".html") }

func writeIndex(ctx context.Context, s *store.Store, dir *os.Root, rounds []Round, now []store.Entry) error {
	rows := make([]row, 0, len(now))
	for _, e := range now {
		r := row{Name: text.Printable(e.Name, 250), Key: text.Printable(e.Key, 250), Version: text.Printable(e.Version, 100), Verdict: e.Verdict, How: e.How, Page: PageOf(e.Key)}
		for _, f := range e.Findings {
			if !slices.Contains(r.Rules, f.Rule) {
				r.Rules = append(r.Rules, f.Rule)
			}
		}
		rows = append(rows, r)
	}
	trend, err := drawTrend(ctx, s, rounds[:min(len(rounds), maxTrend)])
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, r := range rows {
		counts[r.Verdict]++
	}
	var incomplete, refused []string
	for _, w := range rounds[0].Sweeps { // shards read the same list
		incomplete, refused = append(incomplete, w.Incomplete), append(refused, w.Refused...)
	}
	incomplete, refused = distinct(incomplete), distinct(refused)
	script, err := files.ReadFile("site.js")
	if err != nil {
		return err
	}
	style, err := files.ReadFile("site.css")
	if err != nil {
		return err
	}
	return render(dir, "index.html", "index.tmpl", map[string]any{
		"Source": rounds[0].Source, "Started": rounds[0].newest().Started, "Incomplete": incomplete, "Refused": refused, "Notes": rounds[0].Notes, "Counts": counts, "Rows": rows, "Trend": trend, "Verdicts": verdicts, "Total": len(rows),
		"Script": template.JS(script), "Style": template.CSS(style), //nolint:gosec // our own files
	})
}

// distinct sorts texts, and leaves out empty ones and those that come twice.
func distinct(list []string) []string {
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(t string) bool { return t == "" })
}

// verdicts are in the order of the index.
var verdicts = []string{"findings", "inconclusive", "error", "clean"}

func render(dir *os.Root, name, page string, data any) error {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, page, data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return dir.WriteFile(name, b.Bytes(), 0o644)
}

// drawTrend draws the verdicts of some rounds as bars, the oldest first.
func drawTrend(ctx context.Context, s *store.Store, rounds []Round) (template.HTML, error) {
	const width, height, step = 600, 90, 600 / maxTrend
	var b strings.Builder
	fmt.Fprintf(&b, `<svg role="img" aria-label="verdicts of the last sweeps" viewBox="0 0 %d %d">`, width, height)
	most := 1
	var counts []map[string]int
	for _, r := range rounds {
		c, sum := map[string]int{}, 0
		for _, w := range r.Sweeps {
			some, err := s.Verdicts(ctx, w.ID)
			if err != nil {
				return "", err
			}
			for v, n := range some {
				c[v] += n
				sum += n
			}
		}
		most, counts = max(most, sum), append(counts, c)
	}
	slices.Reverse(counts)
	for i, c := range counts {
		y := float64(height)
		for _, v := range slices.Backward(verdicts) {
			h := float64(c[v]) * height / float64(most)
			y -= h
			fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%.1f" width="%d" height="%.1f"/>`, v, i*step, y, step-2, h)
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()), nil //nolint:gosec // numbers and our own words
}

// writeLists writes results.json and results.csv.
func writeLists(dir *os.Root, w *store.Sweep, now []store.Entry) error {
	type result struct {
		Key      string          `json:"key"`
		Name     string          `json:"name"`
		Version  string          `json:"version"`
		Digest   string          `json:"digest"`
		Verdict  string          `json:"verdict"`
		Error    string          `json:"error,omitempty"`
		How      string          `json:"how"`
		Ran      time.Time       `json:"ran"`
		Findings []store.Finding `json:"findings"`
	}
	list := struct {
		Schema  string   `json:"schema"`
		Source  string   `json:"source"`
		Rules   string   `json:"rules"`
		Results []result `json:"results"`
	}{"coalmine/sweep/v1", w.Source, w.Rules, []result{}}
	var table bytes.Buffer
	c := csv.NewWriter(&table)
	_ = c.Write([]string{"key", "name", "version", "verdict", "how", "rule", "severity", "tool", "fingerprint"}) // into memory
	for _, e := range now {
		list.Results = append(list.Results, result{e.Key, e.Name, e.Version, e.Digest, e.Verdict, e.Error, e.How, e.Ran, append([]store.Finding{}, e.Findings...)})
		cells := []string{e.Key, e.Name, e.Version, e.Verdict, e.How}
		if len(e.Findings) == 0 {
			_ = c.Write(harmless(append(cells, "", "", "", "")))
		}
		for _, f := range e.Findings {
			_ = c.Write(harmless(append(slices.Clone(cells), f.Rule, f.Severity, f.Tool, f.Fingerprint)))
		}
	}
	c.Flush()
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(dir.WriteFile("results.json", append(data, '\n'), 0o644), dir.WriteFile("results.csv", table.Bytes(), 0o644))
}

// harmless takes from cells what a spreadsheet would calculate.
func harmless(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		if c = text.Printable(c, 500); c != "" && strings.ContainsRune("=+-@\t\r", rune(c[0])) {
			c = "'" + c
		}
		out[i] = c
	}
	return out
}

// Text prints changes, a line each and their findings below.
func Text(list []Change) string {
	var b strings.Builder
	for _, c := range list {
		switch {
		case c.From == nil:
			fmt.Fprintf(&b, "%s: new, %s is %s\n", text.Printable(c.Key, 250), text.Printable(c.To.Version, 100), c.To.Verdict)
		case c.To == nil:
			fmt.Fprintf(&b, "%s: gone, %s was %s\n", text.Printable(c.Key, 250), text.Printable(c.From.Version, 100), c.From.Verdict)
		default:
			fmt.Fprintf(&b, "%s: %s %s -> %s %s\n", text.Printable(c.Key, 250), text.Printable(c.From.Version, 100), c.From.Verdict, text.Printable(c.To.Version, 100), c.To.Verdict)
		}
		b.WriteString(lines("+", c.New) + lines("-", c.Gone))
		for _, did := range c.Started {
			fmt.Fprintf(&b, "  + it now %s\n", text.Printable(did, 300))
		}
		for _, did := range c.Stopped {
			fmt.Fprintf(&b, "  - it no longer %s\n", text.Printable(did, 300))
		}
	}
	if len(list) == 0 {
		return "no server differs\n"
	}
	if len(list) == 1 {
		return b.String() + "1 server differs\n"
	}
	return b.String() + strconv.Itoa(len(list)) + " servers differ\n"
}

func lines(sign string, findings []store.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "  %s [%s] %s %s: %s\n", sign, f.Severity, f.Rule, text.Printable(f.Tool, 100), text.Printable(f.Message, 300))
	}
	return b.String()
}
