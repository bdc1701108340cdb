// SPDX-License-Identifier: Apache-2.0
/* Keeps the requests under way, from their start to the one callback that ends each. */
#include "io/fetch/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "io/fetch/priv.h"
#include "io/proc/clock.h"

void fetch_wake(struct fetch *f)
{
	sd_event_source_set_enabled(f->work, SD_EVENT_ONESHOT);
}

static void link_last(struct fetch *f, struct fetch_call *call)
{
	call->prev = f->last;
	*(f->last ? &f->last->next : &f->first) = call;
	f->last = call;
}

static void unlink_call(struct fetch *f, struct fetch_call *call)
{
	*(call->prev ? &call->prev->next : &f->first) = call->next;
	*(call->next ? &call->next->prev : &f->last) = call->prev;
	call->prev = call->next = NULL;
}

static struct fetch_call *first_in(const struct fetch *f, enum fetch_phase phase)
{
	struct fetch_call *call = f->first;

	while (call && call->phase != phase)
		call = call->next;
	return call;
}

static void free_call(struct fetch_call *call)
{
	call->idle = sd_event_source_disable_unref(call->idle);
	fetch_request_done(call);
	buf_free(&call->body);
	free(call);
}

void fetch_end(struct fetch_call *call)
{
	struct fetch *f = call->fetch;

	f->curl.multi_remove_handle(f->multi, call->easy);
	sd_event_source_set_enabled(call->idle, SD_EVENT_OFF);
	/* One that was cancelled meanwhile is only freed. */
	if (call->phase == FETCH_RUNNING)
		call->phase = fetch_host_ended(call) ? FETCH_NEW : FETCH_ENDED;
	fetch_wake(f);
}

void fetch_fail(struct fetch_call *call, int error)
{
	if (call->phase != FETCH_NEW)
		return;
	call->error = error;
	call->phase = FETCH_ENDED;
	fetch_wake(call->fetch);
}

static int on_idle(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct fetch_call *call = userdata;
	uint64_t silent_ns = clock_monotonic_ns() - call->last_ns, left_ns;

	(void)usec;
	if (silent_ns >= call->idle_timeout_ns) {
		call->error = -ETIMEDOUT;
		fetch_end(call);
		return 0;
	}
	left_ns = call->idle_timeout_ns - silent_ns;
	sd_event_source_set_time_relative(source, left_ns / 1000 + 1);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static void watch_silence(struct fetch_call *call)
{
	call->last_ns = clock_monotonic_ns();
	call->idle = sd_event_source_disable_unref(call->idle);
	if (!call->idle_timeout_ns)
		return;
	if (sd_event_add_time_relative(call->fetch->event, &call->idle, CLOCK_MONOTONIC,
				       call->idle_timeout_ns / 1000, 1000, on_idle, call) < 0)
		call->idle = NULL;
}

/* False when it has to wait for another one. */
static bool may_add(struct fetch_call *call)
{
	return call->phase == FETCH_NEW && fetch_names_admit(call) &&
	       (!call->http2 || fetch_host_admit(call));
}

static void add(struct fetch *f, struct fetch_call *call)
{
	call->phase = FETCH_RUNNING;
	watch_silence(call);
	if (f->curl.multi_add_handle(f->multi, call->easy) == CURLM_OK)
		return;
	call->error = -ENOMEM;
	fetch_end(call);
}

static void tell(struct fetch *f, struct fetch_call *call)
{
	struct fetch_result result;

	unlink_call(f, call);
	fetch_answer_result(call, &result);
	call->done(call->userdata, &result);
	free_call(call);
}

/* One answer a turn: what is done with it may take its time. */
static int on_work(sd_event_source *source, void *userdata)
{
	struct fetch *f = userdata;
	struct fetch_call *call;

	(void)source;
	while ((call = first_in(f, FETCH_DROPPED)))
		fetch_cancel(call);
	for (call = f->first; call; call = call->next)
		if (may_add(call))
			add(f, call);
	call = first_in(f, FETCH_ENDED);
	if (call)
		tell(f, call);
	if (first_in(f, FETCH_ENDED))
		fetch_wake(f);
	return 0;
}

static int open_client(struct fetch *f)
{
	int r = sd_event_add_defer(f->event, &f->work, on_work, f);

	if (r < 0)
		return r;
	sd_event_source_set_enabled(f->work, SD_EVENT_OFF);
	if (f->curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -ENOMEM;
	r = fetch_names_open(f);
	if (r >= 0)
		r = fetch_loop_open(f);
	if (r < 0)
		f->curl.global_cleanup();
	return r;
}

int fetch_new(sd_event *event, struct fetch **ret, struct fetch_why *ret_why)
{
	struct fetch *f = calloc(1, sizeof(*f));
	const char *error;
	int r;

	if (!f)
		return -ENOMEM;
	r = curl_load(&f->curl, &error);
	if (r < 0) {
		snprintf(ret_why->text, sizeof(ret_why->text), "cannot load libcurl: %s", error);
		free(f);
		return r;
	}
	f->event = sd_event_ref(event);
	r = open_client(f);
	if (r < 0) {
		snprintf(ret_why->text, sizeof(ret_why->text), "cannot set up libcurl");
		fetch_loop_close(f);
		resolve_free(f->resolve);
		sd_event_source_disable_unref(f->work);
		sd_event_unref(f->event);
		free(f);
		return r;
	}
	*ret = f;
	return 0;
}

struct fetch *fetch_free(struct fetch *f)
{
	if (!f)
		return NULL;
	while (f->first)
		fetch_cancel(f->first);
	fetch_loop_close(f);
	resolve_free(f->resolve);
	f->curl.global_cleanup();
	sd_event_source_disable_unref(f->work);
	sd_event_unref(f->event);
	free(f);
	return NULL;
}

int fetch_start(struct fetch *f, const struct fetch_request *request, struct fetch_call **ret)
{
	struct fetch_call *call = calloc(1, sizeof(*call));
	int r;

	if (!call)
		return -ENOMEM;
	call->fetch = f;
	call->data = request->data;
	call->done = request->done;
	call->userdata = request->userdata;
	call->max_bytes = request->max_bytes;
	call->body.limit = request->max_bytes;
	call->idle_timeout_ns = request->idle_timeout_ns;
	call->timeout_ns = request->timeout_ns;
	call->asked_ns = clock_monotonic_ns();
	call->grpc_status = -1;
	r = fetch_request_apply(call, request);
	if (r < 0) {
		free_call(call);
		return r;
	}
	link_last(f, call);
	fetch_wake(f);
	*ret = call;
	return 0;
}

struct fetch_call *fetch_cancel(struct fetch_call *call)
{
	struct fetch *f;

	if (!call)
		return NULL;
	f = call->fetch;
	if (f->inside) {
		call->phase = FETCH_DROPPED;
		fetch_wake(f);
		return NULL;
	}
	if (call->phase == FETCH_RUNNING || call->phase == FETCH_DROPPED)
		f->curl.multi_remove_handle(f->multi, call->easy);
	unlink_call(f, call);
	free_call(call);
	return NULL;
}
