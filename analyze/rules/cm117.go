package rules

import (
	"slices"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

var cm117 = Rule{Rule: cm117Doc, Check: checkCM117, Shrink: ShrinkNever}

var cm117Doc = finding.Rule{
	ID: "CM117", Name: "DataRelayed", Title: "Data sent against a promise", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "Who relied on the promise gave the server data that now is with a third party.", Fix: "Send only what the description names, or change the description.", Preview: true},
	CWE:    []string{"CWE-200", "CWE-359"}, OWASP: []string{"MCP01", "MCP10"},
	Help: "A call sent to a host a text that this call was not given: an argument of another tool or of a prompt, the client's answer to a request of the server's, a document of the user's, or the name of the user. So did the server outside of calls. " +
		"It is a finding where a declaration promises otherwise: the tool or the prompt that was given the text says that it stays on the machine, or the tool that sent it says what alone is sent.\n\n" +
		"**Evidence.** The flow. coalmine looks for the text as it is, in hexadecimal digits, in base 32 and in base 64, and decodes and unpacks what looks random. A text that a tool with a declared network was given as well counts for the promise of the machine alone.\n\n" +
		"**False positive when** a user agreed to the transfer in another way, such as a setting.",
}

var (
	// staysHere are promises that what is given does not leave the machine.
	staysHere = lazyregexp.New(`(?i)\b(?:stays?|remains?|(?:is |are )?(?:kept|held|processed|handled|filled in)) (?:only )?(?:on|in|within|at) (?:this|your|the|its) (?:own )?(?:local )?(?:machine|computer|device|host|system|process|memory|session)\b` +
		`|\b(?:never|not) (?:leaves?|sent|uploaded|transmitted|shared|stored remotely)\b|\bn[o']t leave\b|\bsent nowhere\b|\bnothing (?:is|gets) (?:sent|uploaded|transmitted|shared)\b|\bnothing leaves\b`)
	// onlySent are promises of what alone is sent.
	onlySent = lazyregexp.New(`(?i)\bonly (?:the |a |an |your |its )?(?:[\w-]+ ){1,6}?(?:is|are|gets?) (?:ever )?(?:sent|transmitted|shared|uploaded|passed on)\b` +
		`|\b(?:sends?|transmits?|shares?|uploads?|passes) (?:on )?(?:the |a |an |its |your )?(?:[\w-]+ ){1,6}only\b` +
		`|\b(?:sends?|transmits?|shares?|uploads?) (?:on )?(?:only|nothing (?:but|except|else|other))\b` +
		`|\bnothing (?:but|except|other than|beyond)\b.{1,80}\b(?:sent|leaves|transmitted|shared|uploaded)\b` +
		`|\b(?:nothing else|no other (?:data|information|text|detail)s?) (?:is |are |gets? )?(?:ever )?(?:sent|transmitted|shared|uploaded|leaves)\b`)
)

func checkCM117(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Profile.Relayed {
		c := &r.Profile.Relayed[i]
		promise := r.brokenBy(c)
		if promise == "" {
			continue
		}
		what := r.sourceText(c.Sources[0])
		who := "“" + c.Tool + "”"
		if c.Call == 0 {
			who = "the server (outside any call)"
		}
		out = append(out, r.sentInCall(&cm117Doc, &c.Carried, c.Tool, who+" sent "+what+" to "+c.Peer+" over "+c.Via+", although "+promise, what))
	}
	return first(out)
}

// sourceText names a text by its source.
func (r *Run) sourceText(s profile.Source) string {
	switch s.Kind {
	case profile.SourceTool:
		return "an argument of “" + s.Name + "”"
	case profile.SourcePrompt:
		return "an argument of the prompt “" + s.Name + "”"
	case profile.SourceClient:
		return "the client's answer to a request"
	case profile.SourceDocument:
		return "the contents of " + r.stable(s.Name)
	}
	return "the user's name"
}

// brokenBy says which promise it breaks that a peer was sent a text, "" for none.
func (r *Run) brokenBy(c *profile.Relayed) string {
	// What stands in a declaration the server has from itself.
	if c.Loopback || c.Via == "dns" || r.givenHost(c.Host) || r.namesHost(c.Word) {
		return ""
	}
	if !slices.ContainsFunc(c.Sources, func(s profile.Source) bool { return !r.keepsHere(s) || r.lookedUpBy(c.Tool, s) }) {
		return "“" + c.Sources[0].Name + "” declares that it stays on the machine"
	}
	passes := slices.ContainsFunc(c.Sources, func(s profile.Source) bool {
		if s.Kind != profile.SourceTool {
			return false
		}
		t := r.Scope.Tool(s.Name)
		return s.Name == c.Tool || c.Call == 0 || scope.AnyShown(t.Network) || len(t.URLs) > 0
	})
	if !passes && r.promises(onlySent, serverOr(c.Tool)) {
		return "the declaration says what alone is sent"
	}
	return ""
}

// lookedUpBy reports whether a tool that declares a network says by name that it works on what another one was given,
// which promises a closed world (openWorldHint=false) and no more: what is registered here is looked up there.
func (r *Run) lookedUpBy(tool string, s profile.Source) bool {
	t, source := r.Scope.Tool(tool), r.Scope.Tool(s.Name)
	if s.Kind != profile.SourceTool || t.ClaimsLocal() || r.promises(staysHere, toolNamed(s.Name)) || slices.ContainsFunc(source.Local, func(c scope.Claim) bool { return c.Where != "annotation" }) {
		return false
	}
	return slices.ContainsFunc(r.Surface.Tools, func(d wire.Tool) bool {
		return d.Name == tool && slices.Contains(strings.FieldsFunc(d.Description, func(c rune) bool { return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }), s.Name)
	})
}

// keepsHere reports whether a tool or a prompt declares that what it is given stays on the machine.
func (r *Run) keepsHere(s profile.Source) bool {
	switch s.Kind {
	case profile.SourceTool:
		t := r.Scope.Tool(s.Name)
		return t.ClaimsLocal() || len(t.URLs) == 0 && r.promises(staysHere, toolNamed(s.Name))
	case profile.SourcePrompt:
		return r.promises(staysHere, func(o detect.Owner) bool { return o.Kind == detect.OwnerPrompt && o.Name == s.Name })
	}
	return false
}

// toolNamed picks what a tool declares.
func toolNamed(name string) func(detect.Owner) bool {
	return func(o detect.Owner) bool { return o.Kind == detect.OwnerTool && o.Name == name }
}
