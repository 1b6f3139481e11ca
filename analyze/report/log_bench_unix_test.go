//go:build unix

package report

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// wireLog is a session of n frames as the tap writes it; each tenth call names a
// tool that was never declared, so that the page has findings to show.
func wireLog(n int) []byte {
	var b bytes.Buffer
	seq := 0
	line := func(dir, frame string) {
		seq++
		fmt.Fprintf(&b, `{"schema_version": "0.1", "seq": %d, "ts": "2026-11-21T10:32:%02d.%06d+00:00", "dir": "%s", "frame": %s, "raw": null}`+"\n", seq, seq/1000%60, seq%1000*1000, dir, frame)
	}
	line("c2s", `{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "client", "version": "1"}}}`)
	line("s2c", `{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "weather", "version": "1.2.0"}}}`)
	line("c2s", `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)
	line("s2c", `{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "forecast", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}]}}`)
	for id := 2; seq < n; id++ {
		name := "forecast"
		if id%10 == 0 {
			name = "history"
		}
		line("c2s", fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "%s", "arguments": {"city": "Lisbon"}}}`, id, name))
		line("s2c", fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": "sunny on Monday, 21 degrees"}]}}`, id))
	}
	return b.Bytes()
}

// BenchmarkLogHTML is "coalmine report LOG --format html" on 10,000 frames: the
// log is read, judged and written as a page; or the page alone is written. The
// frames are those of a second of one processor.
func BenchmarkLogHTML(b *testing.B) {
	const frames = 10_000
	log := wireLog(frames)
	judge := func() *analyze.Result {
		res, l, err := analyze.JudgeLog(bytes.NewReader(log), "log", analyze.LogOptions{})
		if err != nil || l.Stats.Frames < frames || len(res.Findings) == 0 {
			b.Fatalf("%v: %d findings", err, len(res.Findings))
		}
		return res
	}
	page := func(res *analyze.Result) {
		if err := HTML(io.Discard, res, HTMLOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	perCore := func(b *testing.B, run func()) {
		began := cputime.Used(b)
		for b.Loop() {
			run()
		}
		b.ReportMetric(frames*float64(b.N)/(cputime.Used(b)-began).Seconds(), "frames/s/core")
	}
	b.Run("whole", func(b *testing.B) { perCore(b, func() { page(judge()) }) })
	res := judge()
	b.Run("page", func(b *testing.B) { perCore(b, func() { page(res) }) })
}
