//go:build linux && site

package cli

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/browser"
)

// TestSiteInABrowser looks at the pages of the documentation's site, which "make docs" builds.
// The pages of rules have one form, so it looks at one of them.
func TestSiteInABrowser(t *testing.T) {
	root := filepath.Join(sandboxtest.ModuleRoot(t), "dist", "site")
	var pages []string
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		rule := filepath.Base(filepath.Dir(name)) == "rules" && e.Name() != "cm101.html" && e.Name() != "index.html"
		if err == nil && filepath.Ext(name) == ".html" && !rule {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer s.Close()
	b := browser.Start(t)
	right := 0
	for _, page := range pages {
		page = strings.TrimPrefix(page, root)
		name := strings.ReplaceAll(strings.TrimSuffix(page, ".html"), "/", "-")
		if t.Run("page"+name, func(t *testing.T) { b.Inspect(t, "site"+name, s.URL+page) }) {
			right++
		}
	}
	t.Logf("site: %d/%d", right, len(pages))
}
