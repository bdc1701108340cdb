// SPDX-License-Identifier: Apache-2.0
/* Decides when the kubelet, or the API server, is asked and how, reports what its answer has, and
 * ends the look-ups that wait for it. */
#include "io/sources/kubelet/kubelet.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/duration.h"
#include "base/retry.h"
#include "base/time.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "io/sources/kubelet/known.h"
#include "io/sources/kubelet/stream.h"
#include "wire/kubernetes/pods.h"

#define INTERVAL_NS (30 * NS_PER_S)
#define TIMEOUT_NS  (10 * NS_PER_S)
#define GAP_NS	    NS_PER_S

#define RETRY_FIRST_NS NS_PER_S
#define RETRY_LAST_NS  (300 * NS_PER_S)

/* One question may begin when the last one has been over for so many times what it took. */
#define REST_SHARE 3

/* While what changes is streamed, a list is only to make good for what the kubelet dropped. */
#define STREAMED_TIMES 10
/* How often a socket is looked for. */
#define LOOK_NS	       (5 * NS_PER_S)

#define SLICE_NS   500000
#define SLICE_GONE 64

/* Answers in a row. */
#define BEHIND_MAX 3

/* A caller waits for an answer to question number `question`, or a later one. */
struct lookup {
	char uid[POD_UID_MAX];
	uint64_t question; /* the number of the one whose answer counts; 0: it is over */
	bool found;
};

struct source_kubelet {
	sd_event *event;
	struct fetch *fetch;
	struct source_report report; /* its source: the kubelet or the API server */
	char *url;		     /* with its query */

	struct source_kubelet_options options; /* its files, names and times: copies */

	struct source_state state; /* its where is the URL without the query */
	bool addressed;		   /* an address of its host was known once */
	sd_event_source *timer;	   /* queries it */
	sd_event_source *work;	   /* takes the answer apart */

	struct fetch_call *call;     /* NULL: nothing is asked */
	uint64_t questions;	     /* asked so far */
	uint64_t asked_ns, ended_ns; /* the last one; CLOCK_BOOTTIME */
	uint64_t wanted_ns;	     /* when a list was wanted, without a look-up; 0: none is */
	bool hurried;		     /* the next one is to come soon */
	char *reply;		     /* mapped; NULL: nothing came */
	size_t reply_len;

	uint64_t version;     /* of the last one that was taken; 0: it has none */
	unsigned int behind;  /* answers in a row that were older */
	struct podjson *walk; /* NULL: none is taken apart */
	bool leaving_out;     /* the pod whose containers come now */
	struct source_known known;
	size_t gone_at; /* of the pods before: the next to be looked for now */
	bool comparing;

	struct source_stream *stream; /* NULL: no socket is asked */
	struct podproto *reader;      /* of what comes from it */
	struct podjson_list counts;   /* of its list */
	sd_event_source *patience;    /* for its list to come whole */
	sd_event_source *look;	      /* for a socket */
	uint64_t look_us;
	bool listing;	   /* its list is coming */
	bool leaving;	   /* the list has a pod that is being deleted */
	bool streaming;	   /* its list has come, and what changes comes */
	bool falling_back; /* the next question is asked by the URL, now */

	struct lookup lookups[SOURCE_KUBELET_LOOKUPS_MAX];
	size_t n_lookups;
};

static bool is_busy(const struct source_kubelet *k)
{
	return k->call || k->walk || k->comparing || k->listing;
}

static uint64_t due_ns(const struct source_kubelet *k)
{
	uint64_t rest_ns = k->hurried ? 0 : (k->ended_ns - k->asked_ns) * REST_SHARE;
	uint64_t interval_ns = k->options.interval_ns;
	uint64_t from_ns = k->n_lookups ? k->asked_ns : ns_later(k->asked_ns, k->wanted_ns);

	if (k->questions == 0 || k->falling_back)
		return 0;
	if (k->state.failures)
		return k->state.retry_ns;
	/* What changes comes by itself, except that an object of the API is gone, and what a list
	 * lacked that was not the last word. */
	if (k->streaming && !k->leaving && !source_known_is_ignorant(&k->known))
		interval_ns *= STREAMED_TIMES;
	if ((k->n_lookups == 0 && !k->wanted_ns) || rest_ns > interval_ns)
		return k->ended_ns + interval_ns;
	return ns_later(from_ns + k->options.gap_ns, k->ended_ns + rest_ns);
}

static void plan(struct source_kubelet *k)
{
	if (!is_busy(k))
		timer_at(k->timer, ns_later(due_ns(k), 1));
}

/* A pod may have left the list. The kubelet calls a pod deleted when it has finished with it
 * (TerminatePod() in pkg/kubelet/status), and lists it until the API or the manifest has it no
 * more: one that was deleted for a moment, one that completed for days. No event reports that
 * end. */
static void want_list(struct source_kubelet *k)
{
	if (!k->wanted_ns)
		k->wanted_ns = clock_boot_ns();
	plan(k);
}

/* Ends the look-ups that the last question was to answer; all of them when there is no answer. The
 * sink may query anew meanwhile: those are behind the ones that are looked at. */
static void answer(struct source_kubelet *k, enum meta_result unless_found, bool all)
{
	size_t n = k->n_lookups, kept = 0, added;

	for (size_t i = 0; i < n; i++) {
		struct lookup one = k->lookups[i];

		if (!all && one.question > k->questions) {
			k->lookups[kept++] = one;
			continue;
		}
		k->lookups[i].question = 0;
		source_end_lookup(&k->report, one.uid, one.found ? META_FOUND : unless_found);
	}
	added = k->n_lookups - n;
	memmove(k->lookups + kept, k->lookups + n, added * sizeof(k->lookups[0]));
	k->n_lookups = kept + added;
}

/* Forgets the answer's bytes. */
static void forget_reply(struct source_kubelet *k)
{
	if (k->reply)
		munmap(k->reply, SOURCE_KUBELET_REPLY_MAX);
	k->reply = NULL;
	k->reply_len = 0;
}

static void end(struct source_kubelet *k)
{
	forget_reply(k);
	/* The answer's pods were taken apart in many small blocks. */
	malloc_trim(0);
	k->ended_ns = clock_boot_ns();
}

/* The question is over. Sets why, and when the next one is due. */
__attribute__((format(printf, 2, 3))) static void go_down(struct source_kubelet *k,
							  const char *format, ...)
{
	va_list args;

	end(k);
	k->state.status = SOURCE_DOWN;
	k->state.retry_ns =
		k->ended_ns + backoff_ns(RETRY_FIRST_NS, RETRY_LAST_NS, k->state.failures++);
	va_start(args, format);
	vsnprintf(k->state.text, sizeof(k->state.text), format, args);
	va_end(args);
	answer(k, META_FAILED, true);
	plan(k);
}

static int say_counts(char ret[static 160], uint64_t pods, const char *how, uint64_t skipped)
{
	int n = snprintf(ret, 160, "%llu pods%s", (unsigned long long)pods, how);

	return skipped ? n + snprintf(ret + n, 160 - (size_t)n, ", and %llu that make no sense",
				      (unsigned long long)skipped)
		       : n;
}

static void go_up(struct source_kubelet *k, const struct podjson_list *counts)
{
	int n;

	end(k);
	k->state.status = SOURCE_UP;
	k->state.failures = 0;
	n = say_counts(k->state.text, counts->pods, "", counts->skipped);
	if (k->stream && !k->streaming && source_stream_path(k->stream)[0])
		snprintf(k->state.text + n, sizeof(k->state.text) - (size_t)n,
			 "; not by its socket: %.100s", source_stream_trouble(k->stream));
	answer(k, META_ABSENT, false);
	plan(k);
}

/* Marks the look-ups that wait for this pod. */
static void mark_found(struct source_kubelet *k, const char *uid)
{
	for (size_t i = 0; i < k->n_lookups; i++)
		if (k->lookups[i].question <= k->questions && strcmp(k->lookups[i].uid, uid) == 0)
			k->lookups[i].found = true;
}

/* --- the answer --------------------------------------------------------------------------------- */

/* Older than what was reported: from a server that is behind. After three of them that is how it
 * is, as where the database was restored. */
static bool is_behind(const struct source_kubelet *k)
{
	uint64_t version = k->walk ? podjson_list(k->walk)->version : 0;

	return version && version < k->version && k->behind < BEHIND_MAX;
}

static void on_pod(void *userdata, const struct meta_pod *reported, const struct podobj_pod *pod)
{
	struct source_kubelet *k = userdata;
	struct meta_pod meta = *reported;
	bool left = k->streaming && source_known_has_left(&k->known, meta.uid);

	/* Whether it came back is for a list to say. */
	if (left)
		want_list(k);
	/* The kubelet lists static pods as such, never by their mirrors (pkg/kubelet/pod, GetPods):
	 * one that says it is a mirror was made by a user as a pretended static pod. The API's are
	 * images, which come and go without the pods. */
	k->leaving_out = left || pod->mirror || is_behind(k);
	if (k->leaving_out)
		return;
	/* Any user can write the annotation that a kubelet puts on its static pods. */
	if (k->report.source == META_API)
		meta.is_static = false;
	if (k->streaming) {
		source_known_insert(&k->known, &meta, pod->seen_wall_ns);
	} else {
		source_known_add(&k->known, &meta, pod->seen_wall_ns);
		k->leaving |= meta.deleting;
		mark_found(k, meta.uid);
		meta.asked_ns = k->asked_ns;
	}
	meta.source = k->report.source;
	k->report.sink.pod(k->report.sink.userdata, &meta);
}

static void on_container(void *userdata, const struct meta_container *container)
{
	struct source_kubelet *k = userdata;
	struct meta_container meta = *container;

	meta.source = k->report.source;
	if (!k->leaving_out)
		k->report.sink.container(k->report.sink.userdata, &meta);
}

/* Begins to take the answer apart. */
static void take_reply(struct source_kubelet *k)
{
	source_known_begin(&k->known);
	if (podjson_new(k->reply ?: "", k->reply_len, &k->walk) < 0) {
		go_down(k, "there is no memory for its answer");
		return;
	}
	sd_event_source_set_enabled(k->work, SD_EVENT_ON);
}

static void end_walk(struct source_kubelet *k)
{
	k->walk = podjson_free(k->walk);
	sd_event_source_set_enabled(k->work, SD_EVENT_OFF);
}

static void start_comparing(struct source_kubelet *k)
{
	source_known_judge(&k->known, k->listing && source_stream_has_listed(k->stream));
	k->comparing = true;
	k->gone_at = 0;
	sd_event_source_set_enabled(k->work, SD_EVENT_ON);
}

/* The walk went to the end of a whole answer. */
static void begin_comparing(struct source_kubelet *k)
{
	bool behind = is_behind(k);
	uint64_t version = podjson_list(k->walk)->version;

	k->behind = behind ? k->behind + 1 : 0;
	if (behind || podjson_list(k->walk)->partial) {
		end_walk(k);
		go_down(k, "%s",
			behind ? "its list is older than the one before"
			       : "its list goes on elsewhere (continue)");
		return;
	}
	k->version = version;
	start_comparing(k);
}

static void finish(struct source_kubelet *k)
{
	bool whole = !k->known.now.full && !source_known_is_ignorant(&k->known);
	struct podjson_list counts = k->counts;

	if (k->walk)
		counts = *podjson_list(k->walk);
	end_walk(k);
	k->comparing = false;
	if (k->stream)
		source_stream_set_listed(k->stream, k->listing && whole);
	source_known_finish(&k->known);
	k->streaming = k->listing;
	k->listing = false;
	if (whole && k->report.sink.listed)
		k->report.sink.listed(k->report.sink.userdata, k->report.source, k->asked_ns);
	go_up(k, &counts);
	if (k->streaming)
		source_stream_hold(k->stream, false);
}

static void on_gone(void *userdata, const char *uid)
{
	struct source_kubelet *k = userdata;
	struct meta_pod gone = {.source = k->report.source, .gone = true, .asked_ns = k->asked_ns};

	strcpy(gone.uid, uid);
	k->report.sink.pod(k->report.sink.userdata, &gone);
}

static void give_up(struct source_kubelet *k, int error)
{
	uint64_t pods = podjson_list(k->walk)->pods;
	size_t len = k->reply_len;

	end_walk(k);
	if (error == -ENOMEM)
		go_down(k, "there is no memory for its answer");
	else if (pods == 0)
		go_down(k, "its answer of %zu bytes is no list of pods", len);
	else
		go_down(k, "its list of pods breaks off after %llu of them",
			(unsigned long long)pods);
}

/* A turn of the loop's worth of the answer. */
static int on_work(sd_event_source *source, void *userdata)
{
	struct source_kubelet *k = userdata;
	const struct podjson_sink sink = {k, on_pod, on_container, NULL};
	uint64_t end_ns = clock_monotonic_ns() + SLICE_NS;
	int r;

	if (k->comparing) {
		if (source_known_compare(&k->known, &k->gone_at, SLICE_GONE, on_gone, k))
			finish(k);
		return 0;
	}
	do
		r = podjson_next(k->walk, &sink);
	while (r > 0 && clock_monotonic_ns() < end_ns);
	if (r < 0)
		give_up(k, r);
	else if (r == 0)
		begin_comparing(k);
	return 0;
}

/* --- the question ------------------------------------------------------------------------------- */

/* The answer has a mapping of its own, of which only what is written takes memory: it does not
 * tear holes into the heap, nor is it moved while it grows. */
static int on_data(void *userdata, const void *data, size_t len)
{
	struct source_kubelet *k = userdata;
	void *at;

	if (!k->reply) {
		at = mmap(NULL, SOURCE_KUBELET_REPLY_MAX, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (at == MAP_FAILED)
			return -ENOMEM;
		k->reply = at;
	}
	if (len > SOURCE_KUBELET_REPLY_MAX - k->reply_len)
		return -EMSGSIZE;
	memcpy(k->reply + k->reply_len, data, len);
	k->reply_len += len;
	return 0;
}

static void on_done(void *userdata, const struct fetch_result *result)
{
	struct source_kubelet *k = userdata;
	struct source_kubelet_why why;

	k->call = NULL;
	if (result->error == 0 && result->status == 200) {
		take_reply(k);
		return;
	}
	source_kubelet_explain(&k->options, result, &why);
	go_down(k, "%s", why.text);
}

/* Sends the question. What comes of it ends in go_down() or take_reply(). */
static void query(struct source_kubelet *k)
{
	static const char *const headers[] = {"Accept: application/json", NULL};
	struct fetch_request request = {
		.url = k->url,
		.headers = headers,
		.max_bytes = SOURCE_KUBELET_REPLY_MAX,
		.timeout_ns = k->options.timeout_ns,
		.data = on_data,
		.done = on_done,
		.userdata = k,
	};
	struct source_kubelet_why why;

	if (source_kubelet_send(&k->options, k->fetch, &request, "cannot ask it", &k->call,
				&k->state.credential, &why) < 0)
		go_down(k, "%s", why.text);
}

/* --- the stream --------------------------------------------------------------------------------- */

/* The socket is of no use now. What was known stands until a list says otherwise. */
static void leave_stream(struct source_kubelet *k, const char *text)
{
	k->listing = k->streaming = k->comparing = false;
	end_walk(k);
	sd_event_source_set_enabled(k->patience, SD_EVENT_OFF);
	if (!k->url) {
		go_down(k, "%s", text);
		return;
	}
	end(k);
	k->falling_back = true;
	plan(k);
}

static void on_stream_end(void *userdata, const char *text)
{
	leave_stream(userdata, text);
}

static void fail_stream(struct source_kubelet *k, const char *text)
{
	source_stream_fail(k->stream, text);
	leave_stream(k, text);
}

static int on_patience(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct source_kubelet *k = userdata;
	char patience[DURATION_SIZE], text[SOURCE_STREAM_TEXT];

	if (!k->listing || k->comparing)
		return 0;
	snprintf(text, sizeof(text), "no whole list came within %s",
		 duration_format(k->options.timeout_ns, patience));
	fail_stream(k, text);
	return 0;
}

static void take_pod(struct source_kubelet *k, const struct podproto_event *event)
{
	const struct podjson_sink sink = {k, on_pod, on_container, NULL};
	int r = podproto_read_pod(k->reader, event->pod, event->pod_len, &sink);

	k->counts.pods += r == 0;
	k->counts.skipped += r != 0;
	/* A list that lacks it for that says nothing of what it lacks. */
	k->known.now.full |= r == -ENOMEM && k->listing;
}

static void end_list(struct source_kubelet *k)
{
	sd_event_source_set_enabled(k->patience, SD_EVENT_OFF);
	/* What comes next is compared with the list. */
	source_stream_hold(k->stream, true);
	start_comparing(k);
}

static void on_message(void *userdata, const void *message, size_t len)
{
	struct source_kubelet *k = userdata;
	struct podproto_event event;

	if (podproto_read_event(k->reader, message, len, &event) < 0)
		k->counts.skipped++;
	else if (event.type == PODPROTO_ADDED || event.type == PODPROTO_MODIFIED)
		take_pod(k, &event);
	else if (event.type == PODPROTO_DELETED)
		want_list(k);
	else if (event.type == PODPROTO_SYNCED && k->listing)
		end_list(k);
	else
		k->counts.skipped += event.type != PODPROTO_SYNCED;
}

static void query_stream(struct source_kubelet *k)
{
	k->streaming = false;
	k->listing = true;
	k->counts = (struct podjson_list){};
	source_known_begin(&k->known);
	snprintf(k->state.where, sizeof(k->state.where), "%s", source_stream_path(k->stream));
	timer_after(k->patience, k->options.timeout_ns / 1000);
	if (source_stream_open(k->stream) < 0)
		fail_stream(k, "cannot ask it");
}

/* By the socket where that is of use, else by the URL. */
static void query_best(struct source_kubelet *k)
{
	bool by_stream = k->stream && !k->falling_back && source_stream_is_ready(k->stream);

	k->falling_back = false;
	if (by_stream) {
		query_stream(k);
		return;
	}
	if (k->stream)
		source_stream_close(k->stream);
	k->streaming = false;
	if (k->url) {
		snprintf(k->state.where, sizeof(k->state.where), "%.*s", (int)strcspn(k->url, "?"),
			 k->url);
		query(k);
		return;
	}
	snprintf(k->state.where, sizeof(k->state.where), "%s", source_stream_path(k->stream));
	go_down(k, "%s", source_stream_trouble(k->stream));
}

/* A socket that came, or came back, is asked at once. */
static int on_look(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct source_kubelet *k = userdata;
	bool better = k->streaming ? source_stream_is_replaced(k->stream)
				   : source_stream_is_ready(k->stream);

	if (better && !is_busy(k))
		timer_at(k->timer, 1);
	return timer_after(source, k->look_us);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct source_kubelet *k = userdata;

	if (is_busy(k))
		return 0;
	k->questions++;
	k->asked_ns = clock_boot_ns();
	k->state.retry_ns = 0;
	k->hurried = k->leaving = false;
	if (k->asked_ns >= k->wanted_ns + k->options.gap_ns)
		k->wanted_ns = 0;
	query_best(k);
	return 0;
}

/* --- the source --------------------------------------------------------------------------------- */

void source_kubelet_refresh(struct source_kubelet *k, const char *pod_uid)
{
	struct lookup lookup = {.question = k->questions + 1};

	if (strlen(pod_uid) >= sizeof(lookup.uid)) {
		source_end_lookup(&k->report, pod_uid, META_ABSENT);
		return;
	}
	if (k->state.failures) {
		source_end_lookup(&k->report, pod_uid, META_FAILED);
		return;
	}
	/* Who queries again wants an answer to this query, and receives one. */
	for (size_t i = 0; i < k->n_lookups; i++)
		if (k->lookups[i].question && strcmp(k->lookups[i].uid, pod_uid) == 0) {
			k->lookups[i].question = lookup.question;
			k->lookups[i].found = false;
			plan(k);
			return;
		}
	if (k->n_lookups == SOURCE_KUBELET_LOOKUPS_MAX) {
		source_end_lookup(&k->report, pod_uid, META_SHED);
		return;
	}
	strcpy(lookup.uid, pod_uid);
	k->lookups[k->n_lookups++] = lookup;
	plan(k);
}

void source_kubelet_hurry(struct source_kubelet *k)
{
	uint64_t soon_ns = k->ended_ns + k->options.gap_ns;

	k->hurried = true;
	if (k->state.failures && k->state.retry_ns > soon_ns)
		k->state.retry_ns = soon_ns;
	plan(k);
}

void source_kubelet_get_state(struct source_kubelet *k, struct source_state *ret)
{
	*ret = k->state;
	memcpy(ret->lookups, k->report.lookups, sizeof(ret->lookups));
	if (k->streaming)
		say_counts(ret->text, k->known.before.n, ", streamed", k->counts.skipped);
	k->addressed |= !k->url || k->streaming || fetch_has_address(k->fetch, k->url);
	ret->addressless = !k->addressed;
}

static int take_options(struct source_kubelet *k, const struct source_kubelet_options *options)
{
	k->report.source = options->api_node ? META_API : META_KUBELET;
	k->known.kubelet = !options->api_node;
	k->options.api_node = options->api_node ? "" : NULL;
	k->options.interval_ns = options->interval_ns ?: INTERVAL_NS;
	k->options.timeout_ns = options->timeout_ns ?: TIMEOUT_NS;
	k->options.gap_ns = options->gap_ns ?: GAP_NS;
	return source_kubelet_copy(options, &k->options);
}

static int take_socket(struct source_kubelet *k, const struct source_kubelet_options *options)
{
	const struct source_stream_sink sink = {k, on_message, on_stream_end};
	const struct source_stream_options stream = {
		.endpoint = options->socket,
		.search = options->sockets,
		.timeout_ns = k->options.timeout_ns,
		.retry_min_ns = options->retry_min_ns ?: RETRY_FIRST_NS,
		.retry_max_ns = options->retry_max_ns ?: RETRY_LAST_NS,
	};
	int r = source_stream_new(k->event, k->fetch, &stream, &sink, &k->stream);

	if (r >= 0)
		r = podproto_new(&k->reader);
	if (r >= 0)
		r = timer_new(k->event, CLOCK_MONOTONIC, 1000, on_patience, k, &k->patience);
	if (r < 0)
		return r;
	k->look_us = (options->look_ns ?: LOOK_NS) / 1000;
	return sd_event_add_time_relative(k->event, &k->look, CLOCK_MONOTONIC, k->look_us,
					  k->look_us / 5, on_look, k);
}

static int join_loop(struct source_kubelet *k)
{
	int r = sd_event_add_time(k->event, &k->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, k);

	if (r < 0)
		return r;
	r = sd_event_add_defer(k->event, &k->work, on_work, k);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(k->work, SD_EVENT_OFF);
	return sd_event_source_set_priority(k->work, SD_EVENT_PRIORITY_IDLE);
}

int source_kubelet_new(sd_event *event, struct fetch *fetch,
		       const struct source_kubelet_options *options, const struct source_sink *sink,
		       struct source_kubelet **ret, struct source_kubelet_why *ret_why)
{
	_cleanup_(cleanup_source_kubelet_free) struct source_kubelet *k = NULL;
	_cleanup_(cleanup_free) char *url = NULL;
	bool by_socket = options->socket || options->sockets;
	int r = options->url || !by_socket ? source_kubelet_check(options, &url, ret_why) : 0;

	if (r < 0)
		return r;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->event = sd_event_ref(event);
	k->fetch = fetch;
	k->report.sink = *sink;
	k->state.status = SOURCE_STARTING;
	if (url)
		memcpy(k->state.where, url, strcspn(url, "?"));
	k->url = TAKE_PTR(url);
	r = take_options(k, options);
	if (r == 0)
		r = join_loop(k);
	if (r >= 0 && by_socket)
		r = take_socket(k, options);
	if (r == -EINVAL)
		snprintf(ret_why->text, sizeof(ret_why->text),
			 "'%.100s' is no socket's absolute path", options->socket);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(k);
	return 0;
}

struct source_kubelet *source_kubelet_free(struct source_kubelet *k)
{
	if (!k)
		return NULL;
	fetch_cancel(k->call);
	forget_reply(k);
	podjson_free(k->walk);
	sd_event_source_disable_unref(k->timer);
	sd_event_source_disable_unref(k->work);
	sd_event_unref(k->event);
	source_stream_free(k->stream);
	podproto_free(k->reader);
	sd_event_source_disable_unref(k->patience);
	sd_event_source_disable_unref(k->look);
	source_known_done(&k->known);
	free(k->url);
	source_kubelet_drop(&k->options);
	free(k);
	return NULL;
}
