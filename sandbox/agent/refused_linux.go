package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/seccomp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// maxRefusedSingly is how many calls of one kind are told one by one. Those
	// that follow are counted, so that a flood of them costs a number.
	maxRefusedSingly = 16
	// maxRefusedKinds bounds the kinds that are told apart.
	maxRefusedKinds = 128
)

// refusals answers the target's refused calls and tells the host of them. Each is
// told before it is answered: what the target has seen the end of is with the host.
type refusals struct {
	listener *seccomp.Listener
	policy   seccomp.Policy
	emit     func(stamp time.Duration, body session.Body)

	mu    sync.Mutex
	kinds map[seccomp.Refusal]*refusedKind
}

// refusedKind counts calls that are alike.
type refusedKind struct {
	told int
	// more are those since the last flush, task and stamp those of the last one.
	more  int64
	task  int
	stamp time.Duration
}

// probeListener finds out whether refused calls can come to the agent, and says so where they cannot.
func (a *agent) probeListener() {
	switch outer, err := seccomp.Outer(); {
	case err != nil:
		a.emit(session.EventLoss{Code: session.GapRefusedUnseen, Reason: err.Error()})
	case outer:
		a.emit(session.EventLoss{Code: session.GapRefusedUnseen, Reason: "a filter around the sandbox refuses system calls by itself (docker run --security-opt seccomp=unconfined leaves it out)"})
	}
	if err := seccomp.Supported(); err != nil {
		a.emit(session.EventLoss{Code: session.GapRefusedUnseen, Reason: fmt.Sprintf("refused system calls are not told: %v", err)})
		return
	}
	a.notify = true
}

// listen takes the listener that the target's process hands over, and serves
// it. A process that fails before that says why on its status descriptor.
func (a *agent) listen(link, status int) error {
	if !a.notify {
		return nil
	}
	fds := []unix.PollFd{{Fd: int32(link), Events: unix.POLLIN}, {Fd: int32(status), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, helloMillis)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for the listener of refused calls: %w", err)
		}
	}
	if fds[0].Revents&unix.POLLIN == 0 {
		return nil // the status says why
	}
	fd, err := receiveListener(link)
	if err != nil {
		return err
	}
	a.refused = newRefusals(seccomp.NewListener(fd), a.cfg.Policy, a.emitAt)
	go a.refused.run()
	return nil
}

func receiveListener(link int) (int, error) {
	b, oob := make([]byte, 1), make([]byte, 128)
	_, n, _, _, err := unix.Recvmsg(link, b, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("receive the listener of refused calls: %w", err)
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil {
		return -1, fmt.Errorf("receive the listener of refused calls: %w", err)
	}
	for _, m := range msgs {
		if fds, err := unix.ParseUnixRights(&m); err == nil && len(fds) == 1 {
			return fds[0], nil
		}
	}
	return -1, errors.New("receive the listener of refused calls: no descriptor came")
}

func newRefusals(l *seccomp.Listener, p seccomp.Policy, emit func(time.Duration, session.Body)) *refusals {
	return &refusals{listener: l, policy: p, emit: emit, kinds: map[seccomp.Refusal]*refusedKind{}}
}

// run serves until no task is left that has the filter. Whatever ends it
// before, closing the listener lets no call through: the kernel then answers ENOSYS.
func (r *refusals) run() {
	defer func() { _ = r.listener.Close() }()
	for {
		n, err := r.listener.Receive()
		if err == nil {
			refusal, report := r.listener.Refusal(r.policy, n)
			if report {
				r.take(refusal, n.Task, clock())
			}
			err = r.listener.Answer(n, refusal.Errno)
		}
		if errors.Is(err, seccomp.ErrOver) {
			return
		}
		if err != nil {
			r.emit(clock(), session.EventLoss{Code: session.GapRefusedUnseen, Reason: err.Error()})
			return
		}
	}
}

// take tells of one call, or counts it.
func (r *refusals) take(refusal seccomp.Refusal, task int, stamp time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind := r.kinds[refusal]
	if kind == nil && len(r.kinds) >= maxRefusedKinds {
		refusal = seccomp.Refusal{Name: "other"}
		kind = r.kinds[refusal]
	}
	if kind == nil {
		kind = &refusedKind{}
		r.kinds[refusal] = kind
	}
	if kind.told < maxRefusedSingly {
		kind.told++
		r.tell(refusal, task, 1, stamp)
		return
	}
	kind.more, kind.task, kind.stamp = kind.more+1, task, stamp
}

func (r *refusals) tell(refusal seccomp.Refusal, task int, count int64, stamp time.Duration) {
	r.emit(stamp, session.EventRefused{Task: task, Call: refusal.Name, Args: refusal.Args, Err: refusal.Errno, Count: count})
}

// flush tells what was only counted so far. It is done at each sync, so that
// what a call did is counted to that call.
func (r *refusals) flush() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var counted []seccomp.Refusal
	for refusal, kind := range r.kinds {
		if kind.more > 0 {
			counted = append(counted, refusal)
		}
	}
	slices.SortFunc(counted, func(x, y seccomp.Refusal) int {
		return cmp.Or(cmp.Compare(r.kinds[x].stamp, r.kinds[y].stamp), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Args, y.Args))
	})
	for _, refusal := range counted {
		kind := r.kinds[refusal]
		r.tell(refusal, kind.task, kind.more, kind.stamp)
		kind.more = 0
	}
}
