package taint_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/taint"
)

// TestPublished compares published packages, vulnerable and fixed, with what is known of them.
// COALMINE_PUBLISHED is the directory that testdata/published.txt names them below: "make taint-report"
// sets it. What is not installed is said and not counted.
func TestPublished(t *testing.T) {
	root := os.Getenv("COALMINE_PUBLISHED")
	if root == "" {
		t.Skip("make taint-report runs it")
	}
	list, err := os.ReadFile("testdata/published.txt")
	if err != nil {
		t.Fatal(err)
	}
	right, all := 0, 0
	for line := range strings.Lines(string(list)) {
		f := strings.Fields(line)
		if len(f) != 5 || f[0] == "#" {
			continue
		}
		files := packageAt(t, filepath.Join(root, f[4]))
		if len(files) == 0 {
			t.Logf("not installed: %s", f[4])
			continue
		}
		all++
		res := analyzed(t.Context(), files)
		if res.Handlers == 0 {
			t.Errorf("%s %s: no handler was found, so that finding nothing says nothing", f[0], f[4])
			continue
		}
		flows := res.Flows
		found := slices.ContainsFunc(flows, func(fl taint.Flow) bool {
			return fl.CWE == f[1] && !fl.Capability && (f[0] == "fixed" || (f[2] == "-" || fl.Tool == f[2]) && fl.Parameter == f[3])
		})
		if found == (f[0] == "vulnerable") {
			right++
		} else {
			t.Errorf("%s %s: found %t", f[0], f[4], found)
		}
	}
	t.Logf("published: %d/%d", right, all)
}

// packageAt are the sources of a package, without its dependencies.
func packageAt(t *testing.T, dir string) []*lang.File {
	t.Helper()
	var files []*lang.File
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules" && p != dir:
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		for _, l := range languages {
			if l.Owns(filepath.ToSlash(rel), nil) {
				data, err := os.ReadFile(p)
				if err != nil {
					return err
				}
				files = append(files, l.Parse(filepath.ToSlash(rel), data))
				return nil
			}
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return files
}
