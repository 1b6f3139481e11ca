package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

const (
	// rootSize bounds the root file system, diskSize each writable one where the Spec has no bound.
	rootSize = 64 << 20
	diskSize = 1 << 30
)

// systemTrees are the operating system's programs. Where one is a link into
// another ("/bin" to "usr/bin") the sandbox has the same link.
var systemTrees = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// packages are the lists of what is installed in these trees, which package managers read.
var packages = []string{"/var/lib/dpkg", "/var/lib/rpm"}

// settings are what programs of the system read in /etc, none of it a secret.
var settings = []string{
	"alternatives", "ca-certificates", "ca-certificates.conf", "chromium.d", "crypto-policies", "debian_version", "default/locale", "fonts", "gai.conf",
	"host.conf", "java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf", "localtime",
	"lsb-release", "magic", "mime.types", "networks", "nodejs", "os-release", "perl", "pki", "protocols", "rpc", "services", "shells", "ssl", "timezone",
}

// masked are credentials and the kernel's own secrets in trees that are shown.
var masked = []string{
	"/etc/ssl/private", "/etc/pki/tls/private", "/etc/pki/entitlement", "/etc/pki/consumer",
	"/usr/etc/npmrc", "/usr/local/etc/npmrc", "/usr/local/etc/gitconfig", "/usr/local/etc/pip.conf",
	"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/key-users", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi",
	"/proc/timer_list", "/proc/timer_stats",
}

// setup is a sandbox's whole inside.
type setup struct {
	layout rootfs.Layout
	// command is the program's argument vector, path what to search first for
	// those that it starts, vars what it needs besides, dir where it starts.
	command []string
	path    []string
	vars    []string
	dir     string
	// strace is the tracer's file, "" where none is asked for.
	strace string
	// shown are the server's files.
	shown []session.Shown
}

// newSetup works out, on the host and without running anything, what the
// sandbox of a Spec holds.
func newSetup(ctx context.Context, h host, spec sandbox.Spec, uid, gid int) (*setup, error) {
	p := &setup{layout: rootfs.Layout{Size: rootSize, Masks: slices.Clone(masked)}, dir: spec.Dir}
	if p.dir == "" {
		p.dir = spec.User.Home
	}
	visible := p.system()
	server, covers, err := p.server(ctx, spec)
	if err != nil {
		return nil, err
	}
	visible = append(visible, server...)
	prog, err := resolve(h, spec.Command, visible)
	if err != nil {
		return nil, err
	}
	p.take(prog)
	p.command, p.path, p.vars = prog.command, prog.path, prog.vars
	p.tools(h, spec.Tools, visible)
	if spec.Straced() {
		if err := p.tracer(h, visible); err != nil {
			return nil, err
		}
	}
	for _, dir := range spec.Shown {
		p.layout.Binds = append(p.layout.Binds, rootfs.Bind{Source: dir, Target: dir, ReadOnly: true})
	}
	p.writable(spec)
	p.layout.Files = slices.Concat(p.skeleton(), p.layout.Files, etcFiles(spec, uid, gid), agent.BrowserPolicies(), covers)
	return p, nil
}

// tools shows those programs that are there, and has them found.
func (p *setup) tools(h host, names, visible []string) {
	for _, name := range names {
		prog, err := (&resolver{host: h, visible: visible, tool: true}).resolve([]string{name})
		if err != nil {
			continue
		}
		p.take(prog)
		for _, dir := range append(prog.path, filepath.Dir(prog.command[0])) {
			if !slices.Contains(p.path, dir) {
				p.path = append(p.path, dir)
			}
		}
	}
}

// take adds what a program needs.
func (p *setup) take(prog *program) {
	for _, b := range prog.binds {
		if !slices.Contains(p.layout.Binds, b) {
			p.layout.Binds = append(p.layout.Binds, b)
		}
	}
	p.layout.Files = append(p.layout.Files, prog.links...)
	p.layout.Masks = append(p.layout.Masks, prog.masks...)
}

// system shows the operating system's programs and returns their trees.
func (p *setup) system() []string {
	var visible []string
	for _, tree := range systemTrees {
		st, err := os.Lstat(tree)
		switch {
		case err != nil:
			continue
		case st.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(tree)
			if err != nil {
				continue
			}
			p.layout.Files = append(p.layout.Files, rootfs.File{Path: tree, Link: link, Root: true})
		default:
			p.layout.Binds = append(p.layout.Binds, rootfs.Bind{Source: tree, Target: tree, ReadOnly: true})
		}
		visible = append(visible, tree)
	}
	python, _ := filepath.Glob("/etc/python*")
	for _, path := range slices.Concat(prefixed("/etc/", settings), python, packages) {
		p.setting(path)
	}
	return visible
}

func prefixed(prefix string, names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = prefix + name
	}
	return all
}

// setting shows one file or directory of the system's; a link stays one.
func (p *setup) setting(path string) {
	st, err := os.Lstat(path)
	if err != nil {
		return
	}
	if st.Mode()&fs.ModeSymlink == 0 {
		p.layout.Binds = append(p.layout.Binds, rootfs.Bind{Source: path, Target: path, ReadOnly: true, Optional: true})
		return
	}
	if link, err := os.Readlink(path); err == nil {
		p.layout.Files = append(p.layout.Files, rootfs.File{Path: path, Link: link, Root: true})
	}
}

// server shows the server's own directory, writable to the target and without
// the user's credentials, or its one file. It returns the visible trees and what
// covers the credentials.
func (p *setup) server(ctx context.Context, spec sandbox.Spec) (visible []string, covers []rootfs.File, err error) {
	view, err := spec.Look(ctx)
	if err != nil || view == nil {
		return nil, nil, err
	}
	dir := filepath.Clean(spec.ServerDir)
	covers = sandbox.Covers(dir, view)
	p.shown = append(p.shown, spec.ShownServer(view))
	if !isDir(view.Real) {
		if len(covers) == 0 {
			p.layout.Binds = append(p.layout.Binds, rootfs.Bind{Source: view.Real, Target: dir, ReadOnly: true})
		}
		return []string{dir}, covers, nil
	}
	p.layout.Overlays = append(p.layout.Overlays, rootfs.Overlay{
		Lower: view.Real, Target: dir, Own: true, Size: disk(spec), Hide: append(below(dir, spec.Hidden), view.Hidden...),
	})
	if spec.ServerFrom == "" && view.Real != dir && !shown.Within(view.Real, dir) && !shown.Within(dir, view.Real) {
		// Absolute links in the tree name it as it is.
		p.layout.Files = append(p.layout.Files, rootfs.File{Path: view.Real, Link: dir, Root: true})
		visible = append(visible, view.Real)
	}
	return append(visible, dir), covers, nil
}

// shows lists the host's paths that the layout shows.
func (p *setup) shows() []session.Shown {
	out := slices.Clone(p.shown)
	for _, b := range p.layout.Binds {
		s := session.Shown{Path: b.Source, Why: session.ShownProgram}
		if slices.ContainsFunc(out, func(o session.Shown) bool { return o.Path == b.Source }) {
			continue
		}
		if _, err := os.Lstat(b.Source); b.Optional && err != nil {
			continue
		}
		if shown.Within(b.Source, "/etc") || slices.Contains(systemTrees, b.Source) {
			s.Why = session.ShownSystem
		}
		if b.Target != b.Source {
			s.As = b.Target
		}
		for _, m := range p.layout.Masks {
			if _, err := os.Lstat(b.Source + strings.TrimPrefix(m, b.Target)); err == nil && shown.Within(m, b.Target) {
				s.Masked++
				s.MaskedPaths = append(s.MaskedPaths, strings.TrimPrefix(m, b.Target+"/"))
			}
		}
		out = append(out, s)
	}
	return out
}

// below makes those paths that lie below a directory relative to it.
func below(dir string, paths []string) []string {
	var out []string
	for _, p := range paths {
		if rel, err := filepath.Rel(dir, p); err == nil && rel != "." && filepath.IsLocal(rel) {
			out = append(out, rel)
		}
	}
	return out
}

// plantable drops what would replace a directory of the server's by a file.
func (p *setup) plantable(files []rootfs.File) []rootfs.File {
	return slices.DeleteFunc(slices.Clone(files), func(f rootfs.File) bool {
		return !f.Dir && slices.ContainsFunc(p.layout.Overlays, func(o rootfs.Overlay) bool { return holdsDir(o, f.Path) })
	})
}

// holdsDir reports whether a path of the sandbox is a directory in an overlaid tree.
// No link leads the look out of the tree.
func holdsDir(o rootfs.Overlay, path string) bool {
	rel, err := filepath.Rel(o.Target, path)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	root, err := os.OpenRoot(o.Lower)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	st, err := root.Stat(rel)
	return err == nil && st.IsDir()
}

func disk(spec sandbox.Spec) int64 {
	if spec.Limits.Disk > 0 {
		return spec.Limits.Disk
	}
	return diskSize
}

// tracer makes the host's strace visible, which the system's trees usually do.
func (p *setup) tracer(h host, visible []string) error {
	path, err := findStrace(h)
	if err != nil {
		return err
	}
	prog, err := resolve(h, []string{path}, visible)
	if err != nil {
		return err
	}
	p.take(prog)
	p.strace = prog.command[0]
	return nil
}

func findStrace(h host) (string, error) {
	path, err := shown.ProgramIn(append(slices.Clone(h.path), "/usr/local/bin", "/usr/bin", "/bin"), "strace")
	if err != nil {
		return "", &sandbox.UsageError{Err: errors.New("strace is not installed"), Hint: "apt-get install strace"}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path, nil
}

// writable adds the file systems that the target may write to.
func (p *setup) writable(spec sandbox.Spec) {
	size := disk(spec)
	p.tmpfs(rootfs.Tmpfs{Target: "/tmp", Size: size, Mode: 0o1777})
	p.tmpfs(rootfs.Tmpfs{Target: "/var/tmp", Size: size, Mode: 0o1777})
	p.tmpfs(rootfs.Tmpfs{Target: "/run", Size: 16 << 20, Mode: 0o755})
	if spec.User.Home != "" {
		p.tmpfs(rootfs.Tmpfs{Target: filepath.Clean(spec.User.Home), Size: size, Mode: 0o755, Own: true})
	}
	for _, dir := range append(slices.Clone(spec.Workspaces), p.dir) {
		if dir == "" || !filepath.IsAbs(dir) {
			continue
		}
		p.directory(filepath.Clean(dir), size)
	}
}

// directory makes a directory of the target's, unless there is one.
func (p *setup) directory(dir string, size int64) {
	writable := func(tree string) bool { return shown.Within(dir, tree) }
	switch {
	case dir == "/", slices.ContainsFunc(p.layout.Overlays, func(o rootfs.Overlay) bool {
		return holdsDir(o, dir)
	}):
	case slices.ContainsFunc(p.layout.Binds, func(b rootfs.Bind) bool { return writable(b.Target) }):
	case slices.ContainsFunc(p.layout.Tmpfs, func(t rootfs.Tmpfs) bool { return writable(t.Target) }),
		slices.ContainsFunc(p.layout.Overlays, func(o rootfs.Overlay) bool { return writable(o.Target) }):
		p.layout.Files = append(p.layout.Files, rootfs.File{Path: dir, Dir: true, Mode: 0o755})
	default:
		p.tmpfs(rootfs.Tmpfs{Target: dir, Size: size, Mode: 0o755, Own: true})
	}
}

func (p *setup) tmpfs(t rootfs.Tmpfs) {
	same := func(other rootfs.Tmpfs) bool { return other.Target == t.Target }
	if !slices.ContainsFunc(p.layout.Tmpfs, same) {
		p.layout.Tmpfs = append(p.layout.Tmpfs, t)
	}
}

// skeleton is the rest of an ordinary root directory, empty.
func (p *setup) skeleton() []rootfs.File {
	var files []rootfs.File
	for _, path := range []string{"/home", "/media", "/mnt", "/opt", "/srv", "/var/cache", "/var/lib", "/var/log"} {
		files = append(files, rootfs.File{Path: path, Dir: true, Mode: 0o755, Root: true})
	}
	if !p.holds("/root") {
		files = append(files, rootfs.File{Path: "/root", Dir: true, Mode: 0o700, Root: true})
	}
	return append(files,
		rootfs.File{Path: "/var/run", Link: "/run", Root: true},
		rootfs.File{Path: "/var/lock", Link: "/run/lock", Root: true},
		rootfs.File{Path: "/run/lock", Dir: true, Mode: 0o1777, Root: true},
	)
}

// holds says that something is mounted or linked at or below a directory.
func (p *setup) holds(dir string) bool {
	var targets []string
	for _, b := range p.layout.Binds {
		targets = append(targets, b.Target)
	}
	for _, o := range p.layout.Overlays {
		targets = append(targets, o.Target)
	}
	for _, t := range p.layout.Tmpfs {
		targets = append(targets, t.Target)
	}
	for _, f := range p.layout.Files {
		targets = append(targets, f.Path)
	}
	return slices.ContainsFunc(targets, func(t string) bool { return strings.HasPrefix(t, dir) && shown.Within(t, dir) })
}
