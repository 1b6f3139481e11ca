package rules

import (
	"encoding/json"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// toldToAnother is a run in which a tool gave one of its argument what another had stored.
func toldToAnother(description, argument string) *Run {
	t := wire.Tool{Name: "search", Description: description, InputSchema: json.RawMessage(`{"properties":{"` + argument + `":{"type":"string"}}}`)}
	return proven(t, argument, session.OracleTenant, profile.HitReturn)
}

var ofTenants = []ruleCase{
	{"CM314", "kept apart, it says", toldToAnother("Searches the articles. Other customers' articles are never searched.", "customer"), finding.High},
	{"CM314", "only one's own, it says", toldToAnother("Searches only the articles of the tenant.", "tenant_id"), finding.High},
	{"CM314", "nothing is said", toldToAnother("Searches the articles of a tenant.", "tenant_id"), finding.Medium},
	{"CM314", "a chat", toldToAnother("Reads what was said.", "user"), ""},
	{"CM314", "a diary", toldToAnother("Reads the diary. Each user sees their own entries only.", "user"), finding.High},
	{"CM314", "a path", proven(taking("search", "tenant"), "tenant", session.OracleFetch, profile.HitReturn), ""},
}
