/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server of the daemon, on its event loop: GET and HEAD of pages that one function makes.
 *
 * It runs in the loop's thread and never waits. What a client costs is bounded: the
 * connections, the bytes of a request, the time for one, the bodies in memory and the work of one
 * turn of the loop have limits. At a limit the connection that has been at the same thing longest
 * is closed, so that a new client is always served. SIGPIPE is never raised.
 */
#ifndef IO_HTTP_WEB_H
#define IO_HTTP_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "wire/http/request.h"

struct web_request {
	const char *path;	 /* as sent, without the query; escapes are left */
	enum expo_format format; /* what the client wants of a page that has several */
};

struct web_reply {
	unsigned int status;  /* 200 to 599; anything else, or a failed body, becomes 500 */
	const char *type;     /* Content-Type, which outlives the server */
	const char *location; /* the same for Location; NULL: none */
	const char *policy;   /* the same for Content-Security-Policy */
	struct buf body;      /* the server takes it over */
	uint32_t keep_ms; /* how long it answers this path in this format without querying again */
};

/*
 * Fills an empty reply for GET or HEAD. Called inside the loop, so it must not wait. What is big or
 * takes long to make wants keep_ms, which bounds how often it is made, however often it is
 * requested.
 */
typedef void (*web_fn)(void *userdata, const struct web_request *request, struct web_reply *ret);

/* PEM, each a string. */
struct web_tls {
	const char *cert; /* with those that lead to its CA, if any */
	const char *key;
	const char *client_ca; /* each client must show a certificate of it; NULL: none is wanted */
	bool tls13;	       /* TLS 1.3 alone; else 1.2, too */
};

struct web_user {
	const char *name;
	const char *hash; /* as wire/config/web lets it pass */
};

/* Zero stands for the default. */
struct web_config {
	const char *const *listen; /* as wire/config/web.h reads them */
	size_t n_listen;
	/* Names of hosts that requests may be for (wire/http/request); they outlive the server, and
	 * web_reload() leaves them as they are. */
	const char *const *hosts;
	size_t n_hosts;
	const struct web_tls *tls;    /* NULL: plain HTTP */
	const struct web_user *users; /* whose password every request needs; none: no password */
	size_t n_users;
	unsigned int max_connections; /* 256 */
	unsigned int max_bodies;      /* 4: how many over 4 KiB are in memory at once */
	uint64_t receive_ns;	/* 10 s: from connecting, or a request's first line, to its end */
	uint64_t idle_ns;	/* 2 minutes: between requests; scrapes are a minute apart */
	uint64_t send_ns;	/* 30 s: for the client to take a response */
	unsigned int tls_share; /* 100: handshakes take one part in so many of a CPU at most */
};

#define WEB_CLASSES 6

struct web_stats {
	uint64_t requests[WEB_CLASSES]; /* answered, by the first digit of the status; what is no
					   HTTP is turned away without being counted here */
	uint64_t rendered;		/* how many of them asked the function */
	uint64_t accepted;		/* connections so far */
	uint64_t evicted;		/* closed to make room for others */
	uint64_t expired;		/* closed for taking too long */
	uint64_t refused;		/* not taken in: no memory or no descriptor */
	uint64_t cpu_ns;		/* CPU time of the loop's thread that all of it took, the
					   making of pages and handshakes of TLS with it */
	unsigned int connections;	/* open now */
	unsigned int bodies;		/* over 4 KiB, in memory now */
};

/* Why it did not start: a sentence for a person, without a full stop. */
struct web_why {
	char text[256];
};

struct web;

/*
 * Whether the keys and certificates of a configuration can be used: 0, -EINVAL when they cannot,
 * -ELIBACC when a library is missing. *ret_why is filled on every failure.
 */
int web_check(const struct web_config *config, struct web_why *ret_why);

/*
 * Binds every address and serves from the next turn of the loop on. The strings of config are not
 * kept. -EINVAL: an address or a key is none; -ELIBACC: libmicrohttpd is missing; else -errno as of
 * bind(2) and its like. *ret_why is filled on every failure.
 */
int web_new(sd_event *event, const struct web_config *config, web_fn fn, void *userdata,
	    struct web **ret, struct web_why *ret_why);

/*
 * Takes the tls and the users of another configuration instead of those it has; what else is in it
 * stays as it was. Every connection is closed: clients come again. It never waits; when it takes
 * the first users, that passwords cannot be checked may turn out later: then no client is served.
 * As web_new(); on failure all is as it was.
 */
int web_reload(struct web *web, const struct web_config *config, struct web_why *ret_why);

/* Closes every connection at once, and the bodies with them. */
struct web *web_free(struct web *web);
DEFINE_CLEANUP(struct web *, web_free);

/* web may be NULL: nothing was served. */
void web_get_stats(const struct web *web, struct web_stats *ret);

/* The port that the index-th address of the configuration got. */
uint16_t web_port(const struct web *web, size_t index);

#endif
