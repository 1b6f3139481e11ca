package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// rewriting is a run in which a tool changed a file, and its mode from one to another; 0 is for a file that was not there.
func rewriting(description string, before, after uint32, kind finding.EffectKind) *Run {
	const file = "/home/dana/workspace/plan.json"
	r := newRun(described("tidy", description), effect("tidy", kind, file))
	d := session.EventChanged{Path: file, After: session.FileState{Kind: "file", Mode: after}}
	if before != 0 {
		d.Before = session.FileState{Kind: "file", Mode: before}
	}
	r.Profile.Differences = map[string]session.EventChanged{file: d}
	return r
}

const tidies = "Formats a JSON file. Its access rights stay as they are."

var ofModes = []ruleCase{
	{"CM228", "every user may write", rewriting(tidies, 0o600, 0o666, finding.FileMeta), finding.High},
	{"CM228", "the call named the file", args(rewriting(tidies, 0o644, 0o646, finding.FileWrite), `{"path":"plan.json"}`), finding.High},
	{"CM228", "every user may read what was private", rewriting(tidies, 0o600, 0o644, finding.FileMeta), finding.High},
	{"CM228", "a private file was written anew", rewriting(tidies, 0o600, 0o644, finding.FileWrite), finding.Low},
	{"CM228", "a new file", rewriting(tidies, 0, 0o666, finding.FileWrite), finding.Medium},
	{"CM228", "a new file of the usual mode", rewriting(tidies, 0, 0o644, finding.FileWrite), ""},
	{"CM228", "the group may read", rewriting(tidies, 0o600, 0o640, finding.FileMeta), ""},
	{"CM228", "a program that may be run", rewriting(tidies, 0o644, 0o755, finding.FileMeta), ""},
	{"CM228", "it was so", rewriting(tidies, 0o666, 0o666, finding.FileMeta), ""},
	{"CM228", "the call gave the mode", args(rewriting(tidies, 0o644, 0o666, finding.FileMeta), `{"path":"plan.json","mode":"0666"}`), ""},
	{"CM228", "it is declared", rewriting("Makes a file writable for the team.", 0o644, 0o666, finding.FileMeta), ""},
}
