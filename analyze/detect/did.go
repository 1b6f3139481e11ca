package detect

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// ObservedEffect is the subcategory of an annotation that a rule of a probe made of what the
// server did, which coalmine spy saw. Its metadata has "rule", "rule_severity" and "fingerprint".
const ObservedEffect = "observed_effect"

// maxDid bounds the effects that are kept of one log.
const maxDid = 10_000

// Effect is something that the server did beside talking, as a log has it.
type Effect struct {
	// Text says it in a line, Calls name what was open meanwhile.
	Text  string   `json:"text"`
	Calls []string `json:"calls,omitempty"`
}

// did takes a line about what the server did. seq is that of the frame before it.
func (s *Session) did(d *session.Did, seq uint64) {
	if d.Type == session.DidEffect {
		if len(s.effects) >= maxDid {
			s.engine.Dropped++
			return
		}
		s.effects = append(s.effects, *d)
		return
	}
	severity := finding.Severity(d.Severity)
	if severity.Rank() == 0 || d.Fingerprint == "" {
		return // another version's words
	}
	say := s.engine.ctx.say
	a := Annotation{
		Kind: Anomaly, Subcategory: ObservedEffect, Severity: numbers[severity], Annotator: Annotator, Line: d.Line,
		EventID: "evt_" + digest(d.TS.String()+d.Fingerprint), Explanation: text.Printable(say.Redact(d.Message), 600),
		Metadata: map[string]any{"seq": seq, "rule": name(d.Rule), "rule_severity": d.Severity, "fingerprint": name(d.Fingerprint)},
	}
	if severity == finding.Info {
		a.Kind = Info
	}
	if d.Tool != "" {
		a.Metadata["tool"] = name(say.Redact(d.Tool))
	}
	s.engine.ctx.found = append(s.engine.ctx.found, a)
	s.engine.keep()
}

// numbers are the severities of rules as glassport counts.
var numbers = map[finding.Severity]int{finding.Critical: 3, finding.High: 3, finding.Medium: 2, finding.Low: 1, finding.Info: 1}

// effectsOf are a log's effects as they may be shown.
func (s *summarizer) effectsOf(all []session.Did) []Effect {
	var out []Effect
	for i := range all {
		e := Effect{Text: text.Printable(s.say.Redact(all[i].Text), 400)}
		for _, call := range all[i].Calls[:min(len(all[i].Calls), 20)] {
			e.Calls = append(e.Calls, s.shown(call))
		}
		out = append(out, e)
	}
	return out
}

// String says an effect in a line, with the calls that were open.
func (e *Effect) String() string {
	if len(e.Calls) == 0 {
		return e.Text + ", between calls"
	}
	var names []string
	for _, c := range e.Calls {
		names = append(names, "“"+c+"”")
	}
	names = slices.Compact(names)
	return e.Text + ", while " + strings.Join(names, " and ") + map[bool]string{true: " was", false: " were"}[len(names) == 1] + " open"
}
