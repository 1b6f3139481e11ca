//go:build linux && (amd64 || arm64)

package seccomp

import "golang.org/x/sys/unix"

// numbers are the calls of this machine's architecture.
var numbers = map[string]uint32{
	"bpf": unix.SYS_BPF, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "userfaultfd": unix.SYS_USERFAULTFD,
	"open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "kexec_load": unix.SYS_KEXEC_LOAD, "kexec_file_load": unix.SYS_KEXEC_FILE_LOAD,
	"init_module": unix.SYS_INIT_MODULE, "finit_module": unix.SYS_FINIT_MODULE, "delete_module": unix.SYS_DELETE_MODULE,
	"add_key": unix.SYS_ADD_KEY, "keyctl": unix.SYS_KEYCTL, "request_key": unix.SYS_REQUEST_KEY,
	"io_uring_setup": unix.SYS_IO_URING_SETUP, "io_uring_enter": unix.SYS_IO_URING_ENTER, "io_uring_register": unix.SYS_IO_URING_REGISTER,
	"seccomp": unix.SYS_SECCOMP, "prctl": unix.SYS_PRCTL, "unshare": unix.SYS_UNSHARE, "clone": unix.SYS_CLONE, "clone3": unix.SYS_CLONE3,
	"socket": unix.SYS_SOCKET, "socketpair": unix.SYS_SOCKETPAIR,
	"fallocate": unix.SYS_FALLOCATE, "ioctl": unix.SYS_IOCTL,
}

// foreign names the other architectures whose calls such a machine takes.
var foreign = map[uint32]string{unix.AUDIT_ARCH_I386: "i386", unix.AUDIT_ARCH_ARM: "arm"}
