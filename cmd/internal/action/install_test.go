//go:build linux

package action

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// archive is a release's: its program says a version.
func archive(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	tw := tar.NewWriter(gz)
	program := "#!/bin/sh\necho coalmine 1.2.3\n"
	if err := tw.WriteHeader(&tar.Header{Name: "coalmine", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	if _, err := tw.Write([]byte(program)); err != nil {
		t.Fatal(err)
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// releases serves one release, the newest, with a checksum of its own, and counts
// what it is asked.
func releases(t *testing.T, data []byte) (url string, asked *atomic.Int32) {
	t.Helper()
	name := "coalmine_1.2.3_linux_" + runtime.GOARCH + ".tar.gz"
	mux := http.NewServeMux()
	mux.HandleFunc("/releases/latest", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/releases/tag/v1.2.3", http.StatusFound)
	})
	mux.HandleFunc("/releases/tag/v1.2.3", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/releases/download/v1.2.3/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
	mux.HandleFunc("/releases/download/v1.2.3/checksums.txt", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(data), name)
	})
	asked = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/releases", asked
}

// install runs the action's first step.
func install(t *testing.T, path, releases string, values map[string]string) (*job, int) {
	t.Helper()
	j := newJob(t, path)
	j.env["RELEASES"] = releases
	j.values["github.action_path"] = sandboxtest.ModuleRoot(t)
	for _, name := range []string{"github.action_ref", "inputs.version", "inputs.checksum", "inputs.token", "inputs.attestation"} {
		j.values[name] = values[name]
	}
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(caches))
	j.runner = []string{"GOCACHE=" + dirs[0], "GOMODCACHE=" + dirs[1]}
	status, _ := j.step(0, load(t).Runs.Steps[0])
	return j, status
}

// A release is what the workflow's own checksum says, and not what its server says.
func TestInstallARelease(t *testing.T) {
	t.Parallel()
	sandboxtest.Need(t, "curl")
	data := archive(t)
	right := fmt.Sprintf("%x", sha256.Sum256(data))
	for _, c := range []struct {
		name, version, checksum string
		status                  int
	}{
		{"a version", "1.2.3", right, 0},
		{"with a v", "v1.2.3", right, 0},
		{"another file", "1.2.3", strings.Repeat("0", 64), 2},
		{"no checksum", "1.2.3", "", 2},
		{"a checksum of another form", "1.2.3", strings.ToUpper(right), 2},
		{"the newest", "latest", "", 2},
		{"the newest, with a checksum", "latest", right, 2},
		{"a checksum of no release", "installed", right, 2},
		{"a checksum of the source", "", right, 2},
		{"no such release", "9.9.9", right, 2},
		{"a path", "1.2.3/../../x", right, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, _ := releases(t, data)
			j, status := install(t, "/usr/bin:/bin", url, map[string]string{"inputs.version": c.version, "inputs.checksum": c.checksum, "inputs.attestation": "unchecked"})
			if status != c.status {
				t.Fatalf("status %d\n%s", status, j.log)
			}
			installed := strings.Contains(j.log, "coalmine 1.2.3") && strings.HasPrefix(j.path, j.temp)
			if installed != (c.status == 0) {
				t.Errorf("installed: %v\n%s", installed, j.log)
			}
		})
	}
}

// A release is also what the project's own workflow attested, unless a workflow says that it
// does without.
func TestInstallChecksTheAttestation(t *testing.T) {
	t.Parallel()
	sandboxtest.Need(t, "curl")
	data := archive(t)
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	if d := load(t).Inputs; *d["token"].Default != "${{ github.token }}" || *d["attestation"].Default != "required" {
		t.Errorf("by default the token is %q and the attestation %q", *d["token"].Default, *d["attestation"].Default)
	}
	for _, c := range []struct {
		name, asked, token, gh string
		status                 int
		said                   string
	}{
		{"attested", "required", "t", "exit 0", 0, "attestation verify"},
		{"not attested", "required", "t", "exit 1", 2, "has no attestation of coalmine's own workflow"},
		{"no token", "required", "", "exit 0", 2, "the attestation needs the input token"},
		{"no gh", "required", "t", "", 2, "the attestation needs gh on the runner"},
		{"unchecked", "unchecked", "t", "exit 1", 0, "was not checked"},
		{"unchecked without gh", "unchecked", "", "", 0, "was not checked"},
		{"another word", "false", "t", "exit 0", 2, "neither required nor unchecked"},
		{"no word", "", "t", "exit 0", 2, "neither required nor unchecked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := withoutGH(t)
			if c.gh != "" {
				bin := t.TempDir()
				sandboxtest.WriteProgram(t, filepath.Join(bin, "gh"), []byte("#!/bin/sh\necho \"$@\"\n"+c.gh+"\n"))
				path = bin + ":" + path
			}
			url, _ := releases(t, data)
			j, status := install(t, path, url, map[string]string{"inputs.version": "1.2.3", "inputs.checksum": sum, "inputs.token": c.token, "inputs.attestation": c.asked})
			if status != c.status || !strings.Contains(j.log, c.said) || (j.path != path) != (status == 0) {
				t.Errorf("status %d\n%s", status, j.log)
			}
		})
	}
}

// withoutGH is a directory with the programs of the step, but without gh.
func withoutGH(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"bash", "sh", "cat", "mktemp", "uname", "curl", "sha256sum", "tar", "gzip"} {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%v", err)
		}
		if err := os.Symlink(at, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
