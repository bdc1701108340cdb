// SPDX-License-Identifier: Apache-2.0
/* Begins a few stops in a turn of the loop, as each connects anew, and waits for all of them. */
#include "io/sources/cri/stop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "base/cleanup.h"

/* How many are begun in a turn. */
#define TOGETHER      8
/* The session's own are below PODSRC_CRI_EVENT_LINE. */
#define LINE_FIRST    1000
/* The answer has no fields. */
#define ANSWER_MAX    4096
/* Longer ones count as this one: 10 years. */
#define TIMEOUT_S_MAX UINT64_C(315360000)

struct stop {
	TAILQ_ENTRY(stop) link;
	struct podsrc_cri_stops *stops;
	struct podsrc_cri_stop wish; /* container_id is id */
	char id[META_ID_MAX];
	struct fetch_call *fetch; /* NULL: not begun */
};
TAILQ_HEAD(stop_list, stop);

struct podsrc_cri_stops {
	const struct podsrc_cri_calls *calls;
	struct stop_list waiting, begun;
	size_t n;
	unsigned int line; /* of the last one */
	sd_event_source *slice;
};

/* Frees it, and reports its end. */
static void end(struct stop *stop, struct stop_list *in, const char *error)
{
	struct podsrc_cri_stop wish = stop->wish;

	TAILQ_REMOVE(in, stop, link);
	stop->stops->n--;
	free(stop);
	wish.done(wish.userdata, wish.tag, error);
}

/* What is wrong with the answer; NULL for nothing. */
static const char *judge(const struct fetch_result *result)
{
	const void *payload;
	size_t len, consumed;

	if (result->error || result->status != 200 || result->grpc_status)
		return *result->text ? result->text : "the answer is not one of gRPC";
	if (cri_unframe(result->body, result->len, ANSWER_MAX, &payload, &len, &consumed) < 0 ||
	    consumed == 0 || consumed != result->len)
		return "the answer is no message of gRPC";
	return NULL;
}

static void on_done(void *userdata, const struct fetch_result *result)
{
	struct stop *stop = userdata;

	end(stop, &stop->stops->begun, judge(result));
}

static int begin(struct stop *stop)
{
	struct podsrc_cri_stops *stops = stop->stops;
	_cleanup_(buf_free) struct buf question = {};
	struct fetch_request request = {
		.max_bytes = ANSWER_MAX,
		.timeout_ns =
			stop->wish.timeout_s * UINT64_C(1000000000) + PODSRC_CRI_STOP_SLACK_NS,
		.done = on_done,
		.userdata = stop,
	};
	int r = cri_ask_stop(&question, stop->id, stop->wish.timeout_s);

	/* The runtime may have gone since. */
	if (r == 0 && !stops->calls->path[0])
		r = -ENOTCONN;
	if (r == 0)
		r = podsrc_cri_call_open(stops->calls, CRI_STOP, &question,
					 LINE_FIRST + stops->line++ % LINE_FIRST, &request,
					 &stop->fetch);
	return r;
}

static int on_slice(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct podsrc_cri_stops *stops = userdata;
	struct stop *stop;
	int r;

	for (int i = 0; i < TOGETHER && (stop = TAILQ_FIRST(&stops->waiting)); i++) {
		r = begin(stop);
		if (r < 0) {
			end(stop, &stops->waiting, strerror(-r));
			continue;
		}
		TAILQ_REMOVE(&stops->waiting, stop, link);
		TAILQ_INSERT_TAIL(&stops->begun, stop, link);
	}
	return sd_event_source_set_enabled(source, TAILQ_EMPTY(&stops->waiting) ? SD_EVENT_OFF
										: SD_EVENT_ONESHOT);
}

int podsrc_cri_stops_add(struct podsrc_cri_stops *stops, const struct podsrc_cri_stop *wish)
{
	struct stop *stop = stops->n < PODSRC_CRI_STOPS_MAX ? calloc(1, sizeof(*stop)) : NULL;

	if (!stop)
		return stops->n < PODSRC_CRI_STOPS_MAX ? -ENOMEM : -ENOBUFS;
	stop->stops = stops;
	stop->wish = *wish;
	strncpy(stop->id, wish->container_id, sizeof(stop->id) - 1);
	stop->wish.container_id = stop->id;
	if (stop->wish.timeout_s > TIMEOUT_S_MAX)
		stop->wish.timeout_s = TIMEOUT_S_MAX;
	TAILQ_INSERT_TAIL(&stops->waiting, stop, link);
	stops->n++;
	sd_event_source_set_enabled(stops->slice, SD_EVENT_ONESHOT);
	return 0;
}

int podsrc_cri_stops_new(sd_event *event, const struct podsrc_cri_calls *calls,
			 struct podsrc_cri_stops **ret)
{
	struct podsrc_cri_stops *stops = calloc(1, sizeof(*stops));
	int r;

	if (!stops)
		return -ENOMEM;
	stops->calls = calls;
	TAILQ_INIT(&stops->waiting);
	TAILQ_INIT(&stops->begun);
	/* A timer that is always due: a source of the deferred kind would go before all others. */
	r = sd_event_add_time(event, &stops->slice, CLOCK_MONOTONIC, 0, 1, on_slice, stops);
	if (r >= 0)
		r = sd_event_source_set_enabled(stops->slice, SD_EVENT_OFF);
	if (r < 0) {
		podsrc_cri_stops_free(stops);
		return r;
	}
	*ret = stops;
	return 0;
}

static void free_list(struct stop_list *list)
{
	struct stop *stop;

	while ((stop = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, stop, link);
		fetch_cancel(stop->fetch);
		free(stop);
	}
}

struct podsrc_cri_stops *podsrc_cri_stops_free(struct podsrc_cri_stops *stops)
{
	if (!stops)
		return NULL;
	free_list(&stops->begun);
	free_list(&stops->waiting);
	sd_event_source_disable_unref(stops->slice);
	free(stops);
	return NULL;
}
