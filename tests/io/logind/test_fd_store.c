// SPDX-License-Identifier: Apache-2.0
/* Claims about io/logind/fd_store: what systemd is sent, and what is taken of what it hands over. */
#include "io/logind/fd_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/claim.h"

/* systemd's end of the notifications; an abstract socket of the test's. */
static int setup(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char text[64];
	int len = snprintf(text, sizeof(text), "@graced-fdstore-%d", getpid());
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path + 1, text + 1, (size_t)len - 1);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address,
			   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len)) < 0)
		return -1;
	setenv("NOTIFY_SOCKET", text, 1);
	*state = (void *)(intptr_t)fd;
	return 0;
}

static int teardown(void **state)
{
	unsetenv("NOTIFY_SOCKET");
	close((int)(intptr_t)*state);
	return 0;
}

/* The next notification's text; *ret_fd is the descriptor with it, or -1. */
static void receive(void **state, char ret[static 256], int *ret_fd)
{
	union {
		char space[CMSG_SPACE(sizeof(int)) + 64];
		struct cmsghdr align;
	} control = {};
	struct iovec iov = {.iov_base = ret, .iov_len = 255};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	ssize_t n = recvmsg((int)(intptr_t)*state, &m, MSG_CMSG_CLOEXEC);

	assert_true(n >= 0);
	ret[n] = '\0';
	*ret_fd = -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
}

static void test_put(void **state)
{
	struct stat mine, theirs;
	char text[256];
	int pipes[2], fd;

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(fdstore_put("a-lock", 17, pipes[1]), 1);
	receive(state, text, &fd);
	assert_string_equal(text, "FDSTORE=1\nFDNAME=a-lock.17\nFDPOLL=0");
	assert_int_equal(fstat(pipes[1], &mine), 0);
	assert_int_equal(fstat(fd, &theirs), 0);
	assert_true(mine.st_ino == theirs.st_ino);
	close(fd);
	assert_int_equal(fdstore_remove("a-lock", 17), 1);
	receive(state, text, &fd);
	assert_string_equal(text, "FDSTOREREMOVE=1\nFDNAME=a-lock.17");
	assert_int_equal(fd, -1);
	/* Ours is still open. */
	assert_true(fcntl(pipes[1], F_GETFD) >= 0);
	close(pipes[0]);
	close(pipes[1]);
}

static void test_no_systemd(void **state)
{
	uint32_t number;

	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(fdstore_put("a-lock", 17, 0), 0);
	assert_int_equal(fdstore_remove("a-lock", 17), 0);
	assert_int_equal(fdstore_take("a-lock", &number), -ENOENT);
}

/* In a process as systemd starts it, with those names. */
static int child(const char *names, int n, uint32_t expected)
{
	uint32_t number = 1;
	char text[32];
	int taken;

	for (int fd = 3; fd < 3 + n; fd++)
		if (dup2(0, fd) != fd)
			return 1;
	snprintf(text, sizeof(text), "%d", getpid());
	setenv("LISTEN_PID", text, 1);
	snprintf(text, sizeof(text), "%d", n);
	setenv("LISTEN_FDS", text, 1);
	setenv("LISTEN_FDNAMES", names, 1);
	taken = fdstore_take("lock", &number);
	if (taken != 4 || number != expected)
		return 2;
	if (!(fcntl(taken, F_GETFD) & FD_CLOEXEC))
		return 3;
	if (fcntl(3, F_GETFD) >= 0 || fcntl(5, F_GETFD) >= 0 || fcntl(6, F_GETFD) >= 0)
		return 4;
	if (getenv("LISTEN_PID") || getenv("LISTEN_FDS") || getenv("LISTEN_FDNAMES"))
		return 5;
	return fdstore_take("lock", &number) == -ENOENT ? 0 : 6;
}

static void test_take(void **state)
{
	static const struct {
		const char *names;
		uint32_t number;
	} cases[] = {
		{"other:lock:lock:web", 0},	  {"other:lock.4194303:lock:web", 4194303},
		{"lock2:lock:lock.17:web", 0},	  {"lock.:lock.7:lock.8:web", 7},
		{"lock.x:lock.7:lock:web", 7},	  {"lock.07:lock.7:lock:web", 7},
		{"lock.7.7:lock.7:lock:web", 7},  {"lock.-7:lock.7:lock:web", 7},
		{"lock.0:lock.7:lock:web", 7},	  {"lock.4294967303:lock.7:lock:web", 7},
		{"lock. 7:lock.7:lock.9:web", 7},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			_exit(child(cases[i].names, 4, cases[i].number));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status)
			fail_msg("%s: %d", cases[i].names, WEXITSTATUS(status));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"systemd is sent a descriptor to keep, and later to drop", test_put, setup,
		 teardown, NULL},
		CLAIM("without systemd nothing is kept", test_no_systemd),
		CLAIM("a descriptor is taken back by its name, with its number, and all others are "
		      "closed",
		      test_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
