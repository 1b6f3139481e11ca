package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// The rules that the detectors of the wire decide. Where coalmine is the client
// only those remain that judge the server.
var (
	cm408 = detected("CM408")
	cm409 = detected("CM409")
	cm410 = detected("CM410")
	cm413 = detected("CM413")
	cm414 = detected("CM414")
)

// detected is the rule of a detector.
func detected(id string) Rule {
	docs := detect.Rules()
	doc := docs[slices.IndexFunc(docs, func(r finding.Rule) bool { return r.ID == id })]
	return Rule{Rule: doc, Check: func(r *Run) []finding.Finding {
		return first(slices.DeleteFunc(slices.Clone(r.Wire.Detected), func(f finding.Finding) bool { return f.Rule != id }))
	}}
}
