package rules

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm225 = Rule{Rule: cm225Doc, Check: checkCM225, Shrink: ShrinkNever}

var cm225Doc = finding.Rule{
	ID: "CM225", Name: "Predictable", Title: "Random value that can be predicted", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Whoever has the same server gets the same password, PIN or token.", Fix: "Draw the value from the system's secure source (secrets, crypto.randomBytes, crypto/rand) in each call, and seed nothing.", Preview: true},
	CWE:    []string{"CWE-330", "CWE-338"}, OWASP: []string{"MCP02"},
	Help: "A tool declares to make a random or a secure value, and gave the same one for the same arguments: in each of two calls of a run, or in the same call of each start. " +
		"High where it promises a password, a PIN, a passphrase or another secret, or that the value is secure; medium for another random value.\n\n" +
		"**Evidence.** The calls and their answers. Equal values count where chance explains them in less than one of a hundred thousand runs.\n\n" +
		"Quiet are tools that take a seed, a name, a text or a number to count with, unless they promise another value each time, and tools that declare to derive the value, calls that asked the network, errors, and single words without a digit that are the same whatever the arguments are.\n\n" +
		"**False positive when** the declaration says in words that the lexicon does not know that the value follows from something else.",
}

var (
	// makesValue are sentences that say that something is made or drawn.
	makesValue = lazyregexp.New(`(?i)\b(?:generat\w+|mak(?:es?|ing)|creat(?:es?|ing)|draws?|drawn|mints?|produc(?:es?|ing)|picks?|rolls?|random\w*)\b`)
	// secretValue are values that nobody else may know, whether or not that is said.
	secretValue = lazyregexp.New(`(?i)\b(?:passwords?|passphrases?|passcodes?|(?-i:PINs?)|pin codes?|(?:api|secret|encryption|signing|recovery) (?:keys?|codes?)|secrets|nonces?|one-time codes?|otps?)\b`)
	// promisesSecure are promises that nobody can guess a value, and promisesRandom that chance alone decides.
	promisesSecure = lazyregexp.New(`(?i)\b(?:cryptographic\w*(?: secure(?:ly)?)?|secure(?:ly)?[ -]random\w*|secure (?:source|password|passphrase|pin|token|key|value|string|id\w*)s?|unpredictable|unguessable|(?:nobody|no one|cannot|can't|can not|impossible to|hard to) (?:can |be )?(?:predict|guess)\w*|csprng)\b`)
	// promisesNew are promises that the value is another one each time, whatever the tool is given.
	promisesNew    = lazyregexp.New(`(?i)\b(?:(?:different|another|new|fresh|unique)(?: one| value)? (?:each|every|at each|on every|for each|for every) (?:time|call|request)|never the same|never repeats?|(?:the )?(?:cryptographic |secure )?random(?: number)? (?:generator|source) of the (?:system|machine|kernel|operating system))\b`)
	promisesRandom = lazyregexp.New(`(?i)\brandom(?:ly|ized)?\b`)
	// followsFrom are declarations by which a value is the same for the same input.
	followsFrom = lazyregexp.New(`(?i)\b(?:deterministic\w*|reproducib\w*|repeatab\w*|seed(?:ed|s)?|deriv(?:e[sd]?|ing|ation)|hash(?:es|ed)?|checksum|same (?:input|arguments?|value|result|date|day)|of the day|daily|per day|stateless|placeholder|example|sample|demo|mock|fake|pseudo-?random|lorem)\b`)
)

// inputWords are the words of parameters from which a value may follow, and measureWords those that
// make a number of one: key_length.
var (
	inputWords   = strings.Fields("seed salt namespace name master secret key passphrase password input text data message content phrase string value url hash counter index nonce state date time day id email number offset round iteration step from")
	measureWords = strings.Fields("length size count bits bytes digits words chars characters amount min max type kind format")
)

const (
	// leastBits is how unlikely it is that chance made the values alike, in bits of entropy.
	leastBits = 17
	// leastValue is the length of a value, and leastKinds how many different characters it has.
	leastValue, leastKinds = 4, 3
)

func checkCM225(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Surface.Tools {
		t := &r.Surface.Tools[i]
		severity, promise := r.promisesChance(t.Name)
		if severity == "" || takesInput(t.InputSchema) && !r.promises(promisesNew, toolNamed(t.Name)) {
			continue
		}
		drawn := r.drawnBy(t.Name)
		shown, how := alikeWithin(drawn), "two calls with the same arguments"
		if shown == nil {
			shown, how = r.alikeAcross(t.Name, drawn), "the same call of several starts"
		}
		if shown == nil {
			continue
		}
		f := finding.Finding{Rule: cm225Doc.ID, Severity: severity, Title: cm225Doc.Title, Tool: t.Name, Call: shown[len(shown)-1].call, Phase: finding.PhaseCall,
			Confidence: finding.Certain, Fingerprint: finding.Fingerprint(cm225Doc.ID, t.Name),
			Message: "“" + t.Name + "” promises a value by chance (“" + quote(promise) + "”) and gave the same one in " + how}
		for _, d := range shown {
			f.Evidence = append(f.Evidence, finding.Evidence{Source: "frame", Text: fmt.Sprintf("call %d answered “%s”", d.call, quote(d.text))})
		}
		out = append(out, f)
	}
	return out
}

// quote is the beginning of what a server said, in one line.
func quote(text string) string { return beginning(strings.Join(strings.Fields(text), " "), 100) }

// promisesChance says how grave it is that a tool's values can be predicted, "" where it promises nothing
// of the sort, and the sentence that promises otherwise.
func (r *Run) promisesChance(tool string) (severity finding.Severity, promise string) {
	for _, s := range r.sentences() {
		if s.owner.Kind != detect.OwnerTool || s.owner.Name != tool || s.place != "description" && s.place != "title" && s.place != "annotations.title" {
			continue
		}
		switch {
		case followsFrom.MatchString(s.text):
			return "", ""
		case promisesSecure.MatchString(s.text), makesValue.MatchString(s.text) && secretValue.MatchString(s.text):
			if severity != finding.High {
				severity, promise = finding.High, s.text
			}
		case severity == "" && promisesRandom.MatchString(s.text):
			severity, promise = finding.Medium, s.text
		}
	}
	return severity, promise
}

var wordEnd = lazyregexp.New(`[^A-Za-z]+|([a-z])([A-Z])`)

// takesInput reports whether a tool has a parameter from which its values may follow.
func takesInput(schema json.RawMessage) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return true
	}
	for name := range s.Properties {
		words := strings.Fields(strings.ToLower(wordEnd.ReplaceAllString(name, "$1 $2")))
		if len(words) > 0 && slices.Contains(measureWords, words[len(words)-1]) {
			continue
		}
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(inputWords, w) }) {
			return true
		}
	}
	return false
}

// draw is a call, its arguments in one form, and what it answered.
type draw struct {
	call       int
	args, text string
	answer     profile.Answer
	bits       float64
}

// drawnBy are the calls of a tool whose answers hold a value, but those that asked the network.
func (r *Run) drawnBy(tool string) []draw {
	var out []draw
	for i := range r.Profile.Calls {
		c := &r.Profile.Calls[i]
		answer := r.Profile.Answers[c.N]
		if c.Tool != tool || c.What != "tool" || c.Outcome != session.OutcomeOK || len(c.Oracles) > 0 || answer.Failed || answer.Text == "" {
			continue
		}
		if len(r.Profile.Asked[c.N]) > 0 || slices.ContainsFunc(r.Profile.Effects, func(e finding.Effect) bool { return e.Kind == finding.NetConnect && e.Call == c.N }) {
			return nil // what a host answers is the same in each run of coalmine's
		}
		var args any
		if json.Unmarshal(r.Args[c.N], &args) != nil {
			continue
		}
		form, err := json.Marshal(args)
		if err == nil {
			out = append(out, draw{call: c.N, args: string(form), text: answer.Text, answer: answer})
		}
	}
	varies := slices.ContainsFunc(out, func(d draw) bool { return d.text != out[0].text })
	for i := range out {
		out[i].bits = entropy(out[i].text, varies)
	}
	return out
}

// alikeWithin are two calls with the same arguments and value, where all such calls have the same, and
// chance does not explain that; else nil.
func alikeWithin(drawn []draw) []draw {
	first := map[string]draw{}
	var shown []draw
	bits, best := 0.0, 0.0
	for _, d := range drawn {
		before, known := first[d.args]
		switch {
		case !known:
			first[d.args] = d
		case before.text != d.text:
			return nil
		default:
			bits += d.bits
			if d.bits > best {
				best, shown = d.bits, []draw{before, d}
			}
		}
	}
	if bits < leastBits {
		return nil
	}
	return shown
}

// alikeAcross are calls that had the same values in each other start that made the same calls, where
// chance does not explain that; else nil. Another start may make fewer calls.
func (r *Run) alikeAcross(tool string, drawn []draw) []draw {
	var starts []map[string][]profile.Answer // by the arguments, in the order of the calls
	for _, in := range r.Controls {
		answers := map[string][]profile.Answer{}
		for _, d := range in.drawnBy(tool) {
			answers[d.args] = append(answers[d.args], d.answer)
		}
		starts = append(starts, answers)
	}
	var shown []draw
	bits, before := 0.0, map[string]int{}
	for _, d := range drawn {
		n, made := before[d.args], len(starts) > 0
		before[d.args]++
		for _, s := range starts {
			if n >= len(s[d.args]) {
				made = false
			} else if s[d.args][n] != d.answer {
				return nil
			}
		}
		if made {
			bits, shown = bits+d.bits, append(shown, d)
		}
	}
	if bits < leastBits {
		return nil
	}
	return shown[:min(len(shown), 3)]
}

var (
	// valueText are what may be a value within a text, and noValue what is something else: versions, dates,
	// times, addresses, paths and numbers with a unit.
	valueText  = lazyregexp.New(`[A-Za-z0-9+/=_~!@#$%^&*?|.:-]{4,}`)
	noValue    = lazyregexp.New(`^(?:v?\d+(?:\.\d+)+[.,]?|\d{4}-\d\d(?:-\d\d)?.*|\d\d?:\d\d.*|[a-z]+://.*|/.*|\d+-\d+[.,]?|\d+(?:ms|kb|mb|px|bits?|bytes?|chars?)[.,]?)$`)
	hasDigit   = lazyregexp.New(`[0-9]`)
	passphrase = lazyregexp.New(`^[a-z]{3,12}(?:[ ._-][a-z]{3,12}){2,}[.]?$`)
)

// entropy is what the longest value in a text tells in bits, 0 for no value. A text that is words alone
// holds one where answers of the tool differ.
func entropy(text string, varies bool) float64 {
	const perWord = 4
	text = strings.TrimSpace(text)
	if varies && passphrase.MatchString(text) {
		return perWord * float64(1+strings.Count(text, "-")+strings.Count(text, " "))
	}
	best := 0.0
	for _, v := range valueText.FindAllString(text, 16) {
		alone := v == text && varies
		if !hasDigit.MatchString(v) && !alone && strings.Count(v, "-") < 2 || noValue.MatchString(strings.ToLower(v)) {
			continue
		}
		best = max(best, bitsOf(strings.TrimRight(v, ".:?!")))
	}
	return best
}

// bitsOf is the entropy of a value whose characters are drawn from the kinds that it has.
func bitsOf(v string) float64 {
	kinds := map[rune]bool{}
	size := 0
	for _, c := range v {
		kinds[c] = true
	}
	for _, k := range []struct {
		in   string
		size int
	}{{"0123456789", 10}, {"abcdefghijklmnopqrstuvwxyz", 26}, {"ABCDEFGHIJKLMNOPQRSTUVWXYZ", 26}, {"+/=_~!@#$%^&*?|.:-", 10}} {
		if strings.ContainsAny(v, k.in) {
			size += k.size
		}
	}
	if len(v) < leastValue || len(kinds) < leastKinds {
		return 0
	}
	return float64(len(v)) * math.Log2(float64(size))
}
