package rules

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

var cm201 = Rule{Rule: cm201Doc, Check: checkCM201}

var cm201Doc = finding.Rule{
	ID: "CM201", Name: "WriteDespiteReadOnly", Title: "File change by a read-only tool", Severity: finding.Medium, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Clients run read-only tools without asking the user.", Fix: "Remove the write, or set readOnlyHint to false."},
	CWE:    []string{"CWE-284", "CWE-732"}, OWASP: []string{"MCP02"},
	Help: "A tool with the annotation `readOnlyHint: true` created, wrote, renamed or deleted a file outside temporary and cache directories.\n\n" +
		"**Evidence.** The kernel's record of the change with the real path. Work that could belong to another call is low, and so is a change that was refused, or one of a log or a lock that the server made when it started, or in a directory of the user's that it made for itself before the first call or under its own name, or below the places for programs' state and caches: its log, its settings. A file that SQLite makes beside a database is low too, and so are one that is named as the server is and one that comes and goes in a call, as a lock does. Where every tool declares to read only, work between calls counts as well. A file that the call named in an argument which says that something is saved there is declared. High where other programs start or obey what was changed (CM215), and where it is a file of the user's that was there before the server started. All changes of a tool are one finding.\n\n" +
		"**False positive when** the file is a cache that the server keeps outside the usual places.",
}

// keeps reports whether a path is, or lies in, a directory of HOME that the server
// made for itself: before any call, under its own name, or where programs keep their state.
func (r *Run) keeps(target string) bool {
	for _, dir := range slices.Concat(r.Profile.Kept, r.keptBefore(target)) {
		below, ok := strings.CutPrefix(dir.Path, r.Home+"/")
		if !ok || target != dir.Path && !strings.HasPrefix(target, dir.Path+"/") {
			continue
		}
		if dir.Early || isState(below) || slices.ContainsFunc(strings.Split(below, "/"), r.isOwnName) {
			return true
		}
	}
	return false
}

// keptBefore is the directory around a file if an earlier run of the server left files
// there, and none of the user's is among them.
func (r *Run) keptBefore(target string) []profile.Kept {
	dir := path.Dir(target)
	in := func(files map[string]bool) bool {
		for name := range files {
			if within(name, dir) {
				return true
			}
		}
		return false
	}
	if !in(r.Left) || in(r.Planted) {
		return nil
	}
	made := profile.Kept{Path: dir}
	for _, k := range r.KeptBefore {
		made.Early = made.Early || k.Early && within(dir, k.Path)
	}
	return []profile.Kept{made}
}

// isHidden reports whether a path, without HOME or a workspace, begins with a hidden file.
func isHidden(stable string) bool {
	_, below, _ := strings.Cut(stable, "/")
	return strings.HasPrefix(below, ".")
}

// comesAndGoes reports whether a file is made and taken away in the same call, as locks are.
func (r *Run) comesAndGoes(e *finding.Effect) bool {
	made, gone := false, false
	for i := range r.Profile.Effects {
		if o := &r.Profile.Effects[i]; o.Target == e.Target && o.Call == e.Call && o.Rung == finding.RungOpened {
			made, gone = made || o.Kind == finding.FileWrite, gone || o.Kind == finding.FileDelete
		}
	}
	return made && gone && !r.stood(e.Target)
}

// stateTrees are the directories below HOME in which programs keep their state,
// configuration and cache (XDG Base Directory Specification).
var stateTrees = []string{".local/state", ".local/share", ".config", ".cache"}

// isState reports whether a path below HOME lies in a directory for programs' state, or
// is on the way there, and is nothing that others obey.
func isState(below string) bool {
	return slices.ContainsFunc(stateTrees, func(d string) bool { return within(below, d) || within(d, below) }) &&
		!slices.ContainsFunc(obeyed, func(o string) bool { return within(below, o) })
}

// isOwnName reports whether a directory's name is what the server calls itself.
func (r *Run) isOwnName(dir string) bool {
	own, dir := plainName(r.Surface.Server.Name), plainName(dir)
	return len(own) > 3 && strings.HasPrefix(dir, own)
}

// plainName is a name without what any server's may have.
func plainName(s string) string {
	return strings.Join(slices.DeleteFunc(nameWords(s), func(w string) bool { return w == "mcp" || w == "server" }), "")
}

// nameWords are the words of a name, in small letters.
func nameWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
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
		switch {
		case e.Ambiguous && !r.promisesReadOnly() || e.Rung == finding.RungAttempted:
			f.Severity = finding.Low
		case r.surprises(e):
			f.Severity = finding.High
		case r.keeps(e.Target) || r.goesOn(e) || r.besideDatabase(e.Target) || isHidden(r.stable(e.Target)) && r.isOwnFile(e.Target) || r.comesAndGoes(e):
			f.Severity = finding.Low
		case r.stood(e.Target):
			f.Severity = finding.High
		}
		out = append(out, f)
		targets = append(targets, r.stable(e.Target))
	}
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		return "“" + f.Tool + "” declares readOnlyHint=true and changed " + list(targets, 3)
	})
}
