package agent

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

// boundRoot bounds what is written to the files around, in bytes, and gives up the one
// capability that this needs. An engine whose AppArmor profile forbids mounts, and a kernel
// without overlays, refuse it: what is written is then counted (see usage).
func boundRoot(size int64) error {
	if size <= 0 {
		return nil
	}
	if err := rootfs.Bound(size); err != nil && !errors.Is(err, rootfs.ErrUnbounded) {
		return err
	}
	if err := dropCapability(unix.CAP_SYS_ADMIN); err != nil {
		return fmt.Errorf("give up the right to mount: %w", err)
	}
	return nil
}

// dropCapability takes a capability from every thread of this process, and from
// what it will start.
func dropCapability(which uintptr) error {
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, which, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held [2]unix.CapUserData
	if _, _, errno := unix.RawSyscall(unix.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&held)), 0); errno != 0 {
		return errno
	}
	word, bit := &held[which/32], uint32(1)<<(which%32)
	word.Effective &^= bit
	word.Permitted &^= bit
	word.Inheritable &^= bit
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&held)), 0); errno != 0 {
		return errno
	}
	return nil
}
