package stage

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

func ptr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// dropPrivileges makes the calling thread an ordinary user without any
// capability or the means to gain one, and checks that it worked. The calls are
// raw on purpose: Go's own change every thread, and only this one lives on.
func dropPrivileges(o *Order) error {
	if err := dropBounding(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("clear the ambient capabilities: %w", err)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 && !o.Inner {
		return fmt.Errorf("drop the supplementary groups: %w", errno)
	}
	uid, gid := uintptr(o.User.UID), uintptr(o.User.GID)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); errno != 0 {
		return fmt.Errorf("become group %d: %w", gid, errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); errno != 0 {
		return fmt.Errorf("become user %d: %w", uid, errno)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if _, _, errno := unix.RawSyscall(unix.SYS_CAPSET, ptr(&header), ptr(&none), 0); errno != 0 {
		return fmt.Errorf("drop the capabilities: %w", errno)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	return CheckPrivileges(o.User)
}

func dropBounding() error {
	for c := uintptr(0); ; c++ {
		held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err != nil {
			return nil // beyond the kernel's last capability
		}
		if held == 0 {
			continue
		}
		// Without SETPCAP the bounding set stays, and binds nothing: with
		// no_new_privs no program gains from it.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("drop capability %d for good: %w", c, err)
		}
	}
}

// CheckPrivileges returns an error where the calling thread holds a capability, may gain one
// or is another user.
func CheckPrivileges(u User) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held [2]unix.CapUserData
	if _, _, errno := unix.RawSyscall(unix.SYS_CAPGET, ptr(&header), ptr(&held), 0); errno != 0 {
		return fmt.Errorf("check the capabilities: %w", errno)
	}
	if held != [2]unix.CapUserData{} {
		return fmt.Errorf("capabilities are left: %+v", held)
	}
	r, e, s := unix.Getresuid()
	if r != u.UID || e != u.UID || s != u.UID {
		return fmt.Errorf("user is %d/%d/%d, not %d", r, e, s, u.UID)
	}
	if nnp, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || nnp != 1 {
		return errors.New("no_new_privs did not hold")
	}
	return nil
}
