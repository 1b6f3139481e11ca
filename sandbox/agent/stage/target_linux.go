package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/seccomp"
)

// run obeys the one order that comes over its link, on the main thread. Under the tracer
// its own calls are in the log; the host drops what precedes the target's program.
func run() int {
	SetComm()
	if err := sendHello(LinkFD); err != nil {
		return 125
	}
	o, fds, err := receive(LinkFD)
	if err != nil {
		return 125
	}
	switch {
	case o.Role == RoleTarget && len(fds) == 4:
		return Refuse(fds[3], becomeTarget(o, fds[:3], fds[3]))
	case o.Role == RoleEnter && len(fds) == 2:
		return Refuse(fds[1], enterInner(fds[0]))
	case o.Role == RoleInner && len(fds) == 1:
		return Refuse(fds[0], runInner(fds[0]))
	case o.Role == RoleFarEnd && len(fds) == 1:
		return Refuse(fds[0], raise(o.Name))
	case o.Role == RoleSink && len(fds) > 3:
		pending.order, pending.fds = o, fds
		return 0
	}
	return 125
}

// Refuse reports to the status descriptor why a stage ended, if it did not end
// well, and returns the exit status.
func Refuse(status int, err error) int {
	if err == nil {
		return 0
	}
	var r *Refusal
	if !errors.As(err, &r) {
		r = &Refusal{Reason: "start the target: " + err.Error()}
	}
	b, _ := json.Marshal(r)
	_, _ = unix.Write(status, append(b, '\n'))
	return 125
}

// becomeTarget turns this process into the target. It returns only on failure.
// The order of its steps matters: what needs a capability comes before they are
// dropped, what the target must not inherit is closed last.
func becomeTarget(o *Order, stdio []int, status int) error {
	if _, err := unix.Setsid(); err != nil {
		return fmt.Errorf("make a session: %w", err)
	}
	if o.Inner {
		if err := MountProc(); err != nil {
			return err
		}
		if err := maskProc(o.Masks); err != nil {
			return err
		}
	}
	unix.Umask(0o022)
	// The kernel's own out-of-memory choice should fall on the target.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	for i, fd := range stdio {
		if err := unix.Dup3(fd, i, 0); err != nil {
			return fmt.Errorf("connect descriptor %d: %w", i, err)
		}
	}
	if err := leaveKeyring(); err != nil {
		return err
	}
	if err := setLimits(o.Limits); err != nil {
		return err
	}
	if err := dropPrivileges(o); err != nil {
		return err
	}
	if len(o.Writable) > 0 {
		if err := confine(o.Writable); err != nil {
			return err
		}
	}
	if err := refuseCalls(o); err != nil {
		return err
	}
	if err := unix.Chdir(o.Dir); err != nil {
		return &Refusal{
			Reason: fmt.Sprintf("working directory %s: %v", o.Dir, err),
			Hint:   "the sandbox's user has to be able to enter it",
		}
	}
	path, err := LookPath(o.Command[0], o.Env)
	if err != nil {
		return err
	}
	resetSignals()
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		if err := markAllCloseOnExec(); err != nil {
			return err
		}
	}
	return execError(path, o.Command[0], syscall.Exec(path, o.Command, o.Env))
}

// refuseCalls installs the filter of system calls, and hands its listener to the agent.
func refuseCalls(o *Order) error {
	listener, err := seccomp.Install(o.Policy, o.Notify)
	if err != nil || listener < 0 {
		return err
	}
	if err := unix.Sendmsg(LinkFD, []byte{0}, unix.UnixRights(listener), nil, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("hand over the listener of refused calls: %w", err)
	}
	return unix.Close(listener)
}

// leaveKeyring takes an empty session keyring: the one inherited is that of the
// user who started the sandbox and may hold real secrets. Where that is denied
// (EACCES by gVisor), the filter still keeps the target from all keyrings.
func leaveKeyring() error {
	_, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
	if err != nil && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) { // then the target has none of it either
		return fmt.Errorf("leave the session keyring: %w", err)
	}
	return nil
}

// markAllCloseOnExec is CloseRange for kernels before 5.11.
func markAllCloseOnExec() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("close inherited descriptors: %w", err)
	}
	for _, e := range entries {
		var fd int
		if _, err := fmt.Sscan(e.Name(), &fd); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// setLimits sets the target's resource limits, hard and soft. They are a
// backstop: sums over all tasks are the agent's to watch.
func setLimits(l Limits) error {
	set := func(resource int, n uint64) error {
		var old unix.Rlimit
		if err := unix.Getrlimit(resource, &old); err != nil {
			return fmt.Errorf("read resource limit %d: %w", resource, err)
		}
		n = min(n, old.Max)
		if err := unix.Prlimit(0, resource, &unix.Rlimit{Cur: n, Max: n}, nil); err != nil {
			return fmt.Errorf("set resource limit %d: %w", resource, err)
		}
		return nil
	}
	want := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: MaxFiles, unix.RLIMIT_MEMLOCK: 64 << 20, unix.RLIMIT_MSGQUEUE: 1 << 20}
	if l.File > 0 {
		want[unix.RLIMIT_FSIZE] = uint64(l.File)
	}
	if l.Memory > 0 {
		// Writable address space is reserved more freely than it is used (thread
		// stacks, allocator arenas, V8's 512 MiB for code), hence more than twice; the resident sum is exact.
		want[unix.RLIMIT_DATA] = 2*uint64(l.Memory) + reservedForCode
	}
	if l.CPU > 0 {
		want[unix.RLIMIT_CPU] = uint64(l.CPU.Seconds()) + 2
	}
	if l.Pids > 0 {
		want[unix.RLIMIT_NPROC] = maxTasks(l.Pids)
	}
	for resource, n := range want {
		err := set(resource, n)
		// gVisor has no such limit: the container's memory bounds its queues.
		if err != nil && (resource != unix.RLIMIT_MSGQUEUE || !errors.Is(err, unix.EPERM)) {
			return err
		}
	}
	return nil
}

// reservedForCode is writable address space that a runtime reserves for code and hardly uses.
const reservedForCode = 512 << 20

// MaxFiles is how many descriptors the target may have (RLIMIT_NOFILE).
const MaxFiles = 4096

// maxTasks is RLIMIT_NPROC for a bound on tasks: above it, so that going over
// the bound is seen and told before fork fails. The kernel counts a uid's tasks
// in the whole user namespace: in the machine's first one, where the uid may
// have tasks outside of the sandbox, there has to be room for those.
func maxTasks(pids int) uint64 {
	b, err := os.ReadFile("/proc/self/uid_map")
	var inside, outside, size uint64
	if err == nil {
		_, err = fmt.Sscan(string(b), &inside, &outside, &size)
	}
	if err != nil || size == 1<<32-1 {
		return 4096 + 2*uint64(pids)
	}
	return 2 * uint64(pids)
}

// resetSignals gives the target default dispositions and an empty mask: what
// the agent or the tracer ignores would survive the exec.
func resetSignals() {
	var mask [8]byte
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, ptr(&mask), 0, 8, 0, 0)
	for n := uintptr(1); n <= 64; n++ {
		// A zeroed kernel sigaction means the default; KILL and STOP refuse, which is as well.
		var action [64]byte
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, n, ptr(&action), 0, 8, 0, 0)
	}
}
