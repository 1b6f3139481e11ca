package plan

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A copy of the server's directory has no more of a repository than the directory
// itself: what git tracks, and the code that the command runs.
func TestACopyShowsWhatGitTracks(t *testing.T) {
	t.Parallel()
	top := project(t)
	if err := os.MkdirAll(filepath.Join(top, "scratch"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"scratch/built.js": "", "scratch/notes.txt": "x"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "package.json", "src"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = top
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	for name, c := range map[string]struct {
		first string
		want  []string
	}{
		"a tracked script": {"src/index.js", []string{"scratch", "secret.txt", "tools"}},
		"a built script":   {"scratch/built.js", []string{"scratch/notes.txt", "secret.txt", "tools"}},
	} {
		p, err := New(Options{Target: Target{Command: []string{"node", c.first}, Dir: top, Within: top}}, nil, Account{})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []Plan{p, p.Copied()} {
			q, err := q.Revealed(t.Context())
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := slices.Sorted(slices.Values(q.View.Untracked)); !slices.Equal(got, c.want) {
				t.Errorf("%s, a copy from %q: %q is left out, want %q", name, q.Server.From, got, c.want)
			}
		}
	}
}
