// SPDX-License-Identifier: Apache-2.0
/* Accepts, listens to the question, and answers with what it was given. */
#include "lib/net/rawpeer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lib/claim.h"

#define PACE_USEC 5000

static void hang_up(struct rawpeer_connection *c)
{
	c->io = sd_event_source_disable_unref(c->io);
	c->pace = sd_event_source_disable_unref(c->pace);
}

static void send_on(struct rawpeer_connection *c)
{
	struct rawpeer *peer = c->peer;
	int fd = sd_event_source_get_io_fd(c->io);

	while (c->at < peer->len) {
		ssize_t n = send(fd, peer->answer + c->at, peer->len - c->at, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN) {
			sd_event_source_set_io_events(c->io, EPOLLIN | EPOLLOUT);
			return;
		}
		if (n < 0) {
			hang_up(c);
			return;
		}
		c->at += (size_t)n;
	}
	sd_event_source_set_io_events(c->io, EPOLLIN);
	if (!peer->stays)
		hang_up(c);
}

static int on_pace(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rawpeer_connection *c = userdata;
	const char *byte = c->peer->answer + c->at++ % c->peer->len;

	if (send(sd_event_source_get_io_fd(c->io), byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	    errno != EAGAIN) {
		hang_up(c);
		return 0;
	}
	sd_event_source_set_time_relative(source, PACE_USEC);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static void answer(struct rawpeer_connection *c)
{
	if (!c->peer->trickles)
		send_on(c);
	else if (!c->pace)
		assert_int_equal(sd_event_add_time_relative(c->peer->event, &c->pace,
							    CLOCK_MONOTONIC, 0, 1, on_pace, c),
				 0);
}

static int on_bytes(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rawpeer_connection *c = userdata;
	struct rawpeer *peer = c->peer;
	char piece[4096];
	ssize_t n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		hang_up(c);
		return 0;
	}
	if (n > 0)
		buf_add(&peer->asked, piece, (size_t)n);
	if (peer->at_once || strstr(buf_str(&peer->asked), "\r\n\r\n") || (events & EPOLLOUT))
		answer(c);
	return 0;
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rawpeer *peer = userdata;
	struct rawpeer_connection *c = peer->connections;
	int own = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	assert_true(own >= 0);
	while (c->io)
		c++;
	assert_true(c < peer->connections + RAWPEER_CONNECTIONS);
	*c = (struct rawpeer_connection){.peer = peer};
	assert_true(sd_event_add_io(peer->event, &c->io, own, EPOLLIN, on_bytes, c) >= 0);
	sd_event_source_set_io_fd_own(c->io, true);
	peer->accepted++;
	buf_reset(&peer->asked);
	if (peer->at_once)
		answer(c);
	return 0;
}

static int listen_at(const char *path, uint16_t *ret_port)
{
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);
	int fd = socket(path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	if (path) {
		strncpy(local.sun_path, path, sizeof(local.sun_path) - 1);
		assert_int_equal(bind(fd, (struct sockaddr *)&local, sizeof(local)), 0);
	} else {
		assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
		assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
		*ret_port = ntohs(in.sin_port);
	}
	assert_int_equal(listen(fd, 64), 0);
	return fd;
}

void rawpeer_open(struct rawpeer *peer, sd_event *event, const char *path, const char *text)
{
	int fd;

	*peer = (struct rawpeer){.event = event, .answer = text, .len = strlen(text)};
	fd = listen_at(path, &peer->port);
	assert_true(sd_event_add_io(event, &peer->listener, fd, EPOLLIN, on_connection, peer) >= 0);
	sd_event_source_set_io_fd_own(peer->listener, true);
}

void rawpeer_close(struct rawpeer *peer)
{
	sd_event_source_disable_unref(peer->listener);
	for (size_t i = 0; i < RAWPEER_CONNECTIONS; i++)
		hang_up(&peer->connections[i]);
	buf_free(&peer->asked);
}
