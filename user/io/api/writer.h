/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that change something at one API server: a bounded queue of them, and what came of each.
 *
 * A request is attempted until the server has decided, or its deadline has passed. No connection,
 * half an answer, a status of 5xx and 429 are no decision: the next attempt comes after a wait that
 * doubles with each failure in a row, and is as long as Retry-After has it where that is more.
 * While attempts fail one request at a time is attempted. Any other status is a decision and goes
 * to the caller, never attempted again: 409, 404, 410, 403, 422. After a 401 the token and the
 * client certificate are read anew, and the request is attempted once more at once.
 *
 * An attempt whose answer was lost may have been carried out. So a request must do no harm when it
 * is carried out twice, and a 409 (AlreadyExists) to a POST with result.attempts above 1 may be
 * about the object that an attempt before has made.
 *
 * Two requests with the same key are about the same thing: they are never under way at once, the
 * later one replaces an earlier one that waits, and an attempt that failed is not repeated when a
 * later one waits.
 *
 * The token and the client certificate are read for each attempt, as they are renewed, and sent
 * only to a server whose certificate the CA verifies for its name. Callbacks come from the event
 * loop, except where it says so; they may add requests, but not free the writer.
 */
#ifndef IO_API_WRITER_H
#define IO_API_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "core/names/credential.h"
#include "io/fetch/fetch.h"
#include "io/sources/kubelet/kubelet.h"

#define APIWRITER_KEY_MAX	    320
#define APIWRITER_PATH_MAX	    1024
#define APIWRITER_TYPE_MAX	    96
#define APIWRITER_BODY_MAX	    ((size_t)64 << 10)
/* Limit of all bodies that wait or are under way. */
#define APIWRITER_BYTES_MAX	    ((size_t)4 << 20)
/* Limit of one answer: an object has 1.5 MiB at most, by etcd's default. */
#define APIWRITER_REPLY_MAX	    ((size_t)4 << 20)
/* A longer Retry-After counts as this. */
#define APIWRITER_RETRY_AFTER_MAX_S 60

struct apiwriter;

enum apiwriter_end {
	APIWRITER_DONE,	      /* 200 to 299 */
	APIWRITER_REFUSED,    /* any other decision: result.status */
	APIWRITER_EXPIRED,    /* the deadline passed before there was a decision */
	APIWRITER_SUPERSEDED, /* a later request with its key took its place */
	APIWRITER_END_COUNT,
};

/* Strings are the writer's, and gone when the callback returns. */
struct apiwriter_result {
	enum apiwriter_end end;
	long status;	       /* of the last answer; 0: none came */
	unsigned int attempts; /* begun; above 0 it may have been carried out, whatever the end */
	const char *body;      /* of the decision, NUL-terminated; "" without one */
	size_t len;
	const char *text; /* why it was not done, without a full stop; "" when it was */
};

/* Once for each request that was added, after which it is gone. */
typedef void (*apiwriter_done_fn)(void *userdata, const struct apiwriter_result *result);

/* Copied, except userdata. */
struct apiwriter_request {
	const char *method;	  /* "POST", "PATCH", "PUT", "DELETE" or "GET" */
	const char *path;	  /* behind the server's URL: "/apis/..."; its query included */
	const char *content_type; /* of the body; NULL: application/json */
	const void *body;	  /* NULL: none */
	size_t body_len;
	uint64_t deadline_ns; /* CLOCK_BOOTTIME; 0: none */
	const char *key;      /* what it is about, as "status/<uid>"; NULL or "": nothing else is */
	apiwriter_done_fn done;
	void *userdata;
};

/* Strings are copied. Zero stands for the default. */
struct apiwriter_options {
	/* The API server: url, ca_file, server_name, token_file, client_file; api_node must be set.
	 * The same rules as for reading hold (io/sources/kubelet/kubelet.h). */
	const struct source_kubelet_options *peer;
	size_t requests_max;			/* 256: waiting and under way */
	unsigned int in_flight;			/* 2: under way at once */
	uint64_t timeout_ns;			/* 10 s: for one attempt */
	uint64_t retry_first_ns, retry_last_ns; /* 1 s, 30 s: the wait after failures */
	/* NULL, or called when the last request has ended, and none was added meanwhile. */
	void (*idle)(void *userdata);
	void *userdata;
};

struct apiwriter_counts {
	uint64_t added;
	uint64_t dropped; /* not added, because the queue was full */
	uint64_t ended[APIWRITER_END_COUNT];
	uint64_t failures; /* attempts without a decision */
};

struct apiwriter_state {
	size_t requests;       /* waiting and under way */
	unsigned int failures; /* in a row; 0: the last attempt had a decision, or there was none */
	uint64_t retry_ns;     /* CLOCK_BOOTTIME: not before; 0 without failures */
	char text[256];	       /* what the last failure was, without a full stop; or "" */
	struct credential credential; /* of the last attempt: which expires first */
	struct apiwriter_counts counts;
};

/* fetch outlives the writer; event is referenced. -EINVAL for a peer that source_kubelet_judge()
 * refuses, and *ret_why says why; -ENOMEM, -errno. */
int apiwriter_new(sd_event *event, struct fetch *fetch, const struct apiwriter_options *options,
		  struct apiwriter **ret, struct source_kubelet_why *ret_why);
/* Forgets all requests, without callbacks. */
struct apiwriter *apiwriter_free(struct apiwriter *writer);
DEFINE_CLEANUP(struct apiwriter *, apiwriter_free);

/*
 * 0, and done will be called. -EINVAL for a method, path, type, key or body outside of its bounds;
 * -ENOBUFS where the queue is full (counted); -ENOMEM. A request that this one replaces ends before
 * the call returns: its done is called with APIWRITER_SUPERSEDED, and must not call the writer.
 */
int apiwriter_add(struct apiwriter *writer, const struct apiwriter_request *request);

/* Nothing waits, and nothing is under way. */
bool apiwriter_is_idle(const struct apiwriter *writer);
void apiwriter_get_state(const struct apiwriter *writer, struct apiwriter_state *ret);

#endif
