package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm220 = Rule{Rule: cm220Doc, Check: checkCM220}

var cm220Doc = finding.Rule{
	ID: "CM220", Name: "UndeclaredRead", Title: "Undeclared read of the user's files", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "The user's documents are private, and nobody asked the server to read them.", Fix: "Read only what an argument names, or say in the description which files the tool reads.", Preview: true},
	CWE:    []string{"CWE-200", "CWE-359", "CWE-668"}, OWASP: []string{"MCP02", "MCP10"},
	Help: "The server opened ordinary documents of the user's, or listed a directory of HOME that holds some, and nothing explains it: no argument of the call names the file or a directory around it, " +
		"and neither the tool nor the server speaks of files, folders, a project, or the place. The documents stood there before the server started. Hidden files are settings of programs and do not count; secrets have rules of their own.\n\n" +
		"**Evidence.** The kernel's record of the open with the real path. High for documents of HOME, medium where the server only listed a directory of HOME. In a workspace, where servers are expected to work, it is medium for " +
		leastWorkspaceText + " in a call and low for fewer, for one that any project has at its top (a README, a manifest), and beside a file that an argument names. It is low, too, below a directory that an earlier call gave to a tool which keeps it, by its name (set_project).\n\n" +
		"Quiet are calls that carry an attack input, tools that run commands or code, and a policy that allows the file. A tool that speaks of one file in the singular is explained by what its arguments name.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says which files it reads.",
}

const (
	// leastWorkspaceReads is how many documents of a workspace a call reads that looks around there.
	leastWorkspaceReads = 3
	leastWorkspaceText  = "three or more documents"
)

func checkCM220(r *Run) []finding.Finding {
	var out []finding.Finding
	var targets []string
	reads := r.unexplainedReads()
	looked := map[int]int{} // documents of workspaces by call
	for _, e := range reads {
		if r.inAWorkspace(e.Target) && !isProjectFile(e.Target) {
			looked[e.Call]++
		}
	}
	for _, e := range reads {
		if r.allowedFile(e) {
			continue
		}
		f := r.of(&cm220Doc, e, "")
		f.Severity = r.severity(e, r.readPlace(e, looked[e.Call]), actOpened)
		if e.Ambiguous && f.Severity == finding.High {
			f.Severity = finding.Medium
		}
		if f.Severity.Rank() > finding.Low.Rank() && r.chosenBefore(e) {
			f.Severity = finding.Low
		}
		out, targets = append(out, f), append(targets, r.stable(e.Target))
	}
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		return subject(&finding.Effect{Tool: f.Tool, Phase: f.Phase}) + " read files of the user's that it does not declare: " + list(targets, 3)
	})
}

// choosing are words in the name of a tool that keeps what it is given for later calls.
var choosing = []string{"set", "use", "open", "select", "choose", "switch", "change", "activate", "init", "initialize", "configure", "mount", "attach", "cd"}

// chosenBefore reports whether a file lies in a directory of HOME that a call before gave to a tool which, by its name, keeps
// it for later: a project that was opened, a directory that was set.
func (r *Run) chosenBefore(e *finding.Effect) bool {
	return r.givenBefore(e, func(c *profile.Call, dir string) bool {
		return len(c.Oracles) == 0 && dir != r.Home && within(dir, r.Home) && within(e.Target, dir)
	})
}

// openedBefore reports whether a call before gave a file of that name to such a tool: a database to which it switched. A link
// may have led from the path that was given to the file.
func (r *Run) openedBefore(e *finding.Effect) bool {
	return r.givenBefore(e, func(_ *profile.Call, file string) bool { return path.Base(file) == path.Base(e.Target) })
}

// givenBefore reports whether a call before an effect gave such a path to a tool that keeps what it is given.
func (r *Run) givenBefore(e *finding.Effect, is func(c *profile.Call, p string) bool) bool {
	for i := range r.Profile.Calls {
		c := &r.Profile.Calls[i]
		if c.N >= e.Call || c.Outcome != session.OutcomeOK || !slices.ContainsFunc(words(c.Tool), func(w string) bool { return slices.Contains(choosing, w) }) {
			continue
		}
		for _, text := range r.remembered().argTexts(r, c.N) {
			if p := path.Clean(text); path.IsAbs(p) && is(c, p) {
				return true
			}
		}
	}
	return false
}

// readPlace is the place of a document that was read, where its call read looked documents of
// workspaces.
func (r *Run) readPlace(e *finding.Effect, looked int) place {
	switch {
	case r.inAWorkspace(e.Target) && (looked < leastWorkspaceReads || isProjectFile(e.Target) || r.besideNamed(e)):
		return placeWorkspace
	case r.inAWorkspace(e.Target):
		return placeSeveral
	case !r.stood(e.Target):
		return placeFolder
	}
	return placeHome
}

func (r *Run) inAWorkspace(p string) bool {
	return slices.ContainsFunc(r.Workspaces, func(w string) bool { return within(p, w) })
}

// projectFiles are names that any project has at its top, in lower case and without extension:
// tools look there for what they work with.
var projectFiles = []string{"readme", "package", "pyproject", "requirements", "setup", "makefile", "dockerfile", "license", "changelog", "tsconfig", "cargo", "go", "main", "index"}

// isProjectFile reports whether a file has such a name, or says that it is a configuration.
func isProjectFile(p string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(path.Base(p)), ".")
	return slices.Contains(projectFiles, stem) || strings.Contains(stem, "config") || strings.Contains(stem, "settings")
}

// besideNamed reports whether an argument of the call names a file of the same directory: what
// belongs to a document often stands beside it.
func (r *Run) besideNamed(e *finding.Effect) bool {
	dir := path.Dir(e.Target)
	return slices.ContainsFunc(r.remembered().argTexts(r, e.Call), func(text string) bool {
		return text != "" && slices.ContainsFunc(r.userDirs(), func(w string) bool { return path.Dir(resolve(w, text)) == dir })
	})
}
