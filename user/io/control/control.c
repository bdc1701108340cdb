// SPDX-License-Identifier: Apache-2.0
/* Takes connections in, judges who they are, reads a request and writes the reply. */
#include "io/control/control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/control/socket.h"
#include "io/files/fd.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define PAUSE_US 100000
#define GRAIN_US 50000

struct conn {
	struct control *control;
	int fd; /* -1: this place is free */
	sd_event_source *io, *deadline;
	char request[CONTROL_REQUEST_MAX];
	size_t got;
	struct buf reply;
	size_t done; /* bytes of it that are out */
};

struct control {
	sd_event *event;
	struct control_config config;
	struct control_socket socket;
	sd_event_source *listener, *resume;
	struct conn conns[CONTROL_CONNECTIONS];
	struct control_stats stats;
};

static void conn_close(struct conn *conn)
{
	conn->io = sd_event_source_disable_unref(conn->io);
	conn->deadline = sd_event_source_disable_unref(conn->deadline);
	buf_free(&conn->reply);
	close(conn->fd);
	conn->fd = -1;
}

static size_t bytes_waiting(const struct control *control)
{
	size_t bytes = 0;

	for (size_t i = 0; i < CONTROL_CONNECTIONS; i++)
		bytes += control->conns[i].reply.len;
	return bytes;
}

/* Closes once all of it is out. */
static void conn_write(struct conn *conn)
{
	while (conn->done < conn->reply.len) {
		ssize_t n = send(conn->fd, conn->reply.data + conn->done,
				 conn->reply.len - conn->done, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n >= 0) {
			conn->done += (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN && sd_event_source_set_io_events(conn->io, EPOLLOUT) >= 0)
			return;
		conn->control->stats.failed++;
		break;
	}
	conn_close(conn);
}

static void conn_fail(struct conn *conn, const char *why)
{
	conn->control->stats.failed++;
	buf_reset(&conn->reply);
	control_add_error(&conn->reply, why);
	conn_write(conn);
}

static void conn_answer(struct conn *conn, size_t size)
{
	struct control *control = conn->control;
	_cleanup_(buf_free) struct buf lines = {.limit = CONTROL_REPLY_MAX};
	enum control_command command;
	struct control_why why;
	uint64_t n = 0;
	int r;

	if (control_read_request(conn->request, size, &command, &why) < 0) {
		conn_fail(conn, why.text);
		return;
	}
	r = control->config.answer(control->config.userdata, command, &lines, &n);
	if (r >= 0)
		r = buf_error(&lines);
	if (r < 0) {
		conn_fail(conn, r == -ENOBUFS ? "there is more to tell than one reply holds"
					      : strerror(-r));
		return;
	}
	if (bytes_waiting(control) + lines.len > CONTROL_REPLY_MAX) {
		conn_fail(conn, "too many replies wait to be read; try again later");
		return;
	}
	control->stats.answered++;
	control_add_head(&conn->reply, n);
	buf_add(&conn->reply, lines.data, lines.len);
	if (buf_error(&conn->reply))
		conn_fail(conn, strerror(-buf_error(&conn->reply)));
	else
		conn_write(conn);
}

static void conn_read(struct conn *conn)
{
	ssize_t n = recv(conn->fd, conn->request + conn->got, sizeof(conn->request) - conn->got,
			 MSG_DONTWAIT);
	const char *newline;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		conn->control->stats.failed++;
		conn_close(conn);
		return;
	}
	newline = memchr(conn->request + conn->got, '\n', (size_t)n);
	conn->got += (size_t)n;
	if (newline)
		conn_answer(conn, (size_t)(newline - conn->request));
	else if (conn->got == sizeof(conn->request))
		conn_fail(conn, "the request is too long");
}

static int on_conn(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct conn *conn = userdata;

	if (conn->reply.len)
		conn_write(conn);
	else
		conn_read(conn);
	return 0;
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct conn *conn = userdata;

	conn->control->stats.failed++;
	conn_close(conn);
	return 0;
}

/* Linux 6.5. Without it another process may have got the number of one that ended meanwhile. */
static bool is_alive(int fd)
{
	_cleanup_(cleanup_close) int pidfd = -1;
	socklen_t len = sizeof(pidfd);
	struct pollfd p = {.events = POLLIN};

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) < 0)
		return errno == ENOPROTOOPT;
	p.fd = pidfd;
	return poll(&p, 1, 0) == 0;
}

/* A peer whose pid is not visible here is in a pid namespace beside ours, and cannot be judged. */
static bool may_ask(const struct control *control, int fd)
{
	socklen_t len = sizeof(struct ucred);
	struct ucred peer;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid > 0 &&
	       (peer.uid == 0 || peer.uid == geteuid()) &&
	       control->config.admits(control->config.userdata, peer.pid) && is_alive(fd);
}

static struct conn *find_place(struct control *control)
{
	for (size_t i = 0; i < CONTROL_CONNECTIONS; i++)
		if (control->conns[i].fd < 0)
			return &control->conns[i];
	return NULL;
}

/* What fits into the socket's buffer, to who is told no more. */
static void turn_away(struct control *control, int fd, const char *why)
{
	_cleanup_(buf_free) struct buf line = {};

	control->stats.refused++;
	control_add_error(&line, why);
	send(fd, buf_str(&line), line.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void admit(struct control *control, int fd)
{
	struct conn *conn = find_place(control);

	if (!may_ask(control, fd)) {
		turn_away(control, fd, "only root may ask, and not from a container");
		return;
	}
	if (!conn) {
		turn_away(control, fd, "too many ask at once; try again later");
		return;
	}
	conn->fd = fd;
	conn->got = conn->done = 0;
	if (sd_event_add_io(control->event, &conn->io, fd, EPOLLIN, on_conn, conn) < 0 ||
	    sd_event_add_time_relative(control->event, &conn->deadline, CLOCK_MONOTONIC,
				       control->config.timeout_ns / 1000, GRAIN_US, on_deadline,
				       conn) < 0) {
		control->stats.failed++;
		conn_close(conn);
	}
}

static int on_resume(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct control *control = userdata;

	return sd_event_source_set_enabled(control->listener, SD_EVENT_ON);
}

/* Without a descriptor left, who waits would wake the loop again and again. */
static int pause_listening(struct control *control)
{
	int r = sd_event_source_set_enabled(control->listener, SD_EVENT_OFF);

	control->resume = sd_event_source_disable_unref(control->resume);
	if (r >= 0)
		r = sd_event_add_time_relative(control->event, &control->resume, CLOCK_MONOTONIC,
					       PAUSE_US, GRAIN_US, on_resume, control);
	return r < 0 ? r : 0;
}

static int on_client(sd_event_source *source, int listener, uint32_t events, void *userdata)
{
	struct control *control = userdata;
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0)
		admit(control, fd);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		return pause_listening(control);
	return 0;
}

int control_new(sd_event *event, const struct control_config *config, struct control **ret,
		struct control_why *ret_why)
{
	struct control *control = calloc(1, sizeof(*control));
	int r;

	if (!control) {
		strcpy(ret_why->text, "out of memory");
		return -ENOMEM;
	}
	control->event = event;
	control->config = *config;
	control->config.path = NULL;
	if (!control->config.timeout_ns)
		control->config.timeout_ns = CONTROL_TIMEOUT_NS;
	for (size_t i = 0; i < CONTROL_CONNECTIONS; i++)
		control->conns[i] = (struct conn){.control = control, .fd = -1};
	r = control_socket_open(config->path, &control->socket, ret_why);
	if (r < 0) {
		free(control);
		return r;
	}
	r = sd_event_add_io(event, &control->listener, control->socket.fd, EPOLLIN, on_client,
			    control);
	if (r < 0) {
		strcpy(ret_why->text, "the event loop has no room");
		control_free(control);
		return r;
	}
	*ret = control;
	return 0;
}

struct control *control_free(struct control *control)
{
	if (!control)
		return NULL;
	for (size_t i = 0; i < CONTROL_CONNECTIONS; i++)
		if (control->conns[i].fd >= 0)
			conn_close(&control->conns[i]);
	sd_event_source_disable_unref(control->listener);
	sd_event_source_disable_unref(control->resume);
	control_socket_close(&control->socket);
	free(control);
	return NULL;
}

void control_get_stats(const struct control *control, struct control_stats *ret)
{
	*ret = control->stats;
}
