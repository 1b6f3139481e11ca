package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// left are directories that an installation makes itself, or that hold what is no
// part of a package. A repository's own files hold credentials of its clones.
var left = []string{".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", "coalmine-out"}

// Directory installs a checkout: its files are copied, its dependencies fetched as
// a package's are. skip is a directory in it to be left out, "" for none.
//
// The checkout's own .npmrc is not read: it could send a token of the user's to a
// registry of its choice.
func (f *Fetcher) Directory(ctx context.Context, s Spec, skip string, ask Queries) (t *Tree, err error) {
	kind := checkoutKind(s.Name)
	if kind == "" {
		return nil, withHint("name the command that starts the server: coalmine probe -- COMMAND…", "%s has no package.json, no pyproject.toml, no setup.py and no go.mod", s.Name)
	}
	f.before = f.AsOf.Time
	temp, err := f.Cache.Temp()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = removeAll(temp)
		}
	}()
	f.progress("copying " + s.Name)
	sum, dropped, err := copyCheckout(s.Name, temp, skip)
	if err != nil {
		return nil, err
	}
	t = &Tree{Spec: s, Host: temp, Own: true, Root: ".", Dropped: dropped}
	switch kind {
	case KindNPM:
		err = f.checkoutNPM(ctx, t, sum)
	case KindPyPI:
		err = f.checkoutPython(ctx, t, sum, ask.Python)
	default:
		err = f.checkoutGo(ctx, t, sum, ask.Go)
	}
	return t, err
}

// Queries asks the sandbox for what a checkout is built with, where that is needed.
type Queries struct {
	Python func() (*Python, error)
	// Go is the version of the sandbox's Go, as "go1.26.8".
	Go func() (string, error)
}

// kindGo is a checkout of a Go module.
const kindGo = "go"

// Manifests are the files that stand at the top of a package, in the order in which
// they say whose it is.
var Manifests = []string{manifestNPM, manifestPython, setupPython, manifestGo}

var kindBy = map[string]string{manifestNPM: KindNPM, manifestPython: KindPyPI, setupPython: KindPyPI, manifestGo: kindGo}

// checkoutKind says by a checkout's manifest whose package it is, "" for nobody's.
func checkoutKind(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	for _, m := range Manifests {
		if info, err := root.Stat(m); err == nil && info.Mode().IsRegular() {
			return kindBy[m]
		}
	}
	return ""
}

// copyCheckout copies directories, regular files and the links that lead nowhere
// else. It returns the hash of all, and the links that it left out.
func copyCheckout(from, to, skip string) (sum string, dropped []string, err error) {
	src, err := os.OpenRoot(from)
	if err != nil {
		return "", nil, withHint("", "open the checkout: %w", err)
	}
	defer func() { _ = src.Close() }()
	dst, err := os.OpenRoot(to)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = dst.Close() }()
	c := &copier{src: src, dst: dst, links: linker{root: dst}, hash: sha256.New(), budget: fullBudget()}
	err = fs.WalkDir(src.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if e.IsDir() && (slices.Contains(left, e.Name()) || skip != "" && filepath.Join(from, path) == skip) {
			return fs.SkipDir
		}
		return c.entry(path, e)
	})
	if err != nil {
		return "", nil, fmt.Errorf("copy %s: %w", from, err)
	}
	if err := c.links.finish(); err != nil {
		return "", nil, fmt.Errorf("copy %s: %w", from, err)
	}
	return hex.EncodeToString(c.hash.Sum(nil)), c.links.dropped, nil
}

// A copier copies one checkout.
type copier struct {
	src, dst *os.Root
	links    linker
	hash     hash.Hash
	budget   *budget
}

// entry copies one entry of the walk.
func (c *copier) entry(path string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	if err := c.budget.take(uint64(max(info.Size(), 0))); err != nil {
		return withHint("probe a directory that holds the package alone", "%s: %w", path, err)
	}
	fmt.Fprintf(c.hash, "%d %s %v %d\n", len(path), path, info.Mode(), info.Size())
	switch {
	case e.IsDir():
		return c.dst.Mkdir(path, 0o755)
	case e.Name() == ".npmrc":
		return nil
	case info.Mode()&fs.ModeSymlink != 0 && reserved(path):
		c.links.drop(path)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := c.src.Readlink(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.hash, "%d %s\n", len(target), target)
		c.links.add(path, target)
	case info.Mode().IsRegular():
		in, err := c.src.OpenFile(path, os.O_RDONLY|session.NoFollow, 0)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		return writeFile(c.dst, io.TeeReader(io.LimitReader(in, info.Size()), c.hash), path, info.Mode().Perm()|0o600)
	}
	return nil
}

// checkoutNPM installs a checkout's dependencies, those for its development too:
// its own scripts may need them.
func (f *Fetcher) checkoutNPM(ctx context.Context, t *Tree, sum string) error {
	what := filepath.Base(t.Spec.Name)
	root, err := os.OpenRoot(t.Host)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	in, err := manifestFiles(root, manifestNPM, lockNPM, shrinkwrapNPM)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if own := in[shrinkwrapNPM]; own != nil {
		in[lockNPM] = own
		delete(in, shrinkwrapNPM)
	}
	l, err := decodeLock(in[lockNPM])
	if err != nil || len(l.Packages) == 0 {
		f.progress("resolving what " + what + " depends on")
		made := map[string][]byte{}
		if err := f.npm(ctx, resolveNPM, in, files(made), append([]string{"install", "--package-lock-only=true", "--include=dev"}, f.beforeNPM()...)...); err != nil {
			return npmError(what, err)
		}
		if l, err = decodeLock(made[lockNPM]); err != nil {
			return err
		}
		in[lockNPM] = made[lockNPM]
		if err := writeNew(root, lockNPM, made[lockNPM]); err != nil {
			return err
		}
	}
	lines, err := l.verify(true)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	f.progress(fmt.Sprintf("fetching what %s depends on: %d packages", what, len(lines)))
	if err := f.fetchArchives(ctx, root, l, in, "--include=dev"); err != nil {
		return npmError(what, err)
	}
	t.Digest, t.Packages = digest(append(lines, "checkout "+sum)), len(lines)
	m, err := readManifest(root, ".")
	if err != nil {
		return withHint("", "%s: its package.json cannot be read: %w", what, err)
	}
	t.Name, t.Version, t.Bins = m.Name, m.Version, m.checkoutBins(root)
	if t.Name == "" {
		t.Name = what
	}
	t.Steps, err = checkSteps(what, append(npmSteps(root, l), m.rootSteps(root, t.Bins)...))
	return err
}

// rootEvents are the scripts that npm install runs of a checkout, in its order.
var rootEvents = []string{"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"}

// rootSteps are the checkout's own scripts. Where its programs are still to be made
// and none of them does so, "build" is taken for what does.
func (m *manifest) rootSteps(root *os.Root, bins []Bin) []Step {
	var out []Step
	add := func(event string) {
		if c := m.Scripts[event]; strings.TrimSpace(c) != "" {
			out = append(out, Step{m.Name, m.Version, event, ".", c})
		}
	}
	for _, event := range rootEvents {
		add(event)
	}
	if missing := slices.ContainsFunc(bins, func(b Bin) bool { _, err := root.Stat(b.Path); return err != nil }); missing && m.Scripts["prepare"] == "" {
		add("build")
	}
	return out
}

// startLine is a script that starts a file with node.
var startLine = lazyregexp.New(`^node\s+(?:--[\w=-]+\s+)*(?:\./)?([\w./-]+\.[cm]?js)\s*$`)

// checkoutBins are the checkout's programs: what it installs, else what it starts,
// else its main file.
func (m *manifest) checkoutBins(root *os.Root) []Bin {
	if bins := m.bins(); len(bins) > 0 {
		return bins
	}
	candidates := []string{m.Main}
	if s := startLine.FindStringSubmatch(strings.TrimSpace(m.Scripts["start"])); s != nil {
		candidates = []string{s[1], m.Main}
	}
	for _, c := range append(candidates, "index.js") {
		c = filepath.Clean(c)
		_, err := root.Stat(c)
		if c != "." && filepath.IsLocal(c) && (err == nil || m.Scripts["build"] != "" || m.Scripts["prepare"] != "") {
			return []Bin{{filepath.Base(c), c}}
		}
	}
	return nil
}

// requirement is a dependency by name, with versions, extras and a marker: no
// address, no option.
var requirement = lazyregexp.New(`^[A-Za-z0-9][\w.-]*\s*(\[[\w.,\s-]*\])?\s*(\(?[<>=!~][^@;]*\)?)?\s*(;[^\n]*)?$`)

// checkoutPython lays a checkout's dependencies out beside it, and the checkout
// itself on the interpreter's path. One with a build of its own is built from there;
// where only that build says what it depends on, nothing can be run without it.
func (f *Fetcher) checkoutPython(ctx context.Context, t *Tree, sum string, python func() (*Python, error)) error {
	what := filepath.Base(t.Spec.Name)
	root, err := os.OpenRoot(t.Host)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	p, err := readProject(root)
	if err != nil {
		return withHint("", "%s: its pyproject.toml cannot be read: %w", what, err)
	}
	if t.Python, err = python(); err != nil {
		return err
	}
	if p != nil {
		t.Name, t.Version = p.Project.Name, p.Project.Version
	}
	lines := []string{"checkout " + sum}
	if p.static() {
		t.Env = ".venv"
		for _, d := range p.Project.Dependencies {
			if !requirement.MatchString(d) {
				return withHint("depend on what an index has published", "%s: its dependency %q is in no index, and coalmine does not fetch it", what, Redact(d))
			}
		}
		env, err := f.environmentAt(ctx, root, t.Env, what, p.Project.Dependencies, t.Python)
		if err != nil {
			return err
		}
		t.Packages, lines = len(env.wheels), append(lines, env.digest)
		t.project(root, p)
	}
	_, setupErr := root.Stat(setupPython)
	if !p.static() || setupErr == nil || p.hooks() {
		if err := f.prepareBuild(ctx, t, root, p); err != nil {
			return err
		}
		lines = append(lines, t.Digest)
	}
	if !p.static() {
		t.Env = filepath.Join(buildPlace, "env")
		t.await()
	}
	t.Digest = digest(lines)
	return nil
}

// project takes in the checkout's programs.
func (t *Tree) project(root *os.Root, p *project) {
	for name, entry := range p.Project.Scripts {
		t.addScripts("[console_scripts]\n"+name+" = "+entry, true)
	}
	slices.SortFunc(t.Bins, func(a, b Bin) int { return strings.Compare(a.Name, b.Name) })
	source := "{}"
	if info, err := root.Stat("src"); err == nil && info.IsDir() {
		source = "{}/src"
	}
	t.Scripts = append(t.Scripts, Script{Path: filepath.Join(t.Env, t.Python.packages(), "_checkout.pth"), Text: source + "\n"})
}
