package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// used is the name of an action or a template, and imaged that of an image.
	used     = regexp.MustCompile(`(?m)^\s*(?:- )?uses:\s*(\S+)`)
	imaged   = regexp.MustCompile(`(?m)(?:^\s*(?:- )?image:[ \t]*|COALMINE_IMAGE[ \t]*[:=][ \t]*)["']?([^\s"'{]+)`)
	isPinned = regexp.MustCompile(`@([0-9a-f]{40}|sha256:[0-9a-f]{64}|COMMIT)$`)
)

// What a sample, a manifest, a page or coalmine init has others copy names actions by a commit
// and images by a digest: whoever can move a tag runs code of their own there.
func TestPins(t *testing.T) {
	t.Parallel()
	seen := 0
	check := func(name, text string) {
		for _, found := range append(used.FindAllStringSubmatch(text, -1), imaged.FindAllStringSubmatch(text, -1)...) {
			at := found[1]
			if strings.HasPrefix(at, "$") || strings.HasPrefix(at, "./") {
				continue // it is set elsewhere, or it is this repository
			}
			seen++
			if !isPinned.MatchString(at) {
				t.Errorf("%s: %s is not pinned by a commit or a digest", name, at)
			}
		}
	}
	for _, f := range startFiles {
		check("coalmine init, "+f.name, f.text)
	}
	root := os.DirFS(moduleRoot)
	for _, top := range []string{"deploy", "docs", "README.md"} {
		err := fs.WalkDir(root, top, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			switch filepath.Ext(p) {
			case ".yml", ".yaml", ".md", "":
				data, err := fs.ReadFile(root, p)
				if err != nil {
					return err
				}
				check(p, string(data))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 10 {
		t.Errorf("%d names were found", seen)
	}
}
