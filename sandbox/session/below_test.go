package session

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A file of a directory of others' making is opened only where it is a regular one, and within the directory.
func TestOpenBelow(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := errors.Join(
		os.WriteFile(filepath.Join(outside, "log"), []byte("out"), 0o600),
		os.WriteFile(filepath.Join(dir, "log"), []byte("in"), 0o600),
		os.Mkdir(filepath.Join(dir, "second"), 0o700),
		os.WriteFile(filepath.Join(dir, "second", "log"), []byte("second"), 0o600),
		os.Symlink("log", filepath.Join(dir, "link")),
		os.Symlink(filepath.Join(outside, "log"), filepath.Join(dir, "away")),
		os.Symlink(outside, filepath.Join(dir, "elsewhere")),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"log": "in", "second/log": "second", "second": "", "link": "", "away": "", "elsewhere/log": "", "../log": "", "absent": "",
	} {
		f, err := OpenBelow(dir, name)
		if err != nil {
			if want != "" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		got, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil || string(got) != want {
			t.Errorf("%s: %q, want %q (%v)", name, got, want, err)
		}
	}
	if _, err := OpenBelow(filepath.Join(dir, "absent"), "log"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent directory: %v", err)
	}
}
