package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

var cm218 = Rule{Rule: cm218Doc, Check: checkCM218}

var cm218Doc = finding.Rule{
	ID: "CM218", Name: "ServiceMachine", Title: "Programs or files of a service's machine", Severity: finding.Critical, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "A database that runs programs or writes files gives its machine to whoever can send statements.", Fix: "Connect with a role without these rights (no superuser, no FILE), and remove the statement.", Preview: true},
	CWE:    []string{"CWE-78", "CWE-73"}, OWASP: []string{"MCP05"},
	Help: "With `--service` the server had a real service run a program, load a library, or read or write a file of the service's machine: `COPY … PROGRAM`, `COPY` to or from a file, `pg_read_file`, `lo_export`, `SELECT … INTO OUTFILE`, " +
		"functions in C or another language without bounds, `CONFIG SET dir`, `MODULE LOAD`, `REPLICAOF`. Who can do that has the machine.\n\n" +
		"**Evidence.** The statement and the service's answer. High where the service refused it, and where an argument asked a tool for it that declares to read only.\n\n" +
		"Quiet where an argument holds the statement and the tool declares to take such. **False positive when** the tool backs the service up by its own files, and its declaration does not say so.",
}

// machineWords are those by which a tool declares to work on a service's machine.
var machineWords = []string{"backup", "backups", "dump", "dumps", "replica", "replication", "module", "modules", "extension", "extensions"}

func checkCM218(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Statement) {
		t := r.Scope.Tool(e.Tool)
		if e.Told.Does != trace.StatementMachine || saysAny(&t, machineWords) || r.callersOwn(e) && !t.ClaimsReadOnly() {
			continue
		}
		_, what, _ := strings.Cut(e.Target, ": ")
		f := r.of(&cm218Doc, e, subject(e)+" reached the machine of "+e.Via+": "+what)
		switch {
		case r.callersOwn(e):
			f.Severity = finding.High
			f.Message += ", as its arguments asked, although it declares to read only"
		case e.Rung == finding.RungAttempted:
			f.Severity = finding.High
			f.Message += ", which was refused"
		}
		f.Fingerprint = finding.Fingerprint("CM218", e.Tool, e.Via, verb(e))
		out = append(out, f)
	}
	return first(out)
}
