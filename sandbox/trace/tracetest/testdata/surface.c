/* Tries each part of the kernel that no server needs, and prints "NAME ERRNO" for
   each: 0 means that the kernel did it. With the argument "flood" it makes a
   million refused calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

static void say(const char *name, long r) { printf("%s %d\n", name, r < 0 ? errno : 0); fflush(stdout); }

/* A child does what succeeds, so that the parent stays as it was. */
static void apart(const char *name, long (*f)(void)) {
	int p = fork(), st;
	if (!p) { say(name, f()); _exit(0); }
	waitpid(p, &st, 0);
}

static long f_unshare(void) { return unshare(CLONE_NEWUSER | CLONE_NEWNET); }
static int nothing(void *x) { return 0; }
static char stack[65536];
static long f_clone(void) { return clone(nothing, stack + sizeof stack, CLONE_NEWUSER | 17, NULL); }
static long f_clone3(void) {
	struct { uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls; } a = {.flags = CLONE_NEWUSER, .exit_signal = 17};
	long r = syscall(SYS_clone3, &a, sizeof a);
	if (r == 0) _exit(0);
	return r;
}
static long f_prctl(void) {
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog prog = {1, code};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}
static long f_seccomp(void) {
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog prog = {1, code};
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
}

int main(int argc, char **argv) {
	if (argc > 1 && !strcmp(argv[1], "flood")) {
		long refused = 0;
		for (int i = 0; i < (argc > 2 ? atoi(argv[2]) : 1000000); i++) refused += syscall(SYS_userfaultfd, 1) < 0;
		printf("refused %ld\n", refused);
		return 0;
	}
	char attr[128] = {0}, text[] = "x";
	apart("unshare", f_unshare);
	apart("clone", f_clone);
	apart("clone3", f_clone3);
	apart("prctl", f_prctl);
	apart("seccomp", f_seccomp);
	say("userfaultfd", syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */));
	say("bpf", syscall(SYS_bpf, 0, attr, sizeof attr));
	say("perf_event_open", syscall(SYS_perf_event_open, attr, 0, -1, -1, 0));
	say("add_key", syscall(SYS_add_key, "user", "a", text, 1L, -3L));
	say("keyctl", syscall(SYS_keyctl, 0L, -3L, 1L));
	say("request_key", syscall(SYS_request_key, "user", "a", NULL, 0L));
	say("open_by_handle_at", syscall(SYS_open_by_handle_at, -100, attr, 0));
	say("init_module", syscall(SYS_init_module, attr, 1L, ""));
	say("finit_module", syscall(SYS_finit_module, 0, "", 0));
	say("delete_module", syscall(SYS_delete_module, "x", 0));
	say("kexec_load", syscall(SYS_kexec_load, 0L, 0L, 0L, 0L));
	say("kexec_file_load", syscall(SYS_kexec_file_load, -1, -1, 0L, "", 0L));
	say("io_uring_setup", syscall(SYS_io_uring_setup, 8, attr));
	say("socket-vsock", socket(AF_VSOCK, SOCK_STREAM, 0));
	say("socket-packet", socket(AF_PACKET, SOCK_RAW, 0));
	say("socket-alg", socket(AF_ALG, SOCK_SEQPACKET, 0));
	say("socket-xdp", socket(44, SOCK_RAW, 0));
	say("socket-tipc", socket(30, SOCK_STREAM, 0));
	say("socket-99", socket(99, SOCK_STREAM, 0));
	say("socket-netfilter", socket(AF_NETLINK, SOCK_RAW, 12));
	/* The kernel looks at the lower half of these arguments alone. */
	say("socket-high-half", syscall(SYS_socket, 0x100000000L | AF_VSOCK, SOCK_STREAM, 0L));
	int pair[2];
	say("socketpair-tipc", socketpair(30, SOCK_STREAM, 0, pair));
#if defined(__x86_64__)
	long r;
	asm volatile("int $0x80" : "=a"(r) : "a"(20) : "r8", "r9", "r10", "r11", "memory");
	errno = -r, say("i386", r < 0 ? -1 : 0);
	asm volatile("syscall" : "=a"(r) : "a"(0x40000000L + 39) : "rcx", "r11", "memory");
	errno = -r, say("x32", r < 0 ? -1 : 0);
#endif
	/* What a server does need. */
	say("inet", socket(AF_INET, SOCK_STREAM, 0));
	say("inet6", socket(AF_INET6, SOCK_DGRAM, 0));
	say("unix", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	say("route", socket(AF_NETLINK, SOCK_RAW, 0));
	say("name", prctl(PR_SET_NAME, "x"));
	say("fork", fork() == 0 ? (_exit(0), 0) : 0);
	return 0;
}
