// Reading: who a task is, what a call was given, and the paths behind it.

#pragma once

#include "kernel.bpf.h"

// among finds a task's number in the watched namespace, 0 if it is not in there
// nor below.
static __always_inline s32 among(struct pid *pid)
{
	if (!pid)
		return 0;
	u32 level = FIELD(struct pid, pid, level);
	u64 numbers = (u64)pid + bpf_core_field_offset(struct pid, numbers);
	if (ns_ptr) {
		if (level < ns_level || ns_level > 32)
			return 0;
		u64 u = numbers + (u64)ns_level * sizeof(struct upid);
		return (u64)FIELD(struct upid, u, ns) == ns_ptr ? FIELD(struct upid, u, nr) : 0;
	}
	struct upid u;
	for (u32 i = 0; i < 33 && i <= level; i++) {
		if (bpf_probe_read_kernel(&u, sizeof(u), (void *)(numbers + i * sizeof(u))))
			return 0;
		if (BPF_CORE_READ(u.ns, ns.inum) != want_ns)
			continue;
		ns_level = i;
		ns_ptr = (u64)u.ns;
		return u.nr;
	}
	return 0;
}

static __always_inline u32 is_chosen(u32 tgid) { return bpf_map_lookup_elem(&chosen, &tgid) != 0; }

// number finds a watched task's number, 0 for any other task.
static __always_inline s32 number(struct task_struct *t)
{
	if (by_choice)
		return is_chosen(FIELD(struct task_struct, t, tgid)) ? FIELD(struct task_struct, t, pid) : 0;
	return among(FIELD(struct task_struct, t, thread_pid));
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
	struct pid *pid = FIELD(struct task_struct, t, thread_pid);
	if (FIELD(struct pid, pid, level) != ns_level)
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
	u64 flags = BPF_RB_NO_WAKEUP;
	if (!(s->sent++ % 32) && bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > WAKE)
		flags = BPF_RB_FORCE_WAKEUP;
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

// climbing is where a path is on its way up.
struct climbing {
	struct scratch *s;
	u64 d, m, root;
	u32 to, end, done;
};

// step adds one name, or crosses one mount.
static long step(u64 i, struct climbing *c)
{
	u64 d = c->d, m = c->m;
	if (d == c->root) {
		u64 up = (u64)FIELD(struct mount, m, mnt_parent);
		if (up == m) {
			c->done = 1;
			return 1;
		}
		c->d = (u64)FIELD(struct mount, m, mnt_mountpoint);
		c->m = up;
		c->root = (u64)FIELD(struct mount, up, mnt.mnt_root);
		return 0;
	}
	if (c->to >= c->end || full(c->s, c->to))
		return 1;
	s64 n = bpf_probe_read_kernel_str(place(c->s, c->to), 256, FIELD(struct dentry, d, d_name.name));
	if (n > 0)
		c->to += n & 0x1ff;
	c->d = (u64)FIELD(struct dentry, d, d_parent);
	c->done = c->d == d;
	return c->done;
}

// climb adds a path: its file system's kind and its inode, then each name from
// the last to the first, each ended by a zero. It crosses mounts upwards.
__noinline u32 climb(u32 at, u32 what)
{
	u32 zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&buffers, &zero);
	if (!s || full(s, at))
		return at;
	u64 d = s->dentry, m = s->mnt - bpf_core_field_offset(struct mount, mnt);
	struct inode *inode = FIELD(struct dentry, d, d_inode);
	struct super_block *sb = FIELD(struct inode, inode, i_sb);
	struct blob *b = begin(s, at, what);
	u32 from = at + sizeof(*b);
	u64 magic = FIELD(struct super_block, sb, s_magic), ino = FIELD(struct inode, inode, i_ino);
	__builtin_memcpy(place(s, from), &magic, sizeof(magic));
	__builtin_memcpy(place(s, from + 8), &ino, sizeof(ino));
	u32 to = from + 16;
	if (magic == PIDFS) {
		s32 nr = ns_ptr ? among(FIELD(struct inode, inode, i_private)) : 0;
		ino = nr;
		__builtin_memcpy(place(s, from + 8), &ino, sizeof(ino));
		b->len = 16;
		return to;
	}
	struct climbing c = {.s = s, .d = d, .m = m, .root = (u64)FIELD(struct mount, m, mnt.mnt_root), .to = to, .end = from + MAX_STR};
	REPEAT(160, step, &c);
	if (!c.done)
		s->h.flags |= CUT;
	b->len = c.to - from;
	return c.to;
}

// walk is climb from a place. A function that is checked by itself takes no
// pointers of the kernel's, so that they go by the buffer.
static __always_inline u32 walk(void *dentry, void *mnt, u32 at, u32 what)
{
	struct scratch *s = buffer();
	if (!s)
		return at;
	s->dentry = (u64)dentry;
	s->mnt = (u64)mnt;
	return climb(at, what);
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
	return walk(FIELD(struct file, f, f_path.dentry), FIELD(struct file, f, f_path.mnt), at, what);
}

// below says what a path argument stands on, where that cannot be known from it.
static __always_inline u32 below(struct task_struct *t, struct scratch *s, u32 at, u32 str, u32 i, u32 dir)
{
	u8 c = *(u8 *)place(s, str + sizeof(struct blob));
	struct fs_struct *fs = t->fs;
	if (c == '/') {
		u64 mnt = (u64)FIELD(struct fs_struct, fs, root.mnt), d = (u64)FIELD(struct fs_struct, fs, root.dentry);
		if (s->h.said & 2 || (mnt == top_mnt && d == top_dentry))
			return at;
		s->h.said |= 2;
		u64 m = mnt - bpf_core_field_offset(struct mount, mnt);
		if ((u64)FIELD(struct mount, m, mnt_parent) != m || (u64)FIELD(struct vfsmount, mnt, mnt_root) != d)
			return walk((void *)d, (void *)mnt, at, ROOT);
		top_mnt = mnt;
		top_dentry = d;
		return at;
	}
	if (dir && (s32)arg(s, i - 1) != -100)
		return descriptor(t, at, arg(s, i - 1), i - 1);
	if (s->h.said & 1)
		return at;
	s->h.said |= 1;
	return walk(FIELD(struct fs_struct, fs, pwd.dentry), FIELD(struct fs_struct, fs, pwd.mnt), at, CWD);
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

// passed adds the path of a descriptor that a message carries.
__noinline u32 passed(u32 at, u32 fd) { return descriptor(bpf_get_current_task_btf(), at, fd, PASSED); }

// rights adds what the descriptors refer to that a message carries (SCM_RIGHTS).
__noinline u32 rights(u64 header, u32 compat, u32 at)
{
	struct scratch *s = buffer();
	if (!s || s->h.ret < 0)
		return at;
	u64 control = word(header + (compat ? 16 : 32), compat), size = word(header + (compat ? 20 : 40), compat);
	u32 head = compat ? 12 : 16, align = compat ? 4 : 8;
	for (u32 n = 0; n < 3 && control && size >= head; n++) {
		u64 len = word(control, compat);
		u32 kind[2] = {}; // SOL_SOCKET, SCM_RIGHTS
		bpf_probe_read_user(kind, sizeof(kind), (void *)(control + (compat ? 4 : 8)));
		if (len < head || len > size)
			break;
		for (u32 i = 0; i < MAX_PASSED && kind[0] == 1 && kind[1] == 1 && head + 4 * i + 4 <= len; i++) {
			u32 fd = -1;
			bpf_probe_read_user(&fd, sizeof(fd), (void *)(control + head + 4 * i));
			at = passed(at, fd);
		}
		len = (len + align - 1) & ~(u64)(align - 1);
		if (len >= size)
			break;
		control += len;
		size -= len;
	}
	return at;
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
		return rights(a, compat, name(a, compat, at, i));
	case MSGS:
		for (u32 n = 0; n < 16 && n < arg(s, i + 1); n++)
			at = rights(a + n * (compat ? 32 : 64), compat, name(a + n * (compat ? 32 : 64), compat, at, i));
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

// registers finds the arguments of a call.
static __always_inline void registers(u64 *args, u64 at, u32 compat)
{
#if defined(__TARGET_ARCH_x86)
	if (compat) {
		args[0] = (u32)FIELD(struct pt_regs, at, bx), args[1] = (u32)FIELD(struct pt_regs, at, cx);
		args[2] = (u32)FIELD(struct pt_regs, at, dx), args[3] = (u32)FIELD(struct pt_regs, at, si);
		args[4] = (u32)FIELD(struct pt_regs, at, di), args[5] = (u32)FIELD(struct pt_regs, at, bp);
		return;
	}
	args[0] = FIELD(struct pt_regs, at, di), args[1] = FIELD(struct pt_regs, at, si), args[2] = FIELD(struct pt_regs, at, dx);
	args[3] = FIELD(struct pt_regs, at, r10), args[4] = FIELD(struct pt_regs, at, r8), args[5] = FIELD(struct pt_regs, at, r9);
#else
	bpf_probe_read_kernel(args, 6 * sizeof(u64), &((struct pt_regs *)at)->user_regs.regs);
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

// listing is where an argument list is read.
struct listing {
	struct scratch *s;
	u64 list;
	u32 at, compat;
};

// next adds one word of it.
static long next(u64 i, struct listing *l)
{
	struct scratch *s = l->s;
	u32 at = l->at, wide = l->compat ? 4 : 8;
	u64 p = 0;
	if (bpf_probe_read_user(&p, wide, (void *)(l->list + i * wide))) {
		s->h.flags |= LATE;
		return 1;
	}
	if (!p)
		return 1;
	struct blob *b = begin(s, at, WORD);
	if (at > BUF - MAX_STR || i == 256) {
		b->fault = 2;
		l->at = at + sizeof(*b);
		return 1;
	}
	s64 n = bpf_probe_read_user_str(place(s, at + sizeof(*b)), 1026, (void *)p);
	if (n < 0) {
		b->fault = 1;
		s->h.flags |= LATE;
		n = 0;
	}
	n &= 0x7ff;
	b->len = n;
	l->at = at + sizeof(*b) + n;
	return 0;
}

// words adds an exec's argument list.
__noinline u32 words(u64 list, u32 compat, u32 at)
{
	struct scratch *s = buffer();
	if (!s)
		return at;
	struct listing l = {.s = s, .list = list, .at = at, .compat = compat};
	REPEAT(257, next, &l);
	return l.at;
}
