/* Makes the calls of one family, named by the first argument, in the directory
 * that the second names. What it does and what comes of it is the same each time. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_alg.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/vm_sockets.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static void reap(void) { while (wait(NULL) > 0); }

static void f_open(void) {
	close(open("a", O_CREAT | O_RDWR | O_EXCL, 0600));
	close(open("a", O_RDONLY | O_CLOEXEC));
	close(open("a", O_WRONLY | O_APPEND | O_NONBLOCK | O_NOFOLLOW));
	open("a", O_CREAT | O_EXCL, 0600);
	open("none", O_RDWR);
	open("", O_RDONLY);
	open((void *)8, O_RDONLY);
	close(creat("b", 0644));
	int d = open(".", O_PATH | O_DIRECTORY);
	close(openat(d, "a", O_RDONLY));
	close(openat(d, "./x/../a", O_RDONLY));
	openat(d, "../../../../../etc/shadow", O_RDONLY);
	openat(99, "a", O_RDONLY);
	close(openat(99, "/etc/passwd", O_RDONLY));
	close(openat(d, "", O_TMPFILE | O_RDWR, 0600));
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
	close(syscall(SYS_openat2, d, "a", &how, sizeof how));
	syscall(SYS_openat2, d, "../a", &how, sizeof how);
	close(open("/proc/self/root/etc/passwd", O_RDONLY));
	char path[64];
	int p = open("a", O_PATH);
	sprintf(path, "/proc/self/fd/%d", p);
	close(open(path, O_RDONLY));
	close(p);
	close(d);
}

static void f_names(void) {
	mkdir("d", 0755);
	mkdirat(AT_FDCWD, "d/e", 0700);
	mkdir("d", 0755);
	close(open("d/f", O_CREAT | O_WRONLY, 0644));
	rename("d/f", "d/g");
	renameat2(AT_FDCWD, "d/none", AT_FDCWD, "d/h", RENAME_NOREPLACE);
	link("d/g", "d/h");
	symlink("../t", "d/s");
	symlinkat("/abs", AT_FDCWD, "d/s2");
	char buf[99];
	readlink("d/s", buf, sizeof buf);
	mknod("d/fifo", S_IFIFO | 0600, 0);
	access("d/g", R_OK | W_OK);
	faccessat(AT_FDCWD, "d/none", F_OK, 0);
	unlink("d/s");
	unlinkat(AT_FDCWD, "d/s2", 0);
	unlink("d/fifo");
	unlink("d/h");
	unlink("d/none");
	rmdir("d/e");
	unlink("d/g");
	unlinkat(AT_FDCWD, "d", AT_REMOVEDIR);
}

static void f_attributes(void) {
	int f = open("a", O_CREAT | O_RDWR, 0600);
	chmod("a", 04755);
	fchmod(f, 0600);
	fchmodat(AT_FDCWD, "a", 0644, 0);
	chown("a", 0, 0);
	fchownat(AT_FDCWD, "a", -1, -1, AT_SYMLINK_NOFOLLOW);
	fchown(f, -1, -1);
	utimensat(AT_FDCWD, "a", NULL, 0);
	futimens(f, NULL);
	setxattr("a", "user.x", "v", 1, 0);
	fremovexattr(f, "user.x");
	truncate("a", 7);
	ftruncate(f, 3);
	fallocate(f, 0, 0, 64);
	close(f);
}

static void f_directories(void) {
	mkdir("d", 0755);
	int up = open("..", O_PATH);
	chdir("d");
	close(open("in-d", O_CREAT | O_WRONLY, 0600));
	chdir("none");
	chdir("..");
	fchdir(up);
	open("in-up", O_RDONLY);
	chroot("/");
	chdir("/");
	open("etc/none", O_RDONLY);
}

static void f_inet(void) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(81)};
	inet_pton(AF_INET, "127.0.0.1", &a.sin_addr);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	connect(s, (void *)&a, sizeof a);
	int l = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
	a.sin_port = htons(8181);
	int one = 1;
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	bind(l, (void *)&a, sizeof a);
	listen(l, 5);
	s = socket(AF_INET, SOCK_STREAM, 0);
	connect(s, (void *)&a, sizeof a);
	send(s, "hello", 5, MSG_NOSIGNAL);
	int c = accept4(l, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	char buf[9];
	recv(c, buf, sizeof buf, 0);
	connect(77, (void *)&a, sizeof a);
	connect(s, (void *)1, 16);
}

/* Descriptors that go to another process, and what a socket does not let go. */
static void passed(void) {
	int pair[2], fds[3] = {open("/etc/passwd", O_RDONLY), open("/etc", O_PATH), 0};
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	fds[2] = pair[1];
	char room[CMSG_SPACE(sizeof fds)] = {0};
	struct iovec v = {"cmsg_type=SCM_RIGHTS, cmsg_data=[3</etc/shadow>]", 48};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof fds);
	memcpy(CMSG_DATA(c), fds, sizeof fds);
	sendmsg(pair[0], &m, 0);
	struct mmsghdr one = {m};
	sendmmsg(pair[0], &one, 1, 0);
	char got[4];
	struct iovec w = {got, sizeof got};
	struct msghdr in = {.msg_iov = &w, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	recvmsg(pair[1], &in, 0);
	c->cmsg_len = CMSG_LEN(sizeof fds), fds[0] = 999;
	memcpy(CMSG_DATA(c), fds, sizeof fds);
	sendmsg(pair[0], &m, 0);
}

static void f_inet6(void) {
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(82)}, b = a;
	inet_pton(AF_INET6, "::1", &a.sin6_addr);
	inet_pton(AF_INET6, "::ffff:127.0.0.2", &b.sin6_addr);
	int s = socket(AF_INET6, SOCK_STREAM, 0);
	connect(s, (void *)&a, sizeof a);
	int u = socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
	sendto(u, "x", 1, MSG_DONTWAIT, (void *)&a, sizeof a);
	struct iovec v = {"msg_name={sa_family=AF_INET}", 8};
	struct msghdr m = {.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &v, .msg_iovlen = 1};
	sendmsg(u, &m, 0);
	struct mmsghdr two[2] = {{m}, {m}};
	two[1].msg_hdr.msg_name = &b;
	sendmmsg(u, two, 2, 0);
	passed();
}

static void f_unix(void) {
	struct sockaddr_un p = {.sun_family = AF_UNIX, .sun_path = "so\"ck}, x=\n"};
	int x = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(x, (void *)&p, sizeof p);
	listen(x, 1);
	int y = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connect(y, (void *)&p, sizeof p);
	unlink(p.sun_path);
	memset(p.sun_path, 0, sizeof p.sun_path);
	strcpy(p.sun_path + 1, "abs\"tract\n}");
	connect(y, (void *)&p, 2 + 12);
	connect(y, (void *)&p, 2);
	int pair[2];
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec v = {"f", 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET, h->cmsg_type = SCM_RIGHTS, h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &x, sizeof x);
	sendmsg(pair[0], &m, 0);
	recvmsg(pair[1], &m, 0);
}

static void f_families(void) {
	struct sockaddr_nl nl = {.nl_family = AF_NETLINK};
	int k = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	bind(k, (void *)&nl, sizeof nl);
	struct sockaddr odd = {.sa_family = 99};
	connect(k, &odd, sizeof odd);
	socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
	socket(AF_PACKET, SOCK_RAW, 0);
	struct sockaddr_vm vm = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_HOST, .svm_port = 9};
	int v = socket(AF_VSOCK, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connect(v < 0 ? 88 : v, (void *)&vm, sizeof vm);
	struct sockaddr_alg alg = {.salg_family = AF_ALG, .salg_type = "hash", .salg_name = "sha256"};
	int a = socket(AF_ALG, SOCK_SEQPACKET, 0);
	bind(a < 0 ? 88 : a, (void *)&alg, sizeof alg);
}

static void *opens(void *path) { close(open(path, O_RDONLY)); return NULL; }

static void f_tasks(void) {
	if (!fork()) _exit(3);
	reap();
	if (!vfork()) _exit(4);
	reap();
	pthread_t t;
	pthread_create(&t, NULL, opens, "/etc/passwd");
	pthread_join(t, NULL);
	if (!fork()) {
		if (!fork()) { opens("/etc/group"); _exit(5); }
		reap();
		_exit(6);
	}
	reap();
	if (!fork()) kill(getpid(), SIGKILL);
	reap();
	if (!fork()) abort();
	reap();
}

static void f_exec(void) {
	char self[512] = {0};
	readlink("/proc/self/exe", self, sizeof self - 1);
	char *argv[] = {self, "nothing", "a\"b", "c\nd", "\xff", NULL}, *env[] = {NULL};
	if (!fork()) { execve("/nonexistent", argv, env); _exit(1); }
	reap();
	if (!fork()) { execve(self, argv, env); _exit(1); }
	reap();
	int fd = open(self, O_PATH | O_CLOEXEC);
	if (!fork()) { syscall(SYS_execveat, fd, "", argv, env, AT_EMPTY_PATH); _exit(1); }
	reap();
	int s = open("script", O_CREAT | O_WRONLY, 0700);
	write(s, "#!", 2), write(s, self, strlen(self)), write(s, " nothing\n", 9);
	close(s);
	char *script[] = {"./script", "x", NULL};
	if (!fork()) { execve("./script", script, env); _exit(1); }
	reap();
}

static void handler(int sig) {}

static void f_signals(void) {
	signal(SIGUSR1, handler);
	kill(getpid(), SIGUSR1);
	kill(getpid(), 0);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	kill(999999, SIGTERM);
	int p = syscall(SYS_pidfd_open, getpid(), 0);
	syscall(SYS_pidfd_send_signal, p, 0, NULL, 0);
	raise(SIGUSR1);
}

static void f_intrusion(void) {
	ptrace(PTRACE_ATTACH, 999999, 0, 0);
	struct iovec v = {"x", 1};
	process_vm_readv(999999, &v, 1, &v, 1, 0);
	mount("src", "/nowhere", "tmpfs", MS_NOSUID | MS_NODEV, NULL);
	umount2("/nowhere", MNT_DETACH);
	unshare(CLONE_FS);
	setns(0, CLONE_NEWNET);
	struct rlimit l;
	getrlimit(RLIMIT_CORE, &l);
	setrlimit(RLIMIT_CORE, &l);
	syscall(SYS_bpf, 0, NULL, 0);
	syscall(SYS_seccomp, 1, 0, NULL);
	syscall(SYS_io_uring_setup, 8, NULL);
	syscall(SYS_io_uring_enter, 0, 1, 1, 0, NULL);
	prctl(38, 1, 0, 0, 0);
	sethostname("x", 1);
	setuid(getuid());
}

static void f_memory(void) {
	int m = memfd_create("nam\"e>", MFD_CLOEXEC);
	ftruncate(m, 4096);
	mmap(NULL, 4096, PROT_READ, MAP_SHARED, m, 0);
	int f = open("/etc/passwd", O_RDONLY);
	mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, f, 0);
	close(f);
}

static void f_bytes(void) {
	int a = open("a", O_CREAT | O_RDWR, 0600), b = open("b", O_CREAT | O_RDWR, 0600), p[2];
	write(a, "0123456789", 10);
	pwrite(a, "ab", 2, 4);
	struct iovec v[2] = {{"x", 1}, {"yz", 2}};
	writev(a, v, 2);
	char buf[64];
	lseek(a, 0, SEEK_SET);
	read(a, buf, 4);
	pread(a, buf, sizeof buf, 2);
	sendfile(b, a, NULL, 5);
	loff_t at = 0;
	copy_file_range(a, &at, b, NULL, 6, 0);
	pipe(p);
	at = 0;
	splice(a, &at, p[1], NULL, 7, 0);
	read(p[0], buf, 3);
	struct stat st;
	fstat(a, &st);
	stat("b", &st);
	close(a);
	close(b);
	read(a, buf, 1);
}

#if defined(__x86_64__)
static long old(long nr, long a, long b, long c) {
	long r;
	asm volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(a), "c"(b), "d"(c) : "r8", "r9", "r10", "r11", "memory");
	return r;
}

static void f_32bit(void) {
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	strcpy(low, "/etc/passwd");
	old(6, old(5, (long)low, O_RDONLY, 0), 0, 0);
	old(10, (long)strcpy(low, "/nowhere"), 0, 0);
	old(359, AF_INET, SOCK_STREAM, 0);
	int *list = (int *)(low + 512);
	list[0] = AF_UNIX, list[1] = SOCK_DGRAM, list[2] = 0;
	old(102, 1, (long)list, 0);
	old(354, 1, 0, 0);
}
#else
static void f_32bit(void) {}
#endif

static void *storm(void *_) {
	for (int i = 0; i < 300000; i++) access("/storm", F_OK);
	return NULL;
}

/* More than any tracer may be able to take; not a family. */
static void f_storm(void) {
	pthread_t t[2];
	for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, storm, NULL);
	for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

int main(int argc, char **argv) {
	static const struct { const char *name; void (*f)(void); } all[] = {
		{"open", f_open}, {"names", f_names}, {"attributes", f_attributes}, {"directories", f_directories}, {"inet", f_inet}, {"inet6", f_inet6},
		{"unix", f_unix}, {"families", f_families}, {"tasks", f_tasks}, {"exec", f_exec}, {"signals", f_signals}, {"intrusion", f_intrusion},
		{"memory", f_memory}, {"bytes", f_bytes}, {"32bit", f_32bit}, {"storm", f_storm},
	};
	if (argc < 3 || chdir(argv[2])) return 0;
	for (int i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(argv[1], all[i].name)) { all[i].f(); return 0; }
	return 2;
}
