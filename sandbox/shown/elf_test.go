//go:build unix

package shown

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestIsELF(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"program": "\x7fELF\x02\x01", "head": "\x7fELF", "cut": "\x7fEL", "script": "#!/bin/sh\n", "empty": ""} {
		write(t, filepath.Join(dir, name), text)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"program": true, "head": true, "cut": false, "script": false, "empty": false, "pipe": false, ".": false, "none": false} {
		if got := IsELF(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
