package profile

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Noise classes: what a path is, by who owns it, never by a substring of it.
const (
	noiseRuntime  = "runtime"  // the system's and the interpreter's own tree
	noiseOwn      = "own"      // the server's own files
	noiseResolver = "resolver" // name service and certificates
	noiseLocale   = "locale"   // time zones, message catalogues
	noiseKernel   = "kernel"   // proc, sys, devices, memory without a file
	noiseAbsent   = "absent"   // looked for and not there
	noiseLooked   = "looked"   // asked for, and not opened
	noiseScratch  = "scratch"  // temporary and cache directories
	noiseBytecode = "bytecode" // an interpreter's compiled modules
	noiseLaunch   = "launch"   // the target's own start
	noiseAsked    = "asked"    // inside a directory that the command named
	noiseGitIndex = "gitindex" // git's own cache of a work tree's state
)

var (
	systemTrees = []string{"/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/opt", "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/python3", "/etc/python3.11", "/etc/os-release", "/etc/debian_version", "/etc/mime.types", "/etc/inputrc", "/etc/gitconfig", "/etc/profile", "/etc/environment", "/etc/terminfo", "/var/lib/dpkg", "/var/lib/rpm"}
	nameTrees   = []string{"/etc/resolv.conf", "/etc/hosts", "/etc/hostname", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/passwd", "/etc/group", "/etc/ssl", "/etc/ca-certificates", "/etc/pki", "/var/run/nscd", "/run/nscd", "/run/systemd/resolve"}
	localeTrees = []string{"/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/usr/share/zoneinfo", "/usr/lib/locale", "/usr/share/locale"}
	kernelTrees = []string{"/proc", "/sys", "/dev"}
	tempTrees   = []string{"/tmp", "/var/tmp", "/dev/shm", "/run/user"}
)

// under reports whether p is dir or lies below it.
func under(p, dir string) bool {
	if dir == "" {
		return false
	}
	top := strings.TrimSuffix(dir, "/")
	return p == dir || strings.HasPrefix(p, top) && len(p) > len(top) && p[len(top)] == '/'
}

func underAny(p string, dirs []string) (string, bool) {
	for _, d := range dirs {
		if under(p, d) {
			return d, true
		}
	}
	return "", false
}

// readNoise classes a path that was opened for reading; root is the tree under
// which equal reads are counted together. An empty class is no noise.
func (b *Builder) readNoise(p, exe string) (class, root string) {
	if d, ok := underAny(p, localeTrees); ok {
		return noiseLocale, d
	}
	if d, ok := underAny(p, nameTrees); ok {
		return noiseResolver, d
	}
	if under(p, b.ctx.ServerDir) {
		return noiseOwn, b.ctx.ServerDir
	}
	if d, ok := underAny(p, kernelTrees); ok {
		return noiseKernel, d
	}
	if d, ok := underAny(p, systemTrees); ok {
		return noiseRuntime, d
	}
	if prefix := interpreterPrefix(exe); under(p, prefix) {
		return noiseRuntime, prefix
	}
	if d, ok := underAny(p, b.ctx.Workspaces); ok {
		return noiseAsked, d
	}
	if d, ok := b.scratch(p, exe); ok {
		return noiseScratch, d
	}
	if b.isAncestor(p) {
		return noiseRuntime, "/"
	}
	return "", ""
}

// ownStart reports whether a task's opening of a path is the next step, or one that
// follows, of what its interpreter does by itself when it starts. Each step counts
// once: the same path again is the server's doing.
func (b *Builder) ownStart(t *task, p string) bool {
	rt := b.ctx.Runtime
	if rt == nil || t.step < 0 || t.exe != rt.Program {
		return false
	}
	i := slices.Index(rt.Reads[t.step:], p)
	if i < 0 {
		return false
	}
	t.step += i + 1
	return true
}

// scratch is the temporary or cache directory that a path lies in; npm keeps its
// cache and its logs in a place of its own.
func (b *Builder) scratch(p, exe string) (string, bool) {
	dirs := append(slices.Clip(tempTrees), path.Join(b.ctx.Home, ".cache"))
	if path.Base(exe) == "node" {
		dirs = append(dirs, path.Join(b.ctx.Home, ".npm"))
	}
	return underAny(p, dirs)
}

// shellCaches are the directories below ~/.cache whose files shells and editors read as commands.
var shellCaches = []string{"zsh", "bash", "fish", "oh-my-zsh", "zinit", "antidote", "gitstatus", "prezto", "starship", "vim", "nvim", "emacs"}

// Sourced reports whether other programs read as commands what lies at a path of a cache or of the session's
// directory: shells what they compiled and kept, the session's manager its units.
func Sourced(p, home string) bool {
	if rest, ok := strings.CutPrefix(p, path.Join(home, ".cache")+"/"); ok && home != "" {
		top, below, nested := strings.Cut(rest, "/")
		if nested {
			return below != "" && slices.Contains(shellCaches, top)
		}
		return slices.Contains([]string{".zsh", ".bash", ".fish", ".sh", ".zwc"}, path.Ext(top))
	}
	rest, ok := strings.CutPrefix(p, "/run/user/")
	_, rest, inside := strings.Cut(rest, "/")
	return ok && inside && under("/"+rest, "/systemd")
}

// isAncestor reports whether p is a directory on the way to the server or HOME:
// module resolution walks up through them.
func (b *Builder) isAncestor(p string) bool {
	return p == "/" || under(b.ctx.ServerDir, p) || under(b.ctx.Home, p)
}

// memory begins the paths by which the kernel shows descriptors of memfd_create(2).
const memory = "/memfd:"

// anonymous reports whether a record is of memory that has a descriptor and no file. A file of
// that name is opened by it.
func anonymous(r *trace.Record) bool {
	return strings.HasPrefix(r.Path, memory) && (r.Given == "" || under(r.Given, "/proc") || under(r.Given, "/dev/fd"))
}

// writeNoise classes a path that was created or opened for writing. by is the process that did
// it, nil where only its program is known.
func (b *Builder) writeNoise(p, exe string, by *process) (class, root string) {
	if strings.HasSuffix(p, ".pyc") || strings.Contains(path.Base(p), ".pyc.") {
		if path.Base(path.Dir(p)) == "__pycache__" && strings.HasPrefix(path.Base(exe), "python") {
			return noiseBytecode, path.Dir(path.Dir(p))
		}
	}
	if path.Base(p) == "__pycache__" && strings.HasPrefix(path.Base(exe), "python") {
		return noiseBytecode, path.Dir(p)
	}
	// Even git status refreshes the index: a cache of what the work tree holds.
	if name := path.Base(p); path.Base(exe) == "git" && (name == "index" || name == "index.lock") && path.Base(path.Dir(p)) == ".git" {
		return noiseGitIndex, path.Dir(p)
	}
	if c := PackageCacheOf(p, b.ctx.Home); c != nil {
		if c.isOf(path.Base(exe), by) {
			return noiseScratch, path.Join(b.ctx.Home, c.Dir)
		}
		return "", ""
	}
	if c := cacheOf(programCaches, p, b.ctx.Home); c != nil && c.isOf(path.Base(exe), by) {
		return noiseScratch, path.Join(b.ctx.Home, c.Dir)
	}
	if d, ok := b.scratch(p, exe); ok && !b.isPackages(p, d) && !b.ctx.Planted[p] && !Sourced(p, b.ctx.Home) {
		return noiseScratch, d
	}
	if d, ok := underAny(p, kernelTrees); ok {
		return noiseKernel, d
	}
	return "", ""
}

// imports reports whether a compiled module can be the work of an interpreter that imports: it
// is outside of HOME or one of the server's own, or its source was opened before.
func (b *Builder) imports(p string) bool {
	dir := path.Dir(p)
	if path.Base(p) == "__pycache__" || !under(p, b.ctx.Home) || under(p, b.ctx.ServerDir) {
		return true
	}
	name, _, _ := strings.Cut(path.Base(p), ".")
	_, read := b.openedAt[pathSum(path.Join(path.Dir(dir), name+".py"))]
	return read
}

// writesModule reports whether a compiled module is written under its own name. An interpreter that imports
// writes a file beside it and moves that (importlib's _write_atomic).
func writesModule(r *trace.Record, p string) bool {
	return r.Op == trace.OpOpen && strings.HasSuffix(p, ".pyc")
}

// isPackages reports whether p is in the server's own directory, below a cache: that
// is where npx and uvx keep a package, and what it writes there is no scratch.
func (b *Builder) isPackages(p, cache string) bool {
	_, temp := underAny(b.ctx.ServerDir, tempTrees)
	return !temp && under(b.ctx.ServerDir, cache) && under(p, b.ctx.ServerDir)
}

// interpreterPrefix is the tree of a program installed as PREFIX/bin/NAME, ""
// where PREFIX would say nothing about the program ("/", "/usr" are system trees anyway).
func interpreterPrefix(exe string) string {
	dir := path.Dir(exe)
	if path.Base(dir) != "bin" {
		return ""
	}
	if p := path.Dir(dir); p != "/" && p != "." {
		return p
	}
	return ""
}

// cleanProc resolves the kernel's own aliases of the root directory, so that
// /proc/self/root/home/u/.ssh is /home/u/.ssh.
func cleanProc(p string) string {
	p = path.Clean(p)
	for strings.HasPrefix(p, "/proc/") {
		rest := strings.TrimPrefix(p, "/proc/")
		pid, after, ok := strings.Cut(rest, "/")
		if !ok || !isPid(pid) {
			return p
		}
		if strings.HasPrefix(after, "task/") {
			if _, after, ok = strings.Cut(strings.TrimPrefix(after, "task/"), "/"); !ok {
				return p
			}
		}
		if after != "root" && !strings.HasPrefix(after, "root/") {
			return p
		}
		p = path.Clean("/" + strings.TrimPrefix(after, "root"))
	}
	return p
}

func isPid(s string) bool {
	if s == "self" || s == "thread-self" {
		return true
	}
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
