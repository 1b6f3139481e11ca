package analyze

import (
	"cmp"
	"io"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// WireOnly is the sandbox of a Result that was made of a log of the wire: none.
const WireOnly = "none: a log of the wire"

// SpyTracer is the tracer of a Result of a log in which coalmine spy noted what the server did.
const SpyTracer = "coalmine spy"

// logKey is what makes effects of a log one.
type logKey struct {
	kind         finding.EffectKind
	target, tool string
	phase        finding.Phase
	rung         finding.Rung
	actor        string
}

// observedIn are a log's effects. path is the log's, "" for none.
func observedIn(all []session.Did, path string) []finding.Effect {
	out := []finding.Effect{}
	index := map[logKey]int{}
	for i := range all {
		d := &all[i]
		e := finding.Effect{Kind: finding.EffectKind(d.Effect), Target: d.Target, Rung: finding.Rung(d.Rung), Actor: d.Actor, Phase: finding.PhaseIdle, Count: 1}
		switch len(d.Calls) {
		case 0:
		case 1:
			e.Phase, e.Tool = finding.PhaseCall, d.Calls[0]
		default:
			e.Phase = finding.PhaseCalls
		}
		at := finding.Evidence{Source: "record", Text: d.Text}
		if path != "" {
			at.Location = &finding.Location{Path: path, Line: d.Line}
		}
		e.Evidence = []finding.Evidence{at}
		key := logKey{e.Kind, e.Target, e.Tool, e.Phase, e.Rung, e.Actor}
		if k, ok := index[key]; ok {
			out[k].Count++
			continue
		}
		index[key] = len(out)
		out = append(out, e)
	}
	return out
}

// LogOptions are what judging a log of the wire needs beside it.
type LogOptions struct {
	detect.Options
	// Path is where the log is, as findings are to name it.
	Path string
	// Version is the version of the program that judges.
	Version string
}

// JudgeLog judges a session log of anyone's. Only the wire is in it, which is a
// reason never to call it clean.
func JudgeLog(log io.Reader, name string, o LogOptions) (*Result, *detect.Log, error) {
	c := newLogCounter()
	l, err := detect.Read(log, name, o.Options, c.event)
	if err != nil {
		return nil, nil, err
	}
	return c.result(l, o), l, nil
}

// AnnotatedLog makes findings of a log's annotations. The log at path proves each message, and
// the detectors conclude the rest.
func AnnotatedLog(as []detect.Annotation, path string) []finding.Finding {
	out := rules.Annotated(as, path)
	for i := range out {
		out[i].EvidenceLevel = string(session.EvidenceAnalyzed)
	}
	return out
}

// logCounter counts what detectors do not.
type logCounter struct {
	first, last time.Time
	tools       map[string]*ToolCoverage
	phases      []finding.Phase
}

func newLogCounter() *logCounter { return &logCounter{tools: map[string]*ToolCoverage{}} }

func (c *logCounter) reached(p finding.Phase) {
	if !slices.Contains(c.phases, p) {
		c.phases = append(c.phases, p)
	}
}

func (c *logCounter) event(e *wirelog.Event, _ *wire.State) {
	if !e.TS.IsZero() {
		if c.first.IsZero() {
			c.first = e.TS
		}
		c.last = e.TS
	}
	switch e.Method {
	case "initialize", "server/discover":
		c.reached(finding.PhaseHandshake)
	case "tools/list":
		c.reached(finding.PhaseList)
	}
	switch {
	case e.IsCall() && e.Asked != nil:
		c.reached(finding.PhaseCall)
		if t := c.tool(e.Asked.Tool); t != nil {
			t.Calls++
		}
	case e.IsCallResult():
		t := c.tool(e.Asked.Tool)
		if t == nil {
			return
		}
		failed := e.Fault != nil
		if wire.MayName(e.Result, "isError") {
			v, ok := wire.Member(e.Result, "isError")
			failed = failed || ok && string(v) == "true"
		}
		if failed {
			t.Errors++
		} else {
			t.OK++
		}
	}
}

// maxLogTools bounds the tools that are counted apart.
const maxLogTools = 10_000

func (c *logCounter) tool(name string) *ToolCoverage {
	t := c.tools[name]
	if t == nil && len(c.tools) < maxLogTools {
		t = &ToolCoverage{Name: clip(name, 200), What: "tool"}
		c.tools[name] = t
	}
	return t
}

func (c *logCounter) result(l *detect.Log, o LogOptions) *Result {
	res := &Result{Schema: Schema}
	res.Tool.Name, res.Tool.Version = "coalmine", o.Version
	s := l.State
	surface := wire.Surface{Server: s.Server, Protocol: s.Protocol, Instructions: s.Instructions}
	if last := cmp.Or(s.Surface, s.Last); last != nil {
		for _, name := range last.Names {
			surface.Tools = append(surface.Tools, *last.Tools[name])
			c.tool(name)
		}
	}
	target := cmp.Or(text.Printable(s.Server.Name, 100), text.Printable(l.Name, 100))
	res.Run = Run{ID: text.Printable(l.Name, 200), Started: c.first.UTC(), Finished: c.last.UTC(), Sandbox: WireOnly, Tracer: "none", Network: "not watched", Command: []string{}, Target: target}
	res.Server = Server{Name: text.Printable(s.Server.Name, 200), Version: text.Printable(s.Server.Version, 100), Protocol: text.Printable(s.Protocol, 40)}
	res.Declared = scope.Of(&surface)
	res.Observed = observedIn(l.Effects, o.Path)
	res.Coverage = Coverage{Tools: []ToolCoverage{}, Unseen: []string{"system calls", "files", "the network"}, Phases: append([]finding.Phase{}, c.phases...)}
	for _, t := range c.tools {
		res.Coverage.Tools = append(res.Coverage.Tools, *t)
	}
	slices.SortFunc(res.Coverage.Tools, func(a, b ToolCoverage) int { return cmp.Compare(a.Name, b.Name) })
	res.Findings = AnnotatedLog(l.Annotations, o.Path)
	rules.Sort(res.Findings)
	only := "only the wire was recorded: system calls, files and the network were not watched"
	if len(l.Effects) > 0 {
		res.Run.Tracer = SpyTracer
		only = "no sandbox: coalmine spy recorded what is not ordinary of the server's system calls, but planted no decoys and did not read the traffic"
	}
	for _, g := range append(l.Gaps(), session.Gap{Code: session.GapWireOnly, Text: only}) {
		res.Gaps = append(res.Gaps, g.Filled())
	}
	res.Inconclusive = session.Texts(res.Gaps)
	res.Verdict = verdict(res, finding.Medium)
	sanitize(res, canaries.FromCanaries(nil))
	return res
}
