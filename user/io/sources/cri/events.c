// SPDX-License-Identifier: Apache-2.0
/* Follows the runtime's events: who was created or started is told without being asked for. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "io/proc/clock.h"
#include "io/sources/cri/priv.h"

/* Of events that are not read yet. */
#define BACKLOG_MAX  ((size_t)2 << 20)
#define EVENT_MAX    ((size_t)1 << 20)
#define RETRY_MIN_NS UINT64_C(1000000000)
#define DOUBLINGS    6
/* Of look-ups that wait; behind them, an event's own gives way. */
#define CROWD	     2048

static void wake(struct podsrc_cri_stream *stream)
{
	sd_event_source_set_enabled(stream->slice, SD_EVENT_ONESHOT);
}

static void retry_later(struct podsrc_cri_stream *stream)
{
	unsigned int n = stream->failures < DOUBLINGS ? stream->failures : DOUBLINGS;

	stream->failures++;
	sd_event_source_set_time_relative(stream->retry, (RETRY_MIN_NS << n) / 1000);
	sd_event_source_set_enabled(stream->retry, SD_EVENT_ONESHOT);
}

static int on_data(void *userdata, const void *data, size_t len)
{
	struct podsrc_cri_stream *stream = &((struct podsrc_cri *)userdata)->stream;

	stream->open = true;
	if (len > BACKLOG_MAX - stream->bytes.len)
		return -ENOBUFS;
	buf_add(&stream->bytes, data, len);
	wake(stream);
	return buf_error(&stream->bytes);
}

static void on_end(void *userdata, const struct fetch_result *result)
{
	struct podsrc_cri *cri = userdata;
	struct podsrc_cri_stream *stream = &cri->stream;

	stream->call = NULL;
	stream->open = false;
	stream->refused = result->error == 0 && result->grpc_status == CRI_GRPC_UNIMPLEMENTED;
	if (stream->refused)
		return;
	retry_later(stream);
	/* With the connection broke perhaps the runtime. */
	if (result->error)
		podsrc_cri_session_probe(cri);
}

void podsrc_cri_events_start(struct podsrc_cri *cri)
{
	struct podsrc_cri_stream *stream = &cri->stream;
	struct fetch_request request = {
		.max_bytes = SIZE_MAX,
		.data = on_data,
		.done = on_end,
		.userdata = cri,
	};

	if (stream->call || stream->refused || cri->phase != PHASE_READY)
		return;
	buf_reset(&stream->bytes);
	if (podsrc_cri_call_open(cri, CRI_EVENTS, NULL, PODSRC_CRI_EVENT_LINE, &request,
				 &stream->call) < 0)
		retry_later(stream);
}

void podsrc_cri_events_stop(struct podsrc_cri *cri)
{
	cri->stream.call = fetch_cancel(cri->stream.call);
	cri->stream.open = false;
	buf_free(&cri->stream.bytes);
	sd_event_source_set_enabled(cri->stream.retry, SD_EVENT_OFF);
	sd_event_source_set_enabled(cri->stream.slice, SD_EVENT_OFF);
}

static void look_up(struct podsrc_cri *cri, const char *id, enum podsrc_cri_place place)
{
	if (podsrc_cri_queue_get(&cri->queue, id, false) ||
	    cri->queue.places[PLACE_WAITING].n > CROWD)
		return;
	podsrc_cri_queue_add(&cri->queue, id, false, place);
	podsrc_cri_look_pump(cri);
}

static void take(struct podsrc_cri *cri, struct cri_event *event)
{
	bool began = event->type == CRI_EVENT_CREATED || event->type == CRI_EVENT_STARTED;
	bool of_sandbox = event->has_sandbox && strcmp(event->sandbox.container.id, event->id) == 0;
	bool learnt = false;

	if (event->has_sandbox)
		podsrc_cri_look_tell(cri, &event->sandbox);
	if (event->has_container)
		learnt = podsrc_cri_look_tell(cri, &event->container);
	if (began && !learnt && !of_sandbox)
		look_up(cri, event->id, event->has_container ? PLACE_IDLE : PLACE_WAITING);
}

/* The bytes of one event, or -errno when what came is no stream of messages. */
static ssize_t take_first(struct podsrc_cri *cri, const char *bytes, size_t len)
{
	struct cri_event event;
	const void *payload;
	size_t payload_len, consumed;
	int r = cri_unframe(bytes, len, EVENT_MAX, &payload, &payload_len, &consumed);

	if (r < 0)
		return r;
	if (consumed &&
	    cri_read_event(payload, payload_len, cri->node[0] ? cri->node : NULL, &event) == 0) {
		cri->stream.failures = 0;
		take(cri, &event);
	}
	return (ssize_t)consumed;
}

static void consume(struct buf *bytes, size_t n)
{
	size_t left = bytes->len - n;

	memmove(bytes->data, bytes->data + n, left);
	buf_truncate(bytes, left);
	if (left == 0)
		buf_free(bytes);
}

static int on_slice(sd_event_source *source, void *userdata)
{
	struct podsrc_cri *cri = userdata;
	struct podsrc_cri_stream *stream = &cri->stream;
	uint64_t until_ns = clock_boot_ns() + PODSRC_CRI_SLICE_NS;
	size_t at = 0;
	ssize_t n = 0;

	(void)source;
	/* Who is told may begin the session anew, and the bytes are gone. */
	while (at < stream->bytes.len && (at == 0 || clock_boot_ns() < until_ns)) {
		n = take_first(cri, stream->bytes.data + at, stream->bytes.len - at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	if (n < 0) {
		stream->call = fetch_cancel(stream->call);
		buf_free(&stream->bytes);
		retry_later(stream);
		return 0;
	}
	if (at && at <= stream->bytes.len)
		consume(&stream->bytes, at);
	if (n > 0 && stream->bytes.len)
		wake(stream);
	return 0;
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	podsrc_cri_events_start(userdata);
	return 0;
}

int podsrc_cri_events_open(struct podsrc_cri *cri)
{
	struct podsrc_cri_stream *stream = &cri->stream;
	int r = sd_event_add_defer(cri->event, &stream->slice, on_slice, cri);

	if (r < 0)
		return r;
	sd_event_source_set_enabled(stream->slice, SD_EVENT_OFF);
	r = sd_event_add_time_relative(cri->event, &stream->retry, CLOCK_MONOTONIC, 0, 1000,
				       on_retry, cri);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(stream->retry, SD_EVENT_OFF);
}

void podsrc_cri_events_close(struct podsrc_cri *cri)
{
	cri->stream.call = fetch_cancel(cri->stream.call);
	buf_free(&cri->stream.bytes);
	cri->stream.slice = sd_event_source_disable_unref(cri->stream.slice);
	cri->stream.retry = sd_event_source_disable_unref(cri->stream.retry);
}
