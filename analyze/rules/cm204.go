package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

var cm204 = Rule{Rule: cm204Doc, Check: checkCM204}

var cm204Doc = finding.Rule{
	ID: "CM204", Name: "UndeclaredProgram", Title: "Undeclared program execution", Severity: finding.Low, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "An undeclared program can do anything that the user can.", Fix: "Name the program in the description, or use a library instead."},
	CWE:    []string{"CWE-78"}, OWASP: []string{"MCP05"},
	Help: "During a call the server started a program that neither the tool nor the server names, and no declaration mentions running programs.\n\n" +
		"**Evidence.** The kernel's record of the exec with binary and arguments. The server's own interpreter started again is quiet, and so are a program that the server's command line or environment names by its path, such as a browser, and what that starts. It is medium where the program is one that speaks to the network (`curl`, `wget`, `nc`, `ssh`, …), and neither the tool nor the server declares a network, or both only local work.\n\n" +
		"**False positive when** the program is a helper of the runtime, such as `uname` or `ldconfig`.",
}

// networkPrograms are programs whose purpose is the network.
var networkPrograms = map[string]bool{"curl": true, "wget": true, "nc": true, "ncat": true, "netcat": true, "ssh": true, "scp": true, "sftp": true, "ftp": true, "telnet": true, "socat": true, "dig": true, "nslookup": true}

func checkCM204(r *Run) []finding.Finding {
	launched := map[string]bool{}
	for i := range r.Profile.Effects {
		if e := &r.Profile.Effects[i]; e.Kind == finding.Exec && e.Noise == "launch" {
			launched[e.Target] = true
		}
	}
	var out []finding.Finding
	for _, e := range r.effects(finding.Exec) {
		name := path.Base(e.Target)
		t := r.Scope.Tool(e.Tool)
		if e.Call == 0 || e.Rung != finding.RungOpened || name == e.Actor && len(e.Argv) == 0 || launched[e.Target] || e.Named && !networkPrograms[name] || r.ownProgram(e) || r.declaresProgram(&t, name) {
			continue
		}
		f := r.of(&cm204Doc, e, subject(e)+" ran "+e.Target+", which it does not declare")
		f.Fingerprint = finding.Fingerprint("CM204", e.Tool, name)
		if at, did := r.deedOn(e); at == placeTalker && !e.Ambiguous {
			f.Severity = r.severity(e, at, did)
		}
		out = append(out, f)
	}
	return first(out)
}

// asksVersion reports whether a command line only asks a program what it is.
func asksVersion(argv []string) bool {
	return len(argv) == 2 && slices.Contains([]string{"--version", "-version", "-V", "version", "--help"}, argv[1])
}

// ownProgram reports whether a program is the server's own file.
func (r *Run) ownProgram(e *finding.Effect) bool {
	return r.ServerDir != "" && strings.HasPrefix(e.Target, r.ServerDir+"/")
}

// declaresProgram reports whether the tool or the server speaks of running
// programs or names this one.
func (r *Run) declaresProgram(t *scope.Tool, name string) bool {
	return len(t.Exec) > 0 || len(r.Scope.Purpose.Exec) > 0 || t.Says(name) || r.Scope.Purpose.Says(name)
}
