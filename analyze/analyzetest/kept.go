package analyzetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// UnpackRun writes the run of an archive of testdata/runs into dir, and returns the
// reports that are kept with it, by their file names.
func UnpackRun(t testing.TB, archive, dir string) map[string][]byte {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	reports := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return reports
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if report, ok := strings.CutPrefix(h.Name, "reports/"); ok {
			reports[report] = data
			continue
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(h.Name, "run/")))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// RepackRun writes an archive of testdata/runs anew: the run stays byte for byte, and the
// reports are those given.
func RepackRun(t testing.TB, archive string, reports map[string][]byte) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	packed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(packed)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if now, ok := reports[strings.TrimPrefix(h.Name, "reports/")]; ok && strings.HasPrefix(h.Name, "reports/") {
			data, h.Size = now, int64(len(now))
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), packed.Close(), os.WriteFile(archive, out.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}
