package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// boundedZIPs are the files that open ZIPs, behind bounds on their directories: archive/zip holds
// a whole directory in memory, some five times its size, and every ZIP is of others' making.
var boundedZIPs = []string{"sandbox/install/zip.go", "audit/archive.go"}

func TestZIPsAreBounded(t *testing.T) {
	opens := regexp.MustCompile(`\bzip\.(NewReader|OpenReader)\(`)
	var found []string
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		data, err := fs.ReadFile(root, p)
		if err == nil && strings.Contains(string(data), `"archive/zip"`) && opens.Match(data) {
			found = append(found, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	if want := slices.Sorted(slices.Values(boundedZIPs)); !slices.Equal(found, want) {
		t.Errorf("ZIPs are opened in %q, and only those of %q are bounded", found, want)
	}
}
