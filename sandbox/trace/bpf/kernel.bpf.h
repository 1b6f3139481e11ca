// What the programs know of the kernel, what they tell, and where they keep it.

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
struct linux_binprm { const char *filename, *interp; };
struct mm_struct { unsigned long arg_start, arg_end; struct file *exe_file; };
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
#else
struct pt_regs { unsigned long bp, bx, r10, r9, r8, cx, dx, si, di, orig_ax; };
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

// Such a kernel also checks the body of a loop once, where others check each round,
// which takes most of the time that loading the programs takes.
#define REPEAT(most, step, state) do { \
	if (RECENT) \
		bpf_loop(most, step, state, 0); \
	else \
		for (u32 _i = 0; _i < (most) && !step(_i, state); _i++) \
			; \
	} while (0)

enum kind { CALL = 0, EARLY_ARGS = 1, FORKED = 2, EXITED = 3, SIGNAL = 4, EXECED = 5 };

// What is to be done with an argument.
enum act { NONE, STR, TEXT, FD, DIR, HOW, PAIR, ADDR, ADDRP, MSG, MSGS, ARGV, CLONE3 };

// What is to be done with a call.
enum { WATCH = 1, OPENS = 2, EXEC = 4, MULTI = 8, EARLY = 16 };

// What an event says besides.
enum { COMPAT = 1, FATAL = 2, CUT = 4, LATE = 8, LEADER = 16, LAST = 32, NOENTER = 64, SCRIPT = 128 };

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
enum { CWD = 6, ROOT = 7, RESULT = 8, WORD = 9, PASSED = 10, EXE = 11 };
struct blob { u8 what; u8 fault; u16 len; };

#define PIDFS 0x50494446
#define NCALLS 512
#define BUF (16 << 10)
#define MAX_STR 4096
#define MAX_PASSED 64
#define WAKE (256 << 10)

volatile const struct def defs[2][NCALLS];
volatile const u8 wanted[NCALLS];   // whether a call of this number is watched in any way of numbering
volatile const u16 socketcalls[32]; // what i386's call for all sockets stands for, by its first argument
volatile const u32 beat_nr = 0;     // prctl's number
volatile const u8 by_choice = 0;    // whether the processes in chosen are watched, and no namespace

// All below belongs to one watch, and is zero before it.
u32 want_ns = 0;
u64 beat_token = 0; // prctl's first argument when the reader asks whether anyone is there

u64 ns_ptr = 0;     // the namespace's address, once it was seen; the reader holds it alive
u32 ns_level = 0;
u32 agent = 0;      // the machine's number of the namespace's first process
u64 beats[2] = {};  // how often it was seen to ask, at the enter and at the exit

// A call under way has the slot of its task's number, or where another task has
// that, a stash. Of a call that is told of at its enter more is kept: an exec
// leaves registers behind that say nothing of it.
#define SLOTS (1 << 16)
struct slot { u64 id, time, registers; s32 child, tid; u32 nr, flags; };
struct slot slots[SLOTS] = {};
u64 top_mnt = 0, top_dentry = 0; // a root directory that is the whole tree's

struct stash { u64 time; u64 args[6]; u32 nr; u32 flags; s32 tid, child; };

struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 1 << 24); } events SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct stash);
} inflight SEC(".maps");

// The processes to be watched, by the machine's numbers, with those that they have started.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, u8);
} chosen SEC(".maps");

// Why something is missing.
enum { NO_ROOM, NO_STASH, NO_BUFFER, NO_CHOICE, NLOSSES };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NLOSSES);
	__type(key, u32);
	__type(value, u64);
} losses SEC(".maps");

struct scratch { struct head h; u8 b[BUF + MAX_STR + 64]; u32 sent; u64 dentry, mnt; };
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
