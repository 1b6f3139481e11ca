package stage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	if err := os.MkdirAll(filepath.Join(sub, "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "data": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct{ name, path, want, refused string }{
		{"tool", dir, filepath.Join(dir, "tool"), ""},
		{"tool", "/no/such:" + sub + ":" + dir, filepath.Join(dir, "tool"), ""}, // the directory of that name is passed by
		{"tool", ":", "./tool", ""},
		{"./tool", "", "./tool", ""},
		{filepath.Join(dir, "tool"), "", filepath.Join(dir, "tool"), ""},
		{"tool", "", "", "command not found: tool"}, // an empty PATH is no empty entry
		{"tool", sub, "", "permission denied: tool"},
		{"data", dir, "", "permission denied: data"},
		{"./data", dir, "", "permission denied: ./data"},
		{"nothing", dir, "", "command not found: nothing"},
		{"./nothing", dir, "", "command not found: ./nothing"},
		{"", dir, "", "command not found"},
	} {
		got, err := LookPath(c.name, []string{"PATH=/wrong", "PATH=" + c.path})
		if c.refused == "" {
			if err != nil || got != c.want {
				t.Errorf("%q in %q: %q, %v", c.name, c.path, got, err)
			}
			continue
		}
		var r *Refusal
		if !errors.As(err, &r) || !strings.HasPrefix(r.Reason, c.refused) || r.Hint == "" {
			t.Errorf("%q in %q: %q, %v, want %q", c.name, c.path, got, err, c.refused)
		}
	}
}
