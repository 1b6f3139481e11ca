package analyze

import (
	"os"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// ShownByWhole are the findings of a run that calls show, the calls, and what was
// done, from a reading of the whole log at once.
func ShownByWhole(t *testing.T, dir *os.Root) (wanted map[string]string, shown map[string][]int, done *profile.Profile) {
	t.Helper()
	_, run := wholeRun(t, dir)
	wanted = map[string]string{}
	for _, f := range rules.Check(run) {
		if f.Call > 0 {
			wanted[f.Fingerprint] = f.Rule
		}
	}
	return wanted, rules.ShownIn(run, wanted, 1), run.Profile
}

// wholeRun reads a whole log at once.
func wholeRun(t *testing.T, dir *os.Root) (*judge, *rules.Run) {
	t.Helper()
	log, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := readWhole(log, nil, gapKeeper{}, detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l.j, l.j.run(l.w)
}

// LedgerOf is the ledger of one log, as the user's own rules see it.
func LedgerOf(t *testing.T, dir *os.Root) *custom.Ledger {
	t.Helper()
	j, run := wholeRun(t, dir)
	return j.ledger(run.Joined(), rules.Check(run))
}

// Done is what was done as of the last question.
func (l *Live) Done() *profile.Profile { return l.j.profile }

// IsOwnPeer is isOwnPeer.
var IsOwnPeer = isOwnPeer

// Narrowed are options for a run whose bound on output was a part of what the user allows.
func Narrowed(o Options, narrowed bool) Options {
	o.narrowed = narrowed
	return o
}
