package rules

import (
	"encoding/json"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// told is an effect of a statement that a service carried out.
func told(service, verb, object, does, text string, change ...func(*finding.Effect)) finding.Effect {
	e := effect("do", finding.Statement, service+": "+verb+" "+object, change...)
	e.Via, e.Host, e.Told = service, service, &trace.Statement{Verb: verb, Object: object, Does: does, Text: text}
	if e.Rung == "" {
		e.Rung = finding.RungOpened
	}
	return e
}

// withRows is a run of a tool beside PostgreSQL, which holds a table "customers".
func withRows(tool wire.Tool, effects ...finding.Effect) *Run {
	return with(newRun(tool, effects...), func(r *Run) {
		r.Canaries["row-postgres-customers-1"] = canaries.Canary{ID: "row-postgres-customers-1", Kind: canaries.KindRow, URL: "postgres:customers"}
	})
}

// hinted is a tool with a hint that it only reads, and harmless one that it destroys nothing.
func hinted(description string) wire.Tool {
	return wire.Tool{Name: "do", Description: description, Annotations: &wire.Annotations{ReadOnly: boolean(true)}}
}

var harmless = wire.Tool{Name: "do", Description: "Does it.", Annotations: &wire.Annotations{Destructive: boolean(false)}}

var (
	dropped   = told("postgres", "DROP TABLE", "customers", trace.StatementDestroys, "DROP TABLE customers")
	inserted  = told("postgres", "INSERT", "log", trace.StatementWrites, "INSERT INTO log VALUES (1)")
	updated   = told("postgres", "UPDATE", "notes", trace.StatementWrites, "UPDATE notes SET a = 1")
	deleted   = told("postgres", "DELETE", "customers", trace.StatementDeletes, "DELETE FROM customers WHERE id = 1")
	program   = told("postgres", "COPY PROGRAM", "a", trace.StatementMachine, "COPY a TO PROGRAM 'id'")
	returned  = effect("do", finding.Secret, "row-postgres-customers-1", rung(finding.RungReturned))
	statement = `{"text":"drop  table customers; select 1"}`
)

// ofService are the cases of the rules about services.
var ofService = []ruleCase{
	{"CM102", "a row", withRows(silent, returned), ""},
	{"CM115", "a row", withRows(silent, returned), finding.High},
	{"CM115", "its table is named", withRows(described("do", "Looks a customer up"), returned), ""},
	{"CM115", "the call names the table", args(withRows(silent, returned), `{"from":"customers"}`), ""},
	{"CM115", "any rows", withRows(described("do", "Runs SQL"), returned), ""},
	{"CM115", "in a file", withRows(silent, effect("do", finding.Secret, "row-postgres-customers-1", rung(finding.RungRead))), ""},
	{"CM217", "dropped", withRows(silent, dropped), finding.High},
	{"CM217", "dropped at start", withRows(silent, told("postgres", "DROP TABLE", "public.customers", trace.StatementDestroys, "", start, func(e *finding.Effect) { e.Tool, e.Call = "", 0 })), finding.High},
	{"CM217", "its own table dropped at start", withRows(silent, told("postgres", "DROP TABLE", "mine", trace.StatementDestroys, "", start, func(e *finding.Effect) { e.Tool, e.Call = "", 0 })), ""},
	{"CM217", "dropped what it made", withRows(silent, told("postgres", "CREATE TABLE", "scratch", trace.StatementWrites, ""), told("postgres", "DROP TABLE", "scratch", trace.StatementDestroys, "")), ""},
	{"CM217", "declared", withRows(described("do", "Clears the tables"), dropped), ""},
	{"CM217", "asked for", args(withRows(silent, dropped), statement), ""},
	{"CM217", "asked of a tool that reads", args(withRows(hinted("Runs SQL"), dropped), statement), finding.High},
	{"CM217", "refused", withRows(silent, told("postgres", "DROP TABLE", "customers", trace.StatementDestroys, "", rung(finding.RungAttempted))), ""},
	{"CM217", "a log of a tool that reads", withRows(hinted("Reads"), inserted), finding.Low},
	{"CM217", "rows changed by a tool that reads", withRows(hinted("Reads"), updated), finding.Medium},
	{"CM217", "a cache of a tool that reads", withRows(hinted("Reads"), told("redis", "SETEX", "cache:a", trace.StatementWrites, "SETEX cache:a 60 b")), ""},
	{"CM217", "rows changed", withRows(silent, updated), ""},
	{"CM217", "rows deleted", withRows(silent, deleted), ""},
	{"CM217", "rows deleted by a harmless tool", withRows(harmless, deleted), finding.Medium},
	{"CM218", "a program", withRows(silent, program), finding.Critical},
	{"CM218", "refused", withRows(silent, told("postgres", "COPY PROGRAM", "a", trace.StatementMachine, "", rung(finding.RungAttempted))), finding.High},
	{"CM218", "asked for", args(withRows(silent, program), `{"sql":"COPY a TO PROGRAM 'id'"}`), ""},
	{"CM218", "asked of a tool that reads", args(withRows(hinted("Runs SQL"), program), `{"sql":"COPY a TO PROGRAM 'id'"}`), finding.High},
	{"CM218", "declared", withRows(described("do", "Makes a backup"), program), ""},
	{"CM218", "a table", withRows(silent, dropped), ""},
	{"CM309", "a name", proven(taking("do", "name"), "name", session.OracleStatement, profile.HitStatement), finding.Critical},
	{"CM309", "an argument that is SQL", proven(taking("do", "sql"), "sql", session.OracleStatement, profile.HitStatement), ""},
	{"CM309", "a query of a tool that speaks of SQL", proven(wire.Tool{Name: "do", Description: "Runs SQL.", InputSchema: json.RawMessage(`{"properties":{"query":{"type":"string"}}}`)}, "query", session.OracleStatement, profile.HitStatement), ""},
	{"CM309", "a query that searches", proven(taking("do", "query"), "query", session.OracleStatement, profile.HitStatement), finding.Critical},
}
