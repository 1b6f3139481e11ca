//go:build linux && e2e

package faults

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// leftovers are what a run had, all of which must be gone after it.
type leftovers struct {
	processes  map[int]string // by pid, when they began
	namespaces map[string]bool
	cgroups    map[string]bool
	programs   map[ebpf.ProgramID]bool
	containers []string
	env        []string
	// latest is when the youngest process began that was there.
	latest int
}

// process is what /proc says of one.
type process struct {
	parent      int
	name, began string
	// innermost is its number in its own pid namespace.
	innermost int
}

// ticks is when it began, since the boot.
func (p process) ticks() int {
	n, _ := strconv.Atoi(p.began)
	return n
}

func allProcesses() map[int]process {
	all := map[int]process{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(d))
		stat, err := os.ReadFile(d + "/stat")
		at := strings.LastIndexByte(string(stat), ')')
		if err != nil || at < 0 {
			continue
		}
		f := strings.Fields(string(stat[at+1:]))
		if f[0] == "Z" || f[0] == "X" {
			continue
		}
		p := process{name: string(stat[strings.IndexByte(string(stat), '(')+1 : at]), began: f[19]}
		p.parent, _ = strconv.Atoi(f[1])
		status, _ := os.ReadFile(d + "/status")
		if _, rest, ok := strings.Cut(string(status), "\nNSpid:"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			if numbers := strings.Fields(line); len(numbers) > 0 {
				p.innermost, _ = strconv.Atoi(numbers[len(numbers)-1])
			}
		}
		all[pid] = p
	}
	return all
}

// below are the processes that began below some others, those included.
func below(all map[int]process, roots ...int) []int {
	var out []int
	for pid := range all {
		for p, n := pid, 0; p > 1 && n < 100; p, n = all[p].parent, n+1 {
			if slices.Contains(roots, p) {
				out = append(out, pid)
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

// victim is the process that plays a part in a run, 0 while there is none.
func victim(root int, part string, more []int) int {
	all := allProcesses()
	agent := 0
	mine := below(all, append(more, root)...)
	for _, pid := range mine {
		if p := all[pid]; pid != root && p.name == "init" && p.innermost == 1 {
			agent = pid
		}
	}
	if part == "agent" || agent == 0 {
		return agent
	}
	for _, pid := range mine {
		p := all[pid]
		switch {
		// In a container the loader that strace brings along runs it, and gives the process its name.
		case part == "tracer" && (p.name == "strace" || strings.HasPrefix(p.name, "ld-")) && p.innermost != 1:
			return pid
		case part == "sink" && p.name == "init" && p.parent == agent && listens(pid):
			return pid
		}
	}
	return 0
}

// listens reports whether a process has many sockets, as only the sink has.
func listens(pid int) bool {
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	sockets := 0
	for _, fd := range fds {
		if to, _ := os.Readlink(fd); strings.HasPrefix(to, "socket:") {
			sockets++
		}
	}
	return sockets >= 4
}

// enginePIDs are the first processes of a run's containers.
func enginePIDs(c *probetest.Child, own *engine, name string) []int {
	if name == "local" {
		return nil
	}
	var pids []int
	for _, id := range containersOf(c.Cmd.Process.Pid, engineEnv(own, name)) {
		out, err := dockerSays(engineEnv(own, name), "inspect", "--format", "{{.State.Pid}}", id)
		if pid, convErr := strconv.Atoi(strings.TrimSpace(out)); errors.Join(err, convErr) == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

func engineEnv(own *engine, name string) []string {
	if name == "own" {
		return own.env()
	}
	return nil
}

// containersOf are the containers of a process; an engine that does not answer has none to say.
func containersOf(pid int, env []string) []string {
	out, _ := dockerSays(env, "ps", "-aq", "--no-trunc", "--filter", "label=dev.coalmine.pid="+strconv.Itoa(pid))
	return strings.Fields(out)
}

// dockerSays runs docker with an engine, which may be dead or hang.
func dockerSays(env []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	return string(out), err
}

var kindsOfNamespaces = []string{"mnt", "pid", "net", "user", "ipc", "uts", "cgroup"}

// census takes down what a run has.
func census(root int, inContainers []int, env []string) *leftovers {
	l := &leftovers{processes: map[int]string{}, namespaces: map[string]bool{}, cgroups: map[string]bool{}, programs: map[ebpf.ProgramID]bool{}, env: env}
	all := allProcesses()
	for _, p := range all {
		l.latest = max(l.latest, p.ticks())
	}
	own := cgroupsOf(root)
	for _, pid := range below(all, append(inContainers, root)...) {
		l.processes[pid] = all[pid].began
		for _, kind := range kindsOfNamespaces {
			theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
			mine, _ := os.Readlink("/proc/self/ns/" + kind)
			if err == nil && theirs != mine {
				l.namespaces[theirs] = true
			}
		}
		for dir := range cgroupsOf(pid) {
			if !own[dir] {
				l.cgroups[dir] = true
			}
		}
	}
	infos, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", root))
	for _, name := range infos {
		data, _ := os.ReadFile(name)
		if _, rest, ok := strings.Cut(string(data), "prog_id:"); ok {
			var id uint32
			if _, err := fmt.Sscan(rest, &id); err == nil {
				l.programs[ebpf.ProgramID(id)] = true
			}
		}
	}
	l.containers = containersOf(root, env)
	return l
}

// cgroupsOf are the directories of a process's cgroups, of both versions.
func cgroupsOf(pid int) map[string]bool {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	out := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) == 3 && f[2] != "/" {
			out[filepath.Join("/sys/fs/cgroup", strings.TrimPrefix(f[1], "name="), f[2])] = true
		}
	}
	return out
}

// gone fails the test for what is still there some time later: a killed process, and
// what the kernel takes down after it, need a moment.
func (l *leftovers) gone(t *testing.T) {
	t.Helper()
	var left []string
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if left = l.remain(); len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	for _, what := range left {
		t.Errorf("%s remains", what)
	}
}

func (l *leftovers) remain() []string {
	var out []string
	all := allProcesses()
	for pid, began := range l.processes {
		if p, ok := all[pid]; ok && p.began == began {
			out = append(out, fmt.Sprintf("process %d (%s)", pid, p.name))
		}
	}
	if len(l.namespaces) > 0 {
		for pid, p := range all {
			if p.ticks() > l.latest {
				continue // the kernel gives a namespace's number anew
			}
			for _, kind := range kindsOfNamespaces {
				if ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind)); err == nil && l.namespaces[ns] {
					out = append(out, fmt.Sprintf("namespace %s of process %d", ns, pid))
				}
			}
		}
		mounts, _ := os.ReadFile("/proc/self/mountinfo")
		for line := range strings.Lines(string(mounts)) {
			// An engine of the tests' own is killed, too, and what it holds is no work of ours.
			if f := strings.Fields(line); len(f) > 4 && l.namespaces[f[3]] && !strings.HasPrefix(f[4], filepath.Join(os.TempDir(), "engine")) {
				out = append(out, "namespace "+f[3]+" at "+f[4])
			}
		}
	}
	for dir := range l.cgroups {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			out = append(out, "cgroup "+dir)
		}
	}
	for id := range l.programs {
		if p, err := ebpf.NewProgramFromID(id); err == nil {
			_ = p.Close()
			out = append(out, fmt.Sprintf("BPF program %d", id))
		}
	}
	for _, id := range l.containers {
		if _, err := dockerSays(l.env, "inspect", id); err == nil {
			out = append(out, "container "+id)
		}
	}
	return out
}

// ownImage is small, and has what a static server needs.
const ownImage = "coalmine-test/musl"

// engine is a Docker Engine of the test's own, in its own directories, mount and
// network namespaces and cgroup, on its own socket. One case at a time has it.
type engine struct {
	mu     sync.Mutex
	dir    string
	holder *exec.Cmd // keeps the namespaces
	cmd    *exec.Cmd
	flags  []string   // further ones of dockerd
	t      *testing.T // of all cases
}

func newEngine(t *testing.T) *engine {
	e := &engine{t: t}
	t.Cleanup(e.end)
	return e
}

func (e *engine) env() []string { return []string{"DOCKER_HOST=unix://" + e.dir + "/sock"} }

// take starts the engine if no case had it before.
func (e *engine) take(t *testing.T) {
	t.Helper()
	sandboxtest.Need(t, "docker", "root")
	e.mu.Lock()
	if e.cmd != nil {
		return
	}
	var err error
	if e.dir, err = os.MkdirTemp("", "engine"); err != nil {
		t.Fatal(err)
	}
	e.hold(t)
	e.start(t)
	load := exec.Command("sh", "-c", "docker save "+ownImage+" | DOCKER_HOST=unix://"+e.dir+"/sock docker load")
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("load %s: %v %s", ownImage, err, out)
	}
}

// hold makes the engine's namespaces, and returns when they are there: one that came
// too early would be the machine's own, and dockerd removes that one's bridge.
func (e *engine) hold(t *testing.T) {
	t.Helper()
	e.holder = exec.Command("sh", "-c", "mount --make-rprivate / && echo ready && exec sleep infinity")
	e.holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	out, err := e.holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the engine's namespaces: %q %v", line, err)
	}
}

func (e *engine) release() { e.mu.Unlock() }

// start starts dockerd, for the first time or after its death. One that ends at once
// is started again, as an init system does: its containerd may still be restoring.
func (e *engine) start(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !e.tryStart(t); {
		if time.Now().After(end) {
			said, _ := os.ReadFile(e.dir + "/log")
			t.Fatalf("the engine does not answer: %s", said[max(0, len(said)-2000):])
		}
	}
}

// tryStart starts dockerd and reports whether it answers before it ends.
func (e *engine) tryStart(t *testing.T) bool {
	t.Helper()
	if e.cmd != nil {
		_ = e.cmd.Wait()
	}
	log, err := os.OpenFile(e.dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	e.cmd = exec.Command("nsenter", append([]string{
		"--target", strconv.Itoa(e.holder.Process.Pid), "--mount", "--net", "dockerd",
		"--data-root", e.dir + "/data", "--exec-root", e.dir + "/exec", "--pidfile", e.dir + "/pid", "--host", "unix://" + e.dir + "/sock",
		"--bridge", "none", "--iptables=false", "--ip6tables=false", "--cgroup-parent", "/" + filepath.Base(e.dir), "--log-level", "warn",
	}, e.flags...)...)
	e.cmd.Stdout, e.cmd.Stderr = log, log
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := dockerSays(e.env(), "version"); err == nil {
			return true
		}
		var state syscall.WaitStatus
		if pid, err := syscall.Wait4(e.cmd.Process.Pid, &state, syscall.WNOHANG, nil); pid != 0 || err != nil {
			e.cmd = nil
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// end stops the engine and removes what it had.
func (e *engine) end() {
	if e.cmd != nil {
		_ = e.cmd.Process.Signal(syscall.SIGTERM)
		_ = e.cmd.Wait()
	}
	if e.holder != nil {
		_ = e.holder.Process.Kill()
		_ = e.holder.Wait()
	}
	dirs, _ := filepath.Glob("/sys/fs/cgroup/*/" + filepath.Base(e.dir))
	if e.dir == "" {
		return
	}
	for _, dir := range append(dirs, "/sys/fs/cgroup/"+filepath.Base(e.dir)) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			e.t.Errorf("the engine's cgroup: %v", err)
		}
	}
	if err := os.RemoveAll(e.dir); err != nil {
		e.t.Error(err)
	}
}
