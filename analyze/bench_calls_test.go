//go:build unix

package analyze_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// many is the log of a run with 100,000 calls, each of which reads a decoy and files of its own,
// and answers with a page: as much as a run's log holds.
func many(t testing.TB) *analyzetest.Log {
	l := analyzetest.New(t, nil)
	var tools strings.Builder
	for i := range 20 {
		if i > 0 {
			tools.WriteByte(',')
		}
		fmt.Fprintf(&tools, `{"name":"tool_%d","description":"Formats a note.","inputSchema":{"properties":{"text":{"type":"string"}}}}`, i)
	}
	l.Begin(tools.String())
	page := strings.Repeat("All is quiet on the harbour, says the log of the keeper. ", 72)
	key := analyzetest.Home + "/.ssh/id_rsa"
	for i := range 100_000 {
		l.CallSays(fmt.Sprintf("tool_%d", i%20), fmt.Sprintf(`{"text":"%d"}`, i), fmt.Sprintf("%d %s", i, page), func() {
			l.Open(key, "O_RDONLY|O_CLOEXEC", "")
			for k := range 6 {
				l.Open(fmt.Sprintf("/home/dana/workspace/notes/%d-%d.txt", i, k), "O_RDONLY|O_CLOEXEC", "")
			}
		})
	}
	l.End()
	return l
}

// BenchmarkJudgeCalls judges and reports a run of 100,000 calls: at most five seconds and
// 200 MB of heap. html-MB and json-MB are the sizes of its reports.
func BenchmarkJudgeCalls(b *testing.B) {
	l := many(b)
	l.Judge(analyze.Options{})
	b.ResetTimer()
	for b.Loop() {
		runtime.GC()
		began := cputime.Used(b)
		res := analyzetest.Judge(b, l.Dir(), analyze.Options{})
		judged := cputime.Used(b) - began
		html, json := new(counter), new(counter)
		if err := report.HTML(html, res, report.HTMLOptions{}); err != nil {
			b.Fatal(err)
		}
		if err := report.JSON(json, res); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric((cputime.Used(b) - began).Seconds(), "cpu-s")
		b.ReportMetric(judged.Seconds(), "judge-cpu-s")
		b.ReportMetric(float64(*html)/1e6, "html-MB")
		b.ReportMetric(float64(*json)/1e6, "json-MB")
		var after runtime.MemStats
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapSys)/(1<<20), "heap-MB")
		size := int64(0)
		for _, name := range []string{"session.jsonl", "trace.jsonl"} {
			info, err := l.Dir().Stat(name)
			if err != nil {
				b.Fatal(err)
			}
			size += info.Size()
		}
		b.ReportMetric(float64(size)/1e6, "log-MB")
		if n := res.Coverage.Tools[0].Calls; n != 5000 || size < 240e6 {
			b.Fatalf("%d calls, %d bytes", n, size)
		}
	}
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
