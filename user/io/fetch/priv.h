/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of io/fetch share: the client, a request under way. */
#ifndef IO_FETCH_PRIV_H
#define IO_FETCH_PRIV_H

#include "base/buf.h"
#include "io/fetch/curl.h"
#include "io/fetch/fetch.h"
#include "io/fetch/resolve.h"

enum fetch_phase {
	FETCH_NEW,     /* libcurl does not know it yet */
	FETCH_RUNNING, /* it is libcurl's */
	FETCH_ENDED,   /* done is to be told */
	FETCH_DROPPED, /* cancelled from within libcurl, to be freed outside of it */
};

#define FETCH_HOSTS 16

struct fetch_host {
	char key[256];
	bool is_open; /* there was a connection that speaks HTTP/2 */
	const struct fetch_call *user;
	unsigned int users; /* those that wait with it */
	uint64_t used;	    /* counts up */
};

struct fetch_call {
	struct fetch *fetch;
	struct fetch_call *prev, *next;
	enum fetch_phase phase;
	CURL *easy;
	struct curl_slist *headers, *connect_to, *resolved;
	char *name;		/* to be resolved; NULL: none is */
	char port[8];		/* ... for it */
	uint64_t asked_ns;	/* CLOCK_MONOTONIC */
	sd_event_source *names; /* ends the wait for its addresses */
	uint64_t timeout_ns;
	bool http2;
	struct fetch_host *host; /* NULL: there are too many */
	bool unconnected;	 /* it had none, and must not make one */
	fetch_data_fn data;
	fetch_done_fn done;
	void *userdata;
	size_t max_bytes, bytes, header_bytes;
	bool head_whole; /* its last line came */
	struct buf body;
	uint64_t idle_timeout_ns, last_ns; /* CLOCK_MONOTONIC */
	sd_event_source *idle;
	CURLcode code;
	int error; /* why this side ended it; 0: it did not */
	int grpc_status;
	char grpc_message[FETCH_TEXT_MAX];
	char trouble[CURL_ERROR_SIZE]; /* libcurl's, or the resolver's */
};

/* One that libcurl waits for. */
struct fetch_socket {
	struct fetch *fetch;
	struct fetch_socket *prev, *next;
	int fd;
	bool again; /* to be acted on without waiting */
	sd_event_source *io;
};

struct fetch {
	sd_event *event;
	struct curl curl;
	CURLM *multi;
	sd_event_source *timer; /* libcurl's */
	sd_event_source *again;
	struct fetch_socket *sockets;
	uint64_t progress;     /* counts what came */
	sd_event_source *work; /* what must not be done from within libcurl */
	struct fetch_call *first, *last;
	struct resolve *resolve;
	struct fetch_host hosts[FETCH_HOSTS];
	uint64_t hosts_used;
	bool inside; /* libcurl is at work, and calls back */
};

/* fetch_loop.c: libcurl on the event loop. */
int fetch_loop_open(struct fetch *f);
void fetch_loop_close(struct fetch *f);

/* fetch_host.c: connections that speak HTTP/2. */
/* To be released; NULL when all are in use. */
struct fetch_host *fetch_host_get(struct fetch *f, const char *key);
/* Sets the options for the state its host is in; false when it has to wait. */
bool fetch_host_admit(struct fetch_call *call);
void fetch_host_answered(struct fetch_call *call);
/* True when it is to be admitted again, since there was no connection any more. */
bool fetch_host_ended(struct fetch_call *call);
void fetch_host_release(struct fetch_call *call);

/* fetch_request.c: options. As fetch_start(); what was made is freed with the call. */
int fetch_request_apply(struct fetch_call *call, const struct fetch_request *request);
void fetch_request_done(struct fetch_call *call);
/* As libcurl takes times: a part of a millisecond counts as a whole one, since 0 is for ever. */
long fetch_request_ms(uint64_t ns);

/* fetch_names.c: the addresses of hosts, which libcurl is given and never looks for. */
int fetch_names_open(struct fetch *f);
/* Whether an address of the host is known. */
bool fetch_names_has(const struct fetch *f, const char *host);
/* host: of the URL, IPv6 in brackets. -ENOMEM, -EINVAL. */
int fetch_names_want(struct fetch_call *call, const char *host, const char *port);
/* True when libcurl can connect; else the call waits, or has ended. */
bool fetch_names_admit(struct fetch_call *call);
void fetch_names_release(struct fetch_call *call);

/* fetch_answer.c: what came, and how it ended. */
size_t fetch_answer_header(char *line, size_t one, size_t len, void *userdata);
size_t fetch_answer_body(char *bytes, size_t one, size_t len, void *userdata);
void fetch_answer_result(const struct fetch_call *call, struct fetch_result *ret);
/* Printable ASCII, cut. */
void fetch_answer_line(const char *bytes, size_t len, char ret[static FETCH_TEXT_MAX]);

/* fetch.c: takes the call from libcurl; done is told from the event loop. */
void fetch_end(struct fetch_call *call);
/* The same for one that libcurl does not know yet. */
void fetch_fail(struct fetch_call *call, int error);
/* Has what waits looked at by the event loop. */
void fetch_wake(struct fetch *f);

#endif
