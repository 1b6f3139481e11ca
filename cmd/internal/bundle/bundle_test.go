package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/attest"
)

const token = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"

func run(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(filepath.Join(dir, "second"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"session.jsonl":        `{"frame": {"key": "` + token + `"}}` + "\n" + strings.Repeat("x", 3<<20) + "\nend",
		"second/session.jsonl": "{}\n", "report.json": "{}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func pack(t *testing.T, o Options, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	o.Created = time.Unix(1, 0)
	if _, err := Pack(&b, names, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// repack changes an archive's files, by their names; nil takes one away.
func repack(t *testing.T, archive []byte, change map[string][]byte) []byte {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	to := gzip.NewWriter(&b)
	in, out := tar.NewReader(zip), tar.NewWriter(to)
	for {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		data, readErr := io.ReadAll(in)
		if err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		if text, ok := change[h.Name]; ok {
			data, h.Size = text, int64(len(text))
		}
		if data == nil {
			continue
		}
		if err := out.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if out.Close() != nil || to.Close() != nil {
		t.Fatal("it cannot be closed")
	}
	return b.Bytes()
}

// pair makes a key that signs, and what trusts it.
func pair(t *testing.T) (*attest.Signer, []*attest.Verifier) {
	t.Helper()
	private, public, err := attest.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	signer, err := attest.ParseSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := attest.ParseVerifiers(public)
	if err != nil {
		t.Fatal(err)
	}
	return signer, trusted
}

// A bundle is verified to its last byte, and by the key that signed it.
func TestBundle(t *testing.T) {
	t.Parallel()
	private, public := pair(t)
	_, other := pair(t)
	whole := pack(t, Options{Version: "v1", Key: private}, run(t))
	for name, c := range map[string]struct {
		archive []byte
		key     []*attest.Verifier
		fault   string
	}{
		"whole":             {whole, public, ""},
		"without a key":     {whole, nil, ""},
		"another key":       {whole, other, "signature"},
		"changed":           {repack(t, whole, map[string][]byte{"run/report.json": []byte("[]")}), public, "run/report.json was changed"},
		"a file taken away": {repack(t, whole, map[string][]byte{"run/report.json": nil}), public, "run/report.json is missing"},
		"no signature":      {repack(t, whole, map[string][]byte{signatureName: nil}), public, "signature"},
	} {
		v, err := Verify(bytes.NewReader(c.archive), c.key)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := strings.Join(v.Faults, "; ")
		if (got == "") != (c.fault == "") || !strings.Contains(got, c.fault) || len(v.Manifest.Files) != 3 {
			t.Errorf("%s: %q, want %q", name, got, c.fault)
		}
	}
	for _, text := range []string{"", "x", string(whole[:len(whole)/2])} {
		if _, err := Verify(strings.NewReader(text), nil); err == nil {
			t.Errorf("%d bytes are a bundle", len(text))
		}
	}
}

// A redacted bundle holds no secret, and names the hash of what it was made from.
func TestBundleIsRedacted(t *testing.T) {
	t.Parallel()
	archive := pack(t, Options{Redact: true}, run(t))
	zip, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte(token)) || !bytes.Contains(text, []byte("redacted")) || !bytes.Contains(text, []byte(tooLong+"\nend")) {
		t.Errorf("%d bytes hold the secret, or more was taken out", len(text))
	}
	v, err := Verify(bytes.NewReader(archive), nil)
	if err != nil || len(v.Faults) > 0 || !v.Manifest.Redacted || slices.ContainsFunc(v.Manifest.Files, func(f File) bool { return len(f.Original) != 64 }) {
		t.Errorf("%+v %v", v, err)
	}
}

// No link is followed, and no name stands twice.
func TestBundleTakesRegularFiles(t *testing.T) {
	t.Parallel()
	dir := run(t)
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "session.jsonl")
	for _, names := range [][]string{{dir}, {filepath.Join(dir, "link")}, {log, log}, {filepath.Join(dir, "none")}} {
		if _, err := Pack(io.Discard, names, Options{}); err == nil {
			t.Errorf("%q is packed", names)
		}
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if v, err := Verify(bytes.NewReader(data), nil); err == nil && v.Manifest == nil {
			t.Error("no manifest and no error")
		}
	})
}
