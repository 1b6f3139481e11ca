package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var cm114 = Rule{Rule: cm114Doc, Check: checkCM114}

var cm114Doc = finding.Rule{
	ID: "CM114", Name: "DownloadedCodeRun", Title: "Downloaded code executed", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "Nobody reviewed the downloaded code, and it can change between two runs.", Fix: "Ship the program in the package, or verify the download against a pinned hash before running it.", Preview: true},
	CWE:    []string{"CWE-494", "CWE-829"}, OWASP: []string{"MCP04", "MCP05"},
	Help: "In one call, or in one phase outside calls, the server tried to reach the network and then ran a program from a temporary directory, HOME or a workspace, or gave such a file to an interpreter. Or it gave a shell a line that pipes a download into an interpreter. Nobody reviewed the code that runs then.\n\n" +
		"**Evidence.** The kernel's record of the exec, with its arguments. A tool or server that declares to run programs or to install something is quiet, and so is a program of the server's own directory.\n\n" +
		"**False positive when** a tool's documentation says that it fetches its helper program.",
}

// piped is a shell's line that hands a download to an interpreter.
var piped = lazyregexp.New(`\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo\s+)?(?:/\S*/)?(?:ba|z|da)?sh\b|\b(?:curl|wget)\b[^|;&]*\|\s*(?:python3?|node|perl|ruby|php)\b|(?:ba|z|da)?sh\s+(?:-c\s+)?["']?[<$]\((?:curl|wget)\b`)

// interpreters are programs that run the file that they are given.
var interpreters = []string{"sh", "bash", "dash", "zsh", "node", "nodejs", "deno", "bun", "perl", "ruby", "php", "python", "python3"}

func checkCM114(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Exec) {
		t := r.Scope.Tool(e.Tool)
		if e.Phase == finding.PhaseBuild || len(t.Exec) > 0 || len(r.Scope.Purpose.Exec) > 0 || r.says(e.Tool, []string{"install", "installs", "installer", "update", "updates", "upgrade"}) {
			continue
		}
		line := strings.Join(e.Argv, " ")
		what := ""
		switch {
		case piped.MatchString(line):
			what = "made a shell run a download"
		case e.Rung == finding.RungOpened && r.fetchedBefore(e):
			if file := r.unreviewed(e); file != "" {
				what = "tried to reach the network and then ran " + r.stable(file)
			}
		}
		if what == "" {
			continue
		}
		f := r.of(&cm114Doc, e, subject(e)+" "+what)
		f.Fingerprint = finding.Fingerprint("CM114", e.Tool)
		out = append(out, f)
	}
	return first(out)
}

// unreviewed is the file that an exec runs, where that lies neither in the system nor in the
// server's own directory, "" otherwise.
func (r *Run) unreviewed(e *finding.Effect) string {
	file := e.Target
	if name := strings.TrimRight(path.Base(file), "0123456789."); slices.Contains(interpreters, name) || slices.Contains(interpreters, path.Base(file)) {
		file = ""
		for _, a := range e.Argv[min(len(e.Argv), 1):] {
			if !strings.HasPrefix(a, "-") {
				file = a
				break
			}
		}
	}
	dirs := append(r.userDirs(), "/tmp", "/var/tmp", "/dev/shm")
	if r.stood(file) || r.ServerDir != "" && within(file, r.ServerDir) || !slices.ContainsFunc(dirs, func(d string) bool { return within(file, d) }) {
		return ""
	}
	return file
}

// fetchedBefore reports whether the call or phase of an exec reached for the network before it.
func (r *Run) fetchedBefore(e *finding.Effect) bool {
	return len(e.Evidence) > 0 && slices.ContainsFunc(r.Profile.Effects, func(n finding.Effect) bool {
		return leaving(&n) && n.Call == e.Call && n.Phase == e.Phase && len(n.Evidence) > 0 && n.Evidence[0].Time <= e.Evidence[0].Time
	})
}
