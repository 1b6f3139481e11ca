package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm215 = Rule{Rule: cm215Doc, Check: checkCM215}

var cm215Doc = finding.Rule{
	ID: "CM215", Name: "UnexplainedChange", Title: "Undeclared file change", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "Files that other programs execute or trust are a way to persist or to gain more rights.", Fix: "Write only to paths from arguments or to the server's own state directory, and declare the change."},
	CWE:    []string{"CWE-506", "CWE-732", "CWE-284"}, OWASP: []string{"MCP02", "MCP03"},
	Help: "The server created, wrote, renamed or deleted a file, in whatever phase, and nothing explains it: no argument of the call names the file, no declaration speaks of changing something, " +
		"it is no file of the server's own, no directory of its own below the user's state, configuration or cache, and no policy allows it. What another rule reports is not told again. " +
		"The same holds for a command that has another program start something later (`crontab`, `systemctl enable`), whether or not that program is installed.\n\n" +
		"**Evidence.** The kernel's record of the change with the real path. The files of HOME and the workspaces are also compared with what they were before the server started, by their digests: what changed without a system call that was seen to do it (by a second name, say) is a change too, " +
		"and opening a file for writing without writing to it is not a change. The severity depends on the place:" +
		severityTable(actChanged) +
		"A call that changes " + manyText + " of the user's is high: a declaration of one change covers no change of many, unless it speaks of many or the call names a directory around them. " +
		"A change that was refused is low, and so is work that could be another call's, unless every tool declares to read only: then the promise binds the server at all times.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says that it keeps files there.",
}

func checkCM215(r *Run) []finding.Finding {
	var out []finding.Finding
	var targets []string
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		if !isChange(e.Kind) || e.Phase == finding.PhaseBuild || r.told[e] || r.further(e) {
			continue
		}
		if _, ok := r.Explain(i); ok {
			continue
		}
		f := r.of(&cm215Doc, e, "")
		f.Severity = r.severityOf(e)
		out = append(out, f)
		targets = append(targets, r.stable(e.Target))
	}
	out, targets = r.installs(out, targets)
	return perTool(out, targets, func(f *finding.Finding, targets []string) string {
		who := "the server (outside any call)"
		if f.Tool != "" {
			who = "“" + f.Tool + "”"
		}
		return who + " changed files that it does not declare: " + list(targets, 3)
	})
}

// installWords declare, by the program that is asked, that something is started later or set up.
var installWords = map[string][]string{
	"crontab": scheduleWords, "at": scheduleWords, "batch": scheduleWords, "schtasks": scheduleWords,
	"systemctl": serviceWords, "systemd-run": serviceWords, "loginctl": serviceWords, "update-rc.d": serviceWords, "launchctl": serviceWords,
	"chsh": {"shell"}, "code": {"vscode", "extensions", "mcp"}, "claude": {"claude", "mcp"}, "xdg-settings": {"browser", "settings"},
}

var (
	scheduleWords = []string{"cron", "crontab", "schedule", "schedules", "scheduled", "scheduler"}
	serviceWords  = []string{"systemd", "systemctl", "service", "services", "daemon", "daemons", "launchd", "launchctl", "timers"}
)

// installs adds the commands by which a program starts or obeys something later, whether or
// not it is there: on the user's machine it may be.
func (r *Run) installs(out []finding.Finding, targets []string) ([]finding.Finding, []string) {
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		t := r.Scope.Tool(e.Tool)
		program, _, _ := strings.Cut(e.Installs, " ")
		if e.Installs == "" || e.Phase == finding.PhaseBuild || r.allowed != nil && r.allowed[i] || runsCommands(&t, "") || r.asked(e.Call, program) ||
			r.shown(e.Tool, installWords[program]) && !t.ClaimsReadOnly() {
			continue
		}
		out, targets = append(out, r.of(&cm215Doc, e, "")), append(targets, "what “"+e.Installs+"” sets")
	}
	return out, targets
}

// severityOf looks an unexplained change up.
func (r *Run) severityOf(e *finding.Effect) finding.Severity {
	at := r.placeOf(e.Target)
	severity := r.severity(e, at, actChanged)
	if r.inBulk(e) {
		severity = finding.High
	}
	if e.Rung == finding.RungAttempted || e.Ambiguous && at != placeObeyed && !r.promisesReadOnly() {
		severity = finding.Low
	}
	return severity
}

// isChange reports whether a kind of effect alters the file system.
func isChange(k finding.EffectKind) bool {
	return k == finding.FileWrite || k == finding.FileDelete || k == finding.FileMeta
}

func (r *Run) placeOf(p string) place {
	switch {
	case r.isObeyed(p) || r.isObeyedInWorkspace(p):
		return placeObeyed
	case r.stood(p):
		return placeUser
	}
	return placeNew
}

// stood reports whether a file stood there before the server started.
func (r *Run) stood(p string) bool { return r.isDecoy(p) || r.Planted[p] }

// promisesReadOnly reports whether every tool declares to read only: no call can then be
// the reason of a change.
func (r *Run) promisesReadOnly() bool {
	m := r.remembered()
	if m.readOnly == nil {
		all := len(r.Scope.Tools) > 0
		for i := range r.Scope.Tools {
			all = all && r.Scope.Tools[i].ClaimsReadOnly()
		}
		m.readOnly = &all
	}
	return *m.readOnly
}

// obeyedInRepository are the places of a working tree whose contents editors, agents, git
// and build services start or obey.
var obeyedInRepository = []string{
	".git/hooks", ".git/config", ".git/info/attributes", ".gitattributes", ".githooks", ".husky", ".pre-commit-config.yaml", ".gitmodules",
	".vscode", ".idea", ".cursor", ".cursorrules", ".windsurf", ".windsurfrules", ".claude", "CLAUDE.md", "AGENTS.md", "GEMINI.md", ".mcp.json", ".kiro", ".roo", ".zed", ".devcontainer",
	".github", ".gitlab-ci.yml", ".circleci", "Jenkinsfile", "Dockerfile", "Makefile", ".envrc", ".npmrc", "package.json", "setup.py", "pyproject.toml", "conftest.py", "sitecustomize.py",
	"usercustomize.py", ".clinerules", ".junie", ".continue", ".opencode", "opencode.json", ".aider.conf.yml", ".agents", ".yarnrc.yml", ".mise.toml", ".tool-versions", "justfile", "Taskfile.yml", "noxfile.py", "tox.ini", ".exrc", ".bazelrc", ".eslintrc.js", "docker-compose.yml", "compose.yaml",
	".pnpmfile.cjs", "pnpm-workspace.yaml", ".pnp.cjs", ".yarn", ".yarnrc", "bunfig.toml", "lefthook.yml", ".lefthook.yml", ".lintstagedrc", ".lintstagedrc.js", ".eslintrc.cjs", "eslint.config.js", "eslint.config.mjs", ".prettierrc.js", "babel.config.js",
	"jest.config.js", "vite.config.js", "vite.config.ts", "vitest.config.ts", "webpack.config.js", "rollup.config.js", "postcss.config.js", "next.config.js", "gulpfile.js", "Gruntfile.js", "Rakefile", "Gemfile", "build.gradle", "settings.gradle", "gradlew", ".mvn", "mvnw",
	"build.rs", ".cargo", "CMakeLists.txt", "setup.cfg", "pytest.ini", ".rvmrc", ".gdbinit", ".lldbinit", ".vimrc", ".nvimrc", ".dir-locals.el", "azure-pipelines.yml", ".travis.yml", "bitbucket-pipelines.yml", ".drone.yml", "Procfile", "Vagrantfile", "Tiltfile", ".gitpod.yml",
}

// builtInPlace are those of obeyedInRepository that only a build of their own directory obeys: in one that a
// build writes, or that the server made, nobody builds unasked.
var builtInPlace = []string{
	"Makefile", "CMakeLists.txt", "package.json", "setup.py", "pyproject.toml", "setup.cfg", "Dockerfile", "docker-compose.yml", "compose.yaml", "justfile", "Taskfile.yml",
	"Gemfile", "Rakefile", "build.gradle", "settings.gradle", "build.rs", "Procfile", "Vagrantfile", "Tiltfile",
}

// outputDirectories are the names by which builds call the directories that they write.
var outputDirectories = []string{"build", "dist", "out", "target", "obj", "_build"}

// isOutput reports whether a directory has the name of a build's output, or nothing stood in it before the server started.
func (r *Run) isOutput(dir string) bool {
	if slices.Contains(outputDirectories, path.Base(dir)) {
		return true
	}
	for p := range r.Planted {
		if within(p, dir) {
			return false
		}
	}
	return len(r.Planted) > 0
}

// isObeyedInWorkspace reports whether a path of a workspace, or of a repository in it,
// is one of obeyedInRepository, or a compiled module.
func (r *Run) isObeyedInWorkspace(p string) bool {
	for _, w := range r.Workspaces {
		rest, ok := strings.CutPrefix(p, w+"/")
		if !ok {
			continue
		}
		if isCompiled(rest) || toolSettings.MatchString(path.Base(rest)) {
			return true
		}
		parts := strings.Split(rest, "/")
		for i := range parts[:min(len(parts), 4)] {
			below := path.Join(parts[i:]...)
			for _, o := range obeyedInRepository {
				if !within(below, o) {
					continue
				}
				if i == 0 || !slices.Contains(builtInPlace, below) || !r.isOutput(path.Dir(p)) {
					return true
				}
			}
		}
	}
	return false
}
