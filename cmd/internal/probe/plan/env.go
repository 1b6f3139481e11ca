package plan

import (
	"crypto/rand"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// environment is built from nothing: what any login has, the decoys, what the
// configuration names and what the user passes.
func (p Plan) environment(o *Options, in *Fetched) Plan {
	p.Env = nil
	plain := func(name, value string) { p.Env = setEnv(p.Env, Variable{Name: name, Value: value}) }
	secret := func(name, value string) { p.Env = setEnv(p.Env, Variable{Name: name, Value: value, Secret: true}) }
	plain("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	plain("HOME", p.Identity.Home)
	plain("USER", p.Identity.User)
	plain("LOGNAME", p.Identity.User)
	plain("SHELL", "/bin/bash")
	plain("LANG", "C.UTF-8")
	plain("TERM", "xterm-256color")
	plain("PWD", p.Server.Dir)
	for _, v := range desktop {
		plain(v[0], v[1])
	}
	for _, kv := range p.Decoys.Env() {
		name, value, _ := strings.Cut(kv, "=")
		p.Env = append(p.Env, Variable{Name: name, Value: value, Secret: true})
	}
	for _, kv := range in.vars(o) {
		name, value, _ := strings.Cut(kv, "=")
		secret(name, decoyValue(name, value))
	}
	if dir := modulePath(o.Command); dir != "" && in == nil && o.Dir == "" {
		plain("PYTHONPATH", dir)
	}
	if in == nil && sandbox.Project(o.Dir, o.Command) != "" {
		// npm would ask its registry for a newer npm, which is not the server's doing.
		plain("npm_config_update_notifier", "false")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Env)) {
		secret(name, decoyValue(name, o.Env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Dummies)) {
		plain(name, o.Dummies[name])
	}
	for _, name := range o.PassEnv {
		if value, ok := o.passedValue(name); ok {
			p.Env = setEnv(p.Env, Variable{Name: name, Value: value, Secret: true, Passed: true, Decoy: p.decoyOf(name, value)})
		}
	}
	p.Redactor, p.Unredacted = redactor(o.passed())
	p.Server.Dummies = nil
	for _, name := range slices.Sorted(maps.Keys(o.Dummies)) {
		p.Server.Dummies = append(p.Server.Dummies, name+"="+p.Redactor.Redact(o.Dummies[name]))
	}
	return p
}

// passed are the values that are kept out of all files: those that the user passes, and dummies
// that somebody may take for the place of a real one.
func (o *Options) passed() []passedValue {
	var out []passedValue
	for _, name := range slices.Sorted(maps.Keys(o.Dummies)) {
		if value := o.Dummies[name]; len(value) >= 16 && isSecret(name, value) {
			out = append(out, passedValue{name, value})
		}
	}
	for _, name := range o.PassEnv {
		if value, ok := o.passedValue(name); ok {
			out = append(out, passedValue{name, value})
		}
	}
	return out
}

// passedValue is the value of a variable that the user passes.
func (o *Options) passedValue(name string) (value string, ok bool) {
	if value, ok = os.LookupEnv(name); ok {
		return value, true
	}
	value, ok = o.Env[name]
	return value, ok
}

// decoyOf stands in for a value that is passed: what the variable would have without it, or
// one of the same shape.
func (p Plan) decoyOf(name, value string) string {
	if i := slices.IndexFunc(p.Env, func(v Variable) bool { return v.Name == name }); i >= 0 && p.Env[i].Value != value {
		return p.Env[i].Value
	}
	return redrawn(value)
}

// runtimeDir is the directory of a user's session, as systemd makes it for the first user.
const runtimeDir = "/run/user/1000"

// desktop are the variables of a session of GNOME on Wayland. No display of X11 is named:
// browsers would leave their headless mode for it. Nothing listens on the sockets.
var desktop = [][2]string{
	{"XDG_RUNTIME_DIR", runtimeDir}, {"DBUS_SESSION_BUS_ADDRESS", "unix:path=" + runtimeDir + "/bus"}, {"SSH_AUTH_SOCK", runtimeDir + "/ssh-agent.socket"},
	{"WAYLAND_DISPLAY", "wayland-0"}, {"XDG_SESSION_TYPE", "wayland"}, {"XDG_SESSION_CLASS", "user"}, {"XDG_CURRENT_DESKTOP", "GNOME"},
	{"XDG_SESSION_DESKTOP", "gnome"}, {"DESKTOP_SESSION", "gnome"}, {"XDG_DATA_DIRS", "/usr/share/gnome:/usr/local/share/:/usr/share/"},
}

// setEnv appends a variable in place of those of its name.
func setEnv(env []Variable, v Variable) []Variable {
	return append(slices.DeleteFunc(env, func(old Variable) bool { return old.Name == v.Name }), v)
}

// secretNames are parts of a variable's name that make its value a secret.
var secretNames = []string{"KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CRED", "DSN", "PRIVATE", "COOKIE", "SESSION", "WEBHOOK", "URL", "URI"}

// decoyValue is a value of the same shape: each letter and digit of what could be a
// secret is drawn anew. Settings ("debug", "8080") stay, since servers need them.
func decoyValue(name, value string) string {
	if !isSecret(name, value) {
		return value
	}
	if i := strings.Index(value, "://"); i >= 0 && !strings.Contains(value, "@") && !strings.Contains(value, "?") {
		return value[:i+3] + "service.internal/"
	}
	return redrawn(value)
}

// redrawn is a value with each letter and digit drawn anew.
func redrawn(value string) string {
	random := make([]byte, len(value))
	_, _ = rand.Read(random) // crypto/rand never fails
	out := []byte(value)
	for i, c := range out {
		switch {
		case c >= '0' && c <= '9':
			out[i] = '0' + random[i]%10
		case c >= 'a' && c <= 'z':
			out[i] = 'a' + random[i]%26
		case c >= 'A' && c <= 'Z':
			out[i] = 'A' + random[i]%26
		}
	}
	return string(out)
}

// isSecret reports whether a variable could hold a secret, by its name or its value's shape.
func isSecret(name, value string) bool {
	return len(value) >= 16 && !strings.ContainsAny(value, " /") ||
		slices.ContainsFunc(secretNames, func(s string) bool { return strings.Contains(strings.ToUpper(name), s) })
}

var (
	// dirWords are the last words of a variable that names a directory in which a server works.
	dirWords = []string{"DIR", "DIRECTORY", "DIRECTORIES", "ROOT", "ROOTS", "PATH", "PATHS", "FOLDER", "FOLDERS", "WORKSPACE", "VAULT", "BASE", "REPO", "REPOSITORY", "PROJECT", "WORKDIR", "BASEDIR"}
	// keptWords are words of variables for what a program keeps for itself, or loads: those are no place of its work.
	keptWords = []string{"CACHE", "LOG", "LOGS", "TMP", "TEMP", "TMPDIR", "STATE", "CONFIG", "CONF", "BIN", "LIB", "LIBRARY", "MODULE", "MODULES", "PYTHON", "NODE", "JAVA", "GO", "XDG", "INSTALL", "PLUGIN", "PLUGINS", "DB", "DATABASE", "SOCKET", "API", "URL", "ENDPOINT", "ROUTE", "HTTP", "MOUNT"}
)

// namedDirs are the absolute paths that variables give a server as directories to work in: NOTES_DIR=/notes. A list
// has several.
func (o *Options) namedDirs() (out []string) {
	for _, vars := range []map[string]string{o.Env, o.Dummies} {
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			words := strings.Split(strings.ToUpper(name), "_")
			if len(words) < 2 || !slices.Contains(dirWords, words[len(words)-1]) || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(keptWords, w) }) {
				continue
			}
			for _, value := range strings.FieldsFunc(vars[name], func(r rune) bool { return r == ':' || r == ',' }) {
				if filepath.IsAbs(value) && filepath.Ext(value) == "" && !slices.Contains(out, filepath.Clean(value)) {
					out = append(out, filepath.Clean(value))
				}
			}
		}
	}
	return out
}
