// SPDX-License-Identifier: Apache-2.0
/* Loads libcurl, and waits for the sockets and times that it wants to wait for. */
#include "io/fetch/curl.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

#include "io/files/library.h"

/* The flavour with OpenSSL: GnuTLS takes 9 MiB more for one request. */
#define CURL_SONAME "libcurl.so.4"

/* Connections kept, most of them for the next request. */
#define KEPT_MAX 16L

/* A socket that libcurl waits for. */
struct curl_watch {
	struct curl *curl;
	struct curl_watch *prev, *next;
	int fd;
	bool again; /* to be acted on without waiting */
	sd_event_source *io;
};

static const struct dynlib_function functions[] = {
#define CURL_ENTRY(name) {"curl_" #name, offsetof(struct curl, name)},
	CURL_FUNCTIONS(CURL_ENTRY)
#undef CURL_ENTRY
};

int curl_load(struct curl *ret, const char **ret_error)
{
	return dynlib_load(CURL_SONAME, functions, sizeof(functions) / sizeof(functions[0]), ret,
			   ret_error);
}

/* Takes what libcurl has finished. */
static void collect(struct curl *curl)
{
	CURLMsg *message;
	void *transfer;
	int left;

	while ((message = curl->multi_info_read(curl->multi, &left))) {
		CURL *easy = message->easy_handle;
		CURLcode code = message->data.result;

		if (message->msg == CURLMSG_DONE &&
		    curl->easy_getinfo(easy, CURLINFO_PRIVATE, &transfer) == CURLE_OK)
			curl->ended(transfer, code);
	}
}

static void act(struct curl *curl, curl_socket_t fd, int what)
{
	int running;

	curl->inside = true;
	curl->multi_socket_action(curl->multi, fd, what, &running);
	curl->inside = false;
	collect(curl);
}

/* Acts on a socket, or on those whose time has come, and once more in the next turn when something
 * came: libcurl 7.88 may keep bytes of HTTP/2 that it has read already, and forget them until the
 * socket has more. */
static void act_on(struct curl *curl, int fd, int what)
{
	uint64_t before = curl->progress;

	act(curl, fd, what);
	if (curl->progress == before)
		return;
	for (struct curl_watch *socket = curl->watches; socket; socket = socket->next)
		if (socket->fd == fd || fd == CURL_SOCKET_TIMEOUT)
			socket->again = true;
	sd_event_source_set_enabled(curl->again, SD_EVENT_ONESHOT);
}

static int on_again(sd_event_source *source, void *userdata)
{
	struct curl *curl = userdata;
	struct curl_watch *socket = curl->watches;

	while (socket && !socket->again)
		socket = socket->next;
	if (!socket)
		return 0;
	sd_event_source_set_enabled(curl->again, SD_EVENT_ONESHOT);
	socket->again = false;
	act_on(curl, socket->fd, CURL_CSELECT_IN);
	return 0;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	int what = (events & EPOLLIN ? CURL_CSELECT_IN : 0) |
		   (events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
	struct curl_watch *socket = userdata;

	/* 0: it looks for itself what is wrong. */
	socket->again = false;
	act_on(socket->curl, fd, what);
	return 0;
}

static void forget(struct curl_watch *socket)
{
	if (!socket)
		return;
	*(socket->prev ? &socket->prev->next : &socket->curl->watches) = socket->next;
	if (socket->next)
		socket->next->prev = socket->prev;
	sd_event_source_disable_unref(socket->io);
	free(socket);
}

static int watch(struct curl *curl, curl_socket_t fd, uint32_t events)
{
	struct curl_watch *socket = calloc(1, sizeof(*socket));

	if (!socket)
		return -1;
	*socket = (struct curl_watch){.curl = curl, .fd = fd, .next = curl->watches};
	if (sd_event_add_io(curl->event, &socket->io, fd, events, on_io, socket) < 0) {
		free(socket);
		return -1;
	}
	if (socket->next)
		socket->next->prev = socket;
	curl->watches = socket;
	curl->multi_assign(curl->multi, fd, socket);
	return 0;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *userdata, void *assigned)
{
	struct curl *curl = userdata;
	struct curl_watch *socket = assigned;
	uint32_t events =
		(what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);

	if (what == CURL_POLL_REMOVE) {
		forget(socket);
		curl->multi_assign(curl->multi, fd, NULL);
		return 0;
	}
	if (!socket)
		return watch(curl, fd, events);
	return sd_event_source_set_io_events(socket->io, events) < 0 ? -1 : 0;
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	act_on(userdata, CURL_SOCKET_TIMEOUT, 0);
	return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *userdata)
{
	struct curl *curl = userdata;

	if (timeout_ms < 0)
		return sd_event_source_set_enabled(curl->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
	if (sd_event_source_set_time_relative(curl->timer, (uint64_t)timeout_ms * 1000) < 0)
		return -1;
	return sd_event_source_set_enabled(curl->timer, SD_EVENT_ONESHOT) < 0 ? -1 : 0;
}

static int open_loop(struct curl *curl)
{
	int r;

	curl->multi = curl->multi_init();
	if (!curl->multi)
		return -ENOMEM;
	r = sd_event_add_time_relative(curl->event, &curl->timer, CLOCK_MONOTONIC, 0, 1, on_time,
				       curl);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(curl->timer, SD_EVENT_OFF);
	r = sd_event_add_defer(curl->event, &curl->again, on_again, curl);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(curl->again, SD_EVENT_OFF);
	curl->multi_setopt(curl->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl->multi_setopt(curl->multi, CURLMOPT_SOCKETDATA, curl);
	curl->multi_setopt(curl->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl->multi_setopt(curl->multi, CURLMOPT_TIMERDATA, curl);
	curl->multi_setopt(curl->multi, CURLMOPT_MAXCONNECTS, KEPT_MAX);
	return 0;
}

static void close_loop(struct curl *curl)
{
	if (curl->multi)
		curl->multi_cleanup(curl->multi);
	curl->multi = NULL;
	while (curl->watches)
		forget(curl->watches);
	curl->timer = sd_event_source_disable_unref(curl->timer);
	curl->again = sd_event_source_disable_unref(curl->again);
}

int curl_open(struct curl *curl, sd_event *event, void (*ended)(void *transfer, CURLcode code))
{
	int r;

	curl->event = event;
	curl->ended = ended;
	if (curl->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -ENOMEM;
	r = open_loop(curl);
	if (r < 0)
		curl_close(curl);
	return r;
}

void curl_close(struct curl *curl)
{
	close_loop(curl);
	curl->global_cleanup();
}
