// SPDX-License-Identifier: Apache-2.0
/* Ends look-ups, and takes a stream of messages apart. */
#include "io/sources/poll.h"

#include <errno.h>
#include <string.h>

#include "io/proc/clock.h"
#include "wire/grpc/message.h"

void poll_end_lookup(struct poll *poll, const char *key, enum meta_result result)
{
	poll->lookups[result]++;
	poll->sink.done(poll->sink.userdata, poll->source, key, result);
}

/* --- messages ----------------------------------------------------------------------------------- */

static void wake(struct poll_stream *s)
{
	if (!s->held && s->at < s->bytes.len)
		defer_enable(&s->slice);
	else
		defer_disable(&s->slice);
}

/* Forgets what was read. */
static void consume(struct poll_stream *s)
{
	size_t left = s->bytes.len - s->at;

	/* Not for each message: moving what is left takes time. */
	if (left > s->at)
		return;
	if (left)
		memmove(s->bytes.data, s->bytes.data + s->at, left);
	buf_truncate(&s->bytes, left);
	s->at = 0;
	if (left == 0)
		buf_free(&s->bytes);
}

/* One message: how many bytes it took, 0 while it is not whole, or -errno. The sink may reset the
 * stream: then nothing is left to be read. */
static ssize_t take_first(struct poll_stream *s)
{
	const void *message;
	size_t len, consumed;
	int r = grpc_unframe(s->bytes.data + s->at, s->bytes.len - s->at, s->message_max, &message,
			     &len, &consumed);

	if (r < 0)
		return r;
	s->at += consumed;
	if (consumed)
		s->message(s->userdata, message, len);
	return (ssize_t)consumed;
}

static int on_slice(sd_event_source *source, void *userdata)
{
	struct poll_stream *s = userdata;
	uint64_t until_ns = clock_monotonic_ns() + s->slice_ns;
	ssize_t n;

	do
		n = take_first(s);
	while (n > 0 && !s->held && s->at < s->bytes.len && clock_monotonic_ns() < until_ns);
	if (n < 0) {
		s->broken(s->userdata, (int)n);
		return 0;
	}
	consume(s);
	if (n > 0)
		wake(s);
	return 0;
}

int poll_stream_open(struct poll_stream *s, sd_event *event)
{
	int r = defer_open(&s->slice, event, on_slice, s);

	/* What is left of one message, and as much again before it is moved. */
	s->bytes.limit = 2 * s->backlog_max + 1;
	s->slice.priority = s->idle ? SD_EVENT_PRIORITY_IDLE : SD_EVENT_PRIORITY_NORMAL;
	return r;
}

void poll_stream_close(struct poll_stream *s)
{
	buf_free(&s->bytes);
	defer_close(&s->slice);
}

int poll_stream_add(struct poll_stream *s, const void *data, size_t len)
{
	if (len > s->backlog_max - (s->bytes.len - s->at))
		return -EMSGSIZE;
	buf_add(&s->bytes, data, len);
	wake(s);
	return buf_error(&s->bytes);
}

void poll_stream_hold(struct poll_stream *s, bool hold)
{
	s->held = hold;
	wake(s);
}

void poll_stream_reset(struct poll_stream *s)
{
	s->at = 0;
	buf_free(&s->bytes);
	poll_stream_hold(s, false);
}
