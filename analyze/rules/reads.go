package rules

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// The words by which a tool or server declares to read files of the user's. collections stand
// for many of them or for a place, and ofProjects for what lies in a workspace and not among the user's documents; of one
// of single speaks any tool that is handed its text or its path.
var (
	collections = []string{
		"files", "folder", "folders", "directory", "directories", "documents", "docs", "notes", "notebook", "notebooks", "vault", "disk", "disks", "filesystem", "desktop", "downloads", "pictures", "photos", "images",
		"pdfs", "spreadsheets", "reports", "invoices", "receipts", "dotfiles", "archive", "archives", "home", "knowledge", "wiki", "journal", "diary", "paths", "tree", "glob", "grep", "ripgrep", "indexed",
	}
	ofProjects = []string{
		"project", "projects", "workspace", "workspaces", "codebase", "repository", "repositories", "repo", "repos", "source", "sources", "code", "git", "drive", "drives", "storage", "library", "backup", "backups",
		"lint", "linter", "lints", "compile", "build", "builds", "tests", "index", "indexes", "corpus", "dataset", "datasets", "tables", "logs",
	}
	single = []string{"file", "document", "note", "path", "image", "photo", "pdf", "csv", "spreadsheet", "report", "table", "database", "log"}
)

// leastStem is how long a file's name has to be to explain a read where it stands in an argument.
const leastStem = 4

// explainRead is what explains that a document of the user's was read.
func (r *Run) explainRead(e *finding.Effect) (finding.Explanation, bool) {
	stem, _, _ := strings.Cut(path.Base(e.Target), ".")
	switch {
	case e.Call > 0 && (r.names(e) || len(stem) >= leastStem && r.asked(e.Call, stem)), r.openedBefore(e):
		return finding.Explanation{Class: finding.ClassArgument}, true
	case r.Rooted && r.inAWorkspace(e.Target):
		return finding.Explanation{Class: finding.ClassArgument, Text: "command"}, true
	case r.Left[e.Target]:
		return finding.Explanation{Class: finding.ClassOwn}, true
	case r.confinedAway(e) != nil: // no word takes the promise back
		return unexplained, false
	}
	if p := r.saysPlace(e); p != "" {
		return finding.Explanation{Class: finding.ClassClaim, Where: "description", Text: p}, true
	}
	for _, t := range r.whoMayRead(e) {
		if len(t.Shell)+len(t.Code) > 0 {
			return finding.Explanation{Class: finding.ClassClaim, Where: "description", Text: "runs commands"}, true
		}
		if w := r.readWord(t, e); w != "" {
			return mention("description", w), true
		}
	}
	if w := r.resourceWord(e); w != "" {
		return mention("description", w), true
	}
	return finding.Explanation{}, false
}

// leastAttackedReads is how many documents of HOME a call with an attack input reads that names none of them: what
// such an input names in a way of its own is one file.
const leastAttackedReads = 3

// declaredPath is a path in a declaration.
var declaredPath = lazyregexp.New(`(?:~|/[\w.-]+)(?:/[\w.-]+)*`)

// saysPlace is the directory around a file that the tool, or the server, names by its path, "" for none: HOME, or one
// below it.
func (r *Run) saysPlace(e *finding.Effect) string {
	for _, s := range r.sentences() {
		if s.denies || e.Tool != "" && !serverOr(e.Tool)(s.owner) || !strings.Contains(s.text, "/") {
			continue
		}
		for _, found := range declaredPath.FindAllString(s.text, maxPlaces) {
			p := strings.TrimRight(found, ".")
			if rest, ok := strings.CutPrefix(p, "~/"); ok {
				p = path.Join(r.Home, rest)
			}
			if within(p, r.Home) && within(e.Target, p) {
				return found
			}
		}
	}
	return ""
}

// maxPlaces bounds the paths of a sentence.
const maxPlaces = 16

// unexplainedReads are the reads of documents that nothing explains. A call that carries an attack
// input may name a file in a way of its own.
func (r *Run) unexplainedReads() []*finding.Effect {
	m := r.remembered()
	if m.reads != nil {
		return *m.reads
	}
	attacked := map[int]bool{}
	for i := range r.Profile.Calls {
		c := &r.Profile.Calls[i]
		attacked[c.N] = len(c.Oracles) > 0
	}
	out := []*finding.Effect{}
	ofHome := map[int]int{}
	for i := range r.Profile.Reads {
		e := &r.Profile.Reads[i]
		if _, ok := r.explainRead(e); !ok {
			out = append(out, e)
			if attacked[e.Call] && !r.inAWorkspace(e.Target) {
				ofHome[e.Call]++
			}
		}
	}
	out = slices.DeleteFunc(out, func(e *finding.Effect) bool {
		t := r.Scope.Tool(e.Tool)
		return attacked[e.Call] && (ofHome[e.Call] < leastAttackedReads || len(t.Paths) > 0)
	})
	m.reads = &out
	return out
}

// whoMayRead are the scopes of those whose work a read may be: of the tool and the server, or of
// all tools where it is outside of calls or may be another call's.
func (r *Run) whoMayRead(e *finding.Effect) []*scope.Tool {
	out := []*scope.Tool{&r.Scope.Purpose}
	for i := range r.Scope.Tools {
		if t := &r.Scope.Tools[i]; e.Tool == "" || e.Ambiguous || t.Name == e.Tool {
			out = append(out, t)
		}
	}
	return out
}

// readWord is the word by which a scope declares to read such a file, "" for none: a word for a
// collection of files, or one of the file's own path.
func (r *Run) readWord(t *scope.Tool, e *finding.Effect) string {
	words := r.collectionsOf(e)
	if e.Call > 0 && len(t.Paths) == 0 && len(r.remembered().argTexts(r, e.Call)) == 0 {
		words = slices.Concat(single, words) // nothing hands it the one that it speaks of
	}
	below := e.Target
	for _, dir := range r.userDirs() {
		below = strings.TrimPrefix(below, dir+"/")
	}
	for _, w := range strings.FieldsFunc(below, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if len(w) >= leastStem {
			words = append(words[:len(words):len(words)], strings.ToLower(w))
		}
	}
	says := func(w string) bool { return t.Shows(w) && (r.isProjects(e.Target) || r.saysBesideHosts(t.Name, w)) }
	if i := slices.IndexFunc(words, says); i >= 0 {
		return words[i]
	}
	return ""
}

// saysBesideHosts reports whether a tool, or the server, says a word that is no part of a host's name or of a path.
func (r *Run) saysBesideHosts(tool, word string) bool {
	return slices.ContainsFunc(r.sentences(), func(s sentence) bool {
		s.lower = declaredPath.ReplaceAllString(s.lower, " ")
		return serverOr(tool)(s.owner) && (s.mentions(word) || s.place == "name" && strings.Contains(s.lower, word) || strings.Contains(s.lower, word+"_"))
	})
}

// collectionsOf are the words for many files that may stand for the place of a file.
func (r *Run) collectionsOf(e *finding.Effect) []string {
	if r.isProjects(e.Target) {
		return slices.Concat(collections, ofProjects)
	}
	return collections
}

// projectDirs are directories of HOME where people keep what they work on.
var projectDirs = []string{"code", "src", "dev", "git", "repos", "projects", "work", "workspace", "workspaces", "go", "Projects", "Code", "dotfiles"}

// isProjects reports whether a file lies in a workspace, or where people keep their projects.
func (r *Run) isProjects(p string) bool {
	return r.inAWorkspace(p) || slices.ContainsFunc(projectDirs, func(dir string) bool { return within(p, path.Join(r.Home, dir)) })
}

// resourceWord is such a word of the resource, template or prompt that was asked for.
func (r *Run) resourceWord(e *finding.Effect) string {
	if e.Call == 0 || slices.ContainsFunc(r.Scope.Tools, func(t scope.Tool) bool { return t.Name == e.Tool }) {
		return ""
	}
	names := []string{e.Tool}
	for _, x := range r.Surface.Resources {
		if x.URI == e.Tool {
			names = append(names, x.Name)
		}
	}
	for _, x := range r.Surface.Templates {
		if x.URITemplate == e.Tool {
			names = append(names, x.Name)
		}
	}
	for _, d := range r.texts() {
		if d.owner.Kind == detect.OwnerTool || !slices.Contains(names, d.owner.Name) {
			continue
		}
		for _, w := range slices.Concat(single, r.collectionsOf(e)) {
			if mentions(d.text, w) || strings.HasPrefix(d.text, "file:") {
				return w
			}
		}
	}
	return ""
}

// allowedFile reports whether the policy allows a read.
func (r *Run) allowedFile(e *finding.Effect) bool {
	return r.Policy != nil && slices.ContainsFunc(r.wants(e), func(w want) bool { return r.verdict(e, w).allowed != nil })
}
