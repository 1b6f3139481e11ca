/* Takes up to 1 GiB of memory where no sum over processes finds it, in one way,
   and prints how many MiB it holds. It touches what it takes. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE = 8 << 20, PIECES = 128 };
static char block[1 << 16];

static long shared(void) {
	long held = 0;
	for (int i = 0; i < PIECES; i++) {
		int id = shmget(IPC_PRIVATE, PIECE, IPC_CREAT | 0600);
		char *p = id < 0 ? (void *)-1 : shmat(id, NULL, 0);
		if (p == (void *)-1) break;
		memset(p, 1, PIECE);
		shmdt(p);
		held += PIECE;
	}
	return held;
}

static long sockets(void) {
	long held = 0;
	int size = 1 << 30, pair[2];
	while (held < (long)PIECE * PIECES && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0)
		for (int i = 0; i < 2; i++) {
			setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
			for (long n; (n = write(pair[i], block, sizeof block)) > 0;) held += n;
		}
	return held;
}

/* Files in memory that are on their way from a process to itself. */
static long passed(void) {
	long held = 0;
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) return 0;
	for (int i = 0; i < PIECES; i++) {
		if (i % 8 == 7 && socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) break;
		int fd = memfd_create("x", 0);
		for (int n = 0; n < PIECE; n += sizeof block)
			if (write(fd, block, sizeof block) < 0) return held;
		char control[CMSG_SPACE(sizeof fd)] = {0}, c = 0;
		struct iovec v = {&c, 1};
		struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET, h->cmsg_type = SCM_RIGHTS, h->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(h), &fd, sizeof fd);
		if (sendmsg(pair[0], &m, MSG_DONTWAIT) < 0) break;
		close(fd);
		held += PIECE;
	}
	return held;
}

int main(int argc, char **argv) {
	memset(block, 1, sizeof block);
	long held = !strcmp(argv[1], "shared") ? shared() : !strcmp(argv[1], "sockets") ? sockets() : passed();
	printf("%ld\n", held >> 20);
	fflush(stdout);
	sleep(2); /* for a limit that is looked after from time to time */
	return 0;
}
