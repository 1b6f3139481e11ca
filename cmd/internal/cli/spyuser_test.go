package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// Whoever owns what spy goes on to work on is whom it becomes, and nobody where that is nothing.
func TestOwnerOf(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	of := func(name string, uid int) string {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, uid, uid+1); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other, roots, groups := of("other", 4711), of("roots", 0), of("groups", 4711)
	if err := os.Chown(groups, 4711, 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		out  string
		pids []int
		want account
		why  bool
	}{
		{"", nil, nobody, false},
		{other, nil, account{4711, 4712}, false},
		{groups, nil, account{4711, nobody.gid}, false},
		{roots, nil, account{}, true},
		{filepath.Join(dir, "missing"), nil, account{}, true},
		{"", []int{os.Getpid()}, account{}, true},
		{other, []int{os.Getpid()}, account{}, true},
	} {
		if got, why := ownerOf(c.out, c.pids); got != c.want || (why != "") != c.why {
			t.Errorf("%s, %d: %v, %q", c.out, c.pids, got, why)
		}
	}
}

func TestBecomes(t *testing.T) {
	if os.Geteuid() != 0 {
		if _, _, err := becomes("nobody", "", nil); err == nil {
			t.Error("who is not root becomes another user")
		}
		return
	}
	t.Setenv("SUDO_UID", "4711")
	t.Setenv("SUDO_GID", "4712")
	if as, _, err := becomes("", "/", nil); as != (account{4711, 4712}) || err != nil {
		t.Errorf("under sudo: %v, %v", as, err)
	}
	if as, why, err := becomes("root", "", nil); as != (account{}) || why != "" || err != nil {
		t.Errorf("--run-as root: %v, %q, %v", as, why, err)
	}
	if _, _, err := becomes("no such user", "", nil); err == nil {
		t.Error("an unknown user")
	}
	t.Setenv("SUDO_UID", "")
	if as, _, err := becomes("", "", nil); as.uid == 0 || err != nil {
		t.Errorf("plain root: %v, %v", as, err)
	}
}
