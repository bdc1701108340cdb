// SPDX-License-Identifier: Apache-2.0
/* The server's life, its connections and requests, and its place on the event loop. */
#include "io/http/web.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "io/http/auth.h"
#include "io/http/listen.h"
#include "io/http/mhd.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "wire/http/request.h"

#define SECOND_NS UINT64_C(1000000000)

/* A request line and its headers; what is longer gets status 414 or 431. */
#define REQUEST_BYTES ((size_t)16 << 10)

#define ACCEPT_MAX   64
#define PAUSE_NS     100000000
#define SHARE_OF_NEW 4 /* of all connections, in one turn of the loop */

/* What a connection is at. A kind has one limit of time, so each list is in order of its ends. */
enum web_phase {
	WEB_RECEIVING, /* the handshake of TLS, too */
	WEB_CHECKING,  /* suspended until a password is checked */
	WEB_IDLE,
	WEB_SENDING,
	WEB_PHASES,
	WEB_CLOSING = WEB_PHASES /* shut down, in no list, until the library releases it */
};

struct web_conn {
	TAILQ_ENTRY(web_conn) link;
	enum web_phase phase;
	uint64_t since_ns; /* when the phase began */
	int fd;		   /* the library's */
	struct MHD_Connection *handle;
	struct web_body *body; /* what it is being sent; NULL: nothing that has readers */
};

/* The first: longest in this phase. */
TAILQ_HEAD(web_conns, web_conn);

struct web {
	struct web_config config; /* of the strings only the hosts */
	sd_event *event;
	struct mhd mhd;
	struct MHD_Daemon *daemon;
	sd_event_source *ready, *timer;
	struct defer more;
	struct web_listeners listeners; /* paused for lack of descriptors or credit */
	struct web_tls_state tls;
	struct webauth *auth; /* NULL: everybody is served */
	struct web_conns phases[WEB_PHASES];
	unsigned int n_in_phases;
	struct web_bodies bodies;
	uint64_t began_ns;	/* CPU time when this turn began */
	struct web_stats stats; /* but what the bodies count */
};

/* CLOCK_MONOTONIC of this turn of the loop. */
static uint64_t now_of(const struct web *web)
{
	uint64_t us = 0;

	sd_event_now(web->event, CLOCK_MONOTONIC, &us);
	return us * 1000;
}

/* --- connections -------------------------------------------------------------------------------- */

static void leave(struct web *web, struct web_conn *conn)
{
	if (conn->phase == WEB_CLOSING)
		return;
	TAILQ_REMOVE(&web->phases[conn->phase], conn, link);
	web->n_in_phases--;
	conn->phase = WEB_CLOSING;
}

static void join(struct web *web, struct web_conn *conn, enum web_phase phase)
{
	conn->phase = phase;
	conn->since_ns = now_of(web);
	TAILQ_INSERT_TAIL(&web->phases[phase], conn, link);
	web->n_in_phases++;
}

static void enter(struct web *web, struct web_conn *conn, enum web_phase phase)
{
	if (conn->phase == WEB_CLOSING)
		return;
	leave(web, conn);
	join(web, conn, phase);
}

/* It reads its body no longer. */
static void release_body(struct web *web, struct web_conn *conn)
{
	struct web_body *body = conn->body;

	if (!body)
		return;
	conn->body = NULL;
	body->readers--;
	web_body_settle(&web->bodies, body);
}

/* Lets the library go on with a request that waits for a password to be checked. */
static void resume(struct web *web, struct web_conn *conn)
{
	enter(web, conn, WEB_RECEIVING);
	web->mhd.resume_connection(conn->handle);
}

static void resume_all(struct web *web)
{
	while (!TAILQ_EMPTY(&web->phases[WEB_CHECKING]))
		resume(web, TAILQ_FIRST(&web->phases[WEB_CHECKING]));
}

/* Frees nothing yet: the library notices in its next run. */
static void close_conn(struct web *web, struct web_conn *conn)
{
	/* What a reader has not fetched is not to wait for it in the kernel. */
	static const struct linger forget = {.l_onoff = 1, .l_linger = 0};

	if (conn->phase == WEB_CLOSING)
		return;
	if (conn->phase == WEB_SENDING)
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &forget, sizeof(forget));
	/* What is suspended would not be released. */
	if (conn->phase == WEB_CHECKING)
		resume(web, conn);
	leave(web, conn);
	shutdown(conn->fd, SHUT_RDWR);
}

static void evict_oldest(struct web *web)
{
	struct web_conn *oldest = NULL;

	for (int i = 0; i < WEB_PHASES; i++) {
		struct web_conn *first = TAILQ_FIRST(&web->phases[i]);

		if (first && (!oldest || first->since_ns < oldest->since_ns))
			oldest = first;
	}
	if (!oldest)
		return;
	web->stats.evicted++;
	close_conn(web, oldest);
}

/* Closes the connections that are sent the body. */
static void evict_readers(void *userdata, const struct web_body *body)
{
	struct web *web = userdata;
	struct web_conn *next;

	for (struct web_conn *conn = TAILQ_FIRST(&web->phases[WEB_SENDING]); conn; conn = next) {
		next = TAILQ_NEXT(conn, link);
		if (conn->body != body)
			continue;
		web->stats.evicted++;
		close_conn(web, conn);
	}
}

/* Closes who took too long; returns when to look again, UINT64_MAX for never. */
static uint64_t expire_conns(struct web *web, uint64_t now_ns)
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

		while ((conn = TAILQ_FIRST(&web->phases[i])) &&
		       conn->since_ns + limits[i] <= now_ns) {
			web->stats.expired++;
			close_conn(web, conn);
		}
		if (conn && conn->since_ns + limits[i] < next_ns)
			next_ns = conn->since_ns + limits[i];
	}
	return next_ns;
}

/* Hands an accepted socket to the library, which owns it then; closes another at the limit. */
static void admit(struct web *web, int fd, const struct sockaddr *addr, socklen_t len)
{
	if (web->n_in_phases >= web->config.max_connections)
		evict_oldest(web);
	if (web->mhd.add_connection(web->daemon, fd, addr, len) == MHD_YES)
		web->stats.accepted++;
	else
		web->stats.refused++;
}

/* NULL when there was no memory for one: it is being closed. */
static struct web_conn *conn_of(const struct web *web, struct MHD_Connection *handle)
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

/* Fits MHD_NotifyConnectionCallback. */
static void on_connection(void *userdata, struct MHD_Connection *handle, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct web *web = userdata;
	struct web_conn *conn = *context;
	int fd;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		web->stats.connections--;
		if (conn) {
			release_body(web, conn);
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

/* --- requests ----------------------------------------------------------------------------------- */

static const char *header(const struct web *web, struct MHD_Connection *handle, const char *name)
{
	return web->mhd.lookup_connection_value(handle, MHD_HEADER_KIND, name);
}

static enum MHD_Result add_header(void *userdata, enum MHD_ValueKind kind, const char *name,
				  size_t name_len, const char *value, size_t value_len)
{
	reqhead_add(userdata, name, name_len, value, value_len);
	return MHD_YES;
}

/* The status to turn a request away with once its headers are there; 0 for none. */
static unsigned int objection(const struct web *web, struct MHD_Connection *handle, const char *url,
			      const char *method, const char *version)
{
	struct reqhead head = {};

	web->mhd.get_connection_values_n(handle, MHD_HEADER_KIND, add_header, &head);
	return reqhead_judge(&head, method, url, version, web->config.hosts, web->config.n_hosts);
}

static enum MHD_Result queue(struct web *web, struct web_conn *conn, struct MHD_Connection *handle,
			     struct web_body *body)
{
	bool gzip = negotiate_gzip(header(web, handle, MHD_HTTP_HEADER_ACCEPT_ENCODING));
	struct MHD_Response *response = web_body_response(&web->bodies, body, gzip);
	enum MHD_Result r = web->mhd.queue_response(handle, body->status, response);

	if (r == MHD_YES) {
		web->stats.requests[body->status / 100]++;
		conn->body = body;
		body->readers++;
		enter(web, conn, WEB_SENDING);
	}
	web_body_settle(&web->bodies, body);
	return r;
}

static enum MHD_Result refuse(struct web *web, struct web_conn *conn, struct MHD_Connection *handle,
			      unsigned int status)
{
	struct web_body *body = web_body_refusal(&web->bodies, status);

	return body ? queue(web, conn, handle, body) : MHD_NO;
}

/* The page that was asked for, or why it is not shown. When a password is to be checked before, the
 * request waits: the library queries again once it is resumed. */
static enum MHD_Result answer(struct web *web, struct web_conn *conn, struct MHD_Connection *handle,
			      const char *url)
{
	enum webauth_verdict verdict = WEBAUTH_YES;
	struct web_request wanted;
	struct web_body *body;

	if (web->auth)
		verdict = webauth_query(
			web->auth, header(web, handle, MHD_HTTP_HEADER_AUTHORIZATION), now_of(web));
	if (verdict == WEBAUTH_WAIT) {
		enter(web, conn, WEB_CHECKING);
		if (conn->phase == WEB_CHECKING)
			web->mhd.suspend_connection(handle);
		return MHD_YES;
	}
	if (verdict != WEBAUTH_YES)
		return refuse(web, conn, handle, verdict == WEBAUTH_NO ? 401 : 429);
	wanted.path = reqhead_path(url);
	wanted.format = negotiate_format(header(web, handle, MHD_HTTP_HEADER_ACCEPT));
	body = web_body_get(&web->bodies, &wanted, now_of(web));
	return body ? queue(web, conn, handle, body) : MHD_NO;
}

/* Fits MHD_AccessHandlerCallback. */
static enum MHD_Result on_request(void *userdata, struct MHD_Connection *handle, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **request)
{
	struct web *web = userdata;
	struct web_conn *conn = conn_of(web, handle);
	enum MHD_Result r;
	unsigned int status;
	uint64_t began_ns;

	/* One that was closed while its password was checked would wait for an answer for ever. */
	if (!conn || conn->phase == WEB_CLOSING)
		return MHD_NO;
	/* First it calls when the headers are there: an answer then means that what follows is not
	 * read, and costs the connection. */
	if (!*request) {
		*request = conn;
		status = objection(web, handle, url, method, version);
		return status ? refuse(web, conn, handle, status) : MHD_YES;
	}
	if (*upload_size)
		return MHD_NO;
	began_ns = web_tls_begin_page(&web->tls);
	r = answer(web, conn, handle, url);
	web_tls_end_page(&web->tls, began_ns);
	return r;
}

static void *on_request_begins(void *userdata, const char *uri, struct MHD_Connection *handle)
{
	struct web *web = userdata;
	struct web_conn *conn = conn_of(web, handle);

	if (conn && conn->phase == WEB_IDLE)
		enter(web, conn, WEB_RECEIVING);
	return NULL;
}

static void on_request_ends(void *userdata, struct MHD_Connection *handle, void **request,
			    enum MHD_RequestTerminationCode code)
{
	struct web *web = userdata;
	struct web_conn *conn = conn_of(web, handle);
	char byte;

	if (!conn)
		return;
	release_body(web, conn);
	enter(web, conn, WEB_IDLE);
	/* The library hears of an end that came along with the request only once, and then it was
	 * reading the request. */
	if (recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		close_conn(web, conn);
}

/* --- turns of the loop -------------------------------------------------------------------------- */

/* When the library, a connection or a body wants to be looked at next. */
static void arm(struct web *web, uint64_t next_ns)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (web->listeners.paused && web->listeners.paused_until_ns < next_ns)
		next_ns = web->listeners.paused_until_ns;
	timer_at(web->timer, next_ns == UINT64_MAX ? 0 : next_ns);
	/* It has no timeouts of its own: it is either waiting for its sockets, or not done. */
	if (web->mhd.get_timeout(web->daemon, &ms) == MHD_YES)
		defer_enable(&web->more);
}

/* What is done from here to the end of turn() counts as serving. */
static void begin_turn(struct web *web)
{
	web->began_ns = clock_thread_ns();
}

/* Lets the library work on what is ready, and says when there is more to do. */
static void turn(struct web *web)
{
	uint64_t now_ns = now_of(web), conn_ns, body_ns;

	conn_ns = expire_conns(web, now_ns);
	web_tls_begin_turn(&web->tls);
	web->mhd.run(web->daemon);
	web_tls_end_turn(&web->tls, now_ns);
	conn_ns = expire_conns(web, now_ns);
	body_ns = web_body_expire(&web->bodies, now_ns);
	arm(web, conn_ns < body_ns ? conn_ns : body_ns);
	web->stats.cpu_ns += clock_thread_ns() - web->began_ns;
}

static int on_ready(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	begin_turn(userdata);
	turn(userdata);
	return 0;
}

static int on_more(sd_event_source *source, void *userdata)
{
	begin_turn(userdata);
	turn(userdata);
	return 0;
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct web *web = userdata;

	begin_turn(web);
	if (web->listeners.paused && web->listeners.paused_until_ns <= now_of(web))
		web_listen_resume(&web->listeners);
	turn(web);
	return 0;
}

/* Not more than a share of the connections, so that a new client is answered before others
 * that come behind it push it out. */
static unsigned int accept_max(const struct web *web)
{
	unsigned int share = web->config.max_connections / SHARE_OF_NEW;

	return share < 1 ? 1 : share < ACCEPT_MAX ? share : ACCEPT_MAX;
}

static void on_clients(void *userdata, int listener)
{
	struct web *web = userdata;

	begin_turn(web);
	for (unsigned int i = 0; i < accept_max(web); i++) {
		struct sockaddr_storage address = {};
		socklen_t len = sizeof(address);
		uint64_t until_ns;
		int fd;

		if (!web_tls_may_admit(&web->tls, now_of(web), &until_ns)) {
			web_listen_pause(&web->listeners, until_ns);
			break;
		}
		fd = accept4(listener, (struct sockaddr *)&address, &len,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			web_tls_admitted(&web->tls, now_of(web));
			admit(web, fd, (struct sockaddr *)&address, len);
			continue;
		}
		if (errno == EAGAIN)
			break;
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			web->stats.refused++;
			evict_oldest(web);
			web_listen_pause(&web->listeners, now_of(web) + PAUSE_NS);
			break;
		}
	}
	turn(web);
}

/* Some verdict is there: who waits for another one is suspended again. */
static void on_verdict(void *userdata)
{
	struct web *web = userdata;

	if (!web->daemon)
		return;
	begin_turn(web);
	resume_all(web);
	turn(web);
}

/* --- the server --------------------------------------------------------------------------------- */

/* A path is compared as it was sent: escapes could only hide a NUL in it. */
static size_t leave_escapes(void *userdata, struct MHD_Connection *handle, char *text)
{
	return strlen(text);
}

static struct MHD_Daemon *start_daemon(struct web *web, const struct web_tls *tls)
{
	/* Those that were shut down are released a run later, so that there are more for a moment. */
	unsigned int limit = 2 * web->config.max_connections + 8;
	unsigned int flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem options[WEB_TLS_OPTIONS];

	web_tls_options(tls, options);
	return web->mhd.start_daemon(
		tls ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, on_request, web,
		MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, web, MHD_OPTION_NOTIFY_COMPLETED, on_request_ends, web,
		MHD_OPTION_URI_LOG_CALLBACK, on_request_begins, web, MHD_OPTION_UNESCAPE_CALLBACK,
		leave_escapes, web, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, options,
		MHD_OPTION_END);
}

static int refused(struct web_why *ret_why)
{
	snprintf(ret_why->text, sizeof(ret_why->text),
		 "cannot start the web server: libmicrohttpd refuses");
	return -ENOMEM;
}

int web_check(const struct web_config *config, struct web_why *ret_why)
{
	return config->tls ? web_tls_check(config->tls, ret_why) : 0;
}

static int start_library(struct web *web, const struct web_config *config, struct web_why *ret_why)
{
	const char *error;
	int r = web_check(config, ret_why);

	if (r == 0)
		r = web_tls_set(&web->tls, config->tls, ret_why);
	if (r < 0)
		return r;
	if (mhd_load(&web->mhd, &error) < 0) {
		snprintf(ret_why->text, sizeof(ret_why->text), "cannot load the web server: %s",
			 error);
		return -ELIBACC;
	}
	web->daemon = start_daemon(web, config->tls);
	return web->daemon ? 0 : refused(ret_why);
}

/* wait: for a child that has to be started. */
static int set_users(struct web *web, const struct web_config *config, bool wait,
		     struct web_why *ret_why)
{
	int r = 0;

	if (!web->auth && config->n_users)
		r = webauth_new(web->event, wait, on_verdict, web, &web->auth, ret_why);
	if (r < 0 || !web->auth)
		return r;
	r = webauth_set_users(web->auth, config->users, config->n_users);
	if (r < 0)
		snprintf(ret_why->text, sizeof(ret_why->text),
			 "cannot take the users over: out of memory");
	return r;
}

/* What says when a daemon of the library has something to do. */
static int add_ready(struct web *web, struct MHD_Daemon *daemon, sd_event_source **ret)
{
	const union MHD_DaemonInfo *info =
		web->mhd.get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
	int r = info ? 0 : -ENOTSUP;

	if (r >= 0)
		r = sd_event_add_io(web->event, ret, info->epoll_fd, EPOLLIN, on_ready, web);
	return r < 0 ? r : 0;
}

static int add_sources(struct web *web, struct web_why *ret_why)
{
	int r = add_ready(web, web->daemon, &web->ready);

	if (r >= 0)
		r = defer_open(&web->more, web->event, on_more, web);
	if (r >= 0)
		r = timer_new(web->event, CLOCK_MONOTONIC, 0, on_time, web, &web->timer);
	if (r < 0)
		snprintf(ret_why->text, sizeof(ret_why->text), "cannot start the web server: %s",
			 strerror(-r));
	return r < 0 ? r : 0;
}

static struct web_config with_defaults(const struct web_config *config)
{
	struct web_config full = *config;

	full.listen = NULL;
	full.tls = NULL;
	full.users = NULL;
	full.n_users = 0;
	full.max_connections = full.max_connections ?: 256;
	full.max_bodies = full.max_bodies ?: 4;
	full.receive_ns = full.receive_ns ?: 10 * SECOND_NS;
	full.idle_ns = full.idle_ns ?: 120 * SECOND_NS;
	full.send_ns = full.send_ns ?: 30 * SECOND_NS;
	full.tls_share = full.tls_share ?: 100;
	return full;
}

int web_new(sd_event *event, const struct web_config *config, web_fn fn, void *userdata,
	    struct web **ret, struct web_why *ret_why)
{
	_cleanup_(cleanup_web_free) struct web *web = calloc(1, sizeof(*web));
	int r;

	if (!web) {
		snprintf(ret_why->text, sizeof(ret_why->text), "cannot start the web server: %s",
			 strerror(ENOMEM));
		return -ENOMEM;
	}
	web->config = with_defaults(config);
	web->event = sd_event_ref(event);
	for (size_t i = 0; i < WEB_PHASES; i++)
		TAILQ_INIT(&web->phases[i]);
	web->listeners.ready = on_clients;
	web->listeners.userdata = web;
	web->bodies = (struct web_bodies){
		.mhd = &web->mhd,
		.max = web->config.max_bodies,
		.fn = fn,
		.userdata = userdata,
		.evict = evict_readers,
		.web = web,
	};
	TAILQ_INIT(&web->bodies.list);
	web_tls_init(&web->tls, web->config.tls_share);
	/* The child that checks passwords is forked while there is little to copy. */
	r = set_users(web, config, true, ret_why);
	if (r == 0)
		r = start_library(web, config, ret_why);
	if (r == 0)
		r = add_sources(web, ret_why);
	if (r == 0)
		r = web_listen_open(&web->listeners, web->event, config, ret_why);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(web);
	return 0;
}

/* With all its connections. */
static void stop_daemon(struct web *web)
{
	/* The library insists that none is suspended then. */
	resume_all(web);
	web->mhd.stop_daemon(web->daemon);
	web->daemon = NULL;
}

/* The library cannot change the keys of a daemon: another one takes over the listeners. */
int web_reload(struct web *web, const struct web_config *config, struct web_why *ret_why)
{
	sd_event_source *ready = NULL;
	struct MHD_Daemon *daemon;
	int r = web_check(config, ret_why);

	if (r < 0)
		return r;
	daemon = start_daemon(web, config->tls);
	if (!daemon || add_ready(web, daemon, &ready) < 0)
		r = refused(ret_why);
	/* The loop goes on while the child comes up. */
	if (r == 0)
		r = set_users(web, config, false, ret_why);
	if (r == 0)
		r = web_tls_set(&web->tls, config->tls, ret_why);
	if (r < 0) {
		sd_event_source_disable_unref(ready);
		if (daemon)
			web->mhd.stop_daemon(daemon);
		return r;
	}
	sd_event_source_disable_unref(web->ready);
	stop_daemon(web);
	web->ready = ready;
	web->daemon = daemon;
	begin_turn(web);
	turn(web);
	return 0;
}

struct web *web_free(struct web *web)
{
	if (!web)
		return NULL;
	web_listen_close(&web->listeners);
	sd_event_source_disable_unref(web->timer);
	defer_close(&web->more);
	sd_event_source_disable_unref(web->ready);
	web->timer = web->ready = NULL;
	if (web->daemon)
		stop_daemon(web);
	webauth_free(web->auth);
	web_body_drop_all(&web->bodies);
	sd_event_unref(web->event);
	free(web);
	return NULL;
}

void web_get_stats(const struct web *web, struct web_stats *ret)
{
	*ret = (struct web_stats){};
	if (!web)
		return;
	*ret = web->stats;
	ret->rendered = web->bodies.rendered;
	ret->bodies = web->bodies.n_counted;
}

uint16_t web_port(const struct web *web, size_t index)
{
	return web_listen_port(&web->listeners, index);
}
