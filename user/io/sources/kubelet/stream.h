/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream of the kubelet's pods API (KEP-4188) over its unix socket: where the socket is, whether
 * it is trusted, and the messages that come, one by one. What they mean is the caller's business.
 *
 * The kubelet is trusted because of its socket: a socket that a user other than root (or this user)
 * could have put there is not connected to. The kubelet itself makes it for root alone.
 */
#ifndef IO_SOURCES_KUBELET_STREAM_H
#define IO_SOURCES_KUBELET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "io/fetch/fetch.h"
#include "io/files/socket.h"

/* Bytes of messages that wait to be read: a whole first list may come at once. */
#define SOURCE_STREAM_BACKLOG_MAX ((size_t)16 << 20)

#define SOURCE_STREAM_TEXT 160

struct source_stream_sink {
	void *userdata;
	/* A message, which is valid during the call. May hold or close the stream. */
	void (*message)(void *userdata, const void *message, size_t len);
	/* The stream has ended, and is closed; never from within a call. */
	void (*ended)(void *userdata, const char *text);
};

struct source_stream;

/* Copied, except search. */
struct source_stream_options {
	const char *endpoint;	   /* NULL: searched for */
	const char *const *search; /* NULL-ended */
	uint64_t timeout_ns;	   /* to connect */
	uint64_t retry_min_ns, retry_max_ns;
};

/* -EINVAL for an endpoint that is no socket's path; -ENOMEM. fetch outlives it. */
int source_stream_new(sd_event *event, struct fetch *fetch,
		      const struct source_stream_options *options,
		      const struct source_stream_sink *sink, struct source_stream **ret);
struct source_stream *source_stream_free(struct source_stream *stream);

/* Whether it is worth opening now: a trusted socket is there, and it is no more too soon after a
 * failure, or it is another socket. */
bool source_stream_is_ready(struct source_stream *stream);
/* Whether there is another socket now than the one that the open stream came from. */
bool source_stream_is_replaced(struct source_stream *stream);
/* Whether the list before came whole from the socket of the open stream: a kubelet that starts makes
 * another socket (CreateListener() in cri-client/pkg/util), so one process made both lists. */
bool source_stream_has_listed(struct source_stream *stream);
void source_stream_set_listed(struct source_stream *stream, bool listed);
/* Requests the stream of the socket that was found ready; one that is open is closed. -errno. */
int source_stream_open(struct source_stream *stream);
void source_stream_close(struct source_stream *stream);
/* Held, no message comes. */
void source_stream_hold(struct source_stream *stream, bool hold);

/* Closes it because what it answers is of no use, or does not come; it is not ready for a while. */
void source_stream_fail(struct source_stream *stream, const char *text);

/* The path of the last socket found; "" when none was. */
const char *source_stream_path(const struct source_stream *stream);
/* What was wrong last, one line for people. */
const char *source_stream_trouble(const struct source_stream *stream);

#endif
