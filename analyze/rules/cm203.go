package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm203 = Rule{Rule: cm203Doc, Check: checkCM203}

var cm203Doc = finding.Rule{
	ID: "CM203", Name: "UndeclaredDeletion", Title: "Undeclared file deletion", Severity: finding.Medium, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Users can lose data in a call that announces no deletion.", Fix: "Delete only files that the server created, or declare the deletion and set destructiveHint to true."},
	CWE:    []string{"CWE-284", "CWE-732"}, OWASP: []string{"MCP02"},
	Help: "In a call of a tool that declares no removing, moving or replacing, the server deleted a file or directory that it had not created in this run. A deletion below HOME or a workspace at shutdown counts too (low, unless the file existed before the server started, or other programs start or obey it).\n\n" +
		"**Evidence.** The kernel's record with the real path. High where the tool is annotated `destructiveHint: false` or `readOnlyHint: true`, or where other programs start or obey what was deleted, or where it stood in HOME and the declaration speaks of no files, or where one call deleted or moved away " + manyText + " of the user's, and the declaration speaks of one change; work that could belong to another call is low, and so is what git takes away in a workspace for a tool that speaks of commits or branches. A deletion that the sandbox refused counts, since elsewhere it would not have been. All deletions of a tool are one finding.\n\n" +
		"**False positive when** the server removes a leftover of an earlier run.",
}

func checkCM203(r *Run) []finding.Finding {
	// touched are links, sockets and the like, which are made in other ways.
	made, touched := map[string]bool{}, map[string]bool{}
	var out []finding.Finding
	var targets []string
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		// What the policy allows to write was made all the same.
		if e.Kind == finding.FileWrite && e.Noise == "" || e.Made {
			made[e.Target] = true
		}
		touched[e.Target] = touched[e.Target] || e.Kind != finding.FileRead && e.Kind != finding.FileDelete
		if e.Kind != finding.FileDelete || r.excused(i) {
			continue
		}
		t := r.Scope.Tool(e.Tool)
		if e.Call == 0 && (touched[e.Target] || !r.atTheEnd(e)) || made[e.Target] || r.leftBefore(e.Target) || len(t.Delete) > 0 && r.reaches(&t, e.Target) && (!r.inBulk(e) || r.coversMany(&t, e)) || r.asked(e.Call, e.Target) {
			continue
		}
		f := r.of(&cm203Doc, e, "")
		switch {
		case e.Ambiguous, e.Call == 0 && !r.stood(e.Target) && !r.surprises(e):
			f.Severity = finding.Low
		case t.ClaimsHarmless(), r.surprises(e), r.stood(e.Target) && !r.reaches(&t, e.Target), r.inBulk(e):
			f.Severity = finding.High
		case r.betweenCommits(e):
			f.Severity = finding.Low
		}
		out = append(out, f)
		targets = append(targets, r.stable(e.Target))
	}
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		who := "“" + f.Tool + "”"
		if f.Tool == "" {
			who = "the server (at shutdown)"
		}
		return who + " deleted files that it did not create, and declares no deletion: " + list(targets, 3)
	})
}

// commitWords declare that a tool moves a repository from one commit to another.
var commitWords = []string{"commit", "commits", "branch", "branches", "merge", "merges", "rebase", "rebases", "cherry", "checkout", "stash", "stashes", "revert", "reverts", "pull", "bisect", "worktree", "worktrees"}

// betweenCommits reports whether git took a file away for a tool that moves a repository to another commit: the
// repository still has it.
func (r *Run) betweenCommits(e *finding.Effect) bool {
	return e.Call > 0 && e.Actor == "git" && r.inAWorkspace(e.Target) && r.says(e.Tool, commitWords)
}

// leftBefore reports whether the server left a file in an earlier start, or a directory around one.
func (r *Run) leftBefore(name string) bool {
	if r.Left[name] {
		return true
	}
	for left := range r.Left {
		if within(left, name) {
			return true
		}
	}
	return false
}

// isDecoy reports whether a file holds a decoy.
func (r *Run) isDecoy(name string) bool {
	for _, c := range r.Canaries {
		if c.Path == name {
			return true
		}
	}
	return false
}

// atTheEnd reports whether the server did something to a user's files when it was
// stopped: then no other call can have asked for it.
func (r *Run) atTheEnd(e *finding.Effect) bool {
	if e.Phase != finding.PhaseShutdown || e.Rung != finding.RungOpened || r.ServerDir != "" && strings.HasPrefix(e.Target, r.ServerDir+"/") {
		return false
	}
	return slices.ContainsFunc(r.userDirs(), func(dir string) bool { return strings.HasPrefix(e.Target, dir+"/") })
}
