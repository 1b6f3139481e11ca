//go:build linux && e2e

package faults

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// killCase is one kill -9: of which process, in what run, and when.
type killCase struct {
	N      int
	Engine string // "local", "docker", or "own" for an engine of the test's own
	Tracer string
	Victim string // "coalmine", "agent", "tracer", "sink" or "dockerd"; eBPF's reader is coalmine
	Server string
	At     string // a text of the trace, "" for the process's start
	// Earlier says that the directory holds the result of a probe that ended well.
	Earlier bool
}

// killMoments are texts of the trace, as they come in a run.
var killMoments = []string{"", `"type":"ready"`, `"phase":"handshake"`, `"phase":"list"`, `"kind":"call"`, `"phase":"idle"`, atShutdown}

const atShutdown = `"phase":"shutdown"`

const (
	allKills = 200
	// killTries is how often a kill that came after the run's end is tried again.
	killTries = 12
	// killBound is how long a run may take to its moment, on a machine that is busy.
	killBound = 100 * time.Second
)

// kill draws the nth case. The same number is the same case.
func kill(n int) killCase {
	r := killRand(n, 0)
	k := killCase{N: n, Engine: "local", Tracer: "strace", Server: []string{"honest", "leaky"}[r.IntN(2)], At: killMoments[r.IntN(len(killMoments))]}
	victims := []string{"coalmine", "agent", "sink", "tracer"}
	switch n % 10 {
	case 1, 4, 8:
		k.Engine = "docker"
	case 6:
		k.Engine, k.Victim = "own", "dockerd"
		return k
	}
	if r.IntN(2) == 0 {
		k.Tracer, victims = "ebpf", victims[:3]
	}
	k.Victim = victims[r.IntN(len(victims))]
	k.Earlier = k.Victim == "coalmine" && k.Server == "honest" && r.IntN(2) == 0
	return k
}

func killRand(n, try int) *rand.Rand { return rand.New(rand.NewPCG(uint64(n), uint64(try))) }

// after is how long after its moment the kill comes: the sooner, the more often it came too late.
func (k killCase) after(try int) time.Duration {
	longest := 300 * time.Millisecond
	if k.At == "" {
		longest = 2 * time.Second
	}
	return time.Duration(killRand(k.N, try+1).Int64N(int64(longest) / int64(try+1)))
}

func (k killCase) String() string {
	at := k.At
	if at == "" {
		at = "start"
	}
	return fmt.Sprintf("%03d %s %s %s %s %s earlier=%t", k.N, k.Engine, k.Tracer, k.Victim, k.Server, strings.Trim(at, `"`), k.Earlier)
}

// sampleKills are those of every test run: each victim once.
var sampleKills = []killCase{
	{N: 1000, Engine: "local", Tracer: "ebpf", Victim: "coalmine", Server: "honest", At: `"kind":"call"`, Earlier: true},
	{N: 1001, Engine: "local", Tracer: "strace", Victim: "agent", Server: "honest", At: `"phase":"handshake"`},
	{N: 1002, Engine: "local", Tracer: "strace", Victim: "tracer", Server: "honest", At: `"kind":"call"`},
	{N: 1004, Engine: "docker", Tracer: "strace", Victim: "sink", Server: "honest", At: `"kind":"call"`},
	{N: 1005, Engine: "own", Tracer: "strace", Victim: "dockerd", Server: "honest", At: `"kind":"call"`},
}

// TestKills kills one process of a run without warning. Afterwards nothing is left
// once coalmine clean has run, what was logged can be read, and no verdict is clean.
// COALMINE_KILLS=all takes all cases, SHARD=i/n a part of them.
func TestKills(t *testing.T) {
	sandboxtest.Need(t, "root")
	cases := sampleKills
	if os.Getenv("COALMINE_KILLS") == "all" {
		cases = nil
		for n := range allKills {
			cases = append(cases, kill(n))
		}
	}
	cases = probetest.Shard(t, cases)
	fmt.Printf("kills %d\n", len(cases))
	own := newEngine(t)
	for _, k := range cases {
		t.Run(fmt.Sprintf("%03d", k.N), func(t *testing.T) {
			t.Parallel()
			kept := keptKill(t, k)
			if _, err := os.Stat(kept); err == nil && os.Getenv("COALMINE_KILLS") == "all" {
				fmt.Printf("kill %s: held (as before)\n", k)
				return
			}
			k.run(t, own)
			if t.Failed() {
				fmt.Printf("kill %s: FAILED\n", k)
				return
			}
			fmt.Printf("kill %s: held\n", k)
			if err := os.MkdirAll(filepath.Dir(kept), 0o700); err == nil {
				_ = os.WriteFile(kept, []byte(k.String()), 0o600)
			}
		})
	}
}

// keptKill is the file that says that a case held: for these programs, this test and
// this case.
func keptKill(t *testing.T, k killCase) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	for _, name := range []string{"/proc/self/exe", sandboxtest.Build(t, "./cmd/coalmine"), sandboxtest.Build(t, "./testdata/servers/"+k.Server)} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(sum, f); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	fmt.Fprintf(sum, "%+v", k)
	return filepath.Join(cache, "coalmine", "kills", hex.EncodeToString(sum.Sum(nil)))
}

// run makes the run, kills, and looks at what is left.
func (k killCase) run(t *testing.T, own *engine) {
	backend, env := k.Engine, []string(nil)
	if k.Engine == "own" {
		backend = "docker"
		own.take(t)
		defer own.release()
		env = own.env()
	} else {
		probetest.Need(t, backend)
	}
	l := probetest.New(t, k.Server)
	flags := l.Flags(backend, "--tracer", k.Tracer, "--jobs", "1")
	if k.Engine == "own" {
		flags = append(flags, "--image", ownImage)
	}
	if k.At == atShutdown { // the trace is written in parts: a server that ends at once has ended by then
		flags = append(flags, "--env", "LINGER=800ms")
	}
	flags = append(flags, "--", l.Path(k.Server))
	for try := range killTries {
		if err := os.RemoveAll(l.Out); err != nil {
			t.Fatal(err)
		}
		var earlier []byte
		if k.Earlier {
			l.Run(backend, env, flags...)
			earlier, _, _ = bytes.Cut(traceOf(l, nil), []byte("\n"))
		}
		c := l.Start(backend, env, flags...)
		left, at := k.strike(c, own, try, earlier)
		c.Wait()
		if k.Engine == "own" && at > 0 {
			own.start(t)
		}
		hit := at > 0 && (k.Victim == "coalmine" || !endedBefore(traceOf(l, nil), at))
		l.Run(backend, env, "clean").Says(0)
		left.gone(t)
		k.judged(l, c, hit)
		if hit || t.Failed() {
			return
		}
	}
	t.Errorf("no kill came before the run's end in %d tries", killTries)
}

// strike waits for the moment and kills. It reports what was there by then, and when that was on the
// log's clock; 0 where the run was over: a process that has nothing more to do takes nothing with it.
func (k killCase) strike(c *probetest.Child, own *engine, try int, earlier []byte) (*leftovers, int64) {
	root := c.Cmd.Process.Pid
	if !reaches(c, k.At, earlier) {
		return &leftovers{}, 0
	}
	select {
	case <-time.After(k.after(try)): // random moments are the point
	case <-c.Ended():
		return &leftovers{}, 0
	}
	pid := 0
	for pid == 0 {
		switch k.Victim {
		case "coalmine":
			pid = root
		case "dockerd":
			pid = own.cmd.Process.Pid
		default:
			pid = victim(root, k.Victim, enginePIDs(c, own, k.Engine))
		}
		select {
		case <-c.Ended():
			return &leftovers{}, 0
		case <-time.After(time.Millisecond):
		}
	}
	if k.Victim == "dockerd" { // stopped, it could not be asked what it has: coalmine is, meanwhile
		if syscall.Kill(root, syscall.SIGSTOP) != nil {
			return &leftovers{}, 0
		}
		defer func() { _ = syscall.Kill(root, syscall.SIGCONT) }()
		left := census(root, enginePIDs(c, own, k.Engine), engineEnv(own, k.Engine))
		if at := monotonic(); !k.over(c) && syscall.Kill(pid, syscall.SIGKILL) == nil {
			return left, at
		}
		return left, 0
	}
	// Stopped first, so that nothing happens between the look and the kill.
	if syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return &leftovers{}, 0
	}
	left := census(root, enginePIDs(c, own, k.Engine), engineEnv(own, k.Engine))
	at, isOver := monotonic(), k.over(c)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil || isOver {
		return left, 0
	}
	return left, at
}

// monotonic is now on the log's clock.
func monotonic() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0
	}
	return now.Nano()
}

var exitEvent = regexp.MustCompile(`"type":"exit","t":(\d+)`)

// endedBefore reports whether the server had ended by a moment, as its trace says in the end: the
// trace is written in parts, so that nobody sees it at that moment.
func endedBefore(trace []byte, at int64) bool {
	m := exitEvent.FindSubmatch(trace)
	if m == nil {
		return false
	}
	t, err := strconv.ParseInt(string(m[1]), 10, 64)
	return err == nil && t < at
}

// over reports whether all had happened that the verdict depends on.
func (k killCase) over(c *probetest.Child) bool {
	if k.Victim == "coalmine" {
		found, _ := filepath.Glob(filepath.Join(c.Lab.Out, "*", session.IndexFile))
		return len(found) > 0
	}
	return bytes.Contains(traceOf(c.Lab, nil), []byte(`"type":"exit"`))
}

// traceOf is the lab's only trace as far as it is written, nil for an earlier run's,
// which begins with that line.
func traceOf(l *probetest.Lab, earlier []byte) []byte {
	found, _ := filepath.Glob(filepath.Join(l.Out, "*", session.TraceFile))
	if len(found) != 1 {
		return nil
	}
	data, _ := os.ReadFile(found[0])
	if earlier != nil && bytes.HasPrefix(data, earlier) {
		return nil
	}
	return data
}

// reaches waits for a text in the trace of a run that may end before.
func reaches(c *probetest.Child, text string, earlier []byte) bool {
	for end := time.Now().Add(killBound); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if text == "" || bytes.Contains(traceOf(c.Lab, earlier), []byte(text)) {
			return true
		}
		select {
		case <-c.Ended():
			return false
		default:
		}
	}
	return false
}

// judged checks that what is there can be read and is not called clean.
func (k killCase) judged(l *probetest.Lab, c *probetest.Child, hit bool) {
	l.T.Helper()
	if hit && k.Victim != "coalmine" && c.Status() == 0 {
		l.T.Errorf("the run is called clean\n%.2000s%.2000s", c.Out.String(), c.Err.String())
	}
	dirs, err := filepath.Glob(filepath.Join(l.Out, "*"))
	if err != nil || len(dirs) > 1 {
		l.T.Fatalf("runs: %v %v", dirs, err)
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, session.TraceFile)); err == nil {
			l.Readable(dir)
		}
		again := l.Run("local", nil, "judge", dir)
		if hit && again.Status() == 0 || !slices.Contains([]int{0, 1, 2, 3}, again.Status()) {
			l.T.Errorf("judged again it has status %d\n%.2000s%.2000s", again.Status(), again.Out.String(), again.Err.String())
		}
	}
}
