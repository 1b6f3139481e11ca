package attest

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/semver"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
)

// Wanted is what a statement has to cover to stand for a run.
type Wanted struct {
	Target   *plan.Content
	Coalmine Program
	JudgedBy string
	// FailOn is the threshold, "" for never.
	FailOn finding.Severity
	Now    time.Time
}

// skew is how far the clock of a signer may be ahead, and longest how long a statement holds at
// most, whatever it says.
const (
	skew    = 5 * time.Minute
	longest = 366 * 24 * time.Hour
)

// Accepts returns why a statement does not stand for a run, nil where it does. A run that found
// something is made again: its reports are needed.
func (w *Wanted) Accepts(s *Statement) error {
	p := &s.Predicate
	switch {
	case s.Digest() != w.Target.Digest:
		return fmt.Errorf("it is for another target, %s", s.Digest())
	case p.JudgedBy != w.JudgedBy:
		return errors.New("it was judged by another policy or baseline, or by other rules of your own")
	case !noOlder(p.Coalmine, w.Coalmine):
		return fmt.Errorf("its rules are those of coalmine %.40s, and this is %.40s", p.Coalmine.Version, w.Coalmine.Version)
	}
	if err := s.Lasts(w.Now); err != nil {
		return err
	}
	if less := p.Budget.Less(w.Target.Effort); less != "" {
		return fmt.Errorf("it tried less: %s", less)
	}
	if p.Verdict != string(analyze.Clean) {
		return fmt.Errorf("its verdict is %.20s, and only a clean one needs no report", p.Verdict)
	}
	for severity, n := range p.Findings {
		if rank := finding.Severity(severity).Rank(); n > 0 && (rank == 0 || w.FailOn.Rank() > 0 && rank >= w.FailOn.Rank()) {
			return fmt.Errorf("it has %d findings of severity %.20s", n, severity)
		}
	}
	return nil
}

// Lasts returns why a statement does not hold at a time, nil where it does.
func (s *Statement) Lasts(now time.Time) error {
	p := &s.Predicate
	switch {
	case now.After(p.Expires), now.After(p.Ran.Add(longest)):
		return fmt.Errorf("it expired at %s", p.Expires.UTC().Format(time.RFC3339))
	case p.Judged.After(now.Add(skew)), p.Ran.After(now.Add(skew)):
		return fmt.Errorf("it was made at %s, which is yet to come", p.Judged.UTC().Format(time.RFC3339))
	}
	return nil
}

// noOlder reports whether a program's rules are those of another one, or of a later release.
func noOlder(made, now Program) bool {
	if made.Digest == now.Digest {
		return true
	}
	a, b := release(made.Version), release(now.Version)
	return a != "" && b != "" && semver.Compare(a, b) >= 0
}

// release is the version of a release as semver writes it, "" for any other build.
func release(version string) string {
	if len(version) > 0 && version[0] != 'v' {
		version = "v" + version
	}
	if !semver.IsValid(version) || semver.Prerelease(version) != "" || semver.Build(version) != "" {
		return ""
	}
	return version
}
