package analyze

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// detected takes what the wire's detectors found of what the server sent: what a call of
// ours brought is nobody's fault.
func (j *judge) detected(l *detect.Log, w *wireReader) {
	for _, a := range l.Annotations {
		if rule, ok := rules.OfObservation(a.Subcategory); !ok || rule.Judges != rules.Server {
			continue
		}
		for _, f := range rules.Annotated([]detect.Annotation{a}, "") {
			fact := w.fact(a.Seq(), "")
			f.Call, f.Phase, f.Location = fact.Call, finding.PhaseCall, nil
			w.facts.Detected = append(w.facts.Detected, rules.Detected{Finding: f, Decoy: j.tainted.known(a.Seq()), Order: strings.HasPrefix(a.Subcategory, "poisoned"), Quoted: a.Quoted, Given: a.Given, Host: a.Host(), Declared: a.Declared})
		}
	}
	if l.Failures > 0 {
		j.because(session.GapDetectorFailed, "a detector failed on %s", text.Plural(l.Failures, "event"))
	}
}
