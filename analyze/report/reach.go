package report

import (
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
)

// maxReachNames bounds the tools that are named for one reason.
const maxReachNames = 4

// reachLine tells apart the tools that were not looked at, "" where all were.
func reachLine(r *analyze.Reach) string {
	if r == nil {
		return ""
	}
	line := fmt.Sprintf("%d of %s", r.LookedAt, plural(r.Tools, "tool"))
	for _, part := range []struct {
		names []string
		what  string
	}{{r.Needing, "refused for want of a need"}, {r.Refusing, "refused every input"}, {r.InTime, "not reached in time"}, {r.MadeUp, "looked at only where coalmine stood in for what they need"}} {
		if len(part.names) > 0 {
			line += fmt.Sprintf("; %d %s (%s)", len(part.names), part.what, someNames(part.names))
		}
	}
	if len(r.Variables) > 0 {
		line += "; the server does not start without " + someNames(r.Variables) + ", and had a made-up value"
	}
	return line
}

func someNames(names []string) string {
	var out []string
	for _, n := range names[:min(len(names), maxReachNames)] {
		out = append(out, Clean(n, 60))
	}
	if len(names) > maxReachNames {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// acceptedGaps are the reasons for doubt that the policy accepts, as lines of the terminal.
func (p *printer) acceptedGaps(res *analyze.Result) {
	gaps := gapsAccepted(res)
	for i := range gaps {
		if i == maxShownReasons {
			p.fact("", "… and %d more, in report.json", len(gaps)-i)
			return
		}
		p.fact(first(i, "accepted"), "%s", Clean(acceptedGapLine(&gaps[i]), 300))
	}
}

func gapsAccepted(res *analyze.Result) []analyze.AcceptedGap {
	if res.Policy == nil {
		return nil
	}
	return res.Policy.Gaps
}

// acceptedGapLine says what was not checked, why that is accepted, and until when.
func acceptedGapLine(g *analyze.AcceptedGap) string {
	return fmt.Sprintf("not checked: %s (%s: %s; until %s)", g.Text, g.Code, g.Reason, g.Until)
}
