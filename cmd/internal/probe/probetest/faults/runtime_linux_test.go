//go:build linux && e2e

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// TestGVisor probes the twins on gVisor's kernel: what is said over the wire is judged, and no run that the
// kernel's records are missing of is called clean. COALMINE_RUNTIME asks for it: it needs runsc.
func TestGVisor(t *testing.T) {
	if os.Getenv("COALMINE_RUNTIME") == "" {
		t.Skip("make runtime-report runs it")
	}
	sandboxtest.Need(t, "root", "docker")
	program, err := exec.LookPath("runsc")
	if err != nil {
		t.Fatalf("runsc is missing: %v; sh .ci/setup/runsc.sh installs it", err)
	}
	own := newEngine(t)
	own.flags = []string{"--add-runtime", "runsc=" + program}
	own.take(t)
	defer own.release()
	version, err := dockerSays(own.env(), "run", "--rm", "--runtime", "runsc", "--network", "none", ownImage, "cat", "/proc/version")
	if err != nil || !strings.HasPrefix(version, "Linux version 4.4.0") { // what gVisor says of itself, on any machine
		t.Fatalf("the kernel in the container: %q %v", version, err)
	}
	for _, c := range []struct {
		server, tracer string
		status         int
	}{{"honest", "none", 3}, {"leaky", "none", 3}, {"honest", "strace", 3}, {"leaky", "strace", 3}} {
		t.Run(c.server+" "+c.tracer, func(t *testing.T) {
			l := probetest.New(t, c.server)
			run := l.Run("docker", own.env(), l.Flags("docker", "--runtime", "runsc", "--network", "none", "--tracer", c.tracer, "--image", ownImage, "--", l.Path(c.server))...)
			fmt.Printf("runtime %s %s: status %d\n%.3000s%.2000s", c.server, c.tracer, run.Status(), run.Out.String(), run.Err.String())
			if run.Status() == 0 {
				t.Errorf("a run on another kernel is called clean")
			}
		})
	}
}
