package profile

import (
	"path"
	"slices"
	"strings"
)

// helper is a command that hands out what a user authenticates with, has copied, sees or says.
type helper struct {
	program string
	// words stand among its first arguments, in their order; a "*" stands for any.
	words string
}

func (h *helper) is(program string) bool {
	is, err := path.Match(h.program, program)
	return is && err == nil
}

// Handed is what of the user's a helper hands out.
type Handed int

// What helpers hand out.
const (
	HandedCredentials Handed = iota
	HandedObserved           // what the user sees or says
	HandedCopied
)

// helpers are those of well-known programs, by what they hand out. A program that ends in "*" stands for all that begin so.
var helpers = [...][]helper{HandedCredentials: keepers, HandedObserved: observers, HandedCopied: clipboards}

// keepers keep credentials.
var keepers = []helper{
	{"gh", "auth token"}, {"gh", "auth status --show-token"}, {"gh", "auth status -t"}, {"gh", "config get oauth_token"}, {"gh", "auth git-credential"},
	{"glab", "auth token"}, {"glab", "auth status"}, {"glab", "config get token"}, {"hub", "api --flat"},
	{"git", "credential fill"}, {"git", "credential-store get"}, {"git", "credential-cache get"}, {"git", "credential-osxkeychain get"}, {"git", "credential-libsecret get"}, {"git", "credential-manager get"}, {"git-credential-*", "get"},
	{"pass", "*"}, {"gopass", "*"}, {"op", "read"}, {"op", "item get"}, {"op", "inject"}, {"bw", "get"}, {"bw", "list items"}, {"rbw", "get"}, {"lpass", "show"}, {"keepassxc-cli", "show"},
	{"security", "find-generic-password"}, {"security", "find-internet-password"}, {"security", "dump-keychain"}, {"secret-tool", "lookup"}, {"secret-tool", "search"}, {"keyring", "get"}, {"kwallet-query", "*"},
	{"aws", "configure get"}, {"aws", "configure export-credentials"}, {"aws", "sts get-session-token"}, {"aws", "ecr get-login-password"},
	{"gcloud", "auth print-access-token"}, {"gcloud", "auth print-identity-token"}, {"gcloud", "auth application-default print-access-token"}, {"gcloud", "config config-helper"},
	{"az", "account get-access-token"}, {"kubectl", "config view --raw"}, {"oc", "whoami -t"}, {"oc", "whoami --show-token"}, {"docker-credential-*", "get"}, {"docker-credential-*", "list"},
	{"npm", "token list"}, {"npm", "config get //"}, {"heroku", "auth:token"}, {"fly", "auth token"}, {"flyctl", "auth token"}, {"doctl", "auth token"}, {"vault", "print token"}, {"vault", "token lookup"}, {"vault", "kv get"},
	{"databricks", "auth token"}, {"doppler", "secrets"}, {"infisical", "secrets"}, {"chamber", "read"}, {"ssh-add", "-L"}, {"gpg", "--export-secret-keys"}, {"gpg2", "--export-secret-keys"}, {"snyk", "config get api"},
}

// observers show the screen, or record from the camera or the microphone.
var observers = []helper{
	{"scrot", ""}, {"maim", ""}, {"grim", ""}, {"gnome-screenshot", ""}, {"spectacle", ""}, {"flameshot", ""}, {"screencapture", ""}, {"xwd", ""}, {"import", "-window"}, {"wf-recorder", ""}, {"ffmpeg", "x11grab"}, {"ffmpeg", "kmsgrab"}, {"ffmpeg", "avfoundation"},
	{"ffmpeg", "v4l2"}, {"fswebcam", ""}, {"imagesnap", ""}, {"arecord", ""}, {"parecord", ""}, {"pw-record", ""}, {"ffmpeg", "pulse"}, {"ffmpeg", "alsa"},
}

// clipboards print what was copied.
var clipboards = []helper{
	{"xclip", "-o"}, {"xclip", "-out"}, {"xsel", "-o"}, {"xsel", "-b"}, {"xsel", "--output"}, {"wl-paste", ""}, {"pbpaste", ""}, {"termux-clipboard-get", ""},
}

// installers are commands by which a program starts another one later, or obeys what it did not
// before: a schedule, a service, a hook of the session.
var installers = []helper{
	{"crontab", "*"}, {"crontab", "-"}, {"at", "*"}, {"batch", ""}, {"systemctl", "enable"}, {"systemctl", "link"}, {"systemctl", "edit"}, {"systemd-run", "--on-*"},
	{"loginctl", "enable-linger"}, {"launchctl", "load"}, {"launchctl", "bootstrap"}, {"launchctl", "submit"}, {"schtasks", "/create"}, {"chsh", "-s"}, {"update-rc.d", "*"},
	{"code", "--install-extension"}, {"code", "--add-mcp"}, {"claude", "mcp add"}, {"claude", "mcp add-json"}, {"xdg-settings", "set"},
}

// destroyers are commands by which a program throws away what cannot be had back: work that is not committed, commits
// that nothing holds any more, what lies on a server.
var destroyers = []helper{
	{"git", "stash drop"}, {"git", "stash clear"}, {"git", "reset --hard"}, {"git", "clean -f"}, {"git", "clean -fd"}, {"git", "clean -df"}, {"git", "clean -fdx"}, {"git", "clean -xdf"}, {"git", "clean -ffdx"}, {"git", "clean --force"},
	{"git", "checkout --force"}, {"git", "checkout -f"}, {"git", "checkout -- ."}, {"git", "restore ."}, {"git", "reflog expire"}, {"git", "reflog delete"}, {"git", "gc --prune=now"}, {"git", "gc --prune=all"}, {"git", "prune"}, {"git", "update-ref -d"},
	{"git", "branch -D"}, {"git", "tag -d"}, {"git", "tag --delete"}, {"git", "push --force"}, {"git", "push -f"}, {"git", "push --mirror"}, {"git", "push --delete"}, {"git", "filter-branch"}, {"git", "filter-repo"}, {"git", "worktree remove"},
	{"docker", "system prune"}, {"docker", "volume rm"}, {"docker", "volume prune"}, {"docker", "rm -f"}, {"podman", "system prune"}, {"podman", "volume rm"}, {"kubectl", "delete"}, {"helm", "uninstall"}, {"terraform", "destroy"}, {"tofu", "destroy"},
	{"gh", "repo delete"}, {"gh", "release delete"}, {"npm", "unpublish"}, {"aws", "s3 rm"}, {"aws", "s3 rb"}, {"gsutil", "rm"}, {"dropdb", "*"}, {"redis-cli", "FLUSHALL"}, {"redis-cli", "FLUSHDB"}, {"shred", "*"},
}

// destroyer names what a command throws away for good, "" for any other command. by is the program that starts it: git
// starts itself to tidy up.
func destroyer(argv []string, by string) string {
	if len(argv) == 0 || path.Base(by) == path.Base(argv[0]) || slices.Contains(argv, "--dry-run") || slices.Contains(argv, "-n") {
		return ""
	}
	return named(destroyers, argv)
}

// asksOnly are the arguments with which those commands change nothing.
var asksOnly = []string{"-l", "-r", "-q", "-c", "-V", "-h", "--help", "--version"}

// versionOnly are the arguments by which any program tells of itself alone.
var versionOnly = []string{"-V", "-h", "--help", "--version"}

// installer names what a command has a program start later or obey, "" for any other command.
func installer(argv []string) string {
	if len(argv) == 0 || len(argv) > 1 && slices.Contains(asksOnly, argv[1]) {
		return ""
	}
	return named(installers, argv)
}

// helpersOwn are the programs that ask such helpers themselves, for what they are told to do.
var helpersOwn = []string{"git", "git-remote-http", "git-remote-https", "gh", "docker", "podman", "buildah", "kubectl"}

// credentialHelper names what a command asks a helper for ("gh auth token"), "" for any
// other command. by is the program that starts it.
func credentialHelper(argv []string, by string) string {
	if len(argv) == 0 || slices.Contains(helpersOwn, path.Base(by)) || len(argv) == 2 && slices.Contains(versionOnly, argv[1]) {
		return ""
	}
	for _, list := range helpers {
		if asked := named(list, argv); asked != "" {
			return asked
		}
	}
	return ""
}

// HandedBy is what the helper hands out that an effect asks.
func HandedBy(asks string) Handed {
	program, _, _ := strings.Cut(asks, " ")
	for handed, list := range helpers {
		if slices.ContainsFunc(list, func(h helper) bool { return h.is(program) }) {
			return Handed(handed)
		}
	}
	return HandedCredentials
}

// named names the one of some commands that a command line is, "" for none.
func named(list []helper, argv []string) string {
	program := strings.TrimSuffix(path.Base(argv[0]), ".exe")
	for _, h := range list {
		if !h.is(program) {
			continue
		}
		if h.words == "*" && len(argv) > 1 && !strings.HasPrefix(argv[1], "--") {
			return program + " " + clip(argv[1], 40)
		}
		if h.words != "*" && inOrder(argv[1:], strings.Fields(h.words)) {
			return strings.TrimSpace(program + " " + h.words)
		}
	}
	return ""
}

// maxArguments bounds how far into a command line a helper's words are looked for.
const maxArguments = 16

// inOrder reports whether arguments begin with words, in their order, with others between.
func inOrder(argv, words []string) bool {
	for _, a := range argv[:min(len(argv), maxArguments)] {
		if len(words) > 0 && (a == words[0] || words[0] == "//" && strings.HasPrefix(a, "//")) {
			words = words[1:]
		}
	}
	return len(words) == 0
}

// systemSecrets are the system's own files of passwords and of who may become root.
var systemSecrets = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/security/opasswd"}

// SystemSecret reports whether a path is a file of the system's passwords, which no program but
// those of the system opens.
func SystemSecret(p string) bool { return slices.Contains(systemSecrets, p) }
