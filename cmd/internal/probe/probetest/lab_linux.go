//go:build linux && e2e

package probetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Backends are those that every server is probed in.
var Backends = []string{"local", "docker"}

// Paired are the backends to try a case of many in: all where COALMINE_PAIRS=all, else the
// one that the case's name chooses, so that half of the cases run in each.
func Paired(name string) []string {
	if os.Getenv("COALMINE_PAIRS") == "all" {
		return Backends
	}
	return scale.One(name, Backends)
}

// Need skips or fails where a backend is not available.
func Need(t *testing.T, backend string) {
	t.Helper()
	sandboxtest.Need(t, "strace")
	if backend == "local" {
		sandboxtest.Need(t, "userns")
		return
	}
	sandboxtest.Need(t, "docker")
	if out, err := exec.Command("docker", "image", "inspect", docker.DefaultImage).CombinedOutput(); err != nil {
		t.Fatalf("Docker is here and the image %s is not (make image): %s", docker.DefaultImage, out)
	}
}

// Lab is the place of one run: a directory of its own, in which the server's
// program and nothing else lies, and whose path names whatever the run leaves.
type Lab struct {
	T   *testing.T
	Dir string
	Out string
	// Cwd is where the command line is given, "" for the root.
	Cwd string
	// Wrap precedes coalmine's own command line, as is the user that it runs as.
	Wrap []string
	As   *syscall.Credential
}

// Hold takes slots for a test, those of one in a container weighing more.
func Hold(t testing.TB) {
	t.Helper()
	weight := sandboxtest.Light
	if strings.Contains(t.Name(), "docker") {
		weight = sandboxtest.Heavy
	}
	slots.AcquireOnce(t, weight)
}

// New copies fixtures into a directory of their own. Its clean-up fails the
// test where a process or a mount of it remains.
func New(t *testing.T, fixtures ...string) *Lab {
	t.Helper()
	Hold(t)
	dir, err := os.MkdirTemp("", "lab")
	if err != nil {
		t.Fatal(err)
	}
	l := &Lab{T: t, Dir: dir, Out: filepath.Join(dir, "out")}
	server := filepath.Join(dir, "server")
	for _, d := range []string{server, filepath.Join(dir, "tmp")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range fixtures {
		CopyFixture(t, sandboxtest.Build(t, "./testdata/servers/"+f), filepath.Join(server, f))
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.nothingLeft()
		_ = os.RemoveAll(dir)
	})
	return l
}

// CopyFixture copies a program.
func CopyFixture(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.WriteProgram(t, to, data)
}

// linkFixture gives a program that is never changed another name: copying it costs more than
// many a run of it.
func linkFixture(t *testing.T, from, to string) {
	t.Helper()
	if os.Link(from, to) != nil { // another file system
		CopyFixture(t, from, to)
	}
}

// Path is a file of the server's directory.
func (l *Lab) Path(name string) string { return filepath.Join(l.Dir, "server", name) }

// tracerEnv names the tracer of probes that ask for none, "" for what a user gets.
const tracerEnv = "COALMINE_TRACER"

// Options are short: the fixtures either answer at once or never. Calls are not made
// small for findings: a test of replays says how long that may take.
func (l *Lab) Options(backend string, command ...string) Request {
	var o Request
	o.Command, o.Sandbox, o.Tracer, o.Seed = command, backend, os.Getenv(tracerEnv), 1
	o.Calls, o.Timeout, o.CallTimeout, o.Idle, o.ShrinkTime = 2, 20*time.Second, 3*time.Second, shortIdle, time.Nanosecond
	o.Out, o.FailOn, o.AgentPath, o.Version = l.Out, finding.High, sandboxtest.Build(l.T, "./cmd/coalmine"), "test"
	o.Limits = agent.Limits{Memory: 256 << 20, Pids: 64, CPU: time.Minute, Output: 24 << 20, File: 16 << 20, Disk: 16 << 20}
	return o
}

// bound is how long one bad server may take, on a machine that is busy.
const bound = 100 * time.Second

// Probe runs one probe in this process.
func (l *Lab) Probe(o Request) *analyze.Result {
	l.T.Helper()
	return l.ProbeWithin(bound, o)
}

// ProbeWithin is probe for what takes longer than usual.
func (l *Lab) ProbeWithin(d time.Duration, o Request) *analyze.Result {
	l.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	got, err := Run(ctx, o)
	if err != nil {
		l.T.Fatalf("probe: %v", err)
	}
	l.Readable(got.Dir)
	if scale.Part(l.T.Name(), 4) {
		l.sameAgain(got.Dir, o.Version)
	}
	return got.Result
}

// sameAgain judges a run's directory again: the reports must be the same bytes.
func (l *Lab) sameAgain(dir, version string) {
	l.T.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		l.T.Fatal(err)
	}
	defer root.Close()
	files := []string{report.FileJSON, report.FileSARIF, report.FileHTML, report.FileSummary}
	was := map[string][]byte{}
	for _, name := range files {
		if was[name], err = root.ReadFile(name); err != nil {
			l.T.Fatal(err)
		}
	}
	res, in, err := analyze.Judge(root, version)
	if err == nil {
		err = report.Write(session.Output{Root: root}, res, in)
	}
	if err != nil {
		l.T.Errorf("judge it again: %v", err)
		return
	}
	for _, name := range files {
		if now, err := root.ReadFile(name); err != nil || !bytes.Equal(now, was[name]) {
			l.T.Errorf("%s is another when it is judged again: %v", name, err)
		}
	}
}

// Readable checks that a run's log can be read, whole lines only.
func (l *Lab) Readable(dir string) {
	l.T.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		l.T.Fatal(err)
	}
	defer root.Close()
	r, err := session.Open(root)
	if err != nil {
		l.T.Errorf("the log: %v", err)
		return
	}
	for _, err := range r.Frames() {
		if err != nil {
			l.T.Errorf("a frame of the log: %v", err)
		}
	}
	for _, err := range r.Trace() {
		if err != nil {
			l.T.Errorf("a line of the trace: %v", err)
		}
	}
}

// LogDir is the directory of the lab's only run.
func (l *Lab) LogDir() string {
	l.T.Helper()
	found, err := filepath.Glob(filepath.Join(l.Out, "*"))
	if err != nil || len(found) != 1 {
		l.T.Fatalf("runs in %s: %v %v", l.Out, found, err)
	}
	return found[0]
}

// nothingLeft fails the test for each process that runs or works in the lab's
// directory, each mount below it, and each temporary file.
func (l *Lab) nothingLeft() {
	l.T.Helper()
	// A killed process needs a moment to be gone.
	var left []string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if left = l.processes(); len(left) == 0 {
			break
		}
	}
	for _, p := range left {
		l.T.Errorf("a process remains: %s", p)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		l.T.Error(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, l.Dir+"/") {
			l.T.Errorf("a mount remains: %s", line)
		}
	}
	if names, err := os.ReadDir(filepath.Join(l.Dir, "tmp")); err != nil || len(names) > 0 {
		l.T.Errorf("temporary files remain: %v %v", names, err)
	}
}

// processes are those of which the program or the command line names the lab.
func (l *Lab) processes() []string {
	var left []string
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		exe, _ := os.Readlink(p + "/exe")
		cmdline, _ := os.ReadFile(p + "/cmdline")
		if p != fmt.Sprintf("/proc/%d", os.Getpid()) && strings.Contains(exe+"\x00"+string(cmdline), l.Dir+"/") {
			left = append(left, fmt.Sprintf("%s %s %q", p, exe, cmdline))
		}
	}
	return left
}

// Containers lists what the process with this pid has with the engine.
func Containers(t *testing.T, pid int) []string {
	t.Helper()
	out, err := exec.Command("docker", "ps", "-aq", "--no-trunc", "--filter", "label=dev.coalmine.pid="+strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatalf("docker ps: %v", err)
	}
	return strings.Fields(string(out))
}

// Child is coalmine as a process of its own.
type Child struct {
	Lab    *Lab
	Cmd    *exec.Cmd
	Out    bytes.Buffer
	Err    bytes.Buffer
	ended  chan struct{}
	status int
}

// Run starts coalmine with its temporary files in the lab and waits for its end.
func (l *Lab) Run(backend string, env []string, args ...string) *Child {
	l.T.Helper()
	c := l.Start(backend, env, args...)
	c.Wait()
	return c
}

// Flags are the child's usual ones.
func (l *Lab) Flags(backend string, more ...string) []string {
	return append([]string{"probe", "--sandbox", backend, "--seed", "1", "--calls", "2", "--timeout", "20s", "--call-timeout", "3s", "--out", l.Out}, more...)
}

// Start starts coalmine with its temporary files in the lab.
func (l *Lab) Start(backend string, env []string, args ...string) *Child {
	l.T.Helper()
	program := filepath.Join(l.Dir, "coalmine")
	if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
		linkFixture(l.T, sandboxtest.Build(l.T, "./cmd/coalmine"), program)
	}
	args = slices.Concat(l.Wrap, []string{program}, args)
	c := &Child{Lab: l, Cmd: exec.Command(args[0], args[1:]...), ended: make(chan struct{})}
	c.Cmd.SysProcAttr = &syscall.SysProcAttr{Credential: l.As}
	c.Cmd.Env = append(append(os.Environ(), "TMPDIR="+filepath.Join(l.Dir, "tmp")), env...)
	c.Cmd.Stdout, c.Cmd.Stderr = &c.Out, &c.Err
	c.Cmd.Dir = cmp.Or(l.Cwd, "/")
	c.Cmd.WaitDelay = 5 * time.Second
	if err := c.Cmd.Start(); err != nil {
		l.T.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		err := c.Cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			c.Err.WriteString(err.Error())
		}
		c.status = c.Cmd.ProcessState.ExitCode()
	}()
	return c
}

// Wait waits for its end and fails the test where that does not come.
func (c *Child) Wait() {
	c.Lab.T.Helper()
	if !c.EndsWithin(bound) {
		c.Lab.T.Fatalf("coalmine did not end in %s\n%s%s", bound, c.Out.String(), c.Err.String())
	}
}

// EndsWithin waits for its end. Where that does not come in time it is killed.
func (c *Child) EndsWithin(limit time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(limit):
		_ = c.Cmd.Process.Kill()
		<-c.ended
		return false
	}
}

// Ended is closed at its end.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Status is its exit status, once it has ended; -1 for a signal.
func (c *Child) Status() int { return c.status }

// Says checks the exit status, an error and its hint.
func (c *Child) Says(status int, texts ...string) {
	c.Lab.T.Helper()
	all := c.Out.String() + c.Err.String()
	if c.status != status {
		c.Lab.T.Errorf("status %d, want %d\n%.3000s", c.status, status, all)
	}
	for _, want := range texts {
		if !strings.Contains(all, want) {
			c.Lab.T.Errorf("no %q in\n%.3000s", want, all)
		}
	}
}

// Peak is the most memory that the command had, looked at until it ends. What the kernel
// says of it afterwards holds the memory of this process too, from which it was started.
func (c *Child) Peak() (most int64) {
	name := fmt.Sprintf("/proc/%d/status", c.Cmd.Process.Pid)
	for end := time.Now().Add(bound); time.Now().Before(end); {
		status, _ := os.ReadFile(name)
		if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
			var kib int64
			if _, err := fmt.Sscan(after, &kib); err == nil {
				most = max(most, kib<<10)
			}
		}
		select {
		case <-c.ended:
			return most
		case <-time.After(5 * time.Millisecond):
		}
	}
	return most
}

// Until waits for a text in the trace of the lab's run.
func (c *Child) Until(text string) {
	c.Lab.T.Helper()
	for end := time.Now().Add(bound); time.Now().Before(end); time.Sleep(3 * time.Millisecond) {
		found, _ := filepath.Glob(filepath.Join(c.Lab.Out, "*", session.TraceFile))
		if len(found) == 1 {
			if data, err := os.ReadFile(found[0]); err == nil && bytes.Contains(data, []byte(text)) {
				return
			}
		}
		select {
		case <-c.ended:
			c.Lab.T.Fatalf("coalmine ended before %s: status %d\n%s%s", text, c.status, c.Out.String(), c.Err.String())
		default:
		}
	}
	c.Lab.T.Fatalf("%s never came", text)
}
