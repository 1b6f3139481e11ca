package shown

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The tree is found through a link to it, and no link in it is followed.
func TestNamed(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{"bin/tool", "etc/id_rsa", ".ssh/config", ".ssh/deeper/known", "share/README"} {
		write(t, filepath.Join(dir, name), "")
	}
	write(t, filepath.Join(outside, "id_rsa"), "")
	for from, to := range map[string]string{"elsewhere": outside, "up": "..", "id_ed25519": filepath.Join(outside, "id_rsa")} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	// The name of a socket has to be short.
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	link := filepath.Join(short, "tree")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	s, err := net.Listen("unix", filepath.Join(link, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, from := range []string{dir, dir + "/", link} {
		want := []string{".ssh/config", ".ssh/deeper/known", "etc/id_rsa", "s"}
		for i := range want {
			want[i] = filepath.Join(from, want[i])
		}
		if got, err := Named(from); err != nil || !slices.Equal(got, want) {
			t.Errorf("below %s: %q, %v, want %q", from, got, err, want)
		}
	}
	if _, err := Named(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing tree has no error")
	}
}
