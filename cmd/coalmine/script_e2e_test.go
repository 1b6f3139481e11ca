//go:build linux && e2e

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

// The scripts are run in both tiers, with more here.
//
//e2e:again TestScripts
func init() {
	_, err := exec.LookPath("strace")
	tier.sandbox = err == nil && exec.Command("unshare", "--user", "--map-root-user", "true").Run() == nil
	tier.setUp = setUp
	// Those that need none are run by the unit tests, whole.
	tier.has = func(script string) bool { return strings.Contains(script, "sandbox]") }
}

// setUp gives a script the fixtures and a slot. No sandbox can start a program that
// needs libraries of the host: where this one does, a static one goes before it.
func setUp(t *testing.T, e *testscript.Env) error {
	// A server sees the directory of its program, and every probe reads all that is there.
	servers := t.TempDir()
	for _, name := range []string{"leaky", "honest"} {
		if err := os.Link(sandboxtest.Build(t, "./testdata/servers/"+name), filepath.Join(servers, name)); err != nil {
			return err
		}
	}
	e.Setenv("SERVERS", servers)
	e.Setenv("SOURCES", filepath.Join(sandboxtest.ModuleRoot(t), "testdata/servers"))
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"}) {
		static := filepath.Dir(sandboxtest.Build(t, "./cmd/coalmine"))
		e.Setenv("PATH", static+string(os.PathListSeparator)+e.Getenv("PATH"))
	}
	pool, err := slots.Default()
	if err != nil {
		return err
	}
	release, err := pool.Take(sandboxtest.Light)
	if err != nil {
		return err
	}
	e.Defer(release)
	return nil
}

// TestSandboxIsHere fails, where a sandbox is required, instead of the scripts that skip.
func TestSandboxIsHere(t *testing.T) {
	sandboxtest.Need(t, "strace", "userns")
	if !tier.sandbox {
		t.Error("strace and user namespaces are here, and the scripts do not see them")
	}
}
