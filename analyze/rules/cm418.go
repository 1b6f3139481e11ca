package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm418 = Rule{Rule: cm418Doc, Judges: Gate, Observations: []string{"gate_*"}}

var cm418Doc = finding.Rule{
	ID: "CM418", Name: "GateRecord", Title: "Gate decision", Severity: finding.Info, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The gate changed what crossed the wire.", Fix: "Change the policy or the lock if the gate should decide otherwise."},
	OWASP:  []string{"MCP02"},
	Help:   "A gate in the session blocked a call, answered in place of the server, or forwarded a call without a check. The other rules still judge the call itself.\n\n**Evidence.** The gate's own record in the log.",
}
