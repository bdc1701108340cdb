// SPDX-License-Identifier: Apache-2.0
/* Finds the kubelet's socket, requests the stream, and takes it apart into messages. */
#include "io/sources/kubelet/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/retry.h"
#include "base/time.h"
#include "io/proc/clock.h"
#include "io/sources/kubelet/kubelet.h"
#include "io/sources/source.h"
#include "wire/grpc/message.h"
#include "wire/kubernetes/pods.h"

/* How much of a turn of the loop reading may take. */
#define SLICE_NS 500000
/* A stream that was open for so long was no failure. */
#define GOOD_NS	 (30 * NS_PER_S)

const char *const source_kubelet_places[] = {
	"/var/lib/kubelet/pods-api/pods-api.sock",
	"/var/lib/kubelet/pods/kubelet.sock",
	NULL,
};

struct source_stream {
	struct fetch *fetch;
	struct source_stream_sink sink;
	char endpoint[SOCKET_PATH_MAX]; /* "": searched for */
	const char *const *search;
	uint64_t timeout_ns, retry_min_ns, retry_max_ns;

	char path[SOCKET_PATH_MAX]; /* of the socket found last */
	struct socket_id socket;
	struct socket_id opened; /* of the stream */
	struct socket_id listed; /* of the list before; all zero: of none */
	char trouble[SOURCE_STREAM_TEXT];

	struct fetch_call *call;
	uint64_t connection; /* names it: another one after each failure */
	uint64_t opened_ns;
	struct source_messages messages;

	uint64_t failures, retry_ns; /* in a row; CLOCK_BOOTTIME */
	struct socket_id failed;     /* the one that did */
};

static void note(struct source_stream *s, const char *text)
{
	snprintf(s->trouble, sizeof(s->trouble), "%s", text);
}

/* --- the socket ------------------------------------------------------------------------------- */

/* The first that is there and trusted; -errno of the last that is there, or -ENOENT. */
static int choose(struct source_stream *s, struct socket_id *ret)
{
	const char *const own[] = {s->endpoint, NULL};
	const char *const *places = s->endpoint[0] ? own : s->search;
	char why[160];
	size_t at = 0;
	int r = socket_find(places, &at, ret, why);

	if (r != -ENOENT || s->endpoint[0])
		snprintf(s->path, sizeof(s->path), "%s", places[at]);
	if (r < 0)
		note(s, r == -ENOENT ? "there is no socket" : why);
	return r;
}

bool source_stream_is_ready(struct source_stream *s)
{
	struct socket_id found;

	if (choose(s, &found) < 0)
		return false;
	s->socket = found;
	if (!socket_is_same(&found, &s->failed))
		s->failures = 0;
	return !s->failures || clock_boot_ns() >= s->retry_ns;
}

bool source_stream_is_replaced(struct source_stream *s)
{
	struct socket_id found;

	return choose(s, &found) == 0 && !socket_is_same(&found, &s->opened);
}

/* Whose socket it is was looked at before it was connected to. */
bool source_stream_has_listed(struct source_stream *s)
{
	return socket_is_same(&s->opened, &s->listed) && !source_stream_is_replaced(s);
}

void source_stream_set_listed(struct source_stream *s, bool listed)
{
	s->listed = listed ? s->opened : (struct socket_id){};
}

/* --- messages --------------------------------------------------------------------------------- */

static int on_data(void *userdata, const void *data, size_t len)
{
	struct source_stream *s = userdata;

	return source_messages_add(&s->messages, data, len);
}

static void on_message(void *userdata, const void *message, size_t len)
{
	struct source_stream *s = userdata;

	s->sink.message(s->sink.userdata, message, len);
}

static void on_broken(void *userdata, int error)
{
	struct source_stream *s = userdata;

	source_stream_fail(s, error == -EMSGSIZE ? "a message is too long"
						 : "what it sends is no message of gRPC");
	s->sink.ended(s->sink.userdata, s->trouble);
}

/* --- the request ------------------------------------------------------------------------------ */

void source_stream_close(struct source_stream *s)
{
	s->call = fetch_cancel(s->call);
	source_messages_reset(&s->messages);
}

void source_stream_fail(struct source_stream *s, const char *text)
{
	uint64_t now_ns = clock_boot_ns();

	note(s, text);
	if (s->call && now_ns - s->opened_ns >= GOOD_NS)
		s->failures = 0;
	source_stream_close(s);
	s->connection++;
	s->failed = s->opened;
	s->retry_ns = now_ns + backoff_ns(s->retry_min_ns, s->retry_max_ns, s->failures++);
}

static const char *judge(const struct fetch_result *result)
{
	if (result->error == 0 && result->grpc_status == GRPC_UNIMPLEMENTED)
		return "it has no pods API: Kubernetes 1.36 needs the feature gate PodsAPI";
	if (result->error == -EMSGSIZE)
		return "more comes than can be read";
	/* A kubelet does not remove its socket. */
	if (result->error == -ECONNREFUSED)
		return "no kubelet listens at it";
	if (result->error == 0 && result->status == 200 && result->grpc_status < 0)
		return "its answer has no gRPC status";
	return result->text[0] ? result->text : "its stream ended";
}

static void on_end(void *userdata, const struct fetch_result *result)
{
	struct source_stream *s = userdata;
	bool unimplemented = result->error == 0 && result->grpc_status == GRPC_UNIMPLEMENTED;
	uint64_t opened_ns = s->opened_ns, now_ns = clock_boot_ns();

	s->call = NULL;
	if (now_ns - opened_ns >= GOOD_NS)
		s->failures = 0;
	source_stream_fail(s, judge(result));
	/* Nothing but another kubelet changes that. */
	if (unimplemented)
		s->retry_ns = now_ns + s->retry_max_ns;
	s->sink.ended(s->sink.userdata, s->trouble);
}

int source_stream_open(struct source_stream *s)
{
	static const char *const headers[] = {"Content-Type: application/grpc", "TE: trailers",
					      "Host: localhost", NULL};
	/* A request without fields. */
	static const char question[5];
	char url[128];
	struct fetch_request request = {
		.url = url,
		.unix_path = s->path,
		.http2 = true,
		.body = question,
		.body_len = sizeof(question),
		.headers = headers,
		.max_bytes = SIZE_MAX,
		.connect_timeout_ns = s->timeout_ns,
		.data = on_data,
		.done = on_end,
		.userdata = s,
	};

	source_stream_close(s);
	s->opened_ns = clock_boot_ns();
	s->opened = s->socket;
	snprintf(url, sizeof(url), "http://kubelet-%llu%s", (unsigned long long)s->connection,
		 podproto_watch_path);
	return fetch_start(s->fetch, &request, &s->call);
}

void source_stream_hold(struct source_stream *s, bool hold)
{
	source_messages_hold(&s->messages, hold);
}

const char *source_stream_path(const struct source_stream *s)
{
	return s->path;
}

const char *source_stream_trouble(const struct source_stream *s)
{
	return s->trouble;
}

int source_stream_new(sd_event *event, struct fetch *fetch,
		      const struct source_stream_options *options,
		      const struct source_stream_sink *sink, struct source_stream **ret)
{
	struct source_stream *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->messages = (struct source_messages){
		.backlog_max = SOURCE_STREAM_BACKLOG_MAX,
		.message_max = PODPROTO_EVENT_MAX,
		.slice_ns = SLICE_NS,
		.message = on_message,
		.broken = on_broken,
		.userdata = s,
		.idle = true,
	};
	r = options->endpoint ? socket_take_path(options->endpoint, s->endpoint) : 0;
	if (r == 0)
		r = source_messages_open(&s->messages, event);
	if (r < 0) {
		source_stream_free(s);
		return r;
	}
	s->fetch = fetch;
	s->sink = *sink;
	s->search = options->search;
	s->timeout_ns = options->timeout_ns;
	s->retry_min_ns = options->retry_min_ns;
	s->retry_max_ns = options->retry_max_ns;
	s->connection = clock_boot_ns();
	*ret = s;
	return 0;
}

struct source_stream *source_stream_free(struct source_stream *s)
{
	if (!s)
		return NULL;
	fetch_cancel(s->call);
	source_messages_close(&s->messages);
	free(s);
	return NULL;
}
