/* Tasks that come and go in unusual ways, one by name. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program;

static void *sleeper(void *none) {
	pause();
	return none;
}

static void *executor(void *none) {
	usleep(10000);
	execl(program, program, "first", NULL);
	return none;
}

/* An exec by a thread that is not its group's leader. */
static void thread_exec(const char *path) {
	pthread_t one, two;
	program = path;
	pthread_create(&one, 0, sleeper, 0);
	pthread_create(&two, 0, executor, 0);
	pause();
}

#ifdef __x86_64__
static long old_call(long number, long a, long b, long c) {
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
	return result;
}
#endif

/* 32-bit system calls of a 64-bit program. */
static void bits32(void) {
#ifdef __x86_64__
	char *low = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	strcpy(low, "/etc/hostname");
	old_call(5, (long)low, 0, 0);
	strcpy(low, "/nowhere");
	old_call(10, (long)low, 0, 0);
	int *args = (int *)(low + 512);
	args[0] = 2, args[1] = 1, args[2] = 0;
	old_call(102, 1, (long)args, 0);
	old_call(354, 0, 0, (long)low); /* refused with a filter and without */
	syscall(SYS_open, "/etc/hosts", O_RDONLY);
#endif
}

static void untraced(void) {
	if (syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0) == 0) {
		int fd = open("/etc/passwd", O_RDONLY);
		_exit(fd < 0 && errno == ENOSYS ? 0 : 1);
	}
	int status;
	wait(&status);
	exit(WEXITSTATUS(status));
}

static void new_clone(void) {
	int fd, tid;
	struct clone_args args = {.flags = CLONE_PIDFD | CLONE_PARENT_SETTID, .exit_signal = SIGCHLD};
	args.pidfd = (unsigned long)&fd;
	args.parent_tid = (unsigned long)&tid;
	if (syscall(SYS_clone3, &args, sizeof args) == 0) {
		open("/etc/passwd", O_RDONLY);
		_exit(0);
	}
	syscall(SYS_pidfd_send_signal, fd, 0, 0, 0);
	wait(0);
}

static void namespaces(void) {
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
		exit(77);
	}
	if (fork() == 0) {
		if (fork() == 0) {
			open("/etc/passwd", O_RDONLY);
			kill(getpid(), 0);
			_exit(4);
		}
		wait(0);
		_exit(0);
	}
	wait(0);
}

static void filter(void) {
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = {1, &allow};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_NAME, "x) = 0\n1 1.0 unlink(\"/y\") = 0");
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void *opener(void *path) {
	for (int i = 0; i < 200; i++) {
		close(open(path, O_RDONLY));
		close(open("/proc/self/status", O_RDONLY));
	}
	return path;
}

/* Threads whose calls are interleaved in the log. */
static void storm(void) {
	pthread_t t[4];
	static char paths[4][32];
	for (int i = 0; i < 4; i++) {
		sprintf(paths[i], "/proc/self/fdinfo/../storm%d", i);
		pthread_create(&t[i], 0, opener, paths[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], 0);
	}
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "thread-exec")) thread_exec(argc > 2 ? argv[2] : "/bin/true");
	if (!strcmp(what, "32-bit")) bits32();
	if (!strcmp(what, "untraced")) untraced();
	if (!strcmp(what, "clone3")) new_clone();
	if (!strcmp(what, "pid-namespace")) namespaces();
	if (!strcmp(what, "filter")) filter();
	if (!strcmp(what, "storm")) storm();
	if (!strcmp(what, "spin")) {
		for (int n = argc > 2 ? atoi(argv[2]) : 0; n > 0; n--) syscall(SYS_getppid);
	}
	return 0;
}
