//go:build linux && e2e

package action

import (
	"os/exec"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// BenchmarkUnchanged is what a pull request costs that changes no server: the whole action, and
// the command in it.
func BenchmarkUnchanged(b *testing.B) {
	j, base := prJob(b, nothing)
	program := sandboxtest.Build(b, "./cmd/coalmine")
	var command time.Duration
	for b.Loop() {
		if status, _ := j.use(map[string]string{"changed-since": base}); status != 0 || j.values["outputs.verdict"] != "unchanged" {
			b.Fatalf("status %d, %q\n%s", status, j.values, j.log)
		}
		start := time.Now()
		cmd := exec.Command(program, "probe", "--config", ".mcp.json", "--changed-since", base)
		cmd.Dir, cmd.Env = j.dir, gitEnv()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		command += time.Since(start)
	}
	b.ReportMetric((b.Elapsed()-command).Seconds()/float64(b.N), "action-s")
	b.ReportMetric(command.Seconds()/float64(b.N), "command-s")
}
