// SPDX-License-Identifier: Apache-2.0
/* Attempts, and the waits between them. */
#include "io/otlp/exporter.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/retry.h"
#include "base/time.h"
#include "io/proc/clock.h"

#define TIMEOUT_NS     (10 * NS_PER_S)
#define PATIENCE_NS    (60 * NS_PER_S)
#define RETRY_FIRST_NS NS_PER_S
#define RETRY_LAST_NS  (16 * NS_PER_S)

/* Limit of an answer. */
#define ANSWER_MAX 65536

DEFINE_CLEANUP(sd_event_source *, sd_event_source_disable_unref);

struct attempt {
	uint64_t spans;
	bool done;
	uint32_t retry_after_s;
	struct otlphttp_answer *answer;
};

static uint64_t or_default(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

/* The peer may be there later; whatever else went wrong would go wrong again. One that hangs has
 * had the time that there is. */
static bool is_passing(int error)
{
	switch (error) {
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return true;
	default:
		return false;
	}
}

static void on_done(void *userdata, const struct fetch_result *result)
{
	struct attempt *attempt = userdata;
	struct otlphttp_answer *answer = attempt->answer;

	attempt->done = true;
	attempt->retry_after_s = result->retry_after_s;
	if (!result->error) {
		otlphttp_judge(result->status, result->body, result->len, attempt->spans, answer);
		return;
	}
	*answer = (struct otlphttp_answer){
		.verdict = is_passing(result->error) ? OTLPHTTP_AGAIN : OTLPHTTP_REFUSED,
	};
	snprintf(answer->text, sizeof(answer->text), "%s", result->text);
}

static int turn_until(struct exporter *e, const bool *done)
{
	int r = 0;

	while (r >= 0 && !*done)
		r = sd_event_run(e->event, UINT64_MAX);
	return r < 0 ? r : 0;
}

static int try_once(struct exporter *e, const char *body, size_t len, struct attempt *attempt)
{
	const char *headers[OTLPHTTP_HEADERS_MAX + 4] = {"Content-Type: application/json",
							 "Accept: application/json", "Expect:"};
	struct fetch_request request = {
		.url = e->options.url,
		.body = body,
		.body_len = len,
		.headers = headers,
		.ca_file = e->options.ca_file,
		.max_bytes = ANSWER_MAX,
		.timeout_ns = or_default(e->options.timeout_ns, TIMEOUT_NS),
		.done = on_done,
		.userdata = attempt,
	};
	struct fetch_call *call;
	int r;

	for (size_t i = 0; e->options.headers && e->options.headers[i]; i++) {
		if (i == OTLPHTTP_HEADERS_MAX)
			return -EINVAL;
		headers[3 + i] = e->options.headers[i];
	}
	e->attempts++;
	r = fetch_start(e->fetch, &request, &call);
	if (r < 0)
		return r;
	r = turn_until(e, &attempt->done);
	if (!attempt->done)
		fetch_cancel(call);
	return r;
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	bool *over = userdata;

	*over = true;
	return 0;
}

static int pause_for(struct exporter *e, uint64_t wait_ns)
{
	_cleanup_(cleanup_sd_event_source_disable_unref) sd_event_source *timer = NULL;
	bool over = false;
	int r = sd_event_add_time_relative(e->event, &timer, CLOCK_MONOTONIC,
					   wait_ns / NS_PER_US + 1, 1, on_time, &over);

	return r < 0 ? r : turn_until(e, &over);
}

/* After so many failures before the last one. */
static uint64_t wait_ns(const struct exporter *e, const struct attempt *attempt, uint64_t failures)
{
	uint64_t own_ns = backoff_ns(or_default(e->options.retry_first_ns, RETRY_FIRST_NS),
				     or_default(e->options.retry_last_ns, RETRY_LAST_NS), failures);
	uint64_t asked_ns = attempt->retry_after_s * (uint64_t)NS_PER_S;

	return asked_ns > own_ns ? asked_ns : own_ns;
}

int exporter_send(struct exporter *e, const char *body, size_t len, uint64_t spans,
		  struct otlphttp_answer *ret)
{
	uint64_t end_ns = clock_monotonic_ns() + or_default(e->options.patience_ns, PATIENCE_NS);

	for (uint64_t failures = 0;; failures++) {
		struct attempt attempt = {.spans = spans, .answer = ret};
		uint64_t wait;
		int r = try_once(e, body, len, &attempt);

		if (r < 0 || ret->verdict != OTLPHTTP_AGAIN)
			return r;
		wait = wait_ns(e, &attempt, failures);
		if (clock_monotonic_ns() + wait > end_ns)
			return 0;
		r = pause_for(e, wait);
		if (r < 0)
			return r;
	}
}
