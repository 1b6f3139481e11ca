package analyze

import "github.com/coalmine-dev/coalmine/analyze/finding"

// located says in which run's directory the evidence of findings lies, where it does not say so
// itself.
func located(findings []finding.Finding, dir string) {
	for i := range findings {
		locate(findings[i].Evidence, dir)
	}
}

func locate(evidence []finding.Evidence, dir string) {
	for i := range evidence {
		if e := &evidence[i]; e.Dir == "" && e.Source != "source" {
			e.Dir = dir
		}
	}
}
