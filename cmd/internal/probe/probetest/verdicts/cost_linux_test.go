//go:build linux && e2e

package verdicts

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// TestCost prints how long each run of a probe of a small honest server lasted, in three
// languages. COALMINE_VERDICTS=all asks for it.
func TestCost(t *testing.T) {
	if os.Getenv(allEnv) == "" {
		t.Skip("COALMINE_VERDICTS=all asks for the cost of experiments")
	}
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python", "node")
	for _, command := range [][]string{{"python3", "honest/honest.py"}, {"node", "honest/honest.mjs"}, {sandboxtest.Build(t, "./testdata/servers/honest")}} {
		name := filepath.Base(command[len(command)-1])
		t.Run(name, func(t *testing.T) {
			l := probetest.New(t)
			from := filepath.Join(sandboxtest.ModuleRoot(t), "testdata", "servers", command[len(command)-1])
			if len(command) == 1 {
				from = command[0]
			}
			probetest.CopyFixture(t, from, l.Path(name))
			args := append([]string{"probe", "--sandbox", "local", "--seed", "1", "--out", l.Out, "--"}, command[:len(command)-1]...)
			began := time.Now()
			c := l.Start("local", nil, append(args, l.Path(name))...)
			if !c.EndsWithin(longest) {
				t.Fatalf("coalmine did not end in %v", longest)
			}
			whole := time.Since(began)
			root, err := os.OpenRoot(l.LogDir())
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			index, err := session.ReadIndex(root)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range index.Runs {
				fmt.Printf("cost %s %s: %.1f s\n", name, r.Experiment, lasted(t, root, r.Dir).Seconds())
			}
			fmt.Printf("cost %s all, with the judging: %.1f s\n", name, whole.Seconds())
		})
	}
}

// lasted is how long a run took, by the clock of its log: from its header to its last event.
func lasted(t *testing.T, root *os.Root, dir string) time.Duration {
	t.Helper()
	f, err := root.Open(filepath.Join(dir, session.TraceFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var first, last int64
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var line struct {
			Clock0 int64 `json:"clock0"`
			T      int64 `json:"t"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil {
			first, last = max(first, line.Clock0), max(last, line.T)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return time.Duration(last - first)
}
