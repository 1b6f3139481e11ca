package analyze

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/audit"
)

// confirm says of each finding in the source what the run shows of it: that the effect was seen,
// that the code was called and nothing showed it, or that the code was not called. It may be
// asked again when more is known.
func (res *Result) confirm() {
	if res.Audit == nil {
		return
	}
	docs := map[string]finding.Rule{}
	for _, r := range audit.Rules() {
		docs[r.ID] = r
	}
	audited := *res.Audit
	audited.Findings = slices.Clone(audited.Findings)
	for i := range audited.Findings {
		res.join(&audited.Findings[i], docs[audited.Findings[i].Rule])
	}
	res.Audit = &audited
}

// The ends of the message of a finding in the source that was not confirmed.
const (
	unconfirmedText = "; the run called the tool and did not confirm it"
	uncalledText    = "; the run did not call the tool"
	unreachedText   = "; the run did not reach the code"
	declaredText    = "; the tool declares that its caller chooses it"
	listedText      = "; its schema lists the values, and the run gave others and did not confirm it"
	undeclaredText  = "; neither the server nor a tool speaks of the service that it is for"
)

// join compares one finding in the source with the run.
func (res *Result) join(f *finding.Finding, doc finding.Rule) {
	if f.Rule == audit.EnvCredential && f.Object != "" {
		res.joinVariable(f)
		return
	}
	kinds := doc.Effects
	if len(res.Audit.Sites) == 0 && f.Run == "" {
		kinds = nil // nothing says which effects the file is likely to have caused
	}
	flow := f.Tool != "" && (len(doc.CWE) > 0 || doc.Capability)
	if f.Run == finding.Confirmed || !flow && kinds == nil {
		return
	}
	said := ""
	f.Message = strings.TrimSuffix(f.Message, f.RunText) // what was known of the run before
	shownBy := ""
	if flow && !doc.Capability {
		shownBy = res.showing(f.Tool, doc.CWE)
	}
	switch {
	case shownBy != "":
		f.Run, f.Confidence, said = finding.Confirmed, finding.Certain, "; confirmed by the run ("+shownBy+")"
	case doc.Capability && res.caused(f, nil), kinds != nil && res.caused(f, kinds):
		f.Run = finding.Confirmed
	case res.Coverage.Code.NeverRan(f.Location):
		f.Run, said = finding.NotExercised, unreachedText
	case !flow:
		f.Run = finding.Unconfirmed
	case slices.ContainsFunc(res.Coverage.Tools, func(t ToolCoverage) bool { return t.Name == f.Tool && t.OK > 0 }):
		f.Run, said = finding.Unconfirmed, unconfirmedText
	default:
		f.Run, said = finding.NotExercised, uncalledText
	}
	switch {
	case shownBy != "" || doc.Capability:
	case f.Severity.Rank() <= finding.Medium.Rank() && res.declares(f):
		said, f.Severity = declaredText, finding.Low
	case res.listsValues(f):
		said, f.Severity = listedText, finding.Low
	}
	if !doc.Capability {
		f.RunText = said
		f.Message += said
	}
}

// listsValues reports whether the tool's schema lists the values of the parameter of a finding in the source, while the
// run gave the tool attack inputs as well.
func (res *Result) listsValues(f *finding.Finding) bool {
	tool := res.Declared.Tool(f.Tool)
	return f.Object != "" && slices.Contains(tool.Listed, f.Object) &&
		slices.ContainsFunc(res.Coverage.Tools, func(t ToolCoverage) bool { return t.Name == f.Tool && t.Oracles > 0 })
}

// joinVariable raises the read of a credential of the environment that no declaration speaks of.
func (res *Result) joinVariable(f *finding.Finding) {
	words := audit.CredentialWords(f.Object)
	says := func(t scope.Tool) bool { return slices.ContainsFunc(words, t.Shows) || t.Shows(f.Object) }
	listed := slices.ContainsFunc(res.Declared.Variables, func(v scope.Variable) bool { return v.Name == f.Object })
	if len(res.Declared.Tools) == 0 || listed || says(res.Declared.Purpose) || slices.ContainsFunc(res.Declared.Tools, says) {
		return
	}
	f.Severity, f.RunText = finding.High, undeclaredText
	f.Message = strings.TrimSuffix(f.Message, undeclaredText) + undeclaredText
}

// declares reports whether the tool's schema says that the parameter of a finding in the source is a path or an
// address, and nothing that it declares keeps its caller within a directory or among the hosts of the internet.
func (res *Result) declares(f *finding.Finding) bool {
	if !f.Whole || f.Tool == "" {
		return false
	}
	tool := res.Declared.Tool(f.Tool)
	switch f.Rule {
	case audit.TaintPath:
		return slices.Contains(tool.Paths, f.Object) && len(tool.Confined) == 0 && len(res.Declared.Purpose.Confined) == 0
	case audit.TaintRequest:
		return slices.Contains(tool.URLs, f.Object) && len(tool.Outward) == 0 && len(res.Declared.Purpose.Outward) == 0
	}
	return false
}

// caused reports whether the file of a finding is a likely source of an effect of some kinds, in a
// call of the finding's tool where it has one; nil kinds are all.
func (res *Result) caused(f *finding.Finding, kinds []finding.EffectKind) bool {
	return slices.ContainsFunc(res.Observed, func(e finding.Effect) bool {
		if f.Tool != "" && e.Tool != f.Tool || kinds != nil && !slices.Contains(kinds, e.Kind) {
			return false
		}
		return slices.ContainsFunc(e.Sources, func(at finding.Location) bool {
			was := f.Read()
			return was != nil && at.Path == was.Path && (f.Tool == "" || at.Line == was.Line)
		})
	})
}

// showing is the rule of a finding of the run on a tool with one of the weaknesses.
func (res *Result) showing(tool string, cwe []string) string {
	for i := range res.Findings {
		f := &res.Findings[i]
		rule, _ := rules.Of(f.Rule)
		if f.Tool != tool || rule.Family != finding.FamilyOracle {
			continue
		}
		if slices.ContainsFunc(rule.CWE, func(c string) bool { return slices.Contains(cwe, c) }) {
			return f.Rule
		}
	}
	return ""
}
