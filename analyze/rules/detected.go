package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// Detected is what a detector of the wire says of a run.
type Detected struct {
	finding.Finding
	// Decoy says that the frame holds a decoy's value.
	Decoy bool
	// Order says that a text orders a model about.
	Order bool
	// Quoted says that it stands within quotation marks.
	Quoted bool
	// Given says that it is a text that the call had given.
	Given bool
	// Host is the host that it is about, "" for none.
	Host string
	// Declared is where a text stands that a declaration holds, nil for none.
	Declared *detect.Declared
}

// detected is the check of a rule that the detectors of the wire decide.
func detected(id string) func(*Run) []finding.Finding {
	return func(r *Run) []finding.Finding { return first(r.detections(id, func(*Detected) bool { return true })) }
}

// detections are what the detectors of the wire found for a rule and weigh keeps, which may change a copy of it.
func (r *Run) detections(id string, weigh func(*Detected) bool) []finding.Finding {
	var out []finding.Finding
	for _, d := range r.Wire.Detected {
		if d.Rule == id && weigh(&d) {
			out = append(out, d.Finding)
		}
	}
	return out
}

// severityOf are glassport's numbers in the words of findings.
func severityOf(a *detect.Annotation) finding.Severity {
	if a.Kind == detect.Info {
		return finding.Info
	}
	return [...]finding.Severity{finding.Info, finding.Low, finding.Medium, finding.High}[min(max(a.Severity, 0), 3)]
}

// Annotated turns annotations into findings: the same observation about the same
// thing is one, with each place as evidence. path is the log's, "" for none. An
// annotation without a rule is left out.
func Annotated(as []detect.Annotation, path string) []finding.Finding {
	out := []finding.Finding{}
	index := map[string]int{}
	for i := range as {
		a := &as[i]
		for _, f := range found(a) {
			if path != "" && a.Line > 0 {
				f.Evidence[0].Location = &finding.Location{Path: path, Line: a.Line}
			}
			if k, ok := index[f.Fingerprint]; ok {
				again(&out[k], &f)
				continue
			}
			f.Location = f.Evidence[0].Location
			index[f.Fingerprint] = len(out)
			out = append(out, f)
		}
	}
	return out
}

// found makes findings of an annotation.
func found(a *detect.Annotation) []finding.Finding {
	if a.Subcategory == detect.ObservedEffect {
		return effectOf(a)
	}
	rule, ok := OfObservation(a.Subcategory)
	if !ok {
		return nil
	}
	return rule.annotated(a)
}

// effectOf is the finding that coalmine spy made of what a server did.
func effectOf(a *detect.Annotation) []finding.Finding {
	text := func(key string) string {
		s, _ := a.Metadata[key].(string)
		return s
	}
	rule, ok := Of(text("rule"))
	if !ok {
		return nil
	}
	return []finding.Finding{{
		Rule: rule.ID, Severity: finding.Severity(text("rule_severity")), Title: rule.Title, Message: a.Explanation, Tool: a.Tool(), Confidence: finding.Certain,
		Evidence: []finding.Evidence{{Source: "record", Text: a.Explanation}}, Fingerprint: text("fingerprint"),
	}}
}

// again adds to a finding what another annotation says of the same thing.
func again(f, more *finding.Finding) {
	if len(f.Evidence) < maxEvidence {
		f.Evidence = append(f.Evidence, more.Evidence...)
	}
	for _, p := range more.PreviousFingerprints {
		if len(f.PreviousFingerprints) < maxEvidence && !slices.Contains(f.PreviousFingerprints, p) {
			f.PreviousFingerprints = append(f.PreviousFingerprints, p)
		}
	}
}

// annotated makes findings of an annotation that is a case of the rule.
func (r *Rule) annotated(a *detect.Annotation) []finding.Finding {
	if r.Annotated != nil {
		return r.Annotated(a)
	}
	return []finding.Finding{{
		Rule: r.ID, Severity: severityOf(a), Title: r.Title, Message: a.Explanation, Tool: a.Tool(), Confidence: finding.Certain,
		Evidence: annotationAt(a, a.Explanation), Fingerprint: annotationPrint(r.ID, a),
	}}
}

// annotationAt is the place of an annotation as evidence.
func annotationAt(a *detect.Annotation, says string) []finding.Evidence {
	return []finding.Evidence{{Source: "frame", Seq: a.Seq(), Text: says}}
}

// annotationPrint hashes what an annotation is about, without the numbers of its frame.
func annotationPrint(rule string, a *detect.Annotation) string {
	var parts []string
	for _, key := range []string{"tool", "method", "capability", "host", "pii_category", "place", "delta", "redeclared", "detector", "reason", "uri", "prompt", "resource", "resourceTemplate", "other"} {
		if v, ok := a.Metadata[key]; ok {
			parts = append(parts, fmt.Sprintf("%s=%v", key, v))
		}
	}
	if a.Identity != "" {
		parts = append(parts, a.Identity)
	}
	return finding.Fingerprint(rule, a.Subcategory, strings.Join(parts, ";"))
}
