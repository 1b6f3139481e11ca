/* Reads the file that the third argument names in the way that the first one
 * names, in the directory of the second, and says "got" when it has. What is
 * refused it says, too. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/filter.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char *secret, *self;

static int reads(int fd) {
	char c;
	if (fd < 0 || pread(fd, &c, 1, 0) != 1) { perror("read"); return 0; }
	return c == 'S'; /* the secret's first letter */
}

static void say(int ok) { puts(ok ? "got" : "not"); fflush(stdout); }

static void reap(void) { while (wait(NULL) > 0); }

static void e_openat2(void) {
	struct open_how how = {.flags = O_RDONLY};
	say(reads(syscall(SYS_openat2, AT_FDCWD, secret, &how, sizeof how)));
}

static int parent_of(char *name) {
	char dir[4096];
	strcpy(dir, secret);
	char *slash = strrchr(dir, '/');
	strcpy(name, slash + 1);
	*slash = 0;
	return open(dir, O_PATH);
}

static void e_dirfd(void) {
	char name[256], odd[600];
	int d = parent_of(name);
	sprintf(odd, "./.././%s/../%s", "nowhere", name);
	int first = openat(d, odd, O_RDONLY);
	say(reads(openat(d, name, O_RDONLY)));
	close(first);
}

static void e_dots(void) {
	char p[4200];
	sprintf(p, "/usr/..//usr/./../%s", secret + 1);
	say(reads(open(p, O_RDONLY)));
}

static void e_procroot(void) {
	char p[4200];
	sprintf(p, "/proc/self/root%s", secret);
	say(reads(open(p, O_RDONLY)));
}

static volatile int stop;

static void *flip(void *_) {
	for (; !stop;) {
		symlink(secret, "t1"), rename("t1", "race");
		symlink("/etc/hostname", "t2"), rename("t2", "race");
	}
	return NULL;
}

static void e_symlink(void) {
	pthread_t t;
	int got = 0;
	pthread_create(&t, NULL, flip, NULL);
	for (int i = 0; i < 20000 && !got; i++) {
		int fd = open("race", O_RDONLY);
		if (fd < 0) continue;
		char c = 0;
		got = pread(fd, &c, 1, 0) == 1 && c == 'S';
		close(fd);
	}
	stop = 1;
	pthread_join(t, NULL);
	say(got);
}

static char shared[4096];

static void *rewrite(void *_) {
	for (; !stop;) strcpy(shared, secret), strcpy(shared, "/etc/hostname");
	return NULL;
}

static void e_rewrite(void) {
	pthread_t t;
	int got = 0;
	strcpy(shared, "/etc/hostname");
	pthread_create(&t, NULL, rewrite, NULL);
	for (int i = 0; i < 200000 && !got; i++) {
		int fd = open(shared, O_RDONLY);
		if (fd < 0) continue;
		char c = 0;
		got = pread(fd, &c, 1, 0) == 1 && c == 'S';
		close(fd);
	}
	stop = 1;
	pthread_join(t, NULL);
	say(got);
}

static void again(int fd) {
	char *argv[] = {"again", "plain", ".", secret, NULL}, *env[] = {NULL};
	if (fd >= 0) syscall(SYS_execveat, fd, "", argv, env, AT_EMPTY_PATH);
	execve("/proc/self/exe", argv, env);
	perror("exec");
}

static void e_memfd(void) {
	int m = memfd_create("lib", 0), f = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	fstat(f, &st);
	for (off_t at = 0; at < st.st_size;) if (sendfile(m, f, &at, st.st_size) <= 0) break;
	again(m);
}

static void *exec_here(void *_) { again(-1); return NULL; }

static void e_threadexec(void) {
	pthread_t t;
	pthread_create(&t, NULL, exec_here, NULL);
	pthread_join(t, NULL);
}

static void e_plain(void) { say(reads(open(secret, O_RDONLY))); }

static void e_vfork(void) {
	if (!vfork()) {
		int fd = open(secret, O_RDONLY);
		_exit(fd < 0);
	}
	int st = 1;
	wait(&st);
	say(st == 0);
}

static void e_iouring(void) {
	char params[256] = {0};
	if (syscall(SYS_io_uring_setup, 8, params) < 0 && errno == ENOSYS) puts("denied");
	else puts("got");
}

static void e_int80(void) {
#if defined(__x86_64__)
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	strcpy(low, secret);
	long r;
	asm volatile("int $0x80" : "=a"(r) : "a"(5), "b"(low), "c"(0), "d"(0) : "r8", "r9", "r10", "r11", "memory");
	say(reads(r));
#else
	puts("denied");
#endif
}

static void e_rights(void) {
	int pair[2];
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	char control[CMSG_SPACE(sizeof(int))] = {0}, c;
	struct iovec v = {&c, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	if (!fork()) {
		int fd = open(secret, O_RDONLY);
		h->cmsg_level = SOL_SOCKET, h->cmsg_type = SCM_RIGHTS, h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &fd, sizeof fd);
		sendmsg(pair[0], &m, 0);
		_exit(0);
	}
	recvmsg(pair[1], &m, 0);
	int fd = -1;
	memcpy(&fd, CMSG_DATA(h), sizeof fd);
	reap();
	say(reads(fd));
}

static void e_mmap(void) {
	char *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(secret, O_RDONLY), 0);
	say(p != MAP_FAILED && *p == 'S');
}

static void e_copy(void) {
	int out = open("copy", O_CREAT | O_RDWR, 0600);
	copy_file_range(open(secret, O_RDONLY), NULL, out, NULL, 64, 0);
	if (!reads(out)) sendfile(out, open(secret, O_RDONLY), NULL, 64); /* another file system */
	say(reads(out));
}

static void e_sendfile(void) {
	int out = open("copy", O_CREAT | O_RDWR, 0600);
	sendfile(out, open(secret, O_RDONLY), NULL, 64);
	say(reads(out));
}

static void e_splice(void) {
	int p[2];
	char c = 0;
	pipe(p);
	splice(open(secret, O_RDONLY), NULL, p[1], NULL, 64, 0);
	read(p[0], &c, 1);
	say(c == 'S');
}

static void e_opath(void) {
	char p[64];
	sprintf(p, "/proc/self/fd/%d", open(secret, O_PATH));
	say(reads(open(p, O_RDONLY)));
}

static void e_link(void) {
	symlink(secret, "l1"), symlink("l1", "l2");
	say(reads(open("l2", O_RDONLY)));
}

static void e_abstract(void) {
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	strcpy(a.sun_path + 1, "hidden-channel");
	int l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(l, (void *)&a, 2 + 15), listen(l, 1);
	say(connect(c, (void *)&a, 2 + 15) == 0);
}

static void e_children(void) {
	int ok = 0;
	for (int i = 0; i < 1000; i++) {
		pid_t p = fork();
		if (!p) { int fd = open(secret, O_RDONLY); _exit(fd < 0); }
		int st = 1;
		ok += waitpid(p, &st, 0) == p && st == 0;
	}
	say(ok == 1000);
}

static void *open_and_go(void *_) { return (void *)(long)open(secret, O_RDONLY | O_CLOEXEC); }

static void e_exits(void) {
	int ok = 0;
	for (int i = 0; i < 50; i++) {
		pid_t p = fork();
		if (!p) {
			pthread_t t[16];
			for (int n = 0; n < 16; n++) pthread_create(&t[n], NULL, open_and_go, NULL);
			for (int n = 0; n < 16; n++) pthread_join(t[n], NULL);
			_exit(0);
		}
		int st = 1;
		ok += waitpid(p, &st, 0) == p && st == 0;
	}
	say(ok == 50);
}

static void e_notify(void) {
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {4, code};
	int n = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
	if (n < 0) { puts("denied"); fflush(stdout); e_plain(); return; }
	if (!fork()) _exit(!reads(syscall(SYS_openat, AT_FDCWD, secret, O_RDONLY)));
	char req[512] = {0}, resp[64] = {0};
	if (ioctl(n, SECCOMP_IOCTL_NOTIF_RECV, req) == 0) {
		memcpy(resp, req, 8);
		((struct seccomp_notif_resp *)resp)->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(n, SECCOMP_IOCTL_NOTIF_SEND, resp);
	}
	int st = 1;
	wait(&st);
	say(st == 0);
}

static void e_namespaces(void) {
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID)) { puts("denied"); fflush(stdout); e_plain(); return; }
	if (!fork()) {
		unshare(CLONE_NEWUSER | CLONE_NEWPID);
		if (!fork()) _exit(!reads(open(secret, O_RDONLY)));
		int st = 1;
		wait(&st);
		_exit(st != 0);
	}
	int st = 1;
	wait(&st);
	say(st == 0);
}

static void e_mounts(void) {
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) { puts("denied"); fflush(stdout); e_plain(); return; }
	say(reads(open(secret, O_RDONLY)));
}

static void e_chroot(void) {
	if (unshare(CLONE_NEWUSER)) { puts("denied"); fflush(stdout); e_plain(); return; }
	char dir[4096];
	strcpy(dir, secret);
	*strrchr(dir, '/') = 0;
	if (chroot(dir)) { puts("denied"); fflush(stdout); e_plain(); return; }
	chdir("/");
	say(reads(open(strrchr(secret, '/'), O_RDONLY)));
}

static void e_detached(void) {
	if (!fork()) {
		setsid();
		if (!fork()) { usleep(20000); _exit(open(secret, O_RDONLY) < 0); }
		_exit(0);
	}
	reap();
	usleep(100000);
	say(1);
}

int main(int argc, char **argv) {
	static const struct { const char *name; void (*f)(void); } all[] = {
		{"plain", e_plain}, {"openat2", e_openat2}, {"dirfd", e_dirfd}, {"dots", e_dots}, {"proc-root", e_procroot}, {"symlink-race", e_symlink},
		{"rewritten-argument", e_rewrite}, {"memfd-exec", e_memfd}, {"thread-exec", e_threadexec}, {"vfork", e_vfork}, {"io_uring", e_iouring},
		{"int80", e_int80}, {"scm-rights", e_rights}, {"mmap", e_mmap}, {"copy_file_range", e_copy}, {"sendfile", e_sendfile},
		{"splice", e_splice}, {"o_path", e_opath}, {"links", e_link}, {"abstract-socket", e_abstract}, {"short-children", e_children},
		{"exit-storm", e_exits}, {"notify-continue", e_notify}, {"nested-namespaces", e_namespaces}, {"mount-namespace", e_mounts},
		{"chroot", e_chroot}, {"detached-child", e_detached},
	};
	if (argc < 4 || chdir(argv[2])) return 2;
	secret = argv[3], self = argv[0];
	for (int i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(argv[1], all[i].name)) { all[i].f(); return 0; }
	return 2;
}
