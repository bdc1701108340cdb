/* SPDX-License-Identifier: Apache-2.0 */
/* The listening sockets of the server. */
#ifndef IO_HTTP_LISTEN_H
#define IO_HTTP_LISTEN_H

#include "io/http/web.h"

#define WEB_LISTEN_MAX 32

struct web_listener {
	int fd;
	size_t index; /* of the address in the configuration */
	uint16_t port;
	sd_event_source *source;
	struct web_listeners *all;
};

struct web_listeners {
	struct web_listener list[WEB_LISTEN_MAX];
	size_t n;
	/* Clients wait at the socket fd. */
	void (*ready)(void *userdata, int fd);
	void *userdata;
	bool paused; /* closed to new clients until paused_until_ns */
	uint64_t paused_until_ns;
};

/* For ready and userdata. As web_new(); on failure it is still to be closed. */
int web_listen_open(struct web_listeners *listeners, sd_event *event,
		    const struct web_config *config, struct web_why *ret_why);
void web_listen_close(struct web_listeners *listeners);
/* Leaves new clients in the queue. Only the caller ends that. */
void web_listen_pause(struct web_listeners *listeners, uint64_t until_ns);
void web_listen_resume(struct web_listeners *listeners);
/* As web_port(). */
uint16_t web_listen_port(const struct web_listeners *listeners, size_t index);

#endif
