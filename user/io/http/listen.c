// SPDX-License-Identifier: Apache-2.0
/* The listening sockets, and taking in who comes. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "io/http/priv.h"
#include "wire/config/listen.h"

#define BACKLOG	     512
#define BACKLOG_TLS  64 /* who waits for credit there is not to wait longer than a scrape takes */
#define ACCEPT_MAX   64
#define PAUSE_NS     100000000
#define SEND_BYTES   (128 << 10) /* what the kernel holds for a slow reader, doubled by it */
#define SHARE_OF_NEW 4		 /* of all connections, in one turn of the loop */

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

/* Closed to new clients for a moment. */
static void pause_listening(struct web *web, uint64_t until_ns)
{
	web->paused = true;
	web->paused_until_ns = until_ns;
	for (size_t i = 0; i < web->n_listeners; i++)
		sd_event_source_set_enabled(web->listeners[i].source, SD_EVENT_OFF);
}

void web_listen_resume(struct web *web)
{
	web->paused = false;
	for (size_t i = 0; i < web->n_listeners; i++)
		sd_event_source_set_enabled(web->listeners[i].source, SD_EVENT_ON);
}

/* Not more than a share of the connections, so that whoever is new here is answered before others
 * that come behind it push it out. */
static unsigned int accept_max(const struct web *web)
{
	unsigned int share = web->config.max_connections / SHARE_OF_NEW;

	return share < 1 ? 1 : share < ACCEPT_MAX ? share : ACCEPT_MAX;
}

static int on_client(sd_event_source *source, int listener, uint32_t events, void *userdata)
{
	struct web *web = ((struct web_listener *)userdata)->web;

	(void)source;
	(void)events;
	web_begin_turn(web);
	for (unsigned int i = 0; i < accept_max(web); i++) {
		union address address = {};
		socklen_t len = sizeof(address);
		uint64_t until_ns;
		int fd;

		if (!web_tls_may_admit(&web->tls, web_now(web), &until_ns)) {
			pause_listening(web, until_ns);
			break;
		}
		fd = accept4(listener, &address.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			web_tls_admitted(&web->tls, web_now(web));
			web_conn_admit(web, fd, &address.any, len);
			continue;
		}
		if (errno == EAGAIN)
			break;
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			web->stats.refused++;
			web_conn_evict_oldest(web);
			pause_listening(web, web_now(web) + PAUSE_NS);
			break;
		}
	}
	web_turn(web);
	return 0;
}

static int add_listener(struct web *web, size_t index, const struct listen_addr *addr,
			uint16_t *port)
{
	struct web_listener *listener = &web->listeners[web->n_listeners];
	int r;

	if (web->n_listeners == WEB_LISTEN_MAX)
		return -E2BIG;
	*listener = (struct web_listener){.fd = -1, .index = index, .web = web};
	r = open_socket(addr, web->tls.on ? BACKLOG_TLS : BACKLOG, port, &listener->fd);
	if (r < 0)
		return r;
	listener->port = *port;
	web->n_listeners++;
	r = sd_event_add_io(web->event, &listener->source, listener->fd, EPOLLIN, on_client,
			    listener);
	return r < 0 ? r : 0;
}

/* A host without IPv6 has no [::] and no [::1], which is no reason not to listen on the other. */
static bool may_lack(int error, const struct listen *listen, size_t i)
{
	return i > 0 && listen->addr[i].v6 && (error == -EAFNOSUPPORT || error == -EADDRNOTAVAIL);
}

int web_listen_open(struct web *web, const struct web_config *config, struct web_why *ret_why)
{
	for (size_t i = 0; i < config->n_listen; i++) {
		struct listen listen;

		if (listen_parse(config->listen[i], &listen) < 0) {
			snprintf(ret_why->text, sizeof(ret_why->text),
				 "cannot listen on %s: it is not ADDRESS:PORT", config->listen[i]);
			return -EINVAL;
		}
		for (size_t k = 0; k < listen.n_addr; k++) {
			int r = add_listener(web, i, &listen.addr[k], &listen.port);

			if (r >= 0 || may_lack(r, &listen, k))
				continue;
			snprintf(ret_why->text, sizeof(ret_why->text), "cannot listen on %s: %s",
				 config->listen[i], strerror(-r));
			return r;
		}
	}
	return 0;
}

void web_listen_close(struct web *web)
{
	for (size_t i = 0; i < web->n_listeners; i++) {
		sd_event_source_disable_unref(web->listeners[i].source);
		close(web->listeners[i].fd);
	}
	web->n_listeners = 0;
}

uint16_t web_port(const struct web *web, size_t index)
{
	for (size_t i = 0; i < web->n_listeners; i++)
		if (web->listeners[i].index == index)
			return web->listeners[i].port;
	return 0;
}
