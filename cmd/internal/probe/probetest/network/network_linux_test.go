//go:build linux && e2e

package network

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// process is one that runs coalmine's own program below this one.
type process struct {
	pid, uid int
	// peak is what was resident at most, own and mapped are the memory and the pages of files that are
	// resident now, in bytes.
	peak, own, mapped int64
}

// ours are the agent and the sink of a local sandbox, as this machine sees them.
func ours(program string) (found []process) {
	parent, mine := map[int]int{}, []process{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		pid, _ := strconv.Atoi(filepath.Base(p))
		// The program comes first: between fork and exec the memory is the test's own.
		exe, _ := os.Readlink(p + "/exe")
		status, err := os.ReadFile(p + "/status")
		if err != nil {
			continue
		}
		one := process{pid: pid}
		for line := range strings.Lines(string(status)) {
			f := strings.Fields(line)
			if len(f) < 2 {
				continue
			}
			switch n, _ := strconv.Atoi(f[1]); f[0] {
			case "PPid:":
				parent[pid] = n
			case "Uid:":
				one.uid = n
			case "VmHWM:":
				one.peak = int64(n) << 10
			case "RssAnon:":
				one.own = int64(n) << 10
			case "RssFile:":
				one.mapped = int64(n) << 10
			}
		}
		if exe == program {
			mine = append(mine, one)
		}
	}
	for _, one := range mine {
		for p := one.pid; p > 1; p = parent[p] {
			if p == os.Getpid() {
				found = append(found, one)
			}
		}
	}
	return found
}

// sinkPeer is the uid of a sink on this machine, where root's sandbox maps all of them.
const sinkPeer = 65533

// peaks watches until stop is called how much agent and sink take at most.
func peaks(program string) (stop func() (agent, sink int64)) {
	done := make(chan struct{})
	var a, s int64
	// The kernel takes a program's pages back when it likes, and the peak has them still.
	mapped := map[int]int64{}
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			for _, p := range ours(program) {
				mapped[p.pid] = max(mapped[p.pid], p.mapped)
				took := max(p.own, p.peak-mapped[p.pid])
				if p.uid == sinkPeer {
					s = max(s, took)
				} else {
					a = max(a, took)
				}
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	return func() (int64, int64) {
		close(done)
		wg.Wait()
		return a, s
	}
}

// faulty is a way to make it hard for whoever answers, and what has to be said.
type faulty struct {
	how, url string
	answer   string // that the client got
	verdict  analyze.Verdict
	because  string // what one reason holds
	rule     string // that a finding has
	// seen holds parts of the payload that have to be in the log.
	seen []string
	most int64 // that agent and sink may take, 0 for the usual
}

var faults = []faulty{
	{how: "get", url: "https://api.example.com/plain", answer: "200 ", verdict: analyze.Clean, seen: []string{"what a client says"}},
	{how: "pin", url: "tls://pinned.example.com:443", answer: "pinned", verdict: analyze.Inconclusive, because: "could not decrypt what the server sent to pinned.example.com:443", rule: "CM107"},
	{how: "connections", url: "tcp://flood.example.com:9000/", answer: "%d connections", verdict: analyze.Inconclusive, because: "closed to make room"},
	{how: "slow", url: "http://slow.example.com:80", answer: "150 held", verdict: analyze.Inconclusive, because: "not to its end", seen: []string{"GET /slow HTTP/1.1"}},
	{how: "upload", url: "http://big.example.com/", answer: "200 OK", verdict: analyze.Findings, rule: "CM103"},
	{how: "malformed-tls", url: "tcp://broken.example.com:443", answer: "said", verdict: analyze.Inconclusive, because: "could not decrypt what the server sent to broken.example.com:443", rule: "CM107"},
	{how: "dns-loop", url: "udp://8.8.8.8:53", answer: "answered", verdict: analyze.Inconclusive, because: "as DNS could not be read", seen: []string{"\x00\x00\xc0\x0c\x00\x01", "\xff\xff\x00\x01"}},
	{how: "smuggle", url: "http://smuggle.example.com:80", answer: "said", verdict: analyze.Inconclusive, because: "in more than one way", seen: []string{"0\r\n\r\nPOST /hidden HTTP/1.1", "Content-Length: 0\r\n\r\nPOST /hidden"}},
	{how: "gzip-bomb", url: "http://bomb.example.com/post", answer: "200 OK", verdict: analyze.Inconclusive, because: "packed body sent to bomb.example.com:80 could not be read whole"},
}

// most is what agent and sink may each take, and while they hold a flood of connections.
const most, mostFlooded = 32 << 20, 96 << 20

// fullEnv asks for all faults at full size.
const fullEnv = "COALMINE_NETWORK_FAULTS"

// amounts are how many connections are made at once, more than the sinkhole holds, and how many
// MiB are uploaded, many times what agent, sink and log may take.
func amounts() (connections, upload int) {
	if os.Getenv(fullEnv) != "" {
		return 10_000, 1024
	}
	return 2800, 192
}

// TestNetworkFaults: nothing that a server does to whoever answers hangs a run,
// and what was not seen whole is never called clean.
func TestNetworkFaults(t *testing.T) {
	t.Parallel()
	var agents, sinks atomic.Int64
	t.Cleanup(func() {
		if agents.Load() == 0 || sinks.Load() == 0 {
			t.Error("no memory was measured")
		}
	})
	for _, f := range faults {
		if !scale.Part(f.how, 3) && os.Getenv(fullEnv) == "" {
			continue
		}
		t.Run(f.how, func(t *testing.T) {
			t.Parallel()
			probetest.Need(t, "local")
			sandboxtest.Need(t, "root") // whose sink has a uid of its own
			l := probetest.New(t, "caller")
			connections, upload := amounts()
			switch f.how {
			case "connections":
				f.url, f.answer, f.most = f.url+strconv.Itoa(connections), fmt.Sprintf(f.answer, connections), mostFlooded
			case "upload":
				f.url += strconv.Itoa(upload)
			}
			agent, sink := f.check(t, l, "local")
			agents.Add(agent)
			sinks.Add(sink)
		})
	}
}

// check makes the one call and judges what came of it. It returns what agent and sink took at
// most, 0 for one that nobody saw: both may end between two looks.
func (f faulty) check(t *testing.T, l *probetest.Lab, backend string) (inAgent, inSink int64) {
	o := l.Options(backend, l.Path("caller"))
	o.Timeout, o.CallTimeout = 4*time.Minute, 3*time.Minute // on a machine that is busy
	o.Limits = agent.Limits{Memory: 1 << 30, Pids: 256, CPU: time.Minute, Output: 24 << 20, File: 16 << 20, Disk: 16 << 20}
	o.AgentPath = filepath.Join(l.Dir, "coalmine") // which is no other run's
	probetest.CopyFixture(t, sandboxtest.Build(t, "./cmd/coalmine"), o.AgentPath)
	list := []*called{{how: f.how, url: f.url}}
	calls(&o, list, nil)
	began := time.Now()
	stop := peaks(o.AgentPath)
	res := l.ProbeWithin(5*time.Minute, o)
	inAgent, inSink = stop()
	t.Logf("%s in %.1f s: %q: %s %q; agent %d MiB, sink %d MiB", f.how, time.Since(began).Seconds(), list[0].text(), res.Verdict, res.Inconclusive, inAgent>>20, inSink>>20)
	if got := list[0].text(); !strings.HasPrefix(got, f.answer) {
		t.Errorf("it answered %q", got)
	}
	if bound := max(f.most, most); inAgent > bound || inSink > bound {
		t.Errorf("agent %d and sink %d bytes", inAgent, inSink)
	}
	f.judged(t, l, res)
	return inAgent, inSink
}

func (f faulty) judged(t *testing.T, l *probetest.Lab, res *analyze.Result) {
	t.Helper()
	if res.Verdict != f.verdict {
		t.Errorf("the verdict is %s, not %s", res.Verdict, f.verdict)
	}
	if all := strings.Join(res.Inconclusive, "\n"); !strings.Contains(all, f.because) {
		t.Errorf("no reason says %q", f.because)
	}
	rules := map[string]bool{"": true}
	for _, found := range res.Findings {
		rules[found.Rule] = true
	}
	if !rules[f.rule] {
		t.Errorf("no %s among %v", f.rule, rules)
	}
	wire := l.Wire()
	for _, s := range f.seen {
		if !strings.Contains(wire, s) {
			t.Errorf("%q is not in the log", s)
		}
	}
	if f.verdict == analyze.Clean {
		seenWhole(l)
	}
}

// seenWhole checks that the log holds every byte of every flow, as the sink
// counted them: a clean verdict stands on nothing less.
func seenWhole(l *probetest.Lab) {
	l.T.Helper()
	kept, ended, open := map[uint64]int64{}, map[uint64]bool{}, map[uint64]bool{}
	for f := range l.Flows() {
		switch f.Type {
		case trace.FlowOpen:
			open[f.Flow] = true
		case trace.FlowData:
			kept[f.Flow] += int64(len(f.Data))
		case trace.FlowClose:
			ended[f.Flow] = true
			if f.Cut || f.Opaque || f.Kept != kept[f.Flow] || !f.TLS && kept[f.Flow] < f.Up {
				l.T.Errorf("of flow %d to %s with %d bytes %d are kept (%d); cut %v, opaque %v", f.Flow, f.Dest, f.Up, f.Kept, kept[f.Flow], f.Cut, f.Opaque)
			}
		case trace.FlowLoss:
			l.T.Errorf("a loss: %s", f.Error)
		}
	}
	if len(open) == 0 || len(ended) != len(open) {
		l.T.Errorf("%d flows, of which %d ended", len(open), len(ended))
	}
}

// TestNothingLeaves: whatever a server tries past the routes, no interface of this
// machine carries it, those of the engine's bridges included. What goes by the
// routes is the sinkhole's.
func TestNothingLeaves(t *testing.T) {
	t.Parallel()
	probetest.InAllBackends(t, probetest.Leaves)
}

// TestSinkholeKilled: what is sent to a sinkhole that is gone is not called seen.
func TestSinkholeKilled(t *testing.T) {
	t.Parallel()
	probetest.InBackends(t, func(t *testing.T, backend string) {
		sandboxtest.Need(t, "root")
		l := probetest.New(t, "caller")
		o := l.Options(backend, l.Path("caller"))
		list := []*called{{how: "get", url: "http://api.example.com/before"}, {how: "get", url: "http://api.example.com/after"}}
		calls(&o, list, func(c *called, conv *run.Session) {
			if c == list[1] {
				if err := killSink(l); err != nil {
					t.Error(err)
				}
			}
		})
		res := l.Probe(o)
		t.Logf("%q %q: %s %q", list[0].text(), list[1].text(), res.Verdict, res.Inconclusive)
		if !strings.HasPrefix(list[0].text(), "200 ") || res.Verdict != analyze.Inconclusive || !strings.Contains(strings.Join(res.Inconclusive, "\n"), "the sinkhole ended (SIGKILL)") {
			t.Errorf("%s %q", res.Verdict, res.Inconclusive)
		}
	})
}

// killSink kills the sink of the lab's sandbox: the process of its uid whose
// parent has the lab's server among its descendants.
func killSink(l *probetest.Lab) error {
	parent, sinks, servers := map[int]int{}, []int{}, []int{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		pid, _ := strconv.Atoi(filepath.Base(p))
		status, err := os.ReadFile(p + "/status")
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			if v, ok := strings.CutPrefix(line, "PPid:"); ok {
				parent[pid], _ = strconv.Atoi(strings.TrimSpace(v))
			}
			if v, ok := strings.CutPrefix(line, "Uid:"); ok && strings.Fields(v)[0] == strconv.Itoa(sinkPeer) {
				sinks = append(sinks, pid)
			}
		}
		if cmdline, err := os.ReadFile(p + "/cmdline"); err == nil && strings.HasPrefix(string(cmdline), l.Path("caller")+"\x00") {
			servers = append(servers, pid)
		}
	}
	for _, sink := range sinks {
		for _, server := range servers {
			for p := server; p > 1; p = parent[p] {
				if p == parent[sink] {
					return unix.Kill(sink, unix.SIGKILL)
				}
			}
		}
	}
	return fmt.Errorf("no sink among %v for the servers %v", sinks, servers)
}
