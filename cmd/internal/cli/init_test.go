package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A link in the directory leads init nowhere else, and what is there stays.
func TestInitStaysInItsDirectory(t *testing.T) {
	outside := t.TempDir()
	t.Chdir(t.TempDir())
	putFile(t, "coalmine.yaml", "mine\n")
	if err := os.Symlink(outside, ".github"); err != nil {
		t.Skipf("this system has no links: %v", err)
	}
	var out, errs bytes.Buffer
	if status := Main([]string{"init", "--yes"}, strings.NewReader(""), &out, &errs); status != ExitUsage {
		t.Errorf("status %d: %s%s", status, out.String(), errs.String())
	}
	if found, err := filepath.Glob(filepath.Join(outside, "*")); err != nil || len(found) > 0 {
		t.Errorf("written outside: %q, %v", found, err)
	}
	if data, err := os.ReadFile("coalmine.yaml"); err != nil || string(data) != "mine\n" {
		t.Errorf("changed to %q, %v", data, err)
	}
}

// The workflow that init writes judges a pull request by its base.
func TestInitIsPinned(t *testing.T) {
	for _, f := range startFiles {
		if strings.HasSuffix(f.name, ".yml") && strings.Contains(f.text, "policy:") && !strings.Contains(f.text, "changed-since: ${{ github.event.pull_request.base.sha }}") {
			t.Errorf("%s does not name the base of a pull request", f.name)
		}
	}
}
