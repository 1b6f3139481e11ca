//go:build linux && e2e

package network

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// burst and syncs are how many connections and syncs are timed, uploaded how many MB.
const burst, syncs, uploaded = 1000, 100, (1 << 30) / 1e6

// BenchmarkNetwork measures the sinkhole in a whole sandbox, under strace: what
// it adds to a run (arming, trust, its process), what a sync costs, and how fast
// connections and an upload of a gigabyte go through.
func BenchmarkNetwork(b *testing.B) {
	agentPath := filepath.Join(sandboxtest.ModuleRoot(b), "bin/coalmine")
	if _, err := os.Stat(agentPath); err != nil {
		b.Skipf("make build first: %v", err)
	}
	caller, honest := sandboxtest.Build(b, "./testdata/servers/caller"), sandboxtest.Build(b, "./testdata/servers/honest")
	for _, backend := range probetest.Backends {
		b.Run(backend, func(b *testing.B) {
			if backend == "docker" && exec.Command("docker", "version").Run() != nil {
				b.Skip("no Docker Engine answers")
			}
			options := func(network, command string) probetest.Request {
				o := probetest.OfCommand(backend, b.TempDir(), agentPath, command)
				o.Calls, o.Network, o.CallTimeout, o.Limits = 1, network, 2*time.Minute, agent.Limits{Memory: 1 << 30, Pids: 256}
				return o
			}
			timed := func(o probetest.Request) time.Duration {
				began := time.Now()
				if _, err := probetest.Run(context.Background(), o); err != nil {
					b.Fatal(err)
				}
				return time.Since(began)
			}
			var added, inBurst, inSync, inUpload time.Duration
			for b.Loop() {
				added += timed(options(plan.NetworkSinkhole, honest)) - timed(options(plan.NetworkNone, honest))
				o := options(plan.NetworkSinkhole, caller)
				busy := []*called{{how: "burst", url: "tcp://93.184.216.34:7000/" + strconv.Itoa(burst)}, {how: "upload", url: "http://93.184.216.34/1024"}}
				var began time.Time
				calls(&o, busy, func(one *called, c *run.Session) {
					began = time.Now()
					if one == busy[1] {
						for range syncs {
							_ = c.Sync(context.Background())
						}
						inSync += time.Since(began)
						began = time.Now()
					}
				})
				whole := o.Driver
				o.Driver = func(ctx context.Context, c *run.Session) error {
					defer func() { inUpload += time.Since(began) }()
					return whole(ctx, c)
				}
				timed(o)
				seconds, err := strconv.ParseFloat(busy[0].text(), 64)
				if err != nil || busy[1].text() != "200 OK" {
					b.Fatalf("%q %q", busy[0].text(), busy[1].text())
				}
				inBurst += time.Duration(seconds * float64(time.Second))
			}
			n := float64(b.N)
			b.ReportMetric(added.Seconds()*1000/n, "added-ms")
			b.ReportMetric(inSync.Seconds()*1000/n/syncs, "sync-ms")
			b.ReportMetric(n*burst/inBurst.Seconds(), "conns/s")
			b.ReportMetric(n*uploaded/inUpload.Seconds(), "MB/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
