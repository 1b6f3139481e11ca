package rules

import (
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
)

var cm230 = Rule{Rule: cm230Doc, Check: checkCM230, Shrink: ShrinkNever}

var cm230Doc = finding.Rule{
	ID: "CM230", Name: "RemoteChange", Title: "Read-only tool changed something at a service", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Clients call read-only tools without asking the user.", Fix: "Set readOnlyHint to false, or ask the service by a request that changes nothing.", Preview: true},
	CWE:    []string{"CWE-451", "CWE-862"}, OWASP: []string{"MCP02"},
	Help: "A tool that declares to read only (`readOnlyHint: true`) sent a request that changes something by its method (DELETE, PUT, PATCH), or a POST to a path whose last word is a deed: `redemptions`, `orders`, `payments`, `send`.\n\n" +
		"**Evidence.** The flow, with the method and the path. A PUT, PATCH or DELETE of another path is medium: services also keep sessions and searches in that way.\n\n" +
		"**False positive when** the service looks something up by such a request.",
}

// deedWords are what paths of services call a change that somebody wants to be asked about.
var deedWords = strings.Fields("redeem redemption redemptions purchase purchases order orders checkout checkouts pay payment payments payout payouts charge charges transfer transfers refund refunds withdraw withdrawal withdrawals " +
	"book booking bookings reservation reservations cancel cancellation cancellations delete deletions remove removals publish unpublish vote votes like likes follow subscribe unsubscribe approve approvals merge merges " +
	"invite invites invitations share send revoke disable archive assign bids donate donations accept claim activate deactivate block ban")

func checkCM230(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Profile.Ordered {
		o := &r.Profile.Ordered[i]
		t := r.Scope.Tool(o.Tool)
		if !t.ClaimsReadOnly() || o.Loopback || r.givenHost(o.Host) {
			continue
		}
		severity := finding.High
		if !isDeed(o) {
			if o.Method == http.MethodPost {
				continue
			}
			severity = finding.Medium
		}
		f := r.sentInCall(&cm230Doc, &o.Carried, o.Tool, "“"+o.Tool+"” declares to read only, and sent "+o.Method+" "+o.Path+" to "+o.Peer, o.Method)
		f.Severity = severity
		out = append(out, f)
	}
	return first(out)
}

// isDeed reports whether the last word of a request's path is a deed.
func isDeed(o *profile.Ordered) bool {
	parts := strings.FieldsFunc(strings.ToLower(o.Path), func(c rune) bool { return c == '/' })
	for _, p := range slices.Backward(parts) {
		if strings.ContainsFunc(p, unicode.IsDigit) || strings.Contains(p, "%") {
			continue // what it is done to
		}
		words := strings.FieldsFunc(p, func(c rune) bool { return !unicode.IsLetter(c) })
		return len(words) > 0 && (slices.Contains(deedWords, words[0]) || slices.Contains(deedWords, words[len(words)-1]))
	}
	return false
}
