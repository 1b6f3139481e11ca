//go:build linux && e2e

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// TestGVisor probes the twins on gVisor's kernel: that one reads a decoy is seen, and the other is not called clean,
// since no system call was seen. COALMINE_RUNTIME asks for it: it needs runsc.
func TestGVisor(t *testing.T) {
	if os.Getenv("COALMINE_RUNTIME") == "" {
		t.Skip("make runtime-report runs it")
	}
	sandboxtest.Need(t, "root", "docker")
	program, err := exec.LookPath("runsc")
	if err != nil {
		t.Fatalf("runsc is missing: %v; sh .ci/setup/runsc.sh installs it", err)
	}
	// gVisor's own network wants a namespace that the engine made; no container here has one.
	wrapper := filepath.Join(t.TempDir(), "runsc")
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\nexec "+program+" --network=none --platform=ptrace \"$@\"\n"), 0o755); err != nil { //nolint:gosec // the engine runs it
		t.Fatal(err)
	}
	own := newEngine(t)
	own.flags = []string{"--add-runtime", "runsc=" + wrapper}
	own.take(t)
	defer own.release()
	version, err := dockerSays(own.env(), "run", "--rm", "--runtime", "runsc", "--network", "none", ownImage, "cat", "/proc/version")
	if err != nil || !strings.HasPrefix(version, "Linux version 4.4.0") { // what gVisor says of itself, on any machine
		t.Fatalf("the kernel in the container: %q %v", version, err)
	}
	for _, c := range []struct {
		server, tracer string
		status         int
	}{{"honest", "none", 3}, {"leaky", "none", 1}, {"honest", "strace", 3}, {"leaky", "strace", 1}} {
		t.Run(c.server+" "+c.tracer, func(t *testing.T) {
			l := probetest.New(t, c.server)
			run := l.Run("docker", own.env(), l.Flags("docker", "--runtime", "runsc", "--network", "none", "--tracer", c.tracer, "--image", ownImage, "--", l.Path(c.server))...)
			fmt.Printf("runtime %s %s: status %d\n%.3000s%.2000s", c.server, c.tracer, run.Status(), run.Out.String(), run.Err.String())
			run.Says(c.status)
			if c.status == 1 {
				run.Says(1, "--image "+ownImage+" --runtime runsc")
			}
		})
	}
}
