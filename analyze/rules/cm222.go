package rules

import (
	"path"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var cm222 = Rule{Rule: cm222Doc, Check: checkCM222}

var cm222Doc = finding.Rule{
	ID: "CM222", Name: "DeletionBeyondCall", Title: "Deletion beyond what the call named", Severity: finding.Medium, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "A user who confirms the deletion of one thing loses others.", Fix: "Delete only what the arguments name, or say in the description what else goes.", Preview: true},
	CWE:    []string{"CWE-284", "CWE-732"}, OWASP: []string{"MCP02"},
	Help: "A tool that declares to delete, move or replace something was given the name of one file, and the same call took away further files of the same kind in the same directory or below it, which no argument and no answer names. " +
		"They stood there before the server started, or an earlier call made them by their names. A tool that is annotated as not destructive, declares no deletion, and takes away what an earlier call made by name, is a finding too.\n\n" +
		"**Evidence.** The kernel's record of each deletion. High where the declaration speaks of one thing in the singular, or says that no other goes; work that could belong to another call is low. " +
		"Quiet are arguments that are lists, patterns, directories or limits, a tool that speaks of many, what belongs to the named file (the same name with another ending), and caches, logs, backups, indexes, temporary files and trash folders. What CM203 tells of many files is not told again.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says what is deleted along.",
}

var (
	// deletes is a verb by which something goes from its place.
	deletes = lazyregexp.New(`(?i)\b(?:delet|remov|eras|unlink|discard|trash|drop|mov|renam|archiv|tak)(?:es?|ed|ing|s)?\b`)
	// nothingMore are promises that nothing but what was named goes.
	nothingMore = lazyregexp.New(`(?i)\bno other|\bnothing (?:else|more)\b|\bexactly one\b|\bone at a time\b|\bonly (?:the|that|this|one|what|a)\b|\b(?:that|this|the|one) (?:[\w-]+ )?(?:only|alone)\b|\b(?:never|not|n't) (?:touch|delete|remove|affect|change)\w* (?:any(?:thing)? )?(?:other|another|else)\b|\bleav(?:es?|ing) (?:all |every |the )*(?:others?|rest)\b`)
	// othersStay are promises of the same kind that speak of no deletion.
	othersStay = lazyregexp.New(`(?i)\b(?:others?|the rest|everything else|all else) (?:[\w-]+ ){0,2}?(?:stays?|remains?|kept|untouched|unchanged|left)\b`)
	// oneObject is a deletion of a thing in the singular.
	oneObject = lazyregexp.New(`(?i)\b(?:delet|remov|eras|unlink|discard|trash|mov|renam|archiv)(?:es?|s)? (?:(?:only|exactly|just) )?(?:(?:an?|one|this|the (?:one|single))\b|the (?:(?:named|given|specified|selected|chosen|existing) )?[\w-]*[^\Ws]\b)`)
)

// wholesaleWords are by which a tool declares that more goes than what is named, and pluralWords do so where
// it speaks of no one thing: a note goes from the notes folder.
var (
	wholesaleWords = []string{
		"all", "every", "each", "bulk", "batch", "recursive", "recursively", "multiple", "several", "many", "whole", "entire", "tree", "matching", "pattern", "glob", "older", "oldest", "expired", "stale", "unused", "orphan", "orphans", "orphaned",
		"duplicate", "duplicates", "clean", "cleans", "cleanup", "clear", "clears", "purge", "purges", "prune", "prunes", "rotate", "rotates", "related", "linked", "attachments", "children", "subtasks", "replies", "dependents", "cascade", "cascades",
		"series", "group", "album", "sync", "mirror", "merge", "merges", "along", "together",
	}
	pluralWords = []string{"files", "notes", "items", "entries", "records", "folder", "folders", "directory", "directories", "project", "workspace", "repository", "vault"}
)

// retentionWords are by which a tool or server declares that what is old goes.
var retentionWords = []string{"keep", "keeps", "last", "latest", "recent", "oldest", "older", "limit", "maximum", "most", "rotate", "rotates", "rotation", "prune", "prunes", "expire", "expires", "temporary", "cache", "cached", "undo", "session", "retention", "full", "evict", "evicts"}

func checkCM222(r *Run) []finding.Finding {
	var out []finding.Finding
	var targets []string
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		if r.excused(i) || r.told[e] {
			continue
		}
		further, lapsed := r.further(e), r.lapses(e)
		if !further && !lapsed {
			continue
		}
		f := r.of(&cm222Doc, e, "")
		switch {
		case e.Ambiguous:
			f.Severity = finding.Low
		case further && (r.promisesNoOther(e.Tool) || r.deletesOne(e.Tool)):
			f.Severity = finding.High
		}
		out, targets = append(out, f), append(targets, r.stable(e.Target))
	}
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		if t := r.Scope.Tool(f.Tool); len(t.Delete) == 0 {
			return "“" + f.Tool + "” declares destructiveHint=false and no deletion, and deleted what an earlier call made: " + list(targets, 5)
		}
		promise := ""
		if r.promisesNoOther(f.Tool) {
			promise = ", although it promises that no other goes"
		}
		return "“" + f.Tool + "” deleted more than the call named" + promise + ": " + list(targets, 5)
	})
}

// promisesNoOther reports whether a tool, or the server, promises that nothing but what is named goes.
func (r *Run) promisesNoOther(tool string) bool {
	return r.once("no other goes", tool, func() string {
		return r.sentenceOf(serverOr(tool), func(s *sentence) bool {
			return othersStay.MatchString(s.text) || nothingMore.MatchString(s.text) && deletes.MatchString(s.text)
		})
	}) != ""
}

// deletesOne reports whether a tool says that it deletes a thing in the singular.
func (r *Run) deletesOne(tool string) bool {
	return r.once("one goes", tool, func() string {
		return r.sentenceOf(func(o detect.Owner) bool { return o.Name == tool }, func(s *sentence) bool { return oneObject.MatchString(s.text) })
	}) != ""
}

// speaksOfMany reports whether a tool declares that more goes than what is named.
func (r *Run) speaksOfMany(t *scope.Tool) bool {
	return slices.ContainsFunc(wholesaleWords, t.Says) || slices.ContainsFunc(pluralWords, t.Says) && !r.deletesOne(t.Name)
}

// further reports whether an effect takes away a file beside the one that its call named.
func (r *Run) further(e *finding.Effect) bool {
	t := r.Scope.Tool(e.Tool)
	if e.Call == 0 || e.Rung != finding.RungOpened || len(t.Delete) == 0 || !r.takesAway(e) || !r.isUsers(e) || r.isUpkeep(e.Target) || r.attacks(e.Call) {
		return false
	}
	a := r.remembered().aimOf(r, e.Call)
	promise := r.promisesNoOther(e.Tool)
	if a.many || len(a.named) == 0 || slices.Contains(a.named, e.Target) || a.answered[e.Target] && !promise || !promise && r.speaksOfMany(&t) || r.renumbers(e) {
		return false
	}
	below := slices.ContainsFunc(a.named, func(n string) bool { return within(e.Target, path.Dir(n)) && (promise || sameKind(n, e.Target)) })
	return below && !slices.ContainsFunc(a.named, func(n string) bool { return belongsTo(e.Target, n) })
}

// lapses reports whether a tool that declares to destroy nothing takes away what an earlier call made
// by its name.
func (r *Run) lapses(e *finding.Effect) bool {
	t := r.Scope.Tool(e.Tool)
	if e.Kind != finding.FileDelete || e.Call == 0 || e.Rung != finding.RungOpened || len(t.Delete) > 0 || !t.ClaimsHarmless() || t.ClaimsReadOnly() || r.stood(e.Target) || r.isUpkeep(e.Target) || r.attacks(e.Call) {
		return false
	}
	said := func(w string) bool { return t.Says(w) || r.Scope.Purpose.Says(w) }
	a := r.remembered().aimOf(r, e.Call)
	return r.isDocument(e.Target) && r.madeByName(e) && !a.many && !slices.Contains(a.named, e.Target) && !r.comesAndGoes(e) && !r.renumbers(e) && !slices.ContainsFunc(retentionWords, said)
}
