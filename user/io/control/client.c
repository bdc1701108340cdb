// SPDX-License-Identifier: Apache-2.0
/* One connection for one question. */
#include "io/control/client.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/time.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"

#define RETRY_MS   50
#define READ_BYTES (64u << 10)
#define HEAD_BYTES 4096

struct ask {
	int fd, stop_fd;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
};

static int fail(struct control_why *why, int error)
{
	snprintf(why->text, sizeof(why->text), "%s", strerror(-error));
	return error;
}

static int wait_for(const struct ask *ask, short events)
{
	struct pollfd fds[] = {{.fd = ask->fd, .events = events},
			       {.fd = ask->stop_fd, .events = POLLIN}};
	uint64_t now = clock_monotonic_ns(), left;
	int n;

	if (now >= ask->until_ns)
		return -ETIMEDOUT;
	left = (ask->until_ns - now) / NS_PER_MS + 1;
	n = poll(fds, 2, left < INT_MAX ? (int)left : INT_MAX);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return fds[1].revents ? -ECANCELED : 0;
}

/* A daemon with a full queue of connections is asked again. */
static int connect_to(struct ask *ask, const struct sockaddr_un *address)
{
	while (connect(ask->fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
		struct pollfd stop = {.fd = ask->stop_fd, .events = POLLIN};

		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		if (poll(&stop, 1, RETRY_MS) > 0)
			return -ECANCELED;
		if (clock_monotonic_ns() >= ask->until_ns)
			return -ETIMEDOUT;
	}
	return 0;
}

static int open_socket(const char *path, struct ask *ask)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = strlen(path);

	if (len == 0)
		return -EINVAL;
	if (len >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, len);
	ask->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return ask->fd < 0 ? -errno : connect_to(ask, &address);
}

static int send_request(const struct ask *ask, enum control_command command)
{
	_cleanup_(buf_free) struct buf line = {};
	size_t done = 0;

	control_add_request(&line, command);
	while (done < line.len) {
		ssize_t n = send(ask->fd, line.data + done, line.len - done, MSG_NOSIGNAL);
		int r;

		if (n >= 0) {
			done += (size_t)n;
			continue;
		}
		/* Who is turned away is told why before it was asked. */
		if (errno == EPIPE)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		r = wait_for(ask, POLLOUT);
		if (r < 0)
			return r;
	}
	return buf_error(&line);
}

/* Until the other side closes. */
static int receive(const struct ask *ask, struct buf *ret)
{
	for (;;) {
		char *at = buf_reserve(ret, READ_BYTES);
		ssize_t n;
		int r;

		if (!at)
			return buf_error(ret);
		n = recv(ask->fd, at, READ_BYTES, 0);
		if (n > 0) {
			buf_commit(ret, (size_t)n);
			continue;
		}
		/* It leaves what came after the request unread. */
		if (n == 0 || errno == ECONNRESET)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		r = wait_for(ask, POLLIN);
		if (r < 0)
			return r;
	}
}

static uint64_t count_lines(const char *text, size_t len)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

/* The head goes, its lines stay. */
static int take_reply(const struct buf *reply, struct control_answer *ret, struct control_why *why)
{
	const char *text = buf_str(reply), *newline = memchr(text, '\n', reply->len);
	size_t rest = newline ? reply->len - (size_t)(newline + 1 - text) : 0;
	uint64_t lines;
	int r;

	if (!newline) {
		snprintf(why->text, sizeof(why->text), "the connection was closed without a reply");
		return -EBADMSG;
	}
	r = control_read_head(text, (size_t)(newline - text), &lines, why);
	if (r < 0)
		return r;
	if (count_lines(newline + 1, rest) != lines || text[reply->len - 1] != '\n') {
		snprintf(why->text, sizeof(why->text), "the reply was cut short");
		return -EBADMSG;
	}
	buf_reset(&ret->text);
	buf_adds(&ret->text, newline + 1);
	ret->lines = lines;
	return buf_error(&ret->text) ? fail(why, buf_error(&ret->text)) : 0;
}

int control_ask(const char *path, enum control_command command, int timeout_ms, int stop_fd,
		struct control_answer *ret, struct control_why *ret_why)
{
	_cleanup_(buf_free) struct buf reply = {.limit = CONTROL_REPLY_MAX + HEAD_BYTES +
							 READ_BYTES};
	struct ask ask = {.fd = -1,
			  .stop_fd = stop_fd,
			  .until_ns = clock_monotonic_ns() + (uint64_t)timeout_ms * NS_PER_MS};
	int r = open_socket(path, &ask);

	if (r >= 0)
		r = send_request(&ask, command);
	if (r >= 0)
		r = receive(&ask, &reply);
	cleanup_close(&ask.fd);
	return r < 0 ? fail(ret_why, r) : take_reply(&reply, ret, ret_why);
}
