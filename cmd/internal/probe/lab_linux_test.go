//go:build linux && e2e

package probe

import (
	"bytes"
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
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// backends are those that every server is probed in.
var backends = []string{"local", "docker"}

// need skips or fails where a backend is not to be had.
func need(t *testing.T, backend string) {
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

// lab is the place of one run: a directory of its own, in which the server's
// program and nothing else lies, and whose path names whatever the run leaves.
type lab struct {
	t   *testing.T
	dir string
	out string
	// wrap precedes coalmine's own command line, as is the user that it runs as.
	wrap []string
	as   *syscall.Credential
}

// hold takes slots for a test, those of one in a container weighing more.
func hold(t testing.TB) {
	t.Helper()
	weight := sandboxtest.Light
	if strings.Contains(t.Name(), "docker") {
		weight = sandboxtest.Heavy
	}
	slots.AcquireOnce(t, weight)
}

// newLab copies fixtures into a directory of their own. Its clean-up fails the
// test where a process or a mount of it remains.
func newLab(t *testing.T, fixtures ...string) *lab {
	t.Helper()
	hold(t)
	dir, err := os.MkdirTemp("", "lab")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, dir: dir, out: filepath.Join(dir, "out")}
	server := filepath.Join(dir, "server")
	for _, d := range []string{server, filepath.Join(dir, "tmp")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range fixtures {
		copyFixture(t, sandboxtest.Build(t, "./testdata/servers/"+f), filepath.Join(server, f))
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

func copyFixture(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.WriteProgram(t, to, data)
}

// path is a file of the server's directory.
func (l *lab) path(name string) string { return filepath.Join(l.dir, "server", name) }

// tracerEnv names the tracer of probes that ask for none, "" for what a user gets.
const tracerEnv = "COALMINE_TRACER"

// options are short: the fixtures either answer at once or never.
func (l *lab) options(backend string, command ...string) request {
	var o request
	o.Command, o.Sandbox, o.Tracer, o.Seed = command, backend, os.Getenv(tracerEnv), 1
	o.Calls, o.Timeout, o.CallTimeout, o.Idle = 2, 20*time.Second, 3*time.Second, shortIdle
	o.Out, o.FailOn, o.AgentPath, o.Version = l.out, finding.High, sandboxtest.Build(l.t, "./cmd/coalmine"), "test"
	o.Limits = agent.Limits{Memory: 256 << 20, Pids: 64, CPU: time.Minute, Output: 24 << 20, File: 16 << 20, Disk: 16 << 20}
	return o
}

// bound is how long one bad server may take, on a machine that is busy.
const bound = 100 * time.Second

// probe runs one probe in this process.
func (l *lab) probe(o request) *analyze.Result {
	l.t.Helper()
	return l.probeWithin(bound, o)
}

// probeWithin is probe for what takes longer than usual.
func (l *lab) probeWithin(d time.Duration, o request) *analyze.Result {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	got, err := runRequest(ctx, o)
	if err != nil {
		l.t.Fatalf("probe: %v", err)
	}
	l.readable(got.Dir)
	l.sameAgain(got.Dir, o.Version)
	return got.Result
}

// sameAgain judges a run's directory again: the reports must be the same bytes.
func (l *lab) sameAgain(dir, version string) {
	l.t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		l.t.Fatal(err)
	}
	defer root.Close()
	files := []string{report.FileJSON, report.FileSARIF, report.FileHTML, report.FileSummary}
	was := map[string][]byte{}
	for _, name := range files {
		if was[name], err = root.ReadFile(name); err != nil {
			l.t.Fatal(err)
		}
	}
	res, in, err := analyze.Judge(root, version)
	if err == nil {
		err = report.Write(root, res, in)
	}
	if err != nil {
		l.t.Errorf("judge it again: %v", err)
		return
	}
	for _, name := range files {
		if now, err := root.ReadFile(name); err != nil || !bytes.Equal(now, was[name]) {
			l.t.Errorf("%s is another when it is judged again: %v", name, err)
		}
	}
}

// readable checks that a run's log can be read, whole lines only.
func (l *lab) readable(dir string) {
	l.t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		l.t.Fatal(err)
	}
	defer root.Close()
	r, err := session.Open(root)
	if err != nil {
		l.t.Errorf("the log: %v", err)
		return
	}
	for _, err := range r.Frames() {
		if err != nil {
			l.t.Errorf("a frame of the log: %v", err)
		}
	}
	for _, err := range r.Trace() {
		if err != nil {
			l.t.Errorf("a line of the trace: %v", err)
		}
	}
}

// logDir is the directory of the lab's only run.
func (l *lab) logDir() string {
	l.t.Helper()
	found, err := filepath.Glob(filepath.Join(l.out, "*"))
	if err != nil || len(found) != 1 {
		l.t.Fatalf("runs in %s: %v %v", l.out, found, err)
	}
	return found[0]
}

// nothingLeft fails the test for each process that runs or works in the lab's
// directory, each mount below it, and each temporary file.
func (l *lab) nothingLeft() {
	l.t.Helper()
	// A killed process needs a moment to be gone.
	var left []string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if left = l.processes(); len(left) == 0 {
			break
		}
	}
	for _, p := range left {
		l.t.Errorf("a process remains: %s", p)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		l.t.Error(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, l.dir+"/") {
			l.t.Errorf("a mount remains: %s", line)
		}
	}
	if names, err := os.ReadDir(filepath.Join(l.dir, "tmp")); err != nil || len(names) > 0 {
		l.t.Errorf("temporary files remain: %v %v", names, err)
	}
}

// processes are those of which the program or the command line names the lab.
func (l *lab) processes() []string {
	var left []string
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		exe, _ := os.Readlink(p + "/exe")
		cmdline, _ := os.ReadFile(p + "/cmdline")
		if p != fmt.Sprintf("/proc/%d", os.Getpid()) && strings.Contains(exe+"\x00"+string(cmdline), l.dir+"/") {
			left = append(left, fmt.Sprintf("%s %s %q", p, exe, cmdline))
		}
	}
	return left
}

// containers lists what the process with this pid has with the engine.
func containers(t *testing.T, pid int) []string {
	t.Helper()
	out, err := exec.Command("docker", "ps", "-aq", "--no-trunc", "--filter", "label=dev.coalmine.pid="+strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatalf("docker ps: %v", err)
	}
	return strings.Fields(string(out))
}

// child is coalmine as a process of its own.
type child struct {
	l      *lab
	cmd    *exec.Cmd
	out    bytes.Buffer
	err    bytes.Buffer
	ended  chan struct{}
	status int
}

// run starts coalmine with its temporary files in the lab and waits for its end.
func (l *lab) run(backend string, env []string, args ...string) *child {
	l.t.Helper()
	c := l.start(backend, env, args...)
	c.wait()
	return c
}

// flags are the child's usual ones.
func (l *lab) flags(backend string, more ...string) []string {
	return append([]string{"probe", "--sandbox", backend, "--seed", "1", "--calls", "2", "--timeout", "20s", "--call-timeout", "3s", "--out", l.out}, more...)
}

func (l *lab) start(backend string, env []string, args ...string) *child {
	l.t.Helper()
	program := filepath.Join(l.dir, "coalmine")
	if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
		copyFixture(l.t, sandboxtest.Build(l.t, "./cmd/coalmine"), program)
	}
	args = slices.Concat(l.wrap, []string{program}, args)
	c := &child{l: l, cmd: exec.Command(args[0], args[1:]...), ended: make(chan struct{})}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: l.as}
	c.cmd.Env = append(append(os.Environ(), "TMPDIR="+filepath.Join(l.dir, "tmp")), env...)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.err
	c.cmd.Dir = "/"
	c.cmd.WaitDelay = 5 * time.Second
	if err := c.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		err := c.cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			c.err.WriteString(err.Error())
		}
		c.status = c.cmd.ProcessState.ExitCode()
	}()
	return c
}

func (c *child) wait() {
	c.l.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(bound):
		_ = c.cmd.Process.Kill()
		<-c.ended
		c.l.t.Fatalf("coalmine did not end in %s\n%s%s", bound, c.out.String(), c.err.String())
	}
}

// says checks the exit status, an error and its hint.
func (c *child) says(status int, texts ...string) {
	c.l.t.Helper()
	all := c.out.String() + c.err.String()
	if c.status != status {
		c.l.t.Errorf("status %d, want %d\n%.3000s", c.status, status, all)
	}
	for _, want := range texts {
		if !strings.Contains(all, want) {
			c.l.t.Errorf("no %q in\n%.3000s", want, all)
		}
	}
}

// peak is the most memory that the command had, looked at until it ends. What the kernel
// says of it afterwards holds the memory of this process too, from which it was started.
func (c *child) peak() (most int64) {
	name := fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid)
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

// until waits for a text in the trace of the lab's run.
func (c *child) until(text string) {
	c.l.t.Helper()
	for end := time.Now().Add(bound); time.Now().Before(end); time.Sleep(3 * time.Millisecond) {
		found, _ := filepath.Glob(filepath.Join(c.l.out, "*", session.TraceFile))
		if len(found) == 1 {
			if data, err := os.ReadFile(found[0]); err == nil && bytes.Contains(data, []byte(text)) {
				return
			}
		}
		select {
		case <-c.ended:
			c.l.t.Fatalf("coalmine ended before %s: status %d\n%s%s", text, c.status, c.out.String(), c.err.String())
		default:
		}
	}
	c.l.t.Fatalf("%s never came", text)
}
