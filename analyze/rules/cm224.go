package rules

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
)

var cm224 = Rule{Rule: cm224Doc, Check: checkCM224}

var cm224Doc = finding.Rule{
	ID: "CM224", Name: "CommandPlanted", Title: "Command added to a file that other programs obey", Severity: finding.Medium, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Another program runs the command later, with the user's rights and without the server.", Fix: "Change only what the call asks for, or say in the description which commands are added.", Preview: true},
	CWE:    []string{"CWE-506", "CWE-94", "CWE-494"}, OWASP: []string{"MCP02", "MCP03"},
	Help: "The server changed or made a file from which other programs take commands, and a command stands there now that did not before: a script of `package.json` that npm runs by itself, a dependency or an override that comes from an address in place of a registry, a formula in a table (CSV) that asks another host, a key of `.npmrc` or of git's settings that runs or redirects, a hook, a task of an editor, a recipe of a Makefile that downloads, a build backend or an entry point, a line of a Dockerfile, a step of a build service, a crontab, a start-up file of a shell. " +
		"No argument of the call gave the command, and no declaration speaks of such. That the call may change the file, or was given its name, does not explain it.\n\n" +
		"**Evidence.** The kernel's record of the write, and the texts of the file before the server started and at the end. High is a command that downloads or runs a shell, a package from an address, and such a formula.\n\n" +
		"Quiet are commands that stood there before, whatever else changed in the file, and a tool that declares to create a project, or to add scripts, hooks, tasks and the like, where the command does not download; Dockerfiles and steps of build services may. Files over 16 KiB are not compared.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says which commands it adds.",
}

// scaffolds are words by which a tool declares to create a project.
var scaffolds = []string{"scaffold", "scaffolds", "scaffolding", "template", "templates", "boilerplate", "bootstrap", "bootstraps", "initialize", "initializes", "initialise", "init", "starter", "skeleton", "generator"}

func checkCM224(r *Run) []finding.Finding {
	var out []finding.Finding
	var targets []string
	for i := range r.Profile.Stored {
		f := &r.Profile.Stored[i]
		kind := obeyedKind(f.Path)
		before := r.Profile.Differences[f.Path].Before
		if kind == nil || within(f.Path, r.ServerDir) || f.Now == "" || f.Was == "" && (r.stood(f.Path) || before.Size > 0) || r.isTemporary(f.Path) && !r.inAWorkspace(f.Path) {
			continue
		}
		w := &f.By[0]
		if at := slices.IndexFunc(f.By, func(w profile.Writing) bool { return w.Call > 0 }); at >= 0 {
			w = &f.By[at]
		}
		for _, c := range r.planted(f, kind) {
			found := r.of(&cm224Doc, writeOf(f, w), "")
			if c.isGrave() {
				found.Severity = finding.High
			}
			where := strings.TrimPrefix(c.where+": ", ": ")
			out, targets = append(out, found), append(targets, r.stable(f.Path)+" ("+where+beginning(c.text, 120)+")")
		}
	}
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		return subject(&finding.Effect{Tool: f.Tool, Phase: f.Phase}) + " added commands that other programs run, and that neither the call nor a declaration names: " + list(targets, 3)
	})
}

// planted are the commands that stand in a file now, did not before, and that nothing names.
func (r *Run) planted(f *profile.Stored, kind *obeyedFile) []command {
	had := map[string]bool{}
	for _, c := range kind.read(f.Was) {
		had[squeezed(c.text)] = true
	}
	given, said := r.givenTo(f), r.saidOf(f)
	var out []command
	for _, c := range kind.read(f.Now) {
		loud := loudCommand.MatchString(c.text)
		if had[squeezed(c.text)] || kind.loud && !loud || gives(given, said, c) || speaksOfCommand(said, f, kind, c, loud) {
			continue
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b command) int {
		return cmp.Or(strings.Compare(a.where, b.where), strings.Compare(a.text, b.text))
	})
	return out
}

// givenTo are the texts of the arguments of all calls that wrote a file, and of the server's command.
func (r *Run) givenTo(f *profile.Stored) string {
	var b strings.Builder
	for _, w := range f.By {
		var args any
		if json.Unmarshal(r.Args[w.Call], &args) == nil {
			for _, text := range texts(args, nil) {
				b.WriteString(squeezed(text) + "\n")
			}
		}
	}
	for _, g := range r.Given {
		b.WriteString(squeezed(g) + "\n")
	}
	return b.String()
}

// saidOf are the words that the server and the tools which wrote a file say of themselves.
func (r *Run) saidOf(f *profile.Stored) map[string]bool {
	out := map[string]bool{}
	for _, s := range r.sentences() {
		if s.denies || strings.HasSuffix(s.place, "Schema") || !slices.ContainsFunc(f.By, func(w profile.Writing) bool { return serverOr(w.Tool)(s.owner) }) {
			continue
		}
		for _, w := range words(s.text) {
			out[w] = true
		}
	}
	return out
}

// programPlaces are the words of the directories of programs.
var programPlaces = []string{"usr", "local", "bin", "sbin"}

// gives reports whether texts hold a command: whole, or each of its words, but for what is
// said of the tool.
func gives(given string, said map[string]bool, c command) bool {
	if strings.Contains(given, squeezed(c.text)) {
		return true
	}
	text := c.text
	if key, value, ok := strings.Cut(text, "="); ok && len(words(key)) == 1 {
		text = value // of a setting, as ExecStart
	}
	list := slices.DeleteFunc(words(text), func(w string) bool { return len(w) < 3 })
	return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(given, w) }) &&
		!slices.ContainsFunc(list, func(w string) bool {
			return !said[w] && !slices.Contains(programPlaces, w) && !strings.Contains(given, w)
		})
}

// speaksOfCommand reports whether what the server and its tools say of themselves declares such a command.
func speaksOfCommand(said map[string]bool, f *profile.Stored, kind *obeyedFile, c command, loud bool) bool {
	spoken := slices.Clone(kind.words)
	if f.Was == "" {
		spoken = append(spoken, scaffolds...)
	}
	spoken = append(spoken, words(c.where)...)
	if loud && !kind.talks {
		spoken = slices.DeleteFunc(words(c.text), func(w string) bool { return w != "curl" && w != "wget" })
	}
	return slices.ContainsFunc(spoken, func(w string) bool { return said[w] })
}
