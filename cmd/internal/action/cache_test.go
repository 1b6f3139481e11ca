//go:build linux && e2e

package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// fetching is a coalmine that fetches a package, unless it is in the cache, and runs an image.
const fetching = `#!/bin/sh
for a in "$@"; do
  case $a in
    --version) echo "coalmine 1.2.3"; exit 0 ;;
    --out=*) out=${a#--out=} ;;
  esac
done
cache=$HOME/.cache/coalmine/packages
if [ -e "$cache/package" ]; then echo "the package was there"; else mkdir -p "$cache"; echo x >"$cache/package"; echo "the package was fetched"; fi
docker pull example/notes:1
mkdir -p "$out/run"
cat >"$out/run/report.json" <<END
{
  "verdict": "$VERDICT_OF_TEST",
  "run": {"package": {"kind": "oci", "name": "example/notes:1"}}
}
END
[ "$VERDICT_OF_TEST" = clean ]
`

// engine is a docker whose registry gives the tag to the image whose id is in the file "current".
const engine = `#!/bin/sh
echo "docker $*" >>"$ENGINE/log"
case $1 in
  pull) if [ -e "$ENGINE/here" ]; then echo "the image was there"; else cp "$ENGINE/current" "$ENGINE/here"; echo "the image was pulled"; fi ;;
  save) cp "$ENGINE/here" "$3" ;;
  load) cp "$4" "$ENGINE/here" ;;
  image) case $2 in inspect) cat "$ENGINE/here" ;; rm) rm "$ENGINE/here" ;; esac ;;
  manifest) printf '[{"config": {"digest": "%s"}}]' "$(cat "$ENGINE/current")" ;;
esac
`

// cachingJob is a job on a fresh machine, with the caches of an earlier one.
func cachingJob(t *testing.T, before *job, current string) *job {
	t.Helper()
	bin := t.TempDir()
	sandboxtest.WriteProgram(t, filepath.Join(bin, "coalmine"), []byte(fetching))
	sandboxtest.WriteProgram(t, filepath.Join(bin, "docker"), []byte(engine))
	j := newJob(t, bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if before != nil {
		j.cached = before.cached
		// The same runner, made anew: its paths are those of the one before.
		j.temp = before.temp
		if err := os.RemoveAll(filepath.Join(j.temp, ".cache")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "current"), []byte(current), 0o600); err != nil {
		t.Fatal(err)
	}
	j.runner = []string{"ENGINE=" + bin, "VERDICT_OF_TEST=clean"}
	if err := os.WriteFile(filepath.Join(j.dir, ".mcp.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	return j
}

// What one job fetched a later one takes from the caches, also if the first one failed; and an
// image only where its tag still means it.
func TestCaches(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "jq")
	both := map[string]string{"cache": "packages,images"}
	says := func(t *testing.T, j *job, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(j.log, w) {
				t.Errorf("%q is not said:\n%s", w, j.log)
			}
		}
	}
	first := cachingJob(t, nil, "sha256:one")
	first.runner = append(first.runner, "VERDICT_OF_TEST=findings")
	if status, _ := first.use(both); status != 1 {
		t.Fatalf("status %d\n%s", status, first.log)
	}
	says(t, first, "the package was fetched", "the image was pulled")
	if len(first.cached) != 1 {
		t.Fatalf("%d caches are kept", len(first.cached))
	}
	second := cachingJob(t, first, "sha256:one")
	if status, _ := second.use(both); status != 0 {
		t.Fatalf("status %d\n%s", status, second.log)
	}
	says(t, second, "the package was there", "example/notes:1 is taken from the cache", "the image was there")

	// The tag has moved on, and so has the configuration.
	third := cachingJob(t, second, "sha256:two")
	if err := os.WriteFile(filepath.Join(third.dir, ".mcp.json"), []byte(`{"mcpServers": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _ := third.use(both); status != 0 {
		t.Fatalf("status %d\n%s", status, third.log)
	}
	says(t, third, "the package was there", "the image was pulled")
	if len(third.cached) != 2 {
		t.Errorf("%d caches are kept, want one for each configuration", len(third.cached))
	}
	fourth := cachingJob(t, third, "sha256:two")
	if err := os.WriteFile(filepath.Join(fourth.dir, ".mcp.json"), []byte(`{"mcpServers": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	fourth.use(both)
	says(t, fourth, "the image was there")
}

// Without images nothing is asked of an engine, and without caches nothing is kept.
func TestCachesThatNobodyWants(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	for _, c := range []struct {
		cache  string
		status int
		kept   int
	}{{"packages", 0, 1}, {"none", 0, 0}, {"everything", 2, 0}} {
		j := cachingJob(t, nil, "sha256:one")
		if status, _ := j.use(map[string]string{"cache": c.cache}); status != c.status || len(j.cached) != c.kept {
			t.Errorf("%s: status %d, %d caches\n%s", c.cache, status, len(j.cached), j.log)
		}
		for _, files := range j.cached {
			for name := range files {
				if strings.Contains(name, "images") {
					t.Errorf("%s: %s is kept", c.cache, name)
				}
			}
		}
	}
}
