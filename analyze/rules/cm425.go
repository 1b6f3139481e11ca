package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm425 = Rule{Rule: cm425Doc, Check: checkCM425, Observations: []string{"context_asked"}}

var cm425Doc = finding.Rule{
	ID: "CM425", Name: "ContextOfOthersRequested", Title: "Context of other servers requested", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The answer of the client's model can hold whatever other servers and the user said in the conversation.", Fix: "Leave `includeContext` out, or ask for `thisServer`.", Preview: true},
	CWE:    []string{"CWE-200", "CWE-359"}, OWASP: []string{"MCP06", "MCP10"},
	Help: "A request to the client's model (`sampling/createMessage`) asks for the context of all servers (`includeContext` is `allServers`). The server gets the model's answer, and so can get what other servers returned. The specification discourages the value, and a client may ignore it.\n\n" +
		"**Evidence.** The request, in its frame. Low where the tool or the server declares to work with the conversation.\n\n" +
		"**False positive when** the client asks the user before it adds any context.",
}

// conversationWords are those of a tool that works with what was said before.
var conversationWords = []string{"conversation", "conversations", "transcript", "chat"}

func checkCM425(r *Run) []finding.Finding {
	return first(r.detections(cm425Doc.ID, func(d *Detected) bool {
		if r.shown(d.Tool, conversationWords) {
			d.Severity = finding.Low
		}
		return true
	}))
}
