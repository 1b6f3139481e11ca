/* Makes each kind of call that the parser decodes, in the directory given, with
 * names that look like parts of strace's own log. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define HOSTILE "we\"ird <unfinished ...>\n = 0 > (deleted) [x] \\\x01\xff\xc3\xa9 , }) = 3<etc passwd>"

static void files(void) {
	mkdir("d", 0755);
	int fd = open("d/" HOSTILE, O_CREAT | O_RDWR, 0644);
	fchmod(fd, 0600);
	unlink("d/" HOSTILE);
	ftruncate(fd, 10);
	chdir("d");
	int up = open("..", O_PATH | O_DIRECTORY);
	openat(up, "nope/../x", O_RDONLY);
	openat(up, "calls.txt", O_RDWR | O_CREAT, 0600);
	openat(up, "./d/../calls.txt", O_RDONLY);
	open("rel", O_RDONLY);
	open((void *)1, O_RDONLY);
	open("/proc/self/root/dev/null", O_RDONLY);
	creat("made", 0600);
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
	syscall(SYS_openat2, up, "calls.txt", &how, sizeof how);
	syscall(SYS_openat2, up, "../calls.txt", &how, sizeof how);
	rename("made", "moved");
	renameat2(up, "q1", AT_FDCWD, "q2", RENAME_NOREPLACE);
	link("moved", "second");
	symlink("../tgt", "ln");
	symlinkat("/tgt", up, "zz/ln");
	linkat(fd, "", AT_FDCWD, "third", AT_EMPTY_PATH);
	chmod("moved", 04755);
	fchownat(AT_FDCWD, "moved", 0, 0, AT_SYMLINK_NOFOLLOW);
	utimensat(up, "calls.txt", NULL, 0);
	futimens(fd, NULL);
	setxattr("moved", "user.na\"me", "v", 1, 0);
	truncate("moved", 3);
	unlinkat(up, "calls.txt", 0);
	unlink("moved");
	unlink("second");
	unlink("ln");
	chdir("..");
	rmdir("d");
	fchdir(up);
	unlink("in-cwd");
}

static void sockets(void) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(81)};
	inet_pton(AF_INET, "127.0.0.1", &a.sin_addr);
	socklen_t n = sizeof a;
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	connect(s, (void *)&a, sizeof a);
	int l = socket(AF_INET, SOCK_STREAM, 0);
	a.sin_port = 0;
	bind(l, (void *)&a, sizeof a);
	listen(l, 5);
	getsockname(l, (void *)&a, &n);
	s = socket(AF_INET, SOCK_STREAM, 0);
	connect(s, (void *)&a, sizeof a);
	send(s, "hello", 5, MSG_NOSIGNAL);
	accept4(l, (void *)&a, &n, SOCK_CLOEXEC);

	struct sockaddr_in6 b = {.sin6_family = AF_INET6, .sin6_port = htons(53), .sin6_scope_id = 1};
	int u = socket(AF_INET6, SOCK_DGRAM, 0);
	inet_pton(AF_INET6, "fe80::1", &b.sin6_addr);
	connect(u, (void *)&b, sizeof b);
	struct sockaddr_in6 c = b;
	b.sin6_scope_id = c.sin6_scope_id = 0;
	inet_pton(AF_INET6, "::1", &b.sin6_addr);
	inet_pton(AF_INET6, "::ffff:127.0.0.2", &c.sin6_addr);
	sendto(u, "{sa_family=AF_INET", 18, 0, (void *)&b, sizeof b);
	struct iovec iov = {"msg_name={sa_family=AF_INET, sin_port=htons(1)", 46};
	struct msghdr m = {.msg_name = &b, .msg_namelen = sizeof b, .msg_iov = &iov, .msg_iovlen = 1};
	sendmsg(u, &m, 0);
	struct mmsghdr both[2] = {{m}, {m}};
	both[1].msg_hdr.msg_name = &c;
	sendmmsg(u, both, 2, 0);

	struct sockaddr_un p = {.sun_family = AF_UNIX, .sun_path = "so\"ck}, x=\n"};
	int x = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(x, (void *)&p, sizeof p);
	listen(x, 1);
	unlink(p.sun_path);
	memset(p.sun_path, 0, sizeof p.sun_path);
	strcpy(p.sun_path + 1, "abs\"tract\n}");
	connect(x, (void *)&p, 2 + 12);
	connect(x, (void *)&p, sizeof p);
	int pair[2];
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	struct sockaddr_nl nl = {.nl_family = AF_NETLINK};
	int k = socket(AF_NETLINK, SOCK_RAW, 0);
	bind(k, (void *)&nl, sizeof nl);
	struct sockaddr odd = {.sa_family = 99};
	connect(k, &odd, sizeof odd);
	connect(k, (void *)1, 16);
	memset(&odd, 0, sizeof odd);
	connect(u, &odd, sizeof odd);
}

static void others(void) {
	int mf = memfd_create("nam\"e>", MFD_CLOEXEC);
	ftruncate(mf, 100);
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	getrlimit(RLIMIT_CORE, &none);
	mount("src", "nowhere", "tmpfs", MS_BIND | MS_RDONLY, "da,ta");
	umount2("nowhere", MNT_DETACH);
	ptrace(PTRACE_ATTACH, 999999, 0, 0);
	syscall(SYS_process_vm_readv, 999999, 0, 0, 0, 0, 0);
	kill(getpid(), 0);
	syscall(SYS_tgkill, getpid(), getpid(), 0);
	unshare(CLONE_FS);
	syscall(SYS_seccomp, 1, 0, 0);
	syscall(SYS_io_uring_setup, 1, 0);
}

static void children(void) {
	if (fork() == 0) {
		char *argv[] = {"/bin/echo", "a\"b", "c\nd", "\xff", 0};
		char *env[] = {0};
		execve("/nonexistent", argv, env);
		execve("/bin/true", argv, env);
		_exit(9);
	}
	wait(0);
	if (vfork() == 0) {
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	wait(0);
	if (fork() == 0) {
		kill(getpid(), SIGKILL);
	}
	wait(0);
	if (fork() == 0) {
		abort();
	}
	wait(0);
	if (fork() == 0) {
		_exit(3);
	}
	wait(0);
}

int main(int argc, char **argv) {
	if (argc < 2 || chdir(argv[1]) != 0) {
		return 2;
	}
	files();
	sockets();
	others();
	children();
	return 0;
}
