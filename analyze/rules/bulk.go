package rules

import (
	"path"
	"slices"
	"strconv"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

// manyFiles is how many files of the user's one call has to change or remove to do more than
// a declaration of one change covers.
const manyFiles = 5

// manyText is manyFiles for the rules' help.
var manyText = strconv.Itoa(manyFiles) + " or more files"

// manyWords are by which a tool or server declares to work on many files at once.
var manyWords = []string{
	"all", "every", "each", "bulk", "batch", "recursive", "recursively", "multiple", "several", "many", "whole", "entire", "tree", "matching", "pattern", "glob",
	"files", "folder", "folders", "directory", "directories", "documents", "workspace", "project", "repository", "repo", "codebase", "git", "vault", "archive", "sync", "mirror", "backup",
}

// inBulk reports whether an effect is one of many changes of the user's files in a call.
func (r *Run) inBulk(e *finding.Effect) bool {
	return e.Call > 0 && r.remembered().changedIn(r)[e.Call] >= manyFiles && r.stoodFiles(e.Target) > 0
}

// coversMany reports whether what a tool declares to change may be many files: its declaration
// or the server's says so, or the call names the file or a directory around it.
func (r *Run) coversMany(t *scope.Tool, e *finding.Effect) bool {
	return slices.ContainsFunc(manyWords, func(w string) bool { return t.Says(w) || r.Scope.Purpose.Says(w) }) || r.names(e)
}

// stoodFiles counts the files at and below a path that stood there before the server started.
func (r *Run) stoodFiles(p string) int {
	if r.stood(p) {
		return 1
	}
	n := 0
	for name := range r.Planted {
		if within(name, p) {
			n++
		}
	}
	return n
}

// changedIn counts, for each call, the files of the user's that it changed or removed and that
// its arguments do not name one by one.
func (m *memory) changedIn(r *Run) map[int]int {
	if m.changed != nil {
		return m.changed
	}
	m.changed = map[int]int{}
	type change struct {
		call   int
		target string
	}
	seen := map[change]bool{}
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		c := change{e.Call, e.Target}
		if e.Call == 0 || e.Kind != finding.FileWrite && e.Kind != finding.FileDelete || e.Rung != finding.RungOpened || e.Noise != "" || seen[c] || r.asked(e.Call, path.Base(e.Target)) {
			continue
		}
		seen[c] = true
		switch {
		case e.Kind == finding.FileDelete:
			m.changed[e.Call] += r.stoodFiles(e.Target)
		case r.stood(e.Target):
			m.changed[e.Call]++
		}
	}
	return m.changed
}
