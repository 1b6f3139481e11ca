package install

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPrefixed(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"npm:notes", "npm:notes"}, {"npm:@a/b@1.2.3", "npm:@a/b@1.2.3"}, {"npm:@a/b", "npm:@a/b"}, {"npm:x@latest", "npm:x@latest"}, {"npm:x@^1 || ^2", "npm:x@^1 || ^2"},
		{"pypi:a_b==1.0", "pypi:a_b==1.0"}, {"pypi:a[x]@1", "pypi:a[x]==1"}, {"pypi:a@latest", "pypi:a"}, {"oci:h:5000/a/b@sha256:00", "oci:h:5000/a/b@sha256:00"},
		{"npm:", "no name"}, {"npm:--registry=x", "no name"}, {"npm:-g", "no name"}, {"npm:a/b", "no name"}, {"npm:x@https://h/x.tgz", "no name"}, {"npm:x@git+ssh://h", "no name"}, {"npm:../x", "no name"},
		{"npm:x@file:../y", "no name"}, {"pypi:-r", "no name"}, {"pypi:a @ https://h/x", "no name"}, {"pypi:a==1 --index-url x", "no name"}, {"oci:--privileged", "no name"}, {"oci:a b", "no name"},
	} {
		s, ok, err := Prefixed(c.in)
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if strings.Contains(got, "is not the name of a package") {
			got = "no name"
		}
		if !ok || got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.in, got, ok, c.want)
		}
	}
	for _, in := range []string{"node", "npm", "./npm", "C:npm", ""} {
		if _, ok, err := Prefixed(in); ok || err != nil {
			t.Errorf("%q is a package: %v", in, err)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{"", "https://u:%s@h/x?k=%s#%s", "_authToken=%s", "//h/:_password=\"%s\"", "Authorization: Bearer %s", "npm_%s", "://%s@", "token %s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_ = Redact(s)
		const secret = "QvX93kLm20aZ"
		for _, form := range []string{"https://user:" + secret + "@h.example/p", "https://h.example/p?token=" + secret, "//h/:_authToken=" + secret, "npm_" + secret, "pypi-" + secret} {
			if got := Redact(form + " " + s); strings.Contains(got[:min(len(got), len(form))], secret) {
				t.Errorf("%q", got)
			}
		}
	})
}

// archive writes a tar of headers; a regular file holds its own name.
func archive(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	a := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		if err := a.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			_, _ = a.Write([]byte(h.Name))
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Whatever a build sends, nothing is written outside, and no link is followed.
func TestBuiltTreesAreHostile(t *testing.T) {
	outside := t.TempDir()
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o4755} }
	for name, headers := range map[string][]tar.Header{
		"up":              {file("../x")},
		"absolute":        {file(outside + "/x")},
		"through a link":  {{Typeflag: tar.TypeSymlink, Name: "l", Linkname: outside}, file("l/x")},
		"over a link":     {{Typeflag: tar.TypeSymlink, Name: "l", Linkname: outside + "/x"}, file("l")},
		"a hard link":     {{Typeflag: tar.TypeLink, Name: "l", Linkname: "../../etc/passwd"}},
		"a link to links": {{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc/passwd"}, {Typeflag: tar.TypeLink, Name: "m", Linkname: "l"}},
		"twice":           {file("x"), file("x")},
		"too deep":        {file(strings.Repeat("a/", maxDepth+1) + "x")},
		"too long":        {file(strings.Repeat("a", maxName) + "/x")},
	} {
		dir := t.TempDir()
		if _, err := NewBuilt(bytes.NewReader(archive(t, headers...))).Tree(dir, ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("written outside: %v %v", left, err)
	}
	dir := t.TempDir()
	ok := archive(t, tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755}, file("./a/b"), tar.Header{Typeflag: tar.TypeSymlink, Name: "./l", Linkname: "/etc"}, tar.Header{Typeflag: tar.TypeLink, Name: "./h", Linkname: "./a/b"}, tar.Header{Typeflag: tar.TypeFifo, Name: "./p"})
	dropped, err := NewBuilt(bytes.NewReader(ok)).Tree(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(dropped, []string{"l"}) {
		t.Errorf("links left out: %q", dropped)
	}
	if info, err := os.Stat(filepath.Join(dir, "h")); err != nil || info.Mode() != 0o755 {
		t.Errorf("%v %v: set-id bits stay outside", info, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "p")); err == nil {
		t.Error("a pipe was made")
	}
}

// A tree whose archive was cut off is not one of fewer files, wherever that was.
func TestCutTreeIsRefused(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644} }
	whole := archive(t, file("a"), tar.Header{Typeflag: tar.TypeDir, Name: "d", Mode: 0o755}, file("d/b"))
	if _, err := NewBuilt(bytes.NewReader(whole)).Tree(t.TempDir(), ""); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 128 {
		if _, err := NewBuilt(bytes.NewReader(whole[:n])).Tree(t.TempDir(), ""); err == nil {
			t.Errorf("%d of %d bytes are taken for a tree", n, len(whole))
		}
	}
}

// sparse is an archive of two kilobytes with a file of a gibibyte.
func sparse(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	a := tar.NewWriter(&b)
	// The writer leaves out what is sparse: the keys get their name afterwards.
	h := &tar.Header{Typeflag: tar.TypeReg, Name: "x", Size: 512, PAXRecords: map[string]string{"ANY.sparse.major": "1", "ANY.sparse.minor": "0", "ANY.sparse.name": "x", "ANY.sparse.realsize": "1073741824"}}
	if err := a.WriteHeader(h); err != nil {
		t.Fatal(err)
	}
	_, _ = a.Write(append([]byte("0\n"), make([]byte, 510)...))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("ANY.sparse."), []byte("GNU.sparse."))
}

func TestSparseFilesAreRefused(t *testing.T) {
	if _, err := NewBuilt(bytes.NewReader(sparse(t))).Tree(t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "sparse") {
		t.Errorf("%v", err)
	}
}

func FuzzBuilt(f *testing.F) {
	f.Add([]byte("0 1\nx"), 2)
	f.Add(append([]byte("0\n"), archive(f, tar.Header{Typeflag: tar.TypeReg, Name: "a/b"})...), 1)
	f.Add(append([]byte("0\n"), sparse(f)...), 1)
	f.Fuzz(func(t *testing.T, data []byte, steps int) {
		b := NewBuilt(bytes.NewReader(data))
		got, err := b.Statuses(steps)
		if err == nil && len(got) != steps {
			t.Errorf("%d statuses of %d", len(got), steps)
		}
		if err == nil {
			_, _ = b.Tree(t.TempDir(), "")
		}
	})
}

var debian = &Python{Executable: "/usr/bin/python3.11", Version: "3.11.2", Machine: "x86_64", Libc: "glibc", Glibc: "2.36"}

// zipped makes a directory with one wheel of these entries, in turn name and text.
func zipped(t testing.TB, entries ...string) string {
	t.Helper()
	dir := t.TempDir()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(entries); i += 2 {
		w, err := z.Create(entries[i])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(entries[i+1]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "wheels"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "wheels", "notes-1.0-py3-none-any.whl"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// below opens a directory for as long as the test runs.
func below(t testing.TB, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestWheelsAreLaidOut(t *testing.T) {
	dir := zipped(t, "notes/", "", "notes/__init__.py", "x", "notes-1.0.data/", "", "notes-1.0.data/scripts/tool", "#!python\n", "notes-1.0.data/data/share/doc", "d", "notes-1.0.data/purelib/more.py", "m",
		"notes-1.0.dist-info/entry_points.txt", "[console_scripts]\nnotes = notes.cli:app.main\nbad = x; import os\n[other]\nz = a:b\n",
		"notes-1.0.dist-info/RECORD", "notes/__init__.py,,\nnotes-1.0.data/scripts/tool,,\n")
	if err := layOut(below(t, dir), debian); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"lib/python3.11/site-packages/notes/__init__.py": "x", "bin/tool": "#!python\n", "share/doc": "d", "lib/python3.11/site-packages/more.py": "m",
		"pyvenv.cfg": "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.2\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if to, err := os.Readlink(filepath.Join(dir, "bin/python")); err != nil || to != debian.Executable {
		t.Errorf("bin/python leads to %q: %v", to, err)
	}
	tree := &Tree{Spec: Spec{Kind: KindPyPI, Name: "Notes"}, Name: "notes", Host: dir, Python: debian}
	if err := tree.readPyPI(); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(tree.Bins) != "[{notes bin/notes} {tool bin/tool}]" || tree.Root != "lib/python3.11/site-packages/notes" || len(tree.Scripts) != 1 || !strings.Contains(tree.Scripts[0].Text, "from notes.cli import app\n") {
		t.Errorf("%+v", tree)
	}
}

func TestWheelsAreHostile(t *testing.T) {
	for _, name := range []string{"../x", "/etc/x", "notes-1.0.data/data/../../../x", "notes-1.0.data/nothing/x", "a/../../x"} {
		dir := zipped(t, name, "x")
		if err := layOut(below(t, dir), debian); err == nil {
			t.Errorf("%s was unpacked", name)
		}
	}
}

func TestManifestsAreHostile(t *testing.T) {
	m := &manifest{Name: "@s/notes", Bin: []byte(`{"a":"../../x","b/c":"x","d":"./ok.js","e":"/abs.js"}`)}
	if got := fmt.Sprint(m.bins()); got != "[{d ok.js} {e abs.js}]" {
		t.Errorf("%s", got)
	}
	for in, want := range map[string]string{`"x.js"`: "[{notes x.js}]", `5`: "[]", `null`: "[]", `["x"]`: "[]"} {
		if got := fmt.Sprint((&manifest{Name: "@s/notes", Bin: []byte(in)}).bins()); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
	for _, d := range []string{"--index-url=https://h/", "-r x", "x @ https://h/x.whl", "git+https://h/x", "", "x\n--pre"} {
		if requirement.MatchString(d) {
			t.Errorf("%q is a requirement", d)
		}
	}
	for _, d := range []string{"x", "x>=1,<2", "x[a,b] ~=1.0", `x (>=1) ; python_version < "3.12"`} {
		if !requirement.MatchString(d) {
			t.Errorf("%q is no requirement", d)
		}
	}
}

func TestLocksWithoutHashes(t *testing.T) {
	for name, l := range map[string]lock{
		"a repository": {map[string]locked{"node_modules/x": {Version: "1", Resolved: "git+ssh://h/x"}}},
		"outside":      {map[string]locked{"../x": {Version: "1", Integrity: "sha512-x"}}},
		"a link out":   {map[string]locked{"node_modules/x": {Link: true, Resolved: "../x"}}},
	} {
		var mend *Error
		if _, err := l.verify(true); !errors.As(err, &mend) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The same lock gives the same error, which names the directory before a link to it.
	both := lock{map[string]locked{"../host/x": {Version: "1"}, "node_modules/x": {Link: true, Resolved: "../host/x"}, "node_modules/y": {Link: true, Resolved: "../host/x"}}}
	for range 20 {
		if _, err := both.verify(true); err == nil || !strings.Contains(err.Error(), "../host/x") {
			t.Fatal(err)
		}
	}
	l := lock{map[string]locked{"": {}, "node_modules/x": {Version: "1", Integrity: "sha512-x"}, "node_modules/x/node_modules/y": {InBundle: true}}}
	if lines, err := l.verify(false); err != nil || len(lines) != 1 {
		t.Errorf("%q %v", lines, err)
	}
}

// The script that a shell gets runs each step where it belongs, and what is in a
// package's name or script is never the shell's.
func TestBuildScript(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs sh")
	}
	if _, err := exec.LookPath("tar"); err != nil {
		t.Skip("needs tar")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "node_modules/a b"), 0o755); err != nil {
		t.Fatal(err)
	}
	tree := &Tree{Steps: []Step{
		{Package: "a'; touch injected; '", Version: "1", Event: "postinstall", Dir: "node_modules/a b", Command: `printf %s "$npm_package_name $npm_lifecycle_event" >made; echo '0 0' ; read x`},
		{Package: "b", Version: "1", Event: "install", Dir: "nowhere", Command: "true"},
		{Package: "c", Version: "1", Event: "install", Dir: ".", Command: "exit 7"},
	}}
	cmd := exec.CommandContext(context.Background(), sh, "-s")
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(tree.BuildScript(dir, dir) + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	b := NewBuilt(bytes.NewReader(out))
	got, err := b.Statuses(3)
	if err != nil || got[0] == 0 || got[1] == 0 || got[2] != 7 {
		// The first reads from nothing, which fails; the second has no directory.
		t.Errorf("%v %v", got, err)
	}
	to := t.TempDir()
	if _, err := b.Tree(to, ""); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "node_modules/a b/made")); err != nil || string(text) != "a'; touch injected; ' postinstall" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "injected")); err == nil {
		t.Error("a package's name was run")
	}
}

func TestCache(t *testing.T) {
	c := Cache{t.TempDir()}
	temp, err := c.Temp()
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.Temp()
	if err != nil {
		t.Fatal(err)
	}
	if c.find("k") != "" {
		t.Error("found before it was kept")
	}
	kept, err := c.keep(temp, "k")
	if err != nil || c.find("k") != kept {
		t.Errorf("%s, %v", kept, err)
	}
	if again, err := c.keep(other, "k"); err != nil || again != kept {
		t.Errorf("the second is %s, %v", again, err)
	}
	living, err := c.Temp()
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(c.Dir, "tmp-999999999-x")
	if err := os.MkdirAll(filepath.Join(left, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(left, 0o500); err != nil {
		t.Fatal(err)
	}
	removed, err := c.Clean(false)
	if err != nil || len(removed) != 1 || !strings.HasSuffix(removed[0], "tmp-999999999-x") {
		t.Errorf("%q %v", removed, err)
	}
	if removed, err = c.Clean(true); err != nil || len(removed) != 1 || removed[0] != kept {
		t.Errorf("%q %v", removed, err)
	}
	if _, err := os.Stat(living); err != nil {
		t.Error("what a living process makes was removed")
	}
}

func TestCheckout(t *testing.T) {
	top := t.TempDir()
	for name, text := range map[string]string{"package.json": `{"name":"@me/notes"}`, "py/pyproject.toml": "[project]\nname='My_Notes'\n", "py/sub/mcp.json": "{}", ".git/HEAD": ""} {
		if err := os.MkdirAll(filepath.Join(top, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ kind, name, want string }{
		{KindNPM, "@me/notes", top}, {KindNPM, "notes", ""}, {KindPyPI, "my.notes", filepath.Join(top, "py")}, {KindPyPI, "other", ""}, {KindOCI, "@me/notes", ""},
	} {
		if got := Checkout(Spec{Kind: c.kind, Name: c.name}, filepath.Join(top, "py", "sub")); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.name, got, c.want)
		}
	}
}

// An archive of a source is one directory, and nothing of it lands elsewhere.
func TestSourcesAreHostile(t *testing.T) {
	outside := t.TempDir()
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644} }
	write := func(name string, headers ...tar.Header) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(archive(t, headers...))
		_ = z.Close()
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, headers := range map[string][]tar.Header{
		"up":             {file("notes-1/../../x")},
		"absolute":       {file(outside + "/x")},
		"through a link": {{Typeflag: tar.TypeSymlink, Name: "notes-1/l", Linkname: outside}, file("notes-1/l/x")},
		"a hard link":    {{Typeflag: tar.TypeLink, Name: "notes-1/l", Linkname: "../../etc/passwd"}},
	} {
		if _, err := unpackSource(write("x.tar.gz", headers...), "x.tar.gz", t.TempDir()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("written outside: %v %v", left, err)
	}
	good, dir := write("x.tar.gz", file("notes-1/src/a.py"), file("PKG-INFO")), t.TempDir()
	if _, err := unpackSource(good, "x.tar.gz", dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "src", "a.py")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"x.tar.xz", "x.zip", "x.exe"} {
		if _, err := unpackSource(good, name, t.TempDir()); err == nil {
			t.Errorf("%s was unpacked", name)
		}
	}
}

// What a build names is asked for only where the source names it too.
func TestOnlyWhatTheSourceNamesIsFetched(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "setup.py"), []byte("install_requires=['Requests_HTML>=2', \"anyio\"], x = requests.get()"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ spec, requires, want string }{
		{"notes", "anyio>=4", "[anyio>=4]"}, {"notes", "requests-html", "[requests-html]"}, {"notes", "requests", "does not"}, {"notes", "x3kq", "does not"},
		{"notes", "anyio @ https://h/x", "no index has"}, {"notes", "anyio; extra == 'cli'", "[]"}, {"notes[cli]", "anyio>=4 ; extra == 'cli'", "[anyio>=4 ]"}, {"notes[cli]", "y9 ; extra == 'cli'", "does not"},
	} {
		tree := &Tree{Spec: Spec{Kind: KindPyPI, Name: c.spec}, Host: dir}
		wanted, err := tree.wanted(&metadata{requires: []string{c.requires}})
		got := fmt.Sprint(wanted)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s wants %q: %s, want %s", c.spec, c.requires, got, c.want)
		}
	}
}

func FuzzMetadata(f *testing.F) {
	f.Add("Metadata-Version: 2.1\nName: notes\nVersion: 1.0\nRequires-Dist: anyio>=4\n\nRequires-Dist: text\n")
	f.Add("Name: --index-url=x\nVersion: 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMetadata(strings.NewReader(text))
		if err == nil && (!pypiName.MatchString(m.name) || !pypiVer.MatchString(m.version) || len(m.requires) > maxRequires) {
			t.Errorf("%+v", m)
		}
	})
}

// What says that it is larger than a tree may be is not unpacked, in any kind of archive.
func TestTooLargeIsRefused(t *testing.T) {
	var tarred, zipped bytes.Buffer
	if err := tar.NewWriter(&tarred).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a/x", Mode: 0o644, Size: maxTree + 1}); err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(&zipped)
	if _, err := z.CreateRaw(&zip.FileHeader{Name: "a/x", Method: zip.Store, UncompressedSize64: maxTree + 1}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	_, _ = g.Write(tarred.Bytes())
	_ = g.Close()
	dir := t.TempDir()
	for name, data := range map[string][]byte{"x.tar.gz": packed.Bytes(), "x.zip": zipped.Bytes(), "x.whl": zipped.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	wheel, err := root.Open("x.whl")
	if err != nil {
		t.Fatal(err)
	}
	defer wheel.Close()
	second := func(_ []string, err error) error { return err }
	few := &budget{files: 1, bytes: 10}
	for name, err := range map[string]error{
		"built":    second(NewBuilt(&tarred).Tree(t.TempDir(), "")),
		"tar":      second(unpackSource(filepath.Join(dir, "x.tar.gz"), "x.tar.gz", t.TempDir())),
		"zip":      second(unpackSource(filepath.Join(dir, "x.zip"), "x.zip", t.TempDir())),
		"wheel":    unpackWheel(root, wheel, debian, fullBudget()),
		"a second": errors.Join(few.take(10), few.take(0)),
	} {
		if err == nil || !strings.Contains(err.Error(), "more than 2048 MiB or 500000 files") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
