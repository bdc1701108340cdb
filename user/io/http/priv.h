/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the web server share: the server, its connections, its bodies. */
#ifndef IO_HTTP_PRIV_H
#define IO_HTTP_PRIV_H

#include <stdbool.h>
#include <sys/socket.h>

#include "io/http/auth.h"
#include "io/http/mhd.h"
#include "io/http/tls.h"
#include "io/http/web.h"

#define WEB_LISTEN_MAX 32
#define WEB_PATH_SIZE  64 /* longer paths are served, but their bodies not kept */

/* What a connection is at. A kind has one limit of time, so each list is in order of its ends. */
enum web_phase {
	WEB_RECEIVING, /* the handshake of TLS, too */
	WEB_CHECKING,  /* suspended until a password is checked */
	WEB_IDLE,
	WEB_SENDING,
	WEB_PHASES,
	WEB_CLOSING = WEB_PHASES /* shut down, in no list, until the library lets go of it */
};

struct web_body;

struct web_conn {
	struct web_conn *prev, *next;
	enum web_phase phase;
	uint64_t since_ns; /* when the phase began */
	int fd;		   /* the library's */
	struct MHD_Connection *handle;
	struct web_body *body; /* what it is being sent; NULL: nothing that has readers */
};

struct web_conns {
	struct web_conn *first, *last; /* first: longest in this phase */
};

struct web_body {
	struct web_body *prev, *next;
	char path[WEB_PATH_SIZE];
	enum negotiate_format format;
	uint64_t until_ns; /* of CLOCK_MONOTONIC: answers requests until then */
	bool kept;	   /* holds the responses, to answer with */
	bool counted;	   /* against max_bodies */
	unsigned int status;
	const char *type, *location;
	const void *data; /* the plain response's */
	size_t len;
	struct MHD_Response *plain, *gzip; /* gzip: NULL before somebody wanted it, or no gain */
	bool tried_gzip;
	unsigned int readers;
};

struct web_listener {
	int fd;
	size_t index; /* of the address in the configuration */
	uint16_t port;
	sd_event_source *source;
	struct web *web;
};

struct web {
	struct web_config config; /* without the strings */
	web_fn fn;
	void *userdata;
	sd_event *event;
	struct mhd mhd;
	struct MHD_Daemon *daemon;
	sd_event_source *ready, *more, *timer;
	struct web_listener listeners[WEB_LISTEN_MAX];
	size_t n_listeners;
	struct web_tls_state tls;
	struct webauth *auth; /* NULL: everybody is served */
	bool paused; /* listeners are off until paused_until_ns, for lack of descriptors or credit */
	uint64_t paused_until_ns;
	struct web_conns phases[WEB_PHASES];
	unsigned int n_in_phases;
	struct web_body *first_body, *last_body; /* first: oldest */
	uint64_t began_ns;			 /* CPU time when this turn began */
	struct web_stats stats;
};

/* web.c */
/* CLOCK_MONOTONIC of this turn of the loop. */
uint64_t web_now(const struct web *web);
/* What is done from here to the end of web_turn() counts as serving. */
void web_begin_turn(struct web *web);
/* Lets the library work on what is ready, and says when there is more to do. */
void web_turn(struct web *web);

/* web_listen.c */
int web_listen_open(struct web *web, const struct web_config *config, struct web_why *ret_why);
void web_listen_close(struct web *web);
/* Takes in clients again, after there was no descriptor or no credit for one. */
void web_listen_resume(struct web *web);

/* web_conn.c */
/* Hands an accepted socket to the library, which owns it then; closes another at the limit. */
void web_conn_admit(struct web *web, int fd, const struct sockaddr *addr, socklen_t len);
/* Fits MHD_NotifyConnectionCallback. */
void web_conn_notify(void *userdata, struct MHD_Connection *handle, void **context,
		     enum MHD_ConnectionNotificationCode code);
/* NULL when there was no memory for one: it is being closed. */
struct web_conn *web_conn_of(const struct web *web, struct MHD_Connection *handle);
void web_conn_enter(struct web *web, struct web_conn *conn, enum web_phase phase);
/* It reads its body no longer. */
void web_conn_release_body(struct web *web, struct web_conn *conn);
/* Lets the library go on with a request that waits for a password to be checked. */
void web_conn_resume(struct web *web, struct web_conn *conn);
/* The same for all that do. */
void web_conn_resume_all(struct web *web);
/* Frees nothing yet: the library notices in its next run. */
void web_conn_close(struct web *web, struct web_conn *conn);
void web_conn_evict_oldest(struct web *web);
/* Closes who took too long; returns when to look again, UINT64_MAX for never. */
uint64_t web_conn_expire(struct web *web, uint64_t now_ns);

/* web_body.c */
/* The body for a request, from memory or from the function; NULL when there is no memory. To be
 * given to web_body_settle() after use. */
struct web_body *web_body_get(struct web *web, const struct web_request *request);
/* A body of our own, with a sentence for the client. */
struct web_body *web_body_refusal(struct web *web, unsigned int status);
/* What to send, which is the body's. */
struct MHD_Response *web_body_response(struct web *web, struct web_body *body, bool gzip);
/* Lets the responses go unless they are kept, and the body with its last reader. */
void web_body_settle(struct web *web, struct web_body *body);
/* Lets go what has been kept long enough; returns as web_conn_expire(). */
uint64_t web_body_expire(struct web *web, uint64_t now_ns);
void web_body_drop_all(struct web *web);

/* web_request.c: fit the library's callbacks of these names. */
enum MHD_Result web_request_handle(void *userdata, struct MHD_Connection *handle, const char *url,
				   const char *method, const char *version, const char *upload,
				   size_t *upload_size, void **request);
void *web_request_begin(void *userdata, const char *uri, struct MHD_Connection *handle);
void web_request_end(void *userdata, struct MHD_Connection *handle, void **request,
		     enum MHD_RequestTerminationCode code);

/* web_gzip.c: *ret_len bytes that the caller frees; -ENOMEM, or -E2BIG when they are not fewer. */
int web_gzip(const void *data, size_t len, void **ret, size_t *ret_len);

#endif
