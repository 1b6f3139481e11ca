package local

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox"
)

const (
	// groupHeadroom is what the agent, the tracer and the kernel's own books may take beside the target.
	groupHeadroom = 256 << 20
	// groupTasks are the tasks of the agent's and the tracer's.
	groupTasks = 256
	// groupName begins the name of a group, which the target sees in /proc: it says nothing.
	groupName = "server-"
)

// group is the sandbox's own control group: it holds what no sum over /proc can
// see, such as the buffers of sockets, files in memory on their way between
// processes, and shared memory that nobody has attached. With cgroup v1 it is
// one directory for each controller.
type group struct {
	dirs []string
	// events is the file that counts the kills for want of memory.
	events string
}

// setting is a file of a control group and what is written to it. Where it is
// optional, a kernel without it is no failure.
type setting struct {
	file     string
	value    int64
	optional bool
}

// wall is the bound on all memory of the sandbox: the target's own, and its
// writable file systems, which are in memory too. The agent holds the target to
// its limit and says so; this is the wall behind that.
func wall(spec sandbox.Spec) int64 { return spec.Limits.Memory + 2*disk(spec) + groupHeadroom }

// newGroup makes a control group in which the memory of a Spec's sandbox is
// bounded. It fails where this process may make none.
func newGroup(spec sandbox.Spec) (*group, error) {
	if spec.Limits.Memory <= 0 {
		return nil, errors.New("no limit is asked for")
	}
	mounts, err := cgroupMounts("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := ownGroups("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	name := groupName + strconv.Itoa(os.Getpid()) + "-" + strings.ToLower(rand.Text()[:12])
	g, err := newUnified(mounts[""], own[""], name, spec)
	if err == nil {
		return g, nil
	}
	old, errV1 := newLegacy(mounts, own, name, spec)
	if errV1 == nil {
		return old, nil
	}
	return nil, fmt.Errorf("make a control group: %w", errors.Join(err, errV1))
}

// newUnified makes a group of cgroup v2: below the nearest ancestor whose
// children have the memory controller.
func newUnified(mount, own, name string, spec sandbox.Spec) (*group, error) {
	if mount == "" {
		return nil, errors.New("cgroup v2 is not mounted")
	}
	err := errors.New("no cgroup above this process has a memory controller for its children")
	for dir := own; ; dir = filepath.Dir(dir) {
		parent := filepath.Join(mount, dir)
		if enabled, readErr := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control")); readErr == nil && slices.Contains(strings.Fields(string(enabled)), "memory") {
			g := &group{events: filepath.Join(parent, name, "memory.events")}
			err = g.make(parent, name, []setting{
				{"memory.max", wall(spec), false}, {"memory.swap.max", 0, true}, {"pids.max", int64(spec.Limits.Pids) + groupTasks, true},
			})
			if err == nil {
				return g, nil
			}
		}
		if dir == "/" || dir == "." {
			return nil, err
		}
	}
}

// newLegacy makes groups of cgroup v1, below this process's own.
func newLegacy(mounts, own map[string]string, name string, spec sandbox.Spec) (*group, error) {
	if mounts["memory"] == "" {
		return nil, errors.New("the memory controller of cgroup v1 is not mounted")
	}
	parent := filepath.Join(mounts["memory"], own["memory"])
	g := &group{events: filepath.Join(parent, name, "memory.oom_control")}
	err := g.make(parent, name, []setting{{"memory.limit_in_bytes", wall(spec), false}, {"memory.memsw.limit_in_bytes", wall(spec), true}})
	if err != nil {
		return nil, err
	}
	if mounts["pids"] != "" && spec.Limits.Pids > 0 {
		// What it adds is RLIMIT_NPROC's too.
		_ = g.make(filepath.Join(mounts["pids"], own["pids"]), name, []setting{{"pids.max", int64(spec.Limits.Pids) + groupTasks, false}})
	}
	return g, nil
}

// make makes one directory with its settings, or none.
func (g *group) make(parent, name string, settings []setting) error {
	sweepGroups(parent, false)
	dir := filepath.Join(parent, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, s := range settings {
		if err := writeGroup(dir, s.file, s.value); err != nil && !s.optional {
			_ = os.Remove(dir)
			return err
		}
	}
	g.dirs = append(g.dirs, dir)
	return nil
}

// Clean removes the control groups that killed processes left beside this process's
// own, and returns their paths.
func Clean() []string {
	mounts, err := cgroupMounts("/proc/self/mountinfo")
	if err != nil {
		return nil // nothing is mounted in which one could be
	}
	own, err := ownGroups("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	removed := sweepGroups(filepath.Join(mounts["memory"], own["memory"]), true)
	removed = append(removed, sweepGroups(filepath.Join(mounts["pids"], own["pids"]), true)...)
	if mounts[""] != "" {
		for dir := own[""]; ; dir = filepath.Dir(dir) {
			removed = append(removed, sweepGroups(filepath.Join(mounts[""], dir), true)...)
			if dir == "/" || dir == "." || dir == "" {
				break
			}
		}
	}
	return removed
}

// sweepGroups removes the groups of processes that were killed before they could, and
// returns their paths. One that holds a task is spared by the kernel; wait waits a moment
// for the tasks of a run that was just killed, which end by themselves.
func sweepGroups(parent string, wait bool) (removed []string) {
	names, _ := filepath.Glob(filepath.Join(parent, groupName+"*"))
	for _, dir := range names {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupName), "-")
		if pid, err := strconv.Atoi(owner); err == nil && pid > 0 && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			if removeGroup(dir, wait) == nil {
				removed = append(removed, dir)
			}
		}
	}
	return removed
}

func writeGroup(dir, file string, value int64) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(strconv.AppendInt(nil, value, 10))
	return errors.Join(err, f.Close())
}

// add puts a process, and what it starts from then on, into the group.
func (g *group) add(pid int) error {
	for _, dir := range g.dirs {
		if err := writeGroup(dir, "cgroup.procs", int64(pid)); err != nil {
			return fmt.Errorf("enter the control group: %w", err)
		}
	}
	return nil
}

// remove removes the group once its last task has ended, which the kernel may
// take a moment to notice.
func (g *group) remove() {
	if g == nil {
		return
	}
	for _, dir := range g.dirs {
		_ = removeGroup(dir, true)
	}
}

// removeGroup removes one directory of a group, and waits for its last task's end if it may.
func removeGroup(dir string, wait bool) error {
	err := os.Remove(dir)
	for range 1000 { // five seconds: a busy machine is slow to end a task
		if !wait || !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(5 * time.Millisecond)
		err = os.Remove(dir)
	}
	return err
}

// cgroupMounts returns the places at which controllers are mounted, "" for
// cgroup v2, of the format of proc_pid_mountinfo(5). A mount that shows only a
// part of a hierarchy is left out: paths of proc_pid_cgroup(5) do not fit it.
func cgroupMounts(file string) (map[string]string, error) {
	out := map[string]string{}
	err := eachLine(file, func(line string) {
		before, after, _ := strings.Cut(line, " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if len(f) < 5 || len(kind) < 3 || f[3] != "/" {
			return
		}
		switch kind[0] {
		case "cgroup2":
			out[""] = f[4]
		case "cgroup":
			for c := range strings.SplitSeq(kind[2], ",") {
				if c != "rw" && c != "ro" {
					out[c] = f[4]
				}
			}
		}
	})
	return out, err
}

// ownGroups returns the paths of this process's groups by controller, "" for
// cgroup v2, of the format of cgroups(7).
func ownGroups(file string) (map[string]string, error) {
	out := map[string]string{}
	err := eachLine(file, func(line string) {
		f := strings.SplitN(line, ":", 3)
		if len(f) != 3 || !strings.HasPrefix(f[2], "/") || strings.Contains(f[2], "/..") {
			return
		}
		for c := range strings.SplitSeq(f[1], ",") {
			out[c] = f[2]
		}
	})
	return out, err
}

func eachLine(file string, do func(string)) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	s := bufio.NewScanner(f)
	for s.Scan() {
		do(s.Text())
	}
	return s.Err()
}
