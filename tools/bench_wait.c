// SPDX-License-Identifier: Apache-2.0
/* How long one waits for graced: from its start until it is attached or ready, from a signal to the
 * row about it. Prints nanoseconds, one line each. For the benchmark. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AWAIT_MS  20000
#define SPACED_US 12000 /* between signals; and up to as much again, so that no timer keeps step */

static const char usage[] =
	"usage: bench_wait attached COUNT COMMAND...    from execve to the record\n"
	"       bench_wait ready COUNT COMMAND...       from execve to READY=1\n"
	"       bench_wait signal COUNT PID COMMAND...  from kill(2) to the row about PID\n";

/* The command under test, and where it is heard from: its output, or its notifications. */
struct child {
	pid_t pid;
	int fd;
	uint64_t exec_ns;
	char buf[65536];
	size_t len;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The child notes the time right before execve(2), in a page it shares with us. */
static int start(struct child *child, int out, char **argv)
{
	uint64_t *exec_ns = mmap(NULL, sizeof(*exec_ns), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct pollfd p = {.fd = child->fd, .events = POLLIN};
	int r;

	if (exec_ns == MAP_FAILED)
		return -errno;
	child->len = 0;
	child->pid = fork();
	if (child->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signal(SIGINT, SIG_DFL);
		if (out >= 0)
			dup2(out, STDOUT_FILENO);
		*exec_ns = now_ns();
		execvp(argv[0], argv);
		_exit(127);
	}
	if (out >= 0)
		close(out);
	r = child->pid < 0 ? -errno : poll(&p, 1, AWAIT_MS);
	child->exec_ns = *exec_ns;
	munmap(exec_ns, sizeof(*exec_ns));
	return r < 0 ? r : 0;
}

static int stop(struct child *child)
{
	int status;

	if (child->pid <= 0)
		return 0;
	kill(child->pid, SIGTERM);
	/* It may have more to say than the pipe holds. */
	close(child->fd);
	return waitpid(child->pid, &status, 0) == child->pid ? 0 : -errno;
}

/* One more piece of what the child says: when it came, or 0 when nothing comes any more. */
static uint64_t hear(struct child *child)
{
	struct pollfd p = {.fd = child->fd, .events = POLLIN};
	uint64_t at;
	ssize_t n;

	if (child->len + 1 >= sizeof(child->buf))
		child->len = 0; /* no line is so long */
	if (poll(&p, 1, AWAIT_MS) <= 0)
		return 0;
	n = read(child->fd, child->buf + child->len, sizeof(child->buf) - 1 - child->len);
	at = now_ns();
	if (n <= 0)
		return 0;
	child->len += (size_t)n;
	child->buf[child->len] = '\0';
	return at;
}

/* Takes whole lines off the buffer: true when one of them has both texts. */
static bool take_lines(struct child *child, const char *one, const char *two)
{
	char *line = child->buf, *end;
	bool found = false;

	while ((end = memchr(line, '\n', child->len - (size_t)(line - child->buf)))) {
		*end = '\0';
		found = found || (strstr(line, one) && strstr(line, two));
		line = end + 1;
	}
	child->len -= (size_t)(line - child->buf);
	memmove(child->buf, line, child->len);
	return found;
}

/* When a line with both texts came, or 0. */
static uint64_t await(struct child *child, const char *one, const char *two)
{
	uint64_t at;

	while ((at = hear(child)))
		if (take_lines(child, one, two))
			return at;
	return 0;
}

static int open_pipe(struct child *child, int *ret_out)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	child->fd = fds[0];
	*ret_out = fds[1];
	return 0;
}

/* The abstract address is ours alone and leaves no file. */
static int open_notify(struct child *child)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char name[sizeof(at.sun_path)];
	int len = snprintf(name, sizeof(name), "@graced-bench-%d", getpid());

	child->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(at.sun_path + 1, name + 1, (size_t)len - 1);
	if (child->fd < 0 || bind(child->fd, (struct sockaddr *)&at,
				  offsetof(struct sockaddr_un, sun_path) + (socklen_t)len) < 0)
		return -errno;
	return setenv("NOTIFY_SOCKET", name, 1) < 0 ? -errno : 0;
}

/* A datagram need not end in a newline. */
static uint64_t await_ready(struct child *child)
{
	uint64_t at;

	while ((at = hear(child))) {
		if (strstr(child->buf, "READY=1"))
			return at;
		child->len = 0;
	}
	return 0;
}

static int time_start(bool notify, char **argv)
{
	static struct child child;
	int out = -1, r = notify ? open_notify(&child) : open_pipe(&child, &out);
	uint64_t at = 0;

	if (!r)
		r = start(&child, out, argv);
	if (!r)
		at = notify ? await_ready(&child) : await(&child, "\"type\":\"attached\"", "");
	if (!r && !at)
		r = -ECHILD;
	if (at)
		printf("%llu\n", (unsigned long long)(at - child.exec_ns));
	stop(&child);
	return r;
}

static int time_signals(unsigned int count, const char *pid, char **argv)
{
	static struct child child;
	char target[32];
	int out = -1, r = open_pipe(&child, &out);
	uint64_t sent, at;

	snprintf(target, sizeof(target), "\"pid\":%s,", pid);
	if (!r)
		r = start(&child, out, argv);
	if (!r && !await(&child, "\"type\":\"attached\"", ""))
		r = -ECHILD;
	for (unsigned int i = 0; !r && i < count; i++) {
		usleep(SPACED_US + (unsigned int)((uint64_t)i * 7919 % SPACED_US));
		sent = now_ns();
		if (kill(atoi(pid), SIGTERM) < 0)
			r = -errno;
		at = r ? 0 : await(&child, "\"type\":\"signal\"", target);
		if (!r && !at)
			r = -ECHILD;
		if (at)
			printf("%llu\n", (unsigned long long)(at - sent));
	}
	stop(&child);
	return r;
}

int main(int argc, char **argv)
{
	unsigned int count = argc > 3 ? (unsigned int)atoi(argv[2]) : 0;
	bool ready = count && strcmp(argv[1], "ready") == 0;
	int r = 0;

	if (count && argc > 4 && strcmp(argv[1], "signal") == 0) {
		r = time_signals(count, argv[3], argv + 4);
	} else if (ready || (count && strcmp(argv[1], "attached") == 0)) {
		for (unsigned int i = 0; !r && i < count; i++)
			r = time_start(ready, argv + 3);
	} else {
		fputs(usage, stderr);
		return 2;
	}
	if (r)
		fprintf(stderr, "bench_wait: %s: %s\n", argv[1], strerror(-r));
	return r ? 1 : 0;
}
