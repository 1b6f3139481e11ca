//go:build unix

package profile

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// ordinary are records of a server at work, over and over: what its runtime loads,
// what it looks for, its own files and a child now and then.
func ordinary(n int) []trace.Record {
	out := []trace.Record{{Op: trace.OpExec, Call: "execve", Tid: 1, Path: "/usr/bin/node", Argv: []string{"node", "/srv/notes/x.js"}}}
	for i := 0; len(out) < n; i++ {
		out = append(out,
			trace.Record{Op: trace.OpOpen, Call: "openat", Tid: 1, Path: fmt.Sprintf("/usr/lib/node/m%d.js", i%500), Flags: "O_RDONLY|O_CLOEXEC", Real: true},
			trace.Record{Op: trace.OpStat, Call: "access", Tid: 1, Path: "/srv/notes/package.json", Flags: "F_OK"},
			trace.Record{Op: trace.OpOpen, Call: "openat", Tid: 1, Path: fmt.Sprintf("/srv/notes/node_modules/a/%d.json", i%50), Flags: "O_RDONLY", Ret: -1, Err: "ENOENT"},
			trace.Record{Op: trace.OpOpen, Call: "openat", Tid: 1, Path: fmt.Sprintf("/data/%d.md", i%20), Flags: "O_RDWR|O_CREAT", Real: true},
			trace.Record{Op: trace.OpFork, Call: "clone", Tid: 1, Child: 2 + i, Flags: "SIGCHLD"},
			trace.Record{Op: trace.OpExit, Call: "exit", Tid: 2 + i},
			trace.Record{Op: trace.OpSocket, Call: "socket", Tid: 1, Addr: &trace.Addr{Family: "unix"}},
			trace.Record{Op: trace.OpOther, Call: "prctl", Tid: 1, Flags: "PR_SET_NAME"},
		)
	}
	for i := range out {
		out[i].Seq, out[i].Time = uint64(i+1), time.Duration(i)*time.Microsecond
	}
	return out
}

// BenchmarkBuilder folds the records of many calls: records a second, records a second
// of a core's work, which a busy machine leaves as it is, and what is kept of
// them ("live-KB").
func BenchmarkBuilder(b *testing.B) {
	records := ordinary(100_000)
	for _, rounds := range []int{1, 30} {
		b.Run(fmt.Sprintf("%dk", rounds*len(records)/1000), func(b *testing.B) {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n, from := 0, cputime.Used(b)
			var last *Builder
			for b.Loop() {
				p := builder()
				p.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseCall), Time: 1})
				for range rounds {
					for i := range records {
						p.Record(&records[i])
					}
					n += len(records)
				}
				last = p
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
			b.ReportMetric(float64(n)/(cputime.Used(b)-from).Seconds()/1e6, "Mrecords/core-s")
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/1024, "live-KB")
			runtime.KeepAlive(last)
		})
	}
}
