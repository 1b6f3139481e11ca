//go:build linux && e2e

package schema

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The official JSON Schema Test Suite, where .ci/setup/suite.sh has fetched it.
//
//e2e:again TestReport
func init() {
	own := suiteRoot
	suiteRoot = func(tb testing.TB) string {
		tb.Helper()
		cache := cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(os.Getenv("HOME"), ".cache"))
		dir := filepath.Join(cache, "coalmine", "suite", "current")
		if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
			return dir + "/"
		}
		if slices.Contains(strings.Split(os.Getenv("COALMINE_REQUIRE"), ","), "suite") {
			tb.Fatalf("suite is required here (COALMINE_REQUIRE), but it is not in %s: run .ci/setup/suite.sh", dir)
		}
		tb.Logf("the official suite is not in %s (.ci/setup/suite.sh fetches it): a few schemas of our own stand for it", dir)
		return own(tb)
	}
}
