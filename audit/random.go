package audit

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// WeakRandom is the rule for a secret that is drawn from a generator whose next value can be told.
const WeakRandom = "weak-random"

var (
	// makesSecret are names of tools that make a value which nobody may guess.
	makesSecret = lazyregexp.New(`(?i)^(?:.*[_-])?(?:generate|make|new|create|random|issue|draw|mint)s?[_-]?(?:[a-z]+[_-]?)*?(?:password|passphrase|passcode|passwd|pin|token|(?:api|access|auth|session|secret|encryption)[_-]?key|secret|otp|nonce|salt|recovery[_-]?codes?)s?$`)
	// weakGenerators are functions that draw from such a generator, and strongGenerators from one that is made for secrets.
	weakGenerators = lazyregexp.New(`^(?:random\.(?:random|randint|randrange|choices?|sample|shuffle|getrandbits|uniform|randbytes|Random)|random\.Random\(\)\.\w+|numpy\.random\.\w+|Math\.random|math/rand(?:/v2)?\.\w+)$`)
	// waiting are functions that wait or ask a host: what is drawn beside them spreads attempts over time.
	waiting          = lazyregexp.New(`(?:^|\.)(?:sleep|setTimeout|delay|wait|fetch|urlopen)$`)
	strongGenerators = lazyregexp.New(`^(?:secrets\.\w+|random\.SystemRandom.*|os\.urandom|uuid\.uuid4|(?:node:)?crypto\.(?:random\w+|getRandomValues|webcrypto\.getRandomValues)|crypto/rand\.\w+)$`)
)

// maxDrawing bounds the functions of one tool that are looked at.
const maxDrawing = 200

// weakRandom reports tools that make a secret and draw it from a weak generator.
func (a *auditor) weakRandom(pkg *sinks.Package, at *places) {
	var calls map[string][]string
	for _, h := range pkg.Handlers() {
		if h.Kind != "tool" || !makesSecret.MatchString(h.Name) {
			continue
		}
		if calls == nil {
			calls = map[string][]string{}
			for _, f := range pkg.Functions() {
				calls[f.ID()] = f.Calls
			}
		}
		weak, isStrong := drawn(pkg, ledTo(h.Functions, calls))
		if weak == nil {
			continue
		}
		severity := finding.High
		if isStrong {
			severity = finding.Low // it draws some of it elsewhere
		}
		a.addAt(WeakRandom, severity, weak.file, at, weak.Call.Start, shown(h.Name)+" draws its value from "+shown(weak.name), h.Name)
	}
}

// ledTo are functions, and what they may call.
func ledTo(from []string, calls map[string][]string) []string {
	var out []string
	seen := map[string]bool{}
	for queue := from; len(queue) > 0 && len(out) < maxDrawing; queue = queue[1:] {
		if id := queue[0]; !seen[id] {
			seen[id] = true
			out = append(out, id)
			queue = append(queue[:len(queue):len(queue)], calls[id]...)
		}
	}
	return out
}

// drawing is a call of a generator.
type drawing struct {
	lang.CallSite
	file, name string
}

// drawn is the first call of a weak generator in some functions, nil for none, and whether one draws from a strong one.
func drawn(pkg *sinks.Package, ids []string) (weak *drawing, isStrong bool) {
	for _, id := range ids {
		b, ok := pkg.Body(id)
		facts := (*lang.Facts)(nil)
		if ok {
			facts = pkg.Facts(b.File.Path)
		}
		if facts == nil {
			continue
		}
		first, waits := (*drawing)(nil), false
		for _, c := range facts.Calls {
			if c.Call.Start.Offset() < b.Function.Start.Offset() || c.Call.End.Offset() > b.Function.End.Offset() {
				continue
			}
			for _, name := range c.Names {
				name = strings.TrimPrefix(name, "globalThis.")
				isStrong = isStrong || strongGenerators.MatchString(name)
				waits = waits || waiting.MatchString(name)
				if first == nil && weakGenerators.MatchString(name) {
					first = &drawing{c, b.File.Path, name}
				}
			}
		}
		if weak == nil && !waits {
			weak = first
		}
	}
	return weak, isStrong
}
