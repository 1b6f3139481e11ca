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
