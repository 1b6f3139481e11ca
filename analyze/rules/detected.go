package rules

import (
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// Detected is what a detector of the wire says of a run.
type Detected struct {
	finding.Finding
	// Decoy says that the frame holds a decoy's value.
	Decoy bool
}

// detected is the check of a rule that the detectors of the wire decide.
func detected(id string) func(*Run) []finding.Finding {
	return func(r *Run) []finding.Finding {
		var out []finding.Finding
		for _, d := range r.Wire.Detected {
			if d.Rule == id {
				out = append(out, d.Finding)
			}
		}
		return first(out)
	}
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
// annotation that is of no rule is left out.
func Annotated(as []detect.Annotation, path string) []finding.Finding {
	out := []finding.Finding{}
	index := map[string]int{}
	for i := range as {
		a := &as[i]
		rule, ok := OfObservation(a.Subcategory)
		if !ok {
			continue
		}
		f := finding.Finding{
			Rule: rule.ID, Severity: severityOf(a), Title: rule.Title, Message: a.Explanation, Tool: a.Tool(), Confidence: finding.Certain,
			Evidence: []finding.Evidence{{Source: "frame", Seq: a.Seq(), Text: a.Explanation}}, Fingerprint: annotationPrint(rule.ID, a),
		}
		if path != "" && a.Line > 0 {
			f.Evidence[0].Location = &finding.Location{Path: path, Line: a.Line}
		}
		if k, ok := index[f.Fingerprint]; ok {
			if len(out[k].Evidence) < maxEvidence {
				out[k].Evidence = append(out[k].Evidence, f.Evidence...)
			}
			continue
		}
		f.Location = f.Evidence[0].Location
		index[f.Fingerprint] = len(out)
		out = append(out, f)
	}
	return out
}

// annotationPrint hashes what an annotation is about, without the numbers of its frame.
func annotationPrint(rule string, a *detect.Annotation) string {
	var parts []string
	for _, key := range []string{"tool", "method", "capability", "host", "pii_category", "place", "delta", "redeclared", "detector", "reason", "uri", "prompt", "resource", "resourceTemplate", "other"} {
		if v, ok := a.Metadata[key]; ok {
			parts = append(parts, fmt.Sprintf("%s=%v", key, v))
		}
	}
	if a.Subcategory == "schema_violation" || a.Subcategory == "output_schema_violation" {
		parts = append(parts, a.Explanation)
	}
	return finding.Fingerprint(rule, a.Subcategory, strings.Join(parts, ";"))
}
