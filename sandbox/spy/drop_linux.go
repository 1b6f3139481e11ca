//go:build amd64 || arm64

package spy

import (
	"fmt"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// kept are the capabilities that watching goes on to need: CAP_BPF to tell the programs
// which streams are not MCP, CAP_SYS_PTRACE to see the descriptors of others.
const kept = 1<<unix.CAP_BPF | 1<<unix.CAP_SYS_PTRACE

// Drop gives up, in all threads, what only attaching needed: all capabilities but two,
// and root for the user uid and the group gid where these are not 0. What is executed
// later gains nothing.
func Drop(uid, gid int) error {
	have, err := capabilities()
	if err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0); errno != 0 {
		return fmt.Errorf("give up privileges: no_new_privs: %w", errno)
	}
	if uid != 0 {
		if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_KEEPCAPS, 1, 0); errno != 0 {
			return fmt.Errorf("give up privileges: keep capabilities: %w", errno)
		}
		if err := syscall.Setgroups([]int{gid}); err != nil {
			return fmt.Errorf("give up privileges: groups: %w", err)
		}
		if err := syscall.Setresgid(gid, gid, gid); err != nil {
			return fmt.Errorf("give up privileges: group %d: %w", gid, err)
		}
		if err := syscall.Setresuid(uid, uid, uid); err != nil {
			return fmt.Errorf("give up privileges: user %d: %w", uid, err)
		}
	}
	head, data := capset(have & kept)
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, pointer(head), pointer(data), 0)
	runtime.KeepAlive(head)
	runtime.KeepAlive(data)
	if errno != 0 {
		return fmt.Errorf("give up privileges: %w", errno)
	}
	return nil
}
