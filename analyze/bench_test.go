//go:build unix

package analyze_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// heavy is the log of a run with so many frames and records.
func heavy(t testing.TB, frames, records int) *analyzetest.Log {
	l := analyzetest.New(t, nil)
	var tools bytes.Buffer
	for i := range 20 {
		if i > 0 {
			tools.WriteByte(',')
		}
		fmt.Fprintf(&tools, `{"name":"tool_%d","description":"Reads a file at a path.","inputSchema":{"properties":{"path":{}}},"annotations":{"readOnlyHint":true}}`, i)
	}
	l.Begin(tools.String())
	calls := frames / 2
	each := records / max(calls, 1)
	for i := range calls {
		l.Call(fmt.Sprintf("tool_%d", i%20), `{"path":"/data/notes.txt"}`, func() {
			for k := range each {
				switch k % 8 {
				case 0:
					l.Open(fmt.Sprintf("/home/dana/workspace/src/file_%d.txt", k%40), "O_RDONLY|O_CLOEXEC", "")
				case 1:
					l.Open("/usr/lib/x86_64-linux-gnu/libc.so.6", "O_RDONLY|O_CLOEXEC", "")
				case 2:
					l.Open(fmt.Sprintf("/srv/notes/node_modules/p%d/package.json", k), "O_RDONLY", "ENOENT")
				default:
					l.Record(trace.Record{Op: trace.OpStat, Call: "newfstatat", Path: fmt.Sprintf("/srv/notes/node_modules/p%d/index.js", k), FD: -1})
				}
			}
		}, nil)
	}
	l.End()
	return l
}

// BenchmarkJudge judges and reports ten thousand frames and a million records: at
// most two seconds and 300 MB. cpu-s is what it takes of a processor, whatever
// else the machine does.
func BenchmarkJudge(b *testing.B) {
	l := heavy(b, 10_000, 1_000_000)
	l.Judge(analyze.Options{})
	b.ResetTimer()
	for b.Loop() {
		runtime.GC()
		began := cputime.Used(b)
		res := analyzetest.Judge(b, l.Dir(), analyze.Options{})
		for _, write := range []func(io.Writer, *analyze.Result) error{report.JSON, report.Markdown, junit} {
			if err := write(io.Discard, res); err != nil {
				b.Fatal(err)
			}
		}
		if err := report.HTML(io.Discard, res, report.HTMLOptions{}); err != nil {
			b.Fatal(err)
		}
		if err := report.SARIF(io.Discard, res, report.SARIFOptions{}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric((cputime.Used(b) - began).Seconds(), "cpu-s")
		var after runtime.MemStats
		runtime.ReadMemStats(&after)
		if res.Coverage.Records < 900_000 || res.Coverage.Lost > 0 {
			b.Fatalf("%d records, %d lost", res.Coverage.Records, res.Coverage.Lost)
		}
		b.ReportMetric(float64(after.HeapSys)/(1<<20), "heap-MB")
	}
}

// chatty is the log of a run with a hundred megabytes of frames: calls whose
// results are pages of text, and a listing after every tenth.
func chatty(t testing.TB) *analyzetest.Log {
	l := analyzetest.New(t, nil)
	var tools bytes.Buffer
	for i := range 20 {
		if i > 0 {
			tools.WriteByte(',')
		}
		fmt.Fprintf(&tools, `{"name":"tool_%d","description":"Reads a file at a path.","inputSchema":{"properties":{"path":{}}},"annotations":{"readOnlyHint":true}}`, i)
	}
	l.Begin(tools.String())
	page := strings.Repeat("All is quiet on the harbour, says the log of the keeper. ", 700)
	for i := range 2500 {
		l.Call(fmt.Sprintf("tool_%d", i%20), `{"path":"/data/notes.txt"}`, func() {
			l.Frame(session.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%d"}}`, i))
		}, nil)
		l.Request("resources/read", `{"uri":"file:///log"}`, fmt.Sprintf(`{"contents":[{"uri":"file:///log","text":"%d %s"}]}`, i, page))
		if i%10 == 0 {
			l.List(tools.String())
		}
	}
	l.End()
	return l
}

// BenchmarkJudgeFrames judges a hundred megabytes of frames: at most two seconds of a
// processor, and 100 MB. cpu-s is as BenchmarkJudge has it.
func BenchmarkJudgeFrames(b *testing.B) {
	l := chatty(b)
	l.Judge(analyze.Options{})
	b.ResetTimer()
	for b.Loop() {
		runtime.GC()
		began := cputime.Used(b)
		res := analyzetest.Judge(b, l.Dir(), analyze.Options{})
		b.ReportMetric((cputime.Used(b) - began).Seconds(), "cpu-s")
		var after runtime.MemStats
		runtime.ReadMemStats(&after)
		if res.Coverage.Tools[0].Calls != 125 {
			b.Fatalf("%+v", res.Coverage.Tools)
		}
		b.ReportMetric(float64(after.HeapSys)/(1<<20), "heap-MB")
	}
}

func junit(w io.Writer, res *analyze.Result) error { return report.JUnit(w, res) }
