// SPDX-License-Identifier: Apache-2.0
/* Ends look-ups, and takes a stream of messages apart. */
#include "io/sources/source.h"

#include <errno.h>
#include <string.h>

#include "io/proc/clock.h"
#include "wire/grpc/message.h"

void source_end_lookup(struct source_report *report, const char *key, enum meta_result result)
{
	report->lookups[result]++;
	report->sink.done(report->sink.userdata, report->source, key, result);
}

/* --- messages ----------------------------------------------------------------------------------- */

static void wake(struct source_messages *s)
{
	if (!s->held && s->at < s->bytes.len)
		defer_enable(&s->slice);
	else
		defer_disable(&s->slice);
}

/* Forgets what was read. */
static void consume(struct source_messages *s)
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
static ssize_t take_first(struct source_messages *s)
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
	struct source_messages *s = userdata;
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

int source_messages_open(struct source_messages *s, sd_event *event)
{
	int r = defer_open(&s->slice, event, on_slice, s);

	/* What is left of one message, and as much again before it is moved. */
	s->bytes.limit = 2 * s->backlog_max + 1;
	s->slice.priority = s->idle ? SD_EVENT_PRIORITY_IDLE : SD_EVENT_PRIORITY_NORMAL;
	return r;
}

void source_messages_close(struct source_messages *s)
{
	buf_free(&s->bytes);
	defer_close(&s->slice);
}

int source_messages_add(struct source_messages *s, const void *data, size_t len)
{
	if (len > s->backlog_max - (s->bytes.len - s->at))
		return -EMSGSIZE;
	buf_add(&s->bytes, data, len);
	wake(s);
	return buf_error(&s->bytes);
}

void source_messages_hold(struct source_messages *s, bool hold)
{
	s->held = hold;
	wake(s);
}

void source_messages_reset(struct source_messages *s)
{
	s->at = 0;
	buf_free(&s->bytes);
	source_messages_hold(s, false);
}
