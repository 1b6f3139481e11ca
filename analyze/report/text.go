package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/text"
)

// TextOptions say how the terminal's report looks.
type TextOptions struct {
	// Color writes SGR colours: only ever to a terminal.
	Color bool
	// Dir is where the run's files are, named at the end; "" names none.
	Dir string
}

// maxShown bounds the findings and the evidence lines that the terminal shows.
const (
	maxShown         = 25
	maxShownEvidence = 5
)

// Text writes the short report for a terminal.
func Text(w io.Writer, res *analyze.Result, o TextOptions) error {
	p := &printer{color: o.Color}
	p.head(res)
	p.findings(res)
	p.coverage(res)
	for _, r := range res.Inconclusive {
		p.line("  %s %s", p.paint("33", "not seen:"), clean(r, 300))
	}
	if res.Server.Exit != "" && res.Verdict != analyze.Clean && res.Server.Stderr != "" {
		p.line("  the server's last words on stderr:")
		for _, l := range tail(res.Server.Stderr, 8) {
			p.line("    | %s", clean(l, 160))
		}
	}
	if o.Dir != "" {
		p.line("  files: %s", clean(o.Dir, 400))
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

func (p *printer) paint(sgr, s string) string {
	if !p.color {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

// clean makes a server's text one safe line. A line that a workflow runner
// would read as a command ("::set-output", "##[") loses its start.
func clean(s string, n int) string {
	s = text.Printable(s, n)
	return strings.NewReplacer("::", ": :", "##[", "# #[").Replace(s)
}

func tail(s string, n int) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return lines[max(0, len(lines)-n):]
}

var severityColor = map[finding.Severity]string{finding.Critical: "1;31", finding.High: "31", finding.Medium: "33", finding.Low: "36", finding.Info: "2"}

func (p *printer) head(res *analyze.Result) {
	name := clean(strings.TrimSpace(res.Server.Name+" "+res.Server.Version), 120)
	if name == "" {
		name = "a server without a name"
	}
	verdict := map[analyze.Verdict]string{
		analyze.Clean: p.paint("1;32", "clean"), analyze.Findings: p.paint("1;31", "findings"), analyze.Inconclusive: p.paint("1;33", "inconclusive"),
	}[res.Verdict]
	p.line("%s: %s", name, verdict)
	p.line("  %s sandbox, traced by %s, network %s, seed %d", res.Run.Sandbox, res.Run.Tracer, res.Run.Network, res.Run.Seed)
}

func (p *printer) findings(res *analyze.Result) {
	all := res.All()
	shown := 0
	for _, s := range finding.Severities {
		for _, f := range all {
			if f.Severity != s {
				continue
			}
			if shown++; shown <= maxShown {
				p.finding(&f)
			}
		}
	}
	if shown > maxShown {
		p.line("  … and %d more findings, in report.json", shown-maxShown)
	}
	if len(res.Findings) > 0 && res.Run.Reproduce != "" {
		p.line("  again: %s", clean(res.Run.Reproduce, 500))
	}
}

func (p *printer) finding(f *finding.Finding) {
	p.line("")
	p.line("  %s %s  %s", p.paint(severityColor[f.Severity], fmt.Sprintf("%-8s", f.Severity)), f.Rule, clean(f.Message, 300))
	for i, e := range f.Evidence {
		if i == maxShownEvidence {
			p.line("      … %d more", len(f.Evidence)-i)
			break
		}
		p.line("      %s %s", where(&e), clean(e.Text, 200))
	}
	if f.Confidence == finding.Ambiguous {
		p.line("      it could belong to another call")
	}
}

// where names the place of a piece of evidence in the run's files.
func where(e *finding.Evidence) string {
	switch {
	case e.Location != nil:
		return fmt.Sprintf("%s:%d", clean(e.Location.Path, 200), e.Location.Line)
	case e.Source == "frame" && e.Seq > 0:
		return fmt.Sprintf("session.jsonl:%d", e.Seq)
	case e.Source == "record":
		return fmt.Sprintf("record %d", e.Seq)
	default:
		return e.Source
	}
}

func (p *printer) coverage(res *analyze.Result) {
	tools, called, ok, calls := 0, 0, 0, 0
	others := 0
	for _, t := range res.Coverage.Tools {
		calls += t.Calls
		if t.What != "tool" {
			if t.Calls > 0 {
				others++
			}
			continue
		}
		tools++
		if t.Calls > 0 {
			called++
		}
		if t.OK > 0 {
			ok++
		}
	}
	p.line("")
	p.line("  looked at %d of %d tools (%d answered without an error), %d resources and prompts, %d calls, %d system calls (%d ordinary, %d lost)",
		called, tools, ok, others, calls, res.Coverage.Records, res.Coverage.Noise, res.Coverage.Lost)
	if a := res.Audit; a != nil {
		p.line("  source: %d files, score %d (%s)", a.Profile.FilesScanned, a.Score, a.Grade)
	} else {
		p.line("  source: none was audited")
	}
}
