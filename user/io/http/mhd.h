/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmicrohttpd, loaded when it is first wanted: it brings GnuTLS along, whose 2 MiB the commands
 * without a web server need not pay.
 */
#ifndef IO_HTTP_MHD_H
#define IO_HTTP_MHD_H

#include <microhttpd.h>
#include <sys/queue.h>

#include "io/http/web.h"

/* MHD_<name>() as <microhttpd.h> declares it, for the functions that io/http/web calls. */
#define MHD_FUNCTIONS(X)               \
	X(start_daemon)                \
	X(stop_daemon)                 \
	X(get_daemon_info)             \
	X(get_timeout)                 \
	X(run)                         \
	X(add_connection)              \
	X(suspend_connection)          \
	X(resume_connection)           \
	X(get_connection_info)         \
	X(lookup_connection_value)     \
	X(get_connection_values_n)     \
	X(create_response_from_buffer) \
	X(add_response_header)         \
	X(queue_response)              \
	X(destroy_response)

#define MHD_MEMBER(name) __typeof__(MHD_##name) *name;
struct mhd {
	MHD_FUNCTIONS(MHD_MEMBER)
};
#undef MHD_MEMBER

/*
 * Loads the library and fills the table. It is never unloaded: GnuTLS does not give back all that
 * it takes when it comes in. -ELIBACC: *ret_error says what the loader misses, and is its until it
 * is called again.
 */
int mhd_load(struct mhd *ret, const char **ret_error);

/*
 * The bodies: made once for all requests within keep_ms, compressed once, and counted while a
 * connection still reads them, so that slow readers cannot pile them up.
 */

#define WEB_PATH_SIZE 64 /* longer paths are served, but their bodies not kept */

struct web_body {
	TAILQ_ENTRY(web_body) link;
	char path[WEB_PATH_SIZE];
	enum expo_format format;
	uint64_t until_ns; /* of CLOCK_MONOTONIC: answers requests until then */
	bool kept;	   /* holds the responses, to answer with */
	bool counted;	   /* against max_bodies */
	unsigned int status;
	const char *type, *location, *policy;
	const void *data; /* the plain response's */
	size_t len;
	struct MHD_Response *plain, *gzip; /* gzip: NULL until a client wants it, or no gain */
	bool tried_gzip;
	unsigned int readers;
};

struct web_bodies {
	const struct mhd *mhd;
	unsigned int max; /* over 4 KiB at once */
	web_fn fn;	  /* makes them */
	void *userdata;	  /* of fn */
	/* Closes the connections that read the body; all stay allocated until it returns. */
	void (*evict)(void *web, const struct web_body *body);
	void *web;				  /* of evict */
	TAILQ_HEAD(web_body_list, web_body) list; /* first: oldest */
	unsigned int n_counted;			  /* over 4 KiB, in memory now */
	uint64_t rendered;			  /* how many were made by fn */
};

/* The body for a request, from memory or from the function; NULL when there is no memory. To be
 * given to web_body_settle() after use. */
struct web_body *web_body_get(struct web_bodies *bodies, const struct web_request *request,
			      uint64_t now_ns);
/* A body of our own, with a sentence for the client. */
struct web_body *web_body_refusal(struct web_bodies *bodies, unsigned int status);
/* What to send, which is the body's. */
struct MHD_Response *web_body_response(struct web_bodies *bodies, struct web_body *body, bool gzip);
/* Frees the responses unless they are kept, and the body with its last reader. */
void web_body_settle(struct web_bodies *bodies, struct web_body *body);
/* Frees what has been kept long enough; returns when to look again, UINT64_MAX for
 * never. */
uint64_t web_body_expire(struct web_bodies *bodies, uint64_t now_ns);
void web_body_drop_all(struct web_bodies *bodies);

#endif
