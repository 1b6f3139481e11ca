package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
)

// maxMarkdown bounds the summary: a comment on a pull request holds 65,536
// characters. footRoom of it is kept for what closes it.
const (
	maxMarkdown = 60_000
	footRoom    = 4_000
)

// The bounds of what the summary shows; report.json has the rest.
const (
	maxMarkdownFindings = 40
	maxMarkdownEvidence = 6
	maxMarkdownTools    = 50
)

// Markdown writes the summary for a job's page and a pull request's comment.
// Texts that a server has a say in stand in code spans only, where nobody is
// mentioned, nothing is linked and no markup acts.
func Markdown(w io.Writer, res *analyze.Result) error {
	m := &markdown{}
	m.head(res)
	m.table(res)
	m.reasons(res)
	m.evidence(res)
	m.ledger(res)
	m.coverage(res)
	m.foot(res)
	_, err := io.WriteString(w, m.b.String())
	return err
}

// Line is the verdict in one line, printable and without what a workflow runner obeys.
func Line(res *analyze.Result) string {
	line := Clean(strings.TrimSpace(serverName(res)+" "+res.Server.Version), 160) + ": " + string(res.Verdict)
	if c := tally(res); c != "" {
		line += " (" + c + ")"
	}
	if reasons := shownReasons(res); len(reasons) > 0 {
		n := len(reasons)
		line += "; not checked: " + Clean(reasons[0], 200)
		if n > 1 {
			line += fmt.Sprintf(" and %d more", n-1)
		}
	}
	return line
}

// tally counts the findings by severity: "1 critical, 3 high".
func tally(res *analyze.Result) string {
	var parts []string
	for _, c := range counts(res) {
		parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Severity))
	}
	return strings.Join(parts, ", ")
}

type markdown struct{ b strings.Builder }

// line writes a line while there is room.
func (m *markdown) line(format string, a ...any) bool {
	return m.within(maxMarkdown-footRoom, format, a...)
}

// last writes a line without which something would stay open, or that ends the summary.
func (m *markdown) last(format string, a ...any) { m.within(maxMarkdown, format, a...) }

func (m *markdown) within(most int, format string, a ...any) bool {
	s := fmt.Sprintf(format+"\n", a...)
	if m.b.Len()+len(s) > most {
		return false
	}
	m.b.WriteString(s)
	return true
}

// code is a text as a code span that is also safe in a table's cell: the span's
// own mark and the cell's are written as escapes.
func code(s string, n int) string {
	s = strings.NewReplacer("`", `\u{60}`, "|", `\u{7C}`).Replace(Clean(s, n))
	if strings.TrimSpace(s) == "" {
		return "–"
	}
	return "`" + strings.TrimSpace(s) + "`"
}

var verdictSign = map[analyze.Verdict]string{analyze.Clean: "🟢", analyze.Findings: "🔴", analyze.Inconclusive: "🟡"}

var severitySign = map[finding.Severity]string{finding.Critical: "🔴", finding.High: "🟠", finding.Medium: "🟡", finding.Low: "🔵", finding.Info: "⚪"}

func (m *markdown) head(res *analyze.Result) {
	title := string(res.Verdict)
	if c := tally(res); c != "" {
		title += ": " + c
	}
	m.line("### %s coalmine · %s · %s", verdictSign[res.Verdict], code(strings.TrimSpace(serverName(res)+" "+res.Server.Version), 120), title)
	m.line("")
	m.line("%s", headline(res)+".")
	m.line("")
}

func (m *markdown) table(res *analyze.Result) {
	all := sorted(res)
	if len(all) == 0 {
		return
	}
	m.line("| severity | rule | finding |")
	m.line("|---|---|---|")
	shown := 0
	list := habits(all)
	for i := range list[:min(len(list), maxMarkdownFindings)] {
		h := &list[i]
		also := ""
		if same := h.same(); same != "" {
			also = ", the same of " + code(same, 400)
		}
		if !m.line("| %s %s | %s | %s%s |", severitySign[h.Severity], h.Severity, ruleLink(h.Rule), code(h.Message, 300), also) {
			break
		}
		shown += 1 + len(h.others)
	}
	if shown < len(all) {
		m.line("")
		m.line("… and %d more findings, the least severe, in report.json.", len(all)-shown)
	}
	m.line("")
}

// ruleLink links a rule's documentation, if it is one of ours.
func ruleLink(id string) string {
	for _, r := range Rules() {
		if r.ID == id {
			return fmt.Sprintf("[%s](%s/blob/main/analyze/rules/README.md#%s)", id, informationURI, strings.ToLower(id))
		}
	}
	return code(id, 60)
}

func (m *markdown) reasons(res *analyze.Result) {
	reasons := shownReasons(res)
	if len(reasons) == 0 {
		return
	}
	m.line("**Not checked** (a run with gaps is never clean):")
	m.line("")
	for i, r := range reasons {
		if i == maxShownReasons {
			m.line("- … and %d more, in report.json", len(reasons)-i)
			break
		}
		m.line("- %s", code(r, 300))
	}
	m.line("")
}

func (m *markdown) evidence(res *analyze.Result) {
	all := sorted(res)
	if len(all) == 0 {
		return
	}
	if !m.line("<details><summary>Evidence</summary>") {
		return
	}
	m.line("")
	list := habits(all)
	for i := range list[:min(len(list), maxMarkdownFindings)] {
		f := list[i].Finding
		if len(f.Evidence) == 0 || m.b.Len() > maxMarkdown-8<<10 {
			continue
		}
		m.line("%s %s", ruleLink(f.Rule), code(f.Message, 160))
		for k, e := range f.Evidence {
			if k == maxMarkdownEvidence {
				m.line("- … and %d more", len(f.Evidence)-k)
				break
			}
			m.line("- %s %s", code(sunk(res, &e), 240), code(locationOf(&e), 240))
		}
		m.advice(res, &list[i])
		m.line("")
	}
	m.last("</details>")
	m.last("")
}

// advice says with which call a finding came, why it matters, how to fix it and how to accept it.
func (m *markdown) advice(res *analyze.Result, h *habit) {
	f := h.Finding
	if call := request(res, f); call != "" {
		m.line("- Call %d: %s", f.Call, code(call, 240))
	}
	if len(f.Sources) > 0 {
		m.line("- Likely source: %s", code(sources(f.Sources), 300))
	}
	if f.Generated != nil {
		m.line("- Read in the bundle: %s", code(location(f.Generated), 300))
	}
	if a := AdviceOf(f.Rule); a.Fix != "" {
		m.line("- Why: %s", a.Why)
		m.line("- Fix: %s", a.Fix)
	}
	if s := suppression(res, h); s != "" {
		s = strings.Replace(s, "\n  - ", " [", 1)
		m.line("- If it is intended, add to coalmine.yaml: %s", code(strings.ReplaceAll(s, "\n  - ", ", ")+"]", 4000))
	}
}

func (m *markdown) coverage(res *analyze.Result) {
	if !m.line("<details><summary>Coverage</summary>") {
		return
	}
	m.line("")
	m.line("| tool | calls | ok | errors | timeouts |")
	m.line("|---|--:|--:|--:|--:|")
	for i, t := range res.Coverage.Tools {
		if i == maxMarkdownTools || !m.line("| %s | %d | %d | %d | %d |", code(t.Name, 120), t.Calls, t.OK, t.Errors, t.Timeouts) {
			m.line("")
			m.line("… and %d more, in report.json.", len(res.Coverage.Tools)-i)
			break
		}
	}
	m.line("")
	m.pkg(res.Run.Package)
	m.line("%s recorded, %d lost, %d opaque flows; sandbox %s, tracer %s, network %s.", plural(res.Coverage.Records, "system call"), res.Coverage.Lost, res.Coverage.Opaque,
		code(res.Run.Sandbox, 40), code(res.Run.Tracer, 40), code(res.Run.Network, 200))
	m.line("")
	m.audit(res.Audit)
	if line := codeLine(res.Coverage.Code); line != "" {
		m.line("The server's own code: %s.", line)
		m.line("")
	}
	for _, r := range res.Coverage.Reached {
		m.line("- allowed host %s", code(r, 300))
	}
	for _, left := range res.Run.Unredacted {
		m.line("- passed variable, not redacted: %s", code(left, 300))
	}
	m.last("</details>")
	m.last("")
}

// audit says how much of the source was read, and what its score is.
func (m *markdown) audit(a *audit.Report) {
	if a == nil {
		return
	}
	m.line("The source: %s audited, %s; %s.", plural(a.Profile.FilesScanned, "file"), AuditScore(a), AuditRead(&a.Profile))
	m.line("")
	for _, kind := range AuditNotRead(a) {
		m.line("- not read: %s", code(kind, 400))
	}
	if len(a.NotRead) > 0 {
		m.line("")
	}
}

func (m *markdown) foot(res *analyze.Result) {
	if res.Baseline != nil {
		m.last("The baseline %[2]s lists %[1]s.", plural(len(res.Baseline.Known), "finding"), code(res.Baseline.File, 200))
	}
	if res.Policy != nil && len(res.Policy.Accepted) > 0 {
		m.last("The policy %[2]s suppresses %[1]s.", plural(len(res.Policy.Accepted), "finding"), code(res.Policy.File, 200))
		m.last("")
	}
	if gaps := gapsAccepted(res); len(gaps) > 0 {
		m.last("The policy %[2]s accepts %[1]s.", plural(len(gaps), "gap"), code(res.Policy.File, 200))
		for i := range gaps[:min(len(gaps), maxShownReasons)] {
			m.last("- %s", code(acceptedGapLine(&gaps[i]), 400))
		}
		m.last("")
	}
	if res.Run.Reproduce != "" {
		m.last("Reproduce: %s", code(res.Run.Reproduce, 1500))
	}
}
