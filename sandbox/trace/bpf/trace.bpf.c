//go:build ignore

// Watches the system calls of one pid namespace and of those below it.
//
// Arguments are stashed at a call's enter and read at its exit: by then the kernel
// has brought the pages in that hold them. An exec's are read at its enter, for
// its exit sees another memory; and so are those of calls that change what their
// arguments stand for, such as chdir. What does not fit, or finds no room, is counted.

#include "read.bpf.h"

// beat answers the reader's question whether the programs still run.
static __always_inline int beat(u32 nr, u64 regs, u32 which)
{
	u64 args[8];
	if (nr != beat_nr || !beat_token || registers(args, (void *)regs, 0) || args[0] != beat_token)
		return 0;
	__sync_fetch_and_add(&beats[which], 1);
	return 1;
}

// unfold finds the arguments of i386's call for all sockets, and which it is.
static __always_inline void unfold(struct stash *st)
{
	u32 list[6] = {};
	u32 which = st->args[0];
	bpf_probe_read_user(list, sizeof(list), (void *)st->args[1]);
	asm volatile("%0 &= 31" : "+r"(which));
	st->nr = socketcalls[which];
	for (int i = 0; i < 6; i++)
		st->args[i] = list[i];
}

SEC("raw_tp/sys_enter") int on_enter(struct bpf_raw_tracepoint_args *ctx)
{
	u64 nr = ctx->args[1];
	if (nr >= NCALLS || !((defs[0][nr].flags | defs[1][nr].flags) & WATCH))
		return 0;
	u64 id = bpf_get_current_pid_tgid();
	if ((agent && id >> 32 == agent) || beat(nr, ctx->args[0], 0))
		return 0;
	struct task_struct *t = bpf_get_current_task_btf();
	u32 compat = is_compat(t) ? 1 : 0;
	const volatile struct def *d = &defs[compat][nr];
	if (!(d->flags & WATCH))
		return 0;
	struct stash st = {};
	st.tid = mine(t);
	if (!st.tid)
		return 0;
	if (st.tid == 1) {
		agent = id >> 32;
		return 0;
	}
	if (registers(st.args, (void *)ctx->args[0], compat))
		return 0;
	st.time = bpf_ktime_get_ns();
	st.nr = nr;
	st.flags = compat ? COMPAT : 0;
	if (bpf_map_update_elem(&inflight, &id, &st, BPF_ANY))
		lose(NO_STASH);
	if (!(d->flags & (EXEC | EARLY)))
		return 0;
	struct scratch *s = buffer();
	if (!s) {
		lose(NO_BUFFER);
		return 0;
	}
	__builtin_memset(&s->h, 0, sizeof(s->h));
	__builtin_memcpy(s->h.args, st.args, sizeof(st.args));
	s->h.time = st.time;
	s->h.nr = nr;
	s->h.flags = st.flags;
	s->h.kind = EARLY_ARGS;
	s->h.tid = st.tid;
	identify(&s->h, t);
	u32 at = arguments(compat, nr);
	if (!(d->flags & EXEC)) {
		send(s, at);
		return 0;
	}
	at = words(d->act[0] == DIR ? st.args[2] : st.args[1], compat, at);
	struct blob *first = place(s, 0);
	if (first->fault || s->h.flags & LATE) {
		s->h.flags |= LATE;
		st.flags |= LATE;
		bpf_map_update_elem(&inflight, &id, &st, BPF_ANY);
	}
	send(s, at);
	return 0;
}

static __always_inline u32 fatal(struct task_struct *t)
{
	return t->signal->flags & 4 || t->pending.signal.sig[0] & 256;
}

// report sends a call that has returned, or whose task ends in it.
static __always_inline void report(struct task_struct *t, struct stash *st, s64 ret, u32 flags)
{
	struct scratch *s = buffer();
	if (!s) {
		lose(NO_BUFFER);
		return;
	}
	if (st->nr < NCALLS && defs[st->flags & COMPAT][st->nr].flags & MULTI)
		unfold(st);
	__builtin_memset(&s->h, 0, sizeof(s->h));
	__builtin_memcpy(s->h.args, st->args, sizeof(st->args));
	s->h.time = st->time;
	s->h.ret = ret;
	s->h.nr = st->nr;
	s->h.flags = st->flags | flags;
	s->h.tid = st->tid;
	s->h.child = st->child;
	identify(&s->h, t);
	u32 at = 0;
	if (st->nr < NCALLS) {
		const volatile struct def *d = &defs[st->flags & COMPAT][st->nr];
		// An exec that succeeded has left its arguments behind.
		if (!(d->flags & EXEC) || ret < 0)
			at = arguments(st->flags & COMPAT, st->nr);
		if (d->flags & EXEC && ret < 0 && st->flags & LATE)
			at = words(d->act[0] == DIR ? st->args[2] : st->args[1], st->flags & COMPAT, at);
		if (d->flags & OPENS && ret >= 0)
			at = descriptor(t, at, ret, RESULT);
	}
	send(s, at);
}

SEC("raw_tp/sys_exit") int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	u32 nr = number_at_exit((void *)ctx->args[0]);
	if (nr >= NCALLS || !((defs[0][nr].flags | defs[1][nr].flags) & WATCH))
		return 0;
	u64 id = bpf_get_current_pid_tgid();
	if ((agent && id >> 32 == agent) || beat(nr, ctx->args[0], 1))
		return 0;
	struct task_struct *t = bpf_get_current_task_btf();
	struct stash st, *found = bpf_map_lookup_elem(&inflight, &id);
	s64 ret = ctx->args[1];
	u32 flags = fatal(t) ? FATAL : 0;
	if (found) {
		st = *found;
		bpf_map_delete_elem(&inflight, &id);
		report(t, &st, ret, flags);
		return 0;
	}
	// A filter's refusal passes the enter by, and an enter may have found no room.
	__builtin_memset(&st, 0, sizeof(st));
	u32 compat = is_compat(t) ? 1 : 0;
	if (!(defs[compat][nr].flags & WATCH))
		return 0;
	st.tid = mine(t);
	if (st.tid <= 1 || registers(st.args, (void *)ctx->args[0], compat))
		return 0;
	st.time = bpf_ktime_get_ns();
	st.nr = nr;
	st.flags = compat ? COMPAT : 0;
	report(t, &st, ret, flags | NOENTER);
	return 0;
}

SEC("raw_tp/sched_process_fork") int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	struct scratch *s = buffer();
	s32 tid = number(child);
	if (!tid)
		return 0;
	if (!s) {
		lose(NO_BUFFER);
		return 0;
	}
	u64 id = bpf_get_current_pid_tgid();
	struct stash *st = bpf_map_lookup_elem(&inflight, &id);
	if (st)
		st->child = tid;
	__builtin_memset(&s->h, 0, sizeof(s->h));
	s->h.kind = FORKED;
	s->h.time = bpf_ktime_get_ns();
	s->h.tid = number(parent);
	identify(&s->h, parent);
	s->h.child = tid;
	s->h.childOwn = own(child, &s->h.childNS);
	// The child's numbers on the machine, to find its process by.
	s->h.args[0] = BPF_CORE_READ(child, pid);
	s->h.args[1] = BPF_CORE_READ(child, tgid);
	send(s, 0);
	return 0;
}

// A thread that executes takes its leader's number. What of an exec's arguments
// was not in memory at its enter is so now, in the new one.
SEC("raw_tp/sched_process_exec") int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = (void *)ctx->args[0];
	struct linux_binprm *program = (void *)ctx->args[2];
	u64 id = bpf_get_current_pid_tgid(), was = (id >> 32 << 32) | (u32)ctx->args[1];
	if (agent && id >> 32 == agent)
		return 0;
	s32 tid = number(t);
	if (!tid)
		return 0;
	struct stash *found = bpf_map_lookup_elem(&inflight, &was), st;
	struct scratch *s = buffer();
	if (!s || !found) {
		lose(s ? NO_STASH : NO_BUFFER);
		return 0;
	}
	st = *found;
	if (was == id && !(st.flags & LATE))
		return 0;
	__builtin_memset(&s->h, 0, sizeof(s->h));
	s->h.kind = EXECED;
	s->h.time = bpf_ktime_get_ns();
	s->h.tid = tid;
	s->h.child = st.tid;
	s->h.args[0] = (u32)ctx->args[1];
	identify(&s->h, t);
	u32 at = 0;
	if (was != id) {
		bpf_map_delete_elem(&inflight, &was);
		st.tid = tid;
		if (bpf_map_update_elem(&inflight, &id, &st, BPF_ANY))
			lose(NO_STASH);
	}
	if (st.flags & LATE) {
		s->h.flags |= LATE;
		struct blob *b = begin(s, at, 0);
		s64 n = bpf_probe_read_kernel_str(place(s, at + sizeof(*b)), MAX_STR, BPF_CORE_READ(program, filename));
		if (n > 0)
			b->len = n & 0x1fff;
		at += sizeof(*b) + b->len;
		u64 from = BPF_CORE_READ(t, mm, arg_start), size = BPF_CORE_READ(t, mm, arg_end) - from;
		at = memory(s, at, WORD, from, size > 4095 ? 4095 : size);
	}
	send(s, at);
	return 0;
}

SEC("raw_tp/sched_process_exit") int on_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = (void *)ctx->args[0];
	u64 id = bpf_get_current_pid_tgid();
	s32 tid = number(t);
	if (!tid)
		return 0;
	struct stash st, *found = bpf_map_lookup_elem(&inflight, &id);
	if (found) {
		st = *found;
		bpf_map_delete_elem(&inflight, &id);
		report(t, &st, -1, FATAL);
	}
	struct scratch *s = buffer();
	if (!s) {
		lose(NO_BUFFER);
		return 0;
	}
	__builtin_memset(&s->h, 0, sizeof(s->h));
	s->h.kind = EXITED;
	s->h.time = bpf_ktime_get_ns();
	s->h.tid = tid;
	identify(&s->h, t);
	struct signal_struct *sig = BPF_CORE_READ(t, signal);
	s->h.ret = BPF_CORE_READ(sig, flags) & 4 ? BPF_CORE_READ(sig, group_exit_code) : BPF_CORE_READ(t, exit_code);
	if (s->h.pid == s->h.tgid)
		s->h.flags |= LEADER;
	if (BPF_CORE_READ(sig, live.counter) == 0)
		s->h.flags |= LAST;
	send(s, 0);
	return 0;
}

SEC("raw_tp/signal_deliver") int on_signal(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	u64 id = bpf_get_current_pid_tgid();
	if (agent && id >> 32 == agent)
		return 0;
	s32 tid = mine(t);
	if (tid <= 1)
		return 0;
	struct scratch *s = buffer();
	if (!s) {
		lose(NO_BUFFER);
		return 0;
	}
	__builtin_memset(&s->h, 0, sizeof(s->h));
	s->h.kind = SIGNAL;
	s->h.time = bpf_ktime_get_ns();
	s->h.tid = tid;
	s->h.nr = ctx->args[0];
	identify(&s->h, t);
	send(s, 0);
	return 0;
}
