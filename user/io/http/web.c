// SPDX-License-Identifier: Apache-2.0
/* The server's life, and its place on the event loop. */
#include "io/http/web.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "io/http/priv.h"
#include "io/proc/clock.h"

#define SECOND_NS UINT64_C(1000000000)

/* A request line and its headers; what is longer gets status 414 or 431. */
#define REQUEST_BYTES ((size_t)16 << 10)

uint64_t web_now(const struct web *web)
{
	uint64_t us = 0;

	sd_event_now(web->event, CLOCK_MONOTONIC, &us);
	return us * 1000;
}

/* When the library, a connection or a body wants to be looked at next. */
static void arm(struct web *web, uint64_t next_ns)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (web->paused && web->paused_until_ns < next_ns)
		next_ns = web->paused_until_ns;
	if (next_ns != UINT64_MAX)
		sd_event_source_set_time(web->timer, next_ns / 1000 + 1);
	sd_event_source_set_enabled(web->timer,
				    next_ns == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
	/* It has no timeouts of its own: it is either waiting for its sockets, or not done. */
	if (web->mhd.get_timeout(web->daemon, &ms) == MHD_YES)
		sd_event_source_set_enabled(web->more, SD_EVENT_ONESHOT);
}

void web_begin_turn(struct web *web)
{
	web->began_ns = clock_thread_ns();
}

void web_turn(struct web *web)
{
	uint64_t now_ns = web_now(web), conn_ns, body_ns;

	conn_ns = web_conn_expire(web, now_ns);
	web_tls_begin_turn(&web->tls);
	web->mhd.run(web->daemon);
	web_tls_end_turn(&web->tls, now_ns);
	conn_ns = web_conn_expire(web, now_ns);
	body_ns = web_body_expire(web, now_ns);
	arm(web, conn_ns < body_ns ? conn_ns : body_ns);
	web->stats.cpu_ns += clock_thread_ns() - web->began_ns;
}

static int on_ready(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source;
	(void)fd;
	(void)events;
	web_begin_turn(userdata);
	web_turn(userdata);
	return 0;
}

static int on_more(sd_event_source *source, void *userdata)
{
	(void)source;
	web_begin_turn(userdata);
	web_turn(userdata);
	return 0;
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct web *web = userdata;

	(void)source;
	(void)usec;
	web_begin_turn(web);
	if (web->paused && web->paused_until_ns <= web_now(web))
		web_listen_resume(web);
	web_turn(web);
	return 0;
}

/* A path is compared as it was sent: escapes could only hide a NUL in it. */
static size_t leave_escapes(void *userdata, struct MHD_Connection *handle, char *text)
{
	(void)userdata;
	(void)handle;
	return strlen(text);
}

static struct MHD_Daemon *start_daemon(struct web *web, const struct web_tls *tls)
{
	/* Those that were shut down are let go a run later, so that there are more for a moment. */
	unsigned int limit = 2 * web->config.max_connections + 8;
	unsigned int flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem options[WEB_TLS_OPTIONS];

	web_tls_options(tls, options);
	return web->mhd.start_daemon(
		tls ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, web_request_handle, web,
		MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
		web_conn_notify, web, MHD_OPTION_NOTIFY_COMPLETED, web_request_end, web,
		MHD_OPTION_URI_LOG_CALLBACK, web_request_begin, web, MHD_OPTION_UNESCAPE_CALLBACK,
		leave_escapes, web, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static int refused(struct web_why *ret_why)
{
	snprintf(ret_why->text, sizeof(ret_why->text),
		 "cannot start the web server: libmicrohttpd refuses");
	return -ENOMEM;
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

/* Some verdict is there: who waits for another one is suspended again. */
static void on_verdict(void *userdata)
{
	struct web *web = userdata;

	if (!web->daemon)
		return;
	web_begin_turn(web);
	web_conn_resume_all(web);
	web_turn(web);
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

int web_check(const struct web_config *config, struct web_why *ret_why)
{
	return config->tls ? web_tls_check(config->tls, ret_why) : 0;
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
		r = sd_event_add_defer(web->event, &web->more, on_more, web);
	if (r >= 0)
		r = sd_event_source_set_enabled(web->more, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(web->event, &web->timer, CLOCK_MONOTONIC, 0, 0, on_time, web);
	if (r >= 0)
		r = sd_event_source_set_enabled(web->timer, SD_EVENT_OFF);
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
	web->fn = fn;
	web->userdata = userdata;
	web_tls_init(&web->tls, web->config.tls_share);
	/* The child that checks passwords is forked while there is little to copy. */
	r = set_users(web, config, true, ret_why);
	if (r == 0)
		r = start_library(web, config, ret_why);
	if (r == 0)
		r = add_sources(web, ret_why);
	if (r == 0)
		r = web_listen_open(web, config, ret_why);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(web);
	return 0;
}

/* With all its connections. */
static void stop_daemon(struct web *web)
{
	/* The library insists that none is suspended then. */
	web_conn_resume_all(web);
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
	web_begin_turn(web);
	web_turn(web);
	return 0;
}

struct web *web_free(struct web *web)
{
	if (!web)
		return NULL;
	web_listen_close(web);
	sd_event_source_disable_unref(web->timer);
	sd_event_source_disable_unref(web->more);
	sd_event_source_disable_unref(web->ready);
	web->timer = web->more = web->ready = NULL;
	if (web->daemon)
		stop_daemon(web);
	webauth_free(web->auth);
	web_body_drop_all(web);
	sd_event_unref(web->event);
	free(web);
	return NULL;
}

void web_get_stats(const struct web *web, struct web_stats *ret)
{
	*ret = web->stats;
}
