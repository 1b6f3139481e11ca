package tap

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// modeEnv turns the test binary into one of the processes of a benchmark.
const modeEnv = "COALMINE_TAP_TEST_MODE"

func TestMain(m *testing.M) {
	switch os.Getenv(modeEnv) {
	case "echo":
		echo()
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
		if err == bufio.ErrBufferFull {
			continue
		}
		if _, werr := os.Stdout.Write(line); err != nil || werr != nil {
			return
		}
		line = line[:0]
	}
}

// relayProcess is what a tap is to its client: a process around the server.
func relayProcess() {
	dir, err := os.OpenRoot(os.Getenv("COALMINE_TAP_TEST_DIR"))
	check(err)
	log, err := session.Create(dir, session.Header{Clock0: Now()})
	check(err)
	log.SetLimit(1 << 40)
	t := New(func(d session.Dir, stamp time.Duration, raw []byte) { log.Frame(d, stamp, raw) }, 0)
	server := self("echo")
	in, err := server.StdinPipe()
	check(err)
	out, err := server.StdoutPipe()
	check(err)
	check(server.Start())
	stats, err := Relay(context.Background(), Stdio(), Join(out, in), t)
	check(err)
	check(server.Wait())
	check(log.Close())
	if stats.RecorderErr != nil || stats.Unrecorded > 0 {
		check(fmt.Errorf("recording: %+v", stats))
	}
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

// chain runs a benchmark's way to the server and returns the client's ends of it.
func chain(b *testing.B, cmds ...*exec.Cmd) (io.WriteCloser, io.Reader) {
	b.Helper()
	in, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	for _, cmd := range cmds {
		r, out, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, nil
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		in.Close()
		out.Close()
		in = r
	}
	b.Cleanup(func() {
		w.Close()
		for _, cmd := range cmds {
			if err := cmd.Wait(); err != nil {
				b.Error(err)
			}
		}
		in.Close()
	})
	return w, in
}

// roundTrip sends a line and waits for its whole echo.
func roundTrip(b *testing.B, w io.Writer, r io.Reader, line, back []byte) {
	sent := make(chan error, 1)
	if len(line) < 4096 {
		_, err := w.Write(line)
		sent <- err
	} else {
		go func() {
			_, err := w.Write(line)
			sent <- err
		}()
	}
	if _, err := io.ReadFull(r, back); err != nil {
		b.Fatal(err)
	}
	if err := <-sent; err != nil {
		b.Fatal(err)
	}
}

// way is one way from the client to the server and back.
type way struct {
	name string
	w    io.Writer
	r    io.Reader
	took time.Duration
}

func ways(b *testing.B) []*way {
	dir := b.TempDir()
	var out []*way
	for _, c := range []struct {
		name string
		cmds []*exec.Cmd
	}{
		{"direct", []*exec.Cmd{self("echo")}},
		{"cats", []*exec.Cmd{exec.Command("cat"), self("echo"), exec.Command("cat")}},
		{"tap", []*exec.Cmd{self("relay", "COALMINE_TAP_TEST_DIR="+dir)}},
	} {
		w, r := chain(b, c.cmds...)
		out = append(out, &way{name: c.name, w: w, r: r})
	}
	return out
}

// BenchmarkRelay times the three ways in turns, so that all see the same
// machine, and reports each and the tap's ratios.
func BenchmarkRelay(b *testing.B) {
	for _, c := range []struct {
		name        string
		size, turns int
	}{{"100B", 100, 200}, {"1MB", 1 << 20, 10}} {
		b.Run(c.name, func(b *testing.B) {
			line := append(bytes.Repeat([]byte("x"), c.size-3), "\"\"\n"...)
			line[0], line[c.size-3] = '"', 'x'
			line[c.size-2] = '"'
			back := make([]byte, c.size)
			all := ways(b)
			for _, w := range all {
				for range 10 {
					roundTrip(b, w.w, w.r, line, back)
				}
			}
			rounds := 0
			for b.Loop() {
				for _, w := range all {
					start := time.Now()
					for range c.turns {
						roundTrip(b, w.w, w.r, line, back)
					}
					w.took += time.Since(start)
				}
				rounds += c.turns
			}
			if !bytes.Equal(back, line) {
				b.Error("the echo differs")
			}
			for _, w := range all {
				b.ReportMetric(float64(w.took.Nanoseconds())/1e3/float64(rounds), w.name+"-µs")
			}
			b.ReportMetric(float64(all[2].took)/float64(all[0].took), "tap/direct")
			b.ReportMetric(float64(all[2].took)/float64(all[1].took), "tap/cats")
			b.ReportMetric(0, "ns/op")
		})
	}
}
