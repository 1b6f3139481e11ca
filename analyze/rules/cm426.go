package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm426 = Rule{Rule: cm426Doc, Check: checkCM426, Observations: []string{"command_runs_download"}}

var cm426Doc = finding.Rule{
	ID: "CM426", Name: "CommandRunsDownload", Title: "Command in an answer runs a download", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "A person or an agent who follows the answer runs whatever the host serves.", Fix: "Remove the command, or name the host in the description and say what it installs.", Preview: true},
	CWE:    []string{"CWE-494", "CWE-506", "CWE-829"}, OWASP: []string{"MCP04", "MCP06"},
	Help: "A result, an error, a prompt or a message of the server holds a command that gives what a host serves to a shell or another interpreter (`curl … | sh`), and no declaration, argument or setting names the host.\n\n" +
		"**Evidence.** The answer and the host. Medium is a tool that says that it shows how to install or set up something. " +
		"Quiet are answers of tools that reached a host or read files, since the command may be theirs, and what the call itself gave. Within a tool that declares to quote attacks as examples it is low, and so is the installer of a well-known program at its own host.\n\n" +
		"**False positive when** the host is the well-known one of a project that the description names in other words.",
}

// installWordsShown are by which a tool says that it tells how something is installed.
var installWordsShown = []string{"install", "installs", "installation", "installer", "setup", "bootstrap", "onboarding", "quickstart", "dockerfile", "dockerfiles", "workflow", "workflows"}

// knownInstallers serve the installers of well-known programs, which many tools need.
var knownInstallers = []string{
	"astral.sh", "rustup.rs", "docker.com", "deno.land", "deno.com", "bun.sh", "pnpm.io", "python-poetry.org", "ollama.com", "fly.io", "starship.rs", "sdkman.io", "nixos.org", "helm.sh", "get.k3s.io", "tailscale.com", "npmjs.com", "pypa.io",
}

func checkCM426(r *Run) []finding.Finding {
	return first(r.detections(cm426Doc.ID, func(d *Detected) bool {
		switch {
		case r.quotesAttacks(d.Tool), slices.Contains(knownInstallers, domain(d.Host)):
			d.Severity = finding.Low
		case r.shown(d.Tool, installWordsShown):
			d.Severity = finding.Medium
		}
		return !r.namesPeer(d.Host) && !r.givenHost(d.Host) && !r.passesOn(d.Tool)
	}))
}

// passesOn reports whether a tool reached a host, or read the user's files: what it answers may be theirs.
func (r *Run) passesOn(tool string) bool {
	reads := func(e finding.Effect) bool { return e.Tool == tool }
	return slices.ContainsFunc(r.Profile.Reads, reads) || slices.ContainsFunc(r.Profile.Effects, func(e finding.Effect) bool { return e.Tool == tool && leaving(&e) })
}
