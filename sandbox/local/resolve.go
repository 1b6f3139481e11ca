package local

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

const (
	// maxHops bounds the links from a command to its file, maxScripts the
	// interpreters from a script to a binary.
	maxHops    = 40
	maxScripts = 5
)

// host is the machine as a command is looked up on it. Nothing of it is executed.
type host struct {
	// cwd is where relative paths start, home the user's.
	cwd, home string
	// path is searched for commands, env asks for a variable.
	path []string
	env  func(string) string
	// shown is where the sandbox shows the host directory from, both "" where it
	// shows it at its own path.
	shown, from string
}

// at is where a path of the sandbox is on this machine.
func (h *host) at(path string) string {
	if h.from != "" && within(path, h.shown) {
		return h.from + strings.TrimPrefix(path, h.shown)
	}
	return path
}

// program is a command made ready for a sandbox.
type program struct {
	// command is the argument vector with a shim replaced by what it stands for.
	command []string
	// binds and links make its files visible.
	binds []rootfs.Bind
	links []rootfs.File
	// path lists directories of interpreters, to be searched first.
	path []string
	// masks are settings in an interpreter's tree that may hold credentials.
	masks []string
	// vars are what an interpreter needs to find its packages where they are.
	vars []string
}

// resolver finds what a command needs.
type resolver struct {
	host
	program
	// visible are the trees that the sandbox shows anyway.
	visible []string
	scripts int
}

// resolve finds the file that a command runs and everything outside the visible
// trees that it takes to run it. Failures are the user's to mend.
func resolve(h host, command []string, visible []string) (*program, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, &sandbox.UsageError{Err: errors.New("no command"), Hint: "coalmine probe -- COMMAND…"}
	}
	r := &resolver{host: h, visible: visible}
	path, err := r.find(command[0])
	if err != nil {
		return nil, err
	}
	path, err = r.visit(path)
	if err != nil {
		return nil, err
	}
	r.command = append([]string{path}, command[1:]...)
	return &r.program, nil
}

// find is exec.LookPath for this host.
func (r *resolver) find(name string) (string, error) {
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.cwd, path)
		}
		path = filepath.Clean(path)
		return path, executable(name, r.at(path))
	}
	var denied error
	for _, dir := range r.host.path {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		err := executable(name, path)
		if err == nil {
			return path, nil
		}
		if denied == nil && !errors.Is(err, fs.ErrNotExist) && !isDir(path) {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", notFound(name)
}

func notFound(name string) error {
	return &sandbox.UsageError{Err: fmt.Errorf("command not found: %s: %w", name, fs.ErrNotExist), Hint: "give a program in PATH, or the path of an executable file"}
}

func executable(name, path string) error {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err != nil && errors.Is(err, fs.ErrInvalid):
		return notFound(name)
	case err != nil:
		return &sandbox.UsageError{Err: fmt.Errorf("permission denied: %s: %w", name, err)}
	case st.IsDir():
		return &sandbox.UsageError{Err: fmt.Errorf("permission denied: %s is a directory", name), Hint: "give the program's own path"}
	case st.Mode()&0o111 == 0:
		return &sandbox.UsageError{Err: fmt.Errorf("permission denied: %s is not executable", name), Hint: "chmod +x " + name + ", or name its interpreter first"}
	}
	return nil
}

// visit makes a program visible, and what interprets it. It returns the path to
// execute, which differs from the given one for a version manager's shim.
func (r *resolver) visit(path string) (string, error) {
	if r.scripts++; r.scripts > maxScripts {
		return "", &sandbox.UsageError{Err: fmt.Errorf("%s: too many interpreters of interpreters", path)}
	}
	real, err := r.unshim(path)
	if err != nil {
		return "", err
	}
	path = real
	final, err := r.follow(path)
	if err != nil {
		return "", err
	}
	r.userPackages(path)
	return path, r.interpreter(final)
}

var python = regexp.MustCompile(`^(python|pypy)[0-9.]*$`)

// userPackages shows what pip installed for the user alone, which a Python finds
// below HOME: the sandbox's HOME is another.
func (r *resolver) userPackages(path string) {
	if !python.MatchString(filepath.Base(path)) || r.home == "" || isFile(r.at(filepath.Join(filepath.Dir(filepath.Dir(path)), "pyvenv.cfg"))) {
		return
	}
	base := filepath.Join(r.home, ".local")
	packages, _ := filepath.Glob(filepath.Join(base, "lib", "python*", "site-packages"))
	for _, dir := range packages {
		r.showTree(dir)
	}
	if len(packages) > 0 {
		r.vars = append(r.vars, "PYTHONUSERBASE="+base)
	}
}

// follow makes visible each link from a path to its file, and returns the last.
func (r *resolver) follow(path string) (string, error) {
	for range maxHops {
		r.show(path)
		r.environment(path)
		target, err := os.Readlink(r.at(path))
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(target) {
			// The directory of a link may be a link itself.
			dir, err := r.realDir(path)
			if err != nil {
				return "", fmt.Errorf("follow %s: %w", path, err)
			}
			target = filepath.Join(dir, target)
		}
		path = filepath.Clean(target)
	}
	return "", &sandbox.UsageError{Err: fmt.Errorf("%s: too many links", path)}
}

// realDir is the directory that a path's own name stands in, without links.
func (r *resolver) realDir(path string) (string, error) {
	real, err := filepath.EvalSymlinks(r.at(filepath.Dir(path)))
	if err != nil || r.from == "" || !within(real, r.from) {
		return real, err
	}
	return r.shown + strings.TrimPrefix(real, r.from), nil
}

// show makes a program's file visible: with the tree that it was installed in
// where there is one, else alone.
func (r *resolver) show(path string) {
	if r.isVisible(path) {
		return
	}
	if prefix := r.prefix(path); prefix != "" {
		r.showTree(prefix)
		r.addPath(filepath.Dir(path))
		return
	}
	if link, err := os.Readlink(path); err == nil {
		r.links = append(r.links, rootfs.File{Path: path, Link: link, Root: true})
	} else if real, err := filepath.EvalSymlinks(path); err == nil {
		r.binds = append(r.binds, rootfs.Bind{Source: real, Target: path, ReadOnly: true})
	}
	r.visible = append(r.visible, path)
	r.addPath(filepath.Dir(path))
}

// showTree binds a directory under the name that leads to it and under its own,
// which interpreters go by.
func (r *resolver) showTree(dir string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return
	}
	for _, target := range slices.Compact([]string{dir, real}) {
		if !r.isVisible(target) {
			r.binds = append(r.binds, rootfs.Bind{Source: real, Target: target, ReadOnly: true})
			r.visible = append(r.visible, target)
		}
		for _, name := range []string{"etc/npmrc", "etc/pip.conf", "pip.conf", "etc/gitconfig", "lib/node_modules/npm/npmrc", ".npmrc"} {
			r.masks = append(r.masks, filepath.Join(target, name))
		}
	}
}

func (r *resolver) addPath(dir string) {
	if !slices.Contains(r.program.path, dir) {
		r.program.path = append(r.program.path, dir)
	}
}

func (r *resolver) isVisible(path string) bool {
	return slices.ContainsFunc(r.visible, func(tree string) bool { return within(path, tree) })
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// stores hold programs that refer to each other all over the store.
var stores = []string{"/nix/store", "/gnu/store"}

// prefix is the tree that a program was installed in, "" when it lies alone.
func (r *resolver) prefix(path string) string {
	for _, store := range stores {
		if within(path, store) {
			return store
		}
	}
	if before, _, ok := strings.Cut(path, "/node_modules/"); ok {
		return before + "/node_modules"
	}
	dir := filepath.Dir(path)
	if base := filepath.Base(dir); base != "bin" && base != "sbin" {
		return ""
	}
	prefix := filepath.Dir(dir)
	if sandbox.TooWide(prefix) {
		return ""
	}
	for _, name := range []string{"lib", "lib64", "libexec", "node_modules"} {
		if isDir(filepath.Join(prefix, name)) {
			return prefix
		}
	}
	return ""
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// environment makes the base of a Python virtual environment visible.
func (r *resolver) environment(path string) {
	f, err := os.Open(r.at(filepath.Join(filepath.Dir(filepath.Dir(path)), "pyvenv.cfg")))
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(io.LimitReader(f, 64<<10))
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), "=")
		if bin := strings.TrimSpace(value); ok && strings.TrimSpace(key) == "home" && filepath.IsAbs(bin) && isDir(bin) {
			if base := filepath.Join(filepath.Clean(bin), "python"); r.prefix(base) != "" && !r.isVisible(base) {
				r.showTree(r.prefix(base))
			}
		}
	}
}

var (
	// execLine is how pip and uv name an interpreter that is too long for "#!".
	execLine   = regexp.MustCompile(`^'''exec' ['"]?(/[^'"]+?)['"]? ['"]\$0['"]`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// interpreter visits what runs a script, if path is one.
func (r *resolver) interpreter(path string) error {
	first, second := firstLines(r.at(path))
	line, ok := strings.CutPrefix(first, "#!")
	if !ok {
		return nil
	}
	if m := execLine.FindStringSubmatch(second); m != nil {
		return r.interpretedBy(path, m[1])
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	if filepath.Base(words[0]) != "env" {
		return r.interpretedBy(path, words[0])
	}
	if name := envCommand(words[1:]); name != "" {
		return r.interpretedBy(path, name)
	}
	return nil
}

// envCommand is the program that env starts with these arguments.
func envCommand(args []string) string {
	for i := 0; i < len(args); i++ {
		arg := strings.Trim(args[i], `"'`)
		switch {
		case arg == "-u" || arg == "-C" || arg == "--unset" || arg == "--chdir":
			i++
		case strings.HasPrefix(arg, "--split-string="):
			return strings.TrimPrefix(arg, "--split-string=")
		case strings.HasPrefix(arg, "-S") && len(arg) > 2:
			return arg[2:]
		case strings.HasPrefix(arg, "-"), assignment.MatchString(arg):
		default:
			return arg
		}
	}
	return ""
}

func (r *resolver) interpretedBy(script, name string) error {
	path, err := r.find(name)
	if err != nil {
		return &sandbox.UsageError{Err: fmt.Errorf("%s: its interpreter: %w", script, err), Hint: "install " + filepath.Base(name)}
	}
	used, err := r.visit(path)
	if err != nil || used == path {
		return err
	}
	// A shim: by name the search path now finds the real one first; by path a
	// link stands in for it.
	r.addPath(filepath.Dir(used))
	if strings.Contains(name, "/") && !r.isVisible(path) {
		r.links = append(r.links, rootfs.File{Path: path, Link: used, Root: true})
	}
	return nil
}

// firstLines reads the beginning of a file, whatever it is.
func firstLines(path string) (first, second string) {
	f, err := os.Open(path)
	if err != nil {
		return "", ""
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, 4096)
	n, _ := io.ReadFull(f, b)
	first, rest, _ := strings.Cut(string(b[:n]), "\n")
	second, _, _ = strings.Cut(rest, "\n")
	return strings.TrimSuffix(first, "\r"), second
}
