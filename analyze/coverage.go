package analyze

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func phases(p *profile.Profile) []finding.Phase {
	var out []finding.Phase
	for _, ph := range []finding.Phase{finding.PhaseFetch, finding.PhaseBuild, finding.PhaseStart, finding.PhaseHandshake, finding.PhaseList, finding.PhaseCall, finding.PhaseIdle, finding.PhaseShutdown} {
		if p.Phases[ph] {
			out = append(out, ph)
		}
	}
	return out
}

// unreached are the phases that belong to every run and were not come to.
func unreached(p *profile.Profile) []finding.Phase {
	var out []finding.Phase
	for _, ph := range []finding.Phase{finding.PhaseStart, finding.PhaseHandshake, finding.PhaseList, finding.PhaseCall, finding.PhaseShutdown} {
		if !p.Phases[ph] {
			out = append(out, ph)
		}
	}
	return out
}

// toolCoverage counts calls for everything declared, uncalled ones included,
// and then for what was called without being declared.
func toolCoverage(w *wireReader, p *profile.Profile) []ToolCoverage {
	out := []ToolCoverage{}
	index := map[string]int{}
	add := func(what, name string) int {
		k := what + "\x00" + name
		if i, ok := index[k]; ok {
			return i
		}
		out = append(out, ToolCoverage{Name: name, What: what})
		index[k] = len(out) - 1
		return len(out) - 1
	}
	for _, t := range w.surface.Tools {
		add("tool", t.Name)
	}
	for _, r := range w.surface.Resources {
		add("resource", r.URI)
	}
	for _, r := range w.surface.Prompts {
		add("prompt", r.Name)
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		if c.Undeclared() || c.What == session.WhatListener {
			continue
		}
		t := &out[add(c.What, c.Tool)]
		if c.Outcome == session.OutcomeCancelled {
			continue
		}
		if len(c.Oracles) > 0 {
			t.Oracles++
			continue
		}
		t.Calls++
		switch c.Outcome {
		case session.OutcomeOK:
			t.OK++
		case session.OutcomeTimeout:
			t.Timeouts++
		default:
			t.Errors++
		}
	}
	return out
}

// maxInputs bounds for how many tools the report keeps what their arguments reached.
const maxInputs = 10_000

// keepInputs takes in what the arguments of one tool reached.
func (j *judge) keepInputs(m *session.Mark) {
	if len(j.inputs) >= maxInputs || m.Inputs == nil {
		return
	}
	if j.inputs == nil {
		j.inputs = map[string]*session.Inputs{}
	}
	j.inputs[m.What+"\x00"+m.Tool] = m.Inputs
}

func withInputs(tools []ToolCoverage, inputs map[string]*session.Inputs) []ToolCoverage {
	for i := range tools {
		tools[i].Inputs = inputs[tools[i].What+"\x00"+tools[i].Name]
	}
	return tools
}

// coverageGaps adds the reasons for which something may have gone unseen.
func (j *judge) coverageGaps(res *Result, p *policy.Policy, opaque []profile.OpaqueFlow) {
	if j.header.Remote != nil {
		j.remoteGaps()
		return
	}
	if !j.started {
		j.because(session.GapNotStarted, "coalmine did not start the server")
	}
	if res.Run.Tracer == "" || res.Run.Tracer == "none" {
		j.because(session.GapNotTraced, "no tracer watched the run")
	}
	if j.profile.Truncated {
		j.because(session.GapAnalysisBounded, "the run has more distinct effects than coalmine can judge")
	}
	if j.profile.Lost > 0 && len(j.gaps) == 0 {
		j.because(session.GapRecordsLost, "%s lost", text.Plural(j.profile.Lost, "observation"))
	}
	for _, flow := range opaque {
		peer := flow.Peer
		if p != nil && p.AcceptOpaque.Host(peer) != nil {
			if peer = j.say(peer, 200); !slices.Contains(res.Coverage.Accepted, peer) && len(res.Coverage.Accepted) < maxReasons {
				res.Coverage.Accepted = append(res.Coverage.Accepted, peer)
			}
			continue
		}
		g := session.Gap{Code: session.GapPayloadOpaque, Text: "coalmine could not decrypt what the server sent to " + j.say(peer, 200)}
		if j.tlsWhy != "" {
			g.Remedy = g.Code.Kind().Remedy + " coalmine also missed some of what the server gave to its TLS libraries, where it may have been readable: " + j.tlsWhy + "."
		}
		j.doubt(g)
	}
	if j.tlsLost > 0 && len(j.profile.Plain) > 0 {
		j.because(session.GapTLSLost, "coalmine lost %s of what the server gave to its TLS libraries (%s), and read what it sent to %s there alone",
			text.Plural(int(j.tlsLost), "piece"), j.tlsWhy, j.say(strings.Join(j.profile.Plain[:min(len(j.profile.Plain), maxNamed)], ", "), 300))
	}
	for _, what := range j.profile.Unread {
		j.because(session.GapPayloadNotRead, "%s", j.say(what, 300))
	}
	if j.started && !j.ended {
		j.because(session.GapCutOff, "the log ends before the run does")
	}
}

// serverGaps adds what of a server's own run was not come to.
func (j *judge) serverGaps(tools []ToolCoverage) {
	if p := j.header.Package; p != nil && (p.Build.State == session.BuildFailed || p.Build.State == session.BuildSkipped) {
		code := session.GapBuildFailed
		if p.Build.State == session.BuildSkipped {
			code = session.GapBuildSkipped
		}
		j.doubt(session.Gap{Code: code, Phase: string(finding.PhaseBuild), Text: "the package build is incomplete: " + j.say(p.Build.Why, 300)})
	}
	if j.started && !j.profile.Phases[finding.PhaseList] {
		j.doubt(session.Gap{Code: session.GapHandshakeFailed, Phase: string(finding.PhaseHandshake), Text: "the handshake did not complete"})
	}
	if j.end.Crashed {
		j.because(session.GapServerEnded, "the server exited unexpectedly (%s)", j.end.How())
	}
	j.toolGaps(tools)
}

// toolGaps adds what of the surface was not reached.
func (j *judge) toolGaps(tools []ToolCoverage) {
	var uncalled, mute, refusing []string
	reached := false
	for _, t := range tools {
		reached = reached || t.Calls > 0
		switch {
		case t.What != "tool":
		case t.Calls == 0:
			uncalled = append(uncalled, t.Name)
		case t.Timeouts == t.Calls:
			mute = append(mute, t.Name)
		case t.OK == 0:
			refusing = append(refusing, t.Name)
		}
	}
	j.becauseOf(session.GapToolNeverCalled, uncalled, "was never called", "were never called")
	j.becauseOf(session.GapToolNeverAnswered, mute, "never answered", "never answered")
	// An error at once may be all that was run of it.
	j.becauseOf(session.GapToolOnlyErrors, refusing, "answered every call with an error", "answered every call with an error")
	if len(tools) == 0 {
		j.because(session.GapNothingDeclared, "the server declares no tool, resource or prompt, so coalmine called nothing")
	} else if !reached {
		j.because(session.GapNothingCalled, "coalmine made no call")
	}
}

// maxNamed bounds the tools that are named for one kind of reason.
const maxNamed = 5

// becauseOf names the tools that a reason is about, and counts them where they
// are too many to be read.
func (j *judge) becauseOf(code session.Code, names []string, one, many string) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		g := ofTool(code, name, one)
		return !j.keeper.take(&g)
	})
	for i, name := range names {
		if i == maxNamed {
			j.because(code, "%s", moreTools(len(names)-i, many))
			return
		}
		j.doubt(ofTool(code, name, one))
	}
}

// moreTools counts the tools beside those that are named.
func moreTools(n int, what string) string {
	noun := "tools"
	if n == 1 {
		noun = "tool"
	}
	return fmt.Sprintf("%d more %s %s", n, noun, what)
}

var countedTools = lazyregexp.New(`^(\d{1,6}) more tools? (.+)$`)

// counted reads what moreTools wrote, 0 for another text.
func counted(said string) (n int, what string) {
	m := countedTools.FindStringSubmatch(said)
	if m == nil {
		return 0, ""
	}
	n, _ = strconv.Atoi(m[1]) // of a few digits
	return n, m[2]
}

// auditGaps adds the reasons for which the source was not looked at, or not all of it. It
// returns why there is no audit, "" for no failure.
func (j *judge) auditGaps(opts Options) (failed string) {
	if opts.AuditErr != nil {
		failed = j.say(opts.AuditErr.Error(), 300)
		j.because(session.GapSourceNotAudited, "the source was not audited: %s", failed)
	}
	if opts.Audit != nil {
		j.partlyAudited(opts.Audit)
	}
	return failed
}

// partlyAudited adds what the audit did not read of the server's own code. A part without a tree
// counts where the source or the command says that the server loads the file.
func (j *judge) partlyAudited(r *audit.Report) {
	const code = session.GapSourcePartlyAudited
	if r.Skipped > 0 {
		j.because(code, "the audit did not fully read %s: unreadable, too large or too slow", text.Plural(r.Skipped, "file"))
	}
	if r.Ungraded != "" && r.Profile.CodeBytes > 0 {
		j.because(code, "the audit says little about the code: %s", text.Printable(r.Ungraded, 200))
	} else if i := slices.IndexFunc(j.header.Command, audit.IsForeign); i >= 0 {
		j.because(code, "the audit has no parser for what the command starts: %s", j.say(j.header.Command[i], 200))
	}
	named := 0
	for i := range r.PartlyParsed {
		u := &r.PartlyParsed[i]
		if !u.Program && !slices.ContainsFunc(j.header.Command, u.Names) {
			continue
		}
		if named++; named <= maxNamed {
			j.because(code, "the audit did not parse %s of %s: %s", text.Plural(u.Parts, "part"), text.Printable(u.Path, 200), text.Printable(u.Why, 200))
		}
	}
	if named > maxNamed {
		j.because(code, "the audit did not parse parts of %s more", text.Plural(named-maxNamed, "file"))
	}
}
