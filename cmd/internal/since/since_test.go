package since

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// template is a repository with a commit on main, and a branch change, made once.
var template = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "since-template-*")
	if err != nil {
		return "", err
	}
	for name, data := range map[string]string{"server/index.js": "1\n", "other/index.js": "1\n", "coalmine.yaml": "tools: {}\n"} {
		name = filepath.Join(dir, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(data), 0o644))
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "one"}, {"checkout", "-qb", "change"}} {
		err = errors.Join(err, gitIn(dir, args...))
	}
	return dir, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := template(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// gitIn runs the machine's git, as a user would.
func gitIn(dir string, args ...string) error {
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return nil
}

// newRepository is a fresh one with a commit on main, and a branch change.
func newRepository(t *testing.T) (dir string, git func(args ...string)) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	from, err := template()
	dir = t.TempDir()
	if err == nil {
		err = os.CopyFS(dir, os.DirFS(from))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, func(args ...string) {
		t.Helper()
		if err := gitIn(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// base opens the merge base with main until the test ends.
func base(t *testing.T, dir string) *Base {
	t.Helper()
	b, err := Open(context.Background(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func write(t *testing.T, dir, name, data string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheMergeBaseHolds(t *testing.T) {
	dir, git := newRepository(t)
	ctx := context.Background()
	write(t, dir, "coalmine.yaml", "tools: {}\nsuppress: []\n")
	git("commit", "-qam", "allow myself")
	// What main does meanwhile is none of the change's business.
	git("checkout", "-q", "main")
	write(t, dir, "other/index.js", "2\n")
	git("commit", "-qam", "two")
	git("checkout", "-q", "change")
	b := base(t, dir)
	data, ok, err := b.File(ctx, filepath.Join(dir, "coalmine.yaml"))
	if err != nil || !ok || string(data) != "tools: {}\n" {
		t.Errorf("%q %t %v", data, ok, err)
	}
	if _, ok, err := b.File(ctx, filepath.Join(dir, "nowhere.yaml")); ok || err != nil {
		t.Errorf("%t %v", ok, err)
	}
	if _, _, err := b.File(ctx, filepath.Join(t.TempDir(), "x")); !errors.Is(err, ErrOutside) {
		t.Errorf("%v", err)
	}
	changed := func(what string) bool {
		t.Helper()
		c, err := b.Changed(ctx, filepath.Join(dir, what))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if changed("server") || changed("other") {
		t.Error("what was not touched is changed")
	}
	write(t, dir, "server/new.js", "x")
	if !changed("server") {
		t.Error("a new file is no change")
	}
	write(t, dir, ".gitignore", "*.log\n")
	write(t, dir, "other/x.log", "x")
	if !changed("other") {
		t.Error("an ignored file is no change")
	}
	if err := os.Remove(filepath.Join(dir, "other/x.log")); err != nil {
		t.Fatal(err)
	}
	if changed("other") {
		t.Error("what was put back is changed")
	}
	write(t, dir, "other/index.js", "3\n")
	if !changed("other") {
		t.Error("what is not yet committed is no change")
	}
}

func TestALinkIsNoFile(t *testing.T) {
	dir, git := newRepository(t)
	git("checkout", "-q", "main")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	git("add", "-A")
	git("commit", "-qm", "link")
	ctx := context.Background()
	b := base(t, dir)
	if _, ok, err := b.File(ctx, filepath.Join(dir, "link.yaml")); ok || err == nil {
		t.Errorf("%t %v", ok, err)
	}
}

func TestFirstDifference(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "x", 1}, {"a\nb\n", "a\nc\n", 2}, {"a\n", "a\nb\n", 2}, {"a\nb", "a\nb", 2}} {
		if got := FirstDifference([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%q and %q: %d", c.a, c.b, got)
		}
	}
}
