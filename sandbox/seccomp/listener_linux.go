package seccomp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The requests of seccomp_unotify(2) that the unix package lacks on some
// architectures, from linux/seccomp.h.
const (
	ioctlIDValid  = 0x40082102
	ioctlSetFlags = 0x40082104
)

// notification is the kernel's struct seccomp_notif, response its struct seccomp_notif_resp.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type response struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

// Notification is a refused call that waits for its answer.
type Notification struct {
	// Task is the calling task in the pid namespace of this process, 0 where it has no number there.
	Task int
	Call Call
	id   uint64
}

// Supported says why no listener can be installed here, nil where one can. It
// tries on a thread that ends with it.
func Supported() error {
	said := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the filter goes with the thread
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			said <- err
			return
		}
		filter, err := Policy{}.program(true)
		if err == nil {
			filter = filter[len(filter)-1:] // a listener that hears nothing
			var fd int
			if fd, err = install(filter, true); err == nil {
				_ = unix.Close(fd)
			}
		}
		said <- err
	}()
	return <-said
}

// Listener receives refused calls. One goroutine may use it at a time.
type Listener struct{ fd int }

// NewListener takes over the descriptor that Install returned.
func NewListener(fd int) *Listener {
	// The target runs on the processor that has just recorded its call (Linux 6.6).
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlSetFlags, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	return &Listener{fd}
}

// Close has all later refused calls answered by ENOSYS.
func (l *Listener) Close() error { return unix.Close(l.fd) }

// ErrOver says that no task is left that has the filter.
var ErrOver = errors.New("no task has the filter")

// Receive waits for a refused call. A task that was killed meanwhile is passed over.
func (l *Listener) Receive() (Notification, error) {
	for {
		fds := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return Notification{}, fmt.Errorf("wait for a refused call: %w", err)
		case fds[0].Revents&unix.POLLIN == 0:
			return Notification{}, ErrOver
		}
		var n notification
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n)))
		switch errno {
		case 0:
			return Notification{Task: int(n.pid), id: n.id, Call: Call{Arch: n.arch, NR: uint32(n.nr), Args: n.args}}, nil
		case unix.EINTR, unix.ENOENT: // the task is dead
		default:
			return Notification{}, fmt.Errorf("receive a refused call: %w", errno)
		}
	}
}

// Answer has the call return the error. That the task is dead is no error.
func (l *Listener) Answer(n Notification, errno string) error {
	r := response{id: n.id, err: -int32(errnos[errno])}
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
	if e != 0 && e != unix.ENOENT {
		return fmt.Errorf("answer a refused call: %w", e)
	}
	return nil
}

// Refusal says what the call was. report is false for a clone3 that asks for no
// user namespace: an ordinary start of a thread, which the C library repeats by clone.
func (l *Listener) Refusal(p Policy, n Notification) (r Refusal, report bool) {
	c := &n.Call
	switch name, known := foreign[c.Arch]; {
	case known:
		return Refusal{Name: name, Errno: errForeign}, true
	case c.Arch != native:
		return Refusal{Name: "foreign", Errno: errForeign}, true
	case c.NR >= x32:
		return Refusal{Name: "x32", Errno: errForeign}, true
	}
	rule := p.refuses(numbers, c)
	if rule == nil { // the filter refuses nothing else
		return Refusal{Name: fmt.Sprint("call ", c.NR), Errno: errForeign}, true
	}
	r = Refusal{Name: rule.name, Errno: rule.errno}
	if rule.describe != nil {
		r.Args = rule.describe(&c.Args)
	}
	if rule.name == "clone3" {
		flags := l.cloneFlags(n)
		r.Args = namespaceText(flags)
		return r, flags&cloneNewUser != 0
	}
	return r, true
}

// cloneFlags reads the flags that a clone3 was given, 0 where they cannot be
// read. The target may rewrite them at any time, which gains it nothing: the call is refused.
func (l *Listener) cloneFlags(n Notification) uint64 {
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", n.Task))
	if err != nil {
		return 0
	}
	defer func() { _ = mem.Close() }()
	// Only if the task still waits is the number still its own.
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), ioctlIDValid, uintptr(unsafe.Pointer(&n.id))); errno != 0 {
		return 0
	}
	var b [8]byte
	if _, err := mem.ReadAt(b[:], int64(n.Call.Args[0])); err != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b[:])
}
