package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// egress is one finding of all attempts to reach the outside that within holds
// for, nil for none: they are one habit. say makes its message of their targets.
func (r *Run) egress(doc *finding.Rule, within func(*finding.Effect) bool, say func(targets string) string) []finding.Finding {
	var f finding.Finding
	var targets []string
	for _, e := range r.effects(finding.NetConnect) {
		if !within(e) || !leaving(e) || slices.Contains(targets, e.Target) {
			continue
		}
		if len(targets) == 0 {
			f = r.of(doc, e, "")
		} else if len(f.Evidence) < maxEvidence {
			f.Evidence = append(f.Evidence, e.Evidence...)
		}
		targets = append(targets, e.Target)
	}
	if len(targets) == 0 {
		return nil
	}
	for i, t := range targets {
		targets[i] = strings.Replace(t, "dns:", "the name server for ", 1)
	}
	f.Message = say(list(targets, 5))
	f.Fingerprint = finding.Fingerprint(doc.ID)
	return []finding.Finding{f}
}
