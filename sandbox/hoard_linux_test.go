//go:build linux && e2e

package sandbox_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/local"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// A target cannot hold much more than its limit of memory, in whatever the
// memory lies: it is refused, or the run ends at the limit and says so.
func TestHiddenMemoryIsBounded(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "gcc", "userns", "root", "docker")
	bin := program(t, "hoard")
	const limit, most = 64 << 20, 512
	for place, b := range map[string]sandbox.Backend{"local": local.New(), "docker": docker.New("debian:bookworm-slim")} {
		for _, way := range []string{"shared", "sockets", "passed"} {
			t.Run(place+"/"+way, func(t *testing.T) {
				s := spec(bin, way)
				s.ServerDir, s.RunID = filepath.Dir(bin), "hoard"
				s.Limits = agent.Limits{Memory: limit, Disk: 16 << 20, Pids: 64, Wall: time.Minute}
				run := start(t, b, s)
				x := run.ends(t)
				held, _ := strconv.Atoi(strings.TrimSpace(run.Out()))
				if held >= most {
					t.Errorf("held %d MiB with a limit of %d; exit %+v", held, limit>>20, x)
				}
				if held > 128 && !strings.HasPrefix(x.Reason, "limit: memory") || held == 0 && x.Reason == "" && x.Signal == "" {
					t.Errorf("held %d MiB, which nobody says; exit %+v, stderr %q", held, x, run.Err())
				}
				t.Logf("held %d MiB, exit %+v", held, x)
			})
		}
	}
}
