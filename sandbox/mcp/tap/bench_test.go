package tap

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// modeEnv turns the test binary into one of the processes of a benchmark.
const (
	modeEnv = "COALMINE_TAP_TEST_MODE"
	dirEnv  = "COALMINE_TAP_TEST_DIR"
)

func TestMain(m *testing.M) {
	switch os.Getenv(modeEnv) {
	case "echo":
		echo()
	case "swallow":
		swallow()
	case "relay":
		relayProcess()
	default:
		os.Exit(m.Run())
	}
}

// echo is a server that answers each line with the line.
func echo() {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if _, werr := os.Stdout.Write(line); err != nil || werr != nil {
			return
		}
		line = line[:0]
	}
}

// swallow is a server that reads to the end and then says how much that was.
func swallow() {
	n, err := io.Copy(struct{ io.Writer }{io.Discard}, os.Stdin)
	check(err)
	fmt.Println(n)
}

// serverEnv is the server's mode of a relay, echo if it is empty.
const serverEnv = "COALMINE_TAP_TEST_SERVER"

// relayProcess is what a tap is to its client: a process around the server, with a log.
func relayProcess() {
	Dedicate(64 << 20)
	dir, err := os.OpenRoot(os.Getenv(dirEnv))
	check(err)
	log, err := (session.Output{Root: dir}).Create(session.Header{Clock0: Now()})
	check(err)
	t := New(func(d session.Dir, stamp time.Duration, raw []byte) { log.Frame(d, stamp, raw) }, 0)
	server := self(cmp.Or(os.Getenv(serverEnv), "echo"))
	in, err := server.StdinPipe()
	check(err)
	out, err := server.StdoutPipe()
	check(err)
	check(server.Start())
	stats, err := Relay(context.Background(), Stdio(), Join(out, in), t)
	check(err)
	check(server.Wait())
	check(log.Close())
	check(stats.RecorderErr)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// self is this binary in another mode.
func self(mode string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), modeEnv+"="+mode), env...)
	return cmd
}

// chain is a way from the client to the server and back.
type chain struct {
	w, r *os.File
	cmds []*exec.Cmd
}

func startChain(t testing.TB, cmds ...*exec.Cmd) *chain {
	t.Helper()
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range cmds {
		r, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in.Close()
		out.Close()
		in = r
	}
	return &chain{w: w, r: in, cmds: cmds}
}

func (c *chain) stop(t testing.TB) {
	t.Helper()
	c.w.Close()
	for _, cmd := range c.cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	c.r.Close()
}

// roundTrip sends a line and waits for its whole echo.
func (c *chain) roundTrip(t testing.TB, line, back []byte) {
	sent := make(chan error, 1)
	send := func() {
		_, err := c.w.Write(line)
		sent <- err
	}
	if len(line) > 4096 {
		go send()
	} else {
		send()
	}
	if _, err := io.ReadFull(c.r, back); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
}

// TestProcesses is the benchmark's way through a tap as a test: real processes, real log.
func TestProcesses(t *testing.T) {
	name := t.TempDir()
	c := startChain(t, self("relay", dirEnv+"="+name))
	for _, size := range []int{3, 100, 1 << 20} {
		line := quoted(size)
		back := make([]byte, len(line))
		if c.roundTrip(t, line, back); !bytes.Equal(line, back) {
			t.Errorf("the echo of %d bytes differs", size)
		}
	}
	c.stop(t)
	dir, err := os.OpenRoot(name)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	r, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lens []int
	for f, err := range r.Frames() {
		if err != nil || (f.Dir == session.C2S) != (f.Seq%2 == 1) {
			t.Errorf("frame %d goes %s, %v", f.Seq, f.Dir, err)
		}
		lens = append(lens, len(f.Message)+1)
	}
	if want := []int{3, 3, 100, 100, 1 << 20, 1 << 20}; !slices.Equal(lens, want) {
		t.Errorf("logged frames of %v bytes", lens)
	}
}

// quoted is a line of so many bytes that is JSON.
func quoted(size int) []byte {
	line := bytes.Repeat([]byte("x"), size)
	line[0], line[size-2], line[size-1] = '"', '"', '\n'
	return line
}

// BenchmarkRelay times three ways to the same server in turns, on one machine
// at one time. Where the kernel happens to place a way's processes makes more of
// a difference than the way, so each way is started afresh many times and its
// median counts.
func BenchmarkRelay(b *testing.B) {
	for _, c := range []struct {
		name        string
		size, turns int
		rest        time.Duration
	}{{"100B", 100, 300, 0}, {"1MB", 1 << 20, 20, 10 * time.Millisecond}, {"1MB-flood", 1 << 20, 20, 0}} {
		b.Run(c.name, func(b *testing.B) {
			took := map[string][]float64{}
			for b.Loop() {
				for name, cmds := range map[string][]*exec.Cmd{
					"direct": {self("echo")},
					"cats":   {exec.Command("cat"), self("echo"), exec.Command("cat")},
					"tap":    {self("relay", dirEnv+"="+b.TempDir())},
				} {
					took[name] = append(took[name], timeChain(b, c.turns, quoted(c.size), c.rest, cmds))
				}
			}
			direct, cats, tap := median(took["direct"]), median(took["cats"]), median(took["tap"])
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(direct, "direct-µs")
			b.ReportMetric(cats, "cats-µs")
			b.ReportMetric(tap, "tap-µs")
			b.ReportMetric(tap/direct, "tap/direct")
			b.ReportMetric(tap/cats, "tap/cats")
		})
	}
}

// timeChain is the microseconds of a round trip.
func timeChain(b *testing.B, turns int, line []byte, rest time.Duration, cmds []*exec.Cmd) float64 {
	way := startChain(b, cmds...)
	defer way.stop(b)
	back := make([]byte, len(line))
	for range 3 {
		way.roundTrip(b, line, back)
	}
	var took time.Duration
	for range turns {
		time.Sleep(rest)
		start := time.Now()
		way.roundTrip(b, line, back)
		took += time.Since(start)
	}
	return float64(took.Nanoseconds()) / 1e3 / float64(turns)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// streamed is how much a throughput's run sends one way.
const streamed = 512 << 20

// BenchmarkThroughput sends frames of a megabyte one way as fast as they go: a
// tap may drop records of them, and says so, but never holds them back.
func BenchmarkThroughput(b *testing.B) {
	took := map[string][]float64{}
	for b.Loop() {
		for name, cmds := range map[string][]*exec.Cmd{
			"direct": {self("swallow")},
			"cat":    {exec.Command("cat"), self("swallow")},
			"tap":    {self("relay", dirEnv+"="+b.TempDir(), serverEnv+"=swallow")},
		} {
			took[name] = append(took[name], timeStream(b, cmds))
		}
	}
	b.ReportMetric(0, "ns/op")
	for name, seconds := range took {
		b.ReportMetric(streamed/1e9/median(seconds), name+"-GB/s")
	}
}

// timeStream is the seconds from the first byte that is sent to the server's word that it has all.
func timeStream(b *testing.B, cmds []*exec.Cmd) float64 {
	way := startChain(b, cmds...)
	defer way.stop(b)
	frame := quoted(1 << 20)
	start := time.Now()
	for range streamed / len(frame) {
		if _, err := way.w.Write(frame); err != nil {
			b.Fatal(err)
		}
	}
	way.w.Close()
	got, err := io.ReadAll(way.r)
	if err != nil || string(got) != fmt.Sprintln(streamed) {
		b.Fatalf("the server has %.40q, %v", got, err)
	}
	return time.Since(start).Seconds()
}
