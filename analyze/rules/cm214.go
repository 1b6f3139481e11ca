package rules

import (
	"path"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var cm214 = Rule{Rule: cm214Doc, Check: checkCM214}

var cm214Doc = finding.Rule{
	ID: "CM214", Name: "BehavesByCondition", Title: "Behaviour under one condition only", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Behaviour that depends on one condition can hide from a review.", Fix: "Remove the condition, or document what depends on it.", Preview: true},
	CWE:    []string{"CWE-912", "CWE-511"}, OWASP: []string{"MCP03"},
	Help: "With `--vary` the server runs again with the same calls and one thing changed: the client's name, `CI`, the clock, the locale, or the decoys. " +
		"A secret was read, a host reached for, a program run, or a file changed in each run under that condition and in none without it, or the other way round.\n\n" +
		"**Evidence.** The kernel's record, in the first run that showed it. Runs with and without the condition are repeated in turn until they agree twice at least; what does not come and go with the condition is not a finding. " +
		"High for a secret that nothing declared needs. Medium for egress, a program or a deletion in a call whose tool declares none of it. Low for all else: what is done at start, a declared network, files written. " +
		"Where the condition takes something away (a bare HOME) or only waits (a fast clock), an effect that is missing is not a finding.\n\n" +
		"**False positive when** the difference is what the condition is for: update checks that `CI` turns off, a cache that is a year old.",
}

// Varied are runs of the same server with the same calls under one changed condition.
type Varied struct {
	// Factor is "client", "ci", "clock", "locale" or "canaries", How says what was changed.
	Factor, How string
	// Added says that only what these runs did more counts.
	Added bool
	Runs  []*Run
}

// leastConfirmed is how many runs with and without a condition must agree.
const leastConfirmed = 2

func checkCM214(r *Run) []finding.Finding {
	if len(r.Controls) < leastConfirmed {
		return nil
	}
	var out []finding.Finding
	for i := range r.Varied {
		v := &r.Varied[i]
		if len(v.Runs) < leastConfirmed || v.Factor == FactorNetwork || v.Factor == FactorHost { // of which CM116 speaks
			continue
		}
		for _, e := range r.onlyUnder(v) {
			f := r.conditional(v, v.Runs[0], e, "only "+v.How)
			// Its records are in that run's log, not in the run's own.
			f.Call = 0
			for k := range f.Evidence {
				f.Evidence[k].Text = v.How + ": " + f.Evidence[k].Text
			}
			out = append(out, f)
		}
		for _, e := range r.onlyWithout(v) {
			out = append(out, r.conditional(v, r, e, "and not "+v.How))
		}
	}
	return first(out)
}

// Differs reports whether the runs under a condition do something that none
// without it does, or the other way round, as far as is known yet.
func Differs(r *Run, v *Varied) bool {
	if len(v.Runs) == 0 || len(r.Controls) == 0 {
		return false
	}
	if v.Factor == FactorNetwork || v.Factor == FactorHost {
		return slices.ContainsFunc(r.Controls[0].Profile.Carried, func(c profile.Carried) bool { return indifferent(r.Controls, v.Runs, &c) })
	}
	return len(r.onlyUnder(v))+len(r.onlyWithout(v)) > 0 || v.Factor == FactorSecrets && (len(influenced(r.Controls, v.Runs)) > 0 || len(steered(r.Controls, v)) > 0)
}

// conditional is the finding of an effect of the run in, which had it by condition.
func (r *Run) conditional(v *Varied, in *Run, e *finding.Effect, when string) finding.Finding {
	d := in.comparableAction(e)
	verb := map[finding.EffectKind]string{
		finding.Secret: " read the secret ", finding.NetConnect: " tried to reach ", finding.Exec: " ran ", finding.FileWrite: " wrote ", finding.FileDelete: " deleted ",
	}[e.Kind]
	f := in.of(&cm214Doc, e, subject(e)+verb+d.what+" "+when)
	f.Severity = r.conditionally(in, e)
	f.Fingerprint = finding.Fingerprint("CM214", v.Factor, e.Tool, string(d.kind), d.what)
	return f
}

// conditionally is how much it matters that an effect comes by condition.
func (r *Run) conditionally(in *Run, e *finding.Effect) finding.Severity {
	t := r.Scope.Tool(e.Tool)
	pinned := e.Call > 0 && !e.Ambiguous
	var declared bool
	switch e.Kind {
	case finding.Secret:
		c := in.Canaries[e.Target]
		if r.dealsWith(c, e.Tool) || in.isLookup(e, c) {
			return finding.Low
		}
		return finding.High
	case finding.NetConnect:
		declared = len(t.Network) > 0 || len(r.Scope.Purpose.Network) > 0
	case finding.Exec:
		declared = r.declaresProgram(&t, path.Base(e.Target))
	case finding.FileDelete:
		declared = len(t.Delete) > 0
	default:
		declared = true
	}
	if pinned && !declared {
		return finding.Medium
	}
	return finding.Low
}

// numbered are the parts of a name that count, date or are drawn: numbers, and words of letters and digits.
var numbered = lazyregexp.New(`[A-Za-z]*[0-9][A-Za-z0-9]*`)

// comparableAction is an effect without what differs from run to run: the numbered parts of a file's name.
func (r *Run) comparableAction(e *finding.Effect) action {
	d := actionOf(e)
	if e.Kind == finding.FileWrite || e.Kind == finding.FileDelete {
		d.what = numbered.ReplaceAllString(r.stable(e.Target), "#")
	}
	return d
}

// comparedEffects are the effects of a run that a comparison is about.
func (r *Run) comparedEffects() []*finding.Effect {
	return slices.DeleteFunc(r.effects(finding.Secret, finding.NetConnect, finding.Exec, finding.FileWrite, finding.FileDelete), func(e *finding.Effect) bool {
		switch e.Kind {
		case finding.Secret:
			return e.Rung == finding.RungAttempted
		case finding.NetConnect:
			return !leaving(e)
		case finding.Exec:
			return r.ownProgram(e)
		}
		return false
	})
}

// actions are all that a run did, ordinary or not.
func (r *Run) actions() map[action]bool {
	out := map[action]bool{}
	for i := range r.Profile.Effects {
		out[r.comparableAction(&r.Profile.Effects[i])] = true
	}
	return out
}

// inNone keeps the effects of in that are in all of same and none of other.
func inNone(in *Run, same, other []*Run) []*finding.Effect {
	out := in.comparedEffects()
	for _, o := range other {
		done := o.actions()
		out = slices.DeleteFunc(out, func(e *finding.Effect) bool { return done[in.comparableAction(e)] })
	}
	for _, s := range same {
		done := s.actions()
		out = slices.DeleteFunc(out, func(e *finding.Effect) bool { return !done[in.comparableAction(e)] })
	}
	return out
}

// onlyUnder are effects of the first run under a condition that come with it alone.
func (r *Run) onlyUnder(v *Varied) []*finding.Effect {
	return inNone(v.Runs[0], v.Runs[1:], append([]*Run{r}, r.Controls...))
}

// onlyWithout are effects of the run that come without a condition alone. A run
// that did not get as far says nothing of them.
func (r *Run) onlyWithout(v *Varied) []*finding.Effect {
	if v.Added || len(r.Controls) == 0 {
		return nil
	}
	whole := completed(r.Controls[0].Profile)
	for _, o := range v.Runs {
		if completed(o.Profile) < whole {
			return nil
		}
	}
	return inNone(r, r.Controls, v.Runs)
}
