//go:build linux && e2e

package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// BenchmarkAdded measures what a probe adds to a server's own start and calls:
// the time of a whole run less that of the same conversation over a bare pipe.
// The bounds are 1.0 s in the local sandbox and 2.5 s in docker.
func BenchmarkAdded(b *testing.B) {
	agentPath := filepath.Join(sandboxtest.ModuleRoot(b), "bin/coalmine")
	if _, err := os.Stat(agentPath); err != nil {
		b.Skipf("make build first: %v", err)
	}
	servers := map[string][]string{
		"go":     {sandboxtest.ModuleRoot(b) + "/bin/honest"},
		"node":   {"node", sandboxtest.ModuleRoot(b) + "/testdata/servers/honest/honest.mjs"},
		"python": {"python3", sandboxtest.ModuleRoot(b) + "/testdata/servers/honest/honest.py"},
	}
	for name, command := range servers {
		for _, sandbox := range []string{"local", "docker"} {
			b.Run(name+"/"+sandbox, func(b *testing.B) {
				if sandbox == "docker" && exec.Command("docker", "version").Run() != nil {
					b.Skip("no Docker Engine answers")
				}
				var bare, whole time.Duration
				for b.Loop() {
					t0 := time.Now()
					converse(b, command)
					t1 := time.Now()
					_, err := probetest.Run(context.Background(), probetest.OfCommand(sandbox, b.TempDir(), agentPath, command...))
					if err != nil {
						b.Fatal(err)
					}
					bare += t1.Sub(t0)
					whole += time.Since(t1)
				}
				b.ReportMetric((whole-bare).Seconds()/float64(b.N), "added-s")
				b.ReportMetric(bare.Seconds()/float64(b.N), "bare-s")
			})
		}
	}
}

// bareSession is a server over pipes, without sandbox or tracer.
type bareSession struct {
	*client.Client
	surface *wire.Surface
}

func (s bareSession) Relist(ctx context.Context) (*wire.Surface, error) {
	again := *s.surface
	return &again, s.List(ctx, &again)
}

func (bareSession) Sync(context.Context) error { return nil }

// converse has the same conversation as a probe with a twin of ours.
func converse(b *testing.B, command []string) {
	b.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	c := client.New(func(line []byte) error {
		_, err := fmt.Fprintf(in, "%s\n", line)
		return err
	}, client.Options{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := wire.NewSplitter(0)
		buf := make([]byte, 64<<10)
		for {
			n, err := out.Read(buf)
			lines.Feed(buf[:n], func(l wire.Line) { c.Feed(l.Raw) })
			if err != nil {
				c.Closed(io.EOF)
				return
			}
		}
	}()
	ctx := context.Background()
	surface, err := c.Connect(ctx)
	if err != nil {
		b.Fatal(err)
	}
	if err := c.List(ctx, surface); err != nil {
		b.Fatal(err)
	}
	if _, err := synth.Drive(ctx, synth.Config{Session: bareSession{c, surface}, Surface: surface, Seed: 1, Hints: schema.Hints{}}); err != nil {
		b.Fatal(err)
	}
	_ = in.Close()
	<-done
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
}

// deskServer is a server of VERBS times five tools with three arguments each.
const deskServer = `import json, sys
VERBS = ["get", "list", "create", "update"] + ["view%d" % n for n in range(int(sys.argv[1]) - 4)]
NAMES = [v + "_" + n for v in VERBS for n in ("note", "task", "user", "event", "label")]
SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}, "kind": {"enum": ["a", "b", "c"]}, "limit": {"type": "integer", "minimum": 1}}, "required": ["title"]}
for line in sys.stdin:
    r = json.loads(line)
    if "id" not in r or "method" not in r:
        continue
    out = {"jsonrpc": "2.0", "id": r["id"]}
    if r["method"] == "initialize":
        out["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "desk", "version": "1"}}
    elif r["method"] == "tools/list":
        out["result"] = {"tools": [{"name": n, "description": "Keeps the team's " + n.split("_")[1] + "s", "inputSchema": SCHEMA} for n in NAMES]}
    elif r["method"] == "tools/call":
        out["result"] = {"content": [{"type": "text", "text": json.dumps(r["params"].get("arguments"))[:200]}]}
    else:
        out["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(out), flush=True)
`

// BenchmarkQuickBudget measures a whole run of the default budget over servers of twenty and
// of a hundred and fifty tools. A gap that says that calls were left out is counted.
func BenchmarkQuickBudget(b *testing.B) {
	agentPath := filepath.Join(sandboxtest.ModuleRoot(b), "bin/coalmine")
	if _, err := os.Stat(agentPath); err != nil {
		b.Skipf("make build first: %v", err)
	}
	server := filepath.Join(b.TempDir(), "desk.py")
	if err := os.WriteFile(server, []byte(deskServer), 0o644); err != nil {
		b.Fatal(err)
	}
	left := []session.Code{session.GapAttacksIncomplete, session.GapSequencesIncomplete, session.GapCallsIncomplete}
	for _, tools := range []int{20, 150} {
		b.Run(fmt.Sprint(tools), func(b *testing.B) {
			var took time.Duration
			for range b.N {
				t0 := time.Now()
				got, err := probetest.Run(context.Background(), probetest.OfCommand("local", b.TempDir(), agentPath, "python3", server, fmt.Sprint(tools/5)))
				if err != nil {
					b.Fatal(err)
				}
				took += time.Since(t0)
				calls, gaps := 0, 0
				for _, t := range got.Result.Coverage.Tools {
					calls += t.Calls + t.Oracles
				}
				for _, g := range got.Result.Gaps {
					if slices.Contains(left, g.Code) {
						gaps++
					}
				}
				b.ReportMetric(float64(calls), "calls")
				b.ReportMetric(float64(gaps), "gaps")
			}
			b.ReportMetric(took.Seconds()/float64(b.N), "run-s")
		})
	}
}

// BenchmarkCommand measures the whole command over the honest twin in Go, and over four of them
// in one configuration beside one.
func BenchmarkCommand(b *testing.B) {
	coalmine, honest := sandboxtest.Build(b, "./cmd/coalmine"), sandboxtest.Build(b, "./testdata/servers/honest")
	probe := func(b *testing.B, args ...string) cputime.Cost {
		b.Helper()
		c := cputime.Command(b, exec.Command(coalmine, append([]string{"probe", "--quiet", "--seed", "1", "--show", honest, "--out", b.TempDir()}, args...)...))
		if c.Status != 0 {
			b.Fatalf("coalmine probe ended with status %d", c.Status)
		}
		return c
	}
	for _, sandbox := range []string{"local", "docker"} {
		b.Run(sandbox, func(b *testing.B) {
			if sandbox == "docker" && exec.Command("docker", "version").Run() != nil {
				b.Skip("no Docker Engine answers")
			}
			var sum cputime.Cost
			for b.Loop() {
				c := probe(b, "--sandbox", sandbox, "--", honest)
				sum.Wall, sum.CPU = sum.Wall+c.Wall, sum.CPU+c.CPU
			}
			b.ReportMetric(sum.Wall.Seconds()/float64(b.N), "run-s")
			b.ReportMetric(sum.CPU.Seconds()/float64(b.N), "cpu-s")
		})
	}
	b.Run("four", func(b *testing.B) {
		config := func(n int) string {
			servers := map[string]any{}
			for i := range n {
				servers[fmt.Sprint("twin", i)] = map[string]any{"command": honest}
			}
			text, err := json.Marshal(map[string]any{"mcpServers": servers})
			if err != nil {
				b.Fatal(err)
			}
			file := filepath.Join(b.TempDir(), "mcp.json")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				b.Fatal(err)
			}
			return file
		}
		one, four := config(1), config(4)
		var x float64
		for b.Loop() {
			alone := probe(b, "--sandbox", "local", "--config", one)
			x += probe(b, "--sandbox", "local", "--config", four).Wall.Seconds() / alone.Wall.Seconds()
		}
		b.ReportMetric(x/float64(b.N), "x")
	})
}
