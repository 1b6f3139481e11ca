package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm116 = Rule{Rule: cm116Doc, Check: checkCM116, Shrink: ShrinkNever}

var cm116Doc = finding.Rule{
	ID: "CM116", Name: "ArgumentsNotNeeded", Title: "Call arguments sent for no answer", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "The text that users give the tool goes to a stranger, and the tool works without it.", Fix: "Do not send the arguments, or say in the description which host gets them and why.", Preview: true},
	CWE:    []string{"CWE-200", "CWE-359"}, OWASP: []string{"MCP01", "MCP10"},
	Help: "A tool sent a word of its call's arguments, raw or encoded, to a host, although neither the tool nor the server speaks of a network or of handing something on, and its answers do not need that host: coalmine made the same calls again " +
		"while every connection was refused, and each answer was the same. A second host, which nothing names, beside the one that an argument or a declaration names is judged in the same way: the calls are made again while that host is missing.\n\n" +
		"**Evidence.** The flow. Two runs in unchanged surroundings and two in which no host answers, or the second one is missing, are compared, and at least two calls must have the same answer in all of them. coalmine makes them by itself where arguments went to a host that nothing declares (`--vary network` asks for them).\n\n" +
		"A tool without a second host that says that it sends, posts, shares or reports something is quiet. **False positive when** the tool asks a service and answers from its own data where that is not reached.",
}

func checkCM116(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Profile.Carried {
		c := &r.Profile.Carried[i]
		if !r.needless(c) {
			continue
		}
		when := "where no host answers"
		if r.beside(c) {
			when = "where that host is missing"
		}
		out = append(out, r.sentInCall(&cm116Doc, c, c.Tool, "“"+c.Tool+"” sent its call arguments to the undeclared host "+c.Peer+" over "+c.Via+", and answers the same "+when))
	}
	return first(out)
}
