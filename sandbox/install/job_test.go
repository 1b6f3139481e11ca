package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Of a checkout, a client of registries sees the manifests and locks alone: nothing
// that configures it, and nothing of which it would run or follow anything.
func TestAClientSeesManifestsAlone(t *testing.T) {
	settings := map[string]string{
		".npmrc": "registry=https://h.example/\n", "ws/.npmrc": "script-shell=/bin/x\n", ".yarnrc.yml": "x: y\n", "pip.conf": "[global]\nindex-url=https://h.example/\n", "uv.toml": "",
		"requirements.txt": "--index-url https://h.example/\n-e git+https://h.example/x\n", "go.work": "go 1.21\nuse ../..\n", ".gitattributes": "* filter=x\n", ".gitmodules": "", ".git/config": "[core]\nfsmonitor=x\n",
		"node_modules/x/package.json": "{}", "vendor/x/go.mod": "module x\n", "index.js": "", ".env": "KEY=1\n",
	}
	for _, c := range []struct {
		manifests map[string]string
		want      []string
	}{
		{map[string]string{"package.json": `{"name":"n","workspaces":["ws"]}`, "ws/package.json": `{"name":"ws"}`, "package-lock.json": "{}"}, []string{"package-lock.json", "package.json", "ws/package.json"}},
		{map[string]string{"go.mod": "module m\n", "go.sum": "", "sub/go.mod": "module s\n"}, []string{"go.mod", "go.sum", "sub/go.mod"}},
		{map[string]string{"pyproject.toml": "[project]\nname='n'\nversion='1'\ndependencies=['x>=1']\n"}, nil},
	} {
		dir := t.TempDir()
		for _, all := range []map[string]string{settings, c.manifests} {
			for name, text := range all {
				if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
		}
		jobs := 0
		f := &Fetcher{Cache: Cache{t.TempDir()}, Sandbox: func(_ context.Context, j Job, _ io.Writer) (Result, error) {
			jobs++
			if got := slices.Sorted(maps.Keys(j.Files)); !slices.Equal(got, c.want) {
				t.Errorf("%s sees %q, want %q", j.Tool, got, c.want)
			}
			return Result{Code: 1, Stderr: "enough"}, nil
		}}
		_, err := f.Directory(t.Context(), Spec{Kind: KindDirectory, Name: dir}, "", Queries{Python: func() (*Python, error) { return debian, nil }, Go: func() (string, error) { return "go1.26.0", nil }})
		if err == nil || jobs != 1 {
			t.Errorf("%q: %d jobs, %v", c.want, jobs, err)
		}
	}
}

// What would have a client take options, addresses or repositories is refused before
// anything runs.
func TestRepositoriesAndOptionsAreNotFetched(t *testing.T) {
	for _, d := range []string{"x @ git+https://h.example/x", "git+ssh://h.example/x", "--index-url=https://h.example/", "-e .", "-r /etc/passwd", "x @ file:///etc", "./x"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "pyproject.toml"), []byte("[project]\nname='n'\nversion='1'\ndependencies=['"+d+"']\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		f := &Fetcher{Cache: Cache{t.TempDir()}, Sandbox: func(_ context.Context, j Job, _ io.Writer) (Result, error) {
			t.Errorf("%q: %s ran", d, j.Tool)
			return Result{Code: 1}, nil
		}}
		var mend *Error
		if _, err := f.Directory(t.Context(), Spec{Kind: KindDirectory, Name: dir}, "", Queries{Python: func() (*Python, error) { return debian, nil }}); !errors.As(err, &mend) {
			t.Errorf("%q: %v", d, err)
		}
	}
}

// Without a sandbox nothing is fetched.
func TestNothingIsFetchedOnTheHost(t *testing.T) {
	f := &Fetcher{Cache: Cache{t.TempDir()}}
	if _, err := f.NPM(t.Context(), Spec{Kind: KindNPM, Name: "x"}); err == nil || !strings.Contains(err.Error(), "no sandbox") {
		t.Errorf("%v", err)
	}
}

// A refusal of coalmine's own proxy is not taken for one of the registry.
func TestAnAddressElsewhereIsSaid(t *testing.T) {
	f := &Fetcher{Cache: Cache{t.TempDir()}, Sandbox: func(context.Context, Job, io.Writer) (Result, error) {
		return Result{Code: 1, Stderr: "npm error code E403\n", Refused: []string{"h.example:443"}}, nil
	}}
	if _, err := f.NPM(t.Context(), Spec{Kind: KindNPM, Name: "x"}); err == nil || !strings.Contains(err.Error(), "depends on h.example:443, which is not one of your registries") {
		t.Errorf("%v", err)
	}
}

// A registry that does not answer is no package that is not there.
func TestAnUnreachedRegistryIsSaid(t *testing.T) {
	why := "h.example:443: the registry refused the connection"
	failed := func(said string) error { return &toolError{stderr: said, unreached: []string{why}} }
	for tool, err := range map[string]error{
		"npm": npmError("x", failed("npm error code E502\n")),
		"pip": (&pip{}).explain(t.Context(), "x", failed("ERROR: No matching distribution found for x\n")),
		"go":  goError("x", failed("go: x@v1.0.0: 502 Bad Gateway\n")),
	} {
		if err == nil || !strings.Contains(err.Error(), "cannot be reached ("+why+")") {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

// A version that needs another Python is no package that is not there.
func TestAnotherPythonIsSaid(t *testing.T) {
	said := "ERROR: Ignored the following versions that require a different python version: 0.4.0 Requires-Python >=3.12; 0.4.1 Requires-Python >=3.12,<4\nERROR: No matching distribution found for x==0.4.1\n"
	if err := (&pip{}).explain(t.Context(), "pypi:x==0.4.1", &toolError{stderr: said}); err == nil || err.Error() != "pypi:x==0.4.1: version 0.4.1 of x needs Python >=3.12,<4" {
		t.Error(err)
	}
}

// packed is an npm archive of headers with its integrity.
func packed(t testing.TB, headers ...tar.Header) (data []byte, integrity string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(archive(t, headers...)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(b.Bytes())
	return b.Bytes(), "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// contents is what the script of a fetch prints: npm's cache.
func contents(t testing.TB, archives ...[]byte) io.Reader {
	t.Helper()
	var b bytes.Buffer
	a := tar.NewWriter(&b)
	for i, data := range archives {
		if err := a.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "./sha512/" + string(rune('a'+i)), Size: int64(len(data)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// A package is laid out from the archive that has its lock's hash, and from no other.
func TestArchivesAreLaidOutByTheirHashes(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600} }
	one, integrity := packed(t, file("package/index.js"), file("package/bin/run.js"))
	other, _ := packed(t, file("package/other.js"))
	l := &lock{map[string]locked{"node_modules/a": {Version: "1", Integrity: integrity}, "node_modules/b": {Version: "1", Integrity: "sha512-AAAA", Optional: true}}}
	root := below(t, t.TempDir())
	s := &npmArchives{root: root, byHash: map[string]string{}}
	if err := errors.Join(s.read(contents(t, other, one)), s.layOut(l)); err != nil {
		t.Fatal(err)
	}
	if data, err := root.ReadFile("node_modules/a/index.js"); err != nil || string(data) != "package/index.js" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := root.Lstat(archivesPlace); err == nil {
		t.Error("the archives are left in the tree")
	}
	root = below(t, t.TempDir())
	s = &npmArchives{root: root, byHash: map[string]string{}}
	if err := errors.Join(s.read(contents(t, other)), s.layOut(l)); err == nil || !strings.Contains(err.Error(), "no archive with the hash of a") {
		t.Errorf("another archive was taken: %v", err)
	}
}

// Whatever an archive and a lock of npm's name, nothing lands outside, and no link of an
// archive is made.
func FuzzArchives(f *testing.F) {
	outside, unchanged := marked(f)
	for _, s := range [][3]string{
		{"node_modules/a", "package/../../x", ""}, {"node_modules/a", "package/l", outside}, {"../a", "package/x", ""}, {"node_modules/a/node_modules/b", "package/node_modules/b", "../../.."},
		{"node_modules/.bin", "package/a", "/etc"}, {"node_modules/a", "package/package.json", ""}, {outside[1:], "/etc/x", ""},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, path, name, target string) {
		if len(path)+len(name)+len(target) > 300 || strings.ContainsRune(name+target, 0) || name == "" {
			return
		}
		h := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755}
		if target != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, target
		}
		var b bytes.Buffer
		a := tar.NewWriter(&b)
		if a.WriteHeader(&h) != nil {
			return // the format has no such name
		}
		data, integrity := packed(t, h, tar.Header{Typeflag: tar.TypeReg, Name: "package/package.json", Mode: 0o644})
		dir := t.TempDir()
		s := &npmArchives{root: below(t, dir), byHash: map[string]string{}}
		if err := s.read(contents(t, data)); err != nil {
			t.Fatal(err)
		}
		_ = s.layOut(&lock{map[string]locked{path: {Version: "1", Integrity: integrity}, "node_modules/w": {Link: true, Resolved: path}}})
		if err := errors.Join(unchanged(), staysInside(dir)); err != nil {
			t.Error(err)
		}
	})
}

// npm ci refuses a lock that lacks an optional dependency which no registry has; npm install
// goes without it. Any other difference stays an error.
func TestOptionalDependenciesThatNobodyHas(t *testing.T) {
	t.Parallel()
	const head = "npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when they are in sync.\n"
	for said, want := range map[string][]string{
		head + "npm error Missing: lodash@ from lock file\n":                                                            {"ci", "install"},
		head + "npm error Missing: lodash@ from lock file\nnpm error Missing: express@5.0.0 from lock file\n":           {"ci"},
		head + "npm error Missing: lodash@ from lock file\nnpm error Invalid: lock file's a@1.0.0 does not satisfy a@2": {"ci"},
		"npm error code E500\nnpm error the registry is tired\n":                                                        {"ci"},
	} {
		var ran []string
		f := &Fetcher{Sandbox: func(_ context.Context, j Job, out io.Writer) (Result, error) {
			ran = append(ran, j.Args[0])
			if j.Args[0] == "ci" {
				return Result{Code: 1, Stderr: said}, nil
			}
			_ = tar.NewWriter(out).Close() // who reads needs no more than the first empty block
			return Result{}, nil
		}}
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		err = f.fetchArchives(t.Context(), root, &lock{}, map[string][]byte{manifestNPM: []byte("{}")})
		if !slices.Equal(ran, want) || (err == nil) != (len(want) == 2) {
			t.Errorf("%q: ran %q, %v", said, ran, err)
		}
		if err != nil && strings.HasSuffix(npmError("x", err).Error(), ": ") {
			t.Errorf("%q: nothing is said: %v", said, npmError("x", err))
		}
		_ = root.Close()
	}
}
