package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// handingOut is a run of a tool that answered with code which sends secrets to a host.
func handingOut(tool wire.Tool, host string) *Run {
	return with(newRun(tool), func(r *Run) {
		r.Wire.Detected = detecting("CM424").Wire.Detected
		d := &r.Wire.Detected[0]
		d.Host, d.Tool, d.Severity = host, tool.Name, finding.High
	})
}

var ofHandouts = []ruleCase{
	{"CM424", "to a stranger", handingOut(note, "metrics.evil.test"), finding.High},
	{"CM424", "to a host that is declared", handingOut(described("ci", "Writes a workflow that reports to metrics.good.example."), "metrics.good.example"), ""},
	{"CM424", "to a host that the user gave", with(handingOut(note, "ci.corp.test"), func(r *Run) { r.Given = []string{"https://ci.corp.test/in"} }), ""},
	{"CM424", "as an example of an attack", handingOut(described("lesson", "Shows examples of attacks on pipelines."), "evil.test"), finding.Low},
	{"CM424", "none", detecting("CM410"), ""},
}
