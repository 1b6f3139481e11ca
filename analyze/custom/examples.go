package custom

import (
	"errors"
	"reflect"

	"github.com/coalmine-dev/coalmine/analyze/policy/yamldoc"
)

// Tested is what the examples of a rule showed.
type Tested struct {
	Rule *Rule
	// Match and NoMatch count the examples.
	Match, NoMatch int
	// Failures are *policy.Error, each at its example.
	Failures []error
}

// Test holds every rule against its own examples.
func (s *Set) Test() []Tested {
	if s == nil {
		return nil
	}
	out := make([]Tested, 0, len(s.Rules))
	for _, r := range s.Rules {
		t := Tested{Rule: r, Match: len(r.match), NoMatch: len(r.noMatch)}
		for _, e := range r.match {
			t.hold(e, true, "the rule does not speak of this example of match")
		}
		for _, e := range r.noMatch {
			t.hold(e, false, "the rule speaks of this example of no_match")
		}
		out = append(out, t)
	}
	return out
}

func (t *Tested) hold(e example, want bool, otherwise string) {
	is, _, err := t.Rule.speaks(values{}.of(reflect.ValueOf(e.entry)))
	what := otherwise
	switch {
	case err != nil:
		what = "the rule fails at this example: " + err.Error()
	case is == want:
		return
	}
	t.Failures = append(t.Failures, &yamldoc.Error{File: t.Rule.File, At: e.at, What: t.Rule.ID + ": " + what})
}

// Failing joins what the examples of all rules show to be wrong, nil where nothing is.
func (s *Set) Failing() error {
	var errs []error
	for _, t := range s.Test() {
		errs = append(errs, t.Failures...)
	}
	return errors.Join(errs...)
}
