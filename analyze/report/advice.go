package report

import (
	"fmt"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// accepted is how long a suppression holds that a report offers.
const accepted = 90 * 24 * time.Hour

// suppression are the lines of a policy that accept a finding, ready to copy.
func suppression(res *analyze.Result, h *habit) string {
	if res.Run.Started.IsZero() || h.Fingerprint == "" {
		return ""
	}
	out := "suppress:"
	for _, f := range append([]*finding.Finding{h.Finding}, h.others...) {
		out += fmt.Sprintf("\n  - {fingerprint: %s, reason: TODO, owner: TODO, expires: %s}", f.Fingerprint, res.Run.Started.UTC().Add(accepted).Format("2006-01-02"))
	}
	return out
}

// request is the call that a finding is about with its arguments, "" where no timeline
// has it. The timeline's text is cut and has no decoy's value.
func request(res *analyze.Result, f *finding.Finding) string {
	for i := range res.Timelines {
		if t := &res.Timelines[i]; f.Call > 0 && t.Call == f.Call {
			for k := range t.Moments {
				if m := &t.Moments[k]; m.Lane == analyze.LaneSent {
					return Escape(m.Text, 300)
				}
			}
		}
	}
	return ""
}
