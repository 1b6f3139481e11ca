//go:build unix

package audit

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// BenchmarkAudit audits whole trees with all rules: CPython's library, and packages of honest
// servers whose versions make honest-report fixes. Trees that are not there are left out, and
// the bounds then lack their figures.
func BenchmarkAudit(b *testing.B) {
	cache := os.Getenv("COALMINE_CACHE")
	if cache == "" {
		home, err := os.UserCacheDir()
		if err != nil {
			b.Fatal(err)
		}
		cache = filepath.Join(home, "coalmine")
	}
	npm := filepath.Join(cache, "honest", "npm")
	defer Tune()()
	for name, tree := range map[string]string{
		"cpython":         "/usr/lib/python3.11",
		"cclsp":           filepath.Join(npm, "cclsp@0.7.0/node_modules/cclsp"),
		"threejs":         filepath.Join(npm, "@modelcontextprotocol/server-threejs@2.0.3/node_modules/@modelcontextprotocol/server-threejs"),
		"chrome-devtools": filepath.Join(npm, "chrome-devtools-mcp@1.11.0/node_modules/chrome-devtools-mcp"),
	} {
		size := sourceSize(tree)
		if size == 0 {
			continue
		}
		b.Run(name, func(b *testing.B) {
			from := cputime.Used(b)
			for b.Loop() {
				if _, err := Dir(b.Context(), tree); err != nil {
					b.Fatal(err)
				}
			}
			// A machine with other work to do makes the time on the wall say little.
			b.ReportMetric(float64(size)*float64(b.N)/1e6/(cputime.Used(b)-from).Seconds(), "MB/cpu-s")
		})
	}
}

// sourceSize are the bytes of the files of a tree that are searched as source, 0 for no tree.
func sourceSize(root string) (n int64) {
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && Skipped(d.Name()):
			return fs.SkipDir
		case d.Type().IsRegular() && isSource(p):
			if i, err := d.Info(); err == nil {
				n += i.Size()
			}
		}
		return nil
	})
	if err != nil {
		return 0
	}
	return n
}
