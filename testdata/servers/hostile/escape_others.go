//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// others goes for the memory and the descriptors of PID 1 and the tracer.
func (a *attempts) others() {
	for _, pid := range []int{1, tracer()} {
		if pid == 0 || pid == os.Getpid() {
			a.told["reach-"+who(pid)] = "denied: " + errNobody.Error()
			continue
		}
		a.memory(pid)
		a.streams(pid)
	}
}

// signals goes for their lives.
func (a *attempts) signals() {
	for _, pid := range []int{1, tracer()} {
		if pid == 0 || pid == os.Getpid() {
			continue
		}
		for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGQUIT, unix.SIGSEGV, unix.SIGKILL} {
			a.try("kill-"+who(pid)+"-"+unix.SignalName(sig), func() error { return unix.Kill(pid, sig) })
		}
	}
}

func (a *attempts) memory(pid int) {
	name := func(what string) string { return what + "-" + who(pid) }
	proc := func(file string) string { return fmt.Sprintf("/proc/%d/%s", pid, file) }
	a.try(name("read-mem"), func() error { return open(proc("mem"), unix.O_RDONLY) })
	a.try(name("write-mem"), func() error { return open(proc("mem"), unix.O_RDWR) })
	a.try(name("read-environ"), func() error {
		_, err := os.ReadFile(proc("environ"))
		return err
	})
	a.try(name("read-maps"), func() error {
		_, err := os.ReadFile(proc("maps"))
		return err
	})
	a.try(name("read-root"), func() error {
		_, err := os.ReadDir(proc("root/"))
		return err
	})
	a.try(name("process-vm-readv"), func() error {
		buf := make([]byte, 8)
		local := []unix.Iovec{{Base: &buf[0], Len: 8}}
		_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
		return err
	})
	a.try(name("oom-score"), func() error {
		return os.WriteFile(proc("oom_score_adj"), []byte("1000"), 0)
	})
}

// streams writes to another's stdin, stdout and further descriptors, through
// /proc and by taking them over.
func (a *attempts) streams(pid int) {
	for fd := range 10 {
		a.try(fmt.Sprintf("write-fd-of-%s-%d", who(pid), fd), func() error {
			out, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", pid, fd), unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
			if err != nil {
				return err
			}
			defer shut(out)
			_, err = unix.Write(out, []byte(forged))
			return err
		})
	}
	a.try("take-fd-of-"+who(pid), func() error {
		handle, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return err
		}
		defer shut(handle)
		fd, err := unix.PidfdGetfd(handle, 1, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	})
}

func raw6(call, x, y, z, w uintptr) error {
	if _, _, errno := unix.RawSyscall6(call, x, y, z, w, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// tracing installs filters that would hide calls from a tracer, and opens the
// door that no tracer of system calls can watch.
func (a *attempts) tracing() {
	allow := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}}
	program := unix.SockFprog{Len: 1, Filter: &allow[0]}
	at := uintptr(unsafe.Pointer(&program))
	a.try("seccomp-listener", func() error {
		return raw(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, at)
	})
	a.try("seccomp-filter", func() error {
		return raw(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, at)
	})
	a.try("io-uring", func() error {
		var params [120]byte
		return raw(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)), 0)
	})
	a.try("io-uring-enter", func() error { return reached(unix.SYS_IO_URING_ENTER) })
	a.try("io-uring-register", func() error { return reached(unix.SYS_IO_URING_REGISTER) })
	a.try("perf-event", func() error {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
		_, err := unix.PerfEventOpen(&attr, -1, 0, -1, 0)
		return err
	})
	a.try("trace-pipe", func() error {
		entries, err := os.ReadDir("/sys/kernel/tracing")
		if err == nil && len(entries) == 0 {
			return errNobody
		}
		return err
	})
}

// reached makes a call with a descriptor that is none: a kernel that complains
// about the descriptor has let the call through.
func reached(call uintptr) error {
	if err := raw6(call, ^uintptr(0), 0, 0, 0); !errors.Is(err, unix.EBADF) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}
