// SPDX-License-Identifier: Apache-2.0
/* Sends Events, and logs when the server begins and ceases to refuse them. */
#include "app/daemon/events.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "app/log/log.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "core/events/list.h"
#include "io/api/writer.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "wire/kubernetes/patch.h"

/* An Event that the server did not take for so long is given up. */
#define PATIENCE_NS    UINT64_C(120000000000)
#define GRAIN_US       100000
#define LOGGED_EXPIRED (-1)
/* Requests at once. */
#define SENT_MAX       256

/* What a request is about, until its answer. */
struct sent {
	struct events *events; /* NULL: free */
	uint64_t id;
};

struct events {
	struct fetch *fetch;
	struct apiwriter *writer;
	struct eventlist *list;
	sd_event_source *series; /* the next count is due */
	char node[OPTIONS_NODE_SIZE];
	uint64_t counts[API_EVENT_COUNT];
	struct sent sent[SENT_MAX];
	/* The status of the last refusal, or LOGGED_EXPIRED; 0: there is none since a success. */
	long logged;
};

static void count(struct events *e, enum api_event result)
{
	e->counts[result]++;
}

/* The first of a kind is logged. 404, 409 and 422 are about one Event. */
static void log_refusal(struct events *e, const struct apiwriter_result *result)
{
	if (result->end == APIWRITER_EXPIRED && !e->logged) {
		log_warning("api: an Event was not written: %s", result->text);
		e->logged = LOGGED_EXPIRED;
	}
	if (result->end == APIWRITER_DONE && e->logged) {
		log_info("api: the server accepts Events again");
		e->logged = 0;
	}
	if (result->end != APIWRITER_REFUSED || result->status == e->logged)
		return;
	if (result->status == 401)
		log_warning("api: the server refuses the credential (401): Events are not "
			    "written; see graced check");
	else if (result->status == 403)
		log_warning("api: not allowed to write an Event (403): needs create and patch of "
			    "events in events.k8s.io (deploy/rbac-events.yaml), or its namespace "
			    "is being deleted");
	else if (result->status == 404 || result->status == 409)
		return;
	else
		log_warning("api: the server refuses an Event (%ld)", result->status);
	e->logged = result->status;
}

static enum api_event result_of(const struct apiwriter_result *result, enum api_event done)
{
	if (result->end == APIWRITER_DONE)
		return done;
	return result->end == APIWRITER_REFUSED ? API_EVENT_REFUSED : API_EVENT_EXPIRED;
}

static void plan(struct events *e)
{
	timer_at(e->series, eventlist_due_ns(e->list, clock_boot_ns()));
}

static struct sent take_sent(struct sent *at)
{
	struct sent sent = *at;

	at->events = NULL;
	return sent;
}

static void on_created(void *userdata, const struct apiwriter_result *result)
{
	struct sent sent = take_sent(userdata);
	/* An attempt whose answer was lost has made it. */
	bool made =
		result->end == APIWRITER_DONE ||
		(result->status == 409 && result->end == APIWRITER_REFUSED && result->attempts > 1);

	log_refusal(sent.events, result);
	count(sent.events, made ? API_EVENT_CREATED : result_of(result, API_EVENT_CREATED));
	eventlist_created(sent.events->list, sent.id, made);
	plan(sent.events);
}

static void on_written(void *userdata, const struct apiwriter_result *result)
{
	struct sent sent = take_sent(userdata);

	log_refusal(sent.events, result);
	count(sent.events, result_of(result, API_EVENT_UPDATED));
	eventlist_written(sent.events->list, sent.id, result->end == APIWRITER_DONE,
			  result->end == APIWRITER_REFUSED);
	plan(sent.events);
}

/* False: there is no room, or no memory. */
static bool send_request(struct events *e, const struct eventlist_item *item,
			 struct apiwriter_request *request, const struct buf *path,
			 const struct buf *body)
{
	struct sent *sent = e->sent;

	while (sent < e->sent + SENT_MAX && sent->events)
		sent++;
	if (sent == e->sent + SENT_MAX || buf_error(path) || buf_error(body))
		return false;
	*sent = (struct sent){e, item->id};
	request->path = buf_str(path);
	request->body = buf_str(body);
	request->body_len = body->len;
	request->deadline_ns = clock_boot_ns() + PATIENCE_NS;
	request->userdata = sent;
	if (apiwriter_add(e->writer, request) == 0)
		return true;
	sent->events = NULL;
	return false;
}

static void create(struct events *e, const struct event *event, const struct eventlist_item *item)
{
	_cleanup_(buf_free) struct buf path = {}, object = {}, body = {};
	struct apiwriter_request request = {.method = "POST", .done = on_created};

	eventjson_add_paths(item, &path, &object);
	eventjson_add(&body, event, item, e->node);
	if (send_request(e, item, &request, &path, &body))
		return;
	count(e, API_EVENT_DROPPED);
	eventlist_created(e->list, item->id, false);
}

static void write_series(struct events *e, const struct eventlist_item *item)
{
	_cleanup_(buf_free) struct buf path = {}, object = {}, body = {};
	struct apiwriter_request request = {
		.method = "PATCH", .content_type = EVENTJSON_PATCH, .done = on_written};

	eventjson_add_paths(item, &path, &object);
	eventjson_add_series(&body, item);
	if (!send_request(e, item, &request, &object, &body))
		eventlist_written(e->list, item->id, false, false);
}

static int on_series(sd_event_source *source, uint64_t usec, void *userdata)
{
	const struct eventlist_item *item;
	struct events *e = userdata;

	item = eventlist_next(e->list, clock_boot_ns());
	if (item)
		write_series(e, item);
	plan(e);
	return 0;
}

void events_record(struct events *e, const struct record *record)
{
	const struct eventlist_item *item;
	struct event event;

	if (!event_of_record(record, e->node, &event))
		return;
	switch (eventlist_take(e->list, &event, clock_boot_ns(), &item)) {
	case EVENTLIST_NEW:
		create(e, &event, item);
		break;
	case EVENTLIST_DROPPED:
		count(e, API_EVENT_DROPPED);
		break;
	case EVENTLIST_AGAIN:
		plan(e);
		break;
	case EVENTLIST_SAME:
		break;
	}
}

bool events_idle(const struct events *e)
{
	return apiwriter_is_idle(e->writer);
}

void events_add_state(const struct events *e, struct buf *out)
{
	struct apiwriter_state state;

	apiwriter_get_state(e->writer, &state);
	if (state.failures) {
		buf_adds(out, "events: down, ");
		utf8_add_visible(out, state.text, strlen(state.text));
		buf_addc(out, '\n');
	} else if (e->logged > 0) {
		buf_printf(out, "events: refused by the API server (%ld)\n", e->logged);
	} else {
		buf_adds(out, "events: up\n");
	}
}

void events_get_metrics(const struct events *e, struct api_events *ret)
{
	ret->on = true;
	memcpy(ret->results, e->counts, sizeof(ret->results));
}

static int open_writer(struct events *e, sd_event *event, const struct options *options)
{
	char node[OPTIONS_NODE_SIZE];
	struct source_kubelet_options peer = options_of_lister(options, META_API, node);
	struct apiwriter_options writer = {.peer = &peer, .requests_max = SENT_MAX};
	struct source_kubelet_why why = {};
	struct fetch_why lacks;
	int r = fetch_new(event, &e->fetch, &lacks);

	if (r < 0) {
		say("cannot write Events: %s", lacks.text);
		return r;
	}
	strcpy(e->node, peer.api_node);
	r = apiwriter_new(event, e->fetch, &writer, &e->writer, &why);
	if (r < 0)
		say("cannot write Events: %s", why.text[0] ? why.text : strerror(-r));
	return r;
}

int events_new(sd_event *event, const struct options *options, struct events **ret)
{
	struct events *e = calloc(1, sizeof(*e));
	int r = e ? eventlist_new(&e->list) : -ENOMEM;

	if (r >= 0)
		r = timer_new(event, CLOCK_BOOTTIME, GRAIN_US, on_series, e, &e->series);
	if (r < 0)
		say("cannot write Events: %s", strerror(-r));
	else
		r = open_writer(e, event, options);
	if (r < 0) {
		events_free(e);
		return r;
	}
	*ret = e;
	return 0;
}

struct events *events_free(struct events *e)
{
	if (!e)
		return NULL;
	apiwriter_free(e->writer);
	fetch_free(e->fetch);
	sd_event_source_disable_unref(e->series);
	eventlist_free(e->list);
	free(e);
	return NULL;
}
