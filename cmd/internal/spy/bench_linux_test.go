//go:build linux && e2e

package spy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// request is a call of 100 bytes, with the end of its line.
func request(id int) string {
	head := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"t":"`, id)
	return head + strings.Repeat("x", 100-len(head)-5) + "\"}}}\n"
}

// watcher is the test's own program that watches a process until it is interrupted, and then
// says how many messages it saw and what it lost.
func watcher() {
	pid, err := strconv.Atoi(os.Args[1])
	if err != nil {
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	got, err := Run(ctx, Options{
		PIDs: []int{pid}, Format: Console, Redact: RedactAuto, Out: io.Discard, KeepRoot: true, Effects: os.Args[2] == "effects", TLS: os.Args[2] == "tls",
		Say: func(string) {}, Ready: func() { fmt.Println("ready") },
	})
	stop()
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	lost := got.Lost
	for _, n := range got.Kernel {
		lost += int64(n)
	}
	fmt.Println(got.Messages, lost)
}

// watched is a watcher that runs.
type watched struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

func startWatcher(b *testing.B, effects string) *watched {
	b.Helper()
	cmd := exec.Command(os.Args[0], fmt.Sprint(os.Getpid()), effects)
	cmd.Env = append(os.Environ(), modeEnv+"=watcher")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	w := &watched{cmd, bufio.NewReader(out)}
	if line, err := w.out.ReadString('\n'); line != "ready\n" {
		b.Fatalf("the watcher says %q: %v", line, err)
	}
	return w
}

// stop ends the watcher once it has had time for what came last.
func (w *watched) stop(b *testing.B) (seen, lost int64, cpu time.Duration) {
	b.Helper()
	time.Sleep(500 * time.Millisecond)
	_ = w.cmd.Process.Signal(os.Interrupt)
	if _, err := fmt.Fscan(w.out, &seen, &lost); err != nil {
		b.Fatal(err)
	}
	_ = w.cmd.Wait() // its figures are there
	return seen, lost, w.cmd.ProcessState.UserTime() + w.cmd.ProcessState.SystemTime()
}

// partner is a server that answers.
type partner struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func startPartner(b *testing.B) *partner { b.Helper(); return startMode(b, "echo") }

// startMode starts the test's own program as another one.
func startMode(b *testing.B, mode string) *partner {
	b.Helper()
	p := &partner{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), modeEnv+"="+mode, "GOMAXPROCS=1")
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	return p
}

func (p *partner) end() { _ = p.in.Close(); _ = p.cmd.Wait() }

// trips is the time of a round trip.
func (p *partner) trips(b *testing.B, n int) time.Duration {
	b.Helper()
	began := time.Now()
	for i := range n {
		_, _ = io.WriteString(p.in, request(i))
		if _, err := p.out.ReadBytes('\n'); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began) / time.Duration(n)
}

// BenchmarkSpy gives what a watch adds to a round trip of 100 bytes over a pipe, the least of several
// beside the least without it, and what it costs and loses at more than 20,000 messages a second.
func BenchmarkSpy(b *testing.B) {
	sandboxtest.Need(b, "bpf")
	const trips = 5_000
	for _, kind := range []string{"messages", "effects"} {
		b.Run("trip/"+kind, func(b *testing.B) {
			with, without := time.Hour, time.Hour
			for b.Loop() {
				p := startPartner(b)
				p.trips(b, trips/10)
				without = min(without, p.trips(b, trips))
				w := startWatcher(b, kind)
				p.trips(b, trips/10)
				with = min(with, p.trips(b, trips))
				p.end()
				w.stop(b)
			}
			b.ReportMetric(float64(without.Nanoseconds())/1000, "bare-µs")
			b.ReportMetric(float64((with-without).Nanoseconds())/1000, "added-µs")
		})
	}
	b.Run("rate", func(b *testing.B) {
		const pace, seconds, batch = 10_500, 5, 100 // requests, each of which is answered: above the bound, as the last answers take time
		var lost, missed int64
		share := 1e9
		for b.Loop() {
			w := startWatcher(b, "messages")
			p := startPartner(b)
			answered := make(chan int)
			go func() {
				n := 0
				for ; n < pace*seconds; n++ {
					if _, err := p.out.ReadBytes('\n'); err != nil {
						break
					}
				}
				answered <- n
			}()
			began := time.Now()
			for i := range pace * seconds {
				if i%batch == 0 {
					time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / pace)))
				}
				_, _ = io.WriteString(p.in, request(i))
			}
			n := <-answered
			took := time.Since(began)
			p.end()
			seen, gone, cpu := w.stop(b)
			lost, missed = max(lost, gone), max(missed, int64(pace*seconds+n)-seen)
			share = min(share, cpu.Seconds()/took.Seconds())
			b.ReportMetric(float64(pace*seconds+n)/took.Seconds(), "messages/s")
		}
		b.ReportMetric(share*100, "cpu-percent")
		b.ReportMetric(float64(lost), "lost")
		b.ReportMetric(float64(missed), "missed")
	})
}
