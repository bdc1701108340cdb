/* SPDX-License-Identifier: Apache-2.0 */
/* A small site on io/http/web and clients of it, all in one process: whoever waits runs the
 * server's loop meanwhile. What goes wrong in here fails the test. */
#ifndef TESTS_LIB_NET_WEBC_H
#define TESTS_LIB_NET_WEBC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "base/buf.h"
#include "io/http/web.h"

/*
 * "/" is small, "/metrics" has both formats and is kept for a while, "/each" is as long but made
 * anew each time, "/moved" leads to "/", "/broken" and "/no-status" go wrong; the rest is 404.
 */
struct site {
	sd_event *event;
	struct web *web;
	uint16_t port;
	size_t bytes;	       /* of /metrics and /each; 2 MiB unless changed */
	uint32_t keep_ms;      /* of /metrics; an hour unless changed */
	time_t patience_end_s; /* of CLOCK_MONOTONIC */
	unsigned int rendered; /* how often a page was made */
};

void site_open(struct site *site, const struct web_config *config);
void site_close(struct site *site);

/* One turn of the loop, waiting at most 10 ms for something to do. Fails the test when the site has
 * been open for a minute: what it waits for will not come. */
void site_turn(struct site *site);
/* For what is waited for from now on. */
void site_be_patient(struct site *site);
/* Turns until nothing happens at once. */
void site_settle(struct site *site);
struct web_stats site_stats(const struct site *site);
/* Whether a page that is long is the one that was made, byte by byte. */
bool site_is_page(const struct site *site, enum expo_format format, const char *body, size_t len);

/* A new client gets the whole of /metrics. */
void site_expect_served(struct site *site);
/* Turns until the server has no connection left. */
void site_await_empty(struct site *site);
/* Open descriptors of this process, server and clients. */
unsigned int site_count_fds(void);

struct webc {
	int fd;
	bool ended;	/* the server closed */
	struct buf got; /* not consumed yet */
};

struct webc_reply {
	unsigned int status;
	struct buf head; /* with its blank line */
	struct buf body;
};

void webc_open(const struct site *site, struct webc *ret);
void webc_close(struct webc *c);
/* Closes with a reset. */
void webc_reset(struct webc *c);
/* All of it, turning the loop while the server takes nothing; false: the server closed. */
bool webc_send(struct site *site, struct webc *c, const char *data, size_t len);
bool webc_sends(struct site *site, struct webc *c, const char *text);
/* Reads what is there, at most max bytes. */
void webc_read(struct webc *c, size_t max);
/* Turns until a whole reply is there; false: the server closed before. The caller frees. */
bool webc_reply(struct site *site, struct webc *c, bool head_only, struct webc_reply *ret);
void webc_reply_free(struct webc_reply *reply);
/* Turns until the server has closed. */
void webc_await_end(struct site *site, struct webc *c);

/* The value of a header, NULL if there is none; valid until the next call. */
const char *webc_header(const struct webc_reply *reply, const char *name);

/* Asks for path on a connection of its own, with further header lines or "", and returns the
 * status; ret may be NULL, else the caller frees it. */
unsigned int webc_get(struct site *site, const char *path, const char *headers,
		      struct webc_reply *ret);

/* A header line of the Basic scheme for "user:password"; valid until the next call. */
const char *webc_credentials(const char *both);

#endif
