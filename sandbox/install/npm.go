package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/registry"
)

// Fetcher fetches packages into a cache.
type Fetcher struct {
	Cache Cache
	// Sandbox is where the clients of registries run.
	Sandbox Sandbox
	// Progress takes a line about each step, nil for none.
	Progress func(string)
	// AsOf is the moment whose dependencies a package gets.
	AsOf AsOf
	// before is that moment once it is known.
	before time.Time
}

func (f *Fetcher) progress(line string) {
	if f.Progress != nil {
		f.Progress(line)
	}
}

// npmFlags hold in every run of npm: no script runs, nothing is asked, no
// repository is cloned (npm would build what it clones), and what the user's
// settings say of other installations does not count.
var npmFlags = []string{
	"--ignore-scripts", "--git=/nonexistent", "--no-audit", "--no-fund", "--loglevel=error", "--no-progress", "--update-notifier=false",
	"--global=false", "--dry-run=false", "--package-lock=true", "--package-lock-only=false", "--bin-links=false",
	"--omit-lockfile-registry-resolved=false", "--replace-registry-host=always", "--fetch-retries=1", "--yes=false", "--foreground-scripts=false",
}

// The scripts of npm's runs: one prints the manifest and the lock, the other the
// archives that npm fetched, as its cache has them.
const (
	resolveNPM = `command -v npm >/dev/null || exit 127; npm "$@" >&2 || exit 1; exec tar -cf - package.json package-lock.json`
	viewNPM    = `command -v npm >/dev/null || exit 127; exec npm "$@"`
	fetchNPM   = `command -v npm >/dev/null || exit 127; npm "$@" >&2 || exit 1; mkdir -p .cache/_cacache/content-v2; exec tar -C .cache/_cacache/content-v2 -cf - .`
)

// npm runs npm over manifests and a lock.
func (f *Fetcher) npm(ctx context.Context, script string, in map[string][]byte, read func(io.Reader) error, args ...string) error {
	err := f.run(ctx, Job{
		Tool: registry.NPM, Programs: []string{"npm", "node"}, Script: script, Args: append(slices.Clone(args[:1]), append(slices.Clone(npmFlags), args[1:]...)...),
		Env: []string{"npm_config_cache=.cache"}, Files: in,
	}, read)
	if errors.Is(err, errNoTool) {
		return withHint("install Node.js with npm: apt-get install npm", "npm is not installed on this machine: %w", err)
	}
	return err
}

// fetchArchives fetches what a lock names and lays it out below a root.
func (f *Fetcher) fetchArchives(ctx context.Context, root *os.Root, l *lock, in map[string][]byte, args ...string) error {
	s := &npmArchives{root: root, byHash: map[string]string{}}
	err := f.npm(ctx, fetchNPM, in, s.read, append([]string{"ci"}, args...)...)
	if err != nil && absentOptional(stderrOf(err)) {
		// What is laid out is still what the lock names, each archive by its hash.
		if err := root.RemoveAll(archivesPlace); err != nil {
			return err
		}
		s = &npmArchives{root: root, byHash: map[string]string{}}
		err = f.npm(ctx, fetchNPM, in, s.read, append([]string{"install"}, args...)...)
	}
	if err != nil {
		return err
	}
	return s.layOut(l)
}

// firstFault is the first line of npm's that says more than a code, "" for none.
func firstFault(said string) string {
	for line := range strings.Lines(said) {
		text := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "npm error"), "npm ERR!"))
		if text != "" && !strings.HasPrefix(text, "code ") && !strings.HasPrefix(text, "A complete log") {
			return Redact(text[:min(len(text), 300)])
		}
	}
	return ""
}

var outOfLock = lazyregexp.New(`(?m)^npm (?:error|ERR!) (Missing|Invalid): (.*)$`)

// absentOptional reports whether npm ci refuses a lock for nothing but optional dependencies
// that no registry has: they are in no lock, and npm install goes without them.
func absentOptional(said string) bool {
	all := outOfLock.FindAllStringSubmatch(said, -1)
	return len(all) > 0 && !slices.ContainsFunc(all, func(m []string) bool { return m[1] != "Missing" || !strings.HasSuffix(m[2], "@ from lock file") })
}

// NPM fetches a package of npm's with its dependencies: npm resolves them, each archive
// is checked against its integrity, no script is run.
func (f *Fetcher) NPM(ctx context.Context, s Spec) (*Tree, error) {
	if err := f.settleNPM(ctx, s); err != nil {
		return nil, err
	}
	f.progress("resolving " + s.String())
	wanted := append([]string{s.wanted()}, s.With...)
	made := map[string][]byte{}
	if err := f.npm(ctx, resolveNPM, map[string][]byte{manifestNPM: []byte("{}\n")}, files(made), slices.Concat([]string{"install", "--package-lock-only=true", "--save=true", "--omit=dev"}, f.beforeNPM(), []string{"--"}, wanted)...); err != nil {
		return nil, npmError(s.String(), err)
	}
	l, err := decodeLock(made[lockNPM])
	if err != nil {
		return nil, err
	}
	lines, err := l.verify(false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	t := &Tree{Spec: s, Digest: digest(lines), Packages: len(lines), Root: "node_modules/" + s.Name}
	key := "npm2-" + t.Digest[len("sha256:"):][:40]
	if t.Host = f.Cache.find(key); t.Host == "" {
		f.progress(fmt.Sprintf("fetching %s: %d packages", s, len(lines)))
		if t.Host, err = f.keepNPM(ctx, key, l, made); err != nil {
			return nil, npmError(s.String(), err)
		}
	}
	return t, t.readNPM(l)
}

// keepNPM fetches what a lock names into the cache.
func (f *Fetcher) keepNPM(ctx context.Context, key string, l *lock, made map[string][]byte) (string, error) {
	temp, err := f.Cache.Temp()
	if err != nil {
		return "", err
	}
	defer func() { _ = removeAll(temp) }()
	root, err := os.OpenRoot(temp)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	// The lock is of this user's registries: a scope may have one of its own.
	if err := f.fetchArchives(ctx, root, l, made, "--omit=dev", "--replace-registry-host=npmjs"); err != nil {
		return "", err
	}
	for _, name := range []string{manifestNPM, lockNPM} {
		if err := writeNew(root, name, made[name]); err != nil {
			return "", err
		}
	}
	return f.Cache.keep(temp, key)
}

// readNPM takes in what the package says of itself, and the scripts of all.
func (t *Tree) readNPM(l *lock) error {
	root, err := os.OpenRoot(t.Host)
	if err != nil {
		return fmt.Errorf("open what was fetched: %w", err)
	}
	defer func() { _ = root.Close() }()
	m, err := readManifest(root, t.Root)
	if err != nil {
		return withHint("", "%s: its package.json cannot be read: %w", t.Spec, err)
	}
	t.Name, t.Version, t.Integrity = m.Name, m.Version, l.Packages[t.Root].Integrity
	for _, b := range m.bins() {
		t.Bins = append(t.Bins, Bin{b.Name, filepath.Join(t.Root, b.Path)})
	}
	t.Steps, err = checkSteps(t.Spec.String(), npmSteps(root, l))
	return err
}

var npmCode = lazyregexp.New(`(?m)^npm (?:error|ERR!) code (\S+)`)

// npmError says what npm's failure means.
func npmError(what string, err error) error {
	said := stderrOf(err)
	if said == "" {
		return err
	}
	code := ""
	if m := npmCode.FindStringSubmatch(said); m != nil {
		code = m[1]
	}
	detail := strings.TrimPrefix(cmp.Or(lastLine(said, "npm error "+code, "npm ERR! "+code, "notarget", "404 ", "reason:"), firstFault(said)), "npm error ")
	switch code {
	case "E404":
		return withHint("is the name right? a private package needs its registry and a token in ~/.npmrc", "%s: there is no such package in the registry, or you may not see it", what)
	case "ETARGET", "ENOVERSIONS":
		return withHint("npm view NAME versions lists them", "%s: the registry has no such version, of it or of what it depends on: %s", what, lastLine(said, "No matching", "No versions"))
	case "E401", "E403", "ENEEDAUTH", "EOTP":
		if err := elsewhere(what, err); err != nil {
			return err
		}
		return withHint("npm login, or a token for that registry in ~/.npmrc", "%s: the registry refuses to give it (%s)", what, code)
	case "ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT", "ECONNRESET", "EAI_AGAIN", "ERR_SOCKET_TIMEOUT", "EHOSTUNREACH", "ENETUNREACH", "EPROTO", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "SELF_SIGNED_CERT_IN_CHAIN", "CERT_HAS_EXPIRED", "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
		return npmUnreached(what, code)
	case "EINTEGRITY":
		return withHint("npm cache verify; if it stays, the archive is not the one that was published", "%s: an archive does not have the hash that its registry names", what)
	case "EBADPLATFORM":
		return withHint("", "%s: it does not run on this system", what)
	case "EUSAGE":
		if m := outOfLock.FindStringSubmatch(said); m != nil {
			return withHint("npm install updates the lock file", "%s: its lock file does not match its package.json (%s: %s)", what, strings.ToLower(m[1]), Redact(m[2][:min(len(m[2]), 200)]))
		}
	case "ERESOLVE":
		return withHint("npm config set legacy-peer-deps true lets npm choose", "%s: its dependencies contradict each other", what)
	}
	if reason := unreached(err); reason != "" {
		return npmUnreached(what, reason)
	}
	if strings.Contains(said, "/nonexistent") {
		return withHint("publish that dependency, or probe an installation of your own: coalmine probe -- COMMAND…", "%s depends on a repository: npm would build what it clones, and nothing is run while it is fetched", what)
	}
	return withHint("npm install --ignore-scripts shows npm's whole answer", "%s cannot be fetched: npm failed (%s): %s", what, code, detail)
}

func npmUnreached(what, reason string) error {
	return withHint("npm ping tells whether npm reaches it; behind a proxy npm needs https-proxy, and cafile for its certificate", "%s: npm's registry cannot be reached (%s)", what, reason)
}

const (
	manifestNPM = "package.json"
	lockNPM     = "package-lock.json"
	// shrinkwrapNPM is a lock that a package was published with, and comes first.
	shrinkwrapNPM = "npm-shrinkwrap.json"
	// maxManifest bounds a package.json, maxLock a lock file, maxLocked its entries.
	maxManifest = 4 << 20
	maxLock     = 64 << 20
	maxLocked   = 20_000
)

// verify refuses what has no hash, and lists the rest: a line for each archive.
// With workspaces, packages of the checkout's own are no archives.
func (l *lock) verify(workspaces bool) ([]string, error) {
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(l.Packages)) {
		p, inside := l.Packages[path], installed(path)
		switch {
		case path == "", p.InBundle:
			continue
		case !filepath.IsLocal(path) || p.Link && !filepath.IsLocal(p.Resolved):
			return nil, withHint("a dependency on a directory has to lie within the package", "it depends on %s, which is outside", Redact(path))
		case workspaces && (p.Link || !inside):
			continue
		case p.Integrity == "":
			return nil, withHint("depend on what a registry has published", "its dependency %s comes without a hash (from a repository, a directory or a bare address) and is not fetched", strings.TrimPrefix(path, "node_modules/"))
		}
		lines = append(lines, path+" "+p.Version+" "+p.Integrity)
	}
	return lines, nil
}

// manifest is what counts of a package.json.
type manifest struct {
	Name    string            `json:"name"`
	Version string            `json:"version"`
	Main    string            `json:"main"`
	Bin     json.RawMessage   `json:"bin"`
	Scripts map[string]string `json:"scripts"`
}

// readFile reads a regular file of at most so many bytes.
func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s is not a file of at most %d bytes", name, limit)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, limit))
}

func readManifest(root *os.Root, dir string) (*manifest, error) {
	data, err := readFile(root, filepath.Join(dir, manifestNPM), maxManifest)
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		var typed *json.UnmarshalTypeError
		if !errors.As(err, &typed) { // what is of another type is left out, as npm does
			return nil, err
		}
	}
	return &m, nil
}

// bins are the programs of a package.json, by name; one without a name has the package's.
func (m *manifest) bins() []Bin {
	var one string
	var many map[string]string
	if json.Unmarshal(m.Bin, &one) == nil && one != "" {
		many = map[string]string{m.Name[strings.LastIndexByte(m.Name, '/')+1:]: one}
	} else if json.Unmarshal(m.Bin, &many) != nil {
		return nil
	}
	var out []Bin
	for name, path := range many {
		path = filepath.Clean(strings.TrimPrefix(path, "/"))
		if name == "" || strings.ContainsAny(name, "/\\") || !filepath.IsLocal(path) {
			continue
		}
		out = append(out, Bin{name, path})
	}
	slices.SortFunc(out, func(a, b Bin) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// npmEvents are the scripts of a dependency, in npm's order: each for all packages
// before the next.
var npmEvents = []string{"preinstall", "install", "postinstall"}

// Bounds of scripts, in bytes: of one, which a kernel takes as an argument and as a variable
// (MAX_ARG_STRLEN in execve(2)), and of all.
const (
	maxStep  = 128 << 10
	maxSteps = 4 << 20
)

// checkSteps refuses scripts that no installer could start. Left out, they would be unseen.
func checkSteps(what string, steps []Step) ([]Step, error) {
	all := 0
	for _, s := range steps {
		n := len(s.Package) + len(s.Version) + len(s.Dir) + len(s.Command)
		if all += n; n >= maxStep || all > maxSteps {
			return nil, withHint("read them: no installer needs scripts of that length", "%s: its scripts are larger than %d KiB each or %d MiB together", what, maxStep>>10, maxSteps>>20)
		}
	}
	return steps, nil
}

// npmSteps are the scripts that npm would run for what was fetched, shallow
// packages first.
func npmSteps(root *os.Root, l *lock) []Step {
	paths := make([]string, 0, len(l.Packages))
	for path := range l.Packages {
		if path != "" && filepath.IsLocal(path) && !l.Packages[path].Link {
			paths = append(paths, path)
		}
	}
	depth := func(p string) int { return strings.Count(p, "node_modules/") }
	slices.SortFunc(paths, func(a, b string) int {
		if d := depth(a) - depth(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	byEvent := map[string][]Step{}
	for _, path := range paths {
		m, err := readManifest(root, path)
		if err != nil {
			continue // an optional one for another system
		}
		scripts := m.Scripts
		if _, err := root.Stat(filepath.Join(path, "binding.gyp")); err == nil && scripts["install"] == "" && scripts["preinstall"] == "" {
			byEvent["install"] = append(byEvent["install"], Step{m.Name, m.Version, "install", path, "node-gyp rebuild"})
		}
		for _, event := range npmEvents {
			if c := scripts[event]; strings.TrimSpace(c) != "" {
				byEvent[event] = append(byEvent[event], Step{m.Name, m.Version, event, path, c})
			}
		}
	}
	var out []Step
	for _, event := range npmEvents {
		out = append(out, byEvent[event]...)
	}
	return out
}
