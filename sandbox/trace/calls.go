package trace

import "strings"

// ArgKind says what one argument of a call means to a record.
type ArgKind uint8

// The kinds of arguments.
const (
	ArgSkip   ArgKind = iota
	ArgDir            // the directory descriptor of the next path
	ArgPath           // Path
	ArgToDir          // the directory descriptor of the second path
	ArgTo             // To
	ArgText           // a symbolic link's text: Path, relative to the link's own directory
	ArgFD             // FD, and Path by what it refers to
	ArgToFD           // To by what the descriptor refers to
	ArgFlags          // Flags, several are joined by "|"
	ArgName           // Flags, from a string
	ArgGiven          // Given, from a string
	ArgHow            // openat2's structure: Flags
	ArgArgv           // Argv
	ArgAddr           // Addr
	ArgMsg            // a message header: Addr
	ArgMsgs           // an array of message headers: Addr, a record for each
	ArgFamily         // Addr.Family
	ArgPair           // socketpair's two descriptors: FD
	ArgPid            // Pid
	ArgPidFD          // Pid by the process that a pidfd refers to
	ArgClone          // all arguments of clone or clone3: Flags
	ArgLimit          // prlimit64's new limit: NULL makes it a mere question
)

var argWords = map[string]ArgKind{
	"_": ArgSkip, "dir": ArgDir, "path": ArgPath, "todir": ArgToDir, "to": ArgTo, "text": ArgText,
	"fd": ArgFD, "tofd": ArgToFD, "flags": ArgFlags, "more": ArgFlags, "name": ArgName, "given": ArgGiven,
	"how": ArgHow, "argv": ArgArgv, "addr": ArgAddr, "msg": ArgMsg, "msgs": ArgMsgs,
	"family": ArgFamily, "pair": ArgPair, "pid": ArgPid, "pidfd": ArgPidFD, "clone": ArgClone,
	"limit": ArgLimit,
}

// Call is what every tracer knows of one system call: the same for all of them,
// so that their records are the same, too. It must not be changed.
type Call struct {
	// Name is the kernel's name.
	Name string
	Op   Op
	// Args are the first arguments' kinds; what follows does not matter.
	Args []ArgKind
	// Opens: the call returns a descriptor, which says the object's path.
	Opens bool
	// Forks: the call returns the new task.
	Forks bool
	// IO: the call belongs to the io set only.
	IO bool
	// Looks: the call belongs to the io and the looks set only: it asks about a file by its
	// path.
	Looks bool
}

// The sets of calls that can be traced.
const (
	// Core has what a server does to the world, and no call that is made by the
	// thousand: no read, write, close, mmap, stat.
	Core = "core"
	// Looks is Core with the questions about files by their paths: stat and its like.
	Looks = "looks"
	// IO is Looks with all of those, for byte counts; it costs several times as much.
	IO = "io"
)

// In reports whether the call belongs to a set. Any but IO and Looks is Core.
func (c *Call) In(set string) bool {
	return set == IO || !c.IO && (set == Looks || !c.Looks)
}

// table lists the traced calls: the operation, then for each layout the calls that have it.
// "=" marks a call that returns a descriptor, "io" the calls of the io set and "looks" those of the
// looks set.
var table = []struct {
	op     Op
	layout string
	calls  string
}{
	{OpExec, "path argv", "execve"},
	{OpExec, "dir path argv _ flags", "execveat"},
	{OpFork, "clone", "clone clone3"},
	{OpFork, "", "fork vfork"},
	{OpOpen, "path flags =", "open"},
	{OpOpen, "path =", "creat"},
	{OpOpen, "dir path flags =", "openat"},
	{OpOpen, "dir path how =", "openat2"},
	{OpOpen, "_ _ flags =", "open_by_handle_at"},
	{OpStat, "path flags", "access"},
	{OpStat, "dir path flags", "faccessat"},
	{OpStat, "dir path flags more", "faccessat2"},
	{OpStat, "path", "readlink"},
	{OpStat, "dir path", "readlinkat name_to_handle_at"},
	{OpMkdir, "path", "mkdir"},
	{OpMkdir, "dir path", "mkdirat"},
	{OpMkdir, "path flags", "mknod"},
	{OpMkdir, "dir path flags", "mknodat"},
	{OpRename, "path to", "rename"},
	{OpRename, "dir path todir to flags", "renameat renameat2"},
	{OpLink, "path to", "link"},
	{OpLink, "dir path todir to flags", "linkat"},
	{OpLink, "text to", "symlink"},
	{OpLink, "text todir to", "symlinkat"},
	{OpUnlink, "path", "unlink rmdir"},
	{OpUnlink, "dir path flags", "unlinkat"},
	{OpAttr, "path flags", "chmod"},
	{OpAttr, "fd flags", "fchmod"},
	{OpAttr, "dir path flags", "fchmodat"},
	{OpAttr, "dir path flags more", "fchmodat2"},
	{OpAttr, "path", "chown lchown chown32 lchown32 utime utimes"},
	{OpAttr, "fd", "fchown fchown32"},
	{OpAttr, "dir path _ _ flags", "fchownat"},
	{OpAttr, "dir path", "futimesat"},
	{OpAttr, "dir path _ flags", "utimensat utimensat_time64"},
	{OpAttr, "path name", "setxattr lsetxattr removexattr lremovexattr"},
	{OpAttr, "fd name", "fsetxattr fremovexattr"},
	{OpAttr, "dir path flags name", "setxattrat removexattrat file_setattr"},
	{OpTrunc, "path", "truncate truncate64"},
	{OpTrunc, "fd", "ftruncate ftruncate64"},
	{OpTrunc, "fd flags", "fallocate"},
	{OpChdir, "path", "chdir chroot"},
	{OpChdir, "fd", "fchdir"},
	{OpSocket, "family flags more =", "socket"},
	{OpSocket, "family flags more pair", "socketpair"},
	{OpConnect, "fd addr", "connect"},
	{OpBind, "fd addr", "bind"},
	{OpListen, "fd", "listen"},
	{OpAccept, "fd addr =", "accept"},
	{OpAccept, "fd addr _ flags =", "accept4"},
	{OpSend, "fd", "send"},
	{OpSend, "fd _ _ flags addr", "sendto"},
	{OpSend, "fd msg flags", "sendmsg"},
	{OpSend, "fd msgs _ flags", "sendmmsg"},
	{OpKill, "pid flags", "kill tkill rt_sigqueueinfo"},
	{OpKill, "pid _ flags", "tgkill rt_tgsigqueueinfo"},
	{OpKill, "pidfd flags", "pidfd_send_signal"},
	{OpPtrace, "flags pid", "ptrace"},
	{OpPtrace, "pid", "process_vm_readv process_vm_writev"},
	{OpPtrace, "pidfd", "pidfd_getfd process_madvise"},
	{OpMount, "given path _ flags", "mount"},
	{OpMount, "path flags", "umount2"},
	{OpMount, "path", "umount swapon swapoff"},
	{OpMount, "path to", "pivot_root"},
	{OpMount, "dir path todir to flags", "move_mount"},
	{OpMount, "dir path flags", "open_tree open_tree_attr fspick mount_setattr"},
	{OpMount, "given flags", "fsopen"},
	{OpMount, "fd flags given", "fsconfig"},
	{OpMount, "fd flags", "fsmount"},
	{OpNS, "flags", "unshare"},
	{OpNS, "fd flags", "setns"},
	{OpLimit, "flags", "setrlimit"},
	{OpLimit, "pid flags limit", "prlimit64"},
	{OpMemfd, "given flags =", "memfd_create"},
	{OpMemfd, "flags =", "memfd_secret"},
	{OpRefused, "flags more", "seccomp"},
	{OpRefused, "", "io_uring_setup"},
	{OpRefused, "fd", "io_uring_enter io_uring_register"},
	{OpOther, "pid flags", "pidfd_open"},
	{OpOther, "flags more", "prctl"},
	{OpOther, "flags", "personality bpf keyctl reboot syslog iopl fanotify_init userfaultfd"},
	{OpOther, "", "setitimer alarm timer_settime timer_settime64 timerfd_settime timerfd_settime64"},
	{OpOther, "given", "add_key request_key sethostname setdomainname delete_module"},
	{OpOther, "fd", "finit_module"},
	{OpOther, "path", "acct"},
	{OpOther, "", "perf_event_open init_module kexec_load kexec_file_load ioperm quotactl vhangup fanotify_mark " +
		"settimeofday clock_settime capset setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid " +
		"setuid32 setgid32 setreuid32 setregid32 setresuid32 setresgid32 setgroups32"},
	{OpStat, "path looks", "stat lstat stat64 lstat64"},
	{OpStat, "path io", "statfs"},
	{OpStat, "dir path _ flags looks", "newfstatat fstatat64"},
	{OpStat, "dir path flags looks", "statx"},
	{OpStat, "fd io", "fstat fstat64 fstatfs"},
	{OpStat, "path name io", "getxattr lgetxattr"},
	{OpStat, "path io", "listxattr llistxattr"},
	{OpRead, "fd io", "read pread64 readv preadv preadv2 getdents getdents64"},
	{OpRead, "fd _ _ flags addr io", "recvfrom"},
	{OpRead, "fd msg flags io", "recvmsg"},
	{OpRead, "fd msgs _ flags io", "recvmmsg recvmmsg_time64"},
	{OpWrite, "fd io", "write pwrite64 writev pwritev pwritev2 vmsplice"},
	{OpWrite, "tofd fd io", "sendfile sendfile64"},
	{OpWrite, "fd _ tofd _ _ flags io", "copy_file_range splice"},
	{OpWrite, "fd tofd io", "tee"},
	{OpOther, "fd io", "close"},
	{OpOther, "_ _ flags more fd io", "mmap mmap2"},
}

// Calls are the traced calls by name. The map must not be changed.
var Calls = func() map[string]*Call {
	m := make(map[string]*Call)
	for _, row := range table {
		proto := Call{Op: row.op, Forks: row.op == OpFork}
		for _, w := range strings.Fields(row.layout) {
			switch w {
			case "=":
				proto.Opens = true
			case "io":
				proto.IO = true
			case "looks":
				proto.Looks = true
			default:
				kind, ok := argWords[w]
				if !ok {
					panic("trace: no argument kind " + w)
				}
				proto.Args = append(proto.Args, kind)
			}
		}
		for _, name := range strings.Fields(row.calls) {
			c := proto
			c.Name = name
			m[name] = &c
		}
	}
	return m
}()
