package local

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCgroupMounts(t *testing.T) {
	mounts, err := cgroupMounts(written(t, "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs none rw\n"+
		"32 31 0:29 / /sys/fs/cgroup/memory rw shared:9 - cgroup none rw,memory\n"+
		"33 31 0:30 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n"+
		"34 31 0:31 /docker/abc /sys/fs/cgroup/pids rw - cgroup none rw,pids\n"+
		"broken\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"": "/sys/fs/cgroup/unified", "memory": "/sys/fs/cgroup/memory"}
	if diff := cmp.Diff(want, mounts); diff != "" {
		t.Error(diff)
	}
	own, err := ownGroups(written(t, "9:name=systemd:/\n4:memory,x:/a:b/c\n0::/user.slice\n1:pids:/../../up\nbroken\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"name=systemd": "/", "memory": "/a:b/c", "x": "/a:b/c", "": "/user.slice"}, own); diff != "" {
		t.Error(diff)
	}
}

// In a hierarchy of v2 the group is made below the nearest ancestor whose
// children have a memory controller, and a half made one is removed.
func TestUnifiedGroup(t *testing.T) {
	root := t.TempDir()
	for dir, controllers := range map[string]string{"/": "cpu memory pids", "/user": "cpu memory pids", "/user/app": "cpu", "/user/app/me": ""} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "cgroup.subtree_control"), []byte(controllers+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{Limits: agent.Limits{Memory: 1 << 30, Disk: 1 << 20, Pids: 8}}
	// In a plain directory no kernel makes the files that the settings go to.
	if _, err := newUnified(root, "/user/app/me", "server-1-x", spec); err == nil {
		t.Error("a directory without a controller's files was taken")
	}
	if left, _ := filepath.Glob(filepath.Join(root, "user", "server-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What a killed process left is removed, what a living one made is not.
func TestSweepSparesTheLiving(t *testing.T) {
	root := t.TempDir()
	mine, dead := filepath.Join(root, groupName+strconv.Itoa(os.Getpid())+"-a"), filepath.Join(root, groupName+"2147483647-b")
	other := filepath.Join(root, groupName+"odd")
	for _, dir := range []string{mine, dead, other} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if removed := sweepGroups(root, false); len(removed) != 1 || removed[0] != dead {
		t.Errorf("removed: %v", removed)
	}
	left, err := filepath.Glob(filepath.Join(root, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(left, " "); got != mine+" "+other {
		t.Errorf("left: %s", got)
	}
}

// A run that was just killed may still be ending: what removes its leavings waits for its last task.
func TestSweepWaitsForTheLastTask(t *testing.T) {
	sandboxtest.Need(t, "root")
	g, err := newGroup(sandbox.Spec{Limits: agent.Limits{Memory: 64 << 20}})
	if err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	t.Cleanup(g.remove)
	parent := filepath.Dir(g.dirs[0])
	dead := filepath.Join(parent, groupName+"2147483647-"+strings.ToLower(rand.Text()))
	must(t, os.Mkdir(dead, 0o755))
	task := exec.Command("cat")
	in, err := task.StdinPipe()
	must(t, err)
	must(t, task.Start())
	must(t, writeGroup(dead, "cgroup.procs", int64(task.Process.Pid)))
	if removed := sweepGroups(parent, false); slices.Contains(removed, dead) {
		t.Error("a group with a task was removed")
	}
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(in.Close(), task.Wait()) }()
	if removed := sweepGroups(parent, true); !slices.Contains(removed, dead) {
		t.Errorf("removed: %q", removed)
		defer func() { _ = os.Remove(dead) }()
	}
	must(t, <-ended)
}
