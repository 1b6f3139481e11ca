package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm318 = Rule{Rule: cm318Doc, Check: checkCM318}

var cm318Doc = finding.Rule{
	ID: "CM318", Name: "SignatureNotVerified", Title: "Improper verification of a signature", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever makes a token without the key is let in as whoever the token names.", Fix: "Compare the whole signature, in constant time (hmac.compare_digest, crypto.timingSafeEqual), and take the algorithm from the configuration and not from the token.", Preview: true},
	CWE:    []string{"CWE-347"}, OWASP: []string{"MCP07"},
	Help: "A tool that verifies signatures gave an altered, shortened or missing signature, or the algorithm `none`, the same answer as the signed text, and another answer to a text without any signature.\n\n" +
		"**Evidence.** The answer. Answers are compared by their truth values, or else by their words without numbers.\n\n" +
		"An answer that refuses the signed text itself proves nothing. **False positive when** the tool declares to read the token and not to verify it.",
}

// Verified is an answer to a signed text, or to what was given in its place: its Text says which.
type Verified struct {
	Fact
	// At is the JSON pointer of the argument, and Answer what the answer says, "" for a refusal.
	At, Answer string
}

// claimsToVerify are words by which a declaration speaks of signatures, and of checking them.
var claimsToVerify = lazyregexp.New(`(?i)\b(?:verif\w+|signatures?|signed|authentic\w*|tamper\w*|forge\w*|h?mac)\b`)

// deniesToVerify is how a tool says that it does not check a signature.
var deniesToVerify = lazyregexp.New(`(?i)\b(?:not|never|without)\b(?: [\w-]+){0,3}? (?:verif|check|validat)\w+`)

// verifies reports whether a tool, or the server, speaks of signatures, and the tool does not say that it leaves them unchecked.
func (r *Run) verifies(tool string) bool {
	return r.promises(claimsToVerify, serverOr(tool)) && !r.promises(deniesToVerify, func(o detect.Owner) bool { return o.Name == tool })
}

var (
	// saysTrue and saysTruth tell an answer of truth values that accepts a text from any other such.
	saysTrue  = lazyregexp.New(`(?im)^(?:\w*_)?(?:is_?)?(?:valid|verified|ok|authentic|match|matches|trusted|accepted|success|genuine)\w* is true$`)
	saysTruth = lazyregexp.New(`(?m)^\w+ is (?:true|false)$`)
	// refuses are words of an answer that does not accept it.
	refuses = lazyregexp.New(`(?i)\b(?:invalid|not|no|fail\w*|mismatch\w*|wrong|reject\w*|denied|expired|unknown|bad|errors?|untrusted|forged|tampered|malformed)\b|n't\b`)
)

// accepts reports whether an answer takes a text for signed.
func accepts(answer string) bool {
	if saysTruth.MatchString(answer) {
		return saysTrue.MatchString(answer)
	}
	return answer != "" && !refuses.MatchString(answer)
}

func checkCM318(r *Run) []finding.Finding {
	var out []finding.Finding
	var contexts []string
	var genuine, none Verified
	for _, v := range r.Wire.Verified {
		switch v.Text {
		case session.SignatureGenuine:
			genuine, none = v, Verified{}
			continue
		case session.SignatureNone:
			none = v
			continue
		}
		ofOne := v.Tool == genuine.Tool && v.At == genuine.At
		if !ofOne || !accepts(genuine.Answer) || v.Answer != genuine.Answer || v.Answer == none.Answer || !r.verifies(v.Tool) {
			continue
		}
		fact := v.Fact
		fact.Text = "the answer to the signed text and to this one: “" + text.Printable(v.Answer, 100) + "”"
		out = append(out, finding.Finding{
			Rule: cm318Doc.ID, Severity: cm318Doc.Severity, Title: cm318Doc.Title, Confidence: finding.Certain, Tool: v.Tool, Call: v.Call, Phase: finding.PhaseCall,
			Message:  "“" + text.Printable(v.Tool, 80) + "” took for signed what is not, in argument “" + nested(v.At) + "”: " + v.Text,
			Evidence: facts([]Fact{fact}), Fingerprint: finding.Fingerprint(cm318Doc.ID, v.Tool, v.At),
		})
		contexts = append(contexts, v.Text)
	}
	return aboutOne(out, contexts)
}
