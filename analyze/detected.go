package analyze

import (
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// detect lets the wire's detectors judge what the server sent: what a call of ours
// brought is nobody's fault.
func (j *judge) detect(log *session.Reader, w *wireReader) error {
	frames, err := log.Wire()
	if err != nil {
		return err
	}
	defer frames.Close()
	l, err := detect.Read(frames, session.FramesFile, detect.Options{OwnClient: true})
	if err != nil {
		return err
	}
	for _, a := range l.Annotations {
		if rule, ok := rules.OfObservation(a.Subcategory); !ok || rule.Judges != rules.Server {
			continue
		}
		for _, f := range rules.Annotated([]detect.Annotation{a}, "") {
			fact := w.fact(&session.Frame{Seq: a.Seq()}, "")
			f.Call, f.Phase, f.Location = fact.Call, finding.PhaseCall, nil
			w.facts.Detected = append(w.facts.Detected, rules.Detected{Finding: f, Decoy: j.tainted[a.Seq()]})
		}
	}
	if l.Failures > 0 {
		j.because(session.GapDetectorFailed, "a detector of the wire failed %d times", l.Failures)
	}
	return nil
}
