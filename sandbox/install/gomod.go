package install

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/registry"
)

const (
	manifestGo = "go.mod"
	// binGo is where in the tree a build writes its program.
	binGo = ".bin"
	// modulesGo is where in the tree its modules lie, for go to take for a proxy.
	modulesGo = ".modules"
	// goPlaces are searched for a toolchain after PATH.
	goPlaces = "/usr/local/go/bin:/usr/lib/go/bin"
)

// GoQuery is a script for a shell that prints the version of the Go that it finds.
const GoQuery = "PATH=$PATH:" + goPlaces + ` GOTOOLCHAIN=local GOCACHE=/tmp/go-cache GOENV=off exec go env GOVERSION`

// goVars are the variables of a build by the toolchain that is there, which takes
// modules from the tree and asks nobody else for anything. Its counters are not written
// into the HOME, as no code of the module's is what writes them.
func goVars(dir string, _ Step) string {
	return "PATH=$PATH:" + goPlaces + " GOTOOLCHAIN=local GOPROXY=" + quote("file://"+filepath.Join(dir, modulesGo)) + " GOSUMDB=off GOFLAGS=-modcacherw GOWORK=off GOENV=off XDG_CONFIG_HOME=/tmp/go-config GOCACHE=/tmp/go-cache GOPATH=/tmp/go"
}

// fetchGo prints an archive of what go.mod says and of the modules that it names.
const fetchGo = `PATH=$PATH:` + goPlaces + `
command -v go >/dev/null || exit 127
mkdir -p out
go mod edit -json >out/module.json || exit 1
if [ "$1" = yes ]; then
  go mod download >&2 || { tar -C out -cf - .; exit 1; }
  mkdir -p .modules/cache/download && mv .modules/cache/download out/modules
fi
exec tar -C out -cf - .`

// module is what counts of a go.mod.
type module struct {
	Module  struct{ Path string }
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

// checkoutGo fetches what a checkout of a Go module depends on beside it, each module
// checked against go.sum, and writes down how its program is built.
// version asks the sandbox for its toolchain.
func (f *Fetcher) checkoutGo(ctx context.Context, t *Tree, sum string, version func() (string, error)) error {
	what := filepath.Base(t.Spec.Name)
	root, err := os.OpenRoot(t.Host)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	in, err := manifestFiles(root, manifestGo, "go.sum")
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	_, unvendored := root.Lstat("vendor/modules.txt")
	f.progress("fetching what " + what + " depends on")
	g := &goModules{root: root, sums: goSums(in["go.sum"])}
	fetchErr := f.golang(ctx, what, in, unvendored != nil, g.read)
	if err := g.module.check(what); err != nil {
		return err
	}
	if fetchErr != nil {
		return fetchErr
	}
	if _, err := version(); err != nil {
		return err
	}
	t.Name, t.Native, t.Packages = g.module.Module.Path, true, g.count
	if unvendored == nil {
		if t.Packages, err = vendored(root); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	t.Digest = digest(append(g.lines, "checkout "+sum))
	sources, err := t.goPrograms(root)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	bin, err := t.Choose(t.Spec.Bin)
	if err != nil {
		return err
	}
	t.Spec.Bin = bin.Name
	t.Steps = []Step{{t.Name, "", "go build", ".", "exec go build -trimpath -buildvcs=false -o " + quote(bin.Path) + " " + quote(sources[bin.Name])}}
	return nil
}

// golang runs go over a module's manifests. Another toolchain, which a module may
// name, is not fetched.
func (f *Fetcher) golang(ctx context.Context, what string, in map[string][]byte, download bool, read func(io.Reader) error) error {
	word := "no"
	if download {
		word = "yes"
	}
	err := f.run(ctx, Job{
		Tool: registry.Go, Programs: []string{"go"}, Script: fetchGo, Args: []string{word}, Files: in,
		Env: []string{"GOTOOLCHAIN=local", "GOFLAGS=-modcacherw", "GOWORK=off", "GO111MODULE=on", "GOMODCACHE=" + JobDir + "/.modules", "GOCACHE=/tmp/go-cache", "XDG_CONFIG_HOME=/tmp/go-config"},
	}, read)
	if errors.Is(err, errNoTool) {
		return withHint("install Go; or build the program and probe it: coalmine probe -- ./PROGRAM", "go is not installed on this machine")
	}
	if stderrOf(err) != "" {
		return goError(what, err)
	}
	return err
}

// check refuses a module that needs a directory outside of it.
func (m *module) check(what string) error {
	for _, r := range m.Replace {
		if r.New.Version == "" && !filepath.IsLocal(r.New.Path) {
			return withHint("a replacement by a directory has to lie within the module", "%s: %s is replaced by a directory outside of it", what, r.Old.Path)
		}
	}
	return nil
}

// goModules are modules as go fetched them: a directory that go takes for a proxy.
type goModules struct {
	root   *os.Root
	sums   map[string]string
	module module
	count  int
	lines  []string
}

// read takes the archive that fetchGo prints. A module's archive is kept if it has the
// hash that go.sum names, and left out if go.sum names none: no build needs it then.
func (g *goModules) read(in io.Reader) error {
	return entries(in, func(name string, size int64, r io.Reader) error {
		if name == "module.json" {
			data, err := io.ReadAll(io.LimitReader(r, maxManifest))
			if err == nil {
				err = json.Unmarshal(data, &g.module)
			}
			return err
		}
		rel, ok := strings.CutPrefix(name, "modules/")
		if !ok || !slices.Contains([]string{".zip", ".mod", ".info"}, path.Ext(rel)) || !strings.Contains(rel, "/@v/") {
			return nil
		}
		to := filepath.Join(modulesGo, rel)
		if err := g.root.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := writeFile(g.root, r, to, 0o644); err != nil || path.Ext(rel) != ".zip" {
			return err
		}
		return g.checkArchive(rel, to)
	})
}

// checkArchive compares a module's archive with go.sum.
func (g *goModules) checkArchive(rel, file string) error {
	escaped, version, _ := strings.Cut(strings.TrimSuffix(rel, ".zip"), "/@v/")
	module := unescapeGo(escaped) + " " + unescapeGo(version)
	want := g.sums[module]
	if want == "" {
		return g.root.Remove(file)
	}
	got, err := hashModule(g.root, file)
	if err != nil {
		return fmt.Errorf("%.200q: %w", module, err)
	}
	if got != want {
		return withHint("go mod verify; go clean -modcache if an archive was spoiled", "the archive of %.200q does not have the hash that go.sum names", module)
	}
	g.count++
	g.lines = append(g.lines, module+" "+want)
	return nil
}

// goSums are the hashes of modules' archives in a go.sum, by "PATH VERSION".
func goSums(data []byte) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if w := strings.Fields(line); len(w) == 3 && strings.HasPrefix(w[2], "h1:") && !strings.HasSuffix(w[1], "/go.mod") {
			out[w[0]+" "+w[1]] = w[2]
		}
	}
	return out
}

// unescapeGo undoes the escape of capital letters in a module proxy's paths.
func unescapeGo(s string) string {
	return escapedCapital.ReplaceAllStringFunc(s, func(m string) string { return strings.ToUpper(m[1:]) })
}

var escapedCapital = lazyregexp.New(`![a-z]`)

// hashModule is the hash "h1:" of a module's archive, as go.sum has it: SHA-256 over a
// line for each file, in the order of their names, with its own SHA-256
// (golang.org/x/mod/sumdb/dirhash.Hash1).
func hashModule(root *os.Root, name string) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	z, err := openZip(f, info.Size())
	if err != nil {
		return "", err
	}
	left := fullBudget()
	slices.SortFunc(z.File, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	whole := sha256.New()
	for _, e := range z.File {
		if err := left.take(e.UncompressedSize64); err != nil {
			return "", err
		}
		if strings.Contains(e.Name, "\n") {
			return "", errors.New("it has a file with a line break in its name")
		}
		r, err := e.Open()
		if err != nil {
			return "", err
		}
		one := sha256.New()
		_, err = io.Copy(one, io.LimitReader(r, int64(e.UncompressedSize64)))
		if err := errors.Join(err, r.Close()); err != nil {
			return "", err
		}
		fmt.Fprintf(whole, "%x  %s\n", one.Sum(nil), e.Name)
	}
	return "h1:" + base64.StdEncoding.EncodeToString(whole.Sum(nil)), nil
}

var vendoredModule = lazyregexp.New(`(?m)^# \S+ `)

// vendored counts the modules beside a checkout.
func vendored(root *os.Root) (int, error) {
	data, err := readFile(root, "vendor/modules.txt", maxManifest)
	if os.IsNotExist(err) {
		return 0, nil
	}
	return len(vendoredModule.FindAll(data, -1)), err
}

// goPrograms lists the module's programs, and returns by their names the packages
// that they are built from. It reads the package clauses of those files that a build
// for Linux would take, as "go list ./..." does.
func (t *Tree) goPrograms(root *os.Root) (map[string]string, error) {
	names := map[string]string{} // directories to the path of their package
	err := fs.WalkDir(root.FS(), ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := e.Name()
		if e.IsDir() && file != "." {
			_, err := root.Lstat(path.Join(file, manifestGo))
			if err == nil || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" {
				return fs.SkipDir
			}
		}
		dir := path.Dir(file)
		if names[dir] == "" && e.Type().IsRegular() && path.Ext(base) == ".go" && !strings.HasSuffix(base, "_test.go") && isMain(root, dir, base) {
			names[dir] = path.Join(t.Name, dir)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sources := map[string]string{}
	for _, dir := range slices.Sorted(maps.Keys(names)) {
		name := path.Base(names[dir])
		if majorVersion.MatchString(name) {
			name = path.Base(path.Dir(names[dir]))
		}
		if sources[name] == "" {
			t.Bins, sources[name] = append(t.Bins, Bin{name, filepath.Join(binGo, name)}), "./"+dir
		}
	}
	slices.SortFunc(t.Bins, func(a, b Bin) int { return strings.Compare(a.Name, b.Name) })
	return sources, nil
}

// isMain reports whether a file is one of a program that a build for Linux takes.
func isMain(root *os.Root, dir, name string) bool {
	file := path.Join(dir, name)
	data, err := readFile(root, file, maxManifest)
	if err != nil {
		return false
	}
	c := build.Default
	c.GOOS, c.CgoEnabled = "linux", true
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	if match, err := c.MatchFile("/"+dir, name); err != nil || !match {
		return false
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), name, data, parser.PackageClauseOnly)
	return err == nil && parsed.Name.Name == "main"
}

var majorVersion = lazyregexp.New(`^v[0-9]+$`)

var (
	goUnreachable = lazyregexp.New(`dial tcp|i/o timeout|no such host|connection refused|proxyconnect|x509:`)
	goMissing     = lazyregexp.New(`missing go\.sum entry|updates to go\.mod needed|inconsistent vendoring`)
	goOff         = lazyregexp.New(`disabled by GOPROXY=off`)
	goRefused     = lazyregexp.New(`40[13] (?:Unauthorized|Forbidden)|could not read Username|Permission denied`)
	goMismatch    = lazyregexp.New(`checksum mismatch|SECURITY ERROR`)
	goTooOld      = lazyregexp.New(`requires go >= (\S+)`)
)

func goUnreached(what, reason string) error {
	return withHint("go mod download tells whether go reaches it; GOPROXY names another", "%s: the module proxy cannot be reached (%s)", what, reason)
}

// goError says what go's failure means.
func goError(what string, err error) error {
	said := stderrOf(err)
	switch {
	case said == "":
		return err
	case goTooOld.MatchString(said):
		return withHint("install that Go, or a newer one", "%s: it is written for go %s, and this machine has an older one", what, goTooOld.FindStringSubmatch(said)[1])
	case goMismatch.MatchString(said):
		return withHint("go mod verify; go clean -modcache if an archive was spoiled", "%s: a module does not have the hash that go.sum names", what)
	case goMissing.MatchString(said):
		return withHint("go mod tidy", "%s: its go.mod and go.sum do not fit its source", what)
	case goOff.MatchString(said):
		return withHint("go mod vendor puts its modules beside it; else name a proxy in GOPROXY", "%s: it depends on modules that are not beside it, and GOPROXY=off lets none be fetched", what)
	case goRefused.MatchString(said) && elsewhere(what, err) != nil:
		return elsewhere(what, err)
	case goRefused.MatchString(said):
		return withHint("give go its credentials, in ~/.netrc", "%s: a module that it depends on is refused", what)
	case unreached(err) != "":
		return goUnreached(what, unreached(err))
	case goUnreachable.MatchString(said):
		return goUnreached(what, "it does not answer")
	}
	return withHint("go mod vendor in a copy of it shows go's whole answer", "%s: go failed: %s", what, lastLine(said))
}
