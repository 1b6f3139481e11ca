package bpf

import (
	"runtime"
	"strconv"
)

// The names of flags and values, in the kernel's own words and in the order in
// which strace prints them.
var (
	fileTypes = parse("S_IFSOCK=0140000 S_IFLNK=0120000 S_IFREG=0100000 S_IFBLK=0060000 S_IFDIR=0040000 S_IFCHR=0020000 S_IFIFO=0010000")
	fileBits  = parse("S_ISUID=04000 S_ISGID=02000 S_ISVTX=01000")
	access    = parse("F_OK=0 R_OK=4 W_OK=2 X_OK=1")
	openModes = parse("O_RDONLY=0 O_WRONLY=1 O_RDWR=2 O_ACCMODE=3")
	openFlags = parse(openNames[runtime.GOARCH == "arm64"])
	atFlags   = parse("AT_SYMLINK_NOFOLLOW=0x100 AT_REMOVEDIR=0x200 AT_SYMLINK_FOLLOW=0x400 AT_NO_AUTOMOUNT=0x800 AT_EMPTY_PATH=0x1000 AT_RECURSIVE=0x8000")
	atEaccess = parse("AT_SYMLINK_NOFOLLOW=0x100 AT_EACCESS=0x200 AT_EMPTY_PATH=0x1000")
	atStatx   = parse("AT_STATX_SYNC_AS_STAT=0 AT_SYMLINK_NOFOLLOW=0x100 AT_NO_AUTOMOUNT=0x800 AT_EMPTY_PATH=0x1000 AT_STATX_FORCE_SYNC=0x2000 AT_STATX_DONT_SYNC=0x4000")
	renames   = parse("RENAME_NOREPLACE=1 RENAME_EXCHANGE=2 RENAME_WHITEOUT=4")
	allocate  = parse("FALLOC_FL_KEEP_SIZE=1 FALLOC_FL_PUNCH_HOLE=2 FALLOC_FL_NO_HIDE_STALE=4 FALLOC_FL_COLLAPSE_RANGE=8 FALLOC_FL_ZERO_RANGE=16 FALLOC_FL_INSERT_RANGE=32 FALLOC_FL_UNSHARE_RANGE=64")
	sockTypes = parse("SOCK_STREAM=1 SOCK_DGRAM=2 SOCK_RAW=3 SOCK_RDM=4 SOCK_SEQPACKET=5 SOCK_DCCP=6 SOCK_PACKET=10")
	sockFlags = parse("SOCK_CLOEXEC=0x80000 SOCK_NONBLOCK=0x800")
	ipProtos  = parse("IPPROTO_IP=0 IPPROTO_ICMP=1 IPPROTO_IGMP=2 IPPROTO_IPIP=4 IPPROTO_TCP=6 IPPROTO_EGP=8 IPPROTO_PUP=12 IPPROTO_UDP=17 " +
		"IPPROTO_IDP=22 IPPROTO_TP=29 IPPROTO_DCCP=33 IPPROTO_IPV6=41 IPPROTO_ROUTING=43 IPPROTO_FRAGMENT=44 IPPROTO_RSVP=46 IPPROTO_GRE=47 " +
		"IPPROTO_ESP=50 IPPROTO_AH=51 IPPROTO_ICMPV6=58 IPPROTO_SCTP=132 IPPROTO_UDPLITE=136 IPPROTO_RAW=255 IPPROTO_MPTCP=262")
	netlinks = parse("NETLINK_ROUTE=0 NETLINK_UNUSED=1 NETLINK_USERSOCK=2 NETLINK_FIREWALL=3 NETLINK_SOCK_DIAG=4 NETLINK_NFLOG=5 NETLINK_XFRM=6 " +
		"NETLINK_SELINUX=7 NETLINK_ISCSI=8 NETLINK_AUDIT=9 NETLINK_FIB_LOOKUP=10 NETLINK_CONNECTOR=11 NETLINK_NETFILTER=12 NETLINK_IP6_FW=13 " +
		"NETLINK_DNRTMSG=14 NETLINK_KOBJECT_UEVENT=15 NETLINK_GENERIC=16 NETLINK_SCSITRANSPORT=18 NETLINK_ECRYPTFS=19 NETLINK_RDMA=20 NETLINK_CRYPTO=21 NETLINK_SMC=22")
	messages = parse("MSG_OOB=1 MSG_PEEK=2 MSG_DONTROUTE=4 MSG_CTRUNC=8 MSG_PROBE=0x10 MSG_TRUNC=0x20 MSG_DONTWAIT=0x40 MSG_EOR=0x80 MSG_WAITALL=0x100 " +
		"MSG_FIN=0x200 MSG_SYN=0x400 MSG_CONFIRM=0x800 MSG_RST=0x1000 MSG_ERRQUEUE=0x2000 MSG_NOSIGNAL=0x4000 MSG_MORE=0x8000 MSG_WAITFORONE=0x10000 " +
		"MSG_SENDPAGE_NOTLAST=0x20000 MSG_BATCH=0x40000 MSG_EOF=0x200 MSG_ZEROCOPY=0x4000000 MSG_FASTOPEN=0x20000000 MSG_CMSG_CLOEXEC=0x40000000")
	clones = parse("CLONE_NEWTIME=0x80 CLONE_VM=0x100 CLONE_FS=0x200 CLONE_FILES=0x400 CLONE_SIGHAND=0x800 CLONE_PIDFD=0x1000 CLONE_PTRACE=0x2000 CLONE_VFORK=0x4000 " +
		"CLONE_PARENT=0x8000 CLONE_THREAD=0x10000 CLONE_NEWNS=0x20000 CLONE_SYSVSEM=0x40000 CLONE_SETTLS=0x80000 CLONE_PARENT_SETTID=0x100000 " +
		"CLONE_CHILD_CLEARTID=0x200000 CLONE_DETACHED=0x400000 CLONE_UNTRACED=0x800000 CLONE_CHILD_SETTID=0x1000000 CLONE_NEWCGROUP=0x2000000 " +
		"CLONE_NEWUTS=0x4000000 CLONE_NEWIPC=0x8000000 CLONE_NEWUSER=0x10000000 CLONE_NEWPID=0x20000000 CLONE_NEWNET=0x40000000 CLONE_IO=0x80000000 " +
		"CLONE_CLEAR_SIGHAND=0x100000000 CLONE_INTO_CGROUP=0x200000000")
	ptraces = parse("PTRACE_TRACEME=0 PTRACE_PEEKTEXT=1 PTRACE_PEEKDATA=2 PTRACE_PEEKUSER=3 PTRACE_POKETEXT=4 PTRACE_POKEDATA=5 PTRACE_POKEUSER=6 PTRACE_CONT=7 " +
		"PTRACE_KILL=8 PTRACE_SINGLESTEP=9 PTRACE_GETREGS=12 PTRACE_SETREGS=13 PTRACE_GETFPREGS=14 PTRACE_SETFPREGS=15 PTRACE_ATTACH=16 PTRACE_DETACH=17 " +
		"PTRACE_SYSCALL=24 PTRACE_SETOPTIONS=0x4200 PTRACE_GETEVENTMSG=0x4201 PTRACE_GETSIGINFO=0x4202 PTRACE_SETSIGINFO=0x4203 PTRACE_GETREGSET=0x4204 " +
		"PTRACE_SETREGSET=0x4205 PTRACE_SEIZE=0x4206 PTRACE_INTERRUPT=0x4207 PTRACE_LISTEN=0x4208 PTRACE_GET_SYSCALL_INFO=0x420e")
	mounts = parse("MS_RDONLY=1 MS_NOSUID=2 MS_NODEV=4 MS_NOEXEC=8 MS_SYNCHRONOUS=16 MS_REMOUNT=32 MS_MANDLOCK=64 MS_DIRSYNC=128 MS_NOSYMFOLLOW=256 " +
		"MS_NOATIME=1024 MS_NODIRATIME=2048 MS_BIND=4096 MS_MOVE=8192 MS_REC=16384 MS_SILENT=32768 MS_POSIXACL=65536 MS_UNBINDABLE=131072 MS_PRIVATE=262144 " +
		"MS_SLAVE=524288 MS_SHARED=1048576 MS_RELATIME=2097152 MS_KERNMOUNT=4194304 MS_I_VERSION=8388608 MS_STRICTATIME=16777216 MS_LAZYTIME=33554432")
	umounts = parse("MNT_FORCE=1 MNT_DETACH=2 MNT_EXPIRE=4 UMOUNT_NOFOLLOW=8")
	limits  = parse("RLIMIT_CPU=0 RLIMIT_FSIZE=1 RLIMIT_DATA=2 RLIMIT_STACK=3 RLIMIT_CORE=4 RLIMIT_RSS=5 RLIMIT_NPROC=6 RLIMIT_NOFILE=7 RLIMIT_MEMLOCK=8 " +
		"RLIMIT_AS=9 RLIMIT_LOCKS=10 RLIMIT_SIGPENDING=11 RLIMIT_MSGQUEUE=12 RLIMIT_NICE=13 RLIMIT_RTPRIO=14 RLIMIT_RTTIME=15")
	memfds     = parse("MFD_CLOEXEC=1 MFD_ALLOW_SEALING=2 MFD_HUGETLB=4 MFD_NOEXEC_SEAL=8 MFD_EXEC=16")
	seccomps   = parse("SECCOMP_SET_MODE_STRICT=0 SECCOMP_SET_MODE_FILTER=1 SECCOMP_GET_ACTION_AVAIL=2 SECCOMP_GET_NOTIF_SIZES=3")
	filters    = parse("SECCOMP_FILTER_FLAG_TSYNC=1 SECCOMP_FILTER_FLAG_LOG=2 SECCOMP_FILTER_FLAG_SPEC_ALLOW=4 SECCOMP_FILTER_FLAG_NEW_LISTENER=8 SECCOMP_FILTER_FLAG_TSYNC_ESRCH=16 SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV=32")
	modes      = parse("SECCOMP_MODE_DISABLED=0 SECCOMP_MODE_STRICT=1 SECCOMP_MODE_FILTER=2")
	protection = parse("PROT_NONE=0 PROT_READ=1 PROT_WRITE=2 PROT_EXEC=4 PROT_SEM=8 PROT_GROWSDOWN=0x1000000 PROT_GROWSUP=0x2000000")
	mapTypes   = parse("MAP_FILE=0 MAP_SHARED=1 MAP_PRIVATE=2 MAP_SHARED_VALIDATE=3")
	maps       = parse("MAP_FIXED=0x10 MAP_ANONYMOUS=0x20 MAP_32BIT=0x40 MAP_NORESERVE=0x4000 MAP_POPULATE=0x8000 MAP_NONBLOCK=0x10000 MAP_GROWSDOWN=0x100 MAP_DENYWRITE=0x800 " +
		"MAP_EXECUTABLE=0x1000 MAP_LOCKED=0x2000 MAP_STACK=0x20000 MAP_HUGETLB=0x40000 MAP_SYNC=0x80000 MAP_FIXED_NOREPLACE=0x100000")
	vsocks = parse("VMADDR_CID_HYPERVISOR=0 VMADDR_CID_LOCAL=1 VMADDR_CID_HOST=2 VMADDR_CID_ANY=0xffffffff")
	bpfs   = parse("BPF_MAP_CREATE=0 BPF_MAP_LOOKUP_ELEM=1 BPF_MAP_UPDATE_ELEM=2 BPF_MAP_DELETE_ELEM=3 BPF_MAP_GET_NEXT_KEY=4 BPF_PROG_LOAD=5 BPF_OBJ_PIN=6 " +
		"BPF_OBJ_GET=7 BPF_PROG_ATTACH=8 BPF_PROG_DETACH=9 BPF_PROG_TEST_RUN=10 BPF_PROG_GET_NEXT_ID=11 BPF_MAP_GET_NEXT_ID=12 BPF_PROG_GET_FD_BY_ID=13 " +
		"BPF_MAP_GET_FD_BY_ID=14 BPF_OBJ_GET_INFO_BY_FD=15 BPF_PROG_QUERY=16 BPF_RAW_TRACEPOINT_OPEN=17 BPF_BTF_LOAD=18 BPF_BTF_GET_FD_BY_ID=19 BPF_LINK_CREATE=28")
	splices = parse("SPLICE_F_MOVE=1 SPLICE_F_NONBLOCK=2 SPLICE_F_MORE=4 SPLICE_F_GIFT=8")
)

// openNames are what open's flags are called: arm64 has its own values for four.
var openNames = map[bool]string{
	false: openFirst + "O_DIRECT=0x4000 O_LARGEFILE=0x8000 O_NOFOLLOW=0x20000 " + openLast + "O_TMPFILE=0x410000 __O_TMPFILE=0x400000 O_DIRECTORY=0x10000",
	true:  openFirst + "O_DIRECT=0x10000 O_LARGEFILE=0x20000 O_NOFOLLOW=0x8000 " + openLast + "O_TMPFILE=0x404000 __O_TMPFILE=0x400000 O_DIRECTORY=0x4000",
}

const (
	openFirst = "O_CREAT=0x40 O_EXCL=0x80 O_NOCTTY=0x100 O_TRUNC=0x200 O_APPEND=0x400 O_NONBLOCK=0x800 O_SYNC=0x101000 __O_SYNC=0x100000 O_DSYNC=0x1000 FASYNC=0x2000 "
	openLast  = "O_NOATIME=0x40000 O_CLOEXEC=0x80000 O_PATH=0x200000 "
)

func openText(v uint64) string {
	v = uint64(uint32(v))
	s := one(v&3, openModes)
	if v &^= 3; v != 0 {
		s += "|" + bits(v, openFlags)
	}
	return s
}

func cloneText(v uint64) string {
	s := bits(v&^0xff, clones)
	if sig := signalName(v & 0x7f); sig != "" {
		if s != "" {
			s += "|"
		}
		s += sig
	}
	return s
}

func sockText(v uint64) string {
	s := one(v&0xf, sockTypes)
	if rest := v &^ 0xf; rest != 0 {
		s += "|" + bits(rest, sockFlags)
	}
	return s
}

func mapText(v uint64) string {
	s := one(v&3, mapTypes)
	if rest := v &^ 3; rest != 0 {
		s += "|" + bits(rest, maps)
	}
	return s
}

func flagsOf(names []bit) func(uint64) string {
	return func(v uint64) string { return bits(uint64(uint32(v)), names) }
}

func nameOf(names []bit) func(uint64) string {
	return func(v uint64) string { return one(uint64(uint32(v)), names) }
}

// flagArgs say how the arguments of a call that are flags are written, by the
// argument's place.
var flagArgs = map[string]map[int]func(uint64) string{
	"open": {1: openText}, "openat": {2: openText}, "open_by_handle_at": {2: openText},
	"access": {1: flagsOf(access)}, "faccessat": {2: flagsOf(access)}, "faccessat2": {2: flagsOf(access), 3: flagsOf(atEaccess)},
	"execveat": {4: flagsOf(atFlags)}, "linkat": {4: flagsOf(atFlags)}, "unlinkat": {2: flagsOf(atFlags)},
	"fchownat": {4: flagsOf(atFlags)}, "utimensat": {3: flagsOf(atFlags)}, "newfstatat": {3: flagsOf(atFlags)},
	"fstatat64": {3: flagsOf(atFlags)}, "statx": {2: flagsOf(atStatx)},
	"setxattrat": {2: flagsOf(atFlags)}, "removexattrat": {2: flagsOf(atFlags)},
	"chmod": {1: octal}, "fchmod": {1: octal}, "fchmodat": {2: octal}, "fchmodat2": {2: octal, 3: flagsOf(atFlags)},
	"mknod": {1: mode}, "mknodat": {2: mode},
	"renameat2": {4: flagsOf(renames)}, "fallocate": {1: flagsOf(allocate)},
	"socket": {1: sockText}, "socketpair": {1: sockText}, "accept4": {3: flagsOf(sockFlags)},
	"sendto": {3: flagsOf(messages)}, "sendmsg": {2: flagsOf(messages)}, "sendmmsg": {3: flagsOf(messages)},
	"recvfrom": {3: flagsOf(messages)}, "recvmsg": {2: flagsOf(messages)}, "recvmmsg": {3: flagsOf(messages)},
	"kill": {1: signalName}, "tkill": {1: signalName}, "rt_sigqueueinfo": {1: signalName}, "tgkill": {2: signalName},
	"rt_tgsigqueueinfo": {2: signalName}, "pidfd_send_signal": {1: signalName},
	"ptrace": {0: nameOf(ptraces)}, "mount": {3: flagsOf(mounts)}, "umount2": {1: flagsOf(umounts)},
	"unshare": {0: flagsOf(clones)}, "setns": {1: flagsOf(clones)},
	"setrlimit": {0: nameOf(limits)}, "prlimit64": {1: nameOf(limits)},
	"memfd_create": {1: flagsOf(memfds)}, "seccomp": {0: nameOf(seccomps), 1: flagsOf(filters)},
	"mmap": {2: flagsOf(protection), 3: mapText}, "mmap2": {2: flagsOf(protection), 3: mapText},
	"splice": {5: flagsOf(splices)}, "tee": {3: flagsOf(splices)},
}

// flagText writes one argument.
func flagText(call string, i int, args *[8]uint64) string {
	v := args[i]
	if call == "socket" || call == "socketpair" {
		if i == 2 {
			return protocol(args[0], v)
		}
	}
	if call == "bpf" {
		return nameOf(bpfs)(v)
	}
	if f := flagArgs[call][i]; f != nil {
		return f(v)
	}
	if call == "prctl" {
		if i == 0 {
			return nameOf(prctls)(v)
		}
		if i == 1 && args[0] == 22 {
			return nameOf(modes)(v)
		}
		return ""
	}
	if v == 0 {
		return ""
	}
	return "0x" + strconv.FormatUint(v, 16)
}

// protocol names a socket's protocol, which its family says the meaning of.
func protocol(fam, v uint64) string {
	switch familyName(fam) {
	case "inet", "inet6":
		return nameOf(ipProtos)(v)
	case "netlink":
		return nameOf(netlinks)(v)
	case "packet":
		return ""
	}
	if v == 0 {
		return ""
	}
	return "0x" + strconv.FormatUint(v, 16)
}

var prctls = parse("PR_SET_PDEATHSIG=1 PR_GET_PDEATHSIG=2 PR_GET_DUMPABLE=3 PR_SET_DUMPABLE=4 PR_GET_UNALIGN=5 PR_SET_UNALIGN=6 " +
	"PR_GET_KEEPCAPS=7 PR_SET_KEEPCAPS=8 PR_GET_FPEMU=9 PR_SET_FPEMU=10 PR_GET_FPEXC=11 PR_SET_FPEXC=12 PR_GET_TIMING=13 " +
	"PR_SET_TIMING=14 PR_SET_NAME=15 PR_GET_NAME=16 PR_GET_ENDIAN=19 PR_SET_ENDIAN=20 PR_GET_SECCOMP=21 PR_SET_SECCOMP=22 " +
	"PR_CAPBSET_READ=23 PR_CAPBSET_DROP=24 PR_GET_TSC=25 PR_SET_TSC=26 PR_GET_SECUREBITS=27 PR_SET_SECUREBITS=28 " +
	"PR_SET_TIMERSLACK=29 PR_GET_TIMERSLACK=30 PR_TASK_PERF_EVENTS_DISABLE=31 PR_TASK_PERF_EVENTS_ENABLE=32 PR_MCE_KILL=33 " +
	"PR_MCE_KILL_GET=34 PR_SET_MM=35 PR_SET_CHILD_SUBREAPER=36 PR_GET_CHILD_SUBREAPER=37 PR_SET_NO_NEW_PRIVS=38 " +
	"PR_GET_NO_NEW_PRIVS=39 PR_GET_TID_ADDRESS=40 PR_SET_THP_DISABLE=41 PR_GET_THP_DISABLE=42 PR_MPX_ENABLE_MANAGEMENT=43 " +
	"PR_MPX_DISABLE_MANAGEMENT=44 PR_SET_FP_MODE=45 PR_GET_FP_MODE=46 PR_CAP_AMBIENT=47 PR_SET_SYSCALL_USER_DISPATCH=59 " +
	"PR_SCHED_CORE=62 PR_SET_VMA=0x53564d41 PR_SET_PTRACER=0x59616d61")
