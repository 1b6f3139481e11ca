// Which stream a descriptor is, whether a message begins in a buffer, and how pieces are sent.

#pragma once

#include "kernel.bpf.h"

static __always_inline u32 is_compat(struct task_struct *t)
{
#if defined(__TARGET_ARCH_x86)
	return t->thread_info.status & 2;
#else
	return (t->thread_info.flags >> 22) & 1;
#endif
}

// registers finds the first four arguments of a call.
static __always_inline void registers(u64 *args, u64 at)
{
#if defined(__TARGET_ARCH_x86)
	args[0] = FIELD(struct pt_regs, at, di), args[1] = FIELD(struct pt_regs, at, si);
	args[2] = FIELD(struct pt_regs, at, dx), args[3] = FIELD(struct pt_regs, at, r10);
#else
	bpf_probe_read_kernel(args, 4 * sizeof(u64), &((struct pt_regs *)at)->user_regs.regs);
	args[0] = FIELD(struct pt_regs, at, orig_x0);
#endif
}

static __always_inline u64 number_at_exit(u64 at)
{
#if defined(__TARGET_ARCH_x86)
	return FIELD(struct pt_regs, at, orig_ax);
#else
	return (u32)FIELD(struct pt_regs, at, syscallno);
#endif
}

static __always_inline struct file *file_of(struct task_struct *t, u32 fd)
{
	struct files_struct *files = t->files;
	if (!files)
		return 0;
	struct fdtable *table = files->fdt;
	if (fd >= table->max_fds)
		return 0;
	struct file **slots = table->fd, *f = 0;
	bpf_probe_read_kernel(&f, sizeof(f), slots + fd);
	return f;
}

// mapped writes an IPv4 address as IPv6 has it.
static __always_inline void mapped(u8 *to, u32 v4)
{
	to[10] = to[11] = 0xff;
	__builtin_memcpy(to + 12, &v4, sizeof(v4));
}

static __always_inline u32 is_v4(const u8 *a)
{
	u64 high;
	u32 low;
	__builtin_memcpy(&high, a, sizeof(high));
	__builtin_memcpy(&low, a + 8, sizeof(low));
	return !high && low == 0xffff0000;
}

static __always_inline u32 loopback(const u8 *a)
{
	if (is_v4(a))
		return a[12] == 127;
	for (int i = 0; i < 15; i++)
		if (a[i])
			return 0;
	return a[15] == 1;
}

// tcp names a connection. The kernel's port numbers are of two byte orders.
static __always_inline u32 tcp(u64 sk, u16 family, u8 *mine, u8 *theirs, u16 *port, u16 *their_port, struct key *k)
{
	if (family == 2) {
		mapped(mine, FIELD(struct sock, sk, __sk_common.skc_rcv_saddr));
		mapped(theirs, FIELD(struct sock, sk, __sk_common.skc_daddr));
	} else if (bpf_core_field_exists(((struct sock *)0)->__sk_common.skc_v6_daddr)) {
		bpf_probe_read_kernel(mine, 16, (void *)(sk + bpf_core_field_offset(struct sock, __sk_common.skc_v6_rcv_saddr)));
		bpf_probe_read_kernel(theirs, 16, (void *)(sk + bpf_core_field_offset(struct sock, __sk_common.skc_v6_daddr)));
	}
	*port = FIELD(struct sock, sk, __sk_common.skc_num);
	*their_port = __builtin_bswap16(FIELD(struct sock, sk, __sk_common.skc_dport));
	u32 local = loopback(mine) || loopback(theirs);
	if (local)
		k->ns = FIELD(struct net, FIELD(struct sock, sk, __sk_common.skc_net.net), ns.inum);
	return local || any_address || !__builtin_memcmp(mine, theirs, 16);
}

// name finds which stream a file is, seen from its writer or from its reader. It is
// 0 for a file that is none. Sockets carry streams only.
static __always_inline u32 name(struct file *f, u32 writes, struct key *k, u64 *inode)
{
	struct inode *i = FIELD(struct file, f, f_inode);
	u32 kind = FIELD(struct inode, i, i_mode) & 0xf000;
	if (kind != 0x1000 && kind != 0xc000)
		return 0;
	*inode = FIELD(struct inode, i, i_ino);
	if (kind == 0x1000) {
		k->kind = PIPE;
		__builtin_memcpy(k->from, inode, sizeof(*inode));
		struct super_block *sb = FIELD(struct inode, i, i_sb);
		u32 device = FIELD(struct super_block, sb, s_dev);
		__builtin_memcpy(k->from + 8, &device, sizeof(device));
		return 1;
	}
	u64 socket = (u64)FIELD(struct file, f, private_data);
	u32 type = (u16)FIELD(struct socket, socket, type);
	u64 sk = (u64)FIELD(struct socket, socket, sk);
	if (!sk || (type != 1 && type != 5))
		return 0;
	u16 family = FIELD(struct sock, sk, __sk_common.skc_family);
	if (family == 1) {
		u64 peer = (u64)FIELD(struct unix_sock, sk, peer);
		if (!peer)
			return 0;
		k->kind = UNIX;
		__builtin_memcpy(writes ? k->from : k->to, &sk, sizeof(sk));
		__builtin_memcpy(writes ? k->to : k->from, &peer, sizeof(peer));
		return 1;
	}
	if ((family != 2 && family != 10) || type != 1)
		return 0;
	k->kind = TCP;
	if (writes)
		return tcp(sk, family, k->from, k->to, &k->from_port, &k->to_port, k);
	return tcp(sk, family, k->to, k->from, &k->to_port, &k->from_port, k);
}

static __always_inline u64 word_at(struct scratch *s, u64 at)
{
	u64 v;
	asm volatile("%0 &= 1023" : "+r"(at));
	__builtin_memcpy(&v, &s->b[at], sizeof(v));
	return v;
}

#define TEXT8(a, b, c, d, e, f, g, h) ((u64)(a) | (u64)(b) << 8 | (u64)(c) << 16 | (u64)(d) << 24 | (u64)(e) << 32 | (u64)(f) << 40 | (u64)(g) << 48 | (u64)(h) << 56)

struct search { struct scratch *s; u32 end, found, at, open; };

static __always_inline u32 space(u8 c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// enter passes white space and the beginnings of objects and arrays, up to a string.
static long enter(u64 i, struct search *c)
{
	u8 b = word_at(c->s, i);
	if (b == '{' || b == '[') {
		c->open = 1;
		return 0;
	}
	if (space(b))
		return 0;
	c->found = b == '"' && c->open;
	c->at = i;
	return 1;
}

static long compare(u64 i, struct search *c)
{
	if (i + 9 > c->end)
		return 1;
	if (word_at(c->s, i) != TEXT8('"', 'j', 's', 'o', 'n', 'r', 'p', 'c'))
		return 0;
	c->found = 1;
	return 1;
}

// is_http looks for a method or a status line.
static __always_inline u32 is_http(u64 w)
{
	return w == TEXT8('H', 'T', 'T', 'P', '/', '1', '.', '1') || w == TEXT8('H', 'T', 'T', 'P', '/', '1', '.', '0') ||
		(w & 0xffffffffffff) == TEXT8('P', 'O', 'S', 'T', ' ', '/', 0, 0) || (w & 0xffffffffff) == TEXT8('G', 'E', 'T', ' ', '/', 0, 0, 0) ||
		w == TEXT8('D', 'E', 'L', 'E', 'T', 'E', ' ', '/') || w == TEXT8('O', 'P', 'T', 'I', 'O', 'N', 'S', ' ') ||
		(w & 0xffffffffffff) == TEXT8('H', 'E', 'A', 'D', ' ', '/', 0, 0);
}

// begins_member looks for a member of JSON-RPC's at the start of an object: "jsonrpc" may
// stand behind a long result.
static __always_inline u32 begins_member(u64 w)
{
	return w == TEXT8('"', 'r', 'e', 's', 'u', 'l', 't', '"') || w == TEXT8('"', 'm', 'e', 't', 'h', 'o', 'd', '"') ||
		w == TEXT8('"', 'p', 'a', 'r', 'a', 'm', 's', '"') || (w & 0xffffffffffffff) == TEXT8('"', 'e', 'r', 'r', 'o', 'r', '"', 0) ||
		(w & 0xffffffff) == TEXT8('"', 'i', 'd', '"', 0, 0, 0, 0);
}

// look reports whether a message begins in a buffer of the task's: after white space an
// object or an array with "jsonrpc" in its first bytes, or HTTP.
__noinline u32 look(u64 from, u64 size)
{
	struct scratch *s = buffer();
	if (!s || size < 8)
		return 0;
	if (bpf_probe_read_user(s->b, 8, (void *)from))
		return 0;
	u64 first = word_at(s, 0);
	if (is_http(first))
		return 1;
	u8 c = first;
	if (c != '{' && c != '[' && !space(c))
		return 0;
	u32 n = size > LOOKED ? LOOKED : size;
	__builtin_memset(s->b, 0, 64);
	if (n < 64)
		bpf_probe_read_user(s->b, n & 63, (void *)from);
	else if (bpf_probe_read_user(s->b, n & 2047, (void *)from))
		return 0;
	struct search search = {.s = s, .end = n};
	REPEAT(48, 16, enter, &search);
	if (!search.found)
		return 0;
	if (begins_member(word_at(s, search.at)))
		return 1;
	search.found = 0;
	REPEAT(LOOKED, 512, compare, &search);
	return search.found;
}

// submit sends a piece, or the head alone.
static __always_inline void submit(struct scratch *s, u32 size)
{
	s->h.size = size;
	asm volatile("" : "+r"(size)); // the verifier has to see the bound on this very register
	size &= 2 * PIECE - 1;
	if (size > PIECE)
		return;
	u64 flags = BPF_RB_NO_WAKEUP;
	if (!(s->sent++ % 16) && bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > (1 << 20))
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&events, s, sizeof(s->h) + size, flags))
		lose(NO_ROOM);
}

// piece sends the next piece of a call's data.
static long piece(u64 i, void *unused)
{
	struct scratch *s = buffer();
	if (!s || s->c.done >= s->c.most)
		return 1;
	struct sending *c = &s->c;
	if (!c->left) {
		u64 entry[2] = {};
		if (!c->entries || bpf_probe_read_user(entry, sizeof(entry), (void *)c->vector))
			return 1;
		c->vector += sizeof(entry);
		c->entries--;
		c->base = entry[0];
		c->left = entry[1];
		return 0;
	}
	u64 n = c->most - c->done;
	if (n > c->left)
		n = c->left;
	if (n > PIECE)
		n = PIECE;
	asm volatile("" : "+r"(n));
	n &= 2 * PIECE - 1;
	if (n > PIECE)
		return 1;
	u64 flags = s->h.flags;
	if (bpf_probe_read_user(s->b, n, (void *)c->base)) {
		s->h.flags |= FAULT;
		s->h.missing = n;
		submit(s, 0);
	} else {
		submit(s, n);
	}
	s->h.flags = flags & ~START;
	s->h.missing = 0;
	s->h.at += n;
	c->done += n;
	c->base += n;
	c->left -= n;
	return 0;
}

// identify begins an event of the current task's.
static __always_inline void identify(struct scratch *s, struct key *k, u64 time, u64 inode, s32 fd)
{
	u64 id = bpf_get_current_pid_tgid();
	__builtin_memset(&s->h, 0, sizeof(s->h));
	s->h.key = *k;
	s->h.time = time;
	s->h.inode = inode;
	s->h.pid = id >> 32;
	s->h.tid = id;
	s->h.uid = bpf_get_current_uid_gid();
	s->h.cgroup = bpf_get_current_cgroup_id();
	s->h.fd = fd;
	bpf_get_current_comm(s->h.comm, sizeof(s->h.comm));
}
