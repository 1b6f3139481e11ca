package trace

import "time"

// Op classes a system call by what it does to the world, so that judging need
// not know every spelling (open, openat, openat2 and creat are all OpOpen).
type Op string

// The operations. A call that fits none of them is OpOther.
const (
	OpExec    Op = "exec"    // execve, execveat: Path is the binary, Argv its arguments
	OpFork    Op = "fork"    // clone, clone3, fork, vfork: Child is the new task
	OpExit    Op = "exit"    // the task ended: Ret is its status, Err the signal's name if one ended it
	OpOpen    Op = "open"    // open, openat, openat2, creat, open_by_handle_at
	OpStat    Op = "stat"    // stat, access, readlink and their like
	OpRead    Op = "read"    // read, pread64, readv … (the io set only)
	OpWrite   Op = "write"   // write, pwrite64, writev … (the io set only)
	OpMkdir   Op = "mkdir"   // mkdir, mkdirat, mknod
	OpRename  Op = "rename"  // rename, renameat, renameat2: Path to To
	OpLink    Op = "link"    // link, symlink and their at-forms: Path is the target, To the new name
	OpUnlink  Op = "unlink"  // unlink, unlinkat, rmdir
	OpAttr    Op = "attr"    // chmod, chown, utimens, setxattr
	OpTrunc   Op = "trunc"   // truncate, ftruncate, fallocate
	OpChdir   Op = "chdir"   // chdir, fchdir, chroot
	OpSocket  Op = "socket"  // socket, socketpair: Addr.Family says which
	OpConnect Op = "connect" // connect: Addr is the peer
	OpBind    Op = "bind"    // bind: Addr is the local address
	OpListen  Op = "listen"  // listen
	OpAccept  Op = "accept"  // accept, accept4
	OpSend    Op = "send"    // sendto, sendmsg, sendmmsg: Addr if one was given
	OpKill    Op = "kill"    // kill, tkill, tgkill, pidfd_send_signal
	OpPtrace  Op = "ptrace"  // ptrace, process_vm_readv, process_vm_writev
	OpMount   Op = "mount"   // mount, umount2, pivot_root, move_mount, fsopen …
	OpNS      Op = "ns"      // unshare, setns
	OpLimit   Op = "limit"   // setrlimit, and prlimit64 that sets
	OpMemfd   Op = "memfd"   // memfd_create
	OpRefused Op = "refused" // seccomp, io_uring_*: a filter answered in the kernel's place
	OpOther   Op = "other"
)

// Record is one finished system call, or the end of a task, as a tracer saw it.
// A call that never returned (its task was killed in it) is a Record with
// Unfinished set. The JSON form is one line of trace.jsonl.
type Record struct {
	// Seq numbers the run's records from 1, in the order of the tracer's output.
	Seq uint64 `json:"seq"`
	// Time is when the call was entered, in nanoseconds of the run's clock.
	Time time.Duration `json:"t"`
	// Tid is the calling task in the tracer's pid namespace.
	Tid int `json:"tid"`
	// Call is the kernel's name of the call ("openat"), or "exit" and "signal".
	Call string `json:"call"`
	// Op is the call's class.
	Op Op `json:"op"`
	// Path is the object's absolute path: the descriptor's own where the kernel
	// named one (Real), else the argument joined to its directory and cleaned. What
	// has no path has the kernel's name ("socket:[123]", "pipe:[123]"). It begins at the
	// top of the caller's mounts, whatever root directory the caller has (chroot),
	// and names a file as that mount namespace does. A relative Path means that the
	// caller's directory was not known.
	Path string `json:"path,omitempty"`
	// Given is the argument as passed, where it differs from Path.
	Given string `json:"given,omitempty"`
	// Real says that Path is the kernel's answer, not the caller's word.
	Real bool `json:"real,omitempty"`
	// To is the second path of rename and link.
	To string `json:"to,omitempty"`
	// Argv is exec's argument list, bounded by the tracer.
	Argv []string `json:"argv,omitempty"`
	// Cwd is the directory in which an OpExec was called, named as Path is, "" where
	// it was not known.
	Cwd string `json:"cwd,omitempty"`
	// Exe is the file that the kernel runs from an OpExec that succeeded on, by its
	// real path: what symbolic links led to, and for a script its interpreter. Only
	// the kernel itself can say it (eBPF): strace leaves it empty, since a path that
	// is looked up later may lead elsewhere by then.
	Exe string `json:"exe,omitempty"`
	// Script says that not the caller named Exe but Path's own beginning ("#!"), or a
	// format of binaries that is registered with the kernel. It goes with Exe.
	Script bool `json:"script,omitempty"`
	// Passed is what the descriptors refer to that a message carried to another
	// process, or brought from one (SCM_RIGHTS), in their order: at most MaxPassed.
	Passed []string `json:"passed,omitempty"`
	// Flags are the symbolic flags, for OpOpen "O_RDONLY|O_CLOEXEC".
	Flags string `json:"flags,omitempty"`
	// Addr is the peer or local address of a socket call.
	Addr *Addr `json:"addr,omitempty"`
	// FD is the descriptor used or returned, -1 for none.
	FD int `json:"fd"`
	// Child is the task that OpFork made, 0 for none.
	Child int `json:"child,omitempty"`
	// Pid is the target of OpKill, OpPtrace and OpLimit, in the tracer's pid
	// namespace where the tracer could tell: 0 is the caller or its group, -1 everybody.
	Pid int `json:"pid,omitempty"`
	// Ret is the raw return value; -1 where Err is set.
	Ret int64 `json:"ret"`
	// Err is the errno's name ("ENOENT"), or "" when the call succeeded.
	Err string `json:"err,omitempty"`
	// Injected says that a filter refused the call in the kernel's place.
	Injected bool `json:"injected,omitempty"`
	// Unfinished says that the call never returned.
	Unfinished bool `json:"unfinished,omitempty"`
}

// MaxPassed bounds the descriptors of one call's messages that a record names.
const MaxPassed = 64

// OK reports whether the call succeeded.
func (r *Record) OK() bool { return r.Err == "" && !r.Unfinished }

// Addr is a socket address.
type Addr struct {
	// Family is "inet", "inet6", "unix", "netlink" … (AF_ without the prefix, lower case).
	Family string `json:"family"`
	// Host is the IP in its canonical text, or a unix socket's path ("@name" when abstract).
	Host string `json:"host,omitempty"`
	// Port is the TCP or UDP port, 0 for none.
	Port int `json:"port,omitempty"`
}
