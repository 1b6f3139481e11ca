//go:build linux && e2e

package sandbox_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// The agent's promises hold in a container too, where the engine made the
// namespaces and the agent has a few capabilities only. The test's own program
// is the agent, so it has to be built without CGO.
func TestNothingEscapesFromAContainer(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	sandboxtest.Need(t, "docker", "strace")
	s := hostile(t, "escape")
	s.Image, s.RunID, s.TraceSet = docker.DefaultImage, "escapeartist", "core"
	s.ServerDir = filepath.Dir(s.Command[0])
	s.Limits.Disk = 64 << 20
	run := start(t, docker.New(""), s)
	var told map[string]string
	if err := json.Unmarshal([]byte(run.call(t, "escape")), &told); err != nil {
		t.Fatal(err)
	}
	for name, result := range told {
		if !strings.HasPrefix(result, "denied: ") {
			t.Errorf("%s: %s", name, result)
		}
	}
	if err := run.Sync(bounded(t)); err != nil {
		t.Fatal(err)
	}
	run.call(t, "escape")
	if got := run.Troubles(); len(got) != 0 || run.Lost() != 0 {
		t.Errorf("%d lost, events %+v, %v", run.Lost(), got, run.TraceErrors())
	}
}
