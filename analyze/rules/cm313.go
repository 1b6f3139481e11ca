package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm313 = Rule{Rule: cm313Doc, Check: checkCM313}

var cm313Doc = finding.Rule{
	ID: "CM313", Name: "ArchiveTraversal", Title: "Archive unpacked outside its directory", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever makes the archive writes files that other programs run or trust.", Fix: "Resolve each member's path and refuse it outside the directory. In Python use extractall with filter=\"data\"; do not create links.", Preview: true},
	CWE:    []string{"CWE-22", "CWE-59"}, OWASP: []string{"MCP05"},
	Help: "A tool that takes an archive unpacked a member outside the directory for its contents (\"Zip Slip\"). Whoever makes the archive writes files anywhere that the user may: a shell's start-up file, a key for ssh, another program.\n\n" +
		"**Evidence.** The kernel's record that a file was made at the place to which the member leads. Tools that say that they take archives get planted ones, by path or as base64: zip, tar and gzipped tar with a member whose name climbs by `..`, " +
		"with one that has an absolute name, and with a symbolic link to a directory followed by a member below it. Whoever strips such names, refuses them or lists them makes no such file.\n\n" +
		"A tool that declares to run commands is quiet. **False positive when** unpacking to absolute places is the declared purpose, as for a system's backup.",
}

func checkCM313(r *Run) []finding.Finding {
	var out []finding.Finding
	var contexts []string
	for _, h := range r.hits(session.OracleArchive) {
		t := r.Scope.Tool(r.toolOf(h.Call))
		if h.How != profile.HitWrite && h.How != profile.HitCreate || runsCommands(&t, "") {
			continue
		}
		f := r.proven(&cm313Doc, h, "“"+t.Name+"” unpacked a member of an archive ("+h.Context+") outside the directory for its contents, to "+r.stable(h.Target))
		out, contexts = append(out, f), append(contexts, h.Context)
	}
	return aboutOne(out, contexts)
}
