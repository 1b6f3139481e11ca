package prepare

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

var name = "ab/" + strings.Repeat("0", 62)

func packed(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	answers := fstest.MapFS{name: {Data: []byte("an answer")}, "tmp-left": {Data: []byte("half")}, "ab/other": {Data: []byte("x")}}
	m := Manifest{Version: "1", Created: time.Unix(1_800_000_000, 0).UTC(), Targets: []Target{{Name: "npm:a@1"}}, Images: []string{"coalmine"}}
	if err := Write(&out, m, answers, strings.NewReader("layers"), 6); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archives")
	for range 2 { // what is there stays
		var images string
		m, err := Read(bytes.NewReader(packed(t)), dir, func(r io.Reader) error {
			data, err := io.ReadAll(r)
			images = string(data)
			return err
		})
		if err != nil || images != "layers" || m.Targets[0].Name != "npm:a@1" || m.Images[0] != "coalmine" {
			t.Fatalf("%+v, %q, %v", m, images, err)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || string(data) != "an answer" {
		t.Errorf("%q, %v", data, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestHostileArchives(t *testing.T) {
	t.Parallel()
	one := func(headers ...tar.Header) []byte {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		for _, h := range headers {
			body := []byte(`{"schema":"` + Schema + `"}`)
			if h.Typeflag != tar.TypeReg {
				body = nil
			}
			h.Size, h.Mode = int64(len(body)), 0o600
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(body); err != nil {
				t.Fatal(err)
			}
		}
		return out.Bytes()
	}
	head := tar.Header{Typeflag: tar.TypeReg, Name: manifestName}
	for what, archive := range map[string][]byte{
		"nothing":           nil,
		"no tar":            []byte(strings.Repeat("x", 2000)),
		"no manifest":       one(tar.Header{Typeflag: tar.TypeReg, Name: answersDir + "/" + name}),
		"another name":      one(head, tar.Header{Typeflag: tar.TypeReg, Name: "archives/../../etc/passwd"}),
		"a name above":      one(head, tar.Header{Typeflag: tar.TypeReg, Name: "../" + name}),
		"a link":            one(head, tar.Header{Typeflag: tar.TypeSymlink, Name: answersDir + "/" + name, Linkname: "/etc/passwd"}),
		"a broken archive":  packed(t)[:1200],
		"of another schema": bytes.Replace(packed(t), []byte(Schema), []byte("coalmine/prepared/v9"), 1),
	} {
		dir := t.TempDir()
		if _, err := Read(bytes.NewReader(archive), dir, func(io.Reader) error { return nil }); !errors.Is(err, ErrFormat) && what != "a broken archive" || err == nil {
			t.Errorf("%s: %v", what, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 1 {
			t.Errorf("%s: left %v, %v", what, entries, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(packed(f))
	f.Fuzz(func(t *testing.T, archive []byte) {
		above := t.TempDir()
		dir := filepath.Join(above, "cache")
		_, _ = Read(bytes.NewReader(archive), dir, func(io.Reader) error { return nil })
		if entries, err := os.ReadDir(above); err != nil || len(entries) > 1 {
			t.Fatalf("wrote beside the cache: %v, %v", entries, err)
		}
	})
}
