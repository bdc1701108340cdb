// SPDX-License-Identifier: Apache-2.0
/* Takes the stream apart into events, a slice at a time. */
#include "io/sources/cri/events.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "io/proc/clock.h"

/* Of events that are not read yet. */
#define BACKLOG_MAX  ((size_t)2 << 20)
#define EVENT_MAX    ((size_t)1 << 20)
#define RETRY_MIN_NS UINT64_C(1000000000)
#define DOUBLINGS    6

static void wake(struct podsrc_cri_events *stream)
{
	sd_event_source_set_enabled(stream->slice, SD_EVENT_ONESHOT);
}

static void retry_later(struct podsrc_cri_events *stream)
{
	unsigned int n = stream->failures < DOUBLINGS ? stream->failures : DOUBLINGS;

	stream->failures++;
	sd_event_source_set_time_relative(stream->retry, (RETRY_MIN_NS << n) / 1000);
	sd_event_source_set_enabled(stream->retry, SD_EVENT_ONESHOT);
}

static int on_data(void *userdata, const void *data, size_t len)
{
	struct podsrc_cri_events *stream = userdata;

	stream->open = true;
	if (len > BACKLOG_MAX - stream->bytes.len)
		return -ENOBUFS;
	buf_add(&stream->bytes, data, len);
	wake(stream);
	return buf_error(&stream->bytes);
}

static void on_end(void *userdata, const struct fetch_result *result)
{
	struct podsrc_cri_events *stream = userdata;

	stream->call = NULL;
	stream->open = false;
	stream->refused = result->error == 0 && result->grpc_status == CRI_GRPC_UNIMPLEMENTED;
	if (stream->refused)
		return;
	retry_later(stream);
	if (result->error)
		stream->sink.broken(stream->sink.userdata);
}

static void request(struct podsrc_cri_events *stream)
{
	struct fetch_request ask = {
		.max_bytes = SIZE_MAX,
		.data = on_data,
		.done = on_end,
		.userdata = stream,
	};

	if (!stream->wanted || stream->call || stream->refused)
		return;
	buf_reset(&stream->bytes);
	if (podsrc_cri_call_open(stream->calls, CRI_EVENTS, NULL, PODSRC_CRI_EVENT_LINE, &ask,
				 &stream->call) < 0)
		retry_later(stream);
}

void podsrc_cri_events_start(struct podsrc_cri_events *stream)
{
	stream->wanted = true;
	request(stream);
}

void podsrc_cri_events_stop(struct podsrc_cri_events *stream)
{
	stream->wanted = false;
	stream->call = fetch_cancel(stream->call);
	stream->open = false;
	buf_free(&stream->bytes);
	sd_event_source_set_enabled(stream->retry, SD_EVENT_OFF);
	sd_event_source_set_enabled(stream->slice, SD_EVENT_OFF);
}

/* The bytes of one event, or -errno when what came is no stream of messages. */
static ssize_t take_first(struct podsrc_cri_events *stream, const char *bytes, size_t len)
{
	struct cri_event event;
	const void *payload;
	size_t payload_len, consumed;
	int r = cri_unframe(bytes, len, EVENT_MAX, &payload, &payload_len, &consumed);

	if (r < 0)
		return r;
	if (consumed && cri_read_event(payload, payload_len, stream->node, &event) == 0) {
		stream->failures = 0;
		stream->sink.event(stream->sink.userdata, &event);
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
	struct podsrc_cri_events *stream = userdata;
	uint64_t until_ns = clock_boot_ns() + PODSRC_CRI_SLICE_NS;
	size_t at = 0;
	ssize_t n = 0;

	/* The sink may stop the stream: then the bytes are gone. */
	while (at < stream->bytes.len && (at == 0 || clock_boot_ns() < until_ns)) {
		n = take_first(stream, stream->bytes.data + at, stream->bytes.len - at);
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
	request(userdata);
	return 0;
}

int podsrc_cri_events_open(struct podsrc_cri_events *stream, sd_event *event)
{
	int r = sd_event_add_defer(event, &stream->slice, on_slice, stream);

	if (r < 0)
		return r;
	sd_event_source_set_enabled(stream->slice, SD_EVENT_OFF);
	r = sd_event_add_time_relative(event, &stream->retry, CLOCK_MONOTONIC, 0, 1000, on_retry,
				       stream);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(stream->retry, SD_EVENT_OFF);
}

void podsrc_cri_events_close(struct podsrc_cri_events *stream)
{
	stream->call = fetch_cancel(stream->call);
	buf_free(&stream->bytes);
	stream->slice = sd_event_source_disable_unref(stream->slice);
	stream->retry = sd_event_source_disable_unref(stream->retry);
}
