package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm424 = Rule{Rule: cm424Doc, Check: checkCM424, Observations: []string{"code_sends_secrets"}}

var cm424Doc = finding.Rule{
	ID: "CM424", Name: "CodeSendsSecrets", Title: "Code in an answer sends secrets", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "Whoever runs the code gives the host credentials, and the server that wrote it does nothing that shows.", Fix: "Remove the transfer, or say in the description which host gets what and why.", Preview: true},
	CWE:    []string{"CWE-506", "CWE-522"}, OWASP: []string{"MCP01", "MCP04", "MCP06"},
	Help: "A workflow, a Dockerfile, a script or a command line that the server answers with reads secrets (all secrets of a repository, the environment, files of credentials, a token) and sends them to a host that no declaration, argument or setting names. " +
		"coalmine reads YAML, JSON, shells, Python, JavaScript and PowerShell, and follows variables, files and pipes. A single token in the body of a request is medium, unless its name says that another service issued it.\n\n" +
		"**Evidence.** What is sent, by what and to whom. A token that goes to the service whose name it has or whose issuer the host is, one where a protocol has credentials, an address that the reader fills in and a machine's own port are quiet. " +
		"Within a tool that declares to quote attacks as examples it is low.\n\n" +
		"**False positive when** the service's documentation, not the server's declaration, says that it takes these secrets.",
}

func checkCM424(r *Run) []finding.Finding {
	return first(r.detections(cm424Doc.ID, func(d *Detected) bool {
		if r.quotesAttacks(d.Tool) {
			d.Severity = finding.Low
		}
		return !r.namesPeer(d.Host) && !r.givenHost(d.Host)
	}))
}
