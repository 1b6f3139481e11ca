package install

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What decodeLock takes is JSON, and what it keeps is what encoding/json reads of it.
func FuzzDecodeLock(f *testing.F) {
	for _, s := range []string{
		`{"packages":{"":{"version":"1"},"node_modules/a":{"version":"1","integrity":"sha512-AA","link":false}}}`, `{"lockfileVersion":1,"dependencies":{"a":{"requires":{"b":[1,[2]]}}}}`,
		`{"packages":null}`, `null`, `[]`, `{"packages":[]}`, `{"packages":{"a":1}}`, `{} x`, `{"packages":{"a":{}},"packages":{"b":{}}}`, `{"packages":{"a":{"version":"1"},"a":{}}}`, "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := decodeLock(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is no JSON", data)
		}
		var whole struct {
			Packages map[string]json.RawMessage `json:"packages"`
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) != nil || json.Unmarshal(members["packages"], &whole.Packages) != nil {
			return // nothing stands there
		}
		if got, want := slices.Sorted(maps.Keys(l.Packages)), slices.Sorted(maps.Keys(whole.Packages)); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		for name, raw := range whole.Packages {
			var want locked
			if json.Unmarshal(raw, &want) == nil && l.Packages[name] != want {
				t.Errorf("%q: %+v, want %+v", name, l.Packages[name], want)
			}
		}
	})
}

// Whatever a package.json says, each step is one of npm's, starts, and stays below the tree.
func FuzzNPMSteps(f *testing.F) {
	f.Add("node_modules/a", `{"name":"a","version":"1","scripts":{"install":"node x"},"bin":{"x":"../y"}}`)
	f.Add("../a", `{"scripts":{"preinstall":" "}}`)
	f.Add("node_modules/a", `{"name":["a"],"scripts":{"postinstall":"'\n"},"bin":"./x"}`)
	f.Fuzz(func(t *testing.T, path, text string) {
		root := below(t, t.TempDir())
		if filepath.IsLocal(path) && len(path) < 200 && !strings.ContainsRune(path, 0) {
			_ = writeNew(root, filepath.Join(path, manifestNPM), []byte(text)) // or it is no path
		}
		steps, err := checkSteps("x", npmSteps(root, &lock{map[string]locked{path: {}, "": {}}}))
		if err != nil {
			return
		}
		for _, s := range steps {
			if !filepath.IsLocal(s.Dir) || strings.TrimSpace(s.Command) == "" || !slices.Contains(npmEvents, s.Event) || len(s.Command) >= maxStep {
				t.Errorf("%+v", s)
			}
		}
		m, err := readManifest(root, path)
		if err != nil {
			return
		}
		for _, b := range m.bins() {
			if !filepath.IsLocal(b.Path) || strings.ContainsAny(b.Name, "/\\") {
				t.Errorf("%+v", b)
			}
		}
	})
}

// Each word of pip's report is one word of a line of requirements.
func FuzzPipReport(f *testing.F) {
	sum := strings.Repeat("0a", 32)
	f.Add([]byte(`{"install":[{"download_info":{"archive_info":{"hashes":{"sha256":"` + sum + `"}}},"metadata":{"name":"a","version":"1.0"}}]}`))
	f.Add([]byte(`{"install":[{"download_info":{"archive_info":{"hash":"sha256=` + sum + `"}},"metadata":{"name":"a","version":"1.0"}}]}`))
	f.Add([]byte(`{"install":[{"download_info":{"archive_info":{"hash":"sha256=` + sum + `\n--index-url http://a.example"}},"metadata":{"name":"a","version":"1.0"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		wheels, err := decodeReport("x", data)
		if err != nil {
			return
		}
		for _, w := range wheels {
			if line := w.name + w.version + w.sha256; len(w.sha256) != 64 || strings.ContainsAny(line, "\r\n;#=<>'\"\\") {
				t.Errorf("%q", line)
			}
		}
	})
}

// A pyproject.toml of any kind is read or refused, and its words stay words of the command.
func FuzzProject(f *testing.F) {
	f.Add("[build-system]\nrequires = ['setuptools']\nbuild-backend = 'a:b'\nbackend-path = ['..']\n[project]\nname = 'a'\ndynamic = ['scripts']\n")
	f.Add("[tool.hatch.build.hooks.custom]\n[tool.setuptools]\next-modules = []\n")
	f.Add("a = " + strings.Repeat("[", 5000))
	f.Fuzz(func(t *testing.T, text string) {
		root := below(t, t.TempDir())
		if err := writeNew(root, manifestPython, []byte(text)); err != nil {
			t.Fatal(err)
		}
		p, err := readProject(root)
		if err != nil {
			return
		}
		if p == nil {
			t.Fatal("it is there")
		}
		_, _ = p.hooks(), p.static()
	})
}

// Whatever an archive of a source holds, nothing lands outside, and what lands has a regular file's mode.
func FuzzSourceZIP(f *testing.F) {
	outside, unchanged := marked(f)
	for _, s := range [][2]string{{"a-1/setup.py", "x"}, {"a-1/../../x", "x"}, {"/etc/x", "x"}, {"a/b/c", outside}, {"a\\..\\b", ""}, {"a-1/setup.py", "a-1"}} {
		f.Add(s[0], s[1], uint32(0o644))
		f.Add(s[1], s[0], uint32(0o120777)<<16)
	}
	f.Fuzz(func(t *testing.T, first, second string, attributes uint32) {
		if len(first)+len(second) > 300 {
			return
		}
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range []string{first, second} {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name, ExternalAttrs: attributes, CreatorVersion: 3 << 8})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = w.Write([]byte(outside)) // a directory takes nothing
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		archive := filepath.Join(t.TempDir(), "a.zip")
		if err := os.WriteFile(archive, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		_, _ = unpackSource(archive, "a.zip", dir)
		if err := errors.Join(unchanged(), staysInside(dir)); err != nil {
			t.Error(err)
		}
	})
}

// No chain of links that is made leads out, whatever links they lead through.
func FuzzLinks(f *testing.F) {
	outside, unchanged := marked(f)
	f.Add("a", "b", "b", "..", "c", "a/..")
	f.Add("a/b", "../c", "c", "d/e", "d/e", "../../..")
	f.Add("a", outside, "b", "a/marker", "c/d", "../b")
	f.Add("x/a", "..", "x/b", "a/a/..", "c", "x/b/../..")
	f.Fuzz(func(t *testing.T, n1, t1, n2, t2, n3, t3 string) {
		dir := t.TempDir()
		l := &linker{root: below(t, dir), shown: "/work"}
		for _, k := range []link{{n1, t1}, {n2, t2}, {n3, t3}} {
			name, err := entryName(k.name)
			if err != nil || name == "." || len(k.name) > 100 {
				continue
			}
			l.add(name, k.target)
		}
		_ = l.finish() // or they contradict each other
		if err := errors.Join(unchanged(), staysInside(dir)); err != nil {
			t.Error(err)
		}
	})
}

// Whatever go prints of modules, nothing lands outside, and an archive stays only if go.sum has its hash.
func FuzzGoModules(f *testing.F) {
	_, unchanged := marked(f)
	f.Add("modules/example.org/a/@v/v1.0.0.zip", []byte("PK"), "example.org/a v1.0.0 h1:AAAA\n")
	f.Add("modules/../../x/@v/v1.zip", []byte{}, "")
	f.Add("module.json", []byte(`{"Module":{"Path":"a"},"Replace":[{"Old":{"Path":"b"},"New":{"Path":"../c"}}]}`), "a v1/go.mod h1:x\n")
	f.Fuzz(func(t *testing.T, name string, data []byte, sums string) {
		if len(name) > 300 || name == "" || strings.ContainsRune(name, 0) {
			return
		}
		var b bytes.Buffer
		a := tar.NewWriter(&b)
		if a.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644}) != nil {
			return // the format has no such name
		}
		_, _ = a.Write(data)
		_ = a.Close()
		dir := t.TempDir()
		g := &goModules{root: below(t, dir), sums: goSums([]byte(sums))}
		err := g.read(&b)
		_ = g.module.check("x")
		if err := errors.Join(unchanged(), staysInside(dir)); err != nil {
			t.Error(err)
		}
		left, _ := filepath.Glob(filepath.Join(dir, modulesGo, "*", "*", "@v", "*.zip"))
		if err == nil && len(left) > g.count {
			t.Errorf("%q was kept without a hash", left)
		}
	})
}

// A module's archive has the hash of its contents, in whatever order they stand in it.
func FuzzHashModule(f *testing.F) {
	f.Add("a@v1/go.mod", []byte("module a"), "a@v1/a.go", []byte("package a"))
	f.Add("b", []byte{}, "a\n", []byte{})
	f.Fuzz(func(t *testing.T, n1 string, d1 []byte, n2 string, d2 []byte) {
		if n1 == n2 || strings.HasSuffix(n1+n2, "/") || strings.HasSuffix(n1, "/") {
			return
		}
		root := below(t, t.TempDir())
		hash := func(file string, names ...string) (string, error) {
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			for _, name := range names {
				w, err := z.Create(name)
				if err != nil {
					t.Fatal(err)
				}
				data := d1
				if name == n2 {
					data = d2
				}
				_, _ = w.Write(data) // a buffer takes all
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			if err := writeNew(root, file, b.Bytes()); err != nil {
				t.Fatal(err)
			}
			return hashModule(root, file)
		}
		one, errOne := hash("one.zip", n1, n2)
		two, errTwo := hash("two.zip", n2, n1)
		if (errOne == nil) != (errTwo == nil) || one != two || errOne == nil && (!strings.HasPrefix(one, "h1:") || len(one) != 47) {
			t.Errorf("%q %v, %q %v", one, errOne, two, errTwo)
		}
	})
}

func FuzzGoSums(f *testing.F) {
	f.Add("example.org/a v1.0.0 h1:AAAA\nexample.org/a v1.0.0/go.mod h1:BBBB\n")
	f.Fuzz(func(t *testing.T, text string) {
		for module, sum := range goSums([]byte(text)) {
			if strings.Count(module, " ") != 1 || !strings.HasPrefix(sum, "h1:") || strings.HasSuffix(module, "/go.mod") {
				t.Errorf("%q %q", module, sum)
			}
		}
	})
}

// Locks and manifests that are too many or too large together are refused before they fill the memory.
func TestManifestsAreBounded(t *testing.T) {
	root := below(t, t.TempDir())
	spaces := bytes.Repeat([]byte(" "), 20<<20)
	for i := range 4 {
		if err := writeNew(root, fmt.Sprintf("p%d/%s", i, lockNPM), spaces); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := manifestFiles(root, manifestNPM, lockNPM); err == nil || !strings.Contains(err.Error(), "larger than 68 MiB together") {
		t.Errorf("manifests: %v", err)
	}
	var b bytes.Buffer
	b.WriteString(`{"packages":{"":{}`)
	for i := range maxLocked + 1 {
		fmt.Fprintf(&b, `,"node_modules/a%d":{}`, i)
	}
	b.WriteString(`}}`)
	if _, err := decodeLock(b.Bytes()); err == nil || !strings.Contains(err.Error(), "more than 20000 dependencies") {
		t.Errorf("a lock: %v", err)
	}
	for _, text := range []string{strings.Repeat("a", maxStep), strings.Repeat("a", maxStep-10)} {
		if err := writeNew(root, "node_modules/a/"+manifestNPM, []byte(`{"name":"a","scripts":{"install":"`+text+`"}}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := checkSteps("x", npmSteps(root, &lock{map[string]locked{"node_modules/a": {}}})); err == nil {
			t.Errorf("a script of %d bytes", len(text))
		}
	}
	if _, err := checkSteps("x", slices.Repeat([]Step{{Command: strings.Repeat("a", maxStep/2)}}, 100)); err == nil {
		t.Error("scripts of 6 MiB")
	}
}

// The archive of a Go module with a directory that is too long is not opened, as no other ZIP is.
func TestAModulesDirectoryIsBounded(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range maxListed + 1 {
		if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("a@v1/%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	root := below(t, t.TempDir())
	if err := writeNew(root, "a.zip", b.Bytes()); err != nil {
		t.Fatal(err)
	}
	if _, err := hashModule(root, "a.zip"); !errors.Is(err, errDirectory) {
		t.Errorf("%v", err)
	}
}
