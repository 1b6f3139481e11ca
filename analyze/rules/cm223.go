package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

var cm223 = Rule{Rule: cm223Doc, Check: checkCM223}

var cm223Doc = finding.Rule{
	ID: "CM223", Name: "StoredDespitePromise", Title: "Data stored against a promise", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Who relied on the promise gave the server data that others can now read on the disk.", Fix: "Keep nothing, or say in the description what is kept, where and for how long.", Preview: true},
	CWE:    []string{"CWE-312", "CWE-359", "CWE-532"}, OWASP: []string{"MCP02", "MCP10"},
	Help: "A tool, or the server, promises that what it is given is not stored, saved, logged, kept or written, and a call of that tool wrote a file and left it. The promise holds for caches, logs, the server's own state and a temporary file that grows from call to call. What the server itself promises holds outside of calls too.\n\n" +
		"**Evidence.** The kernel's record of the write, and the text of the file at the end. High where the file holds a text that the call was given (as it is, in hexadecimal digits or in base 64), or cannot be read as a short text and grew by what the call was given. " +
		"High, too, are names of directories and links that are about as long as what the calls were given, and long names of empty files if each call left another. Medium is another file of the server's own, or of the user's documents.\n\n" +
		"Quiet are files that an argument names, caches of interpreters and libraries, locks, process ids and empty files, a tool that itself declares to keep something, and a promise about something else, such as credentials.\n\n" +
		"**False positive when** the file is taken away after the session.",
}

func checkCM223(r *Run) []finding.Finding {
	var out []finding.Finding
	var targets []string
	for i := range r.Profile.Stored {
		f := &r.Profile.Stored[i]
		if f.IsBookkeeping() || r.besideDatabase(f.Path) || f.Sized && f.Grown <= 0 && f.Now == "" {
			continue
		}
		for _, w := range f.By {
			severity := r.breaksByStoring(f, &w)
			if severity == "" {
				continue
			}
			found := r.of(&cm223Doc, writeOf(f, &w), "")
			found.Severity = severity
			out, targets = append(out, found), append(targets, r.stable(f.Path))
		}
	}
	for _, n := range r.keptInNames() {
		out, targets = append(out, r.of(&cm223Doc, &finding.Effect{Kind: finding.FileWrite, Target: n.Path, Tool: n.Tool, Call: n.Call, Phase: n.Phase, Rung: finding.RungOpened, Ambiguous: n.Ambiguous, Evidence: []finding.Evidence{n.Evidence}}, "")),
			append(targets, "names of directories such as "+r.stable(n.Path))
	}
	for _, w := range r.keptInFileNames() {
		out, targets = append(out, r.of(&cm223Doc, w, "")), append(targets, "names of empty files such as "+r.stable(w.Target))
	}
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		what := "left files"
		if f.Severity == finding.High {
			what = "kept what it was given in"
		}
		return subject(&finding.Effect{Tool: f.Tool, Phase: f.Phase}) + " " + what + " " + list(targets, 3) + ", although it promises otherwise: “" + r.promiseToKeepNothing(f.Tool) + "”"
	})
}

// writeOf is the effect of a write of a file that was left.
func writeOf(f *profile.Stored, w *profile.Writing) *finding.Effect {
	return &finding.Effect{Kind: finding.FileWrite, Target: f.Path, Tool: w.Tool, Call: w.Call, Phase: w.Phase, Rung: finding.RungOpened, Ambiguous: w.Ambiguous, Evidence: []finding.Evidence{w.Evidence}}
}

// breaksByStoring is the severity of what a write kept against a promise, "" for none.
func (r *Run) breaksByStoring(f *profile.Stored, w *profile.Writing) finding.Severity {
	tool := w.Tool
	if w.Call == 0 {
		tool = "" // what the server itself promises
	}
	if w.Phase == finding.PhaseBuild || r.promiseToKeepNothing(tool) == "" || r.names(writeOf(f, w)) {
		return ""
	}
	holds := slices.ContainsFunc(f.Held, func(h profile.Held) bool { return w.Call > 0 && h.Call == w.Call && !r.declaresText(h.Word, w.Tool) })
	own := r.ownPath(f.Path) || r.isOwnState(f.Path) || r.isDocument(f.Path) || r.isTemporary(f.Path) && ofSeveralCalls(f)
	switch {
	case w.Ambiguous && (holds || own):
		return finding.Medium
	case holds, own && f.Now == "" && f.Sized && r.grewByArguments(f):
		return finding.High
	case own && !slices.ContainsFunc([]string{"cache", "caches", "cached"}, func(word string) bool { t := r.Scope.Tool(w.Tool); return t.Says(word) || r.Scope.Purpose.Says(word) }):
		return finding.Medium
	}
	return ""
}

// ofSeveralCalls reports whether more than one call wrote a file, as to a log.
func ofSeveralCalls(f *profile.Stored) bool {
	return slices.ContainsFunc(f.By, func(w profile.Writing) bool { return w.Call != f.By[0].Call })
}

// declaresText reports whether a text stands in what a tool declares, as a value of an enumeration does.
func (r *Run) declaresText(word, tool string) bool {
	return slices.ContainsFunc(r.Surface.Tools, func(t wire.Tool) bool {
		return t.Name == tool && strings.Contains(strings.ToLower(string(t.InputSchema)), strings.ToLower(word))
	})
}

// leastSpelling is how many calls of a tool have to spell names before these can tell of what the calls were given.
const leastSpelling = 3

// keptInNames are the first calls of each tool that made directories or links whose names are about as long as what the
// calls were given, and longer for more: a digest has one length.
func (r *Run) keptInNames() (out []profile.Names) {
	of := map[string][]profile.Names{}
	var tools []string
	for _, n := range r.Profile.Spelled {
		if !r.ownPath(n.Path) && !r.isOwnState(n.Path) && !r.isTemporary(n.Path) || r.promiseToKeepNothing(n.Tool) == "" {
			continue
		}
		if of[n.Tool] == nil {
			tools = append(tools, n.Tool)
		}
		of[n.Tool] = append(of[n.Tool], n)
	}
	for _, tool := range tools {
		var given, bytes []int
		for _, n := range of[tool] {
			if size := r.sizeGiven(n.Call); size >= leastKept && n.Bytes >= size/2 {
				given, bytes = append(given, size), append(bytes, n.Bytes)
			}
		}
		if len(given) >= leastSpelling && slices.Max(given) >= 2*slices.Min(given) && slices.Max(bytes) >= 2*slices.Min(bytes) {
			out = append(out, of[tool][0])
		}
	}
	return out
}

// leastName is how long the name of an empty file is, in bytes, that holds more than the purpose of the file.
const leastName = 16

// keptInFileNames are the first of the empty files that calls of a tool left, each with another long name: what a name
// holds is kept as well as what a file does. Digests have one length, and say only that something was seen.
func (r *Run) keptInFileNames() (out []*finding.Effect) {
	type place struct{ tool, dir string }
	left := map[place][]*profile.Stored{}
	var order []place
	for i := range r.Profile.Stored {
		f := &r.Profile.Stored[i]
		w := &f.By[0]
		if f.IsBookkeeping() || !f.Sized || f.Grown != 0 || f.Now != "" || f.Was != "" || w.Call == 0 || len(path.Base(f.Path)) < leastName || r.names(writeOf(f, w)) || r.promiseToKeepNothing(w.Tool) == "" {
			continue
		}
		at := place{w.Tool, path.Dir(f.Path)}
		if left[at] == nil {
			order = append(order, at)
		}
		left[at] = append(left[at], f)
	}
	for _, at := range order {
		lengths, calls := []int{}, map[int]bool{}
		for _, f := range left[at] {
			lengths, calls[f.By[0].Call] = append(lengths, len(path.Base(f.Path))), true
		}
		if len(calls) >= leastSpelling && slices.Max(lengths) > slices.Min(lengths) {
			out = append(out, writeOf(left[at][0], &left[at][0].By[0]))
		}
	}
	return out
}

// sizeGiven is how many bytes of text a call was given.
func (r *Run) sizeGiven(call int) (n int) {
	for _, text := range r.remembered().argTexts(r, call) {
		n += len(text)
	}
	return n
}

// leastKept is how long what a call was given has to be, in bytes, for a file's size to tell of it.
const leastKept = 24

// grewByArguments reports whether a file grew by at least what the calls that wrote it were given.
func (r *Run) grewByArguments(f *profile.Stored) bool {
	given := 0
	for _, w := range f.By {
		given += r.sizeGiven(w.Call)
	}
	return given >= leastKept && f.Grown >= int64(given)
}
