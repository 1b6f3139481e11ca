//go:build ignore

// Watches the system calls of one pid namespace and of those below it.
//
// Arguments are stashed at a call's enter and read at its exit: by then the kernel
// has brought the pages in that hold them. An exec's are read at its enter, for
// its exit sees another memory; and so are those of calls that change what their
// arguments stand for, such as chdir. What does not fit, or finds no room, is counted.

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
struct qstr { const unsigned char *name; };
struct super_block { unsigned long s_magic; };
struct inode { unsigned long i_ino; void *i_private; struct super_block *i_sb; };
struct dentry { struct dentry *d_parent; struct qstr d_name; struct inode *d_inode; };
struct vfsmount { struct dentry *mnt_root; };
struct mount { struct mount *mnt_parent; struct dentry *mnt_mountpoint; struct vfsmount mnt; };
struct path { struct vfsmount *mnt; struct dentry *dentry; };
struct file { struct path f_path; };
struct fdtable { u32 max_fds; struct file **fd; };
struct files_struct { struct fdtable *fdt; };
struct fs_struct { struct path root, pwd; };
typedef struct { s32 counter; } atomic_t;
typedef struct { unsigned long sig[1]; } sigset_t;
struct sigpending { sigset_t signal; };
struct linux_binprm { const char *filename; };
struct mm_struct { unsigned long arg_start, arg_end; };
struct signal_struct { atomic_t live; s32 group_exit_code; u32 flags; };
struct thread_info { u32 status; unsigned long flags; };
struct task_struct {
	struct thread_info thread_info;
	s32 pid, tgid, exit_code;
	struct pid *thread_pid;
	struct fs_struct *fs;
	struct files_struct *files;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct sigpending pending;
};
#if defined(__TARGET_ARCH_arm64)
struct user_pt_regs { u64 regs[31]; };
struct pt_regs { struct user_pt_regs user_regs; u64 orig_x0; s32 syscallno; };
#endif
#pragma clang attribute pop

#if defined(__TARGET_ARCH_x86)
// The layout of the registers on the kernel's stack is x86-64's own.
struct registers { u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax; };
#endif

enum kind { CALL = 0, EARLY_ARGS = 1, FORKED = 2, EXITED = 3, SIGNAL = 4, EXECED = 5 };

// What is to be done with an argument.
enum act { NONE, STR, TEXT, FD, DIR, HOW, PAIR, ADDR, ADDRP, MSG, MSGS, ARGV, CLONE3 };

// What is to be done with a call.
enum { WATCH = 1, OPENS = 2, EXEC = 4, MULTI = 8, EARLY = 16 };

// What an event says besides.
enum { COMPAT = 1, FATAL = 2, CUT = 4, LATE = 8, LEADER = 16, LAST = 32, NOENTER = 64 };

struct def { u8 act[6]; u8 flags; u8 pad; };

// head begins each event; blobs follow it.
struct head {
	u64 time;
	u64 args[8]; // six, and room for an index to be masked
	s64 ret;
	u32 kind;
	u32 nr;
	u32 flags;
	s32 tid;    // in the watched namespace
	s32 tgid;   // the machine's number of the process
	s32 pid;    // the machine's number of the task
	s32 own;    // as the task itself is numbered
	u32 ns;     // the namespace in which it is
	s32 child;  // in the watched namespace
	s32 childOwn;
	u32 childNS;
	u32 size;   // of all blobs
	u32 said;   // what has been said already of what paths stand on
	u32 pad;
};
const struct head *unused_head __attribute__((unused));

// blob begins each piece of memory: of an argument (0 to 5), or one of these.
enum { CWD = 6, ROOT = 7, RESULT = 8, WORD = 9 };
struct blob { u8 what; u8 fault; u16 len; };

#define PIDFS 0x50494446
#define NCALLS 512
#define BUF (16 << 10)
#define MAX_STR 4096
#define WAKE (256 << 10)

volatile const struct def defs[2][NCALLS];
volatile const u16 socketcalls[32]; // what i386's call for all sockets stands for, by its first argument
volatile const u32 want_ns = 0;
volatile const u32 beat_nr = 0;     // prctl's number
volatile const u64 beat_token = 0;  // its first argument when the reader asks whether anyone is there

u64 ns_ptr = 0;     // the namespace's address, once it was seen; the reader holds it alive
u32 ns_level = 0;
u32 agent = 0;      // the machine's number of the namespace's first process
u64 beats[2] = {};  // how often it was seen to ask, at the enter and at the exit

struct stash { u64 time; u64 args[6]; u32 nr; u32 flags; s32 tid, child; };

struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 1 << 24); } events SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct stash);
} inflight SEC(".maps");

// Why something is missing.
enum { NO_ROOM, NO_STASH, NO_BUFFER, NLOSSES };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NLOSSES);
	__type(key, u32);
	__type(value, u64);
} losses SEC(".maps");

struct scratch { struct head h; u8 b[BUF + MAX_STR + 64]; };
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

// number finds a task's number in the watched namespace, 0 if it is not in there
// nor below.
static __always_inline s32 number(struct task_struct *t)
{
	struct pid *pid = BPF_CORE_READ(t, thread_pid);
	if (!pid)
		return 0;
	u32 level = BPF_CORE_READ(pid, level);
	u32 at = bpf_core_field_offset(struct pid, numbers);
	struct upid u;
	if (ns_ptr) {
		if (level < ns_level || ns_level > 32)
			return 0;
		if (bpf_probe_read_kernel(&u, sizeof(u), (void *)pid + at + ns_level * sizeof(u)))
			return 0;
		return (u64)u.ns == ns_ptr ? u.nr : 0;
	}
	for (u32 i = 0; i < 33 && i <= level; i++) {
		if (bpf_probe_read_kernel(&u, sizeof(u), (void *)pid + at + i * sizeof(u)))
			return 0;
		if (BPF_CORE_READ(u.ns, ns.inum) != want_ns)
			continue;
		ns_level = i;
		ns_ptr = (u64)u.ns;
		return u.nr;
	}
	return 0;
}

// mine is number for the calling task, whose fields the kernel lets a program load
// directly.
static __always_inline s32 mine(struct task_struct *t)
{
	struct pid *pid = t->thread_pid;
	if (!ns_ptr || !pid)
		return number(t);
	if (pid->level < ns_level || ns_level > 32)
		return 0;
	struct upid u;
	u64 at = bpf_core_field_offset(struct pid, numbers) + (u64)ns_level * sizeof(u);
	if (bpf_probe_read_kernel(&u, sizeof(u), (void *)pid + at))
		return 0;
	return (u64)u.ns == ns_ptr ? u.nr : 0;
}

// own finds a task's number in its own namespace, and that.
static __always_inline s32 own(struct task_struct *t, u32 *ns)
{
	struct pid *pid = BPF_CORE_READ(t, thread_pid);
	u32 level = BPF_CORE_READ(pid, level);
	struct upid u = {};
	bpf_probe_read_kernel(&u, sizeof(u), (void *)pid + bpf_core_field_offset(struct pid, numbers) + (level & 63) * sizeof(u));
	*ns = BPF_CORE_READ(u.ns, ns.inum);
	return u.nr;
}

static __always_inline void identify(struct head *h, struct task_struct *t)
{
	u64 id = bpf_get_current_pid_tgid();
	h->pid = (u32)id;
	h->tgid = id >> 32;
	// Most tasks are in the watched namespace itself.
	h->ns = want_ns;
	h->own = h->tid;
	if (BPF_CORE_READ(t, thread_pid, level) != ns_level)
		h->own = own(t, &h->ns);
}

static __always_inline void send(struct scratch *s, u32 size)
{
	if (size > BUF) {
		size = BUF;
		s->h.flags |= CUT;
	}
	s->h.size = size;
	asm volatile("" : "+r"(size)); // the verifier has to see the bound on this very register
	size &= 2 * BUF - 1;
	if (size > BUF)
		return;
	// The reader looks now and then by itself: waking it for each event costs more than the event.
	u64 flags = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > WAKE ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	if (bpf_ringbuf_output(&events, s, sizeof(s->h) + size, flags))
		lose(NO_ROOM);
}

// arg is an argument of the call. The mask is where the verifier, and not the
// compiler, sees it.
static __always_inline u64 arg(struct scratch *s, u64 i)
{
	asm volatile("%0 &= 7" : "+r"(i));
	return s->h.args[i];
}

// place is where in the buffer something goes.
static __always_inline void *place(struct scratch *s, u64 at)
{
	asm volatile("%0 &= 16383" : "+r"(at));
	return &s->b[at];
}

// begin writes a blob's head at a place and returns where its content goes.
static __always_inline struct blob *begin(struct scratch *s, u32 at, u8 what)
{
	struct blob *b = place(s, at);
	b->what = what;
	b->fault = 0;
	b->len = 0;
	return b;
}

static __always_inline u32 full(struct scratch *s, u32 at)
{
	if (at < BUF - MAX_STR)
		return 0;
	s->h.flags |= CUT;
	return 1;
}

// string adds a string of the task's and returns the place behind it.
static __always_inline u32 string(struct scratch *s, u32 at, u8 what, u64 from, u32 bound)
{
	if (full(s, at))
		return at;
	struct blob *b = begin(s, at, what);
	char *text = place(s, at + sizeof(*b));
	text[0] = 0;
	s64 n = bpf_probe_read_user_str(text, bound, (void *)from);
	if (n < 0) {
		b->fault = 1;
		n = 0;
	}
	n &= 0x1fff;
	b->len = n;
	return at + sizeof(*b) + n;
}

// memory adds a piece of the task's memory.
static __always_inline u32 memory(struct scratch *s, u32 at, u8 what, u64 from, u32 size)
{
	if (full(s, at))
		return at;
	struct blob *b = begin(s, at, what);
	size &= 0xfff;
	if (bpf_probe_read_user(place(s, at + sizeof(*b)), size, (void *)from)) {
		b->fault = 1;
		size = 0;
	}
	b->len = size;
	return at + sizeof(*b) + size;
}

// walk adds a path: its file system's kind and its inode, then each name from
// the last to the first, each ended by a zero. It crosses mounts upwards.
__noinline u32 walk(u64 dentry_at, u64 mnt_at, u32 at, u32 what)
{
	u32 zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&buffers, &zero);
	if (!s || full(s, at))
		return at;
	struct dentry *d = (void *)dentry_at;
	struct mount *m = (void *)(mnt_at - bpf_core_field_offset(struct mount, mnt));
	struct inode *inode = BPF_CORE_READ(d, d_inode);
	struct blob *b = begin(s, at, what);
	u32 from = at + sizeof(*b);
	u64 magic = BPF_CORE_READ(inode, i_sb, s_magic), ino = BPF_CORE_READ(inode, i_ino);
	__builtin_memcpy(place(s, from), &magic, sizeof(magic));
	__builtin_memcpy(place(s, from + 8), &ino, sizeof(ino));
	u32 to = from + 16;
	if (magic == PIDFS) {
		struct pid *pid = BPF_CORE_READ(inode, i_private);
		struct upid u = {};
		if (ns_ptr && BPF_CORE_READ(pid, level) >= ns_level)
			bpf_probe_read_kernel(&u, sizeof(u), (void *)pid + bpf_core_field_offset(struct pid, numbers) + (ns_level & 63) * sizeof(u));
		ino = (u64)u.ns == ns_ptr ? u.nr : 0;
		__builtin_memcpy(place(s, from + 8), &ino, sizeof(ino));
		b->len = 16;
		return to;
	}
	struct dentry *root = BPF_CORE_READ(m, mnt.mnt_root);
	int done = 0;
	for (int i = 0; i < 160; i++) {
		if (d == root) {
			struct mount *up = BPF_CORE_READ(m, mnt_parent);
			if (up == m) {
				done = 1;
				break;
			}
			d = BPF_CORE_READ(m, mnt_mountpoint);
			m = up;
			root = BPF_CORE_READ(m, mnt.mnt_root);
			continue;
		}
		if (to >= from + MAX_STR || full(s, to))
			break;
		// The parent and the name's address stand close together: one read.
		u64 near[4] = {};
		u32 first = bpf_core_field_offset(struct dentry, d_parent), second = bpf_core_field_offset(struct dentry, d_name.name);
		struct dentry *parent;
		const void *name;
		if (second - first == 16) {
			bpf_probe_read_kernel(near, 24, (void *)d + first);
			parent = (void *)near[0];
			name = (void *)near[2];
		} else {
			parent = BPF_CORE_READ(d, d_parent);
			name = BPF_CORE_READ(d, d_name.name);
		}
		s64 n = bpf_probe_read_kernel_str(place(s, to), 256, name);
		if (n > 0)
			to += n & 0x1ff;
		if (parent == d) {
			done = 1;
			break;
		}
		d = parent;
	}
	if (!done)
		s->h.flags |= CUT;
	b->len = to - from;
	return to;
}

// descriptor adds the path of a descriptor; nothing if there is none of that number.
static __always_inline u32 descriptor(struct task_struct *t, u32 at, u64 fd, u32 what)
{
	struct files_struct *files = t->files;
	if (!files)
		return at;
	struct fdtable *table = files->fdt;
	if ((u32)fd >= table->max_fds)
		return at;
	struct file **slots = table->fd, *f = 0;
	bpf_probe_read_kernel(&f, sizeof(f), slots + (u32)fd);
	if (!f)
		return at;
	struct path p = {};
	bpf_probe_read_kernel(&p, sizeof(p), &f->f_path);
	return walk((u64)p.dentry, (u64)p.mnt, at, what);
}

// below says what a path argument stands on, where that cannot be known from it.
static __always_inline u32 below(struct task_struct *t, struct scratch *s, u32 at, u32 str, u32 i, u32 dir)
{
	u8 c = *(u8 *)place(s, str + sizeof(struct blob));
	struct fs_struct *fs = BPF_CORE_READ(t, fs);
	if (c == '/') {
		struct vfsmount *mnt = BPF_CORE_READ(fs, root.mnt);
		struct dentry *d = BPF_CORE_READ(fs, root.dentry);
		if (s->h.said & 2)
			return at;
		s->h.said |= 2;
		struct mount *m = (void *)((u64)mnt - bpf_core_field_offset(struct mount, mnt));
		if (BPF_CORE_READ(m, mnt_parent) == m && BPF_CORE_READ(mnt, mnt_root) == d)
			return at;
		return walk((u64)d, (u64)mnt, at, ROOT);
	}
	if (dir && (s32)arg(s, i - 1) != -100)
		return descriptor(t, at, arg(s, i - 1), i - 1);
	if (s->h.said & 1)
		return at;
	s->h.said |= 1;
	return walk((u64)BPF_CORE_READ(fs, pwd.dentry), (u64)BPF_CORE_READ(fs, pwd.mnt), at, CWD);
}

static __always_inline u64 word(u64 from, u32 compat)
{
	u64 v = 0;
	bpf_probe_read_user(&v, compat ? 4 : 8, (void *)from);
	return v;
}

// name adds the address in a message header.
__noinline u32 name(u64 header, u32 compat, u32 at, u32 i)
{
	struct scratch *s = buffer();
	if (!s)
		return at;
	u64 p = word(header, compat);
	u32 len = 0;
	bpf_probe_read_user(&len, sizeof(len), (void *)(header + (compat ? 4 : 8)));
	if (!p || !len)
		return at;
	return memory(s, at, i, p, len > 128 ? 128 : len);
}

// argument does what a call's table says of its argument i; before says what the
// one before it is.
__noinline u32 argument(u32 at, u32 i, u32 act, u32 before)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct scratch *s = buffer();
	if (!s || i > 5)
		return at;
	u64 a = arg(s, i);
	u32 compat = s->h.flags & COMPAT, len = 0;
	switch (act) {
	case STR: {
		u32 next = string(s, at, i, a, MAX_STR);
		return below(t, s, next, at, i, before == DIR);
	}
	case TEXT:
		return string(s, at, i, a, MAX_STR);
	case FD:
		return descriptor(t, at, a, i);
	case HOW:
		return memory(s, at, i, a, 24);
	case PAIR:
		if (s->h.ret < 0)
			return at;
		bpf_probe_read_user(&len, sizeof(len), (void *)a);
		return descriptor(t, memory(s, at, i, a, 8), len, RESULT);
	case CLONE3:
		return memory(s, at, i, a, 8);
	case ADDR:
	case ADDRP:
		if (!a || i >= 5)
			return at;
		len = arg(s, i + 1);
		if (act == ADDRP) {
			if (s->h.ret < 0)
				return at;
			bpf_probe_read_user(&len, sizeof(len), (void *)arg(s, i + 1));
		}
		if (!len)
			return at;
		u32 behind = memory(s, at, i, a, len > 128 ? 128 : len);
		u8 *text = place(s, at + sizeof(struct blob));
		// A unix socket's path may be relative, too.
		if (text[0] == 1 && text[1] == 0 && text[2] != 0 && text[2] != '/')
			behind = below(t, s, behind, at + 2, i, 0);
		return behind;
	case MSG:
		return name(a, compat, at, i);
	case MSGS:
		for (u32 n = 0; n < 16 && n < arg(s, i + 1); n++)
			at = name(a + n * (compat ? 32 : 64), compat, at, i);
		return at;
	}
	return at;
}

// arguments does it for all.
__noinline u32 arguments(u32 compat, u32 nr)
{
	if (nr >= NCALLS)
		return 0;
	const volatile struct def *d = &defs[compat & 1][nr];
	u32 at = 0, before = 0;
	for (u32 i = 0; i < 6; i++) {
		u32 act = d->act[i];
		if (act)
			at = argument(at, i, act, before);
		before = act;
	}
	return at;
}

static __always_inline u32 is_compat(struct task_struct *t)
{
#if defined(__TARGET_ARCH_x86)
	return t->thread_info.status & 2;
#else
	return (t->thread_info.flags >> 22) & 1;
#endif
}

static __always_inline int registers(u64 *args, void *at, u32 compat)
{
#if defined(__TARGET_ARCH_x86)
	struct registers r;
	if (bpf_probe_read_kernel(&r, sizeof(r), at))
		return -1;
	if (compat) {
		args[0] = (u32)r.bx, args[1] = (u32)r.cx, args[2] = (u32)r.dx;
		args[3] = (u32)r.si, args[4] = (u32)r.di, args[5] = (u32)r.bp;
		return 0;
	}
	args[0] = r.di, args[1] = r.si, args[2] = r.dx, args[3] = r.r10, args[4] = r.r8, args[5] = r.r9;
#else
	struct pt_regs *r = at;
	if (bpf_probe_read_kernel(args, 6 * sizeof(u64), &r->user_regs.regs))
		return -1;
	args[0] = BPF_CORE_READ(r, orig_x0);
#endif
	return 0;
}

static __always_inline u32 number_at_exit(void *at)
{
#if defined(__TARGET_ARCH_x86)
	u64 nr = -1;
	bpf_probe_read_kernel(&nr, sizeof(nr), at + __builtin_offsetof(struct registers, orig_ax));
	return nr;
#else
	return BPF_CORE_READ((struct pt_regs *)at, syscallno);
#endif
}

// words adds an exec's argument list.
__noinline u32 words(u64 list, u32 compat, u32 at)
{
	u32 zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&buffers, &zero);
	if (!s)
		return at;
	for (u32 i = 0; i < 257; i++) {
		u64 p = 0;
		if (bpf_probe_read_user(&p, compat ? 4 : 8, (void *)(list + i * (compat ? 4 : 8)))) {
			s->h.flags |= LATE;
			break;
		}
		if (!p)
			break;
		struct blob *b = begin(s, at, WORD);
		if (at > BUF - MAX_STR || i == 256) {
			b->fault = 2;
			return at + sizeof(*b);
		}
		s64 n = bpf_probe_read_user_str(place(s, at + sizeof(*b)), 1026, (void *)p);
		if (n < 0) {
			b->fault = 1;
			s->h.flags |= LATE;
			n = 0;
		}
		n &= 0x7ff;
		b->len = n;
		at += sizeof(*b) + n;
	}
	return at;
}

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
