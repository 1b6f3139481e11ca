package agent

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/agent/stage"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// agent is the state of PID 1.
type agent struct {
	cfg *Config
	in  *mux.Reader
	out *mux.Writer
	// exe is this program, null is /dev/null: opened before the root changes.
	exe, null int
	offset    time.Duration

	stdin          *stdinWriter
	stdout, stderr *pump
	trace, watch   *pump
	conns          *mux.Endpoint
	sink           *sink // nil for no sinkhole
	// written searches what the target wrote, mounts is the mount namespace of its start.
	written *searcher
	rest    *sleepers
	mounts  string
	disks   *disks
	// contents are the files before the target's start, nil where nobody wants them
	// compared; watcher is that of the decoys, nil for none.
	contents *contents
	watcher  *watcher
	notify   bool      // refused calls come to refused
	refused  *refusals // nil where they do not
	// notTargets are the ports of TCP that were listened on before the target ran, and
	// notTargetsUDP those of UDP.
	notTargets, notTargetsUDP []int
	// tracerSays is what the tracer prints about itself, logEnd the end of its log.
	tracerSays, logEnd tail

	// The processes that are not the target's: the tracer, the inner init.
	child  int // started by the agent: becomes the target, or the stage that enters the inner namespaces
	target int // the target's first task, in the agent's pid namespace
	inside int // the same task as the inner init numbers it
	tracer atomic.Int64
	inner  atomic.Int64
	exited atomic.Bool

	output   atomic.Int64
	limited  atomic.Bool
	killing  atomic.Bool
	together atomic.Bool  // the tracer was killed with the target
	outlived atomic.Int64 // tasks that a stop had to signal
	stopOnce sync.Once
	endOnce  sync.Once
	diedOnce sync.Once
	// changed is poked whenever a task has ended.
	changed chan struct{}
	syncs   chan Command
	finish  chan struct{}
	// stopped is closed when the host has sent a stop or a kill; await has the agent wait for it.
	stopped  chan struct{}
	stopping sync.Once
	await    bool
	// held is the number of a stop that is to be answered, dismissed is closed when
	// the host has asked all that it wanted.
	held        atomic.Int64
	dismissed   chan struct{}
	dismissOnce sync.Once
	// sent is closed when all that was said on connections is sent.
	sent chan struct{}
	// untraced is closed when the tracer has ended.
	untraced chan struct{}
	// launched is closed when the target runs and all streams are pumped.
	launched chan struct{}
	// starting is held while a child is being started, so that none is reaped unknown.
	starting sync.Mutex
}

// run is PID 1 of a sandbox, from the Config to the last task's end.
func run() int {
	debug.SetGCPercent(100) // see Env
	stage.SetComm()
	a := &agent{changed: make(chan struct{}, 1), syncs: make(chan Command, 64), finish: make(chan struct{}), dismissed: make(chan struct{}), stopped: make(chan struct{}), launched: make(chan struct{}), sent: make(chan struct{}), untraced: make(chan struct{})}
	if err := a.prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "init:", err)
		return 125
	}
	err := a.setUp()
	if err == nil {
		a.notTargets, a.notTargetsUDP = listening(tcpListening, -1), listening(udpBound, -1)
		err = a.launch()
	}
	if err != nil {
		a.fail(err)
		return 1
	}
	a.supervise()
	return 0
}

// prepare makes the process unreachable and reads its Config.
func (a *agent) prepare() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide the memory: %w", err)
	}
	// Handled and dropped: ignored ones would be inherited by the target, and
	// PID 1 must survive whatever is sent to it.
	swallow := make(chan os.Signal, 64)
	signal.Notify(swallow)
	go func() {
		for s := range swallow {
			if s == unix.SIGCHLD {
				a.poke()
			}
		}
	}()
	if os.Getpid() != 1 {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("adopt orphans: %w", err)
		}
	}
	in, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 10)
	if err != nil {
		return fmt.Errorf("keep stdin: %w", err)
	}
	out, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 10)
	if err != nil {
		return fmt.Errorf("keep stdout: %w", err)
	}
	if a.null, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	for _, fd := range []int{0, 1} {
		if err := unix.Dup3(a.null, fd, 0); err != nil {
			return fmt.Errorf("detach the stream: %w", err)
		}
	}
	unix.CloseOnExec(EventsFD) // whether it is that or not: nothing that is started inherits it
	if a.exe, err = unix.Open("/proc/self/exe", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open the program: %w", err)
	}
	a.in = mux.NewReader(os.NewFile(uintptr(in), "host"))
	a.out = mux.NewWriter(os.NewFile(uintptr(out), "host"))
	a.conns = mux.NewAgent(clock, a.serve)
	a.cfg, err = ReadConfig(a.in)
	return err
}

// enter builds the root and changes to it. A limit on the size of files, which
// whoever started this process may have set, is put off as far as it can be. A
// pending SIGXFSZ would make the kernel begin a copy within an overlay again for
// ever: ignored, it becomes an error.
func enter(c *Config) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err == nil {
		limit.Cur = limit.Max
		_ = unix.Setrlimit(unix.RLIMIT_FSIZE, &limit) // what is too small is then reported as such
	}
	signal.Ignore(unix.SIGXFSZ)
	defer signal.Reset(unix.SIGXFSZ)
	return rootfs.Enter(*c.Root, c.User.UID, c.User.GID)
}

// setUp builds the surroundings: root, names, network, files, watches.
func (a *agent) setUp() error {
	c := a.cfg
	if c.Root != nil {
		if err := enter(c); err != nil {
			return err
		}
	}
	if err := boundRoot(c.Bound); err != nil {
		return err
	}
	if err := ensureProc(); err != nil {
		return err
	}
	if c.Root != nil {
		boundIPC(c.Limits)
	}
	stage.NameThreads()
	if err := setHostname(c.Hostname); err != nil {
		return err
	}
	if err := closeNetwork(); err != nil {
		return err
	}
	if err := a.armSink(); err != nil {
		return err
	}
	if err := a.openCarrier(); err != nil {
		return err
	}
	if c.Account {
		if err := account(c.User); err != nil {
			return err
		}
	}
	if err := rootfs.Plant(c.Files, c.User.UID, c.User.GID); err != nil {
		return err
	}
	a.written = newSearcher(c.Watch, a.emit)
	a.rest, a.await = newSleepers(a.listTargets), c.Await
	if c.Compare != nil {
		a.contents = newContents(c.Compare, c.Files, a.emit)
	}
	a.probeListener()
	if len(c.Watch) == 0 {
		return nil
	}
	w, lost := newWatcher(c.Watch, a.emitAt)
	for _, reason := range lost {
		a.emit(session.EventLoss{Code: session.GapDecoyNotWatched, Reason: reason})
	}
	if a.watcher = w; w != nil {
		a.watch = newPump(w.fd, "inotify", w.take, nil)
		go a.watch.run()
	}
	return nil
}

func setHostname(name string) error {
	if name == "" {
		return nil
	}
	if now, err := os.Hostname(); err == nil && now == name {
		return nil
	}
	if err := unix.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("set the host name to %s: %w", name, err)
	}
	return nil
}

// emit sends an event of now.
func (a *agent) emit(body session.Body) { a.emitAt(clock(), body) }

// emitAt sends an event. A host that does not take it is gone, which the reader
// of its commands finds out.
func (a *agent) emitAt(stamp time.Duration, body session.Body) {
	b, err := session.EncodeEvent(session.Event{Stamp: stamp, Body: body})
	if err == nil && len(b) > mux.MaxPayload {
		err = fmt.Errorf("it has %d bytes", len(b))
	}
	if err != nil {
		loss := session.EventLoss{Code: session.GapRecordsLost, Reason: fmt.Sprintf("an event (%T) could not be sent: %v", body, err)}
		if b, err = session.EncodeEvent(session.Event{Stamp: stamp, Body: loss}); err != nil {
			return // an event of text and numbers is always encoded
		}
	}
	_ = a.out.Write(mux.Frame{Stream: mux.Control, Stamp: stamp, Payload: b})
}

// fail ends a run that did not start.
func (a *agent) fail(err error) {
	e := session.EventError{Reason: err.Error()}
	var r *stage.Refusal
	if errors.As(err, &r) {
		e.Reason, e.Hint = r.Reason, r.Hint
	}
	a.killAll()
	a.emit(e)
	a.emit(session.EventDone{})
}

// poke makes the supervisor look again.
func (a *agent) poke() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// tail keeps the last bytes of what the tracer says of itself.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(0, len(p)-4096):]...)
	t.b = t.b[max(0, len(t.b)-4096):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// preload is the loader's list of libraries to put into every program: an
// image's own must not get into the tracer.
const preload = "/etc/ld.so.preload"

// hidePreload moves an image's preload list aside; the returned function puts
// it back for the target. It is told as a note.
func (a *agent) hidePreload() (restore func(), err error) {
	if len(a.cfg.Strace) == 0 || a.cfg.HostFiles || a.cfg.Root != nil {
		return func() {}, nil
	}
	aside := filepath.Join(filepath.Dir(preload), ".ld.so.preload~")
	err = unix.Renameat2(unix.AT_FDCWD, preload, unix.AT_FDCWD, aside, unix.RENAME_NOREPLACE)
	if _, gone := os.Lstat(preload); errors.Is(err, unix.ENOENT) || errors.Is(gone, os.ErrNotExist) && errors.Is(err, unix.EROFS) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("move %s aside: %w", preload, err)
	}
	a.emit(session.EventNote{Path: preload, Reason: preload + " of the image was moved aside while the tracer started"})
	return func() {
		if err := unix.Rename(aside, preload); err != nil {
			a.emit(session.EventLoss{Code: session.GapPreloadNotRestored, Reason: fmt.Sprintf("%s could not be put back: %v", preload, err)})
		}
	}, nil
}
