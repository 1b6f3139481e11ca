package sandboxtest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Registry is an npm registry on the loopback address that has only what it is given.
type Registry struct {
	*httptest.Server
	mu       sync.Mutex
	packages map[string]*published
	// Token, if not "", is what requests have to bear.
	Token string
	asked []string
}

type published struct {
	versions map[string]json.RawMessage
	latest   string
	tarballs map[string][]byte
}

// ServeRegistry starts a registry.
func ServeRegistry(t testing.TB) *Registry {
	t.Helper()
	r := &Registry{packages: map[string]*published{}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

// NewRegistry starts a registry, and makes it this test's npm's.
func NewRegistry(t *testing.T) *Registry {
	t.Helper()
	r := ServeRegistry(t)
	t.Setenv("npm_config_registry", r.URL+"/")
	t.Setenv("npm_config_cache", t.TempDir())
	t.Setenv("npm_config_userconfig", filepath.Join(t.TempDir(), "npmrc"))
	t.Setenv("NO_PROXY", "127.0.0.1,localhost")
	return r
}

// Asked are the paths that were asked for.
func (r *Registry) Asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

// Publish adds a package: its package.json, and files by their names.
func (r *Registry) Publish(t testing.TB, manifest string, files map[string]string) {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(manifest), &m); err != nil {
		t.Fatal(err)
	}
	name, version := m["name"].(string), m["version"].(string)
	all := maps.Clone(files)
	if all == nil {
		all = map[string]string{}
	}
	all["package.json"] = manifest
	ball := tarball(t, all)
	one, two := sha1.Sum(ball), sha512.Sum512(ball)
	file := fmt.Sprintf("%s-%s.tgz", strings.ReplaceAll(name, "/", "-"), version)
	m["dist"] = map[string]string{
		"tarball": r.URL + "/" + name + "/-/" + file, "shasum": hex.EncodeToString(one[:]), "integrity": "sha512-" + base64.StdEncoding.EncodeToString(two[:]),
	}
	scripts, _ := m["scripts"].(map[string]any)
	m["hasInstallScript"] = scripts["install"] != nil || scripts["preinstall"] != nil || scripts["postinstall"] != nil
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.packages[name]
	if p == nil {
		p = &published{versions: map[string]json.RawMessage{}, tarballs: map[string][]byte{}}
		r.packages[name] = p
	}
	p.versions[version], p.latest, p.tarballs[file] = raw, version, ball
}

// Spoil changes the archive of a package behind its hash.
func (r *Registry) Spoil(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for file, ball := range r.packages[name].tarballs {
		r.packages[name].tarballs[file] = append(slices.Clone(ball), 0)
	}
}

func (r *Registry) serve(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	path, _ := url.PathUnescape(strings.TrimPrefix(req.URL.EscapedPath(), "/"))
	r.asked = append(r.asked, path)
	if r.Token != "" && req.Header.Get("Authorization") != "Bearer "+r.Token {
		http.Error(w, `{"error":"unauthorized"}`, http.StatusUnauthorized)
		return
	}
	name, file, isFile := strings.Cut(path, "/-/")
	p := r.packages[name]
	switch {
	case p == nil:
		http.Error(w, `{"error":"not_found"}`, http.StatusNotFound)
	case isFile && p.tarballs[file] != nil:
		_, _ = w.Write(p.tarballs[file])
	case isFile:
		http.Error(w, "no such file", http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"name": name, "dist-tags": map[string]string{"latest": p.latest}, "versions": p.versions})
	}
}

func tarball(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	a := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := a.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "package/" + name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		_, _ = a.Write([]byte(files[name]))
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Wheel writes a wheel of a pure Python package into a directory: files by their
// names, and entry points as "NAME = MODULE:FUNCTION".
func Wheel(t *testing.T, dir, name, version string, requires []string, scripts string, files map[string]string) {
	t.Helper()
	under := strings.ReplaceAll(name, "-", "_")
	info := fmt.Sprintf("%s-%s.dist-info/", under, version)
	all := maps.Clone(files)
	meta := fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version)
	for _, r := range requires {
		meta += "Requires-Dist: " + r + "\n"
	}
	all[info+"METADATA"] = meta
	all[info+"WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
	if scripts != "" {
		all[info+"entry_points.txt"] = "[console_scripts]\n" + scripts + "\n"
	}
	record := ""
	for n := range all {
		record += n + ",,\n"
	}
	all[info+"RECORD"] = record + info + "RECORD,,\n"
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, n := range slices.Sorted(maps.Keys(all)) {
		w, err := z.Create(n)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(all[n]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s-py3-none-any.whl", under, version)), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
