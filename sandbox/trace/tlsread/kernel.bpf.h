// What the programs know of the kernel and of its tasks.

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
struct ns_common { u32 inum; };
struct pid_namespace { struct ns_common ns; };
struct upid { s32 nr; struct pid_namespace *ns; };
struct pid { u32 level; struct upid numbers[1]; };
struct in6_addr { u8 bytes[16]; };
struct sock_common {
	u32 skc_daddr, skc_rcv_saddr;
	u16 skc_dport, skc_num, skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};
struct sock { struct sock_common __sk_common; u16 sk_protocol; };
struct socket { struct sock *sk; };
struct super_block { u32 s_dev; };
struct inode { u16 i_mode; u64 i_ino; struct super_block *i_sb; };
struct file { struct inode *f_inode; void *private_data; };
struct linux_binprm { struct file *file; };
struct fdtable { u32 max_fds; struct file **fd; };
struct files_struct { struct fdtable *fdt; };
struct task_struct { struct pid *thread_pid; struct files_struct *files; };
#pragma clang attribute pop

// The registers of a task in user mode begin with these on each kernel.
#if defined(__TARGET_ARCH_arm64)
struct uregs { u64 regs[31], sp, pc, pstate; };
#define ARG(r, i) ((r)->regs[i])
#define RESULT(r) ((r)->regs[0])
#define GO_ARG(r, i) ((r)->regs[i])
#define GOROUTINE(r) ((r)->regs[28])
#define FRAME(r) ((r)->sp)
#define FRAME_AT_RETURN(r) ((r)->sp)
#define MAPPED_AS(r) ((r)->regs[2])
#define MAPPED_FD(r) ((r)->regs[4])
#define NUMBER(r) ((r)->regs[8])
enum { NR_WRITE = 64, NR_WRITEV = 66, NR_SENDTO = 206, NR_SENDMSG = 211, NR_MMAP = 222 };
#else
struct uregs { u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss; };
#define ARG0(r) ((r)->di)
#define ARG1(r) ((r)->si)
#define ARG2(r) ((r)->dx)
#define ARG3(r) ((r)->cx)
#define ARG(r, i) (ARG##i(r))
#define RESULT(r) ((r)->ax)
#define GO_ARG0(r) ((r)->ax)
#define GO_ARG1(r) ((r)->bx)
#define GO_ARG2(r) ((r)->cx)
#define GO_ARG3(r) ((r)->di)
#define GO_ARG(r, i) (GO_ARG##i(r))
#define GOROUTINE(r) ((r)->r14)
#define FRAME(r) ((r)->sp)
#define FRAME_AT_RETURN(r) ((r)->sp - 8) // the return address was popped
#define MAPPED_AS(r) ((r)->dx)
#define MAPPED_FD(r) ((r)->r8)
#define NUMBER(r) ((r)->orig_ax)
enum { NR_WRITE = 1, NR_WRITEV = 20, NR_SENDTO = 44, NR_SENDMSG = 46, NR_MMAP = 9 };
#endif

#define AF_INET 2
#define AF_INET6 10
#define PROTO_TCP 6
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000

// A connection's two ends, the ports in the order of this machine.
struct ends {
	u8 source[16], dest[16];
	u16 sport, dport, family, pad;
};

// number finds the calling task's number in the pid namespace of this inode, 0 if it is
// not in there nor below.
__noinline s32 number(u32 inode)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(t, thread_pid);
	u32 level = BPF_CORE_READ(pid, level);
	struct upid u;
	for (u32 i = 0; i < 33 && i <= level; i++) {
		if (bpf_probe_read_kernel(&u, sizeof(u), (void *)pid + bpf_core_field_offset(struct pid, numbers) + i * sizeof(u)))
			return 0;
		if (BPF_CORE_READ(u.ns, ns.inum) == inode)
			return u.nr;
	}
	return 0;
}

// file_of finds what a descriptor of the calling task is, 0 for nothing.
static __always_inline struct file *file_of(u32 fd)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct fdtable *table = BPF_CORE_READ(t, files, fdt);
	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	struct file **slots = BPF_CORE_READ(table, fd), *f = 0;
	bpf_probe_read_kernel(&f, sizeof(f), slots + fd);
	return f;
}

// ends_of finds the ends of the TCP connection that a descriptor of the calling task is.
static __always_inline u32 ends_of(u32 fd, struct ends *e)
{
	struct file *f = file_of(fd);
	if (!f || (BPF_CORE_READ(f, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return 0;
	struct socket *socket = BPF_CORE_READ(f, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);
	if (!sk || BPF_CORE_READ(sk, sk_protocol) != PROTO_TCP)
		return 0;
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family), port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	e->sport = BPF_CORE_READ(sk, __sk_common.skc_num);
	e->dport = port << 8 | port >> 8;
	if (family == AF_INET) {
		BPF_CORE_READ_INTO((u32 *)e->source, sk, __sk_common.skc_rcv_saddr);
		BPF_CORE_READ_INTO((u32 *)e->dest, sk, __sk_common.skc_daddr);
	} else if (family == AF_INET6) {
		BPF_CORE_READ_INTO((struct in6_addr *)e->source, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO((struct in6_addr *)e->dest, sk, __sk_common.skc_v6_daddr);
	} else {
		return 0;
	}
	e->family = family;
	return 1;
}
