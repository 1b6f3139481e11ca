package sweep

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// What a worker sends makes files below the run's directory, and nothing else anywhere.
func FuzzUnpack(f *testing.F) {
	add := func(headers ...tar.Header) {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			if err := w.WriteHeader(&h); err != nil {
				f.Fatal(err)
			}
			_, _ = w.Write([]byte("x")[:h.Size])
		}
		_ = w.Close()
		f.Add(b.Bytes())
	}
	add(tar.Header{Typeflag: tar.TypeReg, Name: "index.json", Size: 1}, tar.Header{Typeflag: tar.TypeReg, Name: "build/session.jsonl", Size: 1})
	add(tar.Header{Typeflag: tar.TypeReg, Name: "../x", Size: 1})
	add(tar.Header{Typeflag: tar.TypeSymlink, Name: "build", Linkname: "/tmp"}, tar.Header{Typeflag: tar.TypeReg, Name: "build/x", Size: 1})
	add(tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: 1}, tar.Header{Typeflag: tar.TypeReg, Name: "a/b", Size: 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		sum := int64(0)
		for r := tar.NewReader(bytes.NewReader(data)); ; {
			h, err := r.Next()
			if err != nil {
				break
			}
			sum += h.Size
		}
		if sum > 1<<20 {
			t.Skip("a sparse file, which the bound on all files holds")
		}
		around := t.TempDir()
		dir := filepath.Join(around, "run")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		unpackErr := unpack(bytes.NewReader(data), root)
		if err := filepath.WalkDir(around, func(name string, e fs.DirEntry, err error) error {
			if err == nil && filepath.Dir(name) == around && name != dir || !e.IsDir() && !e.Type().IsRegular() {
				t.Errorf("%s was made: %v", name, e.Type())
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if unpackErr != nil {
			return
		}
		// What was taken is packed again.
		var again bytes.Buffer
		if err := pack(root, &again); err != nil {
			t.Error(err)
		}
	})
}
