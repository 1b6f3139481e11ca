package sandbox

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/canaries/secrets"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// runners are the programs that run a server named by an argument. Others are
// the server, and a path among their arguments is data.
var runners = []string{
	"node", "nodejs", "deno", "bun", "tsx", "ts-node", "npx", "npm", "pnpm", "yarn", "bunx",
	"python", "pypy", "uv", "uvx", "pipx", "poetry", "hatch", "pdm",
	"ruby", "perl", "php", "lua", "java", "dotnet", "go", "cargo", "elixir", "Rscript", "julia",
	"sh", "bash", "dash", "zsh", "fish", "env", "nice", "timeout", "strace",
}

// markers are what the top directory of a project holds.
var markers = []string{"package.json", "pyproject.toml", "setup.py", "go.mod", "requirements.txt", "pyvenv.cfg", ".git"}

// codeSuffixes make an argument of an unknown program its code.
var codeSuffixes = []string{
	".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".py", ".pyc", ".pyz", ".rb", ".pl", ".php", ".phar", ".lua", ".sh", ".bash", ".zsh", ".fish",
	".jar", ".dll", ".exs", ".ex", ".wasm", ".jl", ".R", ".r", ".go", ".rs", ".csx", ".fsx", ".groovy", ".kts", ".tcl",
}

// directoryOptions are followed by the directory that a runner runs.
var directoryOptions = []string{"--directory", "--project", "--prefix", "--cwd", "--package-path", "-C", "--dir", "--from"}

// ServerDir finds, in a server's command line, the host directory that holds
// its code, to be shown in the sandbox at the same path, and the directories
// that it is to work on, which are made there empty: what the host has in them is never
// shown. dir is "" where the command names no code, and a file where the
// directory around it is not one to show. Relative arguments start from the
// directory from, "" for that of this process; lookPath is exec.LookPath or its like.
func ServerDir(from string, command []string, lookPath func(string) (string, error)) (dir string, workspaces []string) {
	return newPlace(from, lookPath).serverDir(command)
}

func newPlace(from string, lookPath func(string) (string, error)) place {
	p := place{cwd: from, named: from != "", lookPath: lookPath}
	p.home, _ = os.UserHomeDir()
	if from == "" {
		var err error
		if p.cwd, err = os.Getwd(); err != nil {
			p.cwd = "/"
		}
	}
	return p
}

// ServerCode finds, in a server's command line, the file or directory in which its code
// begins, "" for none. from is that of ServerDir.
func ServerCode(from string, command []string, lookPath func(string) (string, error)) string {
	if len(command) == 0 {
		return ""
	}
	return newPlace(from, lookPath).code(command)
}

// IsCode reports whether a file is a program or a script by its name or beginning.
func IsCode(file string) bool {
	return slices.Contains(codeSuffixes, filepath.Ext(file)) || shown.IsELF(file) || isScript(file)
}

// place is where a command line is read.
type place struct {
	cwd, home string
	// named says that somebody named cwd for the server to start in.
	named    bool
	lookPath func(string) (string, error)
}

func (p place) serverDir(command []string) (string, []string) {
	if len(command) == 0 {
		return "", nil
	}
	code := p.code(command)
	dir := ""
	if code != "" {
		dir = p.around(code)
	}
	workspaces := p.workspaces(command[1:], dir)
	if !p.named || p.tooWide(p.cwd) || isSystem(p.cwd) || dir != "" && shown.Within(p.cwd, dir) {
		return dir, workspaces
	}
	if dir != "" && shown.Within(dir, p.cwd) && isDirectory(dir) {
		return p.cwd, p.workspaces(command[1:], p.cwd) // a package of the project that it starts in
	}
	if !slices.Contains(workspaces, p.cwd) {
		workspaces = append([]string{p.cwd}, workspaces...)
	}
	return dir, workspaces
}

func isDirectory(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// code finds the file or directory in which the server's code begins. Of code that no
// argument names that is the directory which somebody named to start in.
func (p place) code(command []string) string {
	if found := p.namedCode(command); found != "" || !p.named || !isRunner(command[0]) || p.tooWide(p.cwd) || isSystem(p.cwd) {
		return found
	}
	return p.cwd
}

// namedCode finds the code that a command names.
func (p place) namedCode(command []string) string {
	runner := isRunner(command[0])
	if runner && IsPython(command[0]) {
		if i := slices.IndexFunc(command, func(arg string) bool { return arg == "-m" || arg == "-c" }); i > 0 && !slices.ContainsFunc(command[1:i], p.isScript) {
			return cmp.Or(p.module(command[i:]), p.environment(command[0]))
		}
	}
	bare, previous, program := "", "", command[0]
	for i, arg := range command[1:] {
		if isRunner(arg) && (i == 0 || runner) {
			runner, program = true, arg
		}
		if runner && bare == "" && isInline(program, arg) {
			break // what follows are the arguments of code that no file holds
		}
		value := arg
		if option, after, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			previous, value, arg = option, after, ""
		}
		if path := p.existing(value); path != "" && p.isCode(path, previous, runner) {
			return path
		} else if path != "" && bare == "" && runner && isFile(path) && filepath.Ext(path) == "" {
			bare = path
		}
		previous = arg
	}
	if !runner {
		return p.program(command[0])
	}
	return cmp.Or(bare, p.environment(command[0]), p.project(command))
}

// environment is an interpreter that is named by its path in a virtual
// environment: what is installed there is the server.
func (p place) environment(program string) string {
	if !strings.Contains(program, "/") {
		return ""
	}
	if path := p.abs(program); isFile(filepath.Join(filepath.Dir(filepath.Dir(path)), "pyvenv.cfg")) && isFile(path) {
		return path
	}
	return ""
}

// program finds a server that is itself the command. What the system's packages
// installed is not its own directory's.
func (p place) program(name string) string {
	if !strings.Contains(name, "/") {
		found, err := p.lookPath(name)
		if err != nil {
			return ""
		}
		name = found
	}
	path := p.abs(name)
	if isSystem(path) || !isFile(path) || filepath.Base(filepath.Dir(path)) == "shims" {
		return ""
	}
	return path
}

func (p place) isScript(arg string) bool {
	return filepath.Ext(arg) != "" && p.existing(arg) != ""
}

// inline are the options by which interpreters take code in place of a file.
var inline = map[string]*lazyregexp.Regexp{
	"node": nodeInline, "nodejs": nodeInline, "bun": nodeInline, "tsx": nodeInline, "ts-node": nodeInline,
	"deno": lazyregexp.New(`^eval$`), "php": lazyregexp.New(`^-[rBRE]`),
	"ruby": perlInline, "perl": perlInline, "lua": perlInline, "elixir": perlInline, "Rscript": perlInline, "julia": perlInline,
	"python": shellInline, "pypy": shellInline, "sh": shellInline, "bash": shellInline, "dash": shellInline, "zsh": shellInline, "fish": shellInline,
}

var (
	nodeInline  = lazyregexp.New(`^(?:-e|-p|-pe|--eval|--print)(?:=|$)`)
	perlInline  = lazyregexp.New(`^(?:-[a-zA-Z]*[eE]|--eval)(?:=|$)`)
	shellInline = lazyregexp.New(`^-[a-zA-Z]*c$`)
)

// isInline reports whether an argument of an interpreter says that code follows, or has it.
func isInline(program, arg string) bool {
	r := inline[version.ReplaceAllString(filepath.Base(program), "")]
	return r != nil && r.MatchString(arg)
}

// isScript reports whether a file whose name does not say so is what an interpreter runs.
func isScript(path string) bool {
	f, err := shown.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	var magic [2]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && string(magic[:]) == "#!"
}

// module finds the package that "python -m NAME" takes from the working directory.
func (p place) module(args []string) string {
	if args[0] != "-m" || len(args) == 1 {
		return ""
	}
	base := filepath.Join(p.cwd, strings.ReplaceAll(args[1], ".", "/"))
	for _, path := range []string{base + ".py", filepath.Join(base, "__main__.py"), filepath.Join(base, "__init__.py")} {
		if isFile(path) {
			return path
		}
	}
	return ""
}

func (p place) existing(arg string) string {
	if arg == "" || strings.HasPrefix(arg, "-") {
		return ""
	}
	path := p.abs(arg)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func (p place) abs(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.cwd, path)
	}
	return filepath.Clean(path)
}

// isCode says whether an existing path that follows an option is what a program
// runs. A directory that only version control marks is data.
func (p place) isCode(path, option string, runner bool) bool {
	if isFile(path) {
		return slices.Contains(codeSuffixes, filepath.Ext(path)) || runner && !strings.HasPrefix(option, "--") && isScript(path)
	}
	if !runner || isSystem(path) {
		return false
	}
	if slices.Contains(directoryOptions, option) {
		return true
	}
	return !strings.HasPrefix(option, "-") && slices.ContainsFunc([]string{"package.json", "index.js", "__main__.py", "pyproject.toml", "go.mod"}, func(name string) bool {
		return isFile(filepath.Join(path, name))
	})
}

// around finds the directory to show with a path of the code.
func (p place) around(path string) string {
	own := path
	if isFile(path) {
		own = filepath.Dir(path)
	}
	candidates := []string{p.installation(own), p.marked(path, own)}
	if filepath.Base(own) != "bin" {
		// Other programs' files may lie in a directory of programs.
		candidates = append(candidates, own)
	}
	for _, dir := range candidates {
		if dir != "" && !p.tooWide(dir) {
			return dir
		}
	}
	if isFile(path) && !shown.InCredentials(own) && !secrets.Named(path) {
		return path
	}
	return ""
}

// installation is the parent of the outermost node_modules above dir, or that
// directory itself, or the virtual environment around a site-packages.
func (p place) installation(dir string) string {
	if before, _, ok := strings.Cut(dir+"/", "/node_modules/"); ok {
		if !p.tooWide(before) {
			return before
		}
		return before + "/node_modules"
	}
	if before, _, ok := strings.Cut(dir+"/", "/site-packages/"); ok {
		// …/venv/lib/python3.11/site-packages
		if env := filepath.Dir(filepath.Dir(before)); isFile(filepath.Join(env, "pyvenv.cfg")) {
			return env
		}
		return before + "/site-packages"
	}
	return ""
}

// marked is the nearest directory with a marker in it. A compiled program
// needs no more than the directory it lies in, unless it is the interpreter of
// a virtual environment.
func (p place) marked(path, own string) string {
	if shown.IsELF(path) && !isFile(filepath.Join(filepath.Dir(own), "pyvenv.cfg")) {
		return ""
	}
	for dir := own; !p.tooWide(dir) && dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		for _, m := range markers {
			if _, err := os.Lstat(filepath.Join(dir, m)); err == nil {
				return p.aroundEnvironment(dir, m)
			}
		}
		if isPrefix(dir) {
			return ""
		}
	}
	return ""
}

// aroundEnvironment is the project that keeps a virtual environment in it: the
// environment often holds no more than a reference to the project's code.
func (p place) aroundEnvironment(dir, marker string) string {
	parent := filepath.Dir(dir)
	if marker != "pyvenv.cfg" || p.tooWide(parent) {
		return dir
	}
	for _, m := range []string{"pyproject.toml", "setup.py", "requirements.txt"} {
		if isFile(filepath.Join(parent, m)) {
			return parent
		}
	}
	return dir
}

// isPrefix says that programs were installed below dir: an interpreter's or a
// version manager's tree, whose parents are not this server's project.
func isPrefix(dir string) bool {
	for _, name := range []string{"bin", "lib", "share"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || !st.IsDir() {
			return false
		}
	}
	return true
}

// TooWide says that a directory may hold what is no part of one program: a
// home, what a whole system shares, or credentials. A sandbox never shows such a one.
func TooWide(dir string) bool { return shown.TooWide(dir, shown.Homes()) }

func (p place) tooWide(dir string) bool {
	return shown.TooWide(dir, append([]string{filepath.Clean(p.home)}, shown.Homes()...))
}

// isSystem says that a path belongs to the operating system's packages.
func isSystem(path string) bool {
	for _, tree := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev"} {
		if path == tree || strings.HasPrefix(path, tree+"/") {
			return true
		}
	}
	return path == "/"
}

// workspaces are the absolute paths among the arguments that are no file and
// lie outside dir.
func (p place) workspaces(args []string, dir string) []string {
	var found []string
	for _, arg := range args {
		if option, after, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(option, "-") {
			arg = after
		}
		if !filepath.IsAbs(arg) || strings.ContainsAny(arg, "\x00\n") {
			continue
		}
		path := filepath.Clean(arg)
		if isSystem(path) || dir != "" && shown.Within(path, dir) || looksLikeFile(path) || slices.Contains(found, path) {
			continue
		}
		found = append(found, path)
	}
	return found
}

// DataDirs are the directories of the files that words of a command line or the
// values of settings name, for the server to make them in: absolute paths that look
// like a file's, "--option=PATH" among them, and not like a program's. Left out are directories of the system,
// those that hold more than one program's things, and those in, or around, one that
// is there already.
func DataDirs(words, there []string) []string {
	home, _ := os.UserHomeDir()
	p := place{home: home}
	var found []string
	for _, word := range words {
		if option, after, ok := strings.Cut(word, "="); ok && strings.HasPrefix(option, "-") {
			word = after
		}
		if path := filepath.Clean(word); filepath.IsAbs(word) && !strings.ContainsAny(word, "\x00\n:") && looksLikeFile(path) && !slices.Contains(codeSuffixes, filepath.Ext(path)) {
			dir := filepath.Dir(path)
			apart := func(other string) bool { return other == "" || !shown.Within(dir, other) && !shown.Within(other, dir) }
			if !isSystem(dir) && !p.tooWide(dir) && !slices.ContainsFunc(slices.Concat(there, found), func(o string) bool { return !apart(o) }) {
				found = append(found, dir)
			}
		}
	}
	return found
}

var suffix = lazyregexp.New(`[^/.]\.[A-Za-z0-9]{1,8}$`)

// looksLikeFile goes by what the host has, else by the name.
func looksLikeFile(path string) bool {
	if st, err := os.Stat(path); err == nil {
		return !st.IsDir()
	}
	return suffix.MatchString(path)
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

var version = lazyregexp.New(`[0-9.]+$`)

func isRunner(program string) bool {
	return slices.Contains(runners, version.ReplaceAllString(filepath.Base(program), ""))
}

// IsPython reports whether a program is an interpreter of Python by its name.
func IsPython(program string) bool {
	name := version.ReplaceAllString(filepath.Base(program), "")
	return name == "python" || name == "pypy"
}
