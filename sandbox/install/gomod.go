package install

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	manifestGo = "go.mod"
	// binGo is where in the tree a build writes its program.
	binGo = ".bin"
	// goPlaces are searched for a toolchain after PATH.
	goPlaces = "/usr/local/go/bin:/usr/lib/go/bin"
)

// GoQuery is a script for a shell that prints the version of the Go that it finds.
const GoQuery = "PATH=$PATH:" + goPlaces + ` GOTOOLCHAIN=local GOCACHE=/tmp/go-cache GOENV=off exec go env GOVERSION`

// goVars are the variables of a build by the toolchain that is there, which asks
// nobody for anything. Its counters are not written into the HOME, as no code of
// the module's is what writes them.
func goVars(string, Step) string {
	return "PATH=$PATH:" + goPlaces + " GOTOOLCHAIN=local GOPROXY=off GOSUMDB=off GOFLAGS= GOWORK=off GOENV=off XDG_CONFIG_HOME=/tmp/go-config GOCACHE=/tmp/go-cache GOPATH=/tmp/go"
}

// goCommand runs this machine's go with the user's settings. None of what it is
// asked here runs code of a module; another toolchain, which a module may name, is
// not fetched.
func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	file, err := exec.LookPath("go")
	if err != nil {
		return "", withHint("install Go, which knows your module proxies; or build the program and probe it: coalmine probe -- ./PROGRAM", "go is not installed on this machine")
	}
	return run(ctx, dir, []string{"GOTOOLCHAIN=local", "GOFLAGS=", "GOWORK=off", "GOOS=linux", "GO111MODULE=on", "CGO_ENABLED=1"}, file, args...)
}

// module is what counts of a go.mod.
type module struct {
	Module  struct{ Path string }
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

// checkoutGo copies what a checkout of a Go module depends on beside it, as source,
// each module checked against go.sum, and writes down how its program is built.
// version asks the sandbox for its toolchain.
func (f *Fetcher) checkoutGo(ctx context.Context, t *Tree, sum string, version func() (string, error)) error {
	what := filepath.Base(t.Spec.Name)
	out, err := goCommand(ctx, t.Host, "mod", "edit", "-json")
	if err != nil {
		return goError(what, err)
	}
	var m module
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		return fmt.Errorf("%s: read its go.mod: %w", what, err)
	}
	for _, r := range m.Replace {
		if r.New.Version == "" && !filepath.IsLocal(r.New.Path) {
			return withHint("a replacement by a directory has to lie within the module", "%s: %s is replaced by a directory outside of it", what, r.Old.Path)
		}
	}
	if _, err := version(); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(t.Host, "vendor", "modules.txt")); err != nil {
		f.progress("fetching what " + what + " depends on")
		if _, err := goCommand(ctx, t.Host, "mod", "vendor"); err != nil {
			return goError(what, err)
		}
	}
	t.Name, t.Native = m.Module.Path, true
	if t.Packages, err = vendored(t.Host); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	t.Digest = digest([]string{"checkout " + sum})
	sources, err := t.goPrograms(ctx, what)
	if err != nil {
		return err
	}
	bin, err := t.Choose(t.Spec.Bin)
	if err != nil {
		return err
	}
	t.Spec.Bin = bin.Name
	t.Steps = []Step{{t.Name, "", "go build", ".", "exec go build -trimpath -buildvcs=false -o " + quote(bin.Path) + " " + quote(sources[bin.Name])}}
	return nil
}

var vendoredModule = regexp.MustCompile(`(?m)^# \S+ `)

// vendored counts the modules beside a checkout.
func vendored(dir string) (int, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }()
	data, err := readFile(root, "vendor/modules.txt", maxManifest)
	if os.IsNotExist(err) {
		return 0, nil
	}
	return len(vendoredModule.FindAll(data, -1)), err
}

// goPrograms lists the module's programs, and returns by their names the packages
// that they are built from.
func (t *Tree) goPrograms(ctx context.Context, what string) (map[string]string, error) {
	out, err := goCommand(ctx, t.Host, "list", "-e", "-find", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
	if err != nil {
		return nil, goError(what, err)
	}
	sources := map[string]string{}
	for _, line := range strings.Split(out, "\n") {
		line = strings.TrimSpace(line)
		rel := strings.TrimPrefix(strings.TrimPrefix(line, t.Name), "/")
		if line == "" || rel != "" && !filepath.IsLocal(rel) {
			continue
		}
		name := path.Base(line)
		if majorVersion.MatchString(name) {
			name = path.Base(path.Dir(line))
		}
		if sources[name] == "" {
			t.Bins, sources[name] = append(t.Bins, Bin{name, filepath.Join(binGo, name)}), "./"+rel
		}
	}
	slices.SortFunc(t.Bins, func(a, b Bin) int { return strings.Compare(a.Name, b.Name) })
	return sources, nil
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

var (
	goUnreachable = regexp.MustCompile(`dial tcp|i/o timeout|no such host|connection refused|proxyconnect|x509:`)
	goMissing     = regexp.MustCompile(`missing go\.sum entry|updates to go\.mod needed|inconsistent vendoring`)
	goRefused     = regexp.MustCompile(`40[13] (?:Unauthorized|Forbidden)|could not read Username|Permission denied`)
	goMismatch    = regexp.MustCompile(`checksum mismatch|SECURITY ERROR`)
	goTooOld      = regexp.MustCompile(`requires go >= (\S+)`)
)

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
	case goRefused.MatchString(said):
		return withHint("give go its credentials, in ~/.netrc or GOAUTH", "%s: a module that it depends on is refused", what)
	case goUnreachable.MatchString(said):
		return withHint("go mod download tells whether go reaches it; GOPROXY names another", "%s: the module proxy cannot be reached", what)
	}
	return withHint("go mod vendor in a copy of it shows go's whole answer", "%s: go failed: %s", what, lastLine(said))
}
