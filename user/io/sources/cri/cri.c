// SPDX-License-Identifier: Apache-2.0
/* Finds the runtime, connects to it, reads its events, and begins again when it fails. */
#include "io/sources/cri/cri.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/retry.h"
#include "io/files/socket.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "io/sources/cri/call.h"

/* --- the stream of events --------------------------------------------------------------------- */

struct source_cri_events_sink {
	void *userdata;
	/* May stop the stream. */
	void (*event)(void *userdata, struct cri_event *event);
	/* Its connection broke, and with it perhaps the runtime. */
	void (*broken)(void *userdata);
};

struct source_cri_events {
	const struct source_cri_calls *calls;
	const char *node; /* whose events are read; NULL: all */
	struct source_cri_events_sink sink;
	struct fetch_call *call;
	struct source_messages messages;
	sd_event_source *retry;
	unsigned int failures;
	bool wanted;  /* from start to stop */
	bool refused; /* the runtime has none; until another is connected to */
	bool open;    /* bytes came */
};

/* Limits of unread events and of one event. */
#define BACKLOG_MAX	    ((size_t)2 << 20)
#define EVENT_MAX	    ((size_t)1 << 20)
#define EVENTS_RETRY_MIN_NS UINT64_C(1000000000)
#define EVENTS_RETRY_MAX_NS UINT64_C(64000000000)

static void retry_later(struct source_cri_events *stream)
{
	uint64_t wait_ns = backoff_ns(EVENTS_RETRY_MIN_NS, EVENTS_RETRY_MAX_NS, stream->failures++);

	timer_after(stream->retry, wait_ns / 1000);
}

static int on_data(void *userdata, const void *data, size_t len)
{
	struct source_cri_events *stream = userdata;

	stream->open = true;
	return source_messages_add(&stream->messages, data, len);
}

static void on_end(void *userdata, const struct fetch_result *result)
{
	struct source_cri_events *stream = userdata;

	stream->call = NULL;
	stream->open = false;
	stream->refused = result->error == 0 && result->grpc_status == GRPC_UNIMPLEMENTED;
	if (stream->refused)
		return;
	retry_later(stream);
	if (result->error)
		stream->sink.broken(stream->sink.userdata);
}

static void request(struct source_cri_events *stream)
{
	_cleanup_(buf_free) struct buf question = {};
	struct fetch_request http = {
		.max_bytes = SIZE_MAX,
		.data = on_data,
		.done = on_end,
		.userdata = stream,
	};

	if (!stream->wanted || stream->call || stream->refused)
		return;
	source_messages_reset(&stream->messages);
	if (cri_request(&question, CRI_EVENTS, NULL) < 0 ||
	    source_cri_call_open(stream->calls, CRI_EVENTS, &question, SOURCE_CRI_EVENT_LINE, &http,
				 &stream->call) < 0)
		retry_later(stream);
}

/* Requests the stream, again and again where it ends. */
static void source_cri_events_start(struct source_cri_events *stream)
{
	stream->wanted = true;
	request(stream);
}

static void source_cri_events_stop(struct source_cri_events *stream)
{
	stream->wanted = false;
	stream->call = fetch_cancel(stream->call);
	stream->open = false;
	source_messages_reset(&stream->messages);
	sd_event_source_set_enabled(stream->retry, SD_EVENT_OFF);
}

static void on_message(void *userdata, const void *message, size_t len)
{
	struct source_cri_events *stream = userdata;
	struct cri_event event;

	if (cri_read_event(message, len, stream->node, &event) < 0)
		return;
	stream->failures = 0;
	stream->sink.event(stream->sink.userdata, &event);
}

static void on_no_message(void *userdata, int error)
{
	struct source_cri_events *stream = userdata;

	stream->call = fetch_cancel(stream->call);
	source_messages_reset(&stream->messages);
	retry_later(stream);
}

static int on_events_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	request(userdata);
	return 0;
}

/* All zeros, but for calls, node and sink. -errno; then it is still to be closed. */
static int source_cri_events_open(struct source_cri_events *stream, sd_event *event)
{
	int r;

	stream->messages = (struct source_messages){
		.backlog_max = BACKLOG_MAX,
		.message_max = EVENT_MAX,
		.slice_ns = SOURCE_CRI_SLICE_NS,
		.message = on_message,
		.broken = on_no_message,
		.userdata = stream,
	};
	r = source_messages_open(&stream->messages, event);
	return r < 0 ? r
		     : timer_new(event, CLOCK_MONOTONIC, 1000, on_events_retry, stream,
				 &stream->retry);
}

static void source_cri_events_close(struct source_cri_events *stream)
{
	stream->call = fetch_cancel(stream->call);
	source_messages_close(&stream->messages);
	stream->retry = sd_event_source_disable_unref(stream->retry);
}

/* --- the runtime ------------------------------------------------------------------------------ */

#define TIMEOUT_NS   UINT64_C(2000000000)
#define RETRY_MIN_NS UINT64_C(100000000)
#define RETRY_MAX_NS UINT64_C(30000000000)

/* How often a look-up may look at the socket, or for one. */
#define LOOK_NS	   UINT64_C(100000000)
/* How often it is looked at without one. */
#define WATCH_USEC 2000000
/* How long without a request before it is seen whether the runtime is still there. */
#define SILENT_NS  UINT64_C(10000000000)

const char *const source_cri_places[] = {
	"/run/containerd/containerd.sock",
	"/run/crio/crio.sock",
	"/run/k3s/containerd/containerd.sock",
	"/run/k0s/containerd.sock",
	"/var/snap/microk8s/common/run/containerd.sock",
	"/run/cri-dockerd.sock",
	NULL,
};

enum phase {
	PHASE_OFF,
	PHASE_DOWN,    /* until the next attempt */
	PHASE_HELLO,   /* queries the version */
	PHASE_LISTING, /* reports everything */
	PHASE_READY,
};

struct source_cri {
	sd_event *event;
	char endpoint[SOCKET_PATH_MAX], node[META_NAME_MAX];
	const char *const *search;
	uint64_t retry_min_ns, retry_max_ns;

	enum phase phase;
	struct socket_id sock;
	uint64_t sock_checked_ns;
	size_t candidate; /* of search */
	struct cri_runtime runtime;
	sd_event_source *retry;
	uint64_t retry_ns;
	uint64_t failures;
	char text[160];

	struct source_cri_queue queue;
	struct source_cri_calls calls;
	struct source_cri_look *look;
	struct source_cri_events events;
	struct source_cri_stops *stops;
};

static void set_phase(struct source_cri *cri, enum phase phase)
{
	cri->phase = phase;
	source_cri_look_set(cri->look, phase != PHASE_OFF && phase != PHASE_DOWN,
			    phase == PHASE_READY);
}

/* --- the session -------------------------------------------------------------------------------- */

static void watch(struct source_cri *cri)
{
	timer_after(cri->retry, WATCH_USEC);
}

static void retry_after(struct source_cri *cri, uint64_t delay_ns)
{
	cri->retry_ns = clock_boot_ns() + delay_ns;
	timer_after(cri->retry, delay_ns / 1000);
}

static void back_off(struct source_cri *cri)
{
	retry_after(cri, backoff_ns(cri->retry_min_ns, cri->retry_max_ns, cri->failures++));
}

static void drop(struct source_cri *cri, enum source_cri_place place)
{
	source_cri_events_stop(&cri->events);
	source_cri_call_cancel_all(&cri->calls, place);
	source_cri_look_abort(cri->look, place);
}

static void say(struct source_cri *cri, const char *what, const char *text)
{
	snprintf(cri->text, sizeof(cri->text), "%s%s%.120s", what, *what ? ": " : "", text);
}

static void go_down(struct source_cri *cri)
{
	set_phase(cri, PHASE_DOWN);
	cri->candidate = 0;
	drop(cri, PLACE_DOOMED);
	source_cri_look_doom(cri->look);
	back_off(cri);
}

/* Backs off; what is asked for has failed. */
static void fail(struct source_cri *cri, const char *what, const char *text)
{
	say(cri, what, text);
	go_down(cri);
}

/* There is nothing to query. */
static void turn_off(struct source_cri *cri)
{
	set_phase(cri, PHASE_OFF);
	cri->candidate = 0;
	cri->calls.path[0] = 0;
	source_cri_look_doom(cri->look);
	back_off(cri);
}

static void on_version(struct source_cri_call *call, const struct source_cri_answer *answer);

static void greet(struct source_cri *cri, enum cri_version version)
{
	set_phase(cri, PHASE_HELLO);
	cri->calls.version = version;
	if (source_cri_call(&cri->calls, CRI_VERSION, NULL, NULL, on_version, cri) < 0)
		fail(cri, "Version", "out of memory");
}

/* The first that is there, from cri->candidate on. -ENOENT, or what is wrong with the last one that
 * should not be asked. */
static int choose(struct source_cri *cri)
{
	const char *const own[] = {cri->endpoint, NULL};
	const char *const *places = cri->endpoint[0] ? own : cri->search;
	bool all = cri->candidate == 0;
	char why[160];
	int r = socket_find(places, &cri->candidate, &cri->sock, why);

	if (r != -ENOENT)
		snprintf(cri->calls.path, sizeof(cri->calls.path), "%s", places[cri->candidate]);
	if (r < 0 && (all || r != -ENOENT))
		say(cri, "", r == -ENOENT ? "there is no socket of a runtime" : why);
	return r;
}

static void connect_next(struct source_cri *cri)
{
	int r = choose(cri);

	if (r < 0) {
		/* One that was there is missed. */
		if (r == -ENOENT && !cri->endpoint[0] && !cri->runtime.name[0])
			turn_off(cri);
		else
			go_down(cri);
		return;
	}
	if (!cri->failures)
		cri->text[0] = 0;
	cri->calls.connection = clock_boot_ns();
	cri->retry_ns = 0;
	watch(cri);
	cri->events.refused = false;
	source_cri_look_renew(cri->look);
	cri->sock_checked_ns = clock_boot_ns();
	greet(cri, CRI_V1);
}

static void begin(struct source_cri *cri)
{
	cri->candidate = 0;
	connect_next(cri);
}

/* Docker brings a containerd whose CRI is off: another runtime may have one. */
static void try_next_candidate(struct source_cri *cri)
{
	snprintf(cri->text, sizeof(cri->text), "%.100s does not speak CRI", cri->calls.path);
	cri->candidate++;
	connect_next(cri);
}

static void on_version(struct source_cri_call *call, const struct source_cri_answer *answer)
{
	struct source_cri *cri = call->userdata;

	if (answer->verdict == VERDICT_REFUSED && answer->grpc_status == GRPC_UNIMPLEMENTED) {
		if (cri->calls.version == CRI_V1)
			greet(cri, CRI_V1ALPHA2);
		else
			try_next_candidate(cri);
		return;
	}
	if (answer->verdict != VERDICT_ANSWER) {
		fail(cri, "Version", answer->text);
		return;
	}
	if (cri_read_version(answer->payload, answer->len, &cri->runtime) < 0) {
		fail(cri, "Version", "the answer makes no sense");
		return;
	}
	set_phase(cri, PHASE_LISTING);
	source_cri_look_list(cri->look);
}

/* Before something is asked: a socket that came, or was replaced, is connected to. */
static void look_at_socket(struct source_cri *cri)
{
	uint64_t now_ns = clock_boot_ns();

	if (cri->phase == PHASE_DOWN || now_ns - cri->sock_checked_ns < LOOK_NS)
		return;
	cri->sock_checked_ns = now_ns;
	if (cri->phase != PHASE_OFF) {
		if (!socket_is_replaced(cri->calls.path, &cri->sock))
			return;
		drop(cri, PLACE_WAITING);
	}
	begin(cri);
}

/* What it says does not matter: that it cannot be asked has ended the session already. */
static void on_probe(struct source_cri_call *call, const struct source_cri_answer *answer)
{
}

/* Asks whether the runtime is still there. */
static void probe(struct source_cri *cri)
{
	look_at_socket(cri);
	if (cri->phase == PHASE_READY)
		source_cri_call(&cri->calls, CRI_VERSION, NULL, NULL, on_probe, NULL);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct source_cri *cri = userdata;

	if (cri->phase == PHASE_OFF || cri->phase == PHASE_DOWN) {
		begin(cri);
		return 0;
	}
	watch(cri);
	look_at_socket(cri);
	if (clock_boot_ns() - cri->calls.answered_ns > SILENT_NS)
		probe(cri);
	return 0;
}

static void on_failed(void *userdata, const char *what, const char *text)
{
	fail(userdata, what, text);
}

static void on_listed(void *userdata)
{
	struct source_cri *cri = userdata;

	set_phase(cri, PHASE_READY);
	cri->failures = 0;
	cri->text[0] = 0;
	source_cri_events_start(&cri->events);
}

static void on_event(void *userdata, struct cri_event *event)
{
	struct source_cri *cri = userdata;

	source_cri_look_event(cri->look, event);
}

static void on_broken(void *userdata)
{
	probe(userdata);
}

/* --- the source --------------------------------------------------------------------------------- */

static int take_options(struct source_cri *cri, const struct source_cri_options *options)
{
	cri->search = options->search ? options->search : source_cri_places;
	cri->calls.timeout_ns = options->timeout_ns ? options->timeout_ns : TIMEOUT_NS;
	cri->retry_min_ns = options->retry_min_ns ? options->retry_min_ns : RETRY_MIN_NS;
	cri->retry_max_ns = options->retry_max_ns ? options->retry_max_ns : RETRY_MAX_NS;
	snprintf(cri->node, sizeof(cri->node), "%s", options->node ? options->node : "");
	return options->endpoint ? socket_take_path(options->endpoint, cri->endpoint) : 0;
}

static int set_up(struct source_cri *cri, const struct source_sink *sink)
{
	const char *node = cri->node[0] ? cri->node : NULL;
	const struct source_cri_look_session session = {cri, on_failed, on_listed};
	int r;

	cri->calls.queue = &cri->queue;
	cri->calls.failed = on_failed;
	cri->calls.userdata = cri;
	r = source_cri_look_new(cri->event, &cri->calls, node, sink, &session, &cri->look);
	if (r < 0)
		return r;
	set_phase(cri, PHASE_HELLO);
	cri->events = (struct source_cri_events){
		.calls = &cri->calls,
		.node = node,
		.sink = {cri, on_event, on_broken},
	};
	r = source_cri_events_open(&cri->events, cri->event);
	if (r >= 0)
		r = source_cri_stops_new(cri->event, &cri->calls, &cri->stops);
	return r < 0 ? r
		     : sd_event_add_time_relative(cri->event, &cri->retry, CLOCK_MONOTONIC, 0, 1000,
						  on_retry, cri);
}

int source_cri_new(sd_event *event, struct fetch *fetch, const struct source_cri_options *options,
		   const struct source_sink *sink, struct source_cri **ret)
{
	struct source_cri *cri = calloc(1, sizeof(*cri));
	int r;

	if (!cri)
		return -ENOMEM;
	cri->event = sd_event_ref(event);
	cri->calls.fetch = fetch;
	r = take_options(cri, options);
	if (r == 0)
		r = set_up(cri, sink);
	if (r < 0) {
		source_cri_free(cri);
		return r;
	}
	*ret = cri;
	return 0;
}

struct source_cri *source_cri_free(struct source_cri *cri)
{
	if (!cri)
		return NULL;
	source_cri_call_cancel_all(&cri->calls, PLACE_DOOMED);
	source_cri_stops_free(cri->stops);
	sd_event_source_disable_unref(cri->retry);
	source_cri_events_close(&cri->events);
	source_cri_look_free(cri->look);
	source_cri_queue_done(&cri->queue);
	sd_event_unref(cri->event);
	free(cri);
	return NULL;
}

/* As runtimes make them; in a question it could be a prefix of others. */
static bool is_id(const char *id)
{
	size_t n = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.-");

	return n > 0 && n < META_ID_MAX && !id[n];
}

static void look_up(struct source_cri *cri, const char *id, bool exit)
{
	bool valid = is_id(id);

	if (valid)
		look_at_socket(cri);
	if (valid && cri->phase != PHASE_OFF && cri->phase != PHASE_DOWN)
		source_cri_look_up(cri->look, id, exit);
	else if (!exit)
		source_cri_look_answer(cri->look, id,
				       cri->phase == PHASE_DOWN ? META_FAILED : META_ABSENT);
}

void source_cri_find(struct source_cri *cri, const char *container_id)
{
	look_up(cri, container_id, false);
}

void source_cri_exit(struct source_cri *cri, const char *container_id)
{
	look_up(cri, container_id, true);
}

int source_cri_stop(struct source_cri *cri, const struct source_cri_stop *stop)
{
	if (!is_id(stop->container_id))
		return -EINVAL;
	look_at_socket(cri);
	if (cri->phase == PHASE_OFF || cri->phase == PHASE_DOWN)
		return -ENOTCONN;
	return source_cri_stops_add(cri->stops, stop);
}

static enum source_status status_of(const struct source_cri *cri)
{
	switch (cri->phase) {
	case PHASE_OFF:
		return SOURCE_OFF;
	case PHASE_DOWN:
		return SOURCE_DOWN;
	case PHASE_READY:
		return SOURCE_UP;
	case PHASE_HELLO:
	case PHASE_LISTING:
		break;
	}
	return cri->failures && cri->runtime.name[0] ? SOURCE_DOWN : SOURCE_STARTING;
}

void source_cri_get_state(const struct source_cri *cri, struct source_state *ret)
{
	*ret = (struct source_state){
		.status = status_of(cri),
		.failures = cri->phase == PHASE_OFF ? 0 : cri->failures,
		.retry_ns = cri->retry_ns,
		.waiting = cri->queue.n,
	};
	source_cri_look_count(cri->look, ret->lookups);
	snprintf(ret->where, sizeof(ret->where), "%s",
		 cri->calls.path[0] ? cri->calls.path : cri->endpoint);
	if (cri->phase != PHASE_READY)
		snprintf(ret->text, sizeof(ret->text), "%s", cri->text);
	else
		snprintf(ret->text, sizeof(ret->text), "%.48s %.48s, CRI %s%s", cri->runtime.name,
			 cri->runtime.version, cri_version_name(cri->calls.version),
			 cri->events.open ? ", with events" : "");
}
