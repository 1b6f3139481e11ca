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

// downloading is a run of a tool that answered with a command which runs what a host serves.
func downloading(tool wire.Tool, host string) *Run {
	return with(newRun(tool), func(r *Run) {
		r.Wire.Detected = detecting("CM426").Wire.Detected
		d := &r.Wire.Detected[0]
		d.Host, d.Tool, d.Severity = host, tool.Name, finding.High
	})
}

var ofHandouts = []ruleCase{
	{"CM424", "to a stranger", handingOut(note, "metrics.evil.test"), finding.High},
	{"CM424", "to a host that is declared", handingOut(described("ci", "Writes a workflow that reports to metrics.good.example."), "metrics.good.example"), ""},
	{"CM424", "to a host that the user gave", with(handingOut(note, "ci.corp.test"), func(r *Run) { r.Given = []string{"https://ci.corp.test/in"} }), ""},
	{"CM424", "as an example of an attack", handingOut(described("lesson", "Shows examples of attacks on pipelines."), "evil.test"), finding.Low},
	{"CM426", "from a stranger", downloading(note, "fix.evil.test"), finding.High},
	{"CM426", "how to install", downloading(described("setup", "Tells the installation steps."), "fix.evil.test"), finding.Medium},
	{"CM426", "of a well-known program", downloading(note, "astral.sh"), finding.Low},
	{"CM426", "from a host that is declared", downloading(described("mend", "Mends it, by fix.good.example."), "fix.good.example"), ""},
	{"CM426", "of a tool that asked a host", with(downloading(note, "fix.evil.test"), func(r *Run) {
		r.Profile.Effects = append(r.Profile.Effects, effect(note.Name, finding.NetConnect, "docs.good.example:443"))
	}), ""},
	{"CM424", "none", detecting("CM410"), ""},
}
