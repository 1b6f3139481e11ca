//go:build linux && e2e

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// BenchmarkCommands measures the commands that read a log, whole and on one processor.
func BenchmarkCommands(b *testing.B) {
	const frames = 400_000
	coalmine := sandboxtest.Build(b, "./cmd/coalmine")
	log := filepath.Join(b.TempDir(), "session.jsonl")
	sessionLog(b, log, frames)
	for _, command := range []string{"summarize", "detect", "report"} {
		b.Run(command, func(b *testing.B) {
			var c cputime.Cost
			for b.Loop() {
				args := []string{command, log}
				if command == "report" {
					args = append(args, "--out", filepath.Join(b.TempDir(), "report.html"))
				}
				cmd := exec.Command(coalmine, args...)
				cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
				if c = cputime.Command(b, cmd); c.Status != 0 {
					b.Fatalf("coalmine %s ended with status %d", command, c.Status)
				}
			}
			b.ReportMetric(frames/1000/c.CPU.Seconds(), "kframes/cpu-s")
			b.ReportMetric(float64(c.Peak)/(1<<20), "peak-MB")
		})
	}
}

// sessionLog writes a session of n frames as a tap does, of 390 bytes each as in the design's
// measurement: the handshake, one tool, then its calls and their results.
func sessionLog(b *testing.B, path string, n int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	seq := 0
	line := func(dir, frame string, args ...any) {
		seq++
		fmt.Fprintf(w, `{"schema_version": "0.1", "seq": %d, "ts": "2026-11-21T10:32:%02d.%06d+00:00", "dir": "%s", "frame": %s, "raw": null}`+"\n", seq, seq/1000%60, seq%1000*1000, dir, fmt.Sprintf(frame, args...))
	}
	line("c2s", `{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "client", "version": "1"}}}`)
	line("s2c", `{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "weather", "version": "1"}}}`)
	line("c2s", `{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
	line("c2s", `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)
	line("s2c", `{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "forecast", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}, "why": {"type": "string"}}}}]}}`)
	for id := 2; seq < n; id++ {
		line("c2s", `{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "forecast", "arguments": {"city": "Lisbon", "why": "Question %d: a walk along the river is planned, and it should be dry and not too warm; so what is the weather on that day, please?"}}}`, id, id)
		line("s2c", `{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": "Answer %d: sunny on Monday, 21 degrees, wind from the west at 12 km/h; showers on Tuesday, 18 degrees; fair on Wednesday, with clouds in the evening over the river."}]}}`, id, id)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
}
