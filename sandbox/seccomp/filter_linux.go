package seccomp

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the kernel's struct seccomp_data, on little-endian machines.
const (
	dataNR   = 0
	dataArch = 4
	dataArgs = 16
)

// x32 marks the calls of x86-64's third way in.
const x32 = 0x40000000

// skipped is the number of a call that a tracer has refused already.
const skipped = 0xffffffff

// Install puts the policy's filter on the calling thread and on what it starts.
// The thread must have set no_new_privs. With notify it returns the listener's
// descriptor, close-on-exec, to which refused calls go; otherwise the kernel
// answers them, nobody sees them, and the descriptor is -1.
func Install(p Policy, notify bool) (listener int, err error) {
	filter, err := p.program(notify)
	if err != nil {
		return -1, err
	}
	return install(filter, notify)
}

// install prefers a task that waits for its answer to be interrupted by fatal
// signals only (Linux 5.19): others would make it ask again.
func install(filter []unix.SockFilter, notify bool) (int, error) {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	defer runtime.KeepAlive(filter)
	if !notify {
		// Not by seccomp(2), which strace may be refusing in the kernel's place.
		if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
			return -1, fmt.Errorf("install the filter of system calls: %w", err)
		}
		return -1, nil
	}
	var errno unix.Errno
	for _, flags := range []uintptr{unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER} {
		var fd uintptr
		fd, _, errno = unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
		if errno == 0 {
			return int(fd), nil
		}
		if errno != unix.EINVAL {
			break
		}
	}
	return -1, fmt.Errorf("install the filter of system calls with a listener: %w", errno)
}

// program is the filter as the kernel runs it. It is read in order: the
// architecture, then each refused number with its conditions.
func (p Policy) program(notify bool) ([]unix.SockFilter, error) {
	if len(numbers) == 0 {
		return nil, errors.New("install the filter of system calls: no table of calls for " + runtime.GOARCH)
	}
	answer := func(errno string) unix.SockFilter {
		return statement(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(errnos[errno]))
	}
	refuse := func(errno string) unix.SockFilter {
		if notify {
			return statement(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_USER_NOTIF)
		}
		return answer(errno)
	}
	allow := statement(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW)
	out := []unix.SockFilter{
		load(dataArch), jump(unix.BPF_JEQ, native, 1, 0), refuse(errForeign),
		load(dataNR), jump(unix.BPF_JEQ, skipped, 0, 1), allow,
		jump(unix.BPF_JGE, x32, 0, 1), refuse(errForeign),
	}
	byCall := map[uint32][]rule{}
	for _, r := range p.rules() {
		byCall[numbers[r.name]] = append(byCall[numbers[r.name]], r)
	}
	for _, nr := range slices.Sorted(maps.Keys(byCall)) {
		block := callBlock(byCall[nr], func(r *rule) unix.SockFilter {
			if r.reserves {
				return answer(r.errno)
			}
			return refuse(r.errno)
		}, allow)
		out = append(append(out, jump(unix.BPF_JEQ, nr, 0, len(block))), block...)
	}
	return append(out, allow), nil
}

// callBlock decides a call whose number has matched: each rule in turn.
func callBlock(rules []rule, refuse func(*rule) unix.SockFilter, allow unix.SockFilter) []unix.SockFilter {
	var out []unix.SockFilter
	for _, r := range rules {
		out = append(out, ruleBlock(&r, refuse(&r))...)
	}
	return append(out, allow)
}

// ruleBlock refuses where all conditions hold, and goes on behind its end where one does not.
func ruleBlock(r *rule, refuse unix.SockFilter) []unix.SockFilter {
	out := []unix.SockFilter{refuse}
	for _, c := range slices.Backward(r.when) {
		out = append(conditionBlock(&c, len(out)), out...)
	}
	return out
}

// conditionBlock falls through where the condition holds, and jumps over the rest otherwise.
func conditionBlock(c *condition, rest int) []unix.SockFilter {
	arg := load(uint32(dataArgs + 8*c.arg))
	if c.is == anyBit {
		return []unix.SockFilter{arg, jump(unix.BPF_JSET, c.values[0], 0, rest)}
	}
	out := []unix.SockFilter{arg}
	for i, v := range c.values {
		left := len(c.values) - 1 - i // comparisons that follow
		switch {
		case c.is == noneOf:
			out = append(out, jump(unix.BPF_JEQ, v, left+rest, 0))
		case left > 0:
			out = append(out, jump(unix.BPF_JEQ, v, left, 0))
		default:
			out = append(out, jump(unix.BPF_JEQ, v, 0, rest))
		}
	}
	return out
}

func load(at uint32) unix.SockFilter { return statement(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at) }

func statement(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(op uint16, k uint32, yes, no int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: uint8(yes), Jf: uint8(no), K: k}
}

// errnos are the errors that the rules name.
var errnos = map[string]unix.Errno{
	"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS, "EINVAL": unix.EINVAL, "EAFNOSUPPORT": unix.EAFNOSUPPORT, "EPROTONOSUPPORT": unix.EPROTONOSUPPORT,
	"EOPNOTSUPP": unix.EOPNOTSUPP,
}
