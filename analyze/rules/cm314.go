package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm314 = Rule{Rule: cm314Doc, Check: checkCM314}

var cm314Doc = finding.Rule{
	ID: "CM314", Name: "OtherTenantsData", Title: "Data of another tenant", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "One customer, account or user reads what another has stored.", Fix: "Look only among the entries of the tenant that the call names, before anything else is compared.", Preview: true},
	CWE:    []string{"CWE-639", "CWE-863", "CWE-284"}, OWASP: []string{"MCP02", "MCP07"},
	Help: "A call stored a word for one tenant, by an argument such as `tenant`, `customer`, `account`, `organization` or `namespace`, or one that a promise of the server speaks of (\"each practice sees its own visits\"), and a call of another tool that names another tenant in the same argument got it back, also by the id that the first call returned (IDOR). That call did not hold the word.\n\n" +
		"**Evidence.** The answer with the word, which was drawn for this. High where a declaration promises that tenants are kept apart, else medium. An argument `user`, `owner`, `team` or `company` counts only with such a promise: what users write into a chat is read by others.\n\n" +
		"**False positive when** the argument says who writes, or asks, and not whose the data is.",
}

var (
	// promisedApart says that what belongs to one is no other's.
	promisedApart = lazyregexp.New(`(?i)\b(?:only|never|no|not|isolat\w+|separat\w+|private|apart|own)\b[^.]{0,90}\b` + tenants + `|\b` + tenants + `[^.]{0,90}\b(?:only|never|isolat\w+|separat\w+|private|apart|own)\b`)
	// sharesByNature are arguments that may say who writes instead.
	sharesByNature = lazyregexp.New(`(?i)^(?:user|owner|team|company|client)`)
)

const tenants = `(?:tenants?|customers?|accounts?|organi[sz]ations?|clients?|namespaces?|compan(?:y|ies)|teams?|users?|owners?|else's|somebody|anyone)\b`

func checkCM314(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, h := range r.hits(session.OracleTenant) {
		tool := r.toolOf(h.Call)
		promised := r.promises(promisedApart, serverOr(tool)) || r.keepsApart(argument(h.At), tool)
		if !promised && sharesByNature.MatchString(argument(h.At)) {
			continue
		}
		f := r.proven(&cm314Doc, h, "a call that named another in "+r.quoted(h)+" got, or changed, what was stored for one")
		if !promised {
			f.Severity = finding.Medium
		}
		out = append(out, f)
	}
	return first(out)
}

// keepsApart reports whether a declaration promises to keep apart what an argument names.
func (r *Run) keepsApart(argument, tool string) bool {
	apart := text.KeptApart(argument)
	return apart != nil && r.sentenceOf(serverOr(tool), func(s *sentence) bool { return apart.MatchString(s.text) }) != ""
}
