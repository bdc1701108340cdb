// SPDX-License-Identifier: Apache-2.0
/* libcurl on the event loop: it says which sockets and times it waits for, and is told of them. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

#include "io/fetch/priv.h"

/* Connections kept, most of them for the next request. */
#define KEPT_MAX 16L

/* Takes what libcurl has finished. */
static void collect(struct fetch *f)
{
	struct fetch_call *call;
	CURLMsg *message;
	int left;

	while ((message = f->curl.multi_info_read(f->multi, &left))) {
		CURL *easy = message->easy_handle;
		CURLcode code = message->data.result;

		if (message->msg != CURLMSG_DONE ||
		    f->curl.easy_getinfo(easy, CURLINFO_PRIVATE, &call) != CURLE_OK)
			continue;
		call->code = code;
		fetch_end(call);
	}
}

static void act(struct fetch *f, curl_socket_t fd, int what)
{
	int running;

	f->inside = true;
	f->curl.multi_socket_action(f->multi, fd, what, &running);
	f->inside = false;
	collect(f);
}

/* Acts on a socket, or on those whose time has come, and once more in the next turn when something
 * came: libcurl 7.88 may keep bytes of HTTP/2 that it has read already, and forget them until the
 * socket has more. */
static void act_on(struct fetch *f, int fd, int what)
{
	uint64_t before = f->progress;

	act(f, fd, what);
	if (f->progress == before)
		return;
	for (struct fetch_socket *socket = f->sockets; socket; socket = socket->next)
		if (socket->fd == fd || fd == CURL_SOCKET_TIMEOUT)
			socket->again = true;
	sd_event_source_set_enabled(f->again, SD_EVENT_ONESHOT);
}

static int on_again(sd_event_source *source, void *userdata)
{
	struct fetch *f = userdata;
	struct fetch_socket *socket = f->sockets;

	(void)source;
	while (socket && !socket->again)
		socket = socket->next;
	if (!socket)
		return 0;
	sd_event_source_set_enabled(f->again, SD_EVENT_ONESHOT);
	socket->again = false;
	act_on(f, socket->fd, CURL_CSELECT_IN);
	return 0;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	int what = (events & EPOLLIN ? CURL_CSELECT_IN : 0) |
		   (events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
	struct fetch_socket *socket = userdata;

	(void)source;
	/* 0: it looks for itself what is wrong. */
	socket->again = false;
	act_on(socket->fetch, fd, what);
	return 0;
}

static void forget(struct fetch_socket *socket)
{
	if (!socket)
		return;
	*(socket->prev ? &socket->prev->next : &socket->fetch->sockets) = socket->next;
	if (socket->next)
		socket->next->prev = socket->prev;
	sd_event_source_disable_unref(socket->io);
	free(socket);
}

static int watch(struct fetch *f, curl_socket_t fd, uint32_t events)
{
	struct fetch_socket *socket = calloc(1, sizeof(*socket));

	if (!socket)
		return -1;
	*socket = (struct fetch_socket){.fetch = f, .fd = fd, .next = f->sockets};
	if (sd_event_add_io(f->event, &socket->io, fd, events, on_io, socket) < 0) {
		free(socket);
		return -1;
	}
	if (socket->next)
		socket->next->prev = socket;
	f->sockets = socket;
	f->curl.multi_assign(f->multi, fd, socket);
	return 0;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *userdata, void *assigned)
{
	struct fetch *f = userdata;
	struct fetch_socket *socket = assigned;
	uint32_t events =
		(what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		forget(socket);
		f->curl.multi_assign(f->multi, fd, NULL);
		return 0;
	}
	if (!socket)
		return watch(f, fd, events);
	return sd_event_source_set_io_events(socket->io, events) < 0 ? -1 : 0;
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	act_on(userdata, CURL_SOCKET_TIMEOUT, 0);
	return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *userdata)
{
	struct fetch *f = userdata;

	(void)multi;
	if (timeout_ms < 0)
		return sd_event_source_set_enabled(f->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
	if (sd_event_source_set_time_relative(f->timer, (uint64_t)timeout_ms * 1000) < 0)
		return -1;
	return sd_event_source_set_enabled(f->timer, SD_EVENT_ONESHOT) < 0 ? -1 : 0;
}

int fetch_loop_open(struct fetch *f)
{
	int r;

	f->multi = f->curl.multi_init();
	if (!f->multi)
		return -ENOMEM;
	r = sd_event_add_time_relative(f->event, &f->timer, CLOCK_MONOTONIC, 0, 1, on_time, f);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(f->timer, SD_EVENT_OFF);
	r = sd_event_add_defer(f->event, &f->again, on_again, f);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(f->again, SD_EVENT_OFF);
	f->curl.multi_setopt(f->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	f->curl.multi_setopt(f->multi, CURLMOPT_SOCKETDATA, f);
	f->curl.multi_setopt(f->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	f->curl.multi_setopt(f->multi, CURLMOPT_TIMERDATA, f);
	f->curl.multi_setopt(f->multi, CURLMOPT_MAXCONNECTS, KEPT_MAX);
	return 0;
}

void fetch_loop_close(struct fetch *f)
{
	if (f->multi)
		f->curl.multi_cleanup(f->multi);
	f->multi = NULL;
	while (f->sockets)
		forget(f->sockets);
	f->timer = sd_event_source_disable_unref(f->timer);
	f->again = sd_event_source_disable_unref(f->again);
}
