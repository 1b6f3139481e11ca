package analyze

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxOwn bounds the findings of one rule of the user's own, and maxOwnEvidence the
// evidence of each.
const (
	maxOwn         = 100
	maxOwnEvidence = 20
)

// own holds a run against the user's own rules and returns what they find. found is what
// coalmine's rules found. What a rule could not tell is a gap.
func (j *judge) own(run *rules.Run, found []finding.Finding, opts *Options) []finding.Finding {
	if opts.Rules == nil {
		return nil
	}
	run = run.Joined()
	if opts.Audit != nil {
		found = append(slices.Clone(found), opts.Audit.Findings...)
	}
	matches, failures := opts.Rules.Eval(j.ledger(run, found))
	for _, f := range failures {
		j.because(session.GapRuleFailed, "the rule %s %s", f.Rule.ID, f.Why)
	}
	var out []finding.Finding
	count, seen := map[string]int{}, map[string]bool{}
	for _, m := range matches {
		f := j.match(run, found, &m)
		if seen[f.Fingerprint] {
			continue
		}
		seen[f.Fingerprint] = true
		if count[m.Rule.ID]++; count[m.Rule.ID] > maxOwn {
			j.because(session.GapRuleFailed, "the rule %s finds more than %d things: the rest was left out", m.Rule.ID, maxOwn)
			continue
		}
		out = append(out, f)
	}
	return out
}

// match makes a finding of an entry that a rule speaks of.
func (j *judge) match(run *rules.Run, found []finding.Finding, m *custom.Match) finding.Finding {
	f := finding.Finding{Rule: m.Rule.ID, Severity: m.Rule.Severity, Title: m.Rule.Name, Message: m.Text, Confidence: finding.Certain}
	identity := []string{string(m.Rule.Over)}
	switch m.Rule.Over {
	case custom.Effects:
		e := &run.Profile.Effects[m.Index]
		f.Tool, f.Call, f.Phase, f.Rung = e.Tool, e.Call, e.Phase, e.Rung
		f.Evidence = e.Evidence
		if e.Ambiguous {
			f.Confidence = finding.Ambiguous
		}
		identity = append(identity, e.Tool, string(e.Kind), run.Identity(e))
	case custom.Claims:
		c := surfaceClaims(&run.Scope)[m.Index]
		f.Tool, f.Phase = c.Tool, finding.PhaseList
		f.Evidence = []finding.Evidence{{Source: "frame", Text: c.Where + ": " + text.Printable(j.set.Redact(c.Text), 200)}}
		identity = append(identity, c.Tool, c.Kind, c.Where, c.Text)
	case custom.Calls:
		c := &run.Profile.Calls[m.Index]
		f.Tool, f.Call, f.Phase = run.NameOf(c), c.N, finding.PhaseCall
		f.Evidence = []finding.Evidence{{Source: "frame", Seq: firstFrame(run, c.N), Time: c.Start, Text: "the call of “" + text.Printable(f.Tool, 80) + "”"}}
		identity = append(identity, c.What, f.Tool)
	case custom.Findings:
		was := &found[m.Index]
		f.Tool, f.Call, f.Phase, f.Rung, f.Location, f.Confidence = was.Tool, was.Call, was.Phase, was.Rung, was.Location, was.Confidence
		f.Evidence = was.Evidence
		identity = append(identity, was.Fingerprint)
	}
	f.Evidence = slices.Clone(f.Evidence[:min(len(f.Evidence), maxOwnEvidence)])
	f.Fingerprint = finding.Fingerprint(m.Rule.ID, identity...)
	return f
}

// firstFrame is the first frame that crossed during a call, 0 for none.
func firstFrame(run *rules.Run, call int) uint64 {
	first := uint64(0)
	for seq, n := range run.Profile.FrameCall {
		if n == call && (first == 0 || seq < first) {
			first = seq
		}
	}
	return first
}
