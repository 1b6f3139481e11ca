//go:build amd64 || arm64

package spy

import (
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The capabilities that are needed, by their names. CAP_SYS_PTRACE is needed to see which
// descriptors the processes of other users have.
var needed = []struct {
	name string
	bit  int
}{{"CAP_BPF", unix.CAP_BPF}, {"CAP_PERFMON", unix.CAP_PERFMON}}

// missing says what this process lacks, nil for nothing that can be known beforehand.
func missing() error {
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		return &NeedError{What: "the kernel describes none of its structures (no BTF)", Hint: "run a kernel with CONFIG_DEBUG_INFO_BTF=y, 5.11 or later; distributions have it since 2021", err: err}
	}
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		return &NeedError{What: "/proc is not mounted", Hint: "mount -t proc none /proc", err: err}
	}
	have, err := capabilities()
	if err != nil {
		return nil // loading the programs will tell
	}
	if have&(1<<unix.CAP_SYS_ADMIN) != 0 {
		return nil // which means both
	}
	var lacks []string
	for _, c := range needed {
		if have&(1<<c.bit) == 0 {
			lacks = append(lacks, c.name)
		}
	}
	if len(lacks) > 0 {
		return &NeedError{What: "this process lacks " + strings.Join(lacks, " and "), Hint: "run it with sudo, or once: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep $(which coalmine)"}
	}
	return nil
}

// capabilities are the effective ones of this thread, a bit for each.
func capabilities() (uint64, error) {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return 0, err
	}
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective), nil
}

// capset is capset(2)'s argument, as AllThreadsSyscall takes it.
func capset(bits uint64) (head *unix.CapUserHeader, data *[2]unix.CapUserData) {
	head = &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	low, high := uint32(bits), uint32(bits>>32)
	return head, &[2]unix.CapUserData{{Effective: low, Permitted: low}, {Effective: high, Permitted: high}}
}

func pointer[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
