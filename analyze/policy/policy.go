package policy

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/coalmine-dev/coalmine/analyze/policy/yamldoc"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Schema is the version that a file may name in its member "schema".
const Schema = "coalmine/policy/v1"

// FileName is how the file is called where nobody says otherwise.
const FileName = "coalmine.yaml"

// Policy is one coalmine.yaml. It is not changed after Parse, so it may be
// used from many goroutines.
type Policy struct {
	// File is the name under which it was read, for messages.
	File string
	// Source is the text that it was read from, nil for a policy that was made otherwise.
	Source []byte
	// Server holds for what happens outside calls, and adds to every tool's lists.
	Server Entry
	// Tools are the entries by tool name, as the server declares it.
	Tools map[string]Entry
	// Suppress are the findings that somebody answers for, in the file's order.
	Suppress []Suppression
	// AcceptOpaque are the hosts whose traffic need not be read.
	AcceptOpaque List
	// AcceptUnrun are functions that need not run in a probe.
	AcceptUnrun []Acceptance
	// AcceptGaps are reasons for doubt that somebody answers for.
	AcceptGaps []GapAcceptance
	// Environment are values that a probed server is given: dummies for the keys and
	// settings without which it does nothing. They are no leave for anything.
	Environment map[string]string
	// Services are real services that run beside a probed server, by name.
	Services List
	// Defaults are flags of coalmine probe, in the file's order. They are no leave for anything.
	Defaults []Default
	// Rules are the user's own rules and the files of such, in the file's order, nil
	// where none were given. The gate does not look at them.
	Rules []RuleEntry
}

// Default is a flag of coalmine probe with the values that it has where the command line and
// the environment give none.
type Default struct {
	Flag   string
	Values []string
	At     Position
}

// DefaultFlags are the flags that a policy may set: how much is tried, where, and how it is
// reported. Flags that show more of this machine, reach its network or run a program are the
// user's own word, and no file's.
var DefaultFlags = []string{"budget", "call-timeout", "calls", "fail-on", "format", "jobs", "no-tls-probes", "sandbox", "seed", "timeout", "tracer", "transport", "vary"}

// Entry is what the policy says of one tool, or of the server.
type Entry struct {
	Allow, Deny Lists
	// Arguments are expressions by parameter name: the whole value, as text, must match.
	Arguments map[string]Argument
	At        Position
}

// Lists are the four kinds of thing that can be allowed or denied. A nil list
// was not given and says nothing; an empty one was, and allows nothing.
type Lists struct {
	Files, Hosts, Commands, Env List
}

// List is the items of one list in the file's order.
type List []Item

// Item is one entry of a list; how it is compared, match.go says.
type Item struct {
	Text string
	At   Position
	// Note is written behind the item as a comment, and not read back.
	Note string
}

// Argument is an expression that a parameter's value must match as a whole.
type Argument struct {
	Expression string
	At         Position
	re         *regexp.Regexp
}

// Match reports whether the whole value matches.
func (a Argument) Match(value string) bool { return a.re.MatchString(value) }

// Suppression is a finding that somebody answers for until a day.
type Suppression struct {
	Fingerprint, Reason, Owner string
	// Expires is the first moment at which it no longer holds: the end of the day named, UTC.
	Expires time.Time
	At      Position
	// Note is written above the suppression as a comment, and not read back.
	Note string
}

// Acceptance is a function of the server's own code that somebody has read, and that need not
// run in a probe until a day.
type Acceptance struct {
	// Function is its place as reports have it: "src/server.py:Server.handle".
	Function, Reason string
	// Expires is the first moment at which it no longer holds: the end of the day named, UTC.
	Expires time.Time
	At      Position
}

// GapAcceptance is a reason for doubt that somebody answers for until a day.
type GapAcceptance struct {
	Code session.Code
	// Tool is what the gap is about, "" for the whole run.
	Tool, Reason string
	// Expires is the first moment at which it no longer holds: the end of the day named, UTC.
	Expires time.Time
	At      Position
	// Note is written above the acceptance as a comment, and not read back.
	Note string
	// Cause is that of the gap for which the acceptance is proposed.
	Cause session.Cause
}

// Until is the last day on which the acceptance holds.
func (a *GapAcceptance) Until() string { return day(a.Expires) }

// Position is a place in the file, counted from 1; the zero Position means no position.
type Position = yamldoc.Position

// Error is a fault at a place of the file.
type Error = yamldoc.Error

// RuleEntry is one entry of the list of the user's own rules: a file of rules, or a rule.
type RuleEntry struct {
	// File is a path below the policy's directory, "" for a rule.
	File string
	// Node is a rule as it stands in the policy, nil for a file. Package custom reads it.
	Node *yaml.Node
	At   Position
}

// RuleFiles are the files of rules that the policy names, relative to its directory.
func (p *Policy) RuleFiles() []Item {
	var out []Item
	for _, e := range p.Rules {
		if e.File != "" {
			out = append(out, Item{Text: e.File, At: e.At})
		}
	}
	return out
}

// Tool returns the entry of a tool, and whether the policy has one.
func (p *Policy) Tool(name string) (Entry, bool) {
	if p == nil {
		return Entry{}, false
	}
	e, ok := p.Tools[name]
	return e, ok
}

// AcceptsUnrun returns the first acceptance of a function that holds at the moment given.
func (p *Policy) AcceptsUnrun(function string, at time.Time) (Acceptance, bool) {
	if p == nil {
		return Acceptance{}, false
	}
	for _, a := range p.AcceptUnrun {
		if a.Function == function && at.Before(a.Expires) {
			return a, true
		}
	}
	return Acceptance{}, false
}

// AcceptsGap returns the first acceptance of a gap that holds at the moment given. Where
// only one that has expired speaks of it, expired is that one's last day.
func (p *Policy) AcceptsGap(g session.Gap, at time.Time) (a GapAcceptance, expired string, ok bool) {
	if p == nil || g.Code.Acceptable(g.Tool) != nil {
		return GapAcceptance{}, "", false
	}
	for _, a := range p.AcceptGaps {
		if a.Code != g.Code || a.Tool != g.Tool {
			continue
		}
		if at.Before(a.Expires) {
			return a, "", true
		}
		expired = a.Until()
	}
	return GapAcceptance{}, expired, false
}

// Expired returns an error for each suppression and acceptance that no longer holds at the moment given.
func (p *Policy) Expired(now time.Time) []error {
	var out []error
	for _, s := range p.Suppress {
		if !now.Before(s.Expires) {
			out = append(out, &Error{File: p.File, At: s.At, What: fmt.Sprintf("the suppression of %s expired on %s", short(s.Fingerprint), s.day())})
		}
	}
	for _, a := range p.AcceptUnrun {
		if !now.Before(a.Expires) {
			out = append(out, &Error{File: p.File, At: a.At, What: fmt.Sprintf("the acceptance of %s expired on %s", yamldoc.Bounded(a.Function), day(a.Expires))})
		}
	}
	for _, a := range p.AcceptGaps {
		if !now.Before(a.Expires) {
			about := string(a.Code)
			if a.Tool != "" {
				about += " of " + yamldoc.Bounded(a.Tool)
			}
			out = append(out, &Error{File: p.File, At: a.At, What: fmt.Sprintf("the acceptance of the gap %s expired on %s", about, a.Until())})
		}
	}
	return out
}

// Unused returns an error for each suppression whose finding is not among the
// fingerprints given.
func (p *Policy) Unused(fingerprints []string) []error {
	var out []error
	for _, s := range p.Suppress {
		if !slices.Contains(fingerprints, s.Fingerprint) {
			out = append(out, &Error{File: p.File, At: s.At, What: fmt.Sprintf("the suppression of %s suppresses nothing", short(s.Fingerprint))})
		}
	}
	return out
}

// Suppressed returns the first suppression of one of a finding's fingerprints that
// holds at the moment given.
func (p *Policy) Suppressed(fingerprints []string, at time.Time) (Suppression, bool) {
	if p == nil {
		return Suppression{}, false
	}
	for _, s := range p.Suppress {
		if slices.Contains(fingerprints, s.Fingerprint) && at.Before(s.Expires) {
			return s, true
		}
	}
	return Suppression{}, false
}

// day is the last day on which a suppression holds.
func (s *Suppression) day() string { return day(s.Expires) }

// day is the last day before a moment.
func day(expires time.Time) string { return expires.Add(-time.Second).Format(time.DateOnly) }

func short(fingerprint string) string { return fingerprint[:min(len(fingerprint), 12)] }
