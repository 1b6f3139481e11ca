package taint_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/taint"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// TestPublished compares published packages, vulnerable and fixed, with what is known of them.
// COALMINE_PUBLISHED is the directory that testdata/published.txt names them below: "make taint-report"
// sets it. What is not installed is said and not counted. Of the half that is unseen the totals alone are told.
func TestPublished(t *testing.T) {
	root := os.Getenv("COALMINE_PUBLISHED")
	if root == "" {
		t.Skip("make taint-report runs it")
	}
	list, err := os.ReadFile("testdata/published.txt")
	if err != nil {
		t.Fatal(err)
	}
	right, all, unseen, ofUnseen := 0, 0, 0, 0
	for line := range strings.Lines(string(list)) {
		f := strings.Fields(line)
		if len(f) != 5 || f[0] == "#" {
			continue
		}
		claim := publishedLine{f[0] == "vulnerable", f[1], f[2], f[3], f[4]}
		files := packageAt(t, filepath.Join(root, claim.dir))
		if len(files) == 0 {
			t.Logf("not installed: %s", claim.dir)
			continue
		}
		all++
		why, hidden := claim.wrong(analyzed(t.Context(), files)), !claim.seen()
		if hidden {
			ofUnseen++
		}
		switch {
		case why == "" && hidden:
			right, unseen = right+1, unseen+1
		case why == "":
			right++
		case !hidden:
			t.Errorf("%s: %s", line, why)
		}
	}
	t.Logf("unseen packages: %d/%d", unseen, ofUnseen)
	t.Logf("published: %d/%d", right, all)
}

// publishedLine is a line of testdata/published.txt.
type publishedLine struct {
	vulnerable                bool
	cwe, tool, parameter, dir string
}

// seen is the half of the packages, by their names, that may be looked at while the rules are tuned.
func (p *publishedLine) seen() bool {
	name := p.dir
	if i := strings.LastIndexAny(name, "-@"); i > 0 {
		name = name[:i]
	}
	return scale.Hash(name)&1 == 0
}

// wrong is what is wrong with a result, "" for nothing.
func (p *publishedLine) wrong(res *taint.Result) string {
	if res.Handlers == 0 {
		return "no handler was found, so that finding nothing says nothing"
	}
	found := slices.ContainsFunc(res.Flows, func(fl taint.Flow) bool {
		return fl.CWE == p.cwe && !fl.Capability && (!p.vulnerable || (p.tool == "-" || fl.Tool == p.tool) && fl.Parameter == p.parameter)
	})
	if found != p.vulnerable {
		return fmt.Sprintf("found %t", found)
	}
	return ""
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
