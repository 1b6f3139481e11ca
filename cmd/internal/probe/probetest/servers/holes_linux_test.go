//go:build linux && e2e

package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// known is a published server with a hole: what starts it, and what a probe must see.
type known struct {
	command []string // below the directory of .ci/setup/holes.sh, but for the last words
	env     map[string]string
	// must are "rule tool context", all of which are to be found at high or above;
	// none says why none can be.
	must []string
	none string
}

// escapes are what the filesystem servers of early 2025 let through.
var escapes = []string{"CM303 read_file sibling", "CM303 read_file link"}

func fileServer(id, name string) known {
	return known{command: []string{"node", filepath.Join(id, "node_modules", name, "dist/index.js"), "/data"}, must: escapes}
}

// knownHoles are the versions of the list, by its names, and older ones that it names beside them.
var knownHoles = map[string]known{
	"fs-2025.3.28":    fileServer("fs-2025.3.28", "@modelcontextprotocol/server-filesystem"),
	"fs-0.6.2":        fileServer("fs-0.6.2", "@modelcontextprotocol/server-filesystem"),
	"fs-0.5.1":        fileServer("fs-0.5.1", "@modelcontextprotocol/server-filesystem"),
	"clone-fs-0.6.2":  fileServer("clone-fs-0.6.2", "mcp-server-filesystem"),
	"mobile-0.0.48":   {none: "its tools need an attached phone before they look at their arguments"},
	"postgres-0.6.2":  {none: "its tool needs a PostgreSQL that answers, and no oracle speaks SQL"},
	"slack-2025.4.25": {none: "what it lacks is a flag in a request to its own service: no effect tells that from any other request"},
}

// TestKnownHoles probes published servers whose holes are known, with no hint
// about the tool, and prints which were found.
func TestKnownHoles(t *testing.T) {
	if os.Getenv("COALMINE_HOLES") == "" {
		t.Skip("make holes-report runs it")
	}
	probetest.Need(t, "local")
	sandboxtest.Need(t, "node")
	dir, err := filepath.EvalSymlinks(filepath.Join(probetest.CacheDir(t), "holes", "current"))
	if err != nil {
		t.Fatalf("the servers are not installed (.ci/setup/holes.sh): %v", err)
	}
	for id, k := range knownHoles {
		if k.none != "" {
			fmt.Printf("%-16s not found: %s\n", id, k.none)
			continue
		}
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			l := probetest.New(t)
			command := slices.Clone(k.command)
			command[1] = filepath.Join(dir, command[1])
			o := l.Options("local", command...)
			o.Env = k.env
			o.Calls, o.Timeout, o.OracleTime, o.CallTimeout, o.ShrinkTime = plan.DefaultCalls, 4*time.Minute, 3*time.Minute, 10*time.Second, time.Nanosecond
			o.Limits, o.Network = plan.DefaultLimits, plan.NetworkSinkhole
			r := l.ProbeWithin(o.Timeout+time.Minute, o)
			for _, must := range k.must {
				w := strings.Fields(must)
				if !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
					return f.Rule == w[0] && f.Tool == w[1] && f.Severity.Rank() >= finding.High.Rank() && strings.Contains(f.Message, w[2])
				}) {
					t.Errorf("%s was not found", must)
				}
			}
			word := "found"
			if t.Failed() {
				word = "not found"
			}
			fmt.Printf("%-16s %s: %s\n", id, word, strings.Join(k.must, ", "))
		})
	}
}
