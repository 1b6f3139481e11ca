package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/trace/bpf"
)

// Need skips the test when one of the named things is missing on this machine,
// and fails it when COALMINE_REQUIRE, a list with commas, names that thing, or
// when the thing should work here and does not.
//
// A thing is a program ("strace", "node", "python3", "uv"), "python" (any of
// python3 or python), "browser" (a Chromium), "axe" (axe-core, see Cache), "setuptools" (see Setuptools),
// "docker" (an engine that answers), "userns" (namespaces for an ordinary user),
// "bpf" (the eBPF tracer works) or "root".
func Need(t testing.TB, things ...string) {
	t.Helper()
	for _, thing := range things {
		reason := missing(thing)
		if reason == "" {
			continue
		}
		if required(thing) {
			t.Fatalf("%s is required here (COALMINE_REQUIRE), but %s", thing, reason)
		}
		if isFaulty(thing) {
			t.Fatalf("%s should work here, but %s", thing, reason)
		}
		t.Skipf("needs %s: %s", thing, reason)
	}
}

func required(thing string) bool {
	return slices.Contains(strings.FieldsFunc(os.Getenv("COALMINE_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' }), thing)
}

var (
	missingMu sync.Mutex
	missed    = map[string]string{}
	faulty    = map[string]bool{} // what is not missing, but does not work
)

func isFaulty(thing string) bool {
	missingMu.Lock()
	defer missingMu.Unlock()
	return faulty[thing]
}

// missing says why a thing is not to be had, or "".
func missing(thing string) string {
	missingMu.Lock()
	defer missingMu.Unlock()
	reason, known := missed[thing]
	if !known {
		reason = probe(thing)
		missed[thing] = reason
	}
	return reason
}

func probe(thing string) string {
	switch thing {
	case "root":
		if os.Getuid() != 0 {
			return "this is not root"
		}
		return ""
	case "docker":
		if out, err := exec.Command("docker", "version", "--format", "{{.Server.Version}}").CombinedOutput(); err != nil {
			return "no Docker engine answers: " + strings.TrimSpace(string(out))
		}
		return ""
	case "bpf":
		ok, reason := bpf.Supported()
		if ok == "yes" {
			return ""
		}
		faulty[thing] = ok == "unknown"
		return reason
	case "userns":
		return probeNamespaces()
	case "python":
		if _, err := exec.LookPath("python3"); err == nil {
			return ""
		}
	case "initdb":
		if found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); err == nil && len(found) > 0 {
			return ""
		}
	case "faketime":
		for _, pattern := range []string{"/usr/lib/*/faketime", "/usr/lib*/faketime"} {
			if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
				return ""
			}
		}
		return "libfaketime is not installed (.ci/setup/tools.sh installs it)"
	case "browser":
		if Browser() == "" {
			return "neither chromium nor google-chrome is in PATH (.ci/setup/browser.sh installs one)"
		}
		return ""
	case "setuptools":
		if len(Setuptools()) == 0 {
			return "no wheel of it is in " + Cache("wheels", "current") + " (.ci/setup/wheels.sh fetches it)"
		}
		return ""
	case "axe":
		if _, err := os.Stat(Cache("axe", "axe.min.js")); err != nil {
			return err.Error() + " (.ci/setup/browser.sh installs it)"
		}
		return ""
	}
	if _, err := exec.LookPath(thing); err != nil {
		return thing + " is not in PATH"
	}
	return ""
}

// Browser is the Chromium of this machine, "" for none.
func Browser() string {
	for _, name := range []string{"chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Setuptools are the wheels by which a setup.py is built.
func Setuptools() []string {
	found, _ := filepath.Glob(Cache("wheels", "current", "*.whl")) // the pattern is a good one
	return found
}

// Cache is a path below the directory into which the scripts of .ci/setup install.
func Cache(elem ...string) string {
	dir := os.Getenv("XDG_CACHE_HOME")
	if dir == "" {
		dir = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	return filepath.Join(append([]string{dir, "coalmine"}, elem...)...)
}

// Everything is what starts the official reference server on a transport: "stdio", "sse" or "http".
func Everything(transport string) []string {
	name := map[string]string{"stdio": "stdio", "sse": "sse", "http": "streamableHttp"}[transport]
	return []string{"node", Cache("servers/current/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js"), name}
}

// builtEnv names a directory of programs already built: for the test processes of one
// run of the tests, and for one that runs as a user who cannot build.
const builtEnv = "SANDBOXTEST_BUILT"

var (
	buildMu  sync.Mutex
	buildDir string
	built    = map[string]string{}
)

// Build compiles a main package of this module, named from the module's root
// ("./testdata/servers/leaky"), without CGO, and returns the program's path,
// which any user may execute. It is built once a test process, of what the processes
// before it have kept.
func Build(t testing.TB, pkg string) string {
	t.Helper()
	buildMu.Lock()
	defer buildMu.Unlock()
	if path, ok := built[pkg]; ok {
		return path
	}
	if dir := os.Getenv(builtEnv); dir != "" {
		path := filepath.Join(dir, filepath.Base(pkg))
		if _, err := os.Stat(path); err == nil || os.Getuid() != 0 {
			return path
		}
	}
	if buildDir == "" {
		dir, err := os.MkdirTemp("", "fixtures")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		buildDir = dir
	}
	path := filepath.Join(buildDir, filepath.Base(pkg))
	build(t, ModuleRoot(t), pkg, path)
	built[pkg] = path
	return path
}

// CleanUp removes what Build made; a TestMain calls it at its end.
func CleanUp() {
	buildMu.Lock()
	defer buildMu.Unlock()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir)
	}
	buildDir, built = "", map[string]string{}
}

// ModuleRoot is the directory of this module's go.mod.
func ModuleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = up
	}
}

// goBuild compiles a package of a module into a file.
func goBuild(t testing.TB, module, pkg, to string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", to, pkg)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
}
