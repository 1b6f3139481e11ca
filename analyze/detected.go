package analyze

import (
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// onServer are the rules of the wire's detectors that judge a probed server and
// that no other rule of a run decides.
var onServer = map[string]bool{"CM408": true, "CM409": true, "CM410": true, "CM413": true, "CM414": true}

// detected takes what the wire's detectors found of what the server sent. A decoy that comes
// back is another rule's, and what a call of ours brought is nobody's fault.
func (j *judge) detected(l *detect.Log, w *wireReader) {
	for _, a := range l.Annotations {
		rule := detect.RuleOf(a.Subcategory)
		if !onServer[rule] || rule == "CM410" && j.tainted[a.Seq()] {
			continue
		}
		for _, f := range detect.Findings([]detect.Annotation{a}, "") {
			fact := w.fact(a.Seq(), "")
			f.Call, f.Phase, f.Location = fact.Call, finding.PhaseCall, nil
			if rule == "CM410" {
				f.Severity = finding.Medium // nothing here is anyone's: at worst it is what the server brought along
			}
			w.facts.Detected = append(w.facts.Detected, f)
		}
	}
	if l.Failures > 0 {
		j.because("a detector of the wire failed %d times", l.Failures)
	}
}
