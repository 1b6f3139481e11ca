package audit

import (
	"context"
	"fmt"
	"path"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/dockerfile"
	"github.com/coalmine-dev/coalmine/audit/lang/golang"
	"github.com/coalmine-dev/coalmine/audit/lang/javascript"
	"github.com/coalmine-dev/coalmine/audit/lang/notebook"
	"github.com/coalmine-dev/coalmine/audit/lang/python"
	"github.com/coalmine-dev/coalmine/audit/lang/shell"
	"github.com/coalmine-dev/coalmine/audit/sinks"
	"github.com/coalmine-dev/coalmine/audit/taint"
)

// languages are those whose sources are parsed.
var languages = []lang.Language{python.Language{}, javascript.Language{}, golang.Language{}, notebook.Language{}}

// maxParsed bounds a source that is parsed, and maxAllParsed all of them, in bytes.
const maxParsed, maxAllParsed = 8 << 20, 96 << 20

// languageOf is the language that a file is of by its name and its first bytes, nil for none.
func languageOf(p string, data []byte) lang.Language {
	for _, l := range languages {
		if l.Owns(p, data[:min(len(data), 512)]) {
			return l
		}
	}
	return nil
}

// parse keeps the tree of a source, if it is of a language that is known: by itself, or as
// whoever loads it takes it. What loads a script may take it for another program than a shell does.
func (a *auditor) parse(p string, data []byte, as lang.Language) {
	l := languageOf(p, data)
	isOwn := l != nil
	if !isOwn && !isData(p) {
		l = as
	}
	isShell := l != nil && kindOf(l) == asShell
	if l != nil && !isShell && a.takes(p, asCode) {
		a.parseTree(p, data, l)
	}
	if !isOwn && !a.guardsOnly {
		a.parseScript(p, data, isShell)
	}
}

// parseTree keeps the tree of a source, unless there is too much of it.
func (a *auditor) parseTree(p string, data []byte, l lang.Language) {
	if len(data) > maxParsed || a.parsed+len(data) > maxAllParsed {
		a.report.Skipped++ // its text was searched, its flows were not
		if len(a.report.Unfollowed) < maxUnfollowed {
			a.report.Unfollowed = append(a.report.Unfollowed, Unfollowed{Path: text.Printable(p, 2*maxName), Size: len(data)})
		}
		return
	}
	a.parsed += len(data)
	f := l.Parse(p, data)
	a.isRead(p, len(data), f)
	a.trees = append(a.trees, f)
}

// parseScript judges, once, the files that are commands, or hold some. isShell says that a shell
// runs it, whatever its name is.
func (a *auditor) parseScript(p string, data []byte, isShell bool) {
	switch {
	case isShell || shell.Language{}.Owns(p, data[:min(len(data), 512)]):
		if !a.takes(p, asShell) {
			return
		}
		src, f := string(data), &lang.File{Path: p, Language: "Shell"}
		if !a.shellText(p, src, src, 0, finding.High) {
			f.Unread = []lang.Unread{{Why: "its commands cannot be read"}}
		}
		a.isRead(p, len(data), f)
		a.commands(p, src)
	case dockerfile.Owns(p) && a.takes(p, asDockerfile):
		src := string(data)
		a.docker(p, src)
		a.counted("Dockerfile", 0)
		a.commands(p, src)
	}
}

// counted counts a file that was parsed, with its parts that have no tree.
func (a *auditor) counted(language string, unread int) {
	if a.report.Profile.Languages == nil {
		a.report.Profile.Languages = map[string]int{}
	}
	a.report.Profile.Languages[language]++
	a.report.Profile.Unread += unread
}

// flows adds a finding for each way from a tool's parameter to a sink.
func (a *auditor) flows(ctx context.Context, pkg *sinks.Package) error {
	res := taint.Analyze(ctx, pkg, a.trees)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !res.Complete {
		a.report.Skipped++
	}
	a.report.Profile.Handlers = res.Handlers
	places := &places{a: a, sources: map[string]string{}, maps: map[string]*javascript.Map{}, lines: map[string][]int{}, sinks: map[sinkPlace]bool{}, followed: res.Complete && res.Handlers > 0}
	for _, f := range a.trees {
		if f.Lines != nil {
			places.lines[f.Path] = f.Lines
		}
	}
	for i := range res.Flows {
		a.addFlow(&res.Flows[i], places)
		places.sinks[sinkPlace{res.Flows[i].File, res.Flows[i].Place.Start.Offset()}] = true
	}
	a.extent(pkg)
	a.effects(pkg, places)
	a.unlisted(pkg, places)
	a.weakRandom(pkg, places)
	a.guards(ctx, pkg, places)
	if a.wantsSites {
		a.sites(pkg, places)
	}
	return nil
}

// addFlow adds the finding of one flow.
func (a *auditor) addFlow(fl *taint.Flow, at *places) {
	// Names are the source's: they are bounded and made printable.
	for _, name := range []*string{&fl.Tool, &fl.Parameter, &fl.Sink, &fl.Function} {
		*name = text.Printable(*name, maxName)
	}
	rule, sev := judged(fl)
	of := kind{rule: rule, path: fl.File, severity: sev}
	if a.given[of] >= maxPerFile || a.total[sev] >= maxFindings {
		return
	}
	if a.own && at.lines[fl.File] == nil {
		if _, _, line := position(at.source(fl.File), fl.Place.Start.Offset()); silences(line, rule) {
			a.report.Suppressed++
			return
		}
	}
	a.given[of]++
	a.total[sev]++
	fingerprint := finding.Fingerprint(rule, fl.File, fl.Tool, fl.Parameter, fl.Sink, fl.Function)
	for n := 1; a.printed[fingerprint]; n++ {
		fingerprint = finding.Fingerprint(rule, fl.File, fl.Tool, fl.Parameter, fl.Sink, fl.Function, fmt.Sprint(n))
	}
	a.printed[fingerprint] = true
	f := finding.Finding{
		Rule: rule, Severity: sev, Title: title(rule), Message: fl.File + ": " + sentence(fl), Tool: fl.Tool, Phase: finding.PhaseStatic,
		Location: at.location(fl.File, fl.Place.Start), Confidence: finding.Probable, Fingerprint: fingerprint,
	}
	if rule != ToolCapability {
		f.Object, f.Whole = fl.Parameter, !fl.Part && !fl.Checked
	}
	at.set(&f, fl.File, fl.Place.Start)
	for _, s := range fl.Steps {
		f.Evidence = append(f.Evidence, at.step(&s))
	}
	a.report.Findings = append(a.report.Findings, f)
}

// sentence says what a flow is.
func sentence(fl *taint.Flow) string {
	tool := "a tool"
	if fl.Tool != "" {
		tool = fl.Tool
	}
	how := "reaches"
	switch {
	case path.IsAbs(fl.Parameter):
		return fmt.Sprintf("what any user of the machine wrote to %s reaches %s in %s (%s)", fl.Parameter, fl.Sink, tool, fl.CWE)
	case fl.Capability:
		how = "is given to"
	case fl.Part:
		how = "is put into what is given to"
	}
	return fmt.Sprintf("%s of %s %s %s (%s)", fl.Parameter, tool, how, fl.Sink, fl.CWE)
}

// sinkPlace is an offset in a file.
type sinkPlace struct {
	path   string
	offset int
}
