package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var cm226 = Rule{Rule: cm226Doc, Check: checkCM226}

var cm226Doc = finding.Rule{
	ID: "CM226", Name: "DestructiveCommand", Title: "Undeclared destructive command", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "What such a command throws away cannot be had back.", Fix: "Leave the command out, or say in the tool's description what it throws away and set destructiveHint to true.", Preview: true},
	CWE:    []string{"CWE-284", "CWE-732"}, OWASP: []string{"MCP02"},
	Help: "The server ran a command that throws something away for good: stashes, work that is not committed, commits that nothing holds any more, branches on a server, volumes, databases. " +
		"No argument of the call names the command, the tool declares no deletion of that kind, and it does not run commands that it is given.\n\n" +
		"**Evidence.** The kernel's record of the command, or of the attempt where the program is missing. Work that could belong to another call is low.\n\n" +
		"Quiet are commands with `--dry-run`, a tool that declares a deletion and names the object (\"drops a stash\"), and a policy that allows the program.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says so.",
}

func checkCM226(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		t := r.Scope.Tool(e.Tool)
		if e.Destroys == "" || e.Phase == finding.PhaseBuild || r.allowed != nil && r.allowed[i] || runsCommands(&t, "") || r.declaresDestroying(e) {
			continue
		}
		f := r.of(&cm226Doc, e, subject(e)+" ran a command that throws away what cannot be had back: "+e.Destroys)
		f.Fingerprint = finding.Fingerprint(cm226Doc.ID, e.Tool, e.Destroys)
		if e.Ambiguous {
			f.Severity = finding.Low
		}
		out = append(out, f)
	}
	return first(out)
}

// throwsAway is a verb by which a declaration says that something goes for good.
var throwsAway = lazyregexp.New(`(?i)\b(?:delet|remov|eras|discard|drop|prun|clean|clear|reset|expir|destroy|wip|forc|uninstall|unpublish|undo|revert|overwrit|rewrit|flush|shred|throw)\w*\b`)

// bringsBack is a verb by which a tool says that it puts files into an earlier state: what they are now goes.
var bringsBack = lazyregexp.New(`(?i)\b(?:restor|revert|undo|rewind|recover|reset|discard)\w*\b|\broll\w* back\b|\bbring\w* (?:[\w-]+ ){0,3}back\b|\b(?:switch|check)\w* (?:[\w-]+ ){0,2}(?:out|to)\b`)

// declaresDestroying reports whether the arguments of a call name such a command, or a sentence of the tool or the
// server says that it throws such things away.
func (r *Run) declaresDestroying(e *finding.Effect) bool {
	words := slices.DeleteFunc(strings.Fields(strings.ToLower(e.Destroys))[1:], func(w string) bool { return strings.HasPrefix(w, "-") || w == "." || w == "system" })
	back := len(words) > 0 && slices.Contains([]string{"checkout", "restore", "reset", "clean", "stash"}, words[0])
	if len(words) == 0 || !slices.ContainsFunc(words, func(w string) bool { return !r.asked(e.Call, w) }) {
		return true
	}
	return slices.ContainsFunc(r.sentences(), func(s sentence) bool {
		return serverOr(e.Tool)(s.owner) && !s.denies && back && bringsBack.MatchString(s.text) || serverOr(e.Tool)(s.owner) && !s.denies && throwsAway.MatchString(s.text) && strings.Contains(s.lower, words[0])
	})
}
