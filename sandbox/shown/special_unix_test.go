//go:build unix

package shown

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLookHidesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "server.py"), "print()")
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mknod(filepath.Join(dir, "socket"), unix.S_IFSOCK|0o600, 0); err != nil {
		t.Fatal(err)
	}
	v, err := Look(t.Context(), Request{Dir: dir})
	if err != nil || !slices.Equal(v.Hidden, []string{"pipe", "socket"}) {
		t.Errorf("hidden: %q, %v", v.Hidden, err)
	}
}
