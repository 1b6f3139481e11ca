package seccomp

import (
	"fmt"
	"slices"
	"strings"
)

// Policy says what is refused beside what always is.
type Policy struct {
	// AllowUserNS lets the target make user namespaces and install filters of its
	// own, as the sandboxes of browsers and bubblewrap do.
	AllowUserNS bool
	// NoReserve keeps the target from reserving room on a disk by fallocate and its like: where
	// its file systems have no bound of their own, only what is written is counted. The kernel
	// answers as for a file system that cannot reserve, which programs expect, so nobody is told.
	NoReserve bool
}

// Call is a refused call as the kernel hands it over.
type Call struct {
	// Arch is the AUDIT_ARCH of the entry, NR the call's number there.
	Arch uint32
	NR   uint32
	Args [6]uint64
}

// Refusal says what a refused call was and what it is answered with.
type Refusal struct {
	// Name is the kernel's name of the call, or the architecture's for calls of
	// another one ("i386", "x32", "arm").
	Name string
	// Args are the arguments that the refusal depends on, "" for none.
	Args string
	// Errno is the name of the error, such as "EPERM".
	Errno string
}

// The bits of clone's and unshare's flags, from linux/sched.h.
const cloneNewUser = 0x10000000

// The families of sockets, from linux/socket.h.
const (
	familyUnix    = 1
	familyInet    = 2
	familyInet6   = 10
	familyNetlink = 16
)

const (
	netlinkRoute = 0
	setSeccomp   = 22 // PR_SET_SECCOMP
)

// The requests of ioctl that do what fallocate does, from linux/falloc.h.
const (
	resvSpace   = 0x40305828
	resvSpace64 = 0x4030582a
	zeroRange   = 0x40305839
)

// comparison is how a condition looks at an argument. The kernel takes all
// arguments that are compared here as 32-bit numbers, so only that half counts.
type comparison int

const (
	anyBit comparison = iota // one of the bits of the value is set
	noneOf                   // it is none of the values
	oneOf                    // it is one of the values
)

// condition is a test of one argument.
type condition struct {
	arg    int
	is     comparison
	values []uint32
}

func (c *condition) holds(args *[6]uint64) bool {
	v := uint32(args[c.arg])
	switch c.is {
	case anyBit:
		return v&c.values[0] != 0
	case noneOf:
		return !slices.Contains(c.values, v)
	}
	return slices.Contains(c.values, v)
}

// rule refuses one call where all its conditions hold.
type rule struct {
	name  string
	errno string
	when  []condition
	// describe says which arguments mattered; nil where none did.
	describe func(args *[6]uint64) string
	// userNS marks what Policy.AllowUserNS allows.
	userNS bool
	// reserves marks what Policy.NoReserve refuses.
	reserves bool
}

// rules are the refused calls. The errno is what a kernel says that was built or
// configured without the thing, so that programs fall back as they would there.
var rules = slices.Concat(
	always("EPERM", "bpf perf_event_open userfaultfd open_by_handle_at kexec_load kexec_file_load init_module finit_module delete_module"),
	always("ENOSYS", "add_key keyctl request_key io_uring_setup io_uring_enter io_uring_register"),
	[]rule{
		{name: "seccomp", errno: "ENOSYS", userNS: true},
		{name: "prctl", errno: "EINVAL", when: []condition{{0, oneOf, []uint32{setSeccomp}}}, describe: setsFilter, userNS: true},
		{name: "unshare", errno: "EPERM", when: []condition{{0, anyBit, []uint32{cloneNewUser}}}, describe: namespaces, userNS: true},
		{name: "clone", errno: "EPERM", when: []condition{{0, anyBit, []uint32{cloneNewUser}}}, describe: namespaces, userNS: true},
		// Its flags lie in memory, where no filter can read them: the C libraries fall back to clone.
		{name: "clone3", errno: "ENOSYS", userNS: true},
		{name: "socket", errno: "EAFNOSUPPORT", when: []condition{{0, noneOf, []uint32{familyUnix, familyInet, familyInet6, familyNetlink}}}, describe: family},
		{name: "socket", errno: "EPROTONOSUPPORT", when: []condition{{0, oneOf, []uint32{familyNetlink}}, {2, noneOf, []uint32{netlinkRoute}}}, describe: family},
		{name: "socketpair", errno: "EAFNOSUPPORT", when: []condition{{0, noneOf, []uint32{familyUnix}}}, describe: family},
		{name: "fallocate", errno: "EOPNOTSUPP", reserves: true},
		{name: "ioctl", errno: "EOPNOTSUPP", when: []condition{{1, oneOf, []uint32{resvSpace, resvSpace64, zeroRange}}}, reserves: true},
	},
)

func always(errno, names string) []rule {
	var out []rule
	for _, name := range strings.Fields(names) {
		out = append(out, rule{name: name, errno: errno})
	}
	return out
}

// errForeign answers the calls of other architectures.
const errForeign = "ENOSYS"

func (p Policy) rules() []rule {
	var out []rule
	for _, r := range rules {
		if r.userNS && p.AllowUserNS || r.reserves && !p.NoReserve {
			continue
		}
		out = append(out, r)
	}
	return out
}

// refuses returns the rule that refuses a call of this machine's architecture,
// nil for none. It is what the filter decides, for those that read it.
func (p Policy) refuses(numbers map[string]uint32, c *Call) *rule {
	list := p.rules()
	for i := range list {
		r := &list[i]
		if nr, ok := numbers[r.name]; !ok || nr != c.NR {
			continue
		}
		if !slices.ContainsFunc(r.when, func(w condition) bool { return !w.holds(&c.Args) }) {
			return r
		}
	}
	return nil
}

func setsFilter(*[6]uint64) string { return "PR_SET_SECCOMP" }

// namespaceFlags are the namespaces of clone and unshare, from linux/sched.h.
var namespaceFlags = []struct {
	bit  uint64
	name string
}{
	{cloneNewUser, "CLONE_NEWUSER"}, {0x00020000, "CLONE_NEWNS"}, {0x20000000, "CLONE_NEWPID"}, {0x40000000, "CLONE_NEWNET"},
	{0x08000000, "CLONE_NEWIPC"}, {0x04000000, "CLONE_NEWUTS"}, {0x02000000, "CLONE_NEWCGROUP"},
}

func namespaces(args *[6]uint64) string { return namespaceText(args[0]) }

// namespaceText names the namespaces in flags.
func namespaceText(flags uint64) string {
	var out []string
	for _, f := range namespaceFlags {
		if flags&f.bit != 0 {
			out = append(out, f.name)
		}
	}
	return strings.Join(out, "|")
}

// familyNames are the families, from linux/socket.h.
var familyNames = map[uint32]string{
	3: "AX25", 4: "IPX", 5: "APPLETALK", 6: "NETROM", 7: "BRIDGE", 8: "ATMPVC", 9: "X25", 11: "ROSE", 12: "DECnet", 14: "SECURITY",
	15: "KEY", 17: "PACKET", 18: "ASH", 19: "ECONET", 20: "ATMSVC", 21: "RDS", 23: "IRDA", 24: "PPPOX", 25: "WANPIPE", 26: "LLC",
	27: "IB", 28: "MPLS", 29: "CAN", 30: "TIPC", 31: "BLUETOOTH", 32: "IUCV", 33: "RXRPC", 34: "ISDN", 35: "PHONET", 36: "IEEE802154",
	37: "CAIF", 38: "ALG", 39: "NFC", 40: "VSOCK", 41: "KCM", 42: "QIPCRTR", 43: "SMC", 44: "XDP", 45: "MCTP",
	familyUnix: "UNIX", familyInet: "INET", familyInet6: "INET6", familyNetlink: "NETLINK",
}

// netlinkNames are the protocols of netlink, from linux/netlink.h.
var netlinkNames = map[uint32]string{
	2: "USERSOCK", 4: "SOCK_DIAG", 5: "NFLOG", 6: "XFRM", 7: "SELINUX", 8: "ISCSI", 9: "AUDIT", 10: "FIB_LOOKUP", 11: "CONNECTOR",
	12: "NETFILTER", 14: "DNRTMSG", 15: "KOBJECT_UEVENT", 16: "GENERIC", 18: "SCSITRANSPORT", 19: "ECRYPTFS", 20: "RDMA", 21: "CRYPTO", 22: "SMC",
}

func family(args *[6]uint64) string {
	f := uint32(args[0])
	out := named("AF_", familyNames, f)
	if f == familyNetlink {
		out += " " + named("NETLINK_", netlinkNames, uint32(args[2]))
	}
	return out
}

// named is a number's name; all numbers without one share a text, so that a
// target cannot fill a table with them.
func named(prefix string, names map[uint32]string, n uint32) string {
	if name, ok := names[n]; ok {
		return prefix + name
	}
	return fmt.Sprint(prefix, "other")
}
