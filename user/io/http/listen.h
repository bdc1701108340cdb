/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listening sockets of the server and TLS on them: what libmicrohttpd is given, what of its
 * sessions is changed, and what handshakes may cost.
 *
 * A handshake is the one thing that a stranger can make the daemon compute, and what it computes
 * counts against its budget. So new connections are accepted on credit: each is charged 0.2 ms, and
 * whatever CPU time the library then spends, except for making pages, is charged, too. Credit comes
 * back at a hundredth of real time (web_config.tls_share), and as much as five seconds' worth of it
 * is kept. Without credit clients wait in the listen queue, while those that are there are served.
 * So a flood costs 1 % of one CPU, whatever the key: about 6 handshakes a second with a key of RSA
 * 2048, 15 with one of P-256, 30 connections that are no TLS.
 */
#ifndef IO_HTTP_LISTEN_H
#define IO_HTTP_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/load/credit.h"
#include "io/http/mhd.h"
#include "io/http/web.h"
#include "io/tls/gnutls.h"

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

#define WEB_TLS_OPTIONS 5

struct web_tls_state {
	bool on;
	bool require;	      /* a certificate of the client */
	struct gtls gtls;     /* when it is on */
	struct credit credit; /* of CLOCK_MONOTONIC */
	uint64_t pages_ns;    /* CPU time of pages in this turn, which is not charged */
	uint64_t before_ns;   /* CPU time when what is measured began */
};

/* As web_check(). */
int web_tls_check(const struct web_tls *tls, struct web_why *ret_why);

/* For a state of zeros: share as web_config.tls_share. */
void web_tls_init(struct web_tls_state *state, unsigned int share);

/* What MHD_start_daemon() wants as MHD_OPTION_ARRAY; points into tls. */
void web_tls_options(const struct web_tls *tls, struct MHD_OptionItem ret[WEB_TLS_OPTIONS]);

/* Turns it on, or off for NULL; keeps the debts. As web_check(). */
int web_tls_set(struct web_tls_state *state, const struct web_tls *tls, struct web_why *ret_why);

/* For a session that has not begun: lets it end unless the client shows what it must. */
void web_tls_session(const struct web_tls_state *state, gnutls_session_t session);

/* Whether there is credit for one connection more; false: not until *ret_until_ns. */
bool web_tls_may_admit(const struct web_tls_state *state, uint64_t now_ns, uint64_t *ret_until_ns);
/* Charges one. */
void web_tls_admitted(struct web_tls_state *state, uint64_t now_ns);

/* Around what the library does, and around the making of a page in it. */
void web_tls_begin_turn(struct web_tls_state *state);
void web_tls_end_turn(struct web_tls_state *state, uint64_t now_ns);
uint64_t web_tls_begin_page(const struct web_tls_state *state);
void web_tls_end_page(struct web_tls_state *state, uint64_t began_ns);

#endif
