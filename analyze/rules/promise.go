package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// serverOr selects the texts of the server and of one tool.
func serverOr(tool string) func(detect.Owner) bool {
	return func(o detect.Owner) bool { return o.Name == "" || o.Name == tool }
}

// promises reports whether a sentence of some owners makes a promise.
func (r *Run) promises(what *lazyregexp.Regexp, of func(detect.Owner) bool) bool {
	return r.sentenceOf(of, func(s *sentence) bool { return what.MatchString(s.text) }) != ""
}

// sentenceOf is the first sentence of some owners that says something, "" for none.
func (r *Run) sentenceOf(of func(detect.Owner) bool, says func(*sentence) bool) string {
	list := r.sentences()
	if i := slices.IndexFunc(list, func(s sentence) bool { return of(s.owner) && says(&s) }); i >= 0 {
		return list[i].text
	}
	return ""
}

// once is what look finds of a tool's sentences, which is looked for once.
func (r *Run) once(what, tool string, look func() string) string {
	m, key := r.remembered(), promised{what, tool}
	found, known := m.promised[key]
	if !known {
		found = look()
		if m.promised == nil {
			m.promised = map[promised]string{}
		}
		m.promised[key] = found
	}
	return found
}

// The verbs of promises: keptVerbs say what is not done to a text, and keepsVerbs the same as a tool does it.
// What stands before one of them in a list is in others and does.
const (
	keptVerbs  = `(?:stored|saved|logged|kept|written|recorded|persisted|retained|cached|remembered|archived)\b`
	others     = `(?:[\w-]+(?:, (?:or |nor )?| or | nor )(?:be )?){0,4}`
	keepsVerbs = `(?:stores?|saves?|logs?|keeps?|records?|persists?|retains?|caches?|remembers?|writes? (?:anything|it|to (?:the )?disk|(?:any )?files?))\b`
)

var (
	// storesNothing are promises that what is given is not kept.
	storesNothing = lazyregexp.New(`(?i)\b(?:nothing|none of (?:it|this|that|them))(?: [\w-]+){0,3}? (?:is|gets|are|will be)(?: ever)? ` + others + keptVerbs +
		`|\b(?:not|never|neither|isn't|aren't|won't)(?: be)?(?: ever)? ` + others + keptVerbs +
		`|\b(?:stores?|saves?|logs?|keeps?|writes?|records?|persists?|retains?|caches?|remembers?) nothing\b|\b(?:does not|doesn't|do not|don't|will not|won't|never) (?:ever )?` + others + keepsVerbs +
		`|\bwithout (?:storing|saving|logging|keeping|writing|recording|caching)|\b(?:keeps?|writes?|stores?|makes?) no (?:[\w-]+ )?(?:logs?|history|record|records|copy|copies|files?)\b|\bno (?:logs?|history|records?|copy|copies) (?:of \w+ )?(?:is|are) ` + keptVerbs +
		`|\b(?:in memory|in-memory) only\b|\bonly (?:ever )?in memory\b` +
		`|\b(?:stored|saved|logged|kept|written|recorded) nowhere\b|\bno files? (?:is|are) (?:ever )?(?:(?:read|opened|touched) (?:or|and) )?(?:written|made|created|stored|kept|left)\b` +
		`|\b(?:nothing|never) (?:touches|reaches|goes to|gets to) (?:the )?disk|\bleaves? no (?:trace|files?|copy)`)
	// deniesKeeping is a word by which a passive is a promise.
	deniesKeeping = lazyregexp.New(`(?i)\b(?:not|never|neither|nor|nothing|none|no|nowhere|without|only)\b|n't\b`)
	// qualified are words by which a promise speaks of another time, place or case.
	qualified = lazyregexp.New(`(?i)\b(?:until|unless|automatically|by default|except|longer than|after|outside|beyond|other than|but|twice|yet|if|again|same|already|unchanged|identical|also|separately)\b`)
	// otherThings are what a promise speaks of that is not what a call is given, and anything what it may be.
	otherThings = lazyregexp.New(`(?i)\b(?:credentials?|passwords?|passphrases?|tokens?|keys?|secrets?|cookies?|sessions?|results?|settings?|duplicates?|originals?|images?|metadata|defaults?|comments?|order|formatting|time ?zones?|log in)\b(?: (?:data|values?|contents?|files?|texts?))?`)
	anything    = lazyregexp.New(`(?i)\b(?:nothing|anything|text|texts|inputs?|it|what you|notes?|messages?|documents?|contents?|data|queries|query|arguments?|files?)\b`)
	// inMemory is a promise that speaks of where things are kept.
	inMemory = lazyregexp.New(`(?i)\b(?:disks?|in memory|in-memory)\b`)
	// keepsIt is a declaration that a tool keeps something.
	keepsIt = lazyregexp.New(`(?i)\b(?:saves?|stores?|persists?|appends?|writes?|exports?|remembers?|records?|logs?|keeps?|caches?|cached|saved|stored|kept)\b`)
)

// promiseToKeepNothing is the sentence by which a tool, or the server, promises that what it is given is not
// kept, "" for none. A tool that declares to keep something breaks none.
func (r *Run) promiseToKeepNothing(tool string) string {
	return r.once("keeps nothing", tool, func() string { return r.findPromiseToKeepNothing(tool) })
}

func (r *Run) findPromiseToKeepNothing(tool string) string {
	keeps, ofDisk, promise := false, false, ""
	for _, s := range r.sentences() {
		switch {
		case !serverOr(tool)(s.owner):
		case promisesNothingKept(s.text):
			if s.owner.Kind == detect.OwnerTool || promise == "" {
				promise = strings.TrimSpace(s.text)
			}
			ofDisk = ofDisk || s.owner.Kind == detect.OwnerTool && inMemory.MatchString(s.text)
		case s.owner.Name == tool && !s.denies && keepsIt.MatchString(strings.ReplaceAll(s.text, "_", " ")):
			keeps = true
		}
	}
	if keeps && !ofDisk { // what is kept in memory is kept as well
		return ""
	}
	return promise
}

// promisesNothingKept reports whether a clause of a sentence promises that what is given is not kept.
func promisesNothingKept(text string) bool {
	return slices.ContainsFunc(clauseEnd.Split(text, -1), func(clause string) bool {
		return storesNothing.MatchString(clause) && deniesKeeping.MatchString(clause) && !qualified.MatchString(clause) &&
			(!otherThings.MatchString(clause) || anything.MatchString(otherThings.ReplaceAllString(clause, "")) && !otherThings.MatchString(subjectOf(clause)))
	})
}

// subjectOf is what stands in a clause before its denial: what it speaks of.
func subjectOf(clause string) string {
	at := deniesKeeping.FindStringIndex(clause)
	return clause[:at[0]]
}

// clauseEnd ends a clause that has a subject of its own.
var clauseEnd = lazyregexp.New(`[;:]|, (?:and|but) |\(`)
