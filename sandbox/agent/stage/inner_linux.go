package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Where only one uid is mapped, the target has the agent's and the tracer's own
// uid, and could signal or read them. It then lives in an inner pid namespace,
// with a /proc of its own, where they have no number. Its first process is the
// inner one below; the tracer stays outside and follows the target in.

// Death is what the inner process reports of each task that it reaps.
type Death struct {
	Pid    int `json:"pid"`
	Status int `json:"status"`
}

// enterInner starts the target's own stage in the inner pid namespace and a new
// mount namespace, over the same link. It leaves at once, so that the inner
// process becomes the target's parent.
func enterInner(pidns int) error {
	if err := unix.Setns(pidns, unix.CLONE_NEWPID); err != nil {
		return fmt.Errorf("enter the inner pid namespace: %w", err)
	}
	_, err := startStage([]uintptr{0, 1, 2, LinkFD, SelfFD}, &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS})
	return err
}

// startStage executes this program as a stage with the given descriptors.
func startStage(files []uintptr, attr *syscall.SysProcAttr) (int, error) {
	path := fmt.Sprint(SelfPrefix, SelfFD)
	pid, err := syscall.ForkExec(path, []string{path, "init"}, &syscall.ProcAttr{Files: files, Sys: attr})
	if err != nil {
		return 0, fmt.Errorf("start a process: %w", err)
	}
	return pid, nil
}

// collectEvery is how many reaped tasks the garbage of telling of them is kept for: see Env.
const collectEvery = 1 << 14

// runInner is the first process of the inner pid namespace: it reaps until
// everything in it has ended.
func runInner(status int) error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide the inner process's memory: %w", err)
	}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals)
	NameThreads()
	out := os.NewFile(uintptr(status), "status")
	report := json.NewEncoder(out)
	if err := report.Encode(Death{}); err != nil {
		return fmt.Errorf("greet the agent: %w", err)
	}
	runtime.UnlockOSThread()
	for n := 1; ; n++ {
		if n%collectEvery == 0 {
			runtime.GC()
		}
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			<-signals // no child yet, or none any more: the next one announces itself
		default:
			if report.Encode(Death{Pid: pid, Status: int(ws)}) != nil {
				return nil
			}
		}
	}
}

// MountProc puts a /proc of the caller's pid namespace over the old one. The
// target cannot lift it: it has no capability here, and in a user namespace of
// its own the mounts it inherits are locked.
func MountProc() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mounts private: %w", err)
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", "/proc", "proc", flags, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

// maskProc covers paths of a new /proc with nothing.
func maskProc(paths []string) error {
	for _, path := range paths {
		st, err := os.Lstat(path)
		if err != nil || st.Mode()&os.ModeSymlink != 0 {
			continue
		}
		if st.IsDir() {
			const flags = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
			err = unix.Mount("tmpfs", path, "tmpfs", flags, "size=4k,nr_inodes=1")
		} else {
			err = unix.Mount("/dev/null", path, "", unix.MS_BIND, "")
		}
		if err != nil {
			return fmt.Errorf("cover %s: %w", path, err)
		}
	}
	return nil
}
