package agent

import (
	"bytes"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/agent/stage"
	"golang.org/x/sys/unix"
)

// trusting are the variables by which a runtime's libraries are told of a trust store: own
// says that the variable adds to a store rather than replaces it. Programs that read the
// system's store need none.
var trusting = []struct {
	runtime, name string
	own           bool
}{
	{"python", "SSL_CERT_FILE", false}, // its ssl module, httpx
	{"python", "REQUESTS_CA_BUNDLE", false},
	{"node", "NODE_EXTRA_CA_CERTS", true},
	{"deno", "DENO_CERT", true},
	{"native", "SSL_CERT_FILE", false},
}

// runtimes are programs by the beginning of their name, and what they run.
var runtimes = []struct{ prefix, runtime string }{
	{"nodejs", "node"}, {"node", "node"}, {"npx", "node"}, {"npm", "node"}, {"pnpm", "node"}, {"yarn", "node"}, {"bun", "node"}, {"tsx", "node"}, {"ts-node", "node"},
	{"python", "python"}, {"pypy", "python"}, {"uv", "python"}, {"pipx", "python"}, {"deno", "deno"},
}

// runtimesOf are the runtimes that a command starts: by the names in it and by its file's
// first line. A program of which neither says any is "native", and anything else may start
// them all, which nil says.
func runtimesOf(command []string, head []byte) []string {
	words := slices.Clone(command)
	if line, _, _ := bytes.Cut(head, []byte("\n")); bytes.HasPrefix(line, []byte("#!")) {
		words = append(words, strings.Fields(string(line[2:]))...)
	}
	var out []string
	for _, w := range words {
		if r := runtimeOf(path.Base(w)); r != "" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	if len(out) == 0 && bytes.HasPrefix(head, []byte("\x7fELF")) && !slices.Contains(shells, path.Base(command[0])) {
		out = []string{"native"}
	}
	return out
}

// shells start whatever their arguments say.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "busybox", "env"}

// runtimeOf is the runtime that a program of this name is, with or without a version.
func runtimeOf(name string) string {
	for _, r := range runtimes {
		if rest, ok := strings.CutPrefix(name, r.prefix); ok && strings.Trim(rest, "0123456789.x") == "" {
			return r.runtime
		}
	}
	return ""
}

// commandRuntimes are those of the target's command, and Node where it is installed: servers
// in every language start npm and npx, and Node does not read the system's store.
func (a *agent) commandRuntimes() []string {
	out := a.startedRuntimes()
	if _, err := stage.LookPath("node", a.cfg.Env); err == nil && len(out) > 0 && !slices.Contains(out, "node") {
		out = append(out, "node")
	}
	return out
}

// startedRuntimes are those of the target's command alone.
func (a *agent) startedRuntimes() []string {
	name, err := stage.LookPath(a.cfg.Command[0], a.cfg.Env)
	if err != nil {
		return runtimesOf(a.cfg.Command, nil)
	}
	return runtimesOf(a.cfg.Command, headOf(name))
}

// headOf is the beginning of a regular file.
func headOf(name string) []byte {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if n == 0 && err != nil {
		return nil
	}
	return head[:n]
}

// trustVariables has the target's runtimes trust a store and the authority that stands
// alone. The system's own store, where it was extended, is named to no native program.
func (a *agent) trustVariables(bundle string) {
	runs := a.commandRuntimes()
	native := !slices.Contains(bundles, bundle)
	for _, v := range trusting {
		if len(runs) > 0 && !slices.Contains(runs, v.runtime) && (v.runtime != "native" || !native) ||
			v.runtime == "native" && !native || hasVariable(a.cfg.Env, v.name) {
			continue
		}
		value := bundle
		if v.own {
			value = anchor
		}
		a.cfg.Env = append(a.cfg.Env, v.name+"="+value)
	}
}
