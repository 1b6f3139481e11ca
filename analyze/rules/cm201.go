package rules

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

var cm201 = Rule{Rule: cm201Doc, Check: checkCM201}

var cm201Doc = finding.Rule{
	ID: "CM201", Name: "WriteDespiteReadOnly", Title: "A read-only tool changed the file system", Severity: finding.Medium,
	CWE: []string{"CWE-284", "CWE-732"}, OWASP: []string{"MCP02"},
	Help: "A tool that is annotated `readOnlyHint: true` created, wrote, renamed or deleted something outside temporary and cache directories.\n\n" +
		"**Evidence.** The kernel's record of the change with the real path. Work that could belong to another call is low, and so is a change that was refused, or one in a directory of the user's that the server made for itself before the first call or under its own name: its log, its settings. A file that the call named in an argument which says that something is saved there is declared. All changes of a tool are one finding.\n\n" +
		"**False positive when** the file is a cache that the server keeps outside the usual places.",
}

// keeps reports whether a path is, or lies in, a directory of HOME that the server
// made for itself: before any call, or under its own name.
func (r *Run) keeps(target string) bool {
	for _, dir := range r.Profile.Kept {
		below, ok := strings.CutPrefix(dir.Path, r.Home+"/")
		if !ok || target != dir.Path && !strings.HasPrefix(target, dir.Path+"/") {
			continue
		}
		if dir.Early || slices.ContainsFunc(strings.Split(below, "/"), r.isOwnName) {
			return true
		}
	}
	return false
}

// isOwnName reports whether a directory's name is what the server calls itself.
func (r *Run) isOwnName(dir string) bool {
	own := plainName(r.Surface.Server.Name)
	return len(own) > 3 && own == plainName(dir)
}

// plainName is a name without what any server's may have.
func plainName(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "mcp" || w == "server" }), "")
}

// saves reports whether a call named the file that it wrote, or one in the directory
// that it made, in an argument which says that something is saved there.
func (r *Run) saves(e *finding.Effect, t *scope.Tool) bool {
	var args map[string]any
	if e.Kind != finding.FileWrite || len(t.Outputs) == 0 || json.Unmarshal(r.Args[e.Call], &args) != nil {
		return false
	}
	for name, value := range args {
		if !slices.ContainsFunc(t.Outputs, func(o string) bool { return o == name || strings.HasPrefix(o, name+".") }) {
			continue
		}
		for _, text := range texts(value, nil) {
			if slices.ContainsFunc(r.Workspaces, func(w string) bool { return within(resolve(w, text), e.Target) }) {
				return true
			}
		}
	}
	return false
}

// resolve is the absolute path that a text means in a directory.
func resolve(dir, text string) string {
	if path.IsAbs(text) {
		return path.Clean(text)
	}
	return path.Join(dir, text)
}

func checkCM201(r *Run) []finding.Finding {
	var out []finding.Finding
	var targets []string
	for _, e := range r.effects(finding.FileWrite, finding.FileDelete, finding.FileMeta) {
		t := r.Scope.Tool(e.Tool)
		if e.Call == 0 || !t.ClaimsReadOnly() || r.saves(e, &t) {
			continue
		}
		f := r.of(&cm201Doc, e, "")
		if e.Ambiguous || e.Rung == finding.RungAttempted || r.keeps(e.Target) {
			f.Severity = finding.Low
		}
		out = append(out, f)
		targets = append(targets, r.stable(e.Target))
	}
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		return "“" + f.Tool + "” declares readOnlyHint=true and changed " + list(targets, 3)
	})
}
