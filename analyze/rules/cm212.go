package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
)

var cm212 = Rule{Rule: cm212Doc, Check: checkCM212, Judges: Build}

var cm212Doc = finding.Rule{
	ID: "CM212", Name: "BuildWroteOutside", Title: "Package build changed files outside the package", Severity: finding.Low, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "An install script that changes user files persists after the package is removed.", Fix: "Write only below the package's own directory during the build."},
	CWE:    []string{"CWE-506", "CWE-732"}, OWASP: []string{"MCP04"},
	Help: "While the package was built, something outside its own directory and outside the temporary and cache directories was created, written, renamed or deleted.\n\n" +
		"**Evidence.** The kernel's record of the change with the real path. High where other programs start or obey what stands there: a shell's profile, an autostart entry, a crontab, a directory of programs, " +
		"`~/.ssh`, `~/.gitconfig`, `~/.npmrc`, another MCP client's configuration; and where it is a file of the user's that was there before. A change that was refused is low. What lies below one directory of HOME is one finding.\n\n" +
		"**False positive when** the package's documentation says that installing it sets something up for the user.",
}

// obeyed are the places below HOME whose contents other programs start or obey.
var obeyed = []string{
	".bashrc", ".bash_aliases", ".zsh_aliases", ".aliases", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".config/fish", ".config/autostart", ".config/systemd",
	".local/bin", "bin", ".ssh", ".gitconfig", ".config/git", ".npmrc", ".pypirc", ".config/pip", ".pip", ".cargo/config.toml", ".docker", ".kube", ".aws", ".vscode", ".cursor", ".claude", ".claude.json",
	".config/Claude", ".config/Code", ".codeium", ".codex", ".gemini", ".pam_environment", ".xprofile", ".xsession", ".xinitrc", ".local/share/systemd",
	".inputrc", ".vimrc", ".vim", ".config/nvim", ".emacs", ".emacs.d", ".config/emacs", ".tmux.conf", ".config/tmux", ".screenrc", ".curlrc", ".wgetrc", ".gdbinit", ".lldbinit", ".pdbrc", ".irbrc", ".pryrc", ".Rprofile", ".psqlrc", ".sqliterc", ".nanorc",
	".ipython/profile_default/startup", ".config/environment.d", ".local/share/applications", ".local/share/dbus-1", ".local/share/bash-completion", ".config/crontab", ".netrc", ".git-credentials", ".condarc", ".bunfig.toml", ".yarnrc", ".yarnrc.yml",
	".gemrc", ".bundle/config", ".config/uv", ".config/pnpm", ".config/pypoetry", ".config/composer", ".composer", ".nuget/NuGet", ".config/NuGet", ".config/go/env", ".config/helix", ".config/lazygit", ".config/starship.toml", ".config/mise", ".config/direnv", ".m2/settings.xml", ".gradle/init.d", ".gradle/gradle.properties", ".cargo/config", ".cargo/bin", "go/bin", ".npm-global", ".deno/bin", ".bun/bin", ".asdf", ".pyenv", ".nvm", ".oh-my-zsh", ".config/zsh", ".zlogout",
	".windsurf", ".continue", ".roo", ".cline", ".kiro", ".goose", ".config/goose", ".config/zed", ".config/opencode", ".config/github-copilot", ".config/Cursor", ".config/VSCodium", ".agents", ".mcp.json", "CLAUDE.md", "AGENTS.md", "GEMINI.md",
}

func checkCM212(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.FileWrite, finding.FileDelete, finding.FileMeta) {
		if e.Phase != finding.PhaseBuild || within(e.Target, r.ServerDir) {
			continue
		}
		f := r.of(&cm212Doc, e, "the build of the package changed "+r.stable(e.Target)+", which is outside the package")
		place := r.place(e.Target)
		switch {
		case e.Rung == finding.RungAttempted:
		case r.isObeyed(e.Target):
			f.Severity, place = finding.High, r.stable(e.Target)
			f.Message = "the build of the package changed " + place + ", which other programs execute or trust"
		case r.stood(e.Target):
			f.Severity, place = r.severity(e, placeUser, actChanged), r.stable(e.Target)
			f.Message = "the build of the package changed " + place + ", a file of the user's"
		}
		f.Fingerprint = finding.Fingerprint("CM212", place)
		out = append(out, f)
	}
	return first(out)
}

// place is the directory of HOME, or of the root, in which a path lies.
func (r *Run) place(p string) string {
	top, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.stable(p), "~"), "/"), "/")
	return top
}

func (r *Run) isObeyed(p string) bool {
	if strings.HasPrefix(p, "/var/spool/cron") || strings.HasPrefix(p, "/etc/") || profile.Sourced(p, r.Home) {
		return true
	}
	rest, ok := strings.CutPrefix(p, r.Home+"/")
	if !ok || r.Home == "" {
		return false
	}
	return slices.ContainsFunc(obeyed, func(o string) bool { return within(rest, o) }) || isImported(rest) || isCompiled(rest) || r.isOthersCode(rest) ||
		profile.PackageCacheOf(p, r.Home) != nil && !within(p, r.ServerDir)
}

// isCompiled reports whether Python runs a file in place of the source beside it.
func isCompiled(p string) bool {
	return path.Base(path.Dir(p)) == "__pycache__" && strings.Contains(path.Base(p), ".pyc")
}

// isImported reports whether every Python of the user's reads a file below HOME as it starts:
// what lies in the site directory (https://docs.python.org/3/library/site.html).
func isImported(below string) bool {
	return strings.HasPrefix(below, ".local/lib/python") && strings.Contains(below, "/site-packages/")
}

// within says that p is dir or lies below it.
func within(p, dir string) bool {
	return dir != "" && (p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
}
