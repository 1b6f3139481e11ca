//go:build linux && e2e

package docker

import (
	"context"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// BenchmarkStart measures what a sandbox costs before and after the target's
// own time, step by step.
func BenchmarkStart(b *testing.B) {
	for _, set := range []string{"", "core"} {
		b.Run("trace="+set, func(b *testing.B) {
			spec, _ := specFor(b, debian, "true")
			spec.TraceSet = set
			var ready, ended, closed time.Duration
			for b.Loop() {
				begin := time.Now()
				rec := sandboxtest.NewRecorder()
				run, err := sandbox.Start(b.Context(), New(""), spec, rec)
				if err != nil {
					b.Fatal(err)
				}
				ready += time.Since(begin)
				if _, err := run.Wait(b.Context()); err != nil {
					b.Fatal(err)
				}
				ended += time.Since(begin)
				if err := run.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
				closed += time.Since(begin)
				if len(sandboxtest.EventsOf[session.EventDone](rec)) != 1 {
					b.Fatalf("events: %+v", rec.Events())
				}
			}
			b.ReportMetric(ready.Seconds()*1000/float64(b.N), "ms/started")
			b.ReportMetric((ended-ready).Seconds()*1000/float64(b.N), "ms/end")
			b.ReportMetric((closed-ended).Seconds()*1000/float64(b.N), "ms/close")
		})
	}
}

// BenchmarkSteps measures the requests that make a container.
func BenchmarkSteps(b *testing.B) {
	spec, cli := specFor(b, debian, "true")
	spec.TraceSet = "core"
	spent := map[string]time.Duration{}
	names := []string{"prepare", "create", "programs", "attach", "run", "server", "close"}
	for b.Loop() {
		begin := time.Now()
		lap := func(name string) {
			spent[name] += time.Since(begin)
			begin = time.Now()
		}
		p, err := prepare(b.Context(), cli, spec)
		if err != nil {
			b.Fatal(err)
		}
		lap("prepare")
		own, err := client.New(client.FromEnv)
		if err != nil {
			b.Fatal(err)
		}
		c := &conn{cli: own, setup: p, diagnostics: new(sandbox.Tail), ended: make(chan struct{})}
		for i, step := range []func(context.Context) error{c.create, c.copyPrograms, c.attach, c.run, c.copyServer, c.Close} {
			if err := step(b.Context()); err != nil {
				_ = c.Close(b.Context())
				b.Fatal(err)
			}
			lap(names[i+1])
		}
		p.close()
	}
	for _, name := range names {
		b.ReportMetric(spent[name].Seconds()*1000/float64(b.N), "ms/"+name)
	}
}
