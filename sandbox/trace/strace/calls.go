package strace

import (
	"sort"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// argKind says what one argument of a call means to a record.
type argKind uint8

const (
	argSkip   argKind = iota
	argDir            // the directory descriptor of the next path
	argPath           // Path
	argToDir          // the directory descriptor of the second path
	argTo             // To
	argText           // a symbolic link's text: Path, relative to the link's own directory
	argFD             // FD, and Path by its annotation
	argToFD           // To by its annotation
	argFlags          // Flags, several are joined by "|"
	argName           // Flags, from a string
	argGiven          // Given, from a string
	argHow            // openat2's structure: Flags
	argArgv           // Argv
	argAddr           // Addr
	argMsg            // a message header: Addr
	argMsgs           // an array of message headers: Addr, a record for each
	argFamily         // Addr.Family
	argPair           // socketpair's two descriptors: FD
	argPid            // Pid
	argPidFD          // Pid by a pidfd's annotation
	argClone          // all arguments of clone or clone3: Flags
	argLimit          // prlimit64's new limit: NULL makes it a mere question
)

var argWords = map[string]argKind{
	"_": argSkip, "dir": argDir, "path": argPath, "todir": argToDir, "to": argTo, "text": argText,
	"fd": argFD, "tofd": argToFD, "flags": argFlags, "more": argFlags, "name": argName, "given": argGiven,
	"how": argHow, "argv": argArgv, "addr": argAddr, "msg": argMsg, "msgs": argMsgs,
	"family": argFamily, "pair": argPair, "pid": argPid, "pidfd": argPidFD, "clone": argClone,
	"limit": argLimit,
}

// call is what the parser knows of one system call.
type call struct {
	name string
	op   trace.Op
	args []argKind
	// opens: the call returns a descriptor whose annotation is the object's path.
	opens bool
	// forks: the call returns the new task.
	forks bool
	// io: the call belongs to the io set only.
	io bool
	// quiet: the call is traced for strace's sake and yields no record.
	quiet bool
}

// quiet calls are the first that an ordinary program makes after an exec. When a thread
// that is not its group's leader calls execve, strace 6.1 with --seccomp-bpf takes the
// next traced call for the exec's own end, so that call is lost. Tracing a harmless one
// that comes first means that with honest programs nothing of interest is.
const quietCalls = "arch_prctl set_tid_address sched_getaffinity"

// table lists the traced calls: the operation, then for each layout the calls that have it.
// "=" marks a call that returns a descriptor, "io" the calls of the io set.
var table = []struct {
	op     trace.Op
	layout string
	calls  string
}{
	{trace.OpExec, "path argv", "execve"},
	{trace.OpExec, "dir path argv _ flags", "execveat"},
	{trace.OpFork, "clone", "clone clone3"},
	{trace.OpFork, "", "fork vfork"},
	{trace.OpOpen, "path flags =", "open"},
	{trace.OpOpen, "path =", "creat"},
	{trace.OpOpen, "dir path flags =", "openat"},
	{trace.OpOpen, "dir path how =", "openat2"},
	{trace.OpOpen, "_ _ flags =", "open_by_handle_at"},
	{trace.OpStat, "path flags", "access"},
	{trace.OpStat, "dir path flags", "faccessat"},
	{trace.OpStat, "dir path flags more", "faccessat2"},
	{trace.OpStat, "path", "readlink"},
	{trace.OpStat, "dir path", "readlinkat name_to_handle_at"},
	{trace.OpMkdir, "path", "mkdir"},
	{trace.OpMkdir, "dir path", "mkdirat"},
	{trace.OpMkdir, "path flags", "mknod"},
	{trace.OpMkdir, "dir path flags", "mknodat"},
	{trace.OpRename, "path to", "rename"},
	{trace.OpRename, "dir path todir to flags", "renameat renameat2"},
	{trace.OpLink, "path to", "link"},
	{trace.OpLink, "dir path todir to flags", "linkat"},
	{trace.OpLink, "text to", "symlink"},
	{trace.OpLink, "text todir to", "symlinkat"},
	{trace.OpUnlink, "path", "unlink rmdir"},
	{trace.OpUnlink, "dir path flags", "unlinkat"},
	{trace.OpAttr, "path flags", "chmod"},
	{trace.OpAttr, "fd flags", "fchmod"},
	{trace.OpAttr, "dir path flags", "fchmodat"},
	{trace.OpAttr, "dir path flags more", "fchmodat2"},
	{trace.OpAttr, "path", "chown lchown chown32 lchown32 utime utimes"},
	{trace.OpAttr, "fd", "fchown fchown32"},
	{trace.OpAttr, "dir path _ _ flags", "fchownat"},
	{trace.OpAttr, "dir path", "futimesat"},
	{trace.OpAttr, "dir path _ flags", "utimensat utimensat_time64"},
	{trace.OpAttr, "path name", "setxattr lsetxattr removexattr lremovexattr"},
	{trace.OpAttr, "fd name", "fsetxattr fremovexattr"},
	{trace.OpAttr, "dir path flags name", "setxattrat removexattrat file_setattr"},
	{trace.OpTrunc, "path", "truncate truncate64"},
	{trace.OpTrunc, "fd", "ftruncate ftruncate64"},
	{trace.OpTrunc, "fd flags", "fallocate"},
	{trace.OpChdir, "path", "chdir chroot"},
	{trace.OpChdir, "fd", "fchdir"},
	{trace.OpSocket, "family flags more =", "socket"},
	{trace.OpSocket, "family flags more pair", "socketpair"},
	{trace.OpConnect, "fd addr", "connect"},
	{trace.OpBind, "fd addr", "bind"},
	{trace.OpListen, "fd", "listen"},
	{trace.OpAccept, "fd addr =", "accept"},
	{trace.OpAccept, "fd addr _ flags =", "accept4"},
	{trace.OpSend, "fd", "send"},
	{trace.OpSend, "fd _ _ flags addr", "sendto"},
	{trace.OpSend, "fd msg flags", "sendmsg"},
	{trace.OpSend, "fd msgs _ flags", "sendmmsg"},
	{trace.OpKill, "pid flags", "kill tkill rt_sigqueueinfo"},
	{trace.OpKill, "pid _ flags", "tgkill rt_tgsigqueueinfo"},
	{trace.OpKill, "pidfd flags", "pidfd_send_signal"},
	{trace.OpPtrace, "flags pid", "ptrace"},
	{trace.OpPtrace, "pid", "process_vm_readv process_vm_writev"},
	{trace.OpPtrace, "pidfd", "pidfd_getfd process_madvise"},
	{trace.OpMount, "given path _ flags", "mount"},
	{trace.OpMount, "path flags", "umount2"},
	{trace.OpMount, "path", "umount swapon swapoff"},
	{trace.OpMount, "path to", "pivot_root"},
	{trace.OpMount, "dir path todir to flags", "move_mount"},
	{trace.OpMount, "dir path flags", "open_tree open_tree_attr fspick mount_setattr"},
	{trace.OpMount, "given flags", "fsopen"},
	{trace.OpMount, "fd flags given", "fsconfig"},
	{trace.OpMount, "fd flags", "fsmount"},
	{trace.OpNS, "flags", "unshare"},
	{trace.OpNS, "fd flags", "setns"},
	{trace.OpLimit, "flags", "setrlimit"},
	{trace.OpLimit, "pid flags limit", "prlimit64"},
	{trace.OpMemfd, "given flags =", "memfd_create"},
	{trace.OpMemfd, "flags =", "memfd_secret"},
	{trace.OpRefused, "flags more", "seccomp"},
	{trace.OpRefused, "", "io_uring_setup"},
	{trace.OpRefused, "fd", "io_uring_enter io_uring_register"},
	{trace.OpOther, "pid flags", "pidfd_open"},
	{trace.OpOther, "flags more", "prctl"},
	{trace.OpOther, "flags", "personality bpf keyctl reboot syslog iopl fanotify_init userfaultfd"},
	{trace.OpOther, "given", "add_key request_key sethostname setdomainname delete_module"},
	{trace.OpOther, "fd", "finit_module"},
	{trace.OpOther, "path", "acct"},
	{trace.OpOther, "", "perf_event_open init_module kexec_load kexec_file_load ioperm quotactl vhangup fanotify_mark " +
		"settimeofday clock_settime capset setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid " +
		"setuid32 setgid32 setreuid32 setregid32 setresuid32 setresgid32 setgroups32"},
	{trace.OpStat, "path io", "stat lstat stat64 lstat64 statfs"},
	{trace.OpStat, "dir path _ flags io", "newfstatat fstatat64"},
	{trace.OpStat, "dir path flags io", "statx"},
	{trace.OpStat, "fd io", "fstat fstat64 fstatfs"},
	{trace.OpStat, "path name io", "getxattr lgetxattr"},
	{trace.OpStat, "path io", "listxattr llistxattr"},
	{trace.OpRead, "fd io", "read pread64 readv preadv preadv2 getdents getdents64"},
	{trace.OpRead, "fd _ _ flags addr io", "recvfrom"},
	{trace.OpRead, "fd msg flags io", "recvmsg"},
	{trace.OpRead, "fd msgs _ flags io", "recvmmsg recvmmsg_time64"},
	{trace.OpWrite, "fd io", "write pwrite64 writev pwritev pwritev2 vmsplice"},
	{trace.OpWrite, "tofd fd io", "sendfile sendfile64"},
	{trace.OpWrite, "fd _ tofd _ _ flags io", "copy_file_range splice"},
	{trace.OpWrite, "fd tofd io", "tee"},
	{trace.OpOther, "fd io", "close"},
	{trace.OpOther, "_ _ flags more fd io", "mmap mmap2"},
}

// newer are calls that older straces have no name for and print by number.
var newer = map[string]string{
	"syscall_0x1c4": "fchmodat2",
	"syscall_0x1cf": "setxattrat",
	"syscall_0x1d2": "removexattrat",
	"syscall_0x1d3": "open_tree_attr",
	"syscall_0x1d5": "file_setattr",
}

// calls is the table by name, for the parser.
var calls = func() map[string]*call {
	m := make(map[string]*call)
	for _, row := range table {
		proto := call{op: row.op, forks: row.op == trace.OpFork}
		for _, w := range strings.Fields(row.layout) {
			switch w {
			case "=":
				proto.opens = true
			case "io":
				proto.io = true
			default:
				kind, ok := argWords[w]
				if !ok {
					panic("strace: no argument kind " + w)
				}
				proto.args = append(proto.args, kind)
			}
		}
		for _, name := range strings.Fields(row.calls) {
			c := proto
			c.name = name
			m[name] = &c
		}
	}
	for _, name := range strings.Fields(quietCalls) {
		m[name] = &call{name: name, op: trace.OpOther, quiet: true}
	}
	return m
}()

// names lists the calls of a set, sorted. The io set contains the core set.
func names(io bool) []string {
	var list []string
	for name, c := range calls {
		if io || !c.io {
			list = append(list, name)
		}
	}
	sort.Strings(list)
	return list
}
