//go:build linux && e2e

package packages

import (
	"archive/tar"
	"compress/gzip"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// ownBackend is a project's own build backend, which needs no other: {} is what it
// does beside making a wheel.
const ownBackend = `import os, zipfile
def build_wheel(out, config_settings=None, metadata_directory=None):
    {}
    info = "py_notes-0.3.dist-info/"
    with zipfile.ZipFile(os.path.join(out, "py_notes-0.3-py3-none-any.whl"), "w") as z:
        z.write("source.py", "py_notes/server.py")
        z.writestr("py_notes/__init__.py", "import notes_base\n")
        z.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: py-notes\nVersion: 0.3\nRequires-Dist: notes-base>=1\nRequires-Dist: pytest; extra == 'test'\n\nText")
        z.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(info + "entry_points.txt", "[console_scripts]\npy-notes = py_notes.server:main\n")
        z.writestr(info + "RECORD", "py_notes/__init__.py,,\npy_notes/server.py,,\n")
    return "py_notes-0.3-py3-none-any.whl"
`

const (
	readsKey = `open(os.path.expanduser("~/.ssh/id_rsa")).read()`
	nothing  = `pass`
)

// pythonProject is a project whose own backend makes its server, and which does not
// say in its manifest what it depends on.
func pythonProject(t *testing.T, does string) map[string]string {
	return map[string]string{
		"pyproject.toml": "[project]\nname = 'py-notes'\ndynamic = ['version', 'dependencies', 'scripts']\n[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n",
		"backend.py":     strings.ReplaceAll(ownBackend, "{}", does), "source.py": served(t, "honest/honest.py"), "requirements.txt": "notes-base\n",
	}
}

// setupProject is the same by setuptools, with a setup.py.
func setupProject(t *testing.T, does string) map[string]string {
	return map[string]string{
		"setup.py":             "import os\nfrom setuptools import setup\n" + does + "\nsetup(name='py-notes', version='0.3', packages=['py_notes'], install_requires=['notes-base>=1'], entry_points={'console_scripts': ['py-notes = py_notes.server:main']})\n",
		"py_notes/__init__.py": "import notes_base\n", "py_notes/server.py": served(t, "honest/honest.py"),
	}
}

// sdist writes a source distribution.
func sdist(t *testing.T, file, top string, files map[string]string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	a := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := a.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: top + "/" + name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []func() error{a.Close, z.Close, f.Close} {
		if err := c(); err != nil {
			t.Fatal(err)
		}
	}
}

// indexed makes a directory of wheels all of pip's index, with what the projects
// here depend on.
func indexed(t *testing.T) string {
	t.Helper()
	wheels := t.TempDir()
	t.Setenv("PIP_FIND_LINKS", wheels)
	t.Setenv("PIP_NO_INDEX", "1")
	sandboxtest.Wheel(t, wheels, "notes-base", "1.0", nil, "", map[string]string{"notes_base/__init__.py": ""})
	return wheels
}

// builtAs checks a result of a project whose server is the honest one: want are the
// findings, all of the build.
func builtAs(t *testing.T, res *analyze.Result, want string, packages int) {
	t.Helper()
	var got []string
	for _, f := range res.Findings {
		got = append(got, f.Rule+" "+string(f.Severity))
		if f.Phase != finding.PhaseBuild {
			t.Errorf("%s in phase %s: %s", f.Rule, f.Phase, f.Message)
		}
	}
	if strings.Join(slices.Compact(got), ", ") != want || len(res.Coverage.Tools) != 1 || res.Coverage.Tools[0].OK == 0 {
		t.Errorf("found %q, want %q; %+v %q %s", got, want, res.Coverage.Tools, res.Inconclusive, res.Server.Stderr)
	}
	if (res.Verdict == analyze.Clean) != (want == "") {
		t.Errorf("verdict %s: %q", res.Verdict, res.Inconclusive)
	}
	if p := res.Run.Package; p.Name != "py-notes" || p.Version != "0.3" || p.Digest == "" || p.Packages != packages || p.Build.State != session.BuildDone || len(p.Build.Steps) != 1 {
		t.Errorf("%+v", p)
	}
}

// A package with a source distribution alone is built in the sandbox.
func TestASourceDistributionIsBuiltAmongDecoys(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python3")
	wheels := indexed(t)
	for name, c := range map[string]struct{ does, want string }{"honest": {nothing, ""}, "steals": {readsKey, "CM101 high"}} {
		if name == "honest" && !scale.Deep() {
			continue // TestASetupScriptIsRunAmongDecoys has an honest build
		}
		t.Run(name, func(t *testing.T) {
			sdist(t, filepath.Join(wheels, "py_notes-0.3.tar.gz"), "py_notes-0.3", pythonProject(t, c.does))
			res := packaged(t, probetest.OfPackage(&install.Spec{Kind: install.KindPyPI, Name: "py-notes"}))
			builtAs(t, res, c.want, 2)
			if !strings.HasPrefix(res.Run.Package.Integrity, "sha256:") {
				t.Errorf("integrity %q", res.Run.Package.Integrity)
			}
		})
	}
}

// A build that fails, or makes something else, leaves what it did to be reported.
func TestAPythonBuildThatMakesNothing(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python3")
	indexed(t)
	dir := t.TempDir()
	for name, c := range map[string]struct{ does, says string }{
		"fails":    {readsKey + "; raise SystemExit(4)", "build_wheel of py-notes (exit status 4)"},
		"exfil":    {readsKey + `; import io; global zipfile; real = zipfile.ZipFile; zipfile.ZipFile = type("Z", (real,), {"writestr": lambda s, n, d: real.writestr(s, n, d.replace("notes-base", "se" + "cret-name"))})`, "names the dependency"},
		"no wheel": {readsKey + "; return", "made 0 wheels"},
	} {
		put(t, dir, pythonProject(t, c.does))
		res := packaged(t, probetest.OfPackage(&install.Spec{Kind: install.KindDirectory, Name: dir}))
		if res.Verdict != analyze.Findings || len(res.Findings) != 1 || res.Findings[0].Rule != "CM101" || res.Findings[0].Phase != finding.PhaseBuild {
			t.Errorf("%s: %s %+v", name, res.Verdict, res.Findings)
		}
		if p := res.Run.Package; p.Build.State != session.BuildFailed || !strings.Contains(p.Build.Why, c.says) {
			t.Errorf("%s: %+v", name, p.Build)
		}
	}
	refused(t, t.TempDir(), install.Spec{Kind: install.KindDirectory, Name: t.TempDir()}, "has no package.json", "COMMAND")
}

func TestASetupScriptIsRunAmongDecoys(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python3", "setuptools")
	wheels := indexed(t)
	for _, file := range sandboxtest.Setuptools() {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(wheels, filepath.Base(file)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ does, want string }{"honest": {"", ""}, "steals": {readsKey, "CM101 high"}} {
		if name == "steals" && !scale.Deep() {
			continue // TestASourceDistributionIsBuiltAmongDecoys has a build that steals
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, setupProject(t, c.does))
			before := listing(t, dir)
			builtAs(t, packaged(t, probetest.OfPackage(&install.Spec{Kind: install.KindDirectory, Name: dir})), c.want, 2)
			if after := listing(t, dir); !slices.Equal(before, after) {
				t.Errorf("the checkout was changed: %q, %q", before, after)
			}
		})
	}
}
