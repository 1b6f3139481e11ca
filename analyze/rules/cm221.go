package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm221 = Rule{Rule: cm221Doc, Check: checkCM221, Default: true}

var cm221Doc = finding.Rule{
	ID: "CM221", Name: "UnexplainedEffect", Title: "Undeclared behaviour", Severity: finding.Low, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Nobody who read the declarations expects it.", Fix: "Name it in the description of the tool or in the server's instructions, or leave it out.", Preview: true},
	CWE:    []string{"CWE-1059", "CWE-200"}, OWASP: []string{"MCP02"},
	Help: "In whatever phase, the server ran a program, reached a port or a socket, opened one, told a service something or opened a file, and nothing explains it: " +
		"it is no file that the runtime or another program reads as its own, nothing of the server's own, no argument of the call names it, no declaration speaks of it, and no policy allows it. What another rule reports is not told again.\n\n" +
		"**Evidence.** The kernel's record of each. All that one tool did of a kind is one finding, and so is all that the server did of it outside of calls. The severity depends on what was done:" +
		severityTable(actOpened, actGave, actRan, actReached, actListens, actTold, actRemoved, actTouched) +
		"A promise is one that every tool gives, or the server: to read only, to work without a network, to stay in a directory. Known shapes have rules of their own, which come first.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says so, or a library does it by itself.",
}

// habit is what a finding of the default rule stands for.
type habit struct {
	tool, target string
	kind         finding.EffectKind
	build        bool
}

// habitOf is an effect without its call, or its phase outside of calls.
func (r *Run) habitOf(e *finding.Effect) habit {
	return habit{e.Tool, strings.TrimPrefix(r.Identity(e), "unix:"), e.Kind, e.Phase == finding.PhaseBuild}
}

func checkCM221(r *Run) []finding.Finding {
	told := map[habit]bool{}
	for e := range r.told {
		h := r.habitOf(e)
		told[h] = true
		if isChange(e.Kind) { // a socket in the file system is a file as well
			h.kind = finding.NetListen
			told[h] = true
		}
	}
	var out []finding.Finding
	var targets []string
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		if isChange(e.Kind) || told[r.habitOf(e)] {
			continue
		}
		if _, ok := r.Explain(i); ok {
			continue
		}
		at, did := r.deedOn(e)
		f := r.of(&cm221Doc, e, "")
		f.Severity = r.severity(e, at, did)
		if did == actOpened && e.Rung == finding.RungAttempted || e.Ambiguous && isNamedByCalls(did) && r.promised(e, did) == nil {
			f.Severity = finding.Low
		}
		who := e.Tool
		if e.Phase == finding.PhaseBuild {
			who = "build"
		}
		f.Fingerprint = finding.Fingerprint(cm221Doc.ID, who, string(at), string(did))
		out, targets = append(out, f), append(targets, r.shownTarget(e, did))
	}
	return perHabit(out, targets, func(f *finding.Finding, targets []string) string {
		who := "the server (outside any call)"
		if f.Tool != "" || f.Phase == finding.PhaseBuild {
			who = subject(&finding.Effect{Tool: f.Tool, Phase: f.Phase})
		}
		return who + " did what it does not declare: it " + list(targets, 5)
	})
}

// isNamedByCalls reports whether a call's arguments name the object of such a deed, as a rule: work
// that could be another call's may then be what that one was asked for.
func isNamedByCalls(did deed) bool {
	return did == actOpened || did == actReached || did == actTold || did == actRemoved
}

// shownTarget is an effect in a few words.
func (r *Run) shownTarget(e *finding.Effect, did deed) string {
	verb := string(did)
	if e.Rung == finding.RungAttempted {
		verb = map[deed]string{actOpened: "tried to open", actReached: "tried to reach"}[did]
	}
	if verb == "" {
		verb = string(did)
	}
	return verb + " " + r.stable(e.Target)
}
