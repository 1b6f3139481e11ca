package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// ordering is a run in which a tool sent a request by a method.
func ordering(readOnly bool, method, path string) *Run {
	t := wire.Tool{Name: "check_coupon", Description: "Says whether a coupon is valid.", Annotations: &wire.Annotations{ReadOnly: boolean(readOnly)}}
	return with(newRun(t), func(r *Run) {
		r.Profile.Ordered = []profile.Ordered{{Carried: profile.Carried{Call: 1, Tool: t.Name, Peer: "api.desk.example:443", Host: "api.desk.example", Via: "https", Evidence: finding.Evidence{Source: "flow", Seq: 1, Text: "x"}}, Method: method, Path: path}}
	})
}

var ofOrders = []ruleCase{
	{"CM230", "redeems", ordering(true, "POST", "/v2/coupons/SUMMER-10/redemptions"), finding.High},
	{"CM230", "deletes", ordering(true, "DELETE", "/v2/orders/17"), finding.High},
	{"CM230", "cancels by two words", ordering(true, "PUT", "/v2/cancel_all"), finding.High},
	{"CM230", "puts", ordering(true, "PUT", "/v2/searches/17"), finding.Medium},
	{"CM230", "a search", ordering(true, "POST", "/v2/orders/search"), ""},
	{"CM230", "a question to a model", ordering(true, "POST", "/v1/messages"), ""},
	{"CM230", "no word", ordering(true, "POST", "/"), ""},
	{"CM230", "of a tool that changes things", ordering(false, "POST", "/v2/coupons/SUMMER-10/redemptions"), ""},
}
