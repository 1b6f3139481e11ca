package install

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	// buildPlace holds, in the tree of a Python project that is to be built, the
	// environment of the build ("env") and the wheel that it makes ("out").
	buildPlace = ".pep517"
	// eventWheel is the step that makes it, by the hook's name.
	eventWheel = "build_wheel"
	// maxSearched bounds what is searched for the names of dependencies, in bytes.
	maxSearched = 64 << 20
	// maxRequires bounds what a wheel depends on.
	maxRequires = 500
)

// callBackend calls a project's build backend as PEP 517 has it: without the
// working directory on the path, after asking what else it needs.
const callBackend = `
import importlib, importlib.metadata, os, re, sys
backend, out, paths = sys.argv[1], sys.argv[2], sys.argv[3:]
sys.path[:] = [os.path.abspath(p) for p in paths] + [p for p in sys.path if p]
del sys.argv[1:]
module, _, inner = backend.partition(":")
hooks = importlib.import_module(module)
for name in filter(None, inner.split(".")):
    hooks = getattr(hooks, name)
for wanted in getattr(hooks, "get_requires_for_build_wheel", lambda settings: [])(None):
    try:
        importlib.metadata.distribution(re.split(r"[^\w.-]", wanted.strip(), maxsplit=1)[0])
    except importlib.metadata.PackageNotFoundError:
        print("the build wants " + wanted, file=sys.stderr)
        sys.exit(69)
os.makedirs(out, exist_ok=True)
hooks.build_wheel(os.path.abspath(out), None, None)
`

// pythonVars are the variables of a project's build. The history of a checkout is
// not copied, so those who ask it for a version are told one.
func (t *Tree) pythonVars(dir string, _ Step) string {
	vars := "PATH=" + quote(filepath.Join(dir, buildPlace, "env", "bin")) + ":$PATH"
	if t.Spec.Kind == KindDirectory {
		version := quote(cmp.Or(t.Version, "0.1.dev0"))
		vars += " SETUPTOOLS_SCM_PRETEND_VERSION=" + version + " PDM_BUILD_SCM_VERSION=" + version
	}
	return vars
}

// oldSetuptools is a requirement that may be met by one that does not make wheels by itself.
var oldSetuptools = regexp.MustCompile(`^setuptools\s*(?:\[[^]]*\]\s*)?\(?[^;]*(?:<|==|~=)`)

// prepareBuild fetches what a project's build needs, as wheels, and writes down the
// step that makes a wheel of it. Digest and Packages then are those of the build's needs.
func (f *Fetcher) prepareBuild(ctx context.Context, t *Tree, root *os.Root, p *project) error {
	wanted, backend := []string{"setuptools"}, "setuptools.build_meta:__legacy__"
	var paths []string
	if p != nil && p.BuildSystem.Requires != nil {
		wanted = p.BuildSystem.Requires
		if p.BuildSystem.Backend != "" {
			backend, paths = p.BuildSystem.Backend, p.BuildSystem.Path
		}
	}
	if slices.ContainsFunc(wanted, oldSetuptools.MatchString) {
		wanted = append(wanted[:len(wanted):len(wanted)], "wheel") // which they ask for while they build
	}
	for _, r := range wanted {
		if !requirement.MatchString(r) {
			return withHint("build with what an index has published", "%s: its build needs %q, which is none that an index has, and is not fetched", t.Spec, Redact(r))
		}
	}
	if err := root.RemoveAll(buildPlace); err != nil {
		return err
	}
	if err := root.Mkdir(buildPlace, 0o755); err != nil {
		return err
	}
	place := filepath.Join(t.Host, buildPlace, "env")
	env, err := f.environmentAt(ctx, place, "the build of "+t.Spec.String(), wanted, t.Python)
	if err != nil {
		return err
	}
	command := "exec python -c " + quote(callBackend) + " " + quote(backend) + " " + quote(filepath.Join(buildPlace, "out"))
	for _, path := range paths {
		command += " " + quote(path)
	}
	t.Steps = []Step{{cmp.Or(t.Name, filepath.Base(t.Spec.Name)), t.Version, eventWheel, ".", command}}
	t.Packages, t.Digest = t.Packages+len(env.wheels), digest([]string{t.Digest, env.digest})
	tools := &Tree{Spec: t.Spec, Host: t.Host, Env: filepath.Join(buildPlace, "env"), Python: t.Python}
	if err := tools.readPyPI(); err != nil {
		return err
	}
	t.Scripts = append(t.Scripts, tools.Scripts...)
	return nil
}

// await has a tree whose programs only its build makes.
func (t *Tree) await() {
	t.Pending = true
	name := cmp.Or(t.Spec.Bin, normalized(t.Name), filepath.Base(t.Spec.Name))
	t.Bins = []Bin{{name, filepath.Join("bin", name)}}
}

// environmentAt lays an environment with wheels out in a directory that is not there yet.
func (f *Fetcher) environmentAt(ctx context.Context, dir, what string, wanted []string, py *Python) (*environment, error) {
	if len(wanted) == 0 {
		env := &environment{dir: dir, digest: digest(nil)}
		return env, errors.Join(os.Mkdir(dir, 0o755), layOut(dir, py))
	}
	env, err := f.environment(ctx, what, wanted, py)
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(dir, os.DirFS(env.dir)); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return env, nil
}

// Finish installs the wheel that a build left in a directory, with what it depends
// on, and returns the directory that has the programs: of a checkout the same one.
// All that the build left is hostile: its wheel is unpacked and not run, and only
// what the source names can be asked for of an index.
func (f *Fetcher) Finish(ctx context.Context, t *Tree, built string) (string, error) {
	name, err := madeWheel(built)
	if err != nil {
		return "", err
	}
	meta, err := readMetadata(filepath.Join(built, name))
	if err != nil {
		return "", fmt.Errorf("read the wheel that the build made: %w", err)
	}
	if t.Name != "" && normalized(meta.name) != normalized(t.Name) {
		return "", fmt.Errorf("the build made a wheel of %.100q", meta.name)
	}
	wanted, err := t.wanted(meta)
	if err != nil {
		return "", err
	}
	temp, err := f.Cache.Temp()
	if err != nil {
		return "", err
	}
	defer func() { _ = removeAll(temp) }()
	dir := filepath.Join(temp, "env")
	env, err := f.environmentAt(ctx, dir, cmp.Or(t.Name, meta.name), wanted, t.Python)
	if err != nil {
		return "", err
	}
	if err := addWheel(dir, filepath.Join(built, name), t.Python); err != nil {
		return "", fmt.Errorf("unpack the wheel that the build made: %w", err)
	}
	return t.takeBuilt(f.Cache, built, dir, meta, env)
}

// takeBuilt puts a finished environment where it is shown from, and reads it.
func (t *Tree) takeBuilt(c Cache, built, dir string, meta *metadata, env *environment) (string, error) {
	shown, host, place := built, t.Host, ""
	if t.Spec.Kind == KindDirectory {
		place = ".venv"
		if err := errors.Join(removeAll(filepath.Join(built, buildPlace)), removeAll(filepath.Join(built, place)), os.Rename(dir, filepath.Join(built, place))); err != nil {
			return "", err
		}
	} else {
		var err error
		if shown, err = c.Temp(); err != nil {
			return "", err
		}
		if err := errors.Join(os.Remove(shown), os.Rename(dir, shown), removeAll(built)); err != nil {
			return "", err
		}
	}
	if t.Version == "" {
		t.Version = meta.version
	}
	t.Name, t.Env, t.Pending, t.Bins, t.Scripts = meta.name, place, false, nil, nil
	t.Packages += len(env.wheels)
	t.Host = shown
	err := t.readPyPI()
	t.Host = host
	return shown, err
}

// madeWheel is the one wheel that a build left, relative to its directory.
func madeWheel(built string) (string, error) {
	root, err := os.OpenRoot(built)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	names, err := fs.Glob(root.FS(), filepath.Join(buildPlace, "out", "*.whl"))
	if err != nil || len(names) != 1 {
		return "", fmt.Errorf("the build made %d wheels", len(names))
	}
	for _, name := range []string{buildPlace, filepath.Join(buildPlace, "out"), names[0]} {
		if info, err := root.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return "", errors.New("what the build made is a link")
		}
	}
	return names[0], nil
}

// addWheel unpacks one more wheel into an environment.
func addWheel(dir, file string, py *Python) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	name := filepath.Base(file)
	if err := os.Rename(file, filepath.Join(dir, name)); err != nil {
		return err
	}
	return errors.Join(unpackWheel(root, name, py, fullBudget()), root.Remove(name))
}

// metadata is what a wheel says of itself.
type metadata struct {
	name, version string
	requires      []string
}

func readMetadata(file string) (*metadata, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = z.Close() }()
	for _, e := range z.File {
		if dir, base := filepath.Split(e.Name); base != "METADATA" || !strings.HasSuffix(dir, ".dist-info/") || strings.Count(dir, "/") != 1 {
			continue
		}
		r, err := e.Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = r.Close() }()
		return parseMetadata(io.LimitReader(r, maxManifest))
	}
	return nil, errors.New("it has no METADATA")
}

// parseMetadata reads the fields at the top of a METADATA file.
func parseMetadata(r io.Reader) (*metadata, error) {
	m := &metadata{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxManifest)
	for lines.Scan() && lines.Text() != "" {
		key, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(key) {
		case "name":
			m.name = value
		case "version":
			m.version = value
		case "requires-dist":
			m.requires = append(m.requires, value)
		}
	}
	if !pypiName.MatchString(m.name) || !pypiVer.MatchString(m.version) || len(m.requires) > maxRequires || lines.Err() != nil {
		return nil, errors.New("its METADATA cannot be read")
	}
	return m, nil
}

var (
	// onlyExtra is the marker of what is wanted for an extra alone.
	onlyExtra = regexp.MustCompile(`;\s*\(?\s*extra\s*==\s*['"]([\w.-]+)['"]\s*\)?\s*$`)
	word      = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._-]*`)
)

// wanted are a wheel's dependencies. A build could spell what it saw in the names
// of what it depends on, so a name has to stand in what was fetched.
func (t *Tree) wanted(m *metadata) ([]string, error) {
	_, extras, _ := strings.Cut(strings.TrimSuffix(t.Spec.Name, "]"), "[")
	asked := map[string]bool{}
	for _, e := range strings.Split(extras, ",") {
		asked[normalized(e)] = t.Spec.Kind == KindPyPI
	}
	out := t.Spec.With
	var known map[string]bool
	for _, r := range m.requires {
		if x := onlyExtra.FindStringSubmatchIndex(r); x != nil {
			if !asked[normalized(r[x[2]:x[3]])] {
				continue
			}
			r = r[:x[0]]
		}
		if !requirement.MatchString(r) {
			return nil, fmt.Errorf("it depends on %.200q, which is none that an index has, and is not fetched", Redact(r))
		}
		if known == nil {
			var err error
			if known, err = t.words(); err != nil {
				return nil, err
			}
		}
		if name := normalized(word.FindString(r)); !known[name] {
			return nil, fmt.Errorf("its build names the dependency %.100q, which its source does not", name)
		}
		out = append(out[:len(out):len(out)], r)
	}
	return out, nil
}

// words are the words of what was fetched that could be a package's name.
func (t *Tree) words() (map[string]bool, error) {
	root, err := os.OpenRoot(t.Host)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	out, left := map[string]bool{}, int64(maxSearched)
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if e.IsDir() && (path == buildPlace || path == ".venv" || strings.Count(path, "/") > 2) {
			return fs.SkipDir
		}
		switch filepath.Ext(path) {
		case ".py", ".toml", ".cfg", ".txt", ".in", ".lock", "":
		default:
			return nil
		}
		if !e.Type().IsRegular() || left <= 0 {
			return nil
		}
		data, err := readFile(root, path, min(left, maxManifest))
		if err != nil {
			return nil // it is too large for one that lists dependencies
		}
		left -= int64(len(data))
		for _, w := range word.FindAll(data, -1) {
			out[normalized(strings.TrimRight(string(w), "._-"))] = true
		}
		return nil
	})
	return out, err
}
