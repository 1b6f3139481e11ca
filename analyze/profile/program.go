package profile

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// process is what the threads of one share: which program of others' an
// interpreter runs, told by the files that the kernel opened for it.
type process struct {
	scripted bool   // node was given a script, and no option before it
	program  string // the tree of the first file of code, where that is npm's own
	script   string // the script or module that an interpreter was started with
	foreign  bool   // code of the server's, or of nobody's that is known, was opened too
	named    bool   // a program that the server's command names by its path, or one that it started
	history  string // the file of commands that a shell reads by itself as it begins to speak with a person
}

// npmScripts are the files by which npm starts, from its own tree.
var npmScripts = []string{"/node_modules/npm/bin/npm-cli.js", "/node_modules/npm/bin/npx-cli.js", "/nodejs/npm/bin/npm-cli.js", "/nodejs/npm/bin/npx-cli.js"}

// runners run what an argument says. That a command names one says nothing of what it runs.
var runners = []string{
	"sh", "bash", "dash", "ash", "zsh", "fish", "busybox", "env", "sudo", "nice", "timeout", "xargs", "ssh", "docker", "podman",
	"node", "nodejs", "deno", "bun", "npm", "npx", "pnpm", "yarn", "python", "pypy", "uv", "uvx", "pipx", "ruby", "perl", "php", "lua", "java", "go", "cargo", "dotnet",
}

// isNamed reports whether the server's arguments or variables name a program by its path.
func (b *Builder) isNamed(program string) bool {
	if !path.IsAbs(program) || under(program, b.ctx.ServerDir) || slices.Contains(runners, strings.TrimRight(path.Base(program), ".0123456789")) {
		return false
	}
	return slices.ContainsFunc(b.ctx.Given, func(given string) bool {
		_, value, _ := strings.Cut(given, "=")
		return given == program || value == program
	})
}

// runs starts a process's program anew.
func runs(r *trace.Record) *process {
	return &process{
		script: scriptOf(r.Path, r.Argv), scripted: path.Base(r.Path) == "node" && len(r.Argv) > 1 && !strings.HasPrefix(r.Argv[1], "-"),
		history: historyOf(r.Path, r.Argv),
	}
}

// historyOf is the name of the file in HOME with the commands of earlier sessions, which a shell of the system's
// reads where it is given neither a command nor a script, "" for any other program.
func historyOf(exe string, argv []string) string {
	name := path.Base(exe)
	if name != "bash" && name != "zsh" || !slices.Contains([]string{"/bin", "/usr/bin", "/usr/local/bin"}, path.Dir(exe)) || len(argv) == 0 {
		return ""
	}
	for _, a := range argv[1:] {
		if !strings.HasPrefix(a, "-") || !strings.HasPrefix(a, "--") && strings.Contains(a, "c") {
			return ""
		}
	}
	return "." + name + "_history"
}

// loads notes a file that a process opened, if that is code. A name that is not
// real, the caller could have exchanged.
func (b *Builder) loads(t *task, p string, isReal bool) {
	if !isNodeCode(p) {
		return
	}
	switch _, planted := underAny(p, b.ctx.Helpers); {
	case planted && isReal && !b.replanted:
	case !isReal || !b.installed(p, t.exe):
		t.proc.foreign = true
	case t.proc.program != "":
	case slices.ContainsFunc(npmScripts, func(s string) bool { return strings.HasSuffix(p, s) }):
		t.proc.program = "npm"
	default:
		t.proc.program = "another"
	}
}

// isNodeCode reports whether node takes a file for code by its name.
func isNodeCode(p string) bool {
	return slices.Contains([]string{".js", ".cjs", ".mjs", ".node"}, path.Ext(p))
}

// replants notes that somebody changes the programs that the run planted: they are not ours then.
// What they record beside themselves is no change.
func (b *Builder) replants(r *trace.Record) {
	changed := r.Path
	switch {
	case (r.Op == trace.OpOpen && isWrite(r.Flags) || r.Op == trace.OpTrunc) && isNodeCode(r.Path), r.Op == trace.OpUnlink:
	case r.Op == trace.OpRename, r.Op == trace.OpLink:
		_, from := underAny(cleanProc(r.Path), b.ctx.Helpers)
		b.replanted = b.replanted || from
		changed = r.To
	default:
		return
	}
	_, ours := underAny(cleanProc(changed), b.ctx.Helpers)
	b.replanted = b.replanted || ours
}

// installed reports whether a file is of the system's or the interpreter's own
// tree, which the server neither brought along nor can write.
func (b *Builder) installed(p, exe string) bool {
	if _, ok := underAny(p, append(slices.Clip(tempTrees), append(b.ctx.Workspaces, b.ctx.ServerDir, b.ctx.Home)...)); ok {
		return false
	}
	_, system := underAny(p, systemTrees)
	return system || under(p, interpreterPrefix(exe))
}

// ofAnother are the secrets that stand in HOME where a path leads in another
// user's: no decoy is there, since nobody but its owner could read it. Where the
// server itself lies there, libraries look into each directory above it.
func (b *Builder) ofAnother(p string) []string {
	if under(p, b.ctx.Home) || b.ctx.Home == "" || b.isAncestor(path.Dir(p)) || under(p, b.ctx.ServerDir) {
		return nil
	}
	if _, ok := underAny(p, b.ctx.Workspaces); ok {
		return nil
	}
	if rest, ok := strings.CutPrefix(p, "/root/"); ok {
		return b.secrets[path.Join(b.ctx.Home, rest)]
	}
	if rest, ok := strings.CutPrefix(p, "/home/"); ok {
		if _, rest, ok = strings.Cut(rest, "/"); ok {
			return b.secrets[path.Join(b.ctx.Home, rest)]
		}
	}
	return nil
}

// isOwner reports whether a task runs the program whose own file a secret's is: npm
// reads its token whoever starts it, and for whatever, and a shell what was typed before.
func (b *Builder) isOwner(t *task, id, p string) bool {
	if t.proc.history != "" && p == path.Join(b.ctx.Home, t.proc.history) {
		return true
	}
	return b.kinds[id] == "npm" && t.proc.scripted && t.proc.program == "npm" && !t.proc.foreign
}
