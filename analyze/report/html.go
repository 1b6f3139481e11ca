package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

//go:embed page.html.tmpl
var pageTemplate string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("page").Parse(pageTemplate))

// The bounds of what the page shows; report.json has the rest.
const (
	maxPageFindings = 100
	maxPageTools    = 60
	maxPageRows     = 300
	maxPageReasons  = 50
	maxPageTargets  = 8
)

// HTMLOptions say what the page knows beside the result.
type HTMLOptions struct {
	// Files names what lies beside the page, nil for nothing.
	Files []string
}

// HTML writes one self-contained page without scripts: it loads nothing, and its
// own policy forbids it to.
func HTML(w io.Writer, res *analyze.Result, o HTMLOptions) error {
	v := newPage(res)
	v.Files = o.Files
	if err := page.Execute(w, v); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// pageView is what the template shows. Every text of it that a server has a say in
// went through say.
type pageView struct {
	Style template.CSS
	CSP   string

	Name, Version, Protocol, Target string
	Verdict, Headline, Lead         string
	Counts                          []countView
	Facts                           []factView
	Reasons                         []string
	MoreReasons                     int
	Stderr, Exit                    string

	Findings     []findingView
	MoreFindings int
	// Worst is the tool that the top of the page quotes.
	Worst     *toolView
	Tools     []toolView
	Quiet     []toolView
	MoreTools int
	Outside   *toolView
	Calls     []callView
	Phases    []phaseView
	Coverage  coverageView
	Audit     *auditView
	Accepted  []acceptedView
	// AcceptedGaps are lines: what was not checked and that somebody answers for.
	AcceptedGaps []string
	Baseline     string
	Known        []knownView
	Reproduce    string
	Files        []string
	Tool, Run    string
}

type countView struct {
	Severity finding.Severity
	N        int
}

type factView struct{ Label, Value string }

func newPage(res *analyze.Result) *pageView {
	sum := sha256.Sum256([]byte(pageStyle))
	v := &pageView{
		Style: template.CSS(pageStyle),
		CSP:   "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'",
		Name:  serverName(res), Version: Escape(res.Server.Version, 60), Protocol: Escape(res.Server.Protocol, 40), Target: Escape(res.Run.Target, 160),
		Verdict: string(res.Verdict), Headline: headline(res), Lead: lead(res),
		Reproduce: Escape(res.Run.Reproduce, 2000), Tool: Escape(strings.TrimSpace(res.Tool.Name+" "+res.Tool.Version), 80), Run: Escape(res.Run.ID, 60),
	}
	for _, c := range counts(res) {
		v.Counts = append(v.Counts, countView(c))
	}
	v.Facts = facts(res)
	reasons := shownReasons(res)
	for _, r := range reasons[:min(len(reasons), maxPageReasons)] {
		v.Reasons = append(v.Reasons, Escape(r, 400))
	}
	v.MoreReasons = max(0, len(reasons)-maxPageReasons)
	if res.Verdict != analyze.Clean {
		v.Exit = Escape(res.Server.Exit, 100)
		for i, l := range tail(res.Server.Stderr, 20) {
			if i > 0 {
				v.Stderr += "\n"
			}
			v.Stderr += Clean(l, 200)
		}
	}
	v.findings(res)
	v.tools(res)
	v.calls(res)
	v.phases(res)
	v.coverage(res)
	v.audit(res)
	v.accepted(res)
	return v
}

// Escape bounds a server's text to n bytes and escapes what is not printable or
// hidden in it. The result is one line without what a workflow runner obeys wherever
// it stands in a line. It does not escape HTML; the page's template does.
func Escape(s string, n int) string { return disarm.Replace(text.Printable(s, n)) }

// disarm takes the start off what a runner reads as a command within a line.
var disarm = strings.NewReplacer("##[", "# #[", "##vso[", "# #vso[")

// sourceHeadline is the headline of an audit alone.
func sourceHeadline(res *analyze.Result) string {
	switch res.Verdict {
	case analyze.Clean:
		return "The audit found nothing in the source; coalmine did not run the server"
	case analyze.Inconclusive:
		return "The audit could not read all of the source"
	}
	return "The audit found weaknesses in the source"
}

// serverName is how a server calls itself, else how it was called here.
func serverName(res *analyze.Result) string {
	if n := Escape(strings.TrimSpace(res.Server.Name), 100); n != "" {
		return n
	}
	return Escape(res.Run.Target, 100)
}

type severityCount struct {
	Severity finding.Severity
	N        int
}

// counts are the findings by severity, worst first, without those that are none.
func counts(res *analyze.Result) []severityCount {
	n := map[finding.Severity]int{}
	for _, f := range res.All() {
		n[f.Severity]++
	}
	var out []severityCount
	for _, s := range finding.Severities {
		if n[s] > 0 {
			out = append(out, severityCount{s, n[s]})
		}
	}
	return out
}

// headline is the verdict in a few words.
func headline(res *analyze.Result) string {
	if res.Run.Sandbox == analyze.NotRun {
		return sourceHeadline(res)
	}
	switch res.Verdict {
	case analyze.Clean:
		return "No undeclared behaviour observed"
	case analyze.Inconclusive:
		return "The run was incomplete"
	}
	unsaid, other := 0, 0
	for _, f := range res.Findings {
		switch family := familyOf(res, f.Rule); {
		case f.Severity.Rank() < finding.Medium.Rank():
		case family == finding.FamilyWire || family == finding.FamilyRobustness || family == finding.FamilyOwn:
			other++
		default:
			unsaid++
		}
	}
	switch {
	case unsaid > 0:
		return plural(unsaid, "undeclared behaviour")
	case other > 0:
		return plural(other, "other finding")
	case len(res.Findings) > 0:
		return "Only findings of low severity"
	default:
		return "No undeclared behaviour observed, but the audit found weaknesses in the source"
	}
}

// lead is the verdict in a sentence: the worst of the run, else of the source.
func lead(res *analyze.Result) string {
	switch res.Verdict {
	case analyze.Findings:
		all := sorted(res)
		for _, f := range append(slices.Clone(res.Findings), all...) {
			return Escape(sentence(capital(f.Message)), 400)
		}
		return ""
	case analyze.Inconclusive:
		return "The run found nothing at the threshold, but coalmine could not check everything. This result is not clean."
	default:
		return "coalmine called every tool among decoy secrets and observed no significant behaviour that the server does not declare."
	}
}

// sorted are all findings, worst first.
func sorted(res *analyze.Result) []finding.Finding {
	all := res.All()
	rules.Sort(all)
	return all
}

func facts(res *analyze.Result) []factView {
	out := []factView{
		{"Started", res.Run.Started.UTC().Format("2 January 2006, 15:04:05 UTC")},
		{"Took", res.Run.Finished.Sub(res.Run.Started).Round(10 * time.Millisecond).String()},
		{"Sandbox", Escape(res.Run.Sandbox, 40)},
		{"Tracer", Escape(res.Run.Tracer, 40)},
		{"Network", Escape(res.Run.Network, 200)},
		{"Seed", fmt.Sprint(res.Run.Seed)},
	}
	if p := Escape(res.Server.Protocol, 40); p != "" {
		out = append(out, factView{"Protocol", p})
	}
	return append(out, packageFacts(res.Run.Package)...)
}
