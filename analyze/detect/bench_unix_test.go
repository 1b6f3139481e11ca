//go:build unix

package detect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// traffic is a session of n frames as a tap writes it: the handshake, a list of
// three tools, and then calls and results of ordinary size (the line of a call
// is 240 bytes long, that of a result 330).
func traffic(n int) []byte {
	var b bytes.Buffer
	seq := 0
	line := func(dir, frame string) {
		seq++
		fmt.Fprintf(&b, `{"schema_version": "0.1", "seq": %d, "ts": "2026-11-21T10:32:%02d.%06d+00:00", "dir": "%s", "frame": %s, "raw": null}`+"\n", seq, seq/1000%60, seq%1000*1000, dir, frame)
	}
	line("c2s", `{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "client", "version": "1"}}}`)
	line("s2c", `{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "weather", "version": "1.2.0"}}}`)
	line("c2s", `{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
	line("c2s", `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)
	tool := `{"name": "%s", "description": "Answers with what is known of a place.", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "units": {"type": "string", "enum": ["metric", "imperial"]}}, "required": ["city"]}}`
	line("s2c", `{"jsonrpc": "2.0", "id": 1, "result": {"tools": [`+fmt.Sprintf(tool, "forecast")+", "+fmt.Sprintf(tool, "history")+", "+fmt.Sprintf(tool, "warnings")+`]}}`)
	for id := 2; seq < n; id++ {
		line("c2s", fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "forecast", "arguments": {"city": "Lisbon", "days": 3, "units": "metric"}}}`, id))
		line("s2c", fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": "Lisbon: sunny on Monday, 21 degrees, wind from the west at 12 km/h; showers on Tuesday, 18 degrees; fair on Wednesday."}], "isError": false}}`, id))
	}
	return b.Bytes()
}

// perCore reports frames for each second of processor time.
func perCore(b *testing.B, frames int, run func()) {
	start := cputime.Used(b)
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(frames)*float64(b.N)/(cputime.Used(b)-start).Seconds(), "frames/s/core")
}

func BenchmarkIngest(b *testing.B) {
	const n = 50_000
	log := traffic(n)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	perCore(b, n, func() {
		r := wirelog.NewReader(bytes.NewReader(log))
		for {
			if _, err := r.Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
		if r.Stats.Frames < n {
			b.Fatalf("%d frames", r.Stats.Frames)
		}
	})
}

func BenchmarkDetect(b *testing.B) {
	const n = 50_000
	log := traffic(n)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	perCore(b, n, func() {
		l, err := Read(bytes.NewReader(log), "log", Options{})
		if err != nil || len(l.Annotations) > 0 || l.Stats.Frames < n {
			b.Fatalf("%v, %d frames, %v", err, l.Stats.Frames, l.Annotations)
		}
	})
}
