// SPDX-License-Identifier: Apache-2.0
/* The connections: which there are, what each is at and since when, and who has to go. */
#include <errno.h>
#include <stdlib.h>

#include "io/http/priv.h"

static void list_append(struct web_conns *list, struct web_conn *conn)
{
	conn->prev = list->last;
	conn->next = NULL;
	if (list->last)
		list->last->next = conn;
	else
		list->first = conn;
	list->last = conn;
}

static void list_remove(struct web_conns *list, struct web_conn *conn)
{
	if (conn->prev)
		conn->prev->next = conn->next;
	else
		list->first = conn->next;
	if (conn->next)
		conn->next->prev = conn->prev;
	else
		list->last = conn->prev;
}

static void leave(struct web *web, struct web_conn *conn)
{
	if (conn->phase == WEB_CLOSING)
		return;
	list_remove(&web->phases[conn->phase], conn);
	web->n_in_phases--;
	conn->phase = WEB_CLOSING;
}

static void join(struct web *web, struct web_conn *conn, enum web_phase phase)
{
	conn->phase = phase;
	conn->since_ns = web_now(web);
	list_append(&web->phases[phase], conn);
	web->n_in_phases++;
}

void web_conn_enter(struct web *web, struct web_conn *conn, enum web_phase phase)
{
	if (conn->phase == WEB_CLOSING)
		return;
	leave(web, conn);
	join(web, conn, phase);
}

void web_conn_release_body(struct web *web, struct web_conn *conn)
{
	struct web_body *body = conn->body;

	if (!body)
		return;
	conn->body = NULL;
	body->readers--;
	web_body_settle(web, body);
}

void web_conn_resume(struct web *web, struct web_conn *conn)
{
	web_conn_enter(web, conn, WEB_RECEIVING);
	web->mhd.resume_connection(conn->handle);
}

void web_conn_resume_all(struct web *web)
{
	while (web->phases[WEB_CHECKING].first)
		web_conn_resume(web, web->phases[WEB_CHECKING].first);
}

void web_conn_close(struct web *web, struct web_conn *conn)
{
	/* What a reader has not fetched is not to wait for it in the kernel. */
	static const struct linger forget = {.l_onoff = 1, .l_linger = 0};

	if (conn->phase == WEB_CLOSING)
		return;
	if (conn->phase == WEB_SENDING)
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &forget, sizeof(forget));
	/* What is suspended would not be let go of. */
	if (conn->phase == WEB_CHECKING)
		web_conn_resume(web, conn);
	leave(web, conn);
	shutdown(conn->fd, SHUT_RDWR);
}

void web_conn_evict_oldest(struct web *web)
{
	struct web_conn *oldest = NULL;

	for (int i = 0; i < WEB_PHASES; i++) {
		struct web_conn *first = web->phases[i].first;

		if (first && (!oldest || first->since_ns < oldest->since_ns))
			oldest = first;
	}
	if (!oldest)
		return;
	web->stats.evicted++;
	web_conn_close(web, oldest);
}

uint64_t web_conn_expire(struct web *web, uint64_t now_ns)
{
	const uint64_t limits[WEB_PHASES] = {
		[WEB_RECEIVING] = web->config.receive_ns,
		[WEB_CHECKING] = web->config.receive_ns,
		[WEB_IDLE] = web->config.idle_ns,
		[WEB_SENDING] = web->config.send_ns,
	};
	uint64_t next_ns = UINT64_MAX;

	for (int i = 0; i < WEB_PHASES; i++) {
		struct web_conn *conn;

		while ((conn = web->phases[i].first) && conn->since_ns + limits[i] <= now_ns) {
			web->stats.expired++;
			web_conn_close(web, conn);
		}
		if (conn && conn->since_ns + limits[i] < next_ns)
			next_ns = conn->since_ns + limits[i];
	}
	return next_ns;
}

void web_conn_admit(struct web *web, int fd, const struct sockaddr *addr, socklen_t len)
{
	if (web->n_in_phases >= web->config.max_connections)
		web_conn_evict_oldest(web);
	if (web->mhd.add_connection(web->daemon, fd, addr, len) == MHD_YES)
		web->stats.accepted++;
	else
		web->stats.refused++;
}

struct web_conn *web_conn_of(const struct web *web, struct MHD_Connection *handle)
{
	const union MHD_ConnectionInfo *info =
		web->mhd.get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void begin_session(const struct web *web, struct MHD_Connection *handle)
{
	const union MHD_ConnectionInfo *info =
		web->mhd.get_connection_info(handle, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	web_tls_session(&web->tls, info->tls_session);
}

void web_conn_notify(void *userdata, struct MHD_Connection *handle, void **context,
		     enum MHD_ConnectionNotificationCode code)
{
	struct web *web = userdata;
	struct web_conn *conn = *context;
	int fd;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		web->stats.connections--;
		if (conn) {
			web_conn_release_body(web, conn);
			leave(web, conn);
		}
		free(conn);
		*context = NULL;
		return;
	}
	web->stats.connections++;
	fd = web->mhd.get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	conn = calloc(1, sizeof(*conn));
	if (!conn) {
		shutdown(fd, SHUT_RDWR);
		return;
	}
	conn->fd = fd;
	conn->handle = handle;
	if (web->tls.on)
		begin_session(web, handle);
	join(web, conn, WEB_RECEIVING);
	*context = conn;
}
