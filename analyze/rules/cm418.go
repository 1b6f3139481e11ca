package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm418 = Rule{Rule: cm418Doc, Judges: Gate, Observations: []string{"gate_*"}}

var cm418Doc = finding.Rule{
	ID: "CM418", Name: "GateRecord", Title: "Gate decision", Severity: finding.Info,
	OWASP: []string{"MCP02"},
	Help:  "A gate in the session kept a call from the server, answered in its place, or let one through unchecked. The call itself is still judged by the other rules.\n\n**Evidence.** The gate's own record in the log.",
}
