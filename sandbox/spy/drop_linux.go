//go:build amd64 || arm64

package spy

import (
	"fmt"
	"runtime"
	"syscall"

	"github.com/cilium/ebpf/features"
	"golang.org/x/sys/unix"
)

// kept are the capabilities that watching goes on to need: CAP_BPF to tell the programs
// which streams are not MCP, CAP_SYS_PTRACE to see the descriptors of others.
const kept = 1<<unix.CAP_BPF | 1<<unix.CAP_SYS_PTRACE

// attaching is what setting probes goes on to need. One that is no link of its own (before Linux 6.6)
// needs CAP_SYS_ADMIN in the kernels that were mended in 2025.
func attaching() uint64 {
	need := uint64(kept | 1<<unix.CAP_PERFMON)
	if features.HaveBPFLinkUprobeMulti() != nil {
		need |= 1 << unix.CAP_SYS_ADMIN
	}
	return need
}

// MayBecome reports whether this process may become another user.
func MayBecome() bool {
	const need = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	have, err := capabilities()
	return err == nil && have&need == need
}

// Owner owns a file. Root owns what is missing: it would have to make it.
func Owner(name string) (uid, gid int) {
	var st unix.Stat_t
	if unix.Stat(name, &st) != nil {
		return 0, 0
	}
	return int(st.Uid), int(st.Gid)
}

// Drop gives up, in all threads, what only attaching needed: all capabilities but two, and what it takes to
// attach probes later where attach says so, and root for the user uid and the group gid where these are not 0.
// What is executed later gains nothing.
func Drop(uid, gid int, attach bool) error {
	have, err := capabilities()
	if err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	keep := uint64(kept)
	if attach {
		keep = attaching()
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
	head, data := capset(have & keep)
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, pointer(head), pointer(data), 0)
	runtime.KeepAlive(head)
	runtime.KeepAlive(data)
	if errno != 0 {
		return fmt.Errorf("give up privileges: %w", errno)
	}
	return nil
}
