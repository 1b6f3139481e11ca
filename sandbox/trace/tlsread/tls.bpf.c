//go:build ignore

// Reads what tasks hand to their TLS libraries, and which socket each connection uses.
//
// A C library's function is read at its return, when it is known how much of the buffer
// went. Of Go's there are no return probes (the runtime moves stacks): the record layer
// is probed beside it, which is reached only by what is sent.

#include "kernel.bpf.h"

enum kind { OPENED = 1, BOUND, SENT, OFFERED, RECEIVED, NAMED, CLOSED, FOUND };
enum { WHOLE = 1, CUT = 2, LOST = 4 };

#define PIECE (16 << 10)
#define SMALL 1024
#define PIECES 128
#define WAKE (256 << 10)
#define PROT_EXEC 4
#define RECORD 23 // application_data of RFC 8446, section 5.1

struct head {
	u64 time, conn;
	u64 offset; // of the piece, in what the connection carried in this direction
	s32 pid, tgid, tid;
	u32 kind, flags, size;
	struct ends ends;
};
const struct head *unused_head __attribute__((unused));

struct small { struct head h; u8 data[SMALL]; };
struct large { struct head h; u8 data[PIECE]; };

struct key { u64 at; u32 tgid, pad; };
struct conn { u64 id, sent, offered, received; u32 flags, pad; struct ends ends; };
struct frame { u64 task, at; };
struct call { u64 conn, buf, size, done; };
struct acting { u64 conn, goroutine; };

u32 want_ns = 0; // the pid namespace to be watched, 0 for every task
u64 limit = 0;   // bytes of a connection and direction that are copied, 0 for all

struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 1 << 23); } events SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct key);
	__type(value, struct conn);
} conns SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct frame);
	__type(value, struct call);
} calls SEC(".maps");
// The connection that each task works on.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct acting);
} tasks SEC(".maps");

// The files of which code was run or mapped, and a process was told.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, u8);
} files SEC(".maps");

enum { NO_ROOM, NO_CALL, NO_PAGE, NLOSSES };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NLOSSES);
	__type(key, u32);
	__type(value, u64);
} losses SEC(".maps");

static __always_inline void lose(u32 why)
{
	u64 *n = bpf_map_lookup_elem(&losses, &why);
	if (n)
		__sync_fetch_and_add(n, 1);
}

static __always_inline u64 wakeup(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > WAKE ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void fill(struct head *h, struct conn *c, u32 kind, u64 offset)
{
	u64 id = bpf_get_current_pid_tgid();
	h->time = bpf_ktime_get_ns();
	h->conn = c->id;
	h->offset = offset;
	h->pid = (u32)id;
	h->tgid = id >> 32;
	h->tid = want_ns ? number(want_ns) : 0;
	h->kind = kind;
	h->flags = c->flags;
	h->size = 0;
	h->ends = c->ends;
}

// send tells of a piece of memory, at most PIECE bytes of it.
static __noinline u32 send(struct conn *c, u32 kind, u64 from, u32 size, u64 offset)
{
	asm volatile("" : "+r"(size)); // the verifier has to see the bounds on this very register
	if (size > PIECE)
		size = PIECE;
	if (size <= SMALL) {
		struct small *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
		if (!e)
			goto lost;
		fill(&e->h, c, kind, offset);
		if (size && bpf_probe_read_user(e->data, size, (void *)from)) {
			bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
			goto unread;
		}
		e->h.size = size;
		bpf_ringbuf_submit(e, wakeup());
		return 0;
	}
	struct large *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e)
		goto lost;
	fill(&e->h, c, kind, offset);
	if (bpf_probe_read_user(e->data, size, (void *)from)) {
		bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
		goto unread;
	}
	e->h.size = size;
	bpf_ringbuf_submit(e, wakeup());
	return 0;
lost:
	c->flags |= LOST;
	lose(NO_ROOM);
	return 1;
unread:
	c->flags |= LOST;
	lose(NO_PAGE);
	return 1;
}

// copying is how far a copy has come.
struct copying {
	struct conn *c;
	u64 from, offset, left;
	u32 kind;
};

// piece sends the next piece. The kernel checks this function once, where it would check each
// round of a loop.
static long piece(u64 i, struct copying *todo)
{
	u32 n = todo->left > PIECE ? PIECE : todo->left;
	send(todo->c, todo->kind, todo->from, n, todo->offset);
	todo->from += n;
	todo->offset += n;
	todo->left -= n;
	return !todo->left;
}

// copy tells of what a connection carries, within its limit.
static __always_inline void copy(struct conn *c, u32 kind, u64 from, u64 size)
{
	u64 *count = kind == SENT ? &c->sent : kind == OFFERED ? &c->offered : &c->received;
	u64 at = *count, room = size;
	*count += size;
	if (limit) {
		room = at < limit ? limit - at : 0;
		if (room >= size)
			room = size;
		else if (kind != OFFERED)
			c->flags |= CUT;
	}
	if (!room)
		return;
	struct copying todo = {.c = c, .kind = kind, .from = from, .offset = at, .left = room};
	bpf_loop(PIECES, piece, &todo, 0);
	if (todo.left) {
		c->flags |= CUT;
		send(c, kind, from, 0, todo.offset);
	}
}

// wanted says whether the calling task is watched.
static __always_inline u32 wanted(void) { return !want_ns || number(want_ns); }

static __always_inline struct key key(u64 at)
{
	struct key k = {.at = at, .tgid = bpf_get_current_pid_tgid() >> 32};
	return k;
}

// begin makes a connection anew.
static __always_inline struct conn *begin(struct key *k, u32 flags)
{
	struct conn made = {};
	made.id = bpf_ktime_get_ns() << 8 | (bpf_get_smp_processor_id() & 255);
	made.flags = flags;
	if (bpf_map_update_elem(&conns, k, &made, BPF_ANY))
		lose(NO_CALL);
	return bpf_map_lookup_elem(&conns, k);
}

static __always_inline struct conn *find(u64 at)
{
	struct key k = key(at);
	struct conn *c = bpf_map_lookup_elem(&conns, &k);
	return c ? c : begin(&k, 0);
}

// greet notes that a connection begins, where nothing was seen of it before.
static __always_inline struct conn *greet(u64 at)
{
	struct key k = key(at);
	struct conn *c = bpf_map_lookup_elem(&conns, &k);
	if (!c || c->sent || c->ends.family)
		return begin(&k, WHOLE);
	c->flags |= WHOLE;
	return c;
}

// act notes the connection on which the task works, until its socket is known.
static __always_inline void act(struct conn *c, u64 at, u64 goroutine)
{
	if (c->ends.family)
		return;
	u64 id = bpf_get_current_pid_tgid();
	struct acting a = {.conn = at, .goroutine = goroutine};
	bpf_map_update_elem(&tasks, &id, &a, BPF_ANY);
}

static __always_inline int enter(u64 at, u64 buf, u64 size, u64 done, u64 sp)
{
	if (!at || !wanted())
		return 0;
	struct conn *c = find(at);
	if (!c)
		return 0;
	act(c, at, 0);
	struct frame f = {.task = bpf_get_current_pid_tgid(), .at = sp};
	struct call call = {.conn = at, .buf = buf, .size = size, .done = done};
	if (bpf_map_update_elem(&calls, &f, &call, BPF_ANY))
		lose(NO_CALL);
	return 0;
}

// leave takes what enter kept, and says in n how much of the buffer was used.
static __always_inline struct conn *leave(struct uregs *r, u32 ex, struct call *call, u64 *n)
{
	if (!wanted())
		return 0;
	struct frame f = {.task = bpf_get_current_pid_tgid(), .at = FRAME_AT_RETURN(r)};
	struct call *kept = bpf_map_lookup_elem(&calls, &f);
	if (!kept)
		return 0; // it began before the probes were set
	*call = *kept;
	bpf_map_delete_elem(&calls, &f);
	s32 ret = RESULT(r);
	u64 taken = ret > 0 ? ret : 0;
	*n = 0;
	if (ex && ret == 1 && call->done)
		bpf_probe_read_user(n, sizeof(*n), (void *)call->done);
	else if (!ex) // not by an assignment: a bound that the verifier knows has it count the rounds of a copy
		bpf_probe_read_kernel(n, sizeof(*n), &taken);
	return find(call->conn);
}

static __always_inline int wrote(struct uregs *r, u32 ex)
{
	struct call call;
	u64 n;
	struct conn *c = leave(r, ex, &call, &n);
	if (!c)
		return 0;
	if (n)
		copy(c, SENT, call.buf, n);
	else if (!c->sent)
		copy(c, OFFERED, call.buf, call.size);
	return 0;
}

static __always_inline int got(struct uregs *r, u32 ex)
{
	struct call call;
	u64 n;
	struct conn *c = leave(r, ex, &call, &n);
	if (c && n)
		copy(c, RECEIVED, call.buf, n);
	return 0;
}

// int SSL_write(SSL *, const void *, int), ssize_t gnutls_record_send(session, const void *, size_t)
SEC("uprobe/c_write") int c_write(struct uregs *r) { return enter(ARG(r, 0), ARG(r, 1), (u32)ARG(r, 2), 0, FRAME(r)); }
SEC("uretprobe/c_write_return") int c_write_return(struct uregs *r) { return wrote(r, 0); }

// int SSL_write_ex(SSL *, const void *, size_t, size_t *)
SEC("uprobe/c_write_ex") int c_write_ex(struct uregs *r) { return enter(ARG(r, 0), ARG(r, 1), ARG(r, 2), ARG(r, 3), FRAME(r)); }
SEC("uretprobe/c_write_ex_return") int c_write_ex_return(struct uregs *r) { return wrote(r, 1); }

// int SSL_read(SSL *, void *, int) and the like
SEC("uprobe/c_read") int c_read(struct uregs *r) { return enter(ARG(r, 0), ARG(r, 1), (u32)ARG(r, 2), 0, FRAME(r)); }
SEC("uretprobe/c_read_return") int c_read_return(struct uregs *r) { return got(r, 0); }
SEC("uprobe/c_read_ex") int c_read_ex(struct uregs *r) { return enter(ARG(r, 0), ARG(r, 1), ARG(r, 2), ARG(r, 3), FRAME(r)); }
SEC("uretprobe/c_read_ex_return") int c_read_ex_return(struct uregs *r) { return got(r, 1); }

// SSL *SSL_new(SSL_CTX *)
SEC("uretprobe/c_new") int c_new(struct uregs *r)
{
	if (!RESULT(r) || !wanted())
		return 0;
	struct key k = key(RESULT(r));
	begin(&k, WHOLE);
	return 0;
}

// void SSL_free(SSL *), void gnutls_deinit(session)
SEC("uprobe/c_free") int c_free(struct uregs *r)
{
	if (!wanted())
		return 0;
	struct key k = key(ARG(r, 0));
	struct conn *c = bpf_map_lookup_elem(&conns, &k);
	if (!c)
		return 0;
	if (c->ends.family || c->sent || c->offered)
		send(c, CLOSED, 0, 0, 0);
	bpf_map_delete_elem(&conns, &k);
	return 0;
}

// Each function of a connection's that may write records: SSL_do_handshake, SSL_connect, SSL_read where it is not read.
SEC("uprobe/c_touch") int c_touch(struct uregs *r)
{
	if (!ARG(r, 0) || !wanted())
		return 0;
	struct conn *c = find(ARG(r, 0));
	if (c)
		act(c, ARG(r, 0), 0);
	return 0;
}

// int gnutls_handshake(session)
SEC("uprobe/c_greet") int c_greet(struct uregs *r)
{
	if (!wanted())
		return 0;
	struct key k = key(ARG(r, 0));
	struct conn *c = bpf_map_lookup_elem(&conns, &k);
	if (!c)
		c = begin(&k, WHOLE);
	if (c)
		act(c, ARG(r, 0), 0);
	return 0;
}

static __always_inline int named(u64 at, u64 name)
{
	if (!name || !wanted())
		return 0;
	char text[256];
	s64 n = bpf_probe_read_user_str(text, sizeof(text), (void *)name);
	struct conn *c = find(at);
	if (c && n > 1 && n <= 256)
		send(c, NAMED, name, n - 1, 0);
	return 0;
}

// long SSL_ctrl(SSL *, int, long, void *), which SSL_set_tlsext_host_name is a macro of
SEC("uprobe/c_ctrl") int c_ctrl(struct uregs *r) { return (u32)ARG(r, 1) == 55 ? named(ARG(r, 0), ARG(r, 3)) : 0; }

// int SSL_set_tlsext_host_name(SSL *, const char *), BoringSSL's
SEC("uprobe/c_name") int c_name(struct uregs *r) { return named(ARG(r, 0), ARG(r, 1)); }

// func (c *Conn) clientHandshake(context.Context) error
SEC("uprobe/go_handshake") int go_handshake(struct uregs *r)
{
	u64 at = GO_ARG(r, 0);
	struct conn *c;
	if (at && wanted() && (c = greet(at)))
		act(c, at, GOROUTINE(r));
	return 0;
}

// func (c *Conn) Write([]byte) (int, error): what is written before the handshake is done was only offered.
SEC("uprobe/go_write") int go_write(struct uregs *r)
{
	u64 at = GO_ARG(r, 0);
	struct conn *c;
	if (!at || !wanted() || !(c = find(at)))
		return 0;
	act(c, at, GOROUTINE(r));
	if (!c->sent)
		copy(c, OFFERED, GO_ARG(r, 1), GO_ARG(r, 2));
	return 0;
}

// func (c *Conn) writeRecordLocked(recordType, []byte) (int, error)
SEC("uprobe/go_record") int go_record(struct uregs *r)
{
	u64 at = GO_ARG(r, 0);
	struct conn *c;
	if (!at || !wanted() || !(c = find(at)))
		return 0;
	act(c, at, GOROUTINE(r));
	if ((u8)GO_ARG(r, 1) == RECORD)
		copy(c, SENT, GO_ARG(r, 2), GO_ARG(r, 3));
	return 0;
}

// A goroutine's Read waits on any thread, and its stack may move: it is known by itself.
SEC("uprobe/go_read") int go_read(struct uregs *r)
{
	if (!wanted())
		return 0;
	struct frame f = {.task = bpf_get_current_pid_tgid() >> 32, .at = GOROUTINE(r)};
	struct call call = {.conn = GO_ARG(r, 0), .buf = GO_ARG(r, 1), .size = GO_ARG(r, 2)};
	if (bpf_map_update_elem(&calls, &f, &call, BPF_ANY))
		lose(NO_CALL);
	return 0;
}

SEC("uprobe/go_read_return") int go_read_return(struct uregs *r)
{
	if (!wanted())
		return 0;
	struct frame f = {.task = bpf_get_current_pid_tgid() >> 32, .at = GOROUTINE(r)};
	struct call *call = bpf_map_lookup_elem(&calls, &f);
	if (!call)
		return 0;
	u64 buf = call->buf, at = call->conn, most = call->size, n = RESULT(r);
	bpf_map_delete_elem(&calls, &f);
	struct conn *c = find(at);
	if (c && n && n <= most)
		copy(c, RECEIVED, buf, n);
	return 0;
}

// first finds the begin of what a call writes.
static __always_inline u64 first(u64 nr, u64 at)
{
	u64 p = at;
	if (nr == NR_SENDMSG && bpf_probe_read_user(&p, sizeof(p), (void *)(at + 16)))
		return 0;
	if ((nr == NR_SENDMSG || nr == NR_WRITEV) && bpf_probe_read_user(&p, sizeof(p), (void *)p))
		return 0;
	return p;
}

// The first record of TLS that a task writes to a TCP socket, while it works on a connection
// whose socket is not known, is of that connection.
SEC("raw_tp/sys_enter") int on_enter(struct bpf_raw_tracepoint_args *ctx)
{
	u64 nr = ctx->args[1];
	if (nr != NR_WRITE && nr != NR_WRITEV && nr != NR_SENDTO && nr != NR_SENDMSG)
		return 0;
	u64 id = bpf_get_current_pid_tgid();
	struct acting *a = bpf_map_lookup_elem(&tasks, &id);
	if (!a)
		return 0;
	struct uregs r;
	if (bpf_probe_read_kernel(&r, sizeof(r), (void *)ctx->args[0]))
		return 0;
	if (a->goroutine && a->goroutine != GOROUTINE(&r))
		return 0;
	struct key k = key(a->conn);
	struct conn *c = bpf_map_lookup_elem(&conns, &k);
	if (!c || c->ends.family) {
		bpf_map_delete_elem(&tasks, &id);
		return 0;
	}
	u8 record[3] = {};
	u64 from = first(nr, ARG(&r, 1));
	if (!from || bpf_probe_read_user(record, sizeof(record), (void *)from))
		return 0;
	if (record[0] < 20 || record[0] > 23 || record[1] != 3)
		return 0;
	struct ends ends = {};
	if (!ends_of(ARG(&r, 0), &ends))
		return 0;
	c->ends = ends;
	send(c, BOUND, 0, 0, 0);
	bpf_map_delete_elem(&tasks, &id);
	return 0;
}

// found tells once of each file whose code a process runs or maps.
static __always_inline void found(struct file *f)
{
	struct inode *inode = BPF_CORE_READ(f, f_inode);
	if (!inode || (BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFREG)
		return;
	u64 file = (u64)BPF_CORE_READ(inode, i_sb, s_dev) << 40 ^ BPF_CORE_READ(inode, i_ino);
	u8 one = 1;
	if (bpf_map_update_elem(&files, &file, &one, BPF_NOEXIST))
		return; // it is known
	struct conn c = {.id = file};
	send(&c, FOUND, 0, 0, 0);
}

SEC("raw_tp/sched_process_exec") int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct linux_binprm *p = (struct linux_binprm *)ctx->args[2];
	struct file *f = BPF_CORE_READ(p, file);
	if (f)
		found(f);
	return 0;
}

SEC("raw_tp/sys_exit") int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct uregs r, *at = (struct uregs *)ctx->args[0];
	u64 nr = 0;
	bpf_probe_read_kernel(&nr, sizeof(nr), &NUMBER(at));
	if (nr != NR_MMAP || (ctx->args[1] > -4096ULL) || bpf_probe_read_kernel(&r, sizeof(r), at) || !(MAPPED_AS(&r) & PROT_EXEC))
		return 0;
	struct file *f = file_of(MAPPED_FD(&r));
	if (f)
		found(f);
	return 0;
}
