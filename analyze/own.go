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
	at := judged{run: run, found: found, claims: surfaceClaims(&run.Scope), frames: firstFrames(run)}
	var out []finding.Finding
	count, seen := map[string]int{}, map[string]bool{}
	for _, m := range matches {
		f := j.match(&at, &m)
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

// judged is what the entries of a ledger stand for.
type judged struct {
	run    *rules.Run
	found  []finding.Finding
	claims []*custom.Claim
	frames map[int]uint64 // by call
}

// match makes a finding of an entry that a rule speaks of.
func (j *judge) match(at *judged, m *custom.Match) finding.Finding {
	run := at.run
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
		c := at.claims[m.Index]
		f.Tool, f.Phase = c.Tool, finding.PhaseList
		f.Evidence = []finding.Evidence{{Source: "frame", Text: c.Where + ": " + text.Printable(j.set.Redact(c.Text), 200)}}
		identity = append(identity, c.Tool, c.Kind, c.Where, c.Text)
	case custom.Calls:
		c := &run.Profile.Calls[m.Index]
		f.Tool, f.Call, f.Phase = run.NameOf(c), c.N, finding.PhaseCall
		f.Evidence = []finding.Evidence{{Source: "frame", Seq: at.frames[c.N], Time: c.Start, Text: "the call of “" + text.Printable(f.Tool, 80) + "”"}}
		identity = append(identity, c.What, f.Tool)
	case custom.Findings:
		was := &at.found[m.Index]
		f.Tool, f.Call, f.Phase, f.Rung, f.Location, f.Confidence = was.Tool, was.Call, was.Phase, was.Rung, was.Location, was.Confidence
		f.Evidence = was.Evidence
		identity = append(identity, was.Fingerprint)
	}
	f.Evidence = slices.Clone(f.Evidence[:min(len(f.Evidence), maxOwnEvidence)])
	f.Fingerprint = finding.Fingerprint(m.Rule.ID, identity...)
	return f
}

// firstFrames are the first frames that crossed during each call.
func firstFrames(run *rules.Run) map[int]uint64 {
	first := map[int]uint64{}
	for seq, call := range run.Profile.FrameCall {
		if was, ok := first[call]; !ok || seq < was {
			first[call] = seq
		}
	}
	return first
}
