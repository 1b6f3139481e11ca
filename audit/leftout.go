package audit

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/secrets"
)

// passesOver reports whether the walk leaves a directory out, and counts it.
func (a *auditor) passesOver(p string) bool {
	switch {
	case p == ".":
		return false
	case slices.Contains(a.skip, p):
		return true
	case a.isTracked(p):
		return false
	case isStore(path.Base(p)):
		return true // git takes nothing from there
	case isSkipped(p), a.isRun(p):
		a.report.LeftOut++
		return true
	}
	return a.isIgnored(p, true)
}

// runFiles are what coalmine writes about each run, full of decoys of secrets.
var runFiles = []string{"plan.json", "session.jsonl", "trace.jsonl"}

// isRun reports whether a directory holds a run of coalmine's.
func (a *auditor) isRun(p string) bool {
	return !slices.ContainsFunc(runFiles, func(name string) bool {
		info, err := fs.Stat(a.files, path.Join(p, name))
		return err != nil || !info.Mode().IsRegular()
	})
}

// leavesOut is the same for a file.
func (a *auditor) leavesOut(p string) bool {
	if a.isTracked(p) {
		return false
	}
	// Below such a directory the walk came for tracked files alone.
	return isSkipped(path.Dir(p)) || a.isIgnored(p, false)
}

func (a *auditor) isIgnored(p string, isDir bool) bool {
	if !a.ignored.has(p, isDir) {
		return false
	}
	a.report.Ignored++
	return true
}

func (a *auditor) isTracked(p string) bool { return a.tracked != nil && a.tracked(p) }

// isSkipped reports whether a path leads through a directory of other people's code.
func isSkipped(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if skipped[part] {
			return true
		}
	}
	return false
}

// isStore reports whether a directory of this name is a version control system's own.
func isStore(name string) bool { return name == ".git" || name == ".hg" || name == ".svn" }

// isData reports whether whoever loads a file of this name takes it as data.
func isData(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".json", ".jsonc", ".json5", ".toml", ".yaml", ".yml", ".env", ".css", ".svg", ".csv", ".xml", ".lock":
		return true
	}
	return false
}

// machines are how programs of a machine begin, and packed archives and pictures. They are for a probe.
var (
	machines = []string{"\x7fELF", "\x00asm", "MZ", "\xfe\xed\xfa", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"}
	pictures = []string{"PK", "\x1f\x8b", "\x89PNG", "\xff\xd8", "GIF8"}
)

// isMachine reports whether data is a program of a machine.
func isMachine(data []byte) bool { return begins(data, machines) && secrets.IsBinary(data) }

func begins(data []byte, list []string) bool {
	return slices.ContainsFunc(list, func(m string) bool { return bytes.HasPrefix(data, []byte(m)) })
}

// isUnreadCode reports whether a file that is no text is code that is not looked at, though a
// source should stand in its place.
func isUnreadCode(p string, data []byte, isLoaded bool) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".pyc", ".pyo":
		return isLoaded || isSkipped(path.Dir(p))
	}
	return isLoaded && !begins(data, machines) && !begins(data, pictures)
}
