package install

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
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
var oldSetuptools = lazyregexp.New(`^setuptools\s*(?:\[[^]]*\]\s*)?\(?[^;]*(?:<|==|~=)`)

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
			return withHint("build with what an index has published", "%s: its build needs %q, which no index has, and coalmine does not fetch it", t.Spec, Redact(r))
		}
	}
	if err := root.RemoveAll(buildPlace); err != nil {
		return err
	}
	if err := root.Mkdir(buildPlace, 0o755); err != nil {
		return err
	}
	env, err := f.environmentAt(ctx, root, filepath.Join(buildPlace, "env"), "the build of "+t.Spec.String(), wanted, t.Python)
	if err != nil {
		return err
	}
	command := "exec python -c " + quote(callBackend) + " " + quote(backend) + " " + quote(filepath.Join(buildPlace, "out"))
	for _, path := range paths {
		command += " " + quote(path)
	}
	if t.Steps, err = checkSteps(t.Spec.String(), []Step{{cmp.Or(t.Name, filepath.Base(t.Spec.Name)), t.Version, eventWheel, ".", command}}); err != nil {
		return err
	}
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

// environmentAt lays an environment with wheels out in a directory below a root, in
// place of whatever stands there.
func (f *Fetcher) environmentAt(ctx context.Context, root *os.Root, dir, what string, wanted []string, py *Python) (*environment, error) {
	env := &environment{digest: digest(nil)}
	if len(wanted) > 0 {
		var err error
		if env, err = f.environment(ctx, what, wanted, py); err != nil {
			return nil, err
		}
	}
	if dir != "." {
		if err := errors.Join(root.RemoveAll(dir), root.Mkdir(dir, 0o755)); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
	}
	to, err := root.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	defer func() { _ = to.Close() }()
	if env.dir != "" {
		err = copyFiles(env.dir, to)
	}
	if err := errors.Join(err, writeRuntime(to, py)); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return env, nil
}

// copyFiles copies directories and regular files into an empty directory.
func copyFiles(from string, to *os.Root) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if e.IsDir() {
			return to.Mkdir(path, 0o755)
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		in, err := root.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		return writeFile(to, in, path, info.Mode().Perm())
	})
}

// Finish installs the wheel that a build left in a directory, with what it depends
// on, and returns the directory that has the programs: of a checkout the same one.
// All that the build left is hostile: its wheel is unpacked and not run, and only
// what the source names can be asked for of an index.
func (f *Fetcher) Finish(ctx context.Context, t *Tree, built string) (shown string, err error) {
	from, err := os.OpenRoot(built)
	if err != nil {
		return "", err
	}
	defer func() { _ = from.Close() }()
	wheel, err := madeWheel(from)
	if err != nil {
		return "", err
	}
	defer func() { _ = wheel.Close() }()
	meta, err := readMetadata(wheel)
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
	// A checkout's programs run beside its files, a package's in an environment alone.
	to, place, shown := from, ".venv", built
	if t.Spec.Kind != KindDirectory {
		if shown, err = f.Cache.Temp(); err != nil {
			return "", err
		}
		defer func() {
			if err != nil {
				_ = removeAll(shown)
			}
		}()
		if to, err = os.OpenRoot(shown); err != nil {
			return "", err
		}
		defer func() { _ = to.Close() }()
		place = "."
	}
	env, err := f.environmentAt(ctx, to, place, cmp.Or(t.Name, meta.name), wanted, t.Python)
	if err != nil {
		return "", err
	}
	if err := addWheel(to, place, wheel, t.Python); err != nil {
		return "", fmt.Errorf("unpack the wheel that the build made: %w", err)
	}
	if t.Spec.Kind == KindDirectory {
		err = from.RemoveAll(buildPlace)
	} else {
		place, err = "", removeAll(built)
	}
	if err != nil {
		return "", err
	}
	return shown, t.takeBuilt(shown, place, meta, env)
}

// takeBuilt reads a finished environment, which stands at a place below a directory.
func (t *Tree) takeBuilt(shown, place string, meta *metadata, env *environment) error {
	t.Name, t.Version, t.Env, t.Pending, t.Bins, t.Scripts = meta.name, cmp.Or(t.Version, meta.version), place, false, nil, nil
	t.Packages += len(env.wheels)
	host := t.Host
	t.Host = shown
	err := t.readPyPI()
	t.Host = host
	return err
}

// madeWheel opens the one wheel that a build left.
func madeWheel(built *os.Root) (*os.File, error) {
	names, err := fs.Glob(built.FS(), filepath.Join(buildPlace, "out", "*.whl"))
	if err != nil || len(names) != 1 {
		return nil, fmt.Errorf("the build made %d wheels", len(names))
	}
	if info, err := built.Lstat(names[0]); err != nil || !info.Mode().IsRegular() || !directory(built, filepath.Dir(names[0])) {
		return nil, errors.New("what the build made is not a file")
	}
	return built.Open(names[0])
}

// addWheel unpacks one more wheel into an environment below a root.
func addWheel(root *os.Root, place string, wheel *os.File, py *Python) error {
	env, err := root.OpenRoot(place)
	if err != nil {
		return err
	}
	defer func() { _ = env.Close() }()
	return errors.Join(unpackWheel(env, wheel, py, fullBudget()), writeRuntime(env, py))
}

// metadata is what a wheel says of itself.
type metadata struct {
	name, version string
	requires      []string
}

func readMetadata(wheel *os.File) (*metadata, error) {
	info, err := wheel.Stat()
	if err != nil {
		return nil, err
	}
	z, err := openZip(wheel, info.Size())
	if err != nil {
		return nil, err
	}
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
	// onlyExtra is the marker of what only an extra needs.
	onlyExtra = lazyregexp.New(`;\s*\(?\s*extra\s*==\s*['"]([\w.-]+)['"]\s*\)?\s*$`)
	word      = lazyregexp.New(`[A-Za-z0-9][A-Za-z0-9._-]*`)
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
			return nil, fmt.Errorf("it depends on %.200q, which no index has, and coalmine does not fetch it", Redact(r))
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
