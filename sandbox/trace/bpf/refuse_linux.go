//go:build amd64 || arm64

package bpf

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the kernel's struct seccomp_data.
const (
	dataNR   = 0
	dataArch = 4
)

// x32 marks the calls of a third way of x86-64, which no tracer decodes.
const x32 = 0x40000000

// refused are the numbers of what strace refuses by injection: each would let a
// target act, or deny its own calls, without a tracer's seeing it.
var refused = map[string]map[uint32][]uint32{
	"amd64": {unix.AUDIT_ARCH_X86_64: {317, 425, 426, 427}, unix.AUDIT_ARCH_I386: {354, 425, 426, 427}},
	"arm64": {unix.AUDIT_ARCH_AARCH64: {277, 425, 426, 427}, unix.AUDIT_ARCH_ARM: {383, 425, 426, 427}},
}

// Refuse makes the kernel answer the calling thread's seccomp and io_uring_* calls, and
// those of what it starts, with ENOSYS: this tracer can refuse nothing by itself,
// and sees the attempt. The thread must have set no_new_privs. It uses no memory of
// Go's beyond its own stack frame after the filter is made.
func Refuse() error {
	filter, err := refusal(runtime.GOARCH)
	if err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return fmt.Errorf("refuse io_uring and seccomp: %w", errno)
	}
	return nil
}

// refusal is the filter's program.
func refusal(arch string) ([]unix.SockFilter, error) {
	archs := refused[arch]
	if archs == nil {
		return nil, fmt.Errorf("refuse io_uring and seccomp: no table of calls for %s", arch)
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	jump := func(op uint16, k uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: uint8(yes), Jf: uint8(no), K: k}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	deny := answer(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))
	out := []unix.SockFilter{}
	for a, numbers := range archs {
		// One block an architecture: passed by as a whole where it is another.
		out = append(out, load(dataArch), jump(unix.BPF_JEQ, a, 0, len(numbers)+4), load(dataNR))
		out = append(out, jump(unix.BPF_JGE, x32, len(numbers)+1, 0))
		for i, nr := range numbers {
			out = append(out, jump(unix.BPF_JEQ, nr, len(numbers)-i, 0))
		}
		out = append(out, answer(unix.SECCOMP_RET_ALLOW), deny)
	}
	return append(out, answer(unix.SECCOMP_RET_ALLOW)), nil
}
