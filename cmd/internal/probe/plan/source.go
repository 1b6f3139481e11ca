package plan

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// manifestNames name, by a source file's suffix, what stands at the top of its package.
var manifestNames = map[string][]string{
	".js": {"package.json"}, ".mjs": {"package.json"}, ".cjs": {"package.json"}, ".ts": {"package.json"}, ".mts": {"package.json"},
	".py": {"pyproject.toml", "setup.py"}, ".go": {"go.mod"},
	"": install.Manifests,
}

// OpenSource opens the directory of the server's own source. Where others wrote what
// is around it, no link there leads elsewhere.
func (s *Server) OpenSource() (*os.Root, error) {
	if s.Top == "" {
		return os.OpenRoot(s.Source)
	}
	rel, err := filepath.Rel(s.Top, s.Source)
	if err != nil {
		return nil, err
	}
	top, err := os.OpenRoot(s.Top)
	if err != nil {
		return nil, err
	}
	defer func() { _ = top.Close() }()
	return top.OpenRoot(rel)
}

// readable is OpenSource, nil where there is no source or it cannot be opened.
func (s *Server) readable() *os.Root {
	if s.Source == "" {
		return nil
	}
	root, err := s.OpenSource()
	if err != nil {
		return nil
	}
	return root
}

func closeSource(root *os.Root) {
	if root != nil {
		_ = root.Close() // it was only read
	}
}

// sourceRoot is the directory of the server's own source: the package around
// its first file, never the dependencies beside it. "" where there is none.
func sourceRoot(from string, command []string, serverDir string) string {
	if serverDir == "" {
		return ""
	}
	if dir := pythonPackage(command, serverDir); dir != "" {
		return dir
	}
	if moduleAt(command) > 0 {
		if code := sandbox.ServerCode(from, command, exec.LookPath); strings.HasPrefix(code, serverDir+"/") && filepath.Ext(code) == ".py" {
			return packageRoot(filepath.Dir(code), serverDir, manifestNames[".py"])
		}
	}
	for _, a := range command {
		inside := a == serverDir || strings.HasPrefix(a, serverDir+"/")
		if !filepath.IsAbs(a) || !inside {
			continue
		}
		info, err := os.Stat(a)
		if err != nil || shown.IsELF(a) { // around a program lies whatever its user keeps there, not its source
			continue
		}
		dir, suffix := a, ""
		if !info.IsDir() {
			dir, suffix = filepath.Dir(a), filepath.Ext(a)
		}
		return packageRoot(dir, serverDir, manifestNames[suffix])
	}
	return ""
}

// packageRoot climbs from dir to the nearest manifest, at most to top; without
// one the package is dir itself.
func packageRoot(dir, top string, names []string) string {
	for d := dir; ; d = filepath.Dir(d) {
		for _, m := range names {
			if _, err := os.Stat(filepath.Join(d, m)); err == nil {
				return d
			}
		}
		if d == top || d == filepath.Dir(d) {
			return dir
		}
	}
}

// entryPoint is the line of a console script that pip wrote which names the
// package that it starts.
var entryPoint = regexp.MustCompile(`^(?:from|import)\s+([A-Za-z_]\w*)`)

// pythonPackage is the package that a virtual environment's command runs: of
// python -m NAME, or of a console script. "" where the command is no such one.
func pythonPackage(command []string, env string) string {
	name := ""
	for i, a := range command[:len(command)-1] {
		if a == "-m" {
			name, _, _ = strings.Cut(command[i+1], ".")
			break
		}
	}
	if name == "" {
		name = consolePackage(command, env)
	}
	if name == "" || strings.ContainsAny(name, "/*?[") {
		return ""
	}
	found, err := filepath.Glob(filepath.Join(env, "lib", "python*", "site-packages", name))
	if err != nil || len(found) != 1 {
		return ""
	}
	return found[0]
}

// consolePackage reads the first import of a script below env/bin.
func consolePackage(command []string, env string) string {
	for _, a := range command {
		if filepath.Dir(a) != filepath.Join(env, "bin") || shown.IsELF(a) {
			continue
		}
		f, err := shown.Open(a)
		if err != nil {
			continue
		}
		defer f.Close()
		lines := bufio.NewScanner(io.LimitReader(f, 16<<10))
		for lines.Scan() {
			m := entryPoint.FindStringSubmatch(lines.Text())
			if m != nil && m[1] != "sys" && m[1] != "re" && m[1] != "importlib" {
				return m[1]
			}
		}
	}
	return ""
}

// Reads are the directories and files of the server's own that a run would show
// it: its code, and what its command names.
func Reads(o Options) []string {
	if o.Package != nil && o.Package.Kind == install.KindDirectory {
		return []string{o.Package.Name}
	}
	l := o.placed()
	var out []string
	if l.dir != "" {
		out = append(out, l.dir)
	}
	for _, a := range l.command {
		if _, err := os.Lstat(a); err == nil && filepath.IsAbs(a) {
			out = append(out, a)
		}
	}
	return out
}
