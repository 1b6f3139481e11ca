package analyze_test

import (
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A further run has a part of the output that the user allows: that it was used up is a reason for doubt, and no finding.
func TestNarrowedOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		narrowed bool
		reason   string
		finding  bool
	}{
		{false, "output: more than 10 bytes", true},
		{true, "output: more than 10 bytes", false},
		{true, "memory: 2147483648 bytes", true},
	} {
		l := analyzetest.New(t, nil)
		l.Begin(analyzetest.Note)
		l.Call("format_note", `{}`, func() { l.Event(session.EventLimit{Reason: c.reason}) }, nil)
		l.End()
		res := l.Judge(analyze.Narrowed(analyze.Options{}, c.narrowed))
		found := false
		for _, f := range res.Findings {
			found = found || strings.Contains(f.Message, c.reason)
		}
		if found != c.finding || !strings.Contains(strings.Join(res.Inconclusive, "\n"), c.reason) {
			t.Errorf("narrowed %t, %s: findings %v, reasons %q", c.narrowed, c.reason, res.Findings, res.Inconclusive)
		}
	}
}
