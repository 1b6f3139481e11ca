//go:build linux && e2e

package network

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
)

// judgement is what a run yields, without what only that run has.
func judgement(r *analyze.Result) []string {
	out := []string{fmt.Sprintf("verdict %s, reasons %q, server %s, tools %d", r.Verdict, r.Inconclusive, r.Server.Name, len(r.Coverage.Tools))}
	for _, f := range r.Findings {
		if f.Rule == "CM219" || f.Rule == "CM703" {
			continue // of the port, which stdio has not
		}
		out = append(out, fmt.Sprintf("%s %s %s %s %s %s", f.Rule, f.Severity, f.Tool, f.Phase, f.Rung, f.Fingerprint))
	}
	slices.Sort(out)
	return out
}

// The same server yields the same findings over stdio, Streamable HTTP (with
// a session, and without one from 2026-07-28) and SSE.
func TestEveryTransportIsJudgedAlike(t *testing.T) {
	t.Parallel()
	for _, mode := range scale.First(1, []string{"honest", "leaky"}) {
		for _, backend := range probetest.Paired(mode) {
			t.Run(backend+" "+mode, func(t *testing.T) {
				probetest.Need(t, backend)
				var want []string
				for _, served := range []string{plan.TransportStdio, plan.TransportHTTP, "stateless", plan.TransportSSE} {
					l := probetest.New(t, "web")
					command := []string{l.Path("web"), served, mode}
					transport := served
					if served == "stateless" {
						transport = plan.TransportHTTP
					}
					if transport != plan.TransportStdio && mode == "honest" {
						// What is open to the neighbours is the transport's own port.
						command = append(command, "0.0.0.0:8931")
					}
					o := l.Options(backend, command...)
					o.Transport, o.Name, o.Calls, o.Seed, o.ShrinkTime = transport, "web", 2, 1, 1
					o.Timeout = time.Minute // a busy machine may stop a start for long
					r := l.Probe(o)
					got := judgement(r)
					if (r.Server.Protocol == "2026-07-28") != (served == "stateless") {
						t.Errorf("%s: protocol %s", served, r.Server.Protocol)
					}
					if transport == plan.TransportStdio {
						want = got
						if (len(got) == 1) != (mode == "honest") {
							t.Errorf("over stdio: %q", got)
						}
						continue
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s: %s", served, diff)
					}
				}
			})
		}
	}
}

// A server that listens on a port and does not answer on its stdout is spoken to over HTTP, and over SSE where that is
// what it speaks.
func TestTransportIsFound(t *testing.T) {
	t.Parallel()
	for _, backend := range scale.One(t.Name(), probetest.Backends) {
		probetest.Need(t, backend)
		l := probetest.New(t, "web")
		o := l.Options(backend, l.Path("web"), plan.TransportSSE, "honest")
		o.Name, o.Calls, o.ShrinkTime, o.Timeout = "web", 2, 1, time.Minute
		r := l.Probe(o)
		if got := judgement(r); len(r.Coverage.Tools) == 0 || !strings.Contains(r.Run.Reproduce, " --transport sse ") {
			t.Errorf("%s: %q, %s", backend, got, r.Run.Reproduce)
		}
	}
}

// A server that opens no port is told of, and nothing of it is called clean.
func TestNoPort(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	l := probetest.New(t, "web")
	o := l.Options("local", l.Path("web"), "stdio", "honest")
	o.Transport = plan.TransportHTTP
	o.Timeout = 3e9
	r := l.Probe(o)
	if r.Verdict != "inconclusive" {
		t.Errorf("%q", judgement(r))
	}
}
