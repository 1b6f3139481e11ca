package since

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a fresh one with a commit on main, and a branch with another.
func repository(t *testing.T) (dir string, git func(args ...string)) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = t.TempDir()
	git = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	write(t, dir, "server/index.js", "1\n")
	write(t, dir, "other/index.js", "1\n")
	write(t, dir, "coalmine.yaml", "tools: {}\n")
	git("add", "-A")
	git("commit", "-qm", "one")
	git("checkout", "-qb", "change")
	return dir, git
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
	dir, git := repository(t)
	ctx := context.Background()
	write(t, dir, "coalmine.yaml", "tools: {}\nsuppress: []\n")
	git("commit", "-qam", "allow myself")
	// What main does meanwhile is none of the change's business.
	git("checkout", "-q", "main")
	write(t, dir, "other/index.js", "2\n")
	git("commit", "-qam", "two")
	git("checkout", "-q", "change")
	b, err := Open(ctx, dir, "main")
	if err != nil {
		t.Fatal(err)
	}
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
	if changed("other") {
		t.Error("an ignored file is a change")
	}
	write(t, dir, "other/index.js", "3\n")
	if !changed("other") {
		t.Error("what is not yet committed is no change")
	}
}

// A repository's own settings run nothing, and a ref is no option.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	dir, git := repository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	write(t, dir, ".gitattributes", "*.js diff=x filter=x\n")
	git("config", "diff.x.command", "touch "+ran)
	git("config", "diff.x.textconv", "touch "+ran+";")
	git("config", "core.fsmonitor", "touch "+ran+";")
	write(t, dir, "server/index.js", "2\n")
	ctx := context.Background()
	b, err := Open(ctx, dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := b.Changed(ctx, filepath.Join(dir, "server")); err != nil || !c {
		t.Errorf("%t %v", c, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("something of the repository ran")
	}
	for _, ref := range []string{"--output=x", "nothing", "", "-h"} {
		if _, err := Open(ctx, dir, ref); err == nil || strings.Contains(err.Error(), "usage") {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if _, err := Open(ctx, t.TempDir(), "main"); err == nil {
		t.Error("no repository is one")
	}
}

func TestALinkIsNoFile(t *testing.T) {
	dir, git := repository(t)
	git("checkout", "-q", "main")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	git("add", "-A")
	git("commit", "-qm", "link")
	ctx := context.Background()
	b, err := Open(ctx, dir, "main")
	if err != nil {
		t.Fatal(err)
	}
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
