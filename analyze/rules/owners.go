package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
)

// owners are what programs read as their own: below HOME (without a slash before it), or in any
// tree of their runtime's (a part of a path). A program's version is left out.
var owners = []struct{ programs, below, parts []string }{
	{[]string{"git", "git-remote-http", "git-remote-https"}, []string{".gitconfig", ".config/git", ".gitignore", ".gitignore_global", ".git-templates"}, []string{"/.git/", "/git-core/"}},
	{[]string{"python", "pip", "uv", "uvx", "pipx", "poetry"}, []string{".config/pip", ".pip", ".config/uv", ".config/pypoetry", ".pydistutils.cfg", ".local/lib/python", ".python_history", ".config/python"},
		[]string{"/lib/python", "/lib64/python", "/site-packages/", "/dist-packages/", "/pyvenv.cfg"}},
	{[]string{"node", "npm", "npx", "pnpm", "yarn", "bun", "deno"}, []string{".npm", ".config/npm", ".config/yarn", ".yarnrc", ".config/pnpm", ".node_modules", ".node_libraries", ".bunfig.toml", ".config/configstore"},
		[]string{"/lib/node_modules/", "/node_modules/", "/package.json", "/.pnp.cjs"}},
	{[]string{"go", "gopls"}, []string{".config/go", "go"}, []string{"/go/pkg/", "/go/src/", "/go.mod", "/go.work"}},
	{[]string{"cargo", "rustc"}, []string{".cargo", ".rustup"}, nil},
	{[]string{"ruby", "gem", "bundle"}, []string{".gem", ".gemrc", ".bundle"}, []string{"/lib/ruby/"}},
	{[]string{"java", "mvn", "gradle"}, []string{".java", ".m2", ".gradle"}, []string{"/jvm/"}},
	{[]string{"dotnet"}, []string{".dotnet", ".nuget"}, []string{"/dotnet/"}},
	{[]string{"php", "composer"}, []string{".composer", ".config/composer"}, nil},
	{[]string{"bash", "sh", "dash", "zsh", "fish"}, []string{".bashrc", ".bash_profile", ".bash_login", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".inputrc", ".config/fish"}, nil},
	{[]string{"ssh", "scp", "sftp", "ssh-keygen"}, []string{".ssh"}, nil},
	{[]string{"curl"}, []string{".curlrc", ".config/curlrc"}, nil},
	{[]string{"wget"}, []string{".wgetrc", ".wget-hsts"}, nil},
	{[]string{"sqlite"}, []string{".sqliterc", ".config/sqlite"}, nil},
	{[]string{"docker"}, []string{".docker"}, nil},
	{[]string{"kubectl", "helm"}, []string{".kube", ".config/helm"}, nil},
	{[]string{"gpg", "gpg2", "gpgsm", "gpg-agent"}, []string{".gnupg"}, nil},
	{[]string{"vim", "nvim"}, []string{".vimrc", ".vim", ".config/nvim"}, nil},
}

// ownedBy reports whether a program opens a file as its own.
func (r *Run) ownedBy(program, p string) bool {
	name := strings.TrimRight(program, ".0123456789")
	for _, o := range owners {
		if !slices.Contains(o.programs, name) && !slices.Contains(o.programs, program) {
			continue
		}
		below, inHome := strings.CutPrefix(p, r.Home+"/")
		return inHome && r.Home != "" && slices.ContainsFunc(o.below, func(dir string) bool {
			return within(below, dir) || strings.HasSuffix(dir, "python") && strings.HasPrefix(below, dir)
		}) || slices.ContainsFunc(o.parts, func(part string) bool { return strings.Contains(p+"/", part) })
	}
	return slices.ContainsFunc(browserPlaces[program], func(dir string) bool { return within(p, path.Join(r.Home, dir)) })
}

// systemPlaces are what the system keeps for all programs, and usersOwn what in them is a user's
// or another program's record.
var (
	systemPlaces = []string{"/etc", "/var", "/run", "/usr", "/opt", "/boot"}
	usersOwn     = []string{"/var/mail", "/var/spool", "/var/log", "/var/backups", "/run/user"}
)

// isSystem reports whether a file is the system's, and there for every program to read.
func isSystem(p string) bool {
	in := func(dirs []string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return within(p, dir) })
	}
	return in(systemPlaces) && !in(usersOwn) && !profile.SystemSecret(p)
}

// systemLog takes messages for the system's log, which others read.
const systemLog = "/dev/log"

// systemSockets are those by which the system hears from every program: its logs, its names.
var systemSockets = []string{systemLog, "/run/systemd", "/var/run/nscd", "/run/nscd", "/run/dbus/system_bus_socket", "/var/run/dbus/system_bus_socket"}

// launchers start the server's program as a child, and starters are what they start it by.
var (
	launchers = []string{"npm", "npx", "npm-cli", "npx-cli", "pnpm", "pnpx", "yarn", "bun", "bunx", "uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "pixi", "sh", "bash", "dash", "make", "go", "cargo", "dotnet", "tsx", "ts-node"}
	starters  = []string{"sh", "bash", "dash", "node", "python", "uv", "uvx", "bun", "deno", "java", "ruby", "php", "dotnet", "npm", "npx", "go", "cargo", "rustc", "compile", "link", "asm", "cgo", "buildid"}
)

// launches reports whether a program that ran before the server answered is an interpreter, and
// a launcher started the server.
func (r *Run) launches(e *finding.Effect) bool {
	return isStart(e.Phase) && slices.Contains(starters, unversioned(e.Target)) && r.remembered().launch(r).byLauncher
}

// unversioned is a program's name without its version and the ending of a script.
func unversioned(program string) string {
	return strings.TrimRight(strings.TrimSuffix(path.Base(program), path.Ext(program)), ".0123456789")
}

// isLibrary reports whether a file is a shared library, which the loader opens.
func isLibrary(p string) bool {
	name := strings.TrimRight(path.Base(p), ".0123456789")
	return strings.HasSuffix(name, ".so")
}

// helperPrograms are those of the system that tell facts of the machine or of a path, and change nothing.
var helperPrograms = []string{
	"uname", "arch", "nproc", "getconf", "ldconfig", "ldd", "lsb_release", "hostname", "locale", "tty", "stty", "id", "whoami", "date", "env", "which", "type", "test", "true", "false", "echo", "printf", "pwd",
	"dirname", "basename", "readlink", "realpath", "ls", "stat", "getent", "sw_vers", "sleep",
}

// isHelper reports whether a program is one of helperPrograms in a directory of the system.
func isHelper(p string) bool {
	return slices.Contains([]string{"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin"}, path.Dir(p)) && slices.Contains(helperPrograms, path.Base(p))
}
