package rules

import (
	"path"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm210 = Rule{Rule: cm210Doc, Check: checkCM210, Shrink: ShrinkNever}

var cm210Doc = finding.Rule{
	ID: "CM210", Name: "BehavesWhenTraced", Title: "Different behaviour under a tracer", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Hiding from a tracer is typical of malware.", Fix: "Remove every check for a tracer or debugger (TracerPid, ptrace)."},
	CWE:    []string{"CWE-912"}, OWASP: []string{"MCP03"},
	Help: "With `--tracer both` the server runs twice, with the same inputs: once watched from outside, which it cannot tell, and once under ptrace, which it can. " +
		"In the first it read a secret, started a program or reached a host that it left alone in the second.\n\n" +
		"**Evidence.** The kernel's record of the first run. Both runs came to as many calls, else nothing is compared; work that could belong to another call is not compared either.\n\n" +
		"**False positive when** what the server does depends on chance or on time.",
}

// action is what two runs of a server share, if they do the same.
type action struct {
	kind finding.EffectKind
	what string
}

func actionOf(e *finding.Effect) action {
	what := e.Target
	switch {
	case e.Kind == finding.Exec:
		what = path.Base(e.Target)
	case e.Kind == finding.NetConnect && e.Host != "":
		what = e.Host
	}
	return action{e.Kind, what}
}

func checkCM210(r *Run) []finding.Finding {
	if r.Traced == nil || completed(r.Traced) != completed(r.Profile) {
		return nil
	}
	done := map[action]bool{}
	for i := range r.Traced.Effects {
		done[actionOf(&r.Traced.Effects[i])] = true
	}
	var out []finding.Finding
	for _, e := range r.effects(finding.Secret, finding.NetConnect, finding.Exec) {
		if e.Ambiguous || r.turned(e.Call) || done[actionOf(e)] || e.Kind == finding.NetConnect && !leaving(e) || e.Kind == finding.Secret && e.Rung == finding.RungAttempted {
			continue
		}
		verb := map[finding.EffectKind]string{finding.Secret: " read the secret ", finding.NetConnect: " tried to reach ", finding.Exec: " ran "}[e.Kind]
		out = append(out, r.of(&cm210Doc, e, subject(e)+verb+actionOf(e).what+" when not traced, and did not under ptrace"))
	}
	return first(out)
}

// turned reports whether services answered a call otherwise: only a server that asked one before is given such calls.
func (r *Run) turned(call int) bool {
	c := r.callOf(call)
	return c != nil && c.Turn > 0
}

// completed counts the calls that ended, without those that depend on what the server asked.
func completed(p *profile.Profile) int {
	n := 0
	for _, c := range p.Calls {
		if c.Turn == 0 && c.Outcome != "" && c.Outcome != session.OutcomeCrash && c.Outcome != session.OutcomeTimeout {
			n++
		}
	}
	return n
}
