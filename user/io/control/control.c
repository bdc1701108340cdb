// SPDX-License-Identifier: Apache-2.0
/* Makes the socket in a directory of root alone, takes connections in, reads a request and writes
 * the reply; and queries such a socket. */
#include "io/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "wire/json/control.h"

/* --- the socket ------------------------------------------------------------------------------- */

struct control_socket {
	int fd;	 /* listens, non-blocking */
	int dir; /* that it is in */
	char name[108];
	dev_t dev; /* of the socket, as it was made */
	ino_t ino;
};

#define BACKLOG 16

struct place {
	struct sockaddr_un address;
	char dir[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	const char *name; /* in address */
};

static int fail(struct control_why *why, int error, const char *path, const char *what)
{
	snprintf(why->text, sizeof(why->text), "%s: %s", path, what);
	return error;
}

static int split(const char *path, struct place *ret, struct control_why *why)
{
	size_t len = strlen(path);
	char *slash;

	*ret = (struct place){.address.sun_family = AF_UNIX};
	if (len >= sizeof(ret->address.sun_path))
		return fail(why, -ENAMETOOLONG, path, "a socket's path has at most 107 bytes");
	memcpy(ret->address.sun_path, path, len);
	slash = strrchr(ret->address.sun_path, '/');
	if (path[0] != '/' || !slash[1])
		return fail(why, -EINVAL, path, "this is not the absolute path of a file");
	ret->name = slash + 1;
	len = slash == ret->address.sun_path ? 1 : (size_t)(slash - ret->address.sun_path);
	memcpy(ret->dir, path, len);
	return 0;
}

static int open_dir(const char *path, int *ret, struct control_why *why)
{
	_cleanup_(cleanup_close) int fd = -1;
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		int e = -errno;

		return fail(why, e, path, strerror(-e));
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		int e = -errno;

		return fail(why, e, path, strerror(-e));
	}
	if (st.st_uid != geteuid())
		return fail(why, -EPERM, path, "the directory is somebody else's");
	if (st.st_mode & 077)
		return fail(why, -EPERM, path, "others may enter the directory; chmod 0700 it");
	*ret = TAKE_FD(fd);
	return 0;
}

/* Whether a process listens there. A socket that was left behind refuses. */
static bool is_live(const struct place *place)
{
	_cleanup_(cleanup_close) int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ||
	       connect(fd, (const struct sockaddr *)&place->address, sizeof(place->address)) == 0 ||
	       (errno != ECONNREFUSED && errno != ENOENT);
}

static int clear(const struct place *place, int dir, struct control_why *why)
{
	const char *path = place->address.sun_path;
	struct stat st;

	if (fstatat(dir, place->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail(why, -errno, path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return fail(why, -EEXIST, path, "what is there is no socket");
	if (is_live(place))
		return fail(why, -EADDRINUSE, path, "another graced daemon listens there");
	return unlinkat(dir, place->name, 0) < 0 ? fail(why, -errno, path, strerror(errno)) : 0;
}

static int make(const struct place *place, struct control_socket *sock, struct control_why *why)
{
	const char *path = place->address.sun_path;
	_cleanup_(cleanup_close) int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd < 0 ||
	    bind(fd, (const struct sockaddr *)&place->address, sizeof(place->address)) < 0 ||
	    listen(fd, BACKLOG) < 0 ||
	    fstatat(sock->dir, place->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		int e = -errno;

		return fail(why, e, path, strerror(-e));
	}
	sock->dev = st.st_dev;
	sock->ino = st.st_ino;
	sock->fd = TAKE_FD(fd);
	return 0;
}

/*
 * path is absolute. Its directory is made when only that is missing; one that others may enter, or
 * another user's, is refused (-EPERM). -EADDRINUSE: a live daemon listens there. -EEXIST: what is
 * there is no socket. -ENAMETOOLONG; else -errno. *ret_why is filled on failure.
 */
static int control_socket_open(const char *path, struct control_socket *ret,
			       struct control_why *ret_why)
{
	_cleanup_(cleanup_close) int dir = -1;
	struct control_socket made;
	struct place place;
	int r = split(path, &place, ret_why);

	if (r >= 0)
		r = open_dir(place.dir, &dir, ret_why);
	if (r < 0)
		return r;
	/* Two that start at once must not both find a dead one's socket and remove each other's. */
	if (flock(dir, LOCK_EX | LOCK_NB) < 0)
		return fail(ret_why, -EADDRINUSE, path, "another graced daemon is starting there");
	made = (struct control_socket){.fd = -1, .dir = dir};
	snprintf(made.name, sizeof(made.name), "%s", place.name);
	r = clear(&place, dir, ret_why);
	if (r >= 0)
		r = make(&place, &made, ret_why);
	flock(dir, LOCK_UN);
	if (r < 0)
		return r;
	TAKE_FD(dir);
	*ret = made;
	return 0;
}

/* Closes it, and removes it unless something else is there by now. */
static void control_socket_close(struct control_socket *sock)
{
	struct stat st;

	if (fstatat(sock->dir, sock->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == sock->dev && st.st_ino == sock->ino)
		unlinkat(sock->dir, sock->name, 0);
	close(sock->fd);
	close(sock->dir);
}

/* --- the daemon's end ------------------------------------------------------------------------- */

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

/* The place is free again; the socket is the follower's. */
static void conn_follow(struct conn *conn, const struct control_request *request)
{
	struct control *control = conn->control;
	struct control_why why = {};

	conn->io = sd_event_source_disable_unref(conn->io);
	if (control->config.follow(control->config.userdata, request, conn->fd, &why) < 0) {
		conn_fail(conn, why.text);
		return;
	}
	control->stats.answered++;
	conn->deadline = sd_event_source_disable_unref(conn->deadline);
	conn->fd = -1;
}

static void conn_answer(struct conn *conn, size_t size)
{
	struct control *control = conn->control;
	_cleanup_(buf_free) struct buf lines = {.limit = CONTROL_REPLY_MAX};
	struct control_request request;
	struct control_why why = {};
	uint64_t n = 0;
	int r;

	if (control_read_request(conn->request, size, &request, &why) < 0) {
		conn_fail(conn, why.text);
		return;
	}
	if (request.command == CONTROL_FOLLOW) {
		conn_follow(conn, &request);
		return;
	}
	r = control->config.answer(control->config.userdata, &request, &lines, &n, &why);
	if (r < 0 && why.text[0]) {
		conn_fail(conn, why.text);
		return;
	}
	if (r >= 0)
		r = buf_error(&lines);
	if (r < 0) {
		conn_fail(conn, r == -ENOBUFS ? "the answer is larger than one reply may be"
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
static bool may_query(const struct control *control, int fd)
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

/* The last reply to this peer: as much as fits into the socket's buffer. */
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

	if (!may_query(control, fd)) {
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

/* --- the client's end ------------------------------------------------------------------------- */

#define RETRY_MS     50
#define READ_BYTES   (64u << 10)
#define HEAD_BYTES   4096
/* A first line and what may come with it in one read. */
#define FOLLOW_BYTES (6 * CONTROL_TERMS_MAX + HEAD_BYTES + READ_BYTES)

struct query {
	int fd, stop_fd;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
};

static int fail_by_errno(struct control_why *why, int error)
{
	snprintf(why->text, sizeof(why->text), "%s", strerror(-error));
	return error;
}

static int wait_for(const struct query *query, short events)
{
	struct pollfd fds[] = {{.fd = query->fd, .events = events},
			       {.fd = query->stop_fd, .events = POLLIN}};
	uint64_t now = clock_monotonic_ns(), left;
	int n;

	if (now >= query->until_ns)
		return -ETIMEDOUT;
	left = (query->until_ns - now) / NS_PER_MS + 1;
	n = poll(fds, 2, left < INT_MAX ? (int)left : INT_MAX);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return fds[1].revents ? -ECANCELED : 0;
}

/* A daemon with a full queue of connections is asked again. */
static int connect_to(struct query *query, const struct sockaddr_un *address)
{
	while (connect(query->fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
		struct pollfd stop = {.fd = query->stop_fd, .events = POLLIN};

		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		if (poll(&stop, 1, RETRY_MS) > 0)
			return -ECANCELED;
		if (clock_monotonic_ns() >= query->until_ns)
			return -ETIMEDOUT;
	}
	return 0;
}

static int open_socket(const char *path, struct query *query)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = strlen(path);

	if (len == 0)
		return -EINVAL;
	if (len >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, len);
	query->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return query->fd < 0 ? -errno : connect_to(query, &address);
}

static int send_request(const struct query *query, const struct control_request *request)
{
	_cleanup_(buf_free) struct buf line = {};
	size_t done = 0;

	control_add_request(&line, request);
	while (done < line.len) {
		ssize_t n = send(query->fd, line.data + done, line.len - done, MSG_NOSIGNAL);
		int r;

		if (n >= 0) {
			done += (size_t)n;
			continue;
		}
		/* A client that is refused receives the reason before it has sent a request. */
		if (errno == EPIPE)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		r = wait_for(query, POLLOUT);
		if (r < 0)
			return r;
	}
	return buf_error(&line);
}

/* Until the other side closes. */
static int receive(const struct query *query, struct buf *ret)
{
	for (;;) {
		char *at = buf_reserve(ret, READ_BYTES);
		ssize_t n;
		int r;

		if (!at)
			return buf_error(ret);
		n = recv(query->fd, at, READ_BYTES, 0);
		if (n > 0) {
			buf_commit(ret, (size_t)n);
			continue;
		}
		/* It leaves what came after the request unread. */
		if (n == 0 || errno == ECONNRESET)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		r = wait_for(query, POLLIN);
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
	return buf_error(&ret->text) ? fail_by_errno(why, buf_error(&ret->text)) : 0;
}

int control_query(const char *path, const struct control_request *request, int timeout_ms,
		  int stop_fd, struct control_answer *ret, struct control_why *ret_why)
{
	_cleanup_(buf_free) struct buf reply = {.limit = CONTROL_REPLY_MAX + HEAD_BYTES +
							 READ_BYTES};
	struct query query = {.fd = -1,
			      .stop_fd = stop_fd,
			      .until_ns = clock_monotonic_ns() + (uint64_t)timeout_ms * NS_PER_MS};
	int r = open_socket(path, &query);

	if (r >= 0)
		r = send_request(&query, request);
	if (r >= 0)
		r = receive(&query, &reply);
	cleanup_close(&query.fd);
	return r < 0 ? fail_by_errno(ret_why, r) : take_reply(&reply, ret, ret_why);
}

/* Until the first newline, whose place is returned. */
static int receive_line(const struct query *query, struct buf *got, size_t *ret)
{
	for (;;) {
		char *at = buf_reserve(got, READ_BYTES);
		const char *newline;
		ssize_t n;
		int r;

		if (!at)
			return buf_error(got);
		n = recv(query->fd, at, READ_BYTES, 0);
		if (n == 0)
			return -ECONNRESET;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n > 0)
			buf_commit(got, (size_t)n);
		newline = got->len ? memchr(got->data, '\n', got->len) : NULL;
		if (newline) {
			*ret = (size_t)(newline - got->data);
			return 0;
		}
		r = n < 0 ? wait_for(query, POLLIN) : 0;
		if (r < 0)
			return r;
	}
}

int control_follow(const char *path, bool signals, int timeout_ms, int *ret_fd,
		   struct control_follow *ret, struct buf *rest, struct control_why *ret_why)
{
	const struct control_request request = {.command = CONTROL_FOLLOW, .signals = signals};
	_cleanup_(buf_free) struct buf got = {.limit = FOLLOW_BYTES};
	_cleanup_(cleanup_close) int fd = -1;
	struct query query = {.fd = -1,
			      .stop_fd = -1,
			      .until_ns = clock_monotonic_ns() + (uint64_t)timeout_ms * NS_PER_MS};
	size_t len = 0;
	int r = open_socket(path, &query);

	fd = query.fd;
	if (r >= 0)
		r = send_request(&query, &request);
	if (r >= 0)
		r = receive_line(&query, &got, &len);
	if (r < 0)
		return fail_by_errno(ret_why, r);
	r = control_read_follow(got.data, len, ret, ret_why);
	if (r < 0)
		return r;
	buf_add(rest, got.data + len + 1, got.len - len - 1);
	if (buf_error(rest))
		return fail_by_errno(ret_why, buf_error(rest));
	*ret_fd = TAKE_FD(fd);
	return 0;
}
