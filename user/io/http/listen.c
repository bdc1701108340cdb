// SPDX-License-Identifier: Apache-2.0
/* Opens the sockets of a configuration, and reports who comes. */
#include "io/http/listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "wire/config/web.h"

#define BACKLOG	    512
#define BACKLOG_TLS 64 /* who waits for credit there is not to wait longer than a scrape takes */
#define SEND_BYTES  (128 << 10) /* what the kernel holds for a slow reader, doubled by it */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t fill_address(const struct listen_addr *addr, uint16_t port, union address *ret)
{
	*ret = (union address){};
	if (addr->v6) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons(port);
		memcpy(&ret->v6.sin6_addr, addr->bytes, 16);
		return sizeof(ret->v6);
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = htons(port);
	memcpy(&ret->v4.sin_addr, addr->bytes, 4);
	return sizeof(ret->v4);
}

static int set_option(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) < 0 ? -errno : 0;
}

/* *port is 0 for any, and then says which it became. */
static int open_socket(const struct listen_addr *addr, int backlog, uint16_t *port, int *ret)
{
	union address address;
	socklen_t len = fill_address(addr, *port, &address);
	_cleanup_(cleanup_close) int fd = -1;
	int r;

	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (r == 0 && addr->v6)
		r = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (r < 0)
		return r;
	set_option(fd, SOL_SOCKET, SO_SNDBUF, SEND_BYTES);
	if (bind(fd, &address.any, len) < 0 || listen(fd, backlog) < 0)
		return -errno;
	if (getsockname(fd, &address.any, &len) < 0)
		return -errno;
	*port = ntohs(addr->v6 ? address.v6.sin6_port : address.v4.sin_port);
	*ret = TAKE_FD(fd);
	return 0;
}

void web_listen_pause(struct web_listeners *listeners, uint64_t until_ns)
{
	listeners->paused = true;
	listeners->paused_until_ns = until_ns;
	for (size_t i = 0; i < listeners->n; i++)
		sd_event_source_set_enabled(listeners->list[i].source, SD_EVENT_OFF);
}

void web_listen_resume(struct web_listeners *listeners)
{
	listeners->paused = false;
	for (size_t i = 0; i < listeners->n; i++)
		sd_event_source_set_enabled(listeners->list[i].source, SD_EVENT_ON);
}

static int on_client(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct web_listeners *listeners = ((struct web_listener *)userdata)->all;

	listeners->ready(listeners->userdata, fd);
	return 0;
}

static int add_listener(struct web_listeners *listeners, sd_event *event, size_t index,
			const struct listen_addr *addr, int backlog, uint16_t *port)
{
	struct web_listener *listener = &listeners->list[listeners->n];
	int r;

	if (listeners->n == WEB_LISTEN_MAX)
		return -E2BIG;
	*listener = (struct web_listener){.fd = -1, .index = index, .all = listeners};
	r = open_socket(addr, backlog, port, &listener->fd);
	if (r < 0)
		return r;
	listener->port = *port;
	listeners->n++;
	r = sd_event_add_io(event, &listener->source, listener->fd, EPOLLIN, on_client, listener);
	return r < 0 ? r : 0;
}

/* A host without IPv6 has no [::] and no [::1], which is no reason not to listen on the other. */
static bool may_lack(int error, const struct listen *listen, size_t i)
{
	return i > 0 && listen->addr[i].v6 && (error == -EAFNOSUPPORT || error == -EADDRNOTAVAIL);
}

int web_listen_open(struct web_listeners *listeners, sd_event *event,
		    const struct web_config *config, struct web_why *ret_why)
{
	int backlog = config->tls ? BACKLOG_TLS : BACKLOG;

	for (size_t i = 0; i < config->n_listen; i++) {
		struct listen listen;

		if (listen_parse(config->listen[i], &listen) < 0) {
			snprintf(ret_why->text, sizeof(ret_why->text),
				 "cannot listen on %s: it is not ADDRESS:PORT", config->listen[i]);
			return -EINVAL;
		}
		for (size_t k = 0; k < listen.n_addr; k++) {
			int r = add_listener(listeners, event, i, &listen.addr[k], backlog,
					     &listen.port);

			if (r >= 0 || may_lack(r, &listen, k))
				continue;
			snprintf(ret_why->text, sizeof(ret_why->text), "cannot listen on %s: %s",
				 config->listen[i], strerror(-r));
			return r;
		}
	}
	return 0;
}

void web_listen_close(struct web_listeners *listeners)
{
	for (size_t i = 0; i < listeners->n; i++) {
		sd_event_source_disable_unref(listeners->list[i].source);
		close(listeners->list[i].fd);
	}
	listeners->n = 0;
}

uint16_t web_listen_port(const struct web_listeners *listeners, size_t index)
{
	for (size_t i = 0; i < listeners->n; i++)
		if (listeners->list[i].index == index)
			return listeners->list[i].port;
	return 0;
}
