package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
)

var cm115 = Rule{Rule: cm115Doc, Check: checkCM115}

var cm115Doc = finding.Rule{
	ID: "CM115", Name: "ForeignRowReturned", Title: "Undeclared rows of a service in a response", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "Rows about other people reach the model, and nobody asked for them.", Fix: "Select only the rows that the call names, or say in the description which tables the tool shows.", Preview: true},
	CWE:    []string{"CWE-200", "CWE-639"}, OWASP: []string{"MCP01", "MCP10"},
	Help: "With `--service` a real service holds rows that are decoys. A message of the server contains one, and neither the tool nor the call's arguments speak of its table, of SQL, of tables or of keys.\n\n" +
		"**Evidence.** The row's value, in a frame of `session.jsonl`. It stands in that row alone.\n\n" +
		"**False positive when** the tool is meant to show such rows and calls them by another name.",
}

// rowWords are those by which a tool declares to show whatever a service holds.
var rowWords = []string{"sql", "query", "queries", "table", "tables", "row", "rows", "database", "databases", "schema", "schemas", "key", "keys", "record", "records", "redis", "postgres", "postgresql", "mysql", "mariadb"}

func checkCM115(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Secret) {
		c := r.Canaries[e.Target]
		if c.Kind != canaries.KindRow || e.Rung != finding.RungReturned {
			continue
		}
		service, table := canaries.RowTable(c)
		names := []string{table, strings.TrimSuffix(table, "s")}
		for _, part := range strings.Split(table, "_") {
			names = append(names, part, strings.TrimSuffix(part, "s"))
		}
		if t := r.Scope.Tool(e.Tool); saysAny(&t, rowWords) || saysAny(&t, names) || r.asked(e.Call, table) {
			continue
		}
		f := r.of(&cm115Doc, e, subject(e)+" returned a row of the table “"+table+"” in "+service+", which it does not mention")
		f.Fingerprint = finding.Fingerprint("CM115", e.Tool, service, table)
		out = append(out, f)
	}
	return first(out)
}
