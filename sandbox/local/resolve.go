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
	"sync"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
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
	// shows it at its own path. What is in from was written by others.
	shown, from string
	// bounds are where the command may lead. What the search path leads to is the user's
	// own choice, and so is what that starts.
	bounds shown.Bounds
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
	// tool leaves out what the program would find of the user's beside its own files.
	tool bool
}

// resolve finds the file that a command runs and everything outside the visible
// trees that it takes to run it. Failures are the user's to mend.
func resolve(h host, command []string, visible []string) (*program, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, &sandbox.UsageError{Err: errors.New("no command"), Hint: "coalmine probe -- COMMAND…"}
	}
	if h.from != "" && shown.Within(filepath.Clean(command[0]), h.shown) {
		// Others wrote that tree: no link, "#!" or pyvenv.cfg in it decides what is shown.
		// What runs the program is among the Spec's Tools.
		return &program{command: command}, inTree(h.from, strings.TrimPrefix(filepath.Clean(command[0]), h.shown), command[0])
	}
	return (&resolver{host: h, visible: visible}).resolve(command)
}

func (r *resolver) resolve(command []string) (*program, error) {
	path, err := r.find(command[0])
	if err != nil {
		return nil, err
	}
	path, err = r.visit(path, chosen(command[0]))
	if err != nil {
		return nil, err
	}
	r.command = append([]string{path}, command[1:]...)
	return &r.program, nil
}

// inTree checks that a tree has a program, or a link in its place, and follows none.
func inTree(top, rel, name string) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return fmt.Errorf("the server's files: %w", err)
	}
	defer func() { _ = root.Close() }()
	st, err := root.Lstat(strings.TrimPrefix(rel, "/"))
	switch {
	case err != nil:
		return notFound(name)
	case st.IsDir():
		return isDirectory(name)
	case st.Mode().IsRegular() && st.Mode()&0o111 == 0:
		return notExecutable(name)
	}
	return nil
}

// chosen says that a program's name leaves it to the user's search path which it is.
func chosen(name string) bool { return !strings.Contains(name, "/") }

// find is exec.LookPath for this host.
func (r *resolver) find(name string) (string, error) {
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.cwd, path)
		}
		path = filepath.Clean(path)
		return path, executable(name, path)
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
		return isDirectory(name)
	case st.Mode()&0o111 == 0 || !st.Mode().IsRegular():
		return notExecutable(name)
	}
	return nil
}

func isDirectory(name string) error {
	return &sandbox.UsageError{Err: fmt.Errorf("permission denied: %s is a directory", name), Hint: "give the program's own path"}
}

func notExecutable(name string) error {
	return &sandbox.UsageError{Err: fmt.Errorf("permission denied: %s is not executable", name), Hint: "chmod +x " + name + ", or name its interpreter first"}
}

// visit makes a program visible, and what interprets it. It returns the path to
// execute, which differs from the given one for a version manager's shim. free says
// that it is the user's own choice, and may lie anywhere.
func (r *resolver) visit(path string, free bool) (string, error) {
	if r.scripts++; r.scripts > maxScripts {
		return "", &sandbox.UsageError{Err: fmt.Errorf("%s: too many interpreters of interpreters", path)}
	}
	real, err := r.unshim(path)
	if err != nil {
		return "", err
	}
	path = real
	final, err := r.follow(path, free)
	if err != nil {
		return "", err
	}
	return path, errors.Join(r.userPackages(path), r.interpreter(final, free))
}

// allow refuses a path that the command may not lead to. A Python, which a virtual
// environment refers to, is none that a repository could have made.
func (r *resolver) allow(path string, free bool) error {
	if free || r.isVisible(path) {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || r.isVisible(real) || r.bounds.Allow(real) || isPythonOf(real) {
		return nil
	}
	return sandbox.Outside(real, r.bounds)
}

// isPythonOf reports whether a file is the interpreter of a Python installation.
func isPythonOf(file string) bool {
	if !python.MatchString(filepath.Base(file)) || filepath.Base(filepath.Dir(file)) != "bin" || !shown.IsELF(file) {
		return false
	}
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(file)), "lib", "p*", "os.py"))
	return len(found) > 0
}

var python = regexp.MustCompile(`^(python|pypy)[0-9.]*$`)

// userPackages shows what pip installed for the user alone, which a Python finds
// below HOME: the sandbox's HOME is another.
func (r *resolver) userPackages(path string) error {
	if r.tool || !python.MatchString(filepath.Base(path)) || r.home == "" || isFile(filepath.Join(filepath.Dir(filepath.Dir(path)), "pyvenv.cfg")) {
		return nil
	}
	base := filepath.Join(r.home, ".local")
	packages, _ := filepath.Glob(filepath.Join(base, "lib", "python*", "site-packages"))
	for _, dir := range packages {
		if err := r.showTree(dir); err != nil {
			return err
		}
	}
	if len(packages) > 0 {
		r.vars = append(r.vars, "PYTHONUSERBASE="+base)
	}
	return nil
}

// follow makes visible each link from a path to its file, and returns the last.
func (r *resolver) follow(path string, free bool) (string, error) {
	for range maxHops {
		if err := r.allow(path, free); err != nil {
			return "", err
		}
		if err := errors.Join(r.show(path), r.environment(path, free)); err != nil {
			return "", err
		}
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(target) {
			// The directory of a link may be a link itself.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", fmt.Errorf("follow %s: %w", path, err)
			}
			target = filepath.Join(dir, target)
		}
		path = filepath.Clean(target)
	}
	return "", &sandbox.UsageError{Err: fmt.Errorf("%s: too many links", path)}
}

// show makes a program's file visible: with the tree that it was installed in
// where there is one, else alone.
func (r *resolver) show(path string) error {
	if r.isVisible(path) {
		return nil
	}
	if prefix := r.prefix(path); prefix != "" {
		r.addPath(filepath.Dir(path))
		return r.showTree(prefix)
	}
	if link, err := os.Readlink(path); err == nil {
		r.links = append(r.links, rootfs.File{Path: path, Link: link, Root: true})
	} else if real, err := filepath.EvalSymlinks(path); err == nil {
		r.binds = append(r.binds, rootfs.Bind{Source: real, Target: path, ReadOnly: true})
	}
	r.visible = append(r.visible, path)
	r.addPath(filepath.Dir(path))
	return nil
}

// showTree binds a directory under the name that leads to it and under its own,
// which interpreters go by. What in it holds credentials by its name is masked; where
// that cannot be found out the tree is not shown.
func (r *resolver) showTree(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	named, err := credentialsOf(real)
	if err != nil {
		return sandbox.NotShown(real, err)
	}
	for _, target := range slices.Compact([]string{dir, real}) {
		if !r.isVisible(target) {
			r.binds = append(r.binds, rootfs.Bind{Source: real, Target: target, ReadOnly: true})
			r.visible = append(r.visible, target)
		}
		for _, name := range []string{"etc/npmrc", "etc/pip.conf", "pip.conf", "etc/gitconfig", "lib/node_modules/npm/npmrc"} {
			r.masks = append(r.masks, filepath.Join(target, name))
		}
		for _, path := range named {
			r.masks = append(r.masks, target+strings.TrimPrefix(path, real))
		}
	}
	return nil
}

// named remembers what shown.Named found: a probe starts many runs.
var named sync.Map

func credentialsOf(dir string) ([]string, error) {
	if found, ok := named.Load(dir); ok {
		return found.([]string), nil
	}
	found, err := shown.Named(dir)
	if err != nil {
		return nil, err
	}
	named.Store(dir, found)
	return found, nil
}

func (r *resolver) addPath(dir string) {
	if !slices.Contains(r.program.path, dir) {
		r.program.path = append(r.program.path, dir)
	}
}

func (r *resolver) isVisible(path string) bool {
	return slices.ContainsFunc(r.visible, func(tree string) bool { return shown.Within(path, tree) })
}

// stores hold programs that refer to each other all over the store.
var stores = []string{"/nix/store", "/gnu/store"}

// prefix is the tree that a program was installed in, "" when it lies alone.
func (r *resolver) prefix(path string) string {
	for _, store := range stores {
		if shown.Within(path, store) {
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
	if shown.TooWide(prefix, append(shown.Homes(), r.home)) {
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
func (r *resolver) environment(path string, free bool) error {
	f, err := shown.Open(filepath.Join(filepath.Dir(filepath.Dir(path)), "pyvenv.cfg"))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(io.LimitReader(f, 64<<10))
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), "=")
		bin := filepath.Clean(strings.TrimSpace(value))
		if !ok || strings.TrimSpace(key) != "home" || !filepath.IsAbs(bin) || !isDir(bin) {
			continue
		}
		base := filepath.Join(bin, "python")
		prefix := r.prefix(base)
		if prefix == "" || r.isVisible(base) {
			continue
		}
		if !free && !r.bounds.Allow(prefix) && !r.hasPython(bin) {
			return sandbox.Outside(prefix, r.bounds)
		}
		if err := r.showTree(prefix); err != nil {
			return err
		}
	}
	return nil
}

// hasPython reports whether a directory of programs is that of a Python installation.
func (r *resolver) hasPython(bin string) bool {
	found, _ := filepath.Glob(filepath.Join(bin, "p*"))
	return slices.ContainsFunc(found, func(file string) bool {
		real, err := filepath.EvalSymlinks(file)
		return err == nil && filepath.Dir(real) == bin && isPythonOf(real)
	})
}

var (
	// execLine is how pip and uv name an interpreter that is too long for "#!".
	execLine   = regexp.MustCompile(`^'''exec' ['"]?(/[^'"]+?)['"]? ['"]\$0['"]`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// interpreter visits what runs a script, if path is one.
func (r *resolver) interpreter(path string, free bool) error {
	first, second := firstLines(path)
	line, ok := strings.CutPrefix(first, "#!")
	if !ok {
		return nil
	}
	if m := execLine.FindStringSubmatch(second); m != nil {
		return r.interpretedBy(path, m[1], free)
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	if filepath.Base(words[0]) != "env" {
		return r.interpretedBy(path, words[0], free)
	}
	if name := envCommand(words[1:]); name != "" {
		return r.interpretedBy(path, name, free)
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

func (r *resolver) interpretedBy(script, name string, free bool) error {
	path, err := r.find(name)
	if err != nil {
		return &sandbox.UsageError{Err: fmt.Errorf("%s: its interpreter: %w", script, err), Hint: "install " + filepath.Base(name)}
	}
	used, err := r.visit(path, free || chosen(name))
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
	f, err := shown.Open(path)
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
