//go:build linux && e2e

package servers

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// realTruth is what the rules of annotations say of a real server, by its
// annotations and what it does; analyze has the whole table on written logs.
var realTruth = []struct {
	hints string
	// says are the rules by behaviour; what is not in it is quiet.
	says map[string]string
}{
	{`{}`, map[string]string{"delete": "high CM203", "egress": "low CM209"}},
	{`{"readOnlyHint":true}`, map[string]string{"write": "medium CM201", "delete": "high CM201, high CM203", "egress": "low CM209", "another": "medium CM201"}},
	{`{"readOnlyHint":false}`, map[string]string{"delete": "high CM203", "egress": "low CM209"}},
	{`{"destructiveHint":true}`, map[string]string{"egress": "low CM209"}},
	{`{"destructiveHint":false}`, map[string]string{"delete": "high CM203", "egress": "low CM209"}},
	{`{"idempotentHint":true}`, map[string]string{"delete": "high CM203", "egress": "low CM209", "another": "low CM213"}},
	{`{"idempotentHint":false}`, map[string]string{"delete": "high CM203", "egress": "low CM209"}},
	{`{"openWorldHint":true}`, map[string]string{"delete": "high CM203"}},
	{`{"openWorldHint":false}`, map[string]string{"delete": "high CM203", "egress": "high CM202"}},
}

// shownAlways are shown by every run of the tests, all with COALMINE_TRUTH.
var shownAlways = []string{`{"readOnlyHint":true} write`, `{"openWorldHint":false} egress`, `{"openWorldHint":false} nothing`}

func TestTruth(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	all := os.Getenv("COALMINE_TRUTH") != ""
	for _, c := range realTruth {
		for _, does := range []string{"nothing", "write", "delete", "egress", "another"} {
			name := c.hints + " " + does
			if !all && !slices.Contains(shownAlways, name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := probetest.New(t)
				o := l.Options("local", "python3", l.Source(t, "hints", ".py"), c.hints, does)
				o.Calls, o.ShrinkTime, o.Network, o.Timeout, o.Limits = 3, time.Nanosecond, plan.NetworkNone, time.Minute, plan.DefaultLimits
				var got []string
				res := l.Probe(o)
				for _, f := range res.Findings {
					if strings.HasPrefix(f.Rule, "CM2") && f.Tool == "do" && f.Confidence != finding.Ambiguous {
						got = append(got, string(f.Severity)+" "+f.Rule)
					}
				}
				slices.Sort(got)
				word := "right"
				if said := strings.Join(slices.Compact(got), ", "); said != c.says[does] {
					word = fmt.Sprintf("WRONG: said %q, want %q; all: %+v; %q", said, c.says[does], res.Findings, res.Inconclusive)
					t.Error(word)
				}
				if all {
					fmt.Printf("truth %-27s %-8s %s\n", c.hints, does, word)
				}
			})
		}
	}
}
