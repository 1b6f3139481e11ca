package agent

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"

	"github.com/coalmine-dev/coalmine/sandbox/agent/stage"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// sinkUID is the user and group of the process that answers the network: one
// that is neither the agent's nor the target's, and owns nothing.
const sinkUID = 65533

// quiesceTimeout bounds the wait for a sink's word that all it got is told.
const quiesceTimeout = 8 * time.Second

// sink is the process that answers the network, as the agent holds it. A nil
// sink answers nothing.
type sink struct {
	armed *sinkhole.Sinkhole
	link  *os.File
	pump  *pump
	id    atomic.Int64

	mu     sync.Mutex
	closed bool
}

// armSink makes the sandbox's network namespace a sinkhole.
func (a *agent) armSink() error {
	if a.cfg.Network == nil {
		return nil
	}
	a.addInterface()
	armed, err := sinkhole.Arm(a.cfg.Network.Sinkhole)
	if err != nil {
		return &stage.Refusal{Reason: "the sinkhole: " + err.Error(), Hint: "--network none does without it"}
	}
	a.sink = &sink{armed: armed}
	for _, n := range armed.Notes {
		if n = "the sinkhole: " + n; armed.Partial {
			a.emit(session.EventLoss{Code: session.GapSinkholePartial, Reason: n})
		} else {
			a.emit(session.EventNote{Reason: n})
		}
	}
	if err := a.resolve(sinkhole.Nameserver); err != nil {
		a.emit(session.EventNote{Reason: "the sinkhole: " + err.Error()})
	}
	if a.cfg.Network.Sinkhole.Authority == nil {
		return nil
	}
	return a.trust()
}

// startSink starts the process that answers, and gives the listeners away.
func (a *agent) startSink() error {
	s := a.sink
	if s == nil {
		return nil
	}
	defer func() { _ = s.armed.Close() }()
	link, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make the sink's link: %w", err)
	}
	if err := unix.SetsockoptInt(link[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return fmt.Errorf("make the sink's link: %w", err)
	}
	status, theirStatus, err := pipe(true, -1, -1)
	if err != nil {
		return err
	}
	events, theirEvents, err := pipe(true, -1, -1)
	if err != nil {
		return err
	}
	err = a.forkSink(link[1])
	_ = unix.Close(link[1])
	if err != nil {
		return err
	}
	if _, _, err := stage.ReceiveHello(link[0], helloMillis); err != nil {
		return err
	}
	u := User{UID: sinkUID, GID: sinkUID}
	if a.cfg.SingleUID {
		u = User{UID: os.Getuid(), GID: os.Getgid()}
	}
	theirDials, err := a.openDialChannel()
	if err != nil {
		return err
	}
	fds := []int{theirStatus, theirEvents, theirDials}
	for _, f := range s.armed.Files {
		fds = append(fds, int(f.Fd()))
	}
	sink, err := json.Marshal(sinkOrder{Network: a.cfg.Network, Canaries: a.cfg.Canaries})
	if err == nil {
		err = stage.Send(link[0], &stage.Order{Role: stage.RoleSink, User: u, Inner: a.cfg.SingleUID, Sink: sink}, fds...)
	}
	_, _, _ = unix.Close(theirStatus), unix.Close(theirEvents), unix.Close(theirDials)
	if err != nil {
		return err
	}
	if err := readRefusal(status); err != nil {
		return err
	}
	s.link = os.NewFile(uintptr(link[0]), "sink")
	s.pump = newPump(events, "the sinkhole's stream", func(stamp time.Duration, p []byte) error {
		return a.out.Write(mux.Frame{Stream: mux.Flows, Stamp: stamp, Payload: p})
	}, nil)
	go s.pump.run()
	return nil
}

// forkSink starts the process, which waits for its order on the link.
func (a *agent) forkSink(link int) error {
	null := uintptr(a.null)
	a.starting.Lock()
	defer a.starting.Unlock()
	pid, err := syscall.ForkExec(fmt.Sprint(stage.SelfPrefix, a.exe), []string{"init"}, &syscall.ProcAttr{
		Env: []string{stage.Env}, Dir: "/",
		Files: []uintptr{null, null, 2, uintptr(link), uintptr(a.exe)},
		Sys:   &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL},
	})
	if err != nil {
		return fmt.Errorf("start the sink: %w", err)
	}
	a.sink.id.Store(int64(pid))
	return nil
}

// pid is the process's number, 0 for none.
func (s *sink) pid() int {
	if s == nil {
		return 0
	}
	return int(s.id.Load())
}

// events is the pump of what it saw, nil for none.
func (s *sink) events() *pump {
	if s == nil {
		return nil
	}
	return s.pump
}

// quiesce returns when everything sent so far is in the pump's pipe, or was read from it.
func (s *sink) quiesce() {
	if s == nil || s.link == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	// A word that comes too late would answer the next question, so there is none.
	if err := s.requestQuiesce(); err != nil {
		s.closed = true
		_ = s.link.Close()
	}
}

// turn has requests from now on answered with other things. The word that follows it is answered only when it was
// taken in.
func (s *sink) turn(served *sinkhole.Served) {
	if s == nil || s.link == nil || served == nil {
		return
	}
	body, err := json.Marshal(served)
	if err != nil || len(body) > MaxServed {
		return
	}
	said := append(binary.BigEndian.AppendUint32([]byte{wordTurn}, uint32(len(body))), body...)
	s.mu.Lock()
	if !s.closed {
		_ = unix.Sendto(int(s.link.Fd()), said, unix.MSG_NOSIGNAL, nil) // the quiesce finds what is wrong
	}
	s.mu.Unlock()
	s.quiesce()
}

// The words on the link to the process that answers: wordQuiesce asks for one back, and
// wordTurn, with the length of a sinkhole.Served in JSON and that, for none.
const wordQuiesce, wordTurn = 1, 16

func (s *sink) requestQuiesce() error {
	fd := int(s.link.Fd())
	limit := unix.NsecToTimeval(int64(quiesceTimeout))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return err
	}
	word := []byte{wordQuiesce}
	if err := unix.Sendto(fd, word, unix.MSG_NOSIGNAL, nil); err != nil {
		return err
	}
	for {
		n, _, err := unix.Recvfrom(fd, word, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n != len(word) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
}

// close lets the process report what is left and end.
func (s *sink) close() {
	if s == nil {
		return
	}
	s.quiesce()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && s.link != nil {
		s.closed = true
		_ = s.link.Close()
	}
}

// sinkEnded is told of the process's end: before the run's it is a loss.
func (a *agent) sinkEnded(ws unix.WaitStatus) {
	select {
	case <-a.finish:
	default:
		a.emit(session.EventLoss{Code: session.GapSinkholeEnded, Reason: "the sinkhole ended (" + statusText(ws) + "): what was sent after that was not seen"})
	}
}

// runSink is the process that answers the network. It ends with its link.
func runSink(o *stage.Order, sink sinkOrder, status, events, dials int, listeners []int) error {
	runtime.UnlockOSThread()
	debug.SetGCPercent(100) // see stage.Env
	// One at a time: what has been taken from a queue has then been told before
	// anyone finds that queue empty. It also leaves the other processors to the target.
	runtime.GOMAXPROCS(1)
	stage.NameThreads()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil {
		limit.Cur = limit.Max
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) // the sinkhole reports what it has to refuse
	}
	if err := dropEverywhere(o.User.UID, o.User.GID, o.Inner); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide the sink's memory: %w", err)
	}
	files := make([]*os.File, len(listeners))
	for i, fd := range listeners {
		files[i] = os.NewFile(uintptr(fd), "listener")
	}
	out := &flowWriter{file: os.NewFile(uintptr(events), "events")}
	_ = unix.Close(status) // that nothing stands there says that all went well
	if serveSink(sink, dials, files, out) != nil {
		os.Exit(int(unix.EIO)) // it has told why
	}
	return nil
}

// dropEverywhere makes every thread of this process a user without capabilities.
// Unlike the target's it lives on, so calls that reach all threads are right. Go has them
// for programs without cgo only; psx has them for both.
func dropEverywhere(uid, gid int, single bool) error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		// Without SETPCAP the bounding set stays, and binds nothing: see dropBounding.
		_, _, _ = psx.Syscall3(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0)
	}
	if err := syscall.Setgroups(nil); err != nil && !single {
		return fmt.Errorf("drop the supplementary groups: %w", err)
	}
	if err := syscall.Setresgid(gid, gid, gid); err != nil {
		return fmt.Errorf("become group %d: %w", gid, err)
	}
	if err := syscall.Setresuid(uid, uid, uid); err != nil {
		return fmt.Errorf("become user %d: %w", uid, err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if _, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)), 0); errno != 0 {
		return fmt.Errorf("drop the capabilities: %w", errno)
	}
	if _, _, errno := psx.Syscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("forbid new privileges: %w", errno)
	}
	return stage.CheckPrivileges(User{UID: uid, GID: gid})
}

// flowWriter writes one line an observation. Its first error is final: whoever
// read is gone.
type flowWriter struct {
	mu   sync.Mutex
	file *os.File
	line []byte
}

func (w *flowWriter) write(e *sinkhole.Event) {
	b, err := json.Marshal(e)
	if err != nil {
		b, _ = json.Marshal(&sinkhole.Event{Type: sinkhole.TypeLoss, Stamp: e.Stamp, Flow: e.Flow, Error: err.Error(), N: 1})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line = append(append(w.line[:0], b...), '\n')
	_, _ = w.file.Write(w.line)
}
