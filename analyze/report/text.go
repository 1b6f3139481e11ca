package report

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit/coverage"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// TextOptions say how the terminal's report looks.
type TextOptions struct {
	// Color writes SGR colours: only ever to a terminal.
	Color bool
	// Dir is where the run's files are, named at the end; "" names none.
	Dir string
}

// The bounds of what the terminal shows; report.json has the rest.
const (
	maxShown         = 25
	maxShownEvidence = 5
	maxShownReasons  = 12
	maxShownStderr   = 8
)

// Text writes the short report for a terminal: the verdict, the findings with
// their evidence, and then what was covered and what was not.
func Text(w io.Writer, res *analyze.Result, o TextOptions) error {
	p := &printer{color: o.Color}
	p.head(res)
	p.findings(res)
	p.line("")
	if len(res.Findings) > 0 && res.Run.Reproduce != "" {
		p.fact("reproduce", "%s", command(res.Run.Reproduce))
	}
	p.coverage(res)
	if line := reachLine(res.Coverage.Reach); line != "" {
		p.fact("looked at", "%s", line)
	}
	if res.Policy != nil && len(res.Policy.Accepted) > 0 {
		p.fact("accepted", "%s, suppressed by %s", plural(len(res.Policy.Accepted), "finding"), Clean(res.Policy.File, 200))
	}
	p.acceptedGaps(res)
	if res.Baseline != nil {
		p.fact("known", "%s, in %s", plural(len(res.Baseline.Known), "finding"), Clean(res.Baseline.File, 200))
	}
	for i, left := range res.Run.Unredacted {
		p.fact(first(i, "passed"), "not redacted: %s", Clean(left, 200))
	}
	p.reasons(res)
	if res.Server.Exit != "" && res.Verdict != analyze.Clean {
		for i, l := range tail(res.Server.Stderr, maxShownStderr) {
			p.fact(first(i, "stderr"), "%s", Clean(l, 160))
		}
	}
	if o.Dir != "" {
		p.fact("files", "%s", Clean(o.Dir, 400))
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// printer collects lines. Whatever comes from a server goes through clean.
type printer struct {
	b     strings.Builder
	color bool
}

func (p *printer) line(format string, a ...any) { fmt.Fprintf(&p.b, format+"\n", a...) }

// fact is a labelled line of the report's last part.
func (p *printer) fact(label, format string, a ...any) {
	p.line("  "+p.paint("2", fmt.Sprintf("%-11s", label))+"  "+format, a...)
}

// first is the label of a list's first line.
func first(i int, label string) string {
	if i == 0 {
		return label
	}
	return ""
}

func (p *printer) paint(sgr, s string) string {
	if !p.color {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

// Clean is Escape for text that begins a line: what a workflow runner would read
// as a command there ("::set-output") loses its start, too.
func Clean(s string, n int) string { return strings.ReplaceAll(Escape(s, n), "::", ": :") }

// command is a command that is to be typed again, behind a label.
func command(s string) string { return Escape(s, 4000) }

func tail(s string, n int) []string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	return lines[max(0, len(lines)-n):]
}

var severityColor = map[finding.Severity]string{finding.Critical: "1;31", finding.High: "31", finding.Medium: "33", finding.Low: "36", finding.Info: "2"}

func (p *printer) head(res *analyze.Result) {
	name := Clean(strings.TrimSpace(res.Server.Name+" "+res.Server.Version), 120)
	if name == "" {
		name = Clean(res.Run.Target, 120)
	}
	verdict := map[analyze.Verdict]string{
		analyze.Clean: p.paint("1;32", "clean"), analyze.Findings: p.paint("1;31", "findings"), analyze.Inconclusive: p.paint("1;33", "inconclusive"),
	}[res.Verdict]
	if c := tally(res); c != "" {
		verdict += " (" + c + ")"
	}
	if n := len(gapsAccepted(res)); n > 0 {
		verdict += fmt.Sprintf(", %s accepted", plural(n, "gap"))
	}
	p.line("%s: %s", name, verdict)
}

func (p *printer) findings(res *analyze.Result) {
	all := res.All()
	rules.Sort(all)
	list := habits(all)
	shown := list[:min(len(list), maxShown)]
	for i := range shown {
		p.finding(res, &shown[i])
	}
	if more := len(all) - told(shown); more > 0 {
		p.line("")
		p.line("  … and %d more findings, in report.json", more)
	}
}

// finding tells one. The command that repeats the whole run is told once, elsewhere.
func (p *printer) finding(res *analyze.Result, h *habit) {
	f := h.Finding
	p.line("")
	p.line("  %s  %s  %s", p.paint(severityColor[f.Severity], fmt.Sprintf("%-8s", f.Severity)), f.Rule, Clean(f.Message, 300))
	if same := h.same(); same != "" {
		p.line("            the same of %s", same)
	}
	if call := request(res, f); call != "" {
		p.line("            call %d: %s", f.Call, Clean(call, 200))
	}
	for i, e := range f.Evidence {
		if i == maxShownEvidence {
			p.line("            … and %d more, in report.json", len(f.Evidence)-i)
			break
		}
		p.line("            %s: %s", locationOf(&e), Clean(sunk(res, &e), 240))
	}
	if len(f.Sources) > 0 {
		p.line("            likely source: %s", sources(f.Sources))
	}
	if f.Generated != nil {
		p.line("            read in the bundle: %s", location(f.Generated))
	}
	if f.Confidence == finding.Ambiguous {
		p.line("            another call may have caused it")
	}
	if fix := AdviceOf(f.Rule).Fix; fix != "" && f.Severity.Rank() >= finding.Medium.Rank() {
		p.line("            fix: %s", fix)
	}
	if f.Reproduce != "" && f.Reproduce != res.Run.Reproduce {
		p.line("            reproduce: %s", command(f.Reproduce))
	}
}

// sources names lines of the audited source.
func sources(list []finding.Location) string {
	var out []string
	for i := range list {
		out = append(out, location(&list[i]))
	}
	return strings.Join(out, ", ")
}

// locationOf names the place of a piece of evidence in the run's files.
func locationOf(e *finding.Evidence) string {
	if e.Location != nil {
		return fmt.Sprintf("%s:%d", Clean(e.Location.Path, 200), e.Location.Line)
	}
	file, line := session.TraceFile, " seq "
	switch e.Source {
	case "frame":
		file = session.FramesFile
	case "flow":
		line = " flow "
	case "record":
	default:
		line = ""
	}
	file = Clean(path.Join(e.Dir, file), 200)
	if e.Seq == 0 || line == "" {
		return file
	}
	return fmt.Sprint(file, line, e.Seq)
}

// inputs says what the arguments reached of all schemas together.
func (p *printer) inputs(res *analyze.Result) {
	var parts []string
	for _, of := range []struct {
		what string
		part func(*session.Inputs) session.Reached
	}{
		{"enum members", func(in *session.Inputs) session.Reached { return in.Enums }},
		{"branches", func(in *session.Inputs) session.Reached { return in.Branches }},
		{"optional arguments both given and omitted", func(in *session.Inputs) session.Reached { return in.Optional }},
		{"pairs of values", func(in *session.Inputs) session.Reached { return in.Pairs }},
		{"", func(in *session.Inputs) session.Reached { return in.Listed }},
	} {
		var sum session.Reached
		for _, t := range res.Coverage.Tools {
			if t.Inputs != nil {
				n := of.part(t.Inputs)
				sum.Reached, sum.Total = sum.Reached+n.Reached, sum.Total+n.Total
			}
		}
		switch {
		case sum.Total > 0 && of.what == "":
			parts = append(parts, relisted(sum))
		case sum.Total > 0:
			parts = append(parts, fmt.Sprintf("%d of %d %s", sum.Reached, sum.Total, of.what))
		}
	}
	if len(parts) > 0 {
		p.fact("inputs", "%s", strings.Join(parts, ", "))
	}
}

func (p *printer) coverage(res *analyze.Result) {
	var tools, called, ok, calls, oracles, others int
	for _, t := range res.Coverage.Tools {
		calls, oracles = calls+t.Calls, oracles+t.Oracles
		switch {
		case t.What != "tool":
			others += min(t.Calls, 1)
			continue
		case t.OK > 0:
			ok++
		}
		tools++
		called += min(t.Calls, 1)
	}
	more := ""
	if others > 0 {
		more = fmt.Sprintf(", %d resources and prompts read", others)
	}
	if calls == 0 {
		p.fact("covered", "no tool was called")
	} else {
		proving := ""
		if oracles > 0 {
			proving = fmt.Sprintf(", %s", plural(oracles, "attack input"))
		}
		p.fact("covered", "%d of %s called, %d succeeded%s; %s%s", called, plural(tools, "tool"), ok, more, plural(calls, "call"), proving)
		p.inputs(res)
	}
	if res.Run.Sandbox == analyze.WireOnly {
		if res.Run.Tracer == analyze.SpyTracer {
			p.fact("watched", "the wire that the log recorded, and what coalmine spy saw the server do without a sandbox")
			return
		}
		p.fact("watched", "only the wire that the log recorded")
		return
	}
	if res.Run.Sandbox == session.SandboxRemote {
		p.fact("watched", "only MCP messages, HTTP and TLS; what the remote server does is not watched")
		return
	}
	p.pkg(res.Run.Package)
	p.fact("watched", "%s recorded (%d filtered as runtime noise, %d lost); %s sandbox, tracer %s, network %s, seed %d",
		plural(res.Coverage.Records, "system call"), res.Coverage.Noise, res.Coverage.Lost,
		Clean(res.Run.Sandbox, 40), Clean(res.Run.Tracer, 40), Clean(res.Run.Network, 200), res.Run.Seed)
	for _, r := range res.Coverage.Reached {
		p.fact("allowed", "%s", Clean(r, 300))
	}
	if a := res.Audit; a != nil {
		more := ""
		if a.Silenced > 0 {
			more = fmt.Sprintf("; ignored comments that silence scanners on %s", plural(a.Silenced, "line"))
		}
		p.fact("source", "%s audited, %s; %s%s", plural(a.Profile.FilesScanned, "file"), AuditScore(a), AuditRead(&a.Profile), more)
		for _, kind := range AuditNotRead(a) {
			p.fact("not read", "%s", kind)
		}
	} else {
		p.fact("source", "not audited: %s", unaudited(res))
	}
	if line := codeLine(res.Coverage.Code); line != "" {
		p.fact("code", "%s", line)
	}
}

// codeLine says in a line which of the server's own code ran, "" where nobody looked.
func codeLine(c *coverage.Report) string {
	if c == nil {
		return ""
	}
	if c.Unrecorded != "" {
		return "not recorded: " + Clean(c.Unrecorded, 200)
	}
	line := fmt.Sprintf("%d of %s ran", c.Reached, plural(c.Functions, "function"))
	far, unknown, accepted := 0, 0, 0
	for i := range c.Unrun {
		switch u := &c.Unrun[i]; {
		case !u.Weighs:
		case u.Accepted != "":
			accepted++
		case u.Way == "":
			far++
		case u.Owner == coverage.Unknown:
			unknown++
		}
	}
	for _, part := range []struct {
		n    int
		what string
	}{{far, "with risky code and no known caller"}, {unknown, "with risky code never ran, in a bundle that does not show whose it is"}, {accepted, "never ran and the policy accepts this"}} {
		if part.n > 0 {
			line += fmt.Sprintf("; %s %s", plural(part.n, "function"), part.what)
		}
	}
	return line
}

func (p *printer) reasons(res *analyze.Result) {
	reasons := shownReasons(res)
	for i, r := range reasons {
		if i == maxShownReasons {
			p.fact("", "… and %d more, in report.json", len(reasons)-i)
			return
		}
		p.fact(first(i, "not checked"), "%s", Clean(r, 300))
	}
}

func plural(n int, word string) string { return text.Plural(n, word) }
