//go:build linux && (amd64 || arm64) && e2e

package bpf

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/tracetest"
)

// The test's own program is the sandbox's: first its init, which waits for a
// line and starts the second, which executes the program to be watched.
const roleEnv = "BPF_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "init":
		beInit()
	case "stage":
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		err := syscall.Exec(os.Args[1], os.Args[1:], []string{"PATH=/usr/bin:/bin", "LC_ALL=C"})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
	os.Exit(m.Run())
}

func beInit() {
	in := bufio.NewReader(os.Stdin)
	_, _ = in.ReadString('\n')
	r, w, _ := os.Pipe()
	p, err := os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{Env: []string{roleEnv + "=stage"}, Files: []*os.File{r, os.Stdout, os.Stderr}})
	if err != nil {
		fmt.Println(err)
		os.Exit(124)
	}
	fmt.Println(p.Pid)
	_, _ = in.ReadString('\n')
	fmt.Fprintln(w)
	state, err := p.Wait()
	if err != nil {
		os.Exit(123)
	}
	var ws syscall.WaitStatus
	for { // orphans
		if _, err := syscall.Wait4(-1, &ws, 0, nil); err != nil {
			break
		}
	}
	os.Exit(max(state.ExitCode(), 0))
}

// need skips where this machine forbids programs, and fails where it does not and
// they do not load, or where COALMINE_REQUIRE names "bpf".
func need(t testing.TB) {
	t.Helper()
	if ok, reason := Supported(); ok != "yes" {
		if ok == "unknown" || strings.Contains(","+os.Getenv("COALMINE_REQUIRE")+",", ",bpf,") {
			t.Fatalf("eBPF is required here, or should work: %s", reason)
		}
		t.Skip(reason)
	}
}

type seen struct {
	records []trace.Record
	lost    []string
	missing uint64
	code    int
}

// run watches a command in a pid namespace of its own.
func run(t testing.TB, set string, command ...string) *seen {
	t.Helper()
	return runWith(t, Options{Set: set}, command...)
}

func runWith(t testing.TB, o Options, command ...string) *seen {
	t.Helper()
	return runMaimed(t, o, nil, command...)
}

// runMaimed is run with a tracer to which something is done before the target starts.
func runMaimed(t testing.TB, o Options, maim func(*Tracer), command ...string) *seen {
	t.Helper()
	need(t)
	cmd := exec.Command("/proc/self/exe", command...)
	cmd.Dir, cmd.Env = "/", []string{roleEnv + "=init"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _, _ = cmd.Process.Wait() }()
	o.PID = cmd.Process.Pid
	tr, err := Open(o)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	defer tr.Close()
	fmt.Fprintln(in, "begin")
	lines := bufio.NewReader(out)
	line, _ := lines.ReadString('\n')
	var target int
	if _, err := fmt.Sscan(line, &target); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	s := new(seen)
	tr.Start(target, true, func(r *trace.Record) {
		c := *r
		if r.Addr != nil {
			a := *r.Addr
			c.Addr = &a
		}
		s.records = append(s.records, c)
	}, func(n uint64, why string) { s.missing += n; s.lost = append(s.lost, fmt.Sprint(n, " ", why)) })
	if maim != nil {
		maim(tr)
	}
	fmt.Fprintln(in, "go")
	_ = in.Close()
	_, _ = io.Copy(io.Discard, lines)
	state, err := cmd.Process.Wait()
	if err != nil {
		t.Fatal(err)
	}
	s.code = state.ExitCode()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := tr.Alive(); err != nil && maim == nil {
		t.Error(err)
	}
	if err := tr.Drain(ctx); err != nil {
		t.Error(err)
	}
	tr.Close()
	return s
}

func compile(t testing.TB, name string, flags ...string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), name)
	args := append([]string{"-O1", "-w", "-o", bin, filepath.Join("..", "strace", "testdata", "programs", name+".c")}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("compile %s: %v\n%s", name, err, out)
	}
	return bin
}

// The records begin with the target's program and hold nothing of the agent's.
func TestRecordsAreTheTargets(t *testing.T) {
	slots.Acquire(t, 1)
	s := run(t, Core, "/bin/sh", "-c", "cat /etc/hostname >/dev/null; cd /usr; cat lib/os-release >/dev/null; (exit 3); kill -0 $$")
	if len(s.lost) > 0 || s.code != 0 || len(s.records) == 0 {
		t.Fatalf("%d records, status %d, lost %q", len(s.records), s.code, s.lost)
	}
	first, last := s.records[0], s.records[len(s.records)-1]
	if first.Op != trace.OpExec || first.Path != "/bin/sh" || len(first.Argv) != 3 || first.Seq != 1 {
		t.Errorf("the first record is %+v", first)
	}
	if last.Op != trace.OpExit || last.Tid != first.Tid || last.Ret != 0 {
		t.Errorf("the last record is %+v", last)
	}
	born := map[int]bool{first.Tid: true}
	for _, r := range s.records {
		if r.Op == trace.OpFork {
			born[r.Child] = true
		}
	}
	var opened, three bool
	for _, r := range s.records {
		if !born[r.Tid] {
			t.Errorf("task %d was never born: %+v", r.Tid, r)
		}
		opened = opened || r.Op == trace.OpOpen && r.Path == "/usr/lib/os-release" && r.Given == "lib/os-release" && r.Real
		three = three || r.Op == trace.OpExit && r.Ret == 3
	}
	if !opened || !three {
		t.Errorf("opened %t, exit 3 %t", opened, three)
	}
}

// A buffer that is too small costs events, and every one of them is told of.
func TestFullBufferIsLoss(t *testing.T) {
	slots.Acquire(t, 1)
	need(t)
	s := runWith(t, Options{Set: Core, Ring: 2 * os.Getpagesize()}, "/bin/sh", "-c", "i=0; while [ $i -lt 3000 ]; do : </dev/null; i=$((i+1)); done")
	opens := 0
	for _, r := range s.records {
		if r.Op == trace.OpOpen && r.Path == "/dev/null" {
			opens++
		}
	}
	if opens < 3000 && s.missing == 0 {
		t.Errorf("%d of 3000 opens, and nothing says that others are missing", opens)
	}
	t.Logf("%d of 3000 opens, %d told as lost", opens, s.missing)
}

// An exec whose enter nobody has seen is known all the same, whether it succeeds or fails.
func TestExecsWithoutTheirEnter(t *testing.T) {
	slots.Acquire(t, 1)
	need(t)
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh -e\n/bin/true \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := runMaimed(t, Options{Set: Core}, func(tr *Tracer) { _ = tr.links[len(tr.links)-1].Close() },
		"/bin/sh", "-c", "cd /bin && ./true one 'two words' ''; "+script+" three; exec /no/such/file four")
	if len(s.lost) > 0 {
		t.Errorf("lost %q", s.lost)
	}
	var got []string
	for _, r := range s.records {
		if r.Op == trace.OpExec {
			got = append(got, fmt.Sprintf("%s %q %s", r.Path, r.Argv, r.Err))
		}
	}
	want := []string{
		`/bin/true ["./true" "one" "two words" ""] `, script + ` ["` + script + `" "three"] `, `/bin/true ["/bin/true" "three"] `,
		`/no/such/file ["/no/such/file" "four"] ENOENT`,
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return g == w || strings.TrimPrefix(g, "/usr") == w }) {
			t.Errorf("%s is not among\n%s", w, strings.Join(got, "\n"))
		}
	}
}

// An exec names the directory in which it was called and the file that runs, whatever
// links lead there, and whether or not its enter was seen.
func TestTheFileThatRuns(t *testing.T) {
	slots.Acquire(t, 1)
	need(t)
	dir := t.TempDir()
	real := func(p string) string {
		p, err := filepath.EvalSymlinks(p)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	shell, cat := real("/bin/sh"), real("/bin/cat")
	for name, text := range map[string]string{"script": "#!/bin/sh -e\n:\n", "outer": "#!" + dir + "/script\n:\n", "plain": "no program\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "deeper", "deeper": cat, "tied": "script"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	in := real(dir)
	want := []string{
		"./link in " + in + " runs " + cat + " script=false",
		"script in / runs " + shell + " script=true",
		"tied in " + in + " runs " + shell + " script=true",
		"outer in " + in + " runs " + shell + " script=true",
		"missing in " + in + " runs  script=false",
	}
	commands := "cd " + dir + "; ./link /dev/null; ./tied; ./outer; " + dir + "/missing; cd /; " + dir + "/script; exit 0"
	for name, maim := range map[string]func(*Tracer){
		"seen whole": nil, "without its enter": func(tr *Tracer) { _ = tr.links[len(tr.links)-1].Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s := runMaimed(t, Options{Set: Core}, maim, "/bin/sh", "-c", commands)
			var got []string
			for _, r := range s.records {
				if r.Op == trace.OpExec {
					got = append(got, fmt.Sprintf("%s in %s runs %s script=%v", strings.TrimPrefix(r.Argv[0], dir+"/"), r.Cwd, r.Exe, r.Script))
				}
			}
			for _, w := range want {
				if !slices.ContainsFunc(got, func(g string) bool { return strings.TrimPrefix(g, "./") == strings.TrimPrefix(w, "./") }) {
					t.Errorf("%s is not among\n%s", w, strings.Join(got, "\n"))
				}
			}
			if _, err := tracetest.Common(s.records); err != nil {
				t.Error(err)
			}
		})
	}
}

// A tracer whose programs are detached says so.
func TestDetachedIsToldOf(t *testing.T) {
	slots.Acquire(t, 1)
	need(t)
	for i := range 6 {
		tr, err := Open(Options{PID: os.Getpid(), Set: Core})
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Alive(); err != nil {
			t.Fatal(err)
		}
		if err := tr.links[i].Close(); err != nil {
			t.Fatal(err)
		}
		if err := tr.Alive(); err == nil {
			t.Errorf("link %d is detached and nobody knows", i)
		}
		tr.Close()
	}
}

// Programs that watched before know nothing of it: neither what they saw nor what they lost.
func TestProgramsForget(t *testing.T) {
	slots.Acquire(t, 1)
	need(t)
	o := Options{PID: os.Getpid(), Set: Core, Ring: 1 << 17}
	before, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		_, _ = os.ReadFile("/etc/hostname")
	}
	unread := before.reader.AvailableBytes()
	lost, _ := before.lost(0)
	before.Close()
	if unread == 0 || lost == 0 {
		t.Fatalf("%d bytes are unread, %d events are lost: there is nothing to forget", unread, lost)
	}
	var got [2][]string
	for i, ring := range []int{o.Ring, 2 * o.Ring} {
		s := runMaimed(t, Options{Set: Core, Ring: ring}, func(tr *Tracer) {
			if again := tr.programs == before.programs; again != (i == 0) {
				t.Errorf("run %d has the programs that watched before: %t", i, again)
			}
		}, "/bin/cat", "/etc/hostname")
		if s.missing > 0 {
			t.Errorf("lost %q", s.lost)
		}
		for _, r := range s.records {
			got[i] = append(got[i], fmt.Sprint(r.Op, r.Path, r.Ret))
		}
	}
	if len(got[0]) == 0 || !slices.Equal(got[0], got[1]) {
		t.Errorf("programs that watched before see\n%s\nnew ones\n%s", strings.Join(got[0], "\n"), strings.Join(got[1], "\n"))
	}
}
