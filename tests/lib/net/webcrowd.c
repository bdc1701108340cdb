// SPDX-License-Identifier: Apache-2.0
// Keep a thousand bad connections to a server going.
#include "lib/net/webcrowd.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS	  (WEBCROWD_IDLE + WEBCROWD_SLOW + WEBCROWD_GARBAGE + WEBCROWD_HEADERS)
#define TICK_MS	  20
#define READY_MS  30000
#define HEADERS	  (64 << 10)
#define COME_BACK 5 /* idle ones in a tick: 250 a second */

enum kind { IDLE, SLOW, GARBAGE, HUGE_HEADERS };

struct client {
	enum kind kind;
	int fd;
	bool met; /* was connected once */
	bool said;
	uint64_t next_ms; /* nothing more before this */
};

struct crowd {
	struct client clients[CLIENTS];
	struct pollfd polls[CLIENTS];
	struct sockaddr_in to;
	const char *path;
	char headers[HEADERS + 64];
	unsigned int met;
	int ready; /* pipe */
	volatile struct webcrowd_seen *seen;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void come(struct crowd *crowd, struct client *c)
{
	const int small = 1024;

	c->said = false;
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		_exit(1);
	if (c->kind == SLOW)
		setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	if (connect(c->fd, (const struct sockaddr *)&crowd->to, sizeof(crowd->to)) < 0 &&
	    errno != EINPROGRESS) {
		close(c->fd);
		c->fd = -1;
	}
}

static void go(struct crowd *crowd, struct client *c, uint64_t again_ms)
{
	switch (c->kind) {
	case IDLE:
		crowd->seen->idle++;
		break;
	case SLOW:
		crowd->seen->slow++;
		break;
	case GARBAGE:
		crowd->seen->garbage++;
		break;
	case HUGE_HEADERS:
		crowd->seen->headers++;
		break;
	}
	close(c->fd);
	c->fd = -1;
	c->next_ms = again_ms;
}

/* Whatever of it the socket takes: these clients do not care. */
static void say(struct client *c, const void *data, size_t size)
{
	ssize_t n = send(c->fd, data, size, MSG_NOSIGNAL);

	(void)n;
}

static void say_first(struct crowd *crowd, struct client *c, uint64_t now)
{
	char text[512];

	c->said = true;
	switch (c->kind) {
	case IDLE:
		if (c->fd % 2)
			say(c, "GET /metr", 9);
		break;
	case SLOW:
		snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: slow.x\r\n\r\n",
			 crowd->path);
		for (int i = 0; i < 8; i++)
			say(c, text, strlen(text));
		c->next_ms = now + 1000;
		break;
	case GARBAGE:
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = (char)rand();
		say(c, text, sizeof(text));
		break;
	case HUGE_HEADERS:
		say(c, crowd->headers, strlen(crowd->headers));
		break;
	}
}

static void hear(struct crowd *crowd, struct client *c, uint64_t now)
{
	char text[4096];
	ssize_t n;

	if (c->kind == SLOW && now < c->next_ms)
		return;
	n = recv(c->fd, text, c->kind == SLOW ? 1 : sizeof(text), 0);
	if (n == 0 || (n < 0 && errno != EAGAIN))
		go(crowd, c, now + 100);
	else if (c->kind == SLOW)
		c->next_ms = now + 1000;
	/* They were refused: they come again. */
	else if (c->kind == GARBAGE || c->kind == HUGE_HEADERS)
		go(crowd, c, now + 100);
}

static void meet(struct crowd *crowd, struct client *c)
{
	ssize_t n;

	if (c->met)
		return;
	c->met = true;
	if (++crowd->met < CLIENTS)
		return;
	n = write(crowd->ready, "r", 1);
	(void)n;
}

static void serve(struct crowd *crowd, size_t i, uint64_t now)
{
	struct client *c = crowd->clients + i;
	short events = crowd->polls[i].revents;

	if (c->fd < 0 || c->fd != crowd->polls[i].fd)
		return;
	if (!c->said && events & POLLOUT) {
		meet(crowd, c);
		say_first(crowd, c, now);
	}
	if (events & (POLLIN | POLLHUP | POLLERR))
		hear(crowd, c, now);
}

static void fill_polls(struct crowd *crowd, uint64_t now)
{
	unsigned int back = COME_BACK;

	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *c = crowd->clients + i;

		if (c->fd < 0 && now >= c->next_ms && (c->kind != IDLE || !c->met || back > 0)) {
			back -= c->kind == IDLE && c->met;
			come(crowd, c);
		}
		crowd->polls[i] = (struct pollfd){
			.fd = c->fd,
			.events = (short)(POLLIN | (c->said ? 0 : POLLOUT)),
		};
		/* A slow one always has something to read. */
		if (c->kind == SLOW && now < c->next_ms)
			crowd->polls[i].fd = -1;
	}
}

static void linger(struct crowd *crowd) __attribute__((noreturn));
static void linger(struct crowd *crowd)
{
	for (;;) {
		uint64_t now = now_ms();

		fill_polls(crowd, now);
		poll(crowd->polls, CLIENTS, TICK_MS);
		now = now_ms();
		for (size_t i = 0; i < CLIENTS; i++)
			serve(crowd, i, now);
	}
}

static void crowd_main(uint16_t port, const char *path, int ready,
		       volatile struct webcrowd_seen *seen) __attribute__((noreturn));
static void crowd_main(uint16_t port, const char *path, int ready,
		       volatile struct webcrowd_seen *seen)
{
	const struct rlimit files = {2 * CLIENTS, 2 * CLIENTS};
	struct crowd *crowd = calloc(1, sizeof(*crowd));
	size_t n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!crowd || setrlimit(RLIMIT_NOFILE, &files) < 0)
		_exit(1);
	crowd->ready = ready;
	crowd->seen = seen;
	crowd->path = path;
	crowd->to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	crowd->to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	n = (size_t)snprintf(crowd->headers, 64, "GET / HTTP/1.1\r\nHost: big.x\r\nX-Big: ");
	memset(crowd->headers + n, 'a', HEADERS - n);
	strcpy(crowd->headers + HEADERS, "\r\n\r\n");
	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *c = crowd->clients + i;

		c->fd = -1;
		c->kind = i < WEBCROWD_IDLE					 ? IDLE
			  : i < WEBCROWD_IDLE + WEBCROWD_SLOW			 ? SLOW
			  : i < WEBCROWD_IDLE + WEBCROWD_SLOW + WEBCROWD_GARBAGE ? GARBAGE
										 : HUGE_HEADERS;
	}
	linger(crowd);
}

int webcrowd_start(uint16_t port, const char *path, struct webcrowd *ret)
{
	struct webcrowd crowd = {};
	struct pollfd ready;
	int fds[2], r = 0;

	crowd.seen = mmap(NULL, sizeof(*crowd.seen), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crowd.seen == MAP_FAILED)
		return -errno;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	fflush(stdout);
	crowd.pid = fork();
	if (crowd.pid == 0)
		crowd_main(port, path, fds[1], crowd.seen);
	if (crowd.pid < 0)
		r = -errno;
	close(fds[1]);
	ready = (struct pollfd){.fd = fds[0], .events = POLLIN};
	if (!r && (poll(&ready, 1, READY_MS) <= 0 || !(ready.revents & POLLIN)))
		r = -ETIMEDOUT;
	close(fds[0]);
	if (r && crowd.pid > 0)
		webcrowd_leave(&crowd);
	if (!r)
		*ret = crowd;
	return r;
}

int webcrowd_leave(struct webcrowd *crowd)
{
	int status;

	if (crowd->pid <= 0)
		return 0;
	kill(crowd->pid, SIGKILL);
	waitpid(crowd->pid, &status, 0);
	crowd->pid = 0;
	munmap((void *)(uintptr_t)crowd->seen, sizeof(*crowd->seen));
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : -ECHILD;
}
