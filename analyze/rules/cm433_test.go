package rules

import "github.com/coalmine-dev/coalmine/analyze/finding"

// sampling is a run in which a tool asked the client's model.
func sampling(name, description string) *Run {
	r := newRun(described(name, description))
	r.Wire.Samplings = []Fact{{Seq: 9, Tool: name, Call: 1, Text: "sampling/createMessage"}}
	return r
}

func init() {
	cases = append(cases, []ruleCase{
		{"CM433", "of a tool that computes", sampling("sum", "Adds up numbers."), finding.Medium},
		{"CM433", "of a tool that writes", sampling("brief", "Writes a summary of a page."), finding.Low},
		{"CM433", "declared", sampling("brief", "Has the client's model sum a page up."), ""},
		{"CM433", "none", newRun(described("sum", "Adds up numbers.")), ""},
	}...)
}
