package probe

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// A repository brings a link in the place of the output directory: nothing is
// written where it leads.
func TestLinkedOutputIsRefused(t *testing.T) {
	for name, link := range map[string]string{"the directory": plan.DefaultOut, "one above it": "build"} {
		t.Run(name, func(t *testing.T) {
			outside := t.TempDir()
			t.Chdir(t.TempDir())
			if err := os.Symlink(outside, link); err != nil {
				t.Fatal(err)
			}
			out := plan.DefaultOut
			if link != out {
				out = filepath.Join(link, out)
			}
			dir, _, err := openOut(out, "notes")
			if err == nil {
				_ = dir.Close()
			}
			var usage *sandbox.UsageError
			if !errors.As(err, &usage) || usage.Hint == "" {
				t.Errorf("it is taken: %v", err)
			}
			if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
				t.Errorf("%d files where the link leads, %v", len(list), err)
			}
			// An absolute path is the user's own word.
			dir, _, err = openOut(filepath.Join(outside, "x"), "notes")
			if err != nil {
				t.Fatal(err)
			}
			_ = dir.Close()
		})
	}
}
