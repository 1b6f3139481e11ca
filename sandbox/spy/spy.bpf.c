//go:build ignore

// Follows streams on which JSON-RPC or HTTP/1 is spoken, between any two processes.
//
// A stream is looked at when somebody writes to it, before anybody can read: so its
// readers are not listened to. Its data are taken when the call returns, since only
// then it is known how much was written. A stream is taken from its reader where the
// writer is not watched, or moves data within the kernel.

#include "stream.bpf.h"

static __always_inline u32 is_watched(u32 pid)
{
	return !only_some || bpf_map_lookup_elem(&watched, &pid);
}

// data finds the buffers of a call: one, or a vector of them.
static __always_inline void data(u32 call, const u64 *args, struct sending *c)
{
	u64 header[2] = {};
	switch (call) {
	case WRITE: case SENDTO: case READ: case RECVFROM:
		c->base = args[1];
		c->left = args[2];
		return;
	case WRITEV: case READV:
		c->vector = args[1];
		c->entries = args[2];
		break;
	case SENDMSG: case RECVMSG: // msg_iov and msg_iovlen stand behind the name
		bpf_probe_read_user(header, sizeof(header), (void *)(args[1] + 16));
		c->vector = header[0];
		c->entries = header[1];
	}
	if (c->entries > 1024)
		c->entries = 1024;
}

// begins looks at the first buffer of a call that holds anything.
static __always_inline u32 begins(u32 call, const u64 *args, u64 most)
{
	struct sending c = {};
	data(call, args, &c);
	for (u32 i = 0; i < 4 && !c.left && c.entries; i++) {
		u64 entry[2] = {};
		if (bpf_probe_read_user(entry, sizeof(entry), (void *)c.vector))
			return 0;
		c.vector += sizeof(entry);
		c.entries--;
		c.base = entry[0];
		c.left = entry[1];
	}
	return look(c.base, c.left > most ? most : c.left);
}

// decided is what user space says of a stream, 0 for nothing.
static __always_inline u32 decided(struct key *k)
{
	u32 *v = bpf_map_lookup_elem(&verdicts, k);
	return v ? *v : 0;
}

// follow finds the state of a stream that is to be followed, 0 for one that is not.
// end is the socket at which it was met: another one means another stream.
static __always_inline struct state *follow(struct key *k, u64 end, u32 writes, u32 call, const u64 *args, u64 most)
{
	struct state *st = bpf_map_lookup_elem(&states, k);
	if (st && st->spliced && writes)
		return 0;
	u32 says = st ? decided(k) : 0;
	u64 known = st ? (writes ? st->writer : st->reader) : 0;
	if (st && st->spliced && st->written)
		known = end; // the reader goes on where the writer was
	if (st && known == end && (says == IGNORE || (says == 0 && st->verdict == FOLLOW && (st->written || !writes))))
		return says ? 0 : st;
	if (!begins(call, args, most))
		return 0;
	if (says)
		bpf_map_delete_elem(&verdicts, k);
	if (!st) {
		struct state new = {.verdict = FOLLOW};
		bpf_map_update_elem(&states, k, &new, BPF_NOEXIST);
		st = bpf_map_lookup_elem(&states, k);
	}
	if (!st) {
		lose(NO_STATE);
		return 0;
	}
	if (writes) {
		if (st->writer != end) // its reader is another one, too
			st->met = st->reader = 0;
		st->writer = end;
		st->written = 1;
	} else {
		st->reader = end;
	}
	st->verdict = FOLLOW;
	st->fresh = 1;
	return st;
}

// never keeps what this program writes from being followed at its reader.
static __always_inline void never(struct key *k)
{
	u32 ignore = IGNORE;
	struct state st = {.verdict = IGNORE, .written = 1};
	if (!bpf_map_lookup_elem(&states, k))
		bpf_map_update_elem(&states, k, &st, BPF_ANY);
	bpf_map_update_elem(&verdicts, k, &ignore, BPF_ANY);
}

// spliced notes that a stream gets data that only its reader will have in memory.
static __always_inline void spliced(struct task_struct *t, u32 call, const u64 *args)
{
	struct key k = {};
	u64 inode = 0;
	struct file *f = file_of(t, call == SPLICE ? args[2] : call == TEE ? args[1] : args[0]);
	if (!f || !name(f, 1, &k, &inode))
		return;
	struct state *st = bpf_map_lookup_elem(&states, &k);
	if (st) {
		st->spliced = 1;
		return;
	}
	struct state new = {.spliced = 1};
	bpf_map_update_elem(&states, &k, &new, BPF_NOEXIST);
}

SEC("raw_tp/sys_enter") int on_enter(struct bpf_raw_tracepoint_args *ctx)
{
	u64 nr = ctx->args[1];
	if (nr >= NCALLS)
		return 0;
	u32 call = calls_of[nr];
	if (!call || (call >= READ && call < SPLICE))
		return 0;
	u64 id = bpf_get_current_pid_tgid();
	u32 pid = id >> 32;
	if (pid != self && !is_watched(pid))
		return 0;
	struct task_struct *t = bpf_get_current_task_btf();
	if (is_compat(t))
		return 0;
	u64 args[4] = {};
	registers(args, ctx->args[0]);
	if (call >= SPLICE) {
		spliced(t, call, args);
		return 0;
	}
	struct file *f = file_of(t, args[0]);
	struct pending p = {};
	if (!f || !name(f, 1, &p.key, &p.inode))
		return 0;
	if (pid == self) {
		never(&p.key);
		return 0;
	}
	if (!follow(&p.key, p.inode, 1, call, args, ~0ULL))
		return 0;
	p.time = bpf_ktime_get_ns();
	p.buffer = args[1];
	p.fd = args[0];
	p.call = call;
	if (bpf_map_update_elem(&writes, &id, &p, BPF_ANY))
		lose(NO_STATE);
	return 0;
}

// take sends what a call moved.
static __always_inline void take(struct state *st, struct scratch *s, u32 call, const u64 *args, u64 moved, u32 writes)
{
	__builtin_memset(&s->c, 0, sizeof(s->c));
	s->c.most = moved;
	data(call, args, &s->c);
	s->h.at = __sync_fetch_and_add(writes ? &st->written_at : &st->read_at, moved);
	if (st->fresh) {
		st->fresh = 0;
		s->h.flags |= START;
	}
	if (!writes)
		s->h.flags |= FROM_READ;
	REPEAT(16384, 64, piece, 0);
	if (s->c.done < s->c.most) {
		s->h.flags |= CUT;
		s->h.missing = s->c.most - s->c.done;
		submit(s, 0);
	}
}

// written finds the followed write that a call ends, and its stream.
static __always_inline struct state *written(u64 id, u32 call, const u64 *args, struct pending *out)
{
	struct pending *p = bpf_map_lookup_elem(&writes, &id);
	if (!p)
		return 0;
	*out = *p;
	bpf_map_delete_elem(&writes, &id);
	if (out->buffer != args[1] || out->call != call)
		return 0;
	struct state *st = bpf_map_lookup_elem(&states, &out->key);
	if (!st)
		lose(NO_STATE);
	return st;
}

// met tells once who reads a followed stream, and of its end.
static __always_inline void met(struct state *st, struct key *k, u64 inode, s32 fd, u32 pid, u32 end)
{
	struct scratch *s = buffer();
	if (!s || (st->met == pid && !end))
		return;
	st->met = pid;
	st->reader = inode;
	identify(s, k, bpf_ktime_get_ns(), inode, fd);
	s->h.flags = MET | (end ? END : 0);
	s->h.at = st->written && !st->spliced ? st->written_at : st->read_at;
	submit(s, 0);
}

// peeks reports whether a call leaves in the socket what it reads.
static __always_inline u32 peeks(u32 call, const u64 *args)
{
	return (call == RECVFROM && args[3] & 2) || (call == RECVMSG && args[2] & 2);
}

// readable finds the stream that was read, if it is to be taken from its reader.
static __always_inline struct state *readable(struct task_struct *t, u32 pid, u32 call, const u64 *args, s64 ret, struct pending *p)
{
	struct file *f = file_of(t, args[0]);
	if (peeks(call, args) || !f || !name(f, 0, &p->key, &p->inode))
		return 0;
	struct state *st = bpf_map_lookup_elem(&states, &p->key);
	if (st && st->reader && st->reader != p->inode) // a socket in the place of one that is gone; its writer may not be watched
		st->written = st->spliced = st->met = 0;
	if (st && st->verdict == FOLLOW && (call == SPLICE || !ret || (st->written && !st->spliced))) {
		__sync_fetch_and_add(&st->read_at, ret);
		met(st, &p->key, p->inode, args[0], pid, !ret);
		return 0;
	}
	if (!ret || call == SPLICE || (st && st->written && !st->spliced))
		return 0;
	st = follow(&p->key, p->inode, 0, call, args, ret);
	if (st)
		st->met = pid;
	p->time = bpf_ktime_get_ns();
	return st;
}

SEC("raw_tp/sys_exit") int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	u64 nr = number_at_exit(ctx->args[0]);
	if (nr >= NCALLS)
		return 0;
	u32 call = calls_of[nr];
	s64 ret = ctx->args[1];
	if (!call || call > SPLICE || (call >= READ && ret < 0))
		return 0;
	u64 id = bpf_get_current_pid_tgid();
	u32 pid = id >> 32;
	struct task_struct *t = bpf_get_current_task_btf();
	if (pid == self || !is_watched(pid) || is_compat(t))
		return 0;
	u64 args[4] = {};
	registers(args, ctx->args[0]);
	struct pending p = {};
	struct state *st = call < READ ? written(id, call, args, &p) : readable(t, pid, call, args, ret, &p);
	struct scratch *s = buffer();
	if (!st || !s || ret <= 0)
		return 0;
	identify(s, &p.key, p.time, p.inode, args[0]);
	take(st, s, call, args, ret, call < READ);
	return 0;
}

// What a watched process starts is watched, too.
SEC("raw_tp/sched_process_fork") int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	if (!only_some)
		return 0;
	struct task_struct *child = (struct task_struct *)ctx->args[1];
	u32 parent = bpf_get_current_pid_tgid() >> 32, pid = FIELD(struct task_struct, child, tgid), one = 1;
	if (pid == parent || !bpf_map_lookup_elem(&watched, &parent))
		return 0;
	if (bpf_map_update_elem(&watched, &pid, &one, BPF_ANY))
		lose(NO_PROCESS);
	return 0;
}
