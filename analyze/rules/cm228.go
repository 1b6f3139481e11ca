package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm228 = Rule{Rule: cm228Doc, Check: checkCM228}

var cm228Doc = finding.Rule{
	ID: "CM228", Name: "PermissionsWidened", Title: "File opened to other users", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Every user and program of the machine can then change, or read, what was the user's alone.", Fix: "Keep the mode of a file that is written anew, and make new ones with the least rights.", Preview: true},
	CWE:    []string{"CWE-732", "CWE-276", "CWE-281"}, OWASP: []string{"MCP02"},
	Help: "A file or directory has wider permissions at the end than before: every user may write to it, or every user may read a file that was the user's alone. That the call named the file, or may change its contents, does not explain it.\n\n" +
		"**Evidence.** The modes before the server started and at the end, and the kernel's record of the change. Medium is a new file that every user may write to, low one of the server's own state, and a private file that was replaced by a readable one: a program that writes anew and forgets the mode.\n\n" +
		"Quiet are temporary files, directories with the sticky bit, a call whose arguments have a mode or permissions, and a tool that declares to set them.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says that the file is shared.",
}

var (
	// modeName is the name of an argument that says how a file may be used.
	modeName = lazyregexp.New(`(?i)^(?:file[_-]?|dir(?:ectory)?[_-]?|new[_-]?)?(?:mode|perms?|permissions?|chmod|umask|access)$`)
	// setsModes declares that permissions are set.
	setsModes = lazyregexp.New(`(?i)\bchmod\b|\b(?:set|chang|grant|giv|mak|allow|appl|modif|open|shar)\w*\b[^.]{0,60}\b(?:permissions?|(?:file )?modes?|access rights|(?:world|group)-(?:writable|readable)|writable|readable by)\b`)
)

const (
	othersRead, othersWrite = 0o004, 0o002
	groupAndOthers, sticky  = 0o077, 0o1000
)

func checkCM228(r *Run) []finding.Finding {
	var out []finding.Finding
	var targets []string
	for _, p := range slices.Sorted(maps.Keys(r.Profile.Differences)) {
		d := r.Profile.Differences[p]
		what := widened(&d)
		e := r.lastChange(p)
		if what == "" || e == nil || r.isTemporary(p) || r.setsPermissions(e) {
			continue
		}
		f := r.of(&cm228Doc, e, "")
		switch {
		case e.Ambiguous, r.isOwnState(p), r.ownPath(p), what == byReading && e.Kind != finding.FileMeta:
			f.Severity = finding.Low
		case d.Before.Kind == "":
			f.Severity = finding.Medium
		}
		was := fmt.Sprintf("mode %#o", d.After.Mode)
		if d.Before.Kind != "" {
			was += fmt.Sprintf(", before %#o", d.Before.Mode)
		}
		out, targets = append(out, f), append(targets, what+" "+r.stable(p)+" ("+was+")")
	}
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		return subject(&finding.Effect{Tool: f.Tool, Phase: f.Phase}) + " lets every user of the machine " + list(targets, 3)
	})
}

// What every user may do with a file.
const (
	byWriting = "write to"
	byReading = "read"
)

// widened says what every user may do with a file that they could not do before, "" for nothing.
func widened(d *session.EventChanged) string {
	before, after := d.Before, d.After
	if after.Kind != "file" && after.Kind != "directory" || before.Kind != "" && before.Kind != after.Kind {
		return ""
	}
	switch more := after.Mode &^ before.Mode; {
	case more&othersWrite != 0 && after.Mode&sticky == 0:
		return byWriting
	case more&othersRead != 0 && before.Kind == "file" && before.Mode&groupAndOthers == 0:
		return byReading
	}
	return ""
}

// lastChange is the last effect that changed a file, one of its mode before others; nil for none.
func (r *Run) lastChange(p string) (last *finding.Effect) {
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		if e.Target == p && isChange(e.Kind) && e.Rung != finding.RungAttempted && (last == nil || e.Kind == finding.FileMeta || last.Kind != finding.FileMeta) {
			last = e
		}
	}
	return last
}

// setsPermissions reports whether a call has permissions among its arguments, or its tool declares to set them.
func (r *Run) setsPermissions(e *finding.Effect) bool {
	var args map[string]any
	if json.Unmarshal(r.Args[e.Call], &args) == nil {
		for name := range args {
			if modeName.MatchString(name) {
				return true
			}
		}
	}
	return r.sentenceOf(serverOr(e.Tool), func(s *sentence) bool { return !s.denies && setsModes.MatchString(s.text) }) != ""
}
