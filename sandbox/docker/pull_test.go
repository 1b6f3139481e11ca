//go:build linux && e2e

package docker

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// registry serves one image without a layer's worth of files, and returns its
// name and its digest.
func registry(t *testing.T) (name, digest string) {
	t.Helper()
	blobs := map[string][]byte{}
	add := func(data []byte) string {
		sum := sha256.Sum256(data)
		d := "sha256:" + hex.EncodeToString(sum[:])
		blobs[d] = data
		return d
	}
	var layer bytes.Buffer
	a := tar.NewWriter(&layer)
	if err := a.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "app/", Mode: 0o755}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	content := add(layer.Bytes())
	config := add(fmt.Appendf(nil, `{"architecture":%q,"os":"linux","config":{"Cmd":["/app/notes"],"WorkingDir":"/app"},"rootfs":{"type":"layers","diff_ids":[%q]}}`, runtime.GOARCH, content))
	const kind = "application/vnd.docker.distribution.manifest.v2+json"
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": kind,
		"config": map[string]any{"mediaType": "application/vnd.docker.container.image.v1+json", "size": len(blobs[config]), "digest": config},
		"layers": []any{map[string]any{"mediaType": "application/vnd.docker.image.rootfs.diff.tar", "size": len(blobs[content]), "digest": content}},
	})
	if err != nil {
		t.Fatal(err)
	}
	digest = add(manifest)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, ref, isManifest := strings.Cut(r.URL.Path, "/manifests/")
		_, blob, _ := strings.Cut(r.URL.Path, "/blobs/")
		switch {
		case r.URL.Path == "/v2/":
		case isManifest && (ref == "1" || ref == digest):
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Docker-Content-Digest", digest)
			w.Header().Set("Content-Length", fmt.Sprint(len(manifest)))
			_, _ = w.Write(manifest)
		case blobs[blob] != nil:
			_, _ = w.Write(blobs[blob])
		default:
			http.Error(w, `{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`, http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/notes", digest
}

// An image that is not here is pulled by the user's docker, and named by the
// digest that its registry gives.
func TestPull(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	sandboxtest.Need(t, "docker")
	name, digest := registry(t)
	t.Cleanup(func() {
		if out, err := exec.Command("docker", "rmi", name+":1").CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	var said []string
	for range 2 { // the second is here
		img, err := Pull(t.Context(), name+":1", func(line string) { said = append(said, line) })
		if err != nil {
			t.Fatal(err)
		}
		if img.Digest != digest || !slices.Equal(img.Cmd, []string{"/app/notes"}) || img.Dir != "/app" {
			t.Errorf("%+v, want the digest %s", img, digest)
		}
	}
	if len(said) != 1 {
		t.Errorf("pulled %d times: %q", len(said), said)
	}
	_, err := Pull(t.Context(), name+":2", func(string) {})
	var usage *sandbox.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "cannot be pulled") || !strings.Contains(usage.Hint, "docker login") {
		t.Errorf("%v", err)
	}
}
