package sandboxtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// build builds a program below the user's cache, where go links it only if it has
// changed, and copies it. Test processes take turns.
func build(t testing.TB, module, pkg, to string) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	key := sha256.Sum256([]byte(module + "\x00" + pkg))
	dir := filepath.Join(cache, "coalmine", "fixtures", fmt.Sprintf("%x", key[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		t.Fatalf("lock %s: %v", lock.Name(), err)
	}
	kept := filepath.Join(dir, filepath.Base(pkg))
	goBuild(t, module, pkg, kept)
	data, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	WriteProgram(t, to, data)
}
