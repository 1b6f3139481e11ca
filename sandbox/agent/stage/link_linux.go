package agent

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/seccomp"
)

// The descriptors that a stage of the target's process is started with.
const (
	linkFD = 3 // its end of the link to the agent
	selfFD = 4 // this program
	logFD  = 5 // strace's log; open in the first stage only because strace names it by number
)

// The roles that an order gives to a stage.
const (
	roleTarget = "target" // drop everything and execute the command
	roleEnter  = "enter"  // start the target's stage in the inner pid namespace
	roleInner  = "inner"  // be the first process of the inner pid namespace
	roleSink   = "sink"   // answer the network
	roleFarEnd = "far"    // bring up an interface
)

// order is what the agent tells a stage to do. Its descriptors come along:
// target: stdin, stdout, stderr, status; enter: pid namespace, status; inner:
// status; sink: status, observations, dials, listeners; far: status.
type order struct {
	Role    string   `json:"role"`
	Name    string   `json:"name,omitempty"` // of the interface
	Command []string `json:"command,omitempty"`
	Dir     string   `json:"dir,omitempty"`
	Env     []string `json:"env,omitempty"`
	User    User     `json:"user"`
	Limits  Limits   `json:"limits"`
	// Inner: this is in the inner pid namespace, whose /proc is to be mounted,
	// and in a user namespace that may forbid changing the groups.
	Inner bool `json:"inner,omitempty"`
	// Masks are paths of the inner /proc to cover.
	Masks []string `json:"masks,omitempty"`
	// Writable are the only places to which the target may write, none for no such bound.
	Writable []string `json:"writable,omitempty"`
	// Policy is what is to be refused, and Notify says that the agent takes the listener.
	Policy seccomp.Policy `json:"policy"`
	Notify bool           `json:"notify,omitempty"`
	// Network and Canaries are a sink's.
	Network  *Network          `json:"network,omitempty"`
	Canaries []canaries.Canary `json:"canaries,omitempty"`
}

// refusal is what a stage writes to its status descriptor when it cannot go on.
type refusal struct {
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
}

func (r *refusal) Error() string { return r.Reason }

const maxOrder = 16 << 20

// sendOrder writes an order and its descriptors to a stage.
func sendOrder(link int, o *order, fds ...int) error {
	b, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode the order: %w", err)
	}
	if len(b) > maxOrder {
		return fmt.Errorf("command and environment have %d bytes, over the bound of %d", len(b), maxOrder)
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(b)))
	if err := unix.Sendmsg(link, head, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("send the order's descriptors: %w", err)
	}
	for len(b) > 0 {
		n, err := unix.SendmsgN(link, b, nil, nil, unix.MSG_NOSIGNAL)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("send the order: %w", err)
		}
		b = b[n:]
	}
	return nil
}

// receiveOrder is the stage's side of sendOrder.
func receiveOrder(link int) (*order, []int, error) {
	head, oob := make([]byte, 4), make([]byte, 256)
	n, oobn, _, _, err := unix.Recvmsg(link, head, oob, unix.MSG_CMSG_CLOEXEC|unix.MSG_WAITALL)
	if err == nil && n != len(head) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, nil, fmt.Errorf("receive the order: %w", err)
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return nil, nil, fmt.Errorf("receive the order's descriptors: %w", err)
	}
	var fds []int
	for _, m := range msgs {
		if got, err := unix.ParseUnixRights(&m); err == nil {
			fds = append(fds, got...)
		}
	}
	b := make([]byte, binary.LittleEndian.Uint32(head))
	for rest := b; len(rest) > 0; {
		n, err := unix.Read(link, rest)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n <= 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, nil, fmt.Errorf("receive the order: %w", err)
		}
		rest = rest[n:]
	}
	o := new(order)
	if err := json.Unmarshal(b, o); err != nil {
		return nil, nil, fmt.Errorf("decode the order: %w", err)
	}
	return o, fds, nil
}

// sendHello tells the agent that a stage is there; the kernel adds who it is.
func sendHello(link int) error {
	pid := binary.LittleEndian.AppendUint32(nil, uint32(os.Getpid()))
	if err := unix.Sendmsg(link, pid, nil, nil, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("greet the agent: %w", err)
	}
	return nil
}

// receiveHello waits at most the given time for a stage's hello. It returns the stage's
// pid by the kernel's word in the agent's pid namespace, and the pid that the
// stage has in its own.
func receiveHello(link int, millis int) (pid, inner int, err error) {
	fds := []unix.PollFd{{Fd: int32(link), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, millis)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, 0, fmt.Errorf("wait for the target's process: %w", err)
		}
		if n == 0 {
			return 0, 0, os.ErrDeadlineExceeded
		}
		break
	}
	b, oob := make([]byte, 4), make([]byte, 256)
	n, oobn, _, _, err := unix.Recvmsg(link, b, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, 0, fmt.Errorf("hear the target's process: %w", err)
	}
	if n != len(b) {
		return 0, 0, errors.New("the target's process ended before it began")
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return 0, 0, fmt.Errorf("hear the target's process: %w", err)
	}
	for _, m := range msgs {
		if cred, err := unix.ParseUnixCredentials(&m); err == nil {
			return int(cred.Pid), int(binary.LittleEndian.Uint32(b)), nil
		}
	}
	return 0, 0, errors.New("the kernel does not say who the target's process is")
}
