package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/registry"
)

// pip is how pip is started where packages are fetched, with what has to be said of
// the server's interpreter where that is another.
type pip struct {
	f      *Fetcher
	python string
	flags  []string
	// dated is told when the files of the indexes came, nil for nobody.
	dated func(file string, at time.Time)
}

// findPython prints the first of some interpreters that has pip, and what it is.
const findPython = `for p in "$@"; do
  "$p" -m pip --version >/dev/null 2>&1 || continue
  command -v "$p" && exec "$p" -I -c "$QUERY"
done
exit 127`

// findPip prefers the server's own interpreter.
func (f *Fetcher) findPip(ctx context.Context, py *Python) (*pip, error) {
	var out []byte
	candidates := []string{py.Executable, "python3", "python"}
	err := f.run(ctx, Job{Tool: registry.Pip, Programs: candidates, Script: findPython, Args: candidates, Env: []string{"QUERY=" + PythonQuery}}, into(&out, maxWords))
	if errors.Is(err, errNoTool) {
		return nil, withHint("install it: apt-get install python3-pip", "pip is not installed on this machine")
	}
	if err != nil {
		return nil, err
	}
	path, text, _ := strings.Cut(string(out), "\n")
	p := &pip{f: f, python: path}
	if own, err := DecodePython(text); err != nil || *own != *py {
		p.flags = py.platformFlags()
	}
	return p, nil
}

// run runs pip, and after it a command that prints what it made.
func (p *pip) run(ctx context.Context, files map[string][]byte, then string, read func(io.Reader) error, args ...string) error {
	options, to := []string{args[0], "--no-input", "--disable-pip-version-check"}, ""
	if then != "" { // else what pip prints is what is wanted
		options, to = append(options, "--quiet"), " >&2 || exit 1; exec "+then
	}
	args = append(options, args[1:]...)
	return p.job(ctx, `python=$1; shift; "$python" -m pip "$@"`+to, files, read, append([]string{p.python}, args...)...)
}

func (p *pip) job(ctx context.Context, script string, files map[string][]byte, read func(io.Reader) error, args ...string) error {
	return p.f.run(ctx, Job{
		Tool: registry.Pip, Programs: []string{p.python}, Script: script, Args: args, Env: []string{"PIP_REQUIRE_VIRTUALENV=0"}, Files: files,
		Before: p.f.before, Dated: p.dated,
	}, read)
}

// report is what pip says that it would install.
type report struct {
	Install []struct {
		Requested bool `json:"requested"`
		Download  struct {
			URL     string `json:"url"`
			Archive struct {
				Hashes map[string]string `json:"hashes"`
				Hash   string            `json:"hash"`
			} `json:"archive_info"`
		} `json:"download_info"`
		Metadata struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"metadata"`
	} `json:"install"`
}

// wheel is one archive that pip resolved.
type wheel struct{ name, version, sha256 string }

// PyPI fetches a package with its dependencies as wheels, which nothing has to
// be run of to install, and lays them out as an environment of the interpreter.
func (f *Fetcher) PyPI(ctx context.Context, s Spec, py *Python) (*Tree, error) {
	if err := f.settlePyPI(ctx, s, py); err != nil {
		return nil, err
	}
	env, err := f.environment(ctx, s.String(), append([]string{s.wanted()}, s.With...), py)
	var source *noWheelError
	if errors.As(err, &source) && normalized(source.name) == normalized(s.Name) {
		return f.sourceDistribution(ctx, s, py, err)
	}
	if err != nil {
		return nil, err
	}
	t := &Tree{Spec: s, Digest: env.digest, Packages: len(env.wheels), Host: env.dir, Python: py}
	for _, w := range env.wheels {
		if normalized(w.name) == normalized(s.Name) {
			t.Name, t.Version, t.Integrity = w.name, w.version, "sha256:"+w.sha256
		}
	}
	return t, t.readPyPI()
}

// environment is an interpreter's directory with wheels in it.
type environment struct {
	dir, digest string
	wheels      []wheel
}

// environment resolves requirements, and fetches them unless the cache has them.
func (f *Fetcher) environment(ctx context.Context, what string, wanted []string, py *Python) (*environment, error) {
	temp, err := f.Cache.Temp()
	if err != nil {
		return nil, err
	}
	defer func() { _ = removeAll(temp) }()
	p, err := f.findPip(ctx, py)
	if err != nil {
		return nil, err
	}
	f.progress("resolving " + what)
	wheels, err := p.resolve(ctx, what, wanted)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, w := range wheels {
		lines = append(lines, normalized(w.name)+" "+w.version+" "+w.sha256)
	}
	env := &environment{digest: digest(lines), wheels: wheels}
	// The interpreter's own place is written into the environment.
	lines = append(lines, "python "+py.Executable+" "+py.Version)
	key := func(lines []string) string { return "pypi-" + digest(lines)[len("sha256:"):][:40] }
	plain, compiled := key(lines), key(append(lines, "compiled"))
	if len(p.flags) > 0 {
		compiled = plain // only the server's own interpreter compiles for it
	}
	if env.dir = f.Cache.find(compiled); env.dir == "" {
		env.dir, err = p.fill(ctx, temp, what, wheels, py, plain, compiled)
	}
	return env, err
}

// fill lays out an environment in a directory that is kept under a key: compiled where its modules are, else plain. What
// could not be compiled before is tried again, and not fetched again.
func (p *pip) fill(ctx context.Context, temp, what string, wheels []wheel, py *Python, plain, compiled string) (string, error) {
	root, err := os.OpenRoot(temp)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	earlier := p.f.Cache.find(plain)
	if earlier != "" {
		err = os.CopyFS(temp, os.DirFS(earlier))
	} else {
		err = p.fetch(ctx, root, what, wheels, py)
	}
	if err != nil {
		return "", err
	}
	err = p.compile(ctx, root, py)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == nil:
		return p.f.Cache.keep(temp, compiled)
	}
	p.f.progress(fmt.Sprintf("the modules of %s are compiled where they are imported: %v", what, err))
	if earlier != "" {
		return earlier, nil
	}
	return p.f.Cache.keep(temp, plain)
}

// fetch downloads the wheels and lays them out.
func (p *pip) fetch(ctx context.Context, root *os.Root, what string, wheels []wheel, py *Python) error {
	p.f.progress(fmt.Sprintf("fetching %s: %d packages", what, len(wheels)))
	if err := p.download(ctx, root, what, wheels); err != nil {
		return err
	}
	if err := layOut(root, py); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return root.RemoveAll("wheels")
}

func (p *pip) resolve(ctx context.Context, what string, wanted []string, flags ...string) ([]wheel, error) {
	args := slices.Concat([]string{"install", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", "report.json"}, flags, p.flags)
	if len(p.flags) > 0 {
		args = append(args, "--target", "none")
	}
	var data []byte
	if err := p.run(ctx, nil, "cat report.json", into(&data, maxLock), append(append(args, "--"), wanted...)...); err != nil {
		return nil, p.explain(ctx, what, err)
	}
	return decodeReport(what, data)
}

// sha256Hex is a hash as pip writes it.
var sha256Hex = lazyregexp.New(`^[0-9a-f]{64}$`)

// decodeReport reads pip's report. Each of its words becomes a line of requirements.
func decodeReport(what string, data []byte) ([]wheel, error) {
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, withHint("python3 -m pip install --upgrade pip: it has to be 22.2 or later", "read pip's report: %w", err)
	}
	var out []wheel
	for _, i := range r.Install {
		w := wheel{i.Metadata.Name, i.Metadata.Version, i.Download.Archive.Hashes["sha256"]}
		if h, ok := strings.CutPrefix(i.Download.Archive.Hash, "sha256="); ok && w.sha256 == "" {
			w.sha256 = h
		}
		if !sha256Hex.MatchString(w.sha256) || !pypiName.MatchString(w.name) || !pypiVer.MatchString(w.version) {
			return nil, withHint("depend on what an index has published", "%s: its dependency %q comes without a hash and is not fetched", what, w.name)
		}
		out = append(out, w)
	}
	return out, nil
}

// download fetches exactly what was resolved into "wheels" below a root, each archive
// checked against its hash.
func (p *pip) download(ctx context.Context, root *os.Root, what string, wheels []wheel) error {
	var b strings.Builder
	missing := map[string]bool{}
	for _, w := range wheels {
		fmt.Fprintf(&b, "%s==%s --hash=sha256:%s\n", w.name, w.version, w.sha256)
		missing[w.sha256] = true
	}
	if err := root.Mkdir("wheels", 0o755); err != nil || len(wheels) == 0 {
		return err
	}
	args := append([]string{"download", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--dest", "wheels", "-r", "wanted.txt"}, p.flags...)
	err := p.run(ctx, map[string][]byte{"wanted.txt": []byte(b.String())}, "tar -C wheels -cf - .", func(r io.Reader) error {
		return entries(r, func(name string, _ int64, r io.Reader) error {
			if strings.Contains(name, "/") || filepath.Ext(name) != ".whl" {
				return fmt.Errorf("%.100q is not a wheel", name)
			}
			h := sha256.New()
			if err := writeFile(root, io.TeeReader(r, h), filepath.Join("wheels", name), 0o600); err != nil {
				return err
			}
			sum := hex.EncodeToString(h.Sum(nil))
			if !missing[sum] {
				return fmt.Errorf("%.100q does not have the hash that was resolved", name)
			}
			delete(missing, sum)
			return nil
		})
	}, args...)
	if err != nil {
		return p.explain(ctx, what, err)
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s: pip did not fetch %d of its packages", what, len(missing))
	}
	return nil
}

var (
	pipMissing     = lazyregexp.New(`No matching distribution found for ([A-Za-z0-9][\w.-]*)(\S*)`)
	pipUnreachable = lazyregexp.New(`NewConnectionError|ConnectionError|Connection refused|ConnectTimeout|ReadTimeout|Name or service not known|Temporary failure|ProxyError|SSLError|SSLCertVerificationError|Max retries`)
	pipRefused     = lazyregexp.New(`\b(?:401|403) (?:Client )?Error|\b(?:401|403)\b`)
	pipVersions    = lazyregexp.New(`(?m)^Available versions: (.*)$`)
	pipPython      = lazyregexp.New(`require a different python version: (.{1,400})`)
	pipConflict    = lazyregexp.New(`ResolutionImpossible|conflicting dependencies`)
)

func pipUnreached(what, reason string) error {
	return withHint("pip download "+strings.TrimPrefix(what, "pypi:")+" tells whether pip reaches it; behind a proxy pip needs --proxy, and --cert for its certificate, in pip.conf", "%s: the package index cannot be reached (%s)", what, reason)
}

// pythonOf is the Python that a version requires, as pip lists those that it passed over: "0.4.0 Requires-Python
// >=3.12; 0.4.1 Requires-Python >=3.13". "" is for a version that is not among them.
func pythonOf(list, version string) string {
	for entry := range strings.SplitSeq(list, ";") {
		if v, needs, found := strings.Cut(strings.TrimSpace(entry), " Requires-Python "); found && v == version && len(needs) < 40 {
			return strings.TrimSpace(needs)
		}
	}
	return ""
}

// explain says what pip's failure means. That only a source distribution is there
// is asked for in a way that runs nothing of it.
func (p *pip) explain(ctx context.Context, what string, err error) error {
	said := stderrOf(err)
	m := pipMissing.FindStringSubmatch(said)
	switch {
	case said == "":
		return err
	case unreached(err) != "":
		return pipUnreached(what, unreached(err))
	case pipUnreachable.MatchString(said):
		return pipUnreached(what, "it does not answer")
	case pipConflict.MatchString(said):
		return withHint("pip install --dry-run tells which", "%s: its dependencies contradict each other", what)
	case m == nil && pipRefused.MatchString(said) && elsewhere(what, err) != nil:
		return elsewhere(what, err)
	case m == nil && pipRefused.MatchString(said):
		return withHint("give pip its credentials, in pip.conf, ~/.netrc or a keyring", "%s: the package index refuses to give it", what)
	case m == nil:
		return withHint("pip install --dry-run --only-binary :all: shows pip's whole answer", "%s cannot be fetched: pip failed: %s", what, lastLine(said, "ERROR"))
	}
	name, version := m[1], strings.TrimPrefix(m[2], "==")
	if other := pipPython.FindStringSubmatch(said); other != nil {
		if needs := pythonOf(other[1], version); needs != "" {
			return withHint("use an image with such a Python (--image)", "%s: version %s of %s needs Python %s", what, version, name, needs)
		}
	}
	var listed []byte
	if err := p.run(ctx, nil, "", into(&listed, maxManifest), "index", "versions", name); err != nil {
		if !p.f.before.IsZero() {
			return withHint("give --as-of a later date", "%s: the index had no package %s on %s, or you may not see it", what, name, p.f.before.Format(time.DateOnly))
		}
		return withHint("is the name right? a private package needs its index in pip.conf", "%s: there is no package %s in the index, or you may not see it", what, name)
	}
	known := pipVersions.FindStringSubmatch(string(listed))
	if known != nil && version != "" && !slices.Contains(strings.Split(known[1], ", "), version) && !strings.ContainsAny(version, "<>=!~*,") {
		newest, _, _ := strings.Cut(known[1], ", ")
		return withHint("pip index versions "+name+" lists them", "%s: the index has no version %s of %s (the newest is %s)", what, version, name, newest)
	}
	return &Error{Err: &noWheelError{what, name, m[2]}, Hint: "choose a version that has a wheel, or build a wheel in a place of your own and name its directory in PIP_FIND_LINKS"}
}

// noWheelError says that of a package there is only what would have to be built.
type noWheelError struct{ what, name, version string }

func (e *noWheelError) Error() string {
	return fmt.Sprintf("%s: the index has no wheel of %s%s for this Python, only a source distribution or a wheel for other systems; building one would run its code while it is fetched", e.what, e.name, e.version)
}
