//go:build linux && e2e

package wiretap

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// modeEnv turns the test's own program into one of a session's processes.
const modeEnv = "COALMINE_WIRETAP_TEST_MODE"

func TestMain(m *testing.M) {
	switch os.Getenv(modeEnv) {
	case "":
		os.Exit(m.Run())
	case "tap", "gate":
		o := LogOptions{Dir: os.Getenv(session.DirEnv), Say: func(line string) { fmt.Fprintln(os.Stderr, "tap: "+line) }}
		g := os.Getenv(modeEnv) == "gate"
		os.Unsetenv(modeEnv)
		if g {
			os.Exit(GateStdio(os.Args[1:], gate.New(gate.Options{Validate: Validator()}), o).Leave())
		}
		os.Exit(Stdio(os.Args[1:], o).Leave())
	case "front":
		os.Unsetenv(modeEnv)
		frontMode()
	case "echo":
		if _, err := io.Copy(os.Stdout, struct{ io.Reader }{os.Stdin}); err != nil {
			os.Exit(1)
		}
	}
}

// tapped is a command behind the tap, its log in dir.
func tapped(dir string, command ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], command...)
	cmd.Env = append(os.Environ(), modeEnv+"=tap", session.DirEnv+"="+dir)
	return cmd
}

// outcome runs a command on an input and says all that its parent can see of it.
func outcome(t *testing.T, cmd *exec.Cmd, input string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s\nstdout %q\nstderr %q", cmd.ProcessState, out.String(), errs.String())
}

func TestLooksLikeTheServerItself(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	for name, script := range map[string]string{
		"echo":             `cat`,
		"stderr":           `echo one >&2; cat; echo two >&2`,
		"status":           `cat >/dev/null; exit 7`,
		"ends at once":     `exit 3`,
		"signal":           `kill -TERM $$`,
		"killed":           `kill -KILL $$`,
		"no line end":      `printf 'no end'`,
		"not UTF-8":        `printf '\377\376\n\n\r\n{'`,
		"closes stdout":    `exec >&-; cat >/dev/null`,
		"reads nothing":    `exec <&-; echo hello`,
		"writes after EOF": `cat; echo after`,
	} {
		t.Run(name, func(t *testing.T) {
			input := "{\"jsonrpc\":\"2.0\"}\nnot json\nrest"
			want := outcome(t, exec.Command("/bin/sh", "-c", script), input)
			if got := outcome(t, tapped(t.TempDir(), "/bin/sh", "-c", script), input); got != want {
				t.Errorf("behind the tap:\n%s\nalone:\n%s", got, want)
			}
		})
	}
}

func TestNotThere(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"/no/such": "exit status 127", "no-such-program": "exit status 127", plain: "exit status 126"} {
		got := outcome(t, tapped(t.TempDir(), name), "")
		if !strings.HasPrefix(got, want) || !strings.Contains(got, "hint: ") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestSignalsReachTheServer(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1} {
		// Caught here, it is as new in a child, even where whoever started the test ignores it (nohup).
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, sig)
		defer signal.Stop(signals)
		cmd := tapped(t.TempDir(), "/bin/sh", "-c", `trap 'echo caught; exit 9' TERM INT HUP USR1; echo ready; while :; do sleep 0.05; done`)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(out)
		// stdin is still open: a server's end is the tap's end.
		werr := cmd.Wait()
		in.Close()
		if string(rest) != "caught\n" || err != nil || werr == nil || werr.Error() != "exit status 9" {
			t.Errorf("%s: %q, %v, %v", sig, rest, err, werr)
		}
	}
}

// echoed is a session of frames through the tap and an echo server.
type echoed struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.ReadCloser
	errs bytes.Buffer
	dir  string
}

func startEcho(t *testing.T, cmd *exec.Cmd, dir string) *echoed {
	t.Helper()
	s := &echoed{cmd: cmd, dir: dir}
	var err error
	if s.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if s.out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = &s.errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// echoCommand is the echo server behind the tap.
func echoCommand(dir string) *exec.Cmd {
	return tapped(dir, "/usr/bin/env", modeEnv+"=echo", os.Args[0])
}

// pass sends what write writes and compares the hashes of both ends. read gets
// the end that the client reads from.
func (s *echoed) pass(t *testing.T, write func(w io.Writer) error, slow time.Duration) {
	t.Helper()
	sent, back := sha256.New(), sha256.New()
	var n, m int64
	done := make(chan error, 1)
	go func() {
		w := &counting{w: io.MultiWriter(s.in, sent), n: &n}
		err := write(w)
		done <- errors.Join(err, s.in.Close())
	}()
	buf := make([]byte, 256<<10)
	time.Sleep(slow) // a reader that stalls while everything is written
	for {
		k, err := s.out.Read(buf)
		back.Write(buf[:k])
		if m += int64(k); err != nil {
			break
		}
		s.watch(t)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, s.errs.String())
	}
	if n != m || !bytes.Equal(sent.Sum(nil), back.Sum(nil)) {
		t.Errorf("%d bytes went in and %d came back, or they differ", n, m)
	}
	t.Logf("%d bytes each way, at most %d MB of memory", n, peak(s)>>20)
}

type counting struct {
	w io.Writer
	n *int64
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.n += int64(n)
	return n, err
}

// maxMemory is what a tap may take, whatever passes.
const maxMemory = 100 << 20

// peaks are the most that each tap was seen to hold.
var peaks = map[*echoed]int64{}

func peak(s *echoed) int64 { return peaks[s] }

// watch fails where the tap holds too much memory.
func (s *echoed) watch(t *testing.T) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return // it has ended
	}
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	peaks[s] = max(peaks[s], kb<<10)
	if kb<<10 > maxMemory && !t.Failed() {
		t.Errorf("the tap holds %d MB", kb>>10)
	}
}

// frames writes n frames of a size, and at most perSecond of them if that is not 0.
func frames(n, size, perSecond int) func(io.Writer) error {
	return func(w io.Writer) error {
		start := time.Now()
		pad := strings.Repeat("x", max(0, size-50))
		for i := range n {
			if perSecond > 0 && i%100 == 0 {
				time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
			}
			if _, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"method":"ping","x":"%s"}`+"\n", i, pad); err != nil {
				return err
			}
		}
		return nil
	}
}

// one writes a single frame of a size.
func one(size int) func(io.Writer) error {
	return func(w io.Writer) error {
		block := bytes.Repeat([]byte("x"), 1<<20)
		if _, err := io.WriteString(w, `{"jsonrpc":"2.0","method":"`); err != nil {
			return err
		}
		for range size >> 20 {
			if _, err := w.Write(block); err != nil {
				return err
			}
		}
		_, err := io.WriteString(w, "\"}\n")
		return err
	}
}

// logged reads all of a directory's logs.
func logged(t *testing.T, dir string) (frames int, metrics string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range session.ReadFrames(bytes.NewReader(data), nil) {
			if err != nil {
				t.Error(err)
			}
			frames++
		}
		if i := bytes.LastIndex(data, []byte(`{"type": "glassport.metrics"`)); i >= 0 {
			metrics = string(data[i:])
		}
	}
	return frames, metrics
}

// big scales the faults: the figures of "make wire-faults" where that asks for
// them, else a small sample.
func big(large, sample int) int {
	if os.Getenv("COALMINE_WIRE_FAULTS") != "" {
		return large
	}
	return sample
}

func TestFaultsNeverReachTheSession(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	t.Run("rate", func(t *testing.T) {
		dir := t.TempDir()
		n := 10_000 * big(60, 2)
		startEcho(t, echoCommand(dir), dir).pass(t, frames(n, 100, 10_000), 0)
		if got, metrics := logged(t, dir); got != 2*n || strings.Contains(metrics, "dropped") {
			t.Errorf("%d frames of %d are in the log; %s", got, 2*n, metrics)
		}
	})
	t.Run("large frame", func(t *testing.T) {
		dir := t.TempDir()
		s := startEcho(t, echoCommand(dir), dir)
		s.pass(t, one(big(1<<30, 128<<20)), 0)
		if got, metrics := logged(t, dir); (got != 2 || strings.Contains(metrics, "dropped")) && !strings.Contains(s.errs.String(), "dropped") {
			t.Errorf("%d frames are in the log, %s, and nobody was told: %s", got, metrics, s.errs.String())
		}
	})
	t.Run("stalled reader", func(t *testing.T) {
		dir := t.TempDir()
		startEcho(t, echoCommand(dir), dir).pass(t, frames(big(200_000, 40_000), 500, 0), 2*time.Second)
	})
	t.Run("no directory", func(t *testing.T) {
		dir := "/proc/no/such"
		s := startEcho(t, echoCommand(dir), dir)
		s.pass(t, frames(1000, 100, 0), 0)
		if !strings.Contains(s.errs.String(), "records are dropped") || !strings.Contains(s.errs.String(), "2000 records dropped") {
			t.Errorf("nobody was told: %s", s.errs.String())
		}
	})
}

func TestLogDirectoryRemoved(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := filepath.Join(t.TempDir(), "logs")
	s := startEcho(t, echoCommand(dir), dir)
	step := make(chan struct{})
	go func() {
		<-step
		deadline := time.Now().Add(5 * time.Second)
		for time.Now().Before(deadline) && os.RemoveAll(dir) != nil {
		}
		step <- struct{}{}
	}()
	s.pass(t, func(w io.Writer) error {
		if err := frames(100, 100, 0)(w); err != nil {
			return err
		}
		step <- struct{}{}
		<-step
		// Longer than it may take to notice, at 100 frames a second.
		return frames(300, 100, 100)(w)
	}, 0)
	if got, metrics := logged(t, dir); got == 0 || metrics == "" {
		t.Errorf("nothing was recorded after the directory was removed: %s", s.errs.String())
	}
}

func TestDiskFull(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "userns")
	dir := t.TempDir()
	inner := echoCommand(dir)
	cmd := exec.Command("unshare", append([]string{"--user", "--map-root-user", "--mount", "/bin/sh", "-c",
		`mount -t tmpfs -o size=64k none "$0" && exec "$@"`, dir}, inner.Args...)...)
	cmd.Env = inner.Env
	s := startEcho(t, cmd, dir)
	s.pass(t, frames(5000, 200, 0), 0)
	if !strings.Contains(s.errs.String(), "no space left on device; records are dropped, the session goes on") || !strings.Contains(s.errs.String(), "records dropped") {
		t.Errorf("nobody was told: %s", s.errs.String())
	}
}

// A log on a full disk says itself what it lacks.
func TestDiskFullInTheLog(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "userns")
	dir := t.TempDir()
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c",
		`mount -t tmpfs -o size=64k none "$0" && "$@" >/dev/null; cat "$0"/*`, dir, "env", modeEnv+"=tap", session.DirEnv+"="+dir, os.Args[0], "cat")
	var in bytes.Buffer
	if err := frames(2000, 200, 0)(&in); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	var m session.Metrics
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &m); err != nil || m.FramesSeen != 4000 || m.Dropped != 4000-int64(len(lines)-1) {
		t.Errorf("%d frames are in the log, which ends with %.300s (%v)", len(lines)-1, lines[len(lines)-1], err)
	}
}

// What a killed server had written is delivered and recorded, to the last byte.
func TestKilledWithinAFrame(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := t.TempDir()
	got := outcome(t, tapped(dir, "/bin/sh", "-c", `printf '{"jsonrpc":"2.0","id":1,"res'; kill -KILL $$`), "")
	if want := "signal: killed\nstdout \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"res\"\nstderr \"\""; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if n, _ := logged(t, dir); n != 1 {
		t.Errorf("%d frames are in the log", n)
	}
}

// A tap that is killed takes nothing with it that had passed, and its log ends with a whole line.
func TestTapKilled(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := t.TempDir()
	s := startEcho(t, echoCommand(dir), dir)
	const n = 1000
	go func() { _ = frames(n, 100, 0)(s.in) }()
	var got bytes.Buffer
	buf := make([]byte, 64<<10)
	for bytes.Count(got.Bytes(), []byte("\n")) < n {
		k, err := s.out.Read(buf)
		got.Write(buf[:k])
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	var want bytes.Buffer
	_ = frames(n, 100, 0)(&want)
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("what came back differs")
	}
	logged(t, dir) // reads without an error
}
