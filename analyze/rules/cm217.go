package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

var cm217 = Rule{Rule: cm217Doc, Check: checkCM217}

var cm217Doc = finding.Rule{
	ID: "CM217", Name: "UndeclaredServiceChange", Title: "Undeclared change in a service", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Clients run read-only tools without asking the user, and rows that are gone may be in no backup.", Fix: "Connect with a role that cannot change what the tool does not declare to change, or correct the hints.", Preview: true},
	CWE:    []string{"CWE-841", "CWE-250"}, OWASP: []string{"MCP02"},
	Help: "With `--service` the server changed what a real service holds, against its declaration: a tool with readOnlyHint=true changed rows, keys or tables, a tool with destructiveHint=false removed some, " +
		"or the server dropped or emptied what it did not make, and nothing declares a removal. A statement that an argument holds is what the caller asked for, unless the tool claims to read only.\n\n" +
		"**Evidence.** The statement, and the service's own answer that it was carried out. What was refused or rolled back does not count.\n\n" +
		"High for whole tables, databases and key spaces, and for a read-only tool that carries out its caller's changes. Medium for rows that are updated or deleted. Low for rows that a read-only tool adds, and for tables that it makes; its keys of Redis are a cache and quiet. " +
		"**False positive when** a read-only tool keeps a log of its own in the service.",
}

// serviceRedis is the service whose keys programs use for caches.
const serviceRedis = "redis"

func checkCM217(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.statements(trace.StatementWrites, trace.StatementDeletes, trace.StatementDestroys) {
		t := r.Scope.Tool(e.Tool)
		severity, why := r.changeOf(e, &t)
		if severity == "" {
			continue
		}
		_, what, _ := strings.Cut(e.Target, ": ")
		f := r.of(&cm217Doc, e, subject(e)+" changed "+e.Via+" ("+what+") "+why)
		f.Severity = severity
		f.Fingerprint = finding.Fingerprint("CM217", e.Tool, e.Via, e.Told.Does, verb(e))
		out = append(out, f)
	}
	return first(out)
}

// changeOf is how much a change in a service matters, and what it is against; "" for not at all.
func (r *Run) changeOf(e *finding.Effect, t *scope.Tool) (severity finding.Severity, why string) {
	destroys, asked, known := e.Told.Does == trace.StatementDestroys, r.callersOwn(e), e.Tool != "" && r.declaredTool(e.Tool)
	switch {
	case known && t.ClaimsReadOnly() && asked:
		return finding.High, "as its arguments asked, although it declares to read only"
	case known && t.ClaimsReadOnly() && e.Via == serviceRedis && !destroys && !r.held(e):
		return "", ""
	case known && t.ClaimsReadOnly():
		return readOnlyChange(e), "although it declares to read only"
	case asked:
		return "", ""
	case destroys && !r.ownObject(e) && (e.Tool != "" || r.held(e) || object(e) == "") && !saysAny(t, removalWords) && len(t.Delete) == 0:
		return finding.High, "and declares no removal"
	case known && e.Told.Does == trace.StatementDeletes && t.ClaimsHarmless() && r.held(e):
		return finding.Medium, "although it declares to destroy nothing"
	}
	return "", ""
}

// readOnlyChange is how much a change by a tool that reads only matters.
func readOnlyChange(e *finding.Effect) finding.Severity {
	switch {
	case e.Told.Does == trace.StatementDestroys:
		return finding.High
	case e.Told.Does == trace.StatementWrites && slices.Contains([]string{"INSERT", "REPLACE", "CREATE", "COPY"}, verb(e)):
		return finding.Low
	}
	return finding.Medium
}

// saysAny reports whether a tool's declaration has one of some words.
func saysAny(t *scope.Tool, words []string) bool { return slices.ContainsFunc(words, t.Says) }
