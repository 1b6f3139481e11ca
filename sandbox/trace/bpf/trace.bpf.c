//go:build ignore

// Watches the system calls of one pid namespace and of those below it, or of chosen
// processes and of what they start.
//
// A call's arguments are read at its exit: they still stand in its registers, and
// by then the kernel has brought the pages in that hold what they point to. An
// exec's are read at its enter, for its exit sees other registers and another
// memory; and so are those of calls that change what their arguments stand for,
// such as chdir. What does not fit, or finds no room, is counted.

#include "read.bpf.h"

// beat answers the reader's question whether the programs still run.
static __always_inline int beat(u32 nr, u64 regs, u32 which)
{
	u64 args[8];
	if (nr != beat_nr || !beat_token)
		return 0;
	registers(args, regs, 0);
	if (args[0] != beat_token)
		return 0;
	__sync_fetch_and_add(&beats[which], 1);
	return 1;
}

static __always_inline struct slot *slot(u64 id)
{
	u64 i = id;
	asm volatile("%0 &= 65535" : "+r"(i));
	return &slots[i];
}

// unfold finds the arguments of i386's call for all sockets, and which it is.
static __always_inline void unfold(struct head *h)
{
	u32 list[6] = {};
	u32 which = h->args[0];
	bpf_probe_read_user(list, sizeof(list), (void *)h->args[1]);
	asm volatile("%0 &= 31" : "+r"(which));
	h->nr = socketcalls[which];
	for (int i = 0; i < 6; i++)
		h->args[i] = list[i];
}

// entered tells of a call that must be told of before it is done. It returns what
// is to be kept of the call besides.
static __always_inline u32 entered(struct task_struct *t, const volatile struct def *d, struct stash *st)
{
	struct scratch *s = buffer();
	if (!s) {
		lose(NO_BUFFER);
		return 0;
	}
	u32 compat = st->flags & COMPAT;
	__builtin_memset(&s->h, 0, sizeof(s->h));
	__builtin_memcpy(s->h.args, st->args, sizeof(st->args));
	s->h.time = st->time;
	s->h.nr = st->nr;
	s->h.flags = st->flags;
	s->h.kind = EARLY_ARGS;
	s->h.tid = st->tid;
	identify(&s->h, t);
	u32 at = arguments(compat, st->nr);
	if (d->flags & EXEC) {
		at = words(d->act[0] == DIR ? st->args[2] : st->args[1], compat, at);
		struct blob *first = place(s, 0);
		if (first->fault)
			s->h.flags |= LATE;
	}
	u32 late = s->h.flags & LATE;
	send(s, at);
	return late;
}

// keep keeps a call that is under way until its exit.
static __always_inline void keep(u64 id, u64 regs, struct stash *st)
{
	struct slot *sl = slot(id);
	if (sl->id && sl->id != id) {
		if (bpf_map_update_elem(&inflight, &id, st, BPF_ANY))
			lose(NO_STASH);
		return;
	}
	sl->id = id;
	sl->time = st->time;
	sl->registers = regs;
	sl->child = st->child;
	sl->tid = st->tid;
	sl->nr = st->nr;
	sl->flags = st->flags;
}

SEC("raw_tp/sys_enter") int on_enter(struct bpf_raw_tracepoint_args *ctx)
{
	u64 nr = ctx->args[1];
	if (nr >= NCALLS || !(wanted[nr] & WATCH))
		return 0;
	u64 id = bpf_get_current_pid_tgid();
	if ((agent && id >> 32 == agent) || beat(nr, ctx->args[0], 0))
		return 0;
	if (by_choice && !is_chosen(id >> 32))
		return 0;
	struct slot *sl = slot(id);
	u32 known = !sl->id || sl->id == id;
	if (known && !(wanted[nr] & (EXEC | EARLY))) {
		sl->id = id;
		sl->time = bpf_ktime_get_ns();
		sl->registers = ctx->args[0];
		sl->child = 0;
		sl->tid = 0;
		return 0;
	}
	struct task_struct *t = bpf_get_current_task_btf();
	struct stash st = {};
	st.tid = number(t);
	if (st.tid == 1)
		agent = id >> 32;
	u32 compat = is_compat(t) ? 1 : 0;
	const volatile struct def *d = &defs[compat][nr];
	if (st.tid <= 1 || !(d->flags & WATCH))
		return 0;
	registers(st.args, ctx->args[0], compat);
	st.time = bpf_ktime_get_ns();
	st.nr = nr;
	st.flags = compat ? COMPAT : 0;
	if (d->flags & (EXEC | EARLY))
		st.flags |= entered(t, d, &st);
	keep(id, ctx->args[0], &st);
	return 0;
}

static __always_inline u32 fatal(struct task_struct *t)
{
	return t->signal->flags & 4 || t->pending.signal.sig[0] & 256;
}

// running adds what an exec's arguments do not tell: the directory, and the file
// that runs from now on.
static __always_inline u32 running(struct task_struct *t, u32 at, u32 runs)
{
	struct fs_struct *fs = t->fs;
	struct mm_struct *mm = t->mm;
	at = walk(FIELD(struct fs_struct, fs, pwd.dentry), FIELD(struct fs_struct, fs, pwd.mnt), at, CWD);
	if (!runs || !mm)
		return at;
	struct file *f = FIELD(struct mm_struct, mm, exe_file);
	return walk(FIELD(struct file, f, f_path.dentry), FIELD(struct file, f, f_path.mnt), at, EXE);
}

// report sends a call that has returned, or whose task ends in it: its arguments
// are in the registers, or else in its stash.
static __always_inline void report(struct task_struct *t, struct stash *st, u64 regs, s64 ret, u32 flags)
{
	struct scratch *s = buffer();
	if (!s) {
		lose(NO_BUFFER);
		return;
	}
	__builtin_memset(&s->h, 0, sizeof(s->h));
	if (regs)
		registers(s->h.args, regs, st->flags & COMPAT);
	else
		__builtin_memcpy(s->h.args, st->args, sizeof(st->args));
	s->h.time = st->time;
	s->h.ret = ret;
	s->h.nr = st->nr;
	if (st->nr < NCALLS && defs[st->flags & COMPAT][st->nr].flags & MULTI)
		unfold(&s->h);
	s->h.flags = st->flags | flags;
	s->h.tid = st->tid;
	s->h.child = st->child;
	identify(&s->h, t);
	u32 at = 0, nr = s->h.nr;
	if (nr < NCALLS) {
		const volatile struct def *d = &defs[st->flags & COMPAT][nr];
		// An exec that succeeded has left its arguments behind, and so may one in which its task ends.
		u32 late = s->h.flags & (LATE | NOENTER);
		if (!(d->flags & EXEC) || (ret < 0 && late))
			at = arguments(st->flags & COMPAT, nr);
		if (d->flags & EXEC && ret < 0 && late)
			at = words(d->act[0] == DIR ? s->h.args[2] : s->h.args[1], st->flags & COMPAT, at);
		if (d->flags & EXEC)
			at = running(t, at, ret >= 0);
		if (d->flags & OPENS && ret >= 0)
			at = descriptor(t, at, ret, RESULT);
	}
	send(s, at);
}

// over takes a call that is under way from where it was kept.
static __always_inline u32 over(u64 id, struct stash *st, u64 *regs)
{
	struct slot *sl = slot(id);
	if (sl->id == id) {
		st->time = sl->time;
		st->child = sl->child;
		st->tid = sl->tid;
		if (st->tid) {
			st->nr = sl->nr;
			st->flags = sl->flags;
		}
		*regs = sl->registers;
		sl->id = 0;
		return 1;
	}
	struct stash *found = bpf_map_lookup_elem(&inflight, &id);
	if (!found)
		return 0;
	*st = *found;
	bpf_map_delete_elem(&inflight, &id);
	return 1;
}

SEC("raw_tp/sys_exit") int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	u64 nr = number_at_exit(ctx->args[0]);
	if (nr >= NCALLS || !(wanted[nr] & WATCH))
		return 0;
	u64 id = bpf_get_current_pid_tgid();
	if ((agent && id >> 32 == agent) || beat(nr, ctx->args[0], 1))
		return 0;
	if (by_choice && !is_chosen(id >> 32))
		return 0;
	struct task_struct *t = bpf_get_current_task_btf();
	u64 regs = 0;
	struct stash st;
	__builtin_memset(&st, 0, sizeof(st));
	u32 flags = fatal(t) ? FATAL : 0;
	if (!over(id, &st, &regs)) {
		// A filter's refusal passes the enter by, and an enter may have found no room.
		regs = ctx->args[0];
		st.time = bpf_ktime_get_ns();
		flags |= NOENTER;
	}
	if (!st.tid) {
		u32 compat = is_compat(t) ? 1 : 0;
		st.tid = number(t);
		if (st.tid == 1)
			agent = id >> 32;
		if (st.tid <= 1 || !(defs[compat][nr].flags & WATCH))
			return 0;
		st.nr = nr;
		st.flags = compat ? COMPAT : 0;
	}
	report(t, &st, regs, ctx->args[1], flags);
	return 0;
}

// inherit has a process watched that a watched one starts.
static __always_inline void inherit(struct task_struct *parent, struct task_struct *child)
{
	u32 tgid = BPF_CORE_READ(child, tgid);
	u8 yes = 1;
	if (is_chosen(BPF_CORE_READ(parent, tgid)) && !is_chosen(tgid) && bpf_map_update_elem(&chosen, &tgid, &yes, BPF_ANY))
		lose(NO_CHOICE);
}

SEC("raw_tp/sched_process_fork") int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	if (by_choice)
		inherit(parent, child);
	struct scratch *s = buffer();
	s32 tid = number(child);
	if (!tid)
		return 0;
	if (!s) {
		lose(NO_BUFFER);
		return 0;
	}
	u64 id = bpf_get_current_pid_tgid();
	struct slot *sl = slot(id);
	struct stash *st;
	if (sl->id == id)
		sl->child = tid;
	else if ((st = bpf_map_lookup_elem(&inflight, &id)))
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

// executed takes what is kept of an exec to the number under which it returns.
static __always_inline u32 executed(u64 was, u64 id, s32 tid, u32 script, struct stash *st)
{
	u64 regs = 0;
	s32 before;
	if (!over(was, st, &regs) || !(before = st->tid))
		return 0;
	st->tid = tid;
	st->flags |= script;
	keep(id, regs, st);
	st->tid = before;
	return 1;
}

// A thread that executes takes its leader's number. What of an exec's arguments
// was not in memory at its enter, or if that was not seen at all, is so now, in the new one.
SEC("raw_tp/sched_process_exec") int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct linux_binprm *program = (void *)ctx->args[2];
	u64 id = bpf_get_current_pid_tgid(), was = (id >> 32 << 32) | (u32)ctx->args[1];
	if (agent && id >> 32 == agent)
		return 0;
	s32 tid = number(t);
	if (!tid)
		return 0;
	struct scratch *s = buffer();
	if (!s) {
		lose(NO_BUFFER);
		return 0;
	}
	struct stash st;
	__builtin_memset(&st, 0, sizeof(st));
	// The kernel writes another name there when a file asks for an interpreter.
	u32 late = LATE, script = BPF_CORE_READ(program, interp) != BPF_CORE_READ(program, filename) ? SCRIPT : 0;
	if (executed(was, id, tid, script, &st))
		late = st.flags & LATE;
	else
		late |= NOENTER;
	if (was == id && !late)
		return 0;
	__builtin_memset(&s->h, 0, sizeof(s->h));
	s->h.kind = EXECED;
	s->h.time = bpf_ktime_get_ns();
	s->h.tid = tid;
	s->h.child = st.tid;
	s->h.args[0] = (u32)ctx->args[1];
	s->h.flags = late | script;
	identify(&s->h, t);
	u32 at = 0;
	if (late) {
		struct blob *b = begin(s, at, 0);
		s64 n = bpf_probe_read_kernel_str(place(s, at + sizeof(*b)), MAX_STR, BPF_CORE_READ(program, filename));
		if (n > 0)
			b->len = n & 0x1fff;
		at += sizeof(*b) + b->len;
		u64 from = BPF_CORE_READ(t, mm, arg_start), size = BPF_CORE_READ(t, mm, arg_end) - from;
		at = memory(s, at, WORD, from, size > 4095 ? 4095 : size);
		struct fs_struct *fs = t->fs;
		at = walk(FIELD(struct fs_struct, fs, pwd.dentry), FIELD(struct fs_struct, fs, pwd.mnt), at, CWD);
	}
	send(s, at);
	return 0;
}

SEC("raw_tp/sched_process_exit") int on_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	u64 id = bpf_get_current_pid_tgid(), regs = 0;
	struct stash st;
	__builtin_memset(&st, 0, sizeof(st));
	u32 within = over(id, &st, &regs);
	s32 tid = number(t);
	if (!tid)
		return 0;
	if (within && !st.tid) {
		u32 compat = is_compat(t) ? 1 : 0;
		st.nr = number_at_exit(regs);
		st.flags = compat ? COMPAT : 0;
		st.tid = tid;
		within = st.nr < NCALLS && defs[compat][st.nr].flags & WATCH;
	}
	if (within && tid > 1)
		report(t, &st, regs, -1, FATAL);
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
	u32 ended = s->h.flags & LAST, tgid = s->h.tgid;
	send(s, 0);
	if (by_choice && ended)
		bpf_map_delete_elem(&chosen, &tgid);
	return 0;
}

SEC("raw_tp/signal_deliver") int on_signal(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	u64 id = bpf_get_current_pid_tgid();
	if (agent && id >> 32 == agent)
		return 0;
	s32 tid = number(t);
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
