package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/agent/stage"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace/strace"
)

// helloMillis bounds how long the tracer may take until the target's process is there.
const helloMillis = 20_000

// launch starts the tracer and the target. The target's process waits for an
// order until everything around it is ready.
func (a *agent) launch() error {
	link, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make the link: %w", err)
	}
	defer func() { _ = unix.Close(link[0]) }()
	if err := unix.SetsockoptInt(link[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return fmt.Errorf("make the link: %w", err)
	}
	go a.reap()
	if err := a.startSink(); err != nil {
		return err
	}
	inner := -1
	if a.cfg.SingleUID {
		if inner, err = a.startInner(); err != nil {
			return err
		}
	}
	restore, err := a.hidePreload()
	if err != nil {
		return err
	}
	err = a.startChild(link[1])
	_ = unix.Close(link[1])
	if err == nil {
		err = a.awaitTarget(link[0], inner)
	}
	restore()
	if err != nil {
		return err
	}
	a.disks = newDisks(a.cfg.Limits.Disk, a.cfg.Bound > 0)
	a.offset = realtimeOffset()
	a.emit(session.EventReady{Task: a.target, Realtime: a.offset})
	if a.trace != nil {
		go a.trace.run()
	}
	if a.cfg.Hold {
		if err := a.awaitRelease(); err != nil {
			return err
		}
	}
	return a.release(link[0])
}

// awaitRelease waits for the host's order to run the target's program. Nobody else reads its
// commands yet.
func (a *agent) awaitRelease() error {
	for {
		f, err := a.in.Next()
		if err != nil {
			return fmt.Errorf("wait for the host: %w", err)
		}
		var c Command
		if f.Stream != mux.Control || json.Unmarshal(f.Payload, &c) != nil {
			continue
		}
		switch c.Type {
		case CommandRelease:
			return nil
		case CommandKill, CommandStop:
			return errors.New("the run was ended before the target's program")
		}
	}
}

// startChild starts the first stage, under the tracer if there is one.
func (a *agent) startChild(link int) error {
	files := []uintptr{uintptr(a.null), uintptr(a.null), uintptr(a.null), uintptr(link), uintptr(a.exe)}
	first := []string{fmt.Sprint(stage.SelfPrefix, stage.SelfFD), "init"}
	if len(a.cfg.Strace) == 0 {
		a.starting.Lock()
		defer a.starting.Unlock()
		pid, err := syscall.ForkExec(fmt.Sprint(stage.SelfPrefix, a.exe), first, &syscall.ProcAttr{Files: files})
		if err != nil {
			return fmt.Errorf("start the target's process: %w", err)
		}
		a.child = pid
		return nil
	}
	mine, log, err := pipe(true, -1, -1)
	if err != nil {
		return err
	}
	says, said, err := pipe(true, -1, -1)
	if err != nil {
		return err
	}
	defer func() { _, _ = unix.Close(log), unix.Close(said) }()
	a.trace = newPump(mine, "trace", func(stamp time.Duration, p []byte) error {
		_, _ = a.logEnd.Write(p)
		return a.out.Write(mux.Frame{Stream: mux.Trace, Stamp: stamp, Payload: p})
	}, nil)
	go func() { _, _ = io.Copy(&a.tracerSays, os.NewFile(uintptr(says), "tracer")) }()
	files[2] = uintptr(said)
	argv := append([]string{}, a.cfg.Strace...)
	// The tracer as a grandchild: the target's parent is then this process,
	// which learns its exit at once, and no process of the target's is strace's child.
	argv = append(argv, "-D")
	argv = append(argv, strace.Args(a.cfg.TraceSet, fmt.Sprint(stage.SelfPrefix, stage.LogFD))...)
	argv = append(argv, first...)
	a.starting.Lock()
	defer a.starting.Unlock()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Files: append(files, uintptr(log)), Dir: "/"})
	if err != nil {
		return &stage.Refusal{Reason: fmt.Sprintf("strace: %s: %v", argv[0], err), Hint: "strace is missing in the sandbox"}
	}
	a.child = pid
	return nil
}

// tellsMounts reports whether this kernel names the mounts of processes. gVisor's, which has one set of them for all,
// may not.
func tellsMounts() bool {
	_, err := os.Readlink("/proc/self/ns/mnt")
	return err == nil
}

// awaitTarget hears the process that will be the target's, and finds its tracer.
func (a *agent) awaitTarget(link, inner int) error {
	pid, inside, err := a.receiveStageHello(link)
	if err == nil && inner >= 0 {
		if err = orderEnter(link, inner); err == nil {
			pid, inside, err = a.receiveStageHello(link)
		}
	}
	if err != nil {
		return err
	}
	a.target, a.inside = pid, inside
	if a.mounts, err = os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid)); err != nil && tellsMounts() {
		return fmt.Errorf("find the target's mounts: %w", err)
	}
	if len(a.cfg.Strace) == 0 {
		return nil
	}
	t := task{pid: pid}
	t.readStatus()
	if t.tracer == 0 {
		return &stage.Refusal{Reason: "strace: it does not trace the target", Hint: a.tracerSays.String()}
	}
	a.tracer.Store(int64(t.tracer))
	return nil
}

// orderEnter has the first stage start the second in the inner pid namespace.
func orderEnter(link, inner int) error {
	defer func() { _ = unix.Close(inner) }()
	mine, theirs, err := pipe(true, -1, -1)
	if err != nil {
		return err
	}
	err = stage.Send(link, &stage.Order{Role: stage.RoleEnter}, inner, theirs)
	_ = unix.Close(theirs)
	if err != nil {
		_ = unix.Close(mine)
		return err
	}
	return readRefusal(mine)
}

// readRefusal waits until a stage has gone on, which closes its status
// descriptor, or has written why it does not.
func readRefusal(fd int) error {
	status := os.NewFile(uintptr(fd), "status")
	defer func() { _ = status.Close() }()
	line, err := bufio.NewReader(io.LimitReader(status, 64<<10)).ReadBytes('\n')
	if len(line) == 0 && errors.Is(err, io.EOF) {
		return nil
	}
	if len(line) == 0 {
		return fmt.Errorf("wait for the target's start: %w", err)
	}
	r := new(stage.Refusal)
	if err := json.Unmarshal(line, r); err != nil {
		return fmt.Errorf("start the target: %q", line)
	}
	return r
}

// receiveStageHello waits for a stage's hello, and explains its absence by what the tracer says.
func (a *agent) receiveStageHello(link int) (pid, inside int, err error) {
	pid, inside, err = stage.ReceiveHello(link, helloMillis)
	if err == nil || len(a.cfg.Strace) == 0 {
		return pid, inside, err
	}
	time.Sleep(10 * time.Millisecond) // for the last words of a tracer that has just died
	said := strings.TrimSpace(strings.TrimPrefix(a.tracerSays.String(), "strace: "))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		said = strings.TrimSpace("it does not start; " + said)
	}
	return 0, 0, &stage.Refusal{
		Reason: "strace: " + said,
		Hint:   "tracing needs CAP_SYS_PTRACE in the sandbox and a seccomp profile that allows ptrace",
	}
}

// release gives the target its streams and orders it to go. The agent keeps no
// copy of the target's ends, so that their end of file is the target's.
func (a *agent) release(link int) error {
	u := a.cfg.User
	var mine, theirs [4]int
	for i := range mine {
		uid, gid := u.UID, u.GID
		if i == 3 {
			uid, gid = -1, -1
		}
		var err error
		if mine[i], theirs[i], err = pipe(i > 0, uid, gid); err != nil {
			return err
		}
	}
	a.stdin = newStdinWriter(mine[0], func(n int64) { a.emit(session.EventStdin{Delivered: n}) },
		func() { a.emit(session.EventEOF{Stream: "stdin"}) })
	a.stdout = a.outputPump(mine[1], mux.Stdout)
	a.stderr = a.outputPump(mine[2], mux.Stderr)
	err := stage.Send(link, &stage.Order{
		Role: stage.RoleTarget, Command: a.cfg.Command, Dir: a.cfg.Dir, Env: a.cfg.Env,
		User: u, Limits: a.cfg.Limits, Inner: a.cfg.SingleUID, Masks: a.procMasks(), Policy: a.cfg.Policy, Notify: a.notify, Writable: a.writable(),
	}, theirs[:]...)
	for _, fd := range theirs {
		_ = unix.Close(fd)
	}
	if err != nil {
		return err
	}
	if err := a.listen(link, mine[3]); err != nil {
		return err
	}
	if err := readRefusal(mine[3]); err != nil {
		return err
	}
	a.emit(session.EventStarted{Task: a.target})
	return nil
}

// procMasks are the paths of /proc that the root masks: an inner /proc is a new
// one and has to be masked again.
func (a *agent) procMasks() []string {
	if !a.cfg.SingleUID || a.cfg.Root == nil {
		return nil
	}
	var masks []string
	for _, m := range a.cfg.Root.Masks {
		if strings.HasPrefix(m, "/proc/") {
			masks = append(masks, m)
		}
	}
	return masks
}

// writable are the places for Landlock. A target that may make namespaces gets
// none: a confined one may not mount, which the sandboxes of browsers do.
func (a *agent) writable() []string {
	if a.cfg.Root == nil || a.cfg.Policy.AllowUserNS {
		return nil
	}
	return a.cfg.Root.Writable()
}

// outputPump carries stdout or stderr and counts it.
func (a *agent) outputPump(fd int, s mux.Stream) *pump {
	send := func(stamp time.Duration, p []byte) error {
		total := a.output.Add(int64(len(p)))
		if bound := a.cfg.Limits.Output; bound > 0 && total > bound {
			a.limit(fmt.Sprintf("output: more than %d bytes on stdout and stderr", bound))
			return nil
		}
		return a.out.Write(mux.Frame{Stream: s, Stamp: stamp, Payload: p})
	}
	return newPump(fd, s.String(), send, func() { a.emit(session.EventEOF{Stream: s.String()}) })
}

// startInner starts the inner pid namespace's first process and returns a
// descriptor of the namespace.
func (a *agent) startInner() (int, error) {
	link, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make the inner link: %w", err)
	}
	defer func() { _ = unix.Close(link[0]) }()
	if err := unix.SetsockoptInt(link[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return -1, fmt.Errorf("make the inner link: %w", err)
	}
	mine, theirs, err := pipe(true, -1, -1)
	if err != nil {
		return -1, err
	}
	null := uintptr(a.null)
	a.starting.Lock()
	pid, err := syscall.ForkExec(fmt.Sprint(stage.SelfPrefix, a.exe), []string{"init"}, &syscall.ProcAttr{
		Env:   []string{stage.Env},
		Files: []uintptr{null, null, 2, uintptr(link[1]), uintptr(a.exe)},
		Sys:   &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID, Pdeathsig: unix.SIGKILL},
	})
	if err == nil {
		a.inner.Store(int64(pid))
	}
	a.starting.Unlock()
	_ = unix.Close(link[1])
	if err != nil {
		return -1, fmt.Errorf("make the inner pid namespace: %w", err)
	}
	if _, _, err := stage.ReceiveHello(link[0], helloMillis); err != nil {
		return -1, err
	}
	if err := stage.Send(link[0], &stage.Order{Role: stage.RoleInner}, theirs); err != nil {
		return -1, err
	}
	_ = unix.Close(theirs)
	deaths := bufio.NewReader(os.NewFile(uintptr(mine), "inner"))
	if err := innerReady(deaths); err != nil {
		return -1, err
	}
	go a.readDeaths(deaths)
	pidns, err := unix.Open(fmt.Sprintf("/proc/%d/ns/pid", pid), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open the inner pid namespace: %w", err)
	}
	return pidns, nil
}

// innerReady reads the inner process's first word.
func innerReady(deaths *bufio.Reader) error {
	line, err := deaths.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("wait for the inner process: %w", err)
	}
	r := new(stage.Refusal)
	if err := json.Unmarshal(line, r); err == nil && r.Reason != "" {
		return r
	}
	return nil
}

// readDeaths takes the inner process's reports.
func (a *agent) readDeaths(r *bufio.Reader) {
	for d := json.NewDecoder(r); ; {
		var one stage.Death
		if d.Decode(&one) != nil {
			// The inner process was killed, and everything in its namespace with it.
			a.targetEnded(unix.WaitStatus(unix.SIGKILL))
			a.poke()
			return
		}
		if one.Pid != 0 && one.Pid == a.inside {
			a.targetEnded(unix.WaitStatus(one.Status))
		}
		a.poke()
	}
}
