//go:build linux && e2e

package packages

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// refused probes a package that cannot be probed, and wants an error that says so
// and how to mend it, and nothing left behind.
func refused(t *testing.T, cache string, s install.Spec, says, hint string) {
	t.Helper()
	_, err := probetest.Run(t.Context(), probetest.OfPackage(&s, probetest.In("local", t.TempDir(), cache)))
	var usage *sandbox.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), says) || !strings.Contains(usage.Hint, hint) {
		t.Errorf("%s: %v (%+v), want %q and the hint %q", s, err, usage, says, hint)
		return
	}
	if strings.Contains(err.Error()+usage.Hint, "s3cr3t") {
		t.Errorf("%s: a secret in %q", s, err)
	}
	if left, err := filepath.Glob(filepath.Join(cache, "tmp-*")); err != nil || len(left) > 0 {
		t.Errorf("left in the cache: %q, %v", left, err)
	}
}

func TestWhatCannotBeFetchedIsSaid(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "node", "npm")
	r, cache := sandboxtest.NewRegistry(t), t.TempDir()
	r.Publish(t, `{"name":"lib","version":"1.0.0","main":"x.js"}`, map[string]string{"x.js": ""})
	r.Publish(t, `{"name":"several","version":"1.0.0","bin":{"a":"a.js","b":"b.js"}}`, map[string]string{"a.js": "", "b.js": "1"})
	r.Publish(t, `{"name":"clones","version":"1.0.0","bin":"a.js","dependencies":{"x":"git+ssh://git@127.0.0.1:1/x/y.git"}}`, map[string]string{"a.js": ""})
	r.Publish(t, `{"name":"spoiled","version":"1.0.0","bin":"a.js"}`, map[string]string{"a.js": ""})
	r.Spoil("spoiled")
	named := func(name, version, bin string) install.Spec {
		return install.Spec{Kind: install.KindNPM, Name: name, Version: version, Bin: bin}
	}
	refused(t, cache, named("nobody", "", ""), "there is no such package", "private")
	refused(t, cache, named("lib", "2.0.0", ""), "no such version", "npm view")
	refused(t, cache, named("lib", "", ""), "no program to run", "COMMAND")
	refused(t, cache, named("several", "", ""), "has 2 programs, and none is called several: a, b", "--bin")
	refused(t, cache, named("several", "", "c"), "none is called c", "--bin")
	refused(t, cache, named("clones", "", ""), "depends on a repository", "publish")
	refused(t, cache, named("spoiled", "", ""), "does not have the hash", "npm cache verify")
	r.Token = "s3cr3t-token"
	refused(t, cache, named("lib", "", ""), "refuses to give it", "npm login")
	host := strings.TrimPrefix(r.URL, "http:")
	if err := os.WriteFile(os.Getenv("npm_config_userconfig"), []byte(host+"/:_authToken=s3cr3t-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, cache, named("lib", "", ""), "no program to run", "COMMAND") // with the token it is given
	t.Setenv("PATH", t.TempDir())
	refused(t, cache, named("lib", "", ""), "npm is not installed", "install Node.js")
}

func TestWheelsThatAreNotThereAreSaid(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python3")
	wheels, cache := t.TempDir(), t.TempDir()
	sandboxtest.Wheel(t, wheels, "notes", "1.0", nil, "notes = notes:main", map[string]string{"notes/__init__.py": ""})
	sandboxtest.Wheel(t, wheels, "needs-source", "1.0", []string{"source-only"}, "x = y:z", map[string]string{"y.py": ""})
	if err := os.WriteFile(filepath.Join(wheels, "source_only-1.0.tar.gz"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PIP_FIND_LINKS", wheels)
	t.Setenv("PIP_NO_INDEX", "1")
	named := func(name, version string) install.Spec {
		return install.Spec{Kind: install.KindPyPI, Name: name, Version: version}
	}
	refused(t, cache, named("nobody", ""), "there is no package nobody", "pip.conf")
	refused(t, cache, named("notes", "7.0"), "the index has no version 7.0 of notes (the newest is 1.0)", "pip index versions")
	refused(t, cache, named("needs-source", ""), "no wheel of source-only", "PIP_FIND_LINKS")
}
