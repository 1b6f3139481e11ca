package synth

import (
	"bytes"
	"fmt"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

// noFile is for a server whose source names no file.
func noFile(string) bool { return false }

// A project's files stand in the root where the server's source names them, and git leaves them alone.
func TestNamedManifests(t *testing.T) {
	find := func(named ...string) (found []string, untracked string) {
		for _, f := range Workspace("/w", 7, func(name string) bool { return slices.Contains(named, name) }) {
			switch filepath.Base(f.Path) {
			case "package.json", "Procfile", "Makefile":
				found = append(found, f.Path)
			}
			if f.Path == "/w/"+excludeName {
				untracked = string(f.Data)
			}
		}
		slices.Sort(found)
		return found, untracked
	}
	if found, _ := find(); !slices.Equal(found, []string{"/w/site/package.json"}) {
		t.Errorf("%q", found)
	}
	found, untracked := find("package.json", "Procfile", "/etc/passwd")
	if !slices.Equal(found, []string{"/w/Procfile", "/w/package.json", "/w/site/package.json"}) || !strings.Contains(untracked, "Procfile") {
		t.Errorf("%q, git leaves alone %q", found, untracked)
	}
}

// plant writes the workspace to a directory of the test's own.
func plant(t *testing.T, root string) {
	t.Helper()
	for _, f := range Workspace(root, 7, noFile) {
		if f.Dir {
			if err := os.MkdirAll(f.Path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(f.Path, f.Data, os.FileMode(f.Mode)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(f.Path, f.ModTime, f.ModTime); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWorkspaceDirectoriesComeFirst(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Workspace("/home/sam/work", 7, noFile) {
		if f.Path != "/home/sam/work" && !seen[filepath.Dir(f.Path)] {
			t.Errorf("%s comes before its directory", f.Path)
		}
		if seen[f.Path] {
			t.Errorf("%s is planted twice", f.Path)
		}
		seen[f.Path] = true
	}
}

func TestHintsExist(t *testing.T) {
	files := map[string]rootfs.File{}
	for _, f := range Workspace("/w", 7, noFile) {
		files[f.Path] = f
	}
	h := WorkspaceHints("/w", 7, noFile)
	for _, p := range slices.Concat(h.Files, h.Images, []string{h.Long}) {
		if f, ok := files[p]; !ok || f.Dir {
			t.Errorf("%s is not a planted file", p)
		}
	}
	for _, p := range append(h.Dirs, h.Repo) {
		if !files[p].Dir {
			t.Errorf("%s is not a planted directory", p)
		}
	}
	for _, p := range h.RepoFiles {
		if _, ok := files[h.Repo+"/"+p]; !ok {
			t.Errorf("%s is not in the repository", p)
		}
	}
	for p, lines := range h.Lines {
		for _, l := range lines {
			if strings.Count(string(files[p].Data), l) != 1 {
				t.Errorf("%s: %q does not occur once", p, l)
			}
		}
	}
	if len(h.Lines) == 0 {
		t.Error("no lines to edit")
	}
}

func TestPhotoIsAnImage(t *testing.T) {
	if _, err := png.Decode(bytes.NewReader(photo([3]byte{1, 2, 3}))); err != nil {
		t.Error(err)
	}
}

// TestGitAgrees asks git itself, where there is one.
func TestGitAgrees(t *testing.T) {
	for _, below := range []string{".", repoName} {
		t.Run(below, func(t *testing.T) { askGit(t, below) })
	}
}

// askGit asks git of the repository in a directory of the workspace.
func askGit(t *testing.T, below string) {
	git, err := exec.LookPath("git")
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("COALMINE_REQUIRE"), ","), "git") {
			t.Fatal(err)
		}
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	plant(t, root)
	w := drawWork(7)
	run := func(args ...string) string {
		cmd := exec.Command(git, append([]string{"-C", filepath.Join(root, below)}, args...)...)
		cmd.Env = []string{"HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	commits, by := w.history.commits, "|"+w.history.name+"\n"
	for _, c := range []struct{ args, want string }{
		{"status --porcelain", " M README.md\n"}, {"check-ignore .env .git-credentials", ".env\n.git-credentials\n"},
		{"log --format=%s|%an", commits[2].subject + by + commits[1].subject + by + commits[0].subject + by},
		{"log --format=%ct --reverse", fmt.Sprintf("%d\n%d\n%d\n", commits[0].at.Unix(), commits[1].at.Unix(), commits[2].at.Unix())},
		{"branch --format=%(refname:short)", strings.Join(slices.Sorted(slices.Values([]string{"main", w.history.side})), "\n") + "\n"},
		{"branch --remotes --format=%(refname:short)", strings.Join(slices.Sorted(slices.Values([]string{"origin/main", "origin/" + w.history.side})), "\n") + "\n"},
		{"tag --list", w.history.tag + "\n"}, {"describe", w.history.tag + "-2-g" + strings.TrimSpace(run("rev-parse", "--short", "HEAD")) + "\n"},
		{"rev-list --count " + w.history.side + "..main", "1\n"}, {"diff --name-only " + w.history.side + " main", "main.py\n"},
		{"reflog --format=%gs", "commit: " + commits[2].subject + "\ncommit: " + commits[1].subject + "\ncommit (initial): " + commits[0].subject + "\n"},
		{"branch --show-current", "main\n"},
		{"fetch", ""}, {"rev-list --count origin/main..main", "0\n"}, {"fsck --strict", ""},
		{"ls-files", ".gitignore\nREADME.md\nmain.py\n"},
		{"diff --stat", " README.md | 6 +++++-\n 1 file changed, 5 insertions(+), 1 deletion(-)\n"},
		{"show HEAD:main.py", w.history.tracked()[2].data},
	} {
		if got := run(strings.Fields(c.args)...); got != c.want {
			t.Errorf("git %s: %q, want %q", c.args, got, c.want)
		}
	}
	if out := run("fsck", "--strict", "--full"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		t.Errorf("git fsck: %s", out)
	}
	run("add", "README.md")
	run("commit", "-q", "-m", "Say how to use it")
}

// The history is of the past, each commit after the one before, and has names that others do not.
func TestHistories(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for seed := range int64(50) {
		h := drawWork(seed).history
		for i, c := range h.commits {
			if !c.at.Before(h.at) || i > 0 && !h.commits[i-1].at.Before(c.at) {
				t.Errorf("seed %d: commit %d is of %v", seed, i, c.at)
			}
		}
		if len(h.commits) != 3 || h.side == branchName || h.side == "" || h.tag == "" {
			t.Errorf("seed %d: %+v", seed, h)
		}
		names[h.side+h.tag] = true
	}
	if len(names) < 20 {
		t.Errorf("%d names of branches and tags", len(names))
	}
}

// A directory that someone works in did not come to be in one second, but for
// the repository that was cloned.
func TestWorkspaceGrew(t *testing.T) {
	times := map[time.Time]string{}
	cloned := []string{"/w/.gitignore", "/w/README.md", "/w/main.py"}
	for _, f := range Workspace("/w", 7, noFile) {
		if f.Dir || strings.HasPrefix(f.Path, "/w/.git/") || strings.HasPrefix(f.Path, "/w/"+repoName+"/") || slices.Contains(cloned, f.Path) {
			continue
		}
		if other, ok := times[f.ModTime]; ok || f.ModTime.After(drawWork(7).at) {
			t.Errorf("%s is of %v, as %q is", f.Path, f.ModTime, other)
		}
		times[f.ModTime] = f.Path
	}
	if len(times) < len(drawWork(7).texts) {
		t.Errorf("%d times of %d texts", len(times), len(drawWork(7).texts))
	}
}

// Whoever knows the workspace of one run knows nothing of another's.
func TestWorkspacesDiffer(t *testing.T) {
	contents := func(seed int64) (files, names map[string]bool) {
		files, names = map[string]bool{}, map[string]bool{}
		for _, f := range Workspace("/w", seed, noFile) {
			if !f.Dir && !strings.Contains(f.Path, ".git/") {
				files[string(f.Data)], names[f.Path] = true, true
			}
		}
		return files, names
	}
	again, _ := contents(7)
	first, names := contents(7)
	for data := range first {
		if !again[data] {
			t.Errorf("the same seed gives another %q", data)
		}
	}
	same, other := 0, 0
	for seed := range int64(20) {
		files, theirs := contents(100 + seed)
		for data := range files {
			if first[data] {
				same++
			}
		}
		if !maps.Equal(names, theirs) {
			other++
		}
	}
	// The list of ignored files, and a short text now and then.
	if same > 60 || other < 15 {
		t.Errorf("%d of the texts of 20 other seeds are the same, %d have other names", same, other)
	}
}
