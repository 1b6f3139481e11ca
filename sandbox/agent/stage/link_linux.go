package stage

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const maxOrder = 16 << 20

// Send writes an order and its descriptors to a stage.
func Send(link int, o *Order, fds ...int) error {
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

// receive is the stage's side of Send.
func receive(link int) (*Order, []int, error) {
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
	o := new(Order)
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

// ReceiveHello waits at most the given time for a stage's hello. It returns the stage's
// pid by the kernel's word in the agent's pid namespace, and the pid that the
// stage has in its own.
func ReceiveHello(link int, millis int) (pid, inner int, err error) {
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
