// The kernel's structures, the maps, and what a piece of a stream looks like.

#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// The few fields that are read, found in the running kernel by its BTF.
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct super_block { u32 s_dev; };
struct inode { u16 i_mode; struct super_block *i_sb; unsigned long i_ino; };
struct file { struct inode *f_inode; void *private_data; };
struct fdtable { u32 max_fds; struct file **fd; };
struct files_struct { struct fdtable *fdt; };
struct thread_info { u32 status; unsigned long flags; };
struct task_struct { struct thread_info thread_info; s32 pid, tgid; struct files_struct *files; };
struct ns_common { u32 inum; };
struct net { struct ns_common ns; };
typedef struct { struct net *net; } possible_net_t;
struct in6_addr { u8 bytes[16]; };
struct sock_common {
	u32 skc_daddr, skc_rcv_saddr;
	u16 skc_dport, skc_num, skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};
struct sock { struct sock_common __sk_common; };
struct unix_sock { struct sock *peer; };
struct socket { short type; struct sock *sk; };
#if defined(__TARGET_ARCH_arm64)
struct user_pt_regs { u64 regs[31]; };
struct pt_regs { struct user_pt_regs user_regs; u64 orig_x0; s32 syscallno; };
#else
struct pt_regs { unsigned long r10, dx, si, di, orig_ax; };
#endif
#pragma clang attribute pop

// A kernel from 6.2 on lets a program load a field of what it is told to be a
// structure of the kernel's, where others need a call for each.
extern void *bpf_rdonly_cast(const void *at, u32 type) __ksym __weak;
volatile const u8 older = 0; // do as on a kernel that does not
#define RECENT (!!bpf_rdonly_cast && !older)
#define FIELD(type, at, field) ({ \
	u64 _at = (u64)(at); \
	typeof(((type *)0)->field) _v; \
	if (RECENT) \
		_v = ((type *)bpf_rdonly_cast((void *)_at, bpf_core_type_id_kernel(type)))->field; \
	else \
		bpf_core_read(&_v, sizeof(_v), &((type *)_at)->field); \
	_v; })

// Such a kernel also checks the body of a loop once. Others check each round, so they get fewer.
#define REPEAT(most, few, step, state) do { \
	if (RECENT) \
		bpf_loop(most, step, state, 0); \
	else \
		for (u32 _i = 0; _i < (few) && !step(_i, state); _i++) \
			; \
	} while (0)

// The calls that are watched, by their number. Those from READ on take data in, those from
// SPLICE on move data that no program has in its memory.
enum { WRITE = 1, WRITEV, SENDTO, SENDMSG, READ, READV, RECVFROM, RECVMSG, SPLICE, TEE, SENDFILE, VMSPLICE };
#define NCALLS 512
volatile const u8 calls_of[NCALLS];

volatile const u32 self = 0;      // the process that watches: what it writes is never followed
volatile const u8 only_some = 0;  // only processes of the map "watched" are watched
volatile const u8 any_address = 0; // connections to other machines are watched, too

// What kind of stream a key names.
enum { PIPE = 1, UNIX, TCP };

// key names one direction of one stream: from is who writes into it, to who reads.
// A pipe has its inode and device in from. Unix sockets have their addresses in the
// kernel. TCP has the addresses as IPv6, and the network's namespace where they are
// loopback addresses.
struct key { u8 from[16], to[16]; u16 from_port, to_port; u32 kind, ns, pad; };

// What a piece says besides.
enum { START = 1, FROM_READ = 2, MET = 4, END = 8, FAULT = 16, CUT = 32 };

// head begins each event; the data follow it.
struct head {
	struct key key;
	u64 time;   // when the call began, or for reads when it returned
	u64 at;     // the place of the data in the stream, in bytes since it was followed
	u64 cgroup;
	u64 inode;  // of the socket or the pipe
	u32 size;
	u32 flags;
	u32 missing; // how much behind this piece was not taken, for CUT and FAULT
	u32 pid, tid, uid;
	s32 fd;
	u32 pad;
	char comm[16];
};
const struct head *unused_head __attribute__((unused));

// state is what is known of a stream. written says that its writer is watched, so that
// readers are not listened to; spliced, that some of its data never were in the memory of
// the writer, so that the reader is listened to all the same. Both count from the same byte.
struct state { u64 written_at, read_at, writer, reader; u32 verdict, written, met, fresh, spliced, pad; };
enum { FOLLOW = 1, IGNORE, LOOK_AGAIN };

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct key);
	__type(value, struct state);
} states SEC(".maps");

// What user space has decided of a stream: IGNORE, or LOOK_AGAIN at the start of each message.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct key);
	__type(value, u32);
} verdicts SEC(".maps");

// pending is a followed write under way.
struct pending { struct key key; u64 time, inode, buffer; s32 fd; u32 call; };
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct pending);
} writes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, u32);
} watched SEC(".maps");

struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 1 << 24); } events SEC(".maps");

// Why something is missing.
enum { NO_ROOM, NO_STATE, NO_PROCESS, NLOSSES };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NLOSSES);
	__type(key, u32);
	__type(value, u64);
} losses SEC(".maps");

#define PIECE (16 << 10)
#define LOOKED 1024

// sending is where in a call's buffers the data are. It stands in a map, so that the
// kernel's check of a loop does not try each length.
struct sending {
	u64 vector, base, left; // the next entries, and what is left of this one
	u64 most, done;         // of all the call's data
	u64 entries;
};

struct scratch { struct head h; u8 b[PIECE + 64]; struct sending c; u32 sent; };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct scratch);
} buffers SEC(".maps");

static __always_inline void lose(u32 why)
{
	u64 *n = bpf_map_lookup_elem(&losses, &why);
	if (n)
		(*n)++;
}

static __always_inline struct scratch *buffer(void)
{
	u32 zero = 0;
	return bpf_map_lookup_elem(&buffers, &zero);
}
