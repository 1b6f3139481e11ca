package rules

import (
	"slices"
	"strings"
	"sync"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// Proof is a guarantee that the built-in servers of coalmine doctor --prove try.
type Proof string

// The proofs.
const (
	ProofRead Proof = "a decoy that is read is reported"
	ProofSent Proof = "a decoy that is sent is reported"
)

// Rule is a rule's documentation and its check, and all else that other packages
// have to know of this rule alone. No other package names a rule: it looks one up
// and asks for the member.
type Rule struct {
	finding.Rule
	// Check returns what the rule observes in a run; it must not change the run. It
	// is nil for a rule that no run of coalmine's own can show: one that judges the
	// client, or that compares the logs of several servers.
	Check func(*Run) []finding.Finding
	// Default says that the rule tells what no other rule tells: it runs after them.
	Default bool
	// Judges is whose conduct the rule's findings are about.
	Judges Party
	// Shrink says how the calls that show a finding are made fewer and smaller.
	Shrink Shrink
	// NeedsControl says that a finding means nothing without the control: the call of
	// a tool that no server has (session.OracleControl). It goes before the finding's own call.
	NeedsControl bool
	// Ended says that the rule's findings are about a server that ended by itself.
	Ended bool
	// Proof is what a finding of the rule proves in coalmine doctor --prove, "" for nothing.
	Proof Proof
	// Observations are the annotations of the wire's detectors that are cases of the
	// rule, by their subcategories. A trailing "*" stands for any rest.
	Observations []string
	// Annotated makes findings of one such annotation, each with one piece of evidence.
	// It is nil where an annotation is one finding.
	Annotated func(*detect.Annotation) []finding.Finding
	// FingerprintVersion is that of the way in which the rule makes fingerprints; 0 is
	// 1. It goes up by one when that way changes, and the findings then have the
	// fingerprints of the version before as finding.Finding.PreviousFingerprints.
	FingerprintVersion int
}

// Party is one whose conduct a rule judges.
type Party int

// The parties. The zero value is Server.
const (
	// Server is the server that is run, or whose log is read.
	Server Party = iota
	// Build is the build of the server's package.
	Build
	// Client is whoever called the server. In a run that is coalmine itself.
	Client
	// Gate is coalmine's gate between a client and a server.
	Gate
	// Change is the change under review.
	Change
	// Analysis is the analysis itself, which could not tell everything.
	Analysis
)

// Shrink says how the calls that show a rule's finding are made fewer and smaller.
type Shrink int

// The ways of shrinking. The zero value is ShrinkLive.
const (
	// ShrinkLive tries calls one after another in one running sandbox. What does not
	// show there is tried in fresh ones.
	ShrinkLive Shrink = iota
	// ShrinkFresh tries each sequence of calls in a fresh sandbox: a running server
	// that has ended, hangs or has changed what it lists shows that only once.
	ShrinkFresh
	// ShrinkNever leaves the finding as it is: it lies in what several runs differ in,
	// and no single run shows it.
	ShrinkNever
)

// table holds the rules by what they are looked up by.
type table struct {
	byID         map[string]Rule
	observations map[string]Rule
	// prefixes are of the observations with a "*", longest first.
	prefixes []string
}

var lookUp = sync.OnceValue(func() *table {
	t := &table{byID: map[string]Rule{}, observations: map[string]Rule{}}
	for _, r := range All() {
		t.byID[r.ID] = r
		for _, name := range r.Observations {
			t.observations[name] = r
			if prefix, ok := strings.CutSuffix(name, "*"); ok {
				t.prefixes = append(t.prefixes, prefix)
			}
		}
	}
	slices.SortFunc(t.prefixes, func(a, b string) int { return len(b) - len(a) })
	return t
})

// Of returns the rule of an ID. ok is false for an ID that is not in All, such as
// a rule of the static audit; what is returned then is the zero Rule.
func Of(id string) (r Rule, ok bool) {
	r, ok = lookUp().byID[id]
	return r, ok
}

// OfObservation returns the rule that an annotation's subcategory is a case of.
func OfObservation(subcategory string) (r Rule, ok bool) {
	t := lookUp()
	if r, ok = t.observations[subcategory]; ok {
		return r, true
	}
	for _, p := range t.prefixes {
		if strings.HasPrefix(subcategory, p) {
			return t.observations[p+"*"], true
		}
	}
	return Rule{}, false
}
