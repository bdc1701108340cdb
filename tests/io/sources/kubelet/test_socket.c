// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/kubelet and the socket of the kubelet's pods API: what its stream says is
 * reported as it comes, and whatever the socket does, pods come from it or from the URL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/proc/clock.h"
#include "io/sources/kubelet/kubelet.h"
#include "lib/claim.h"
#include "lib/cri/cripeer.h"
#include "lib/net/asker.h"
#include "lib/net/rawpeer.h"
#include "lib/pods/podgen.h"
#include "lib/pods/podwire.h"

struct site {
	struct asker *asker;
	struct cripeer peer;
	struct rawpeer http;
	struct buf greeting, body;
	struct source_kubelet_options options;
	struct source_kubelet *k;
	char dir[64], url[64];
	const char *sockets[3];
	unsigned int pods, containers, gone, lists;
	uint64_t asked_ns; /* of the last pod */
	struct meta_pod last;
	char last_gone[POD_UID_MAX];
	struct buf done; /* "<uid> <result>\n" each */
};

static int set_up(void **state)
{
	static struct site site;
	char path[108];
	void *asker;

	site = (struct site){};
	if (asker_set_up(&asker) < 0)
		return -1;
	site.asker = asker;
	strcpy(site.dir, "/tmp/graced-pods-XXXXXX");
	if (!mkdtemp(site.dir))
		return -1;
	snprintf(path, sizeof(path), "%s/pods-api.sock", site.dir);
	cripeer_init(&site.peer, site.asker->event, path);
	site.peer.plays_kubelet = site.peer.has_events = true;
	site.peer.greeting = &site.greeting;
	site.sockets[0] = site.peer.path;
	site.options = (struct source_kubelet_options){
		.sockets = site.sockets,
		.timeout_ns = 10000 * ASKER_MS,
		.gap_ns = ASKER_MS,
		.look_ns = 20 * ASKER_MS,
		.retry_min_ns = 10 * ASKER_MS,
		.retry_max_ns = 50 * ASKER_MS,
	};
	*state = &site;
	return 0;
}

static int tear_down(void **state)
{
	struct site *site = *state;
	void *asker = site->asker;
	char command[128];

	source_kubelet_free(site->k);
	cripeer_done(&site->peer);
	if (site->http.listener)
		rawpeer_close(&site->http);
	buf_free(&site->greeting);
	buf_free(&site->body);
	buf_free(&site->done);
	snprintf(command, sizeof(command), "rm -rf -- %s", site->dir);
	return system(command) != 0 ? -1 : asker_tear_down(&asker);
}

static void on_pod(void *userdata, const struct meta_pod *pod)
{
	struct site *site = userdata;

	assert_int_equal(pod->source, META_KUBELET);
	if (pod->gone) {
		site->gone++;
		strcpy(site->last_gone, pod->uid);
		return;
	}
	site->pods++;
	site->last = *pod;
	site->asked_ns = pod->asked_ns;
}

static void on_container(void *userdata, const struct meta_container *container)
{
	struct site *site = userdata;

	site->containers++;
}

static void on_done(void *userdata, enum meta_source source, const char *key,
		    enum meta_result result)
{
	struct site *site = userdata;

	buf_printf(&site->done, "%s %s\n", key, meta_result_name(result));
}

static void on_listed(void *userdata, enum meta_source source, uint64_t asked_ns)
{
	struct site *site = userdata;

	site->lists++;
}

static void start(struct site *site)
{
	const struct source_sink sink = {site, on_pod, on_container, on_done, on_listed};
	struct source_kubelet_why why;

	assert_int_equal(source_kubelet_new(site->asker->event, site->asker->fetch, &site->options,
					    &sink, &site->k, &why),
			 0);
}

static void play(struct site *site, unsigned int first, unsigned int count)
{
	buf_reset(&site->greeting);
	podwire_list(&site->greeting, first, count);
}

/* The URL answers with so many pods, from that one on. */
static void play_url(struct site *site, unsigned int first, unsigned int count)
{
	_cleanup_(buf_free) struct buf list = {};

	podgen_list(&list, first, count, 600);
	buf_reset(&site->body);
	buf_printf(&site->body,
		   "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
		   "Content-Length: %zu\r\n\r\n",
		   list.len);
	buf_add(&site->body, list.data, list.len);
	rawpeer_open(&site->http, site->asker->event, NULL, "");
	site->http.answer = site->body.data;
	site->http.len = site->body.len;
	snprintf(site->url, sizeof(site->url), "http://127.0.0.1:%u", site->http.port);
	site->options.url = site->url;
}

static struct source_state state_of(const struct site *site)
{
	struct source_state state;

	source_kubelet_get_state(site->k, &state);
	return state;
}

static bool is_at(const struct site *site, enum source_status status, const char *where)
{
	struct source_state state = state_of(site);

	return state.status == status && strncmp(state.where, where, strlen(where)) == 0;
}

static void await(struct site *site, enum source_status status, const char *where)
{
	while (!is_at(site, status, where))
		asker_turn(site->asker);
}

static void await_streamed(struct site *site)
{
	while (!strstr(state_of(site).text, "streamed"))
		asker_turn(site->asker);
}

static void send_event(struct site *site, const struct buf *event)
{
	cripeer_tell_bytes(&site->peer, event->data, event->len);
}

static void send_numbered(struct site *site, enum podproto_type type, unsigned int number)
{
	_cleanup_(buf_free) struct buf event = {};

	podwire_numbered(&event, type, number);
	send_event(site, &event);
}

static void refresh(struct site *site, const char *uid)
{
	size_t done = site->done.len;

	source_kubelet_refresh(site->k, uid);
	while (site->done.len == done)
		asker_turn(site->asker);
}

static void test_stream(void **state)
{
	struct site *site = *state;
	struct source_state got;

	play(site, 0, 250);
	cripeer_listen(&site->peer);
	start(site);
	await_streamed(site);
	got = state_of(site);
	assert_int_equal(got.status, SOURCE_UP);
	assert_string_equal(got.where, site->peer.path);
	assert_string_equal(got.text, "250 pods, streamed");
	assert_int_equal(site->pods, 250);
	assert_int_equal(site->containers, 250);
	assert_int_equal(site->lists, 1);
	assert_int_equal(site->gone, 0);
	assert_true(site->asked_ns > 0);

	/* One event each, without a question. */
	send_numbered(site, PODPROTO_ADDED, 300);
	while (site->pods == 250)
		asker_turn(site->asker);
	assert_string_equal(site->last.name, "web-300");
	assert_string_equal(site->last.namespace_, "shop");
	assert_int_equal(site->asked_ns, 0);
	send_numbered(site, PODPROTO_MODIFIED, 8);
	while (site->pods == 251)
		asker_turn(site->asker);
	assert_string_equal(state_of(site).text, "251 pods, streamed");
	assert_int_equal(site->gone, 0);
	assert_int_equal(site->peer.asked[CRI_EVENTS], 1);
	assert_int_equal(site->lists, 1);
}

/* A Job's pod that has completed, an evicted one: the API has them until somebody deletes them. */
static void test_finished(void **state)
{
	struct site *site = *state;
	char uid[POD_UID_MAX];

	play(site, 0, 20);
	cripeer_listen(&site->peer);
	start(site);
	await_streamed(site);
	send_numbered(site, PODPROTO_DELETED, 7);
	while (site->lists < 2)
		asker_turn(site->asker);
	assert_int_equal(site->gone, 0);
	assert_string_equal(state_of(site).text, "20 pods, streamed");
	/* Once the API has it no more, the list says so. */
	play(site, 0, 7);
	podwire_numbered(&site->greeting, PODPROTO_DELETED, 30);
	send_numbered(site, PODPROTO_DELETED, 7);
	while (site->lists < 4)
		asker_turn(site->asker);
	podgen_uid(19, uid);
	assert_string_equal(site->last_gone, uid);
	assert_int_equal(site->gone, 13);
}

/* The kubelet sets its status while it ends, even as that of a new pod (RemoveOrphanedStatuses()). */
static void test_left(void **state)
{
	struct site *site = *state;
	char uid[POD_UID_MAX];

	play(site, 0, 20);
	cripeer_listen(&site->peer);
	start(site);
	await_streamed(site);
	play(site, 0, 19);
	refresh(site, "a");
	podgen_uid(19, uid);
	assert_string_equal(site->last_gone, uid);
	site->pods = 0;
	send_numbered(site, PODPROTO_MODIFIED, 19);
	send_numbered(site, PODPROTO_ADDED, 19);
	while (site->lists < 3)
		asker_turn(site->asker);
	assert_int_equal(site->pods, 19);
	assert_string_equal(state_of(site).text, "19 pods, streamed");
	/* Its manifest is back. */
	play(site, 0, 20);
	send_numbered(site, PODPROTO_ADDED, 19);
	while (site->lists < 4)
		asker_turn(site->asker);
	assert_int_equal(site->pods, 19 + 20);
	send_numbered(site, PODPROTO_MODIFIED, 19);
	while (site->pods < 19 + 20 + 1)
		asker_turn(site->asker);
	assert_string_equal(site->last.name, "web-19");
	assert_int_equal(site->gone, 1);
}

/* No event comes when its object goes, which may be long after its pod where the API is away. */
static void test_leaving(void **state)
{
	struct site *site = *state;
	char uid[POD_UID_MAX];
	const struct podwire_pod pod = {.uid = uid, .name = "web-3", .deleting = true, .seen_s = 1};

	/* Ten of them would be more than the test waits for. */
	site->options.interval_ns = 7000 * ASKER_MS;
	podgen_uid(3, uid);
	podwire_numbered(&site->greeting, PODPROTO_ADDED, 4);
	podwire_event(&site->greeting, PODPROTO_ADDED, &pod);
	podwire_event(&site->greeting, PODPROTO_SYNCED, NULL);
	cripeer_listen(&site->peer);
	start(site);
	await_streamed(site);
	play(site, 4, 1);
	while (!site->gone)
		asker_turn(site->asker);
	assert_string_equal(site->last_gone, uid);
}

/* As that of a kubelet without an API server whose manifests are removed. */
static void test_empty(void **state)
{
	struct site *site = *state;

	play(site, 0, 3);
	cripeer_listen(&site->peer);
	start(site);
	await_streamed(site);
	play(site, 0, 0);
	refresh(site, "a");
	assert_int_equal(site->gone, 3);
	assert_int_equal(site->lists, 2);
	/* That of a kubelet that has just started does not count. */
	play(site, 0, 3);
	refresh(site, "a");
	cripeer_die(&site->peer);
	await(site, SOURCE_DOWN, "");
	play(site, 0, 0);
	cripeer_listen(&site->peer);
	await_streamed(site);
	refresh(site, "a");
	assert_int_equal(site->gone, 3);
}

/* What comes right behind a list is later than the list. */
static void test_behind(void **state)
{
	struct site *site = *state;
	char uid[POD_UID_MAX];

	play(site, 0, 250);
	cripeer_listen(&site->peer);
	start(site);
	await_streamed(site);
	play(site, 1, 248);
	podwire_numbered(&site->greeting, PODPROTO_ADDED, 300);
	source_kubelet_refresh(site->k, "a");
	while (site->pods < 250 + 248 + 1)
		asker_turn(site->asker);
	assert_string_equal(site->last.name, "web-300");
	assert_int_equal(site->asked_ns, 0);
	assert_int_equal(site->lists, 2);
	assert_int_equal(site->gone, 2);
	podgen_uid(249, uid);
	assert_string_equal(site->last_gone, uid);
	assert_string_equal(state_of(site).text, "249 pods, streamed");
}

static void test_refresh(void **state)
{
	struct site *site = *state;
	char uid[POD_UID_MAX], expected[128];

	play(site, 0, 20);
	cripeer_listen(&site->peer);
	start(site);
	await_streamed(site);
	/* Two are gone, and no event said so. */
	play(site, 1, 18);
	podgen_uid(5, uid);
	refresh(site, uid);
	snprintf(expected, sizeof(expected), "%s found\n", uid);
	assert_string_equal(buf_str(&site->done), expected);
	assert_int_equal(site->gone, 2);
	assert_int_equal(site->lists, 2);
	assert_int_equal(site->peer.asked[CRI_EVENTS], 2);
	buf_reset(&site->done);
	podgen_uid(0, uid);
	refresh(site, uid);
	snprintf(expected, sizeof(expected), "%s missing\n", uid);
	assert_string_equal(buf_str(&site->done), expected);
	/* Only the newest stream is open, and counts. */
	while (site->peer.streams != 1)
		asker_turn(site->asker);
	send_numbered(site, PODPROTO_ADDED, 300);
	while (strcmp(site->last.name, "web-300") != 0)
		asker_turn(site->asker);
}

static void test_deleting(void **state)
{
	_cleanup_(buf_free) struct buf event = {};
	struct site *site = *state;
	char uid[POD_UID_MAX];
	const struct podwire_pod pod = {.uid = uid, .name = "web-3", .deleting = true, .seen_s = 1};

	play(site, 0, 5);
	cripeer_listen(&site->peer);
	start(site);
	await_streamed(site);
	podgen_uid(3, uid);
	podwire_event(&event, PODPROTO_MODIFIED, &pod);
	send_event(site, &event);
	while (!site->last.deleting)
		asker_turn(site->asker);
	assert_string_equal(site->last.uid, uid);
	assert_int_equal(site->last.deletion_grace_ns, 30000000000);
	assert_int_equal(site->last.deleted_wall_ns / 1000000000, 1790000000);
}

/* Where the stream breaks, and how. */
static void test_broken(void **state)
{
	enum { NO_PODS = -1, SYNCED = -2 };
	static const int breaks_after[] = {NO_PODS, 0, 1, 100, 249, SYNCED};
	struct site *site = *state;

	play_url(site, 0, 250);
	start(site);
	for (unsigned int i = 0; i < LEN(breaks_after); i++)
		for (unsigned int by_status = 0; by_status < 2; by_status++) {
			_cleanup_(buf_free) struct buf part = {};
			unsigned int opened = site->peer.asked[CRI_EVENTS];

			print_message("# after %d, %s\n", breaks_after[i],
				      by_status ? "with a status" : "cut");
			for (int n = 0; n < breaks_after[i]; n++)
				podwire_numbered(&part, PODPROTO_ADDED, (unsigned int)n);
			if (breaks_after[i] == SYNCED)
				podwire_list(&part, 0, 250);
			site->peer.greeting = &part;
			cripeer_listen(&site->peer);
			while (site->peer.asked[CRI_EVENTS] == opened)
				asker_turn(site->asker);
			if (breaks_after[i] == SYNCED)
				await_streamed(site);
			site->peer.greeting = &site->greeting;
			if (by_status)
				cripeer_end_events(&site->peer, GRPC_RESOURCE_EXHAUSTED);
			else
				cripeer_die(&site->peer);
			cripeer_leave(&site->peer);
			unlink(site->peer.path);
			await(site, SOURCE_UP, "http://");
		}
	assert_int_equal(site->gone, 0);
	/* It is back by itself. */
	play(site, 0, 200);
	cripeer_listen(&site->peer);
	await_streamed(site);
	assert_int_equal(site->gone, 50);
}

static void test_later(void **state)
{
	struct site *site = *state;

	play_url(site, 0, 20);
	start(site);
	await(site, SOURCE_UP, "http://");
	assert_int_equal(site->pods, 20);
	play(site, 0, 20);
	cripeer_listen(&site->peer);
	await_streamed(site);
	assert_int_equal(site->gone, 0);
	assert_int_equal(site->http.accepted, 1);
}

/* The socket of a kubelet that was restarted with the feature off. */
static void test_stale(void **state)
{
	struct site *site = *state;

	play_url(site, 0, 20);
	cripeer_listen(&site->peer);
	cripeer_leave(&site->peer);
	assert_int_equal(access(site->peer.path, F_OK), 0);
	start(site);
	await(site, SOURCE_UP, "http://");
	assert_string_equal(state_of(site).text,
			    "20 pods; not by its socket: no kubelet listens at it");
	play(site, 0, 20);
	cripeer_listen(&site->peer);
	await_streamed(site);
}

/* Without a URL there is nothing to fall back to. */
static void test_alone(void **state)
{
	struct site *site = *state;
	struct source_state got;

	start(site);
	await(site, SOURCE_DOWN, "");
	got = state_of(site);
	assert_string_equal(got.text, "there is no socket");
	play(site, 0, 20);
	cripeer_listen(&site->peer);
	await_streamed(site);
	assert_int_equal(state_of(site).failures, 0);
	cripeer_die(&site->peer);
	await(site, SOURCE_DOWN, site->peer.path);
	assert_int_equal(site->gone, 0);
	refresh(site, "a");
	assert_string_equal(buf_str(&site->done), "a failed\n");
	/* A kubelet that starts anew: another socket. */
	play(site, 0, 19);
	cripeer_listen(&site->peer);
	await_streamed(site);
	assert_int_equal(site->gone, 1);
}

/* The list of a kubelet that has just started lacks pods that run. */
static void test_restarted(void **state)
{
	struct site *site = *state;
	char uid[POD_UID_MAX];
	const struct podwire_pod pod = {.uid = uid, .name = "web-3", .seen_s = 30};

	play(site, 0, 20);
	cripeer_listen(&site->peer);
	start(site);
	await_streamed(site);
	podgen_uid(3, uid);
	cripeer_die(&site->peer);
	buf_reset(&site->greeting);
	podwire_event(&site->greeting, PODPROTO_ADDED, &pod);
	podwire_event(&site->greeting, PODPROTO_SYNCED, NULL);
	await(site, SOURCE_DOWN, "");
	cripeer_listen(&site->peer);
	await_streamed(site);
	assert_int_equal(site->gone, 0);
	assert_int_equal(site->lists, 1);
	/* The next one of the same process counts. */
	refresh(site, "a");
	assert_int_equal(site->gone, 19);
	assert_int_equal(site->lists, 2);
}

static const struct {
	const char *name;
	enum cripeer_act act;
	int status;
	const char *text; /* of why the socket is not used */
} refusals[] = {
	{"feature off", CRIPEER_ERROR, GRPC_UNIMPLEMENTED, "has no pods API"},
	{"initializing", CRIPEER_ERROR, 9, "gRPC status 9"},
	{"not allowed", CRIPEER_ERROR, GRPC_PERMISSION_DENIED, "gRPC status 7"},
	{"unauthenticated", CRIPEER_ERROR, 16, "gRPC status 16"},
	{"no trailers", CRIPEER_NO_TRAILERS, 0, NULL},
	{"noise", CRIPEER_NOISE, 0, NULL},
	{"an end without an error", CRIPEER_ERROR, 0, "its stream ended"},
	{"HTTP 503", CRIPEER_503, 0, NULL},
	{"GOAWAY", CRIPEER_GOAWAY, 0, NULL},
	{"silence", CRIPEER_SILENT, 0, "no whole list came"},
	{"a trickle", CRIPEER_TRICKLE, 0, NULL},
};

static void test_refused(void **state)
{
	struct site *site = *state;

	play_url(site, 0, 20);
	site->options.timeout_ns = 300 * ASKER_MS;
	/* Only another socket is worth another try then. */
	site->options.retry_min_ns = site->options.retry_max_ns = 600000 * ASKER_MS;
	site->peer.has_events = false;
	for (size_t i = 0; i < LEN(refusals); i++) {
		struct source_state got;

		site->peer.act[CRI_EVENTS] = refusals[i].act;
		site->peer.status = refusals[i].status;
		cripeer_listen(&site->peer);
		start(site);
		await(site, SOURCE_UP, "http://");
		got = state_of(site);
		print_message("# %s: %s\n", refusals[i].name, got.text);
		assert_non_null(strstr(got.text, "20 pods; not by its socket: "));
		if (refusals[i].text)
			assert_non_null(strstr(got.text, refusals[i].text));
		assert_int_equal(got.failures, 0);
		/* The feature is switched on: the kubelet starts anew. */
		cripeer_die(&site->peer);
		site->peer.has_events = true;
		play(site, 0, 20);
		cripeer_listen(&site->peer);
		await_streamed(site);
		site->peer.has_events = false;
		cripeer_die(&site->peer);
		site->k = source_kubelet_free(site->k);
	}
	assert_int_equal(site->gone, 0);
}

/* Bytes that end a stream, after a whole list and in its middle. */
static void test_no_messages(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *text;
	} table[] = {
#define BYTES(bytes) bytes, sizeof(bytes) - 1
		{BYTES("\1\0\0\0\1x"), "no message of gRPC"},  /* compressed */
		{BYTES("\xff\xff\xff\xff\xff"), "no message"}, /* unknown flags */
		{BYTES("\0\xff\xff\xff\xff"), "too long"},
		{BYTES("\0\0\x20\0\x41"), "too long"}, /* by a byte */
	};
	struct site *site = *state;

	play_url(site, 0, 20);
	start(site);
	for (size_t i = 0; i < LEN(table); i++)
		for (int in_list = 0; in_list < 2; in_list++) {
			_cleanup_(buf_free) struct buf part = {};

			if (in_list)
				podwire_numbered(&part, PODPROTO_ADDED, 1);
			else
				podwire_list(&part, 0, 20);
			buf_add(&part, table[i].bytes, table[i].len);
			site->peer.greeting = &part;
			cripeer_listen(&site->peer);
			while (!strstr(state_of(site).text, table[i].text))
				asker_turn(site->asker);
			assert_true(is_at(site, SOURCE_UP, "http://"));
			print_message("# %s\n", state_of(site).text);
			cripeer_die(&site->peer);
			unlink(site->peer.path);
		}
	site->peer.greeting = &site->greeting;
	assert_int_equal(site->gone, 0);
}

/* Messages and pods that make no sense are passed over, and the stream goes on. */
static void test_nonsense(void **state)
{
	static const char messages[] =
		"\0\0\0\0\4\xff\xff\xff\xff"		   /* no protobuf */
		"\0\0\0\0\0"				   /* nothing in it */
		"\0\0\0\0\2\x08\x63"			   /* another type */
		"\0\0\0\0\2\x08\x01"			   /* no pod */
		"\0\0\0\0\7\x08\x01\x12\3\x0a\x7fx"	   /* a pod that is cut */
		"\0\0\0\0\x09\x08\x01\x12\5\x0a\3\x0a\1x"; /* without a uid */
	struct site *site = *state;
	struct source_state got;

	buf_add(&site->greeting, messages, sizeof(messages) - 1);
	podwire_list(&site->greeting, 0, 20);
	cripeer_listen(&site->peer);
	start(site);
	await_streamed(site);
	assert_int_equal(site->pods, 20);
	got = state_of(site);
	print_message("# %s\n", got.text);
	assert_string_equal(got.text, "20 pods, streamed, and 6 that make no sense");
	cripeer_tell_bytes(&site->peer, messages, sizeof(messages) - 1);
	send_numbered(site, PODPROTO_ADDED, 300);
	while (site->pods == 20)
		asker_turn(site->asker);
	assert_string_equal(state_of(site).text, "21 pods, streamed, and 12 that make no sense");
	assert_int_equal(site->peer.asked[CRI_EVENTS], 1);
}

/* 4,300 pods, of which 4,096 are held, and large ones. */
static void test_many(void **state)
{
	struct site *site = *state;
	char uid[POD_UID_MAX];
	const struct podwire_pod pod = {
		.uid = uid, .name = "large", .seen_s = 1, .padding = (size_t)1 << 20};

	podgen_uid(9000, uid);
	for (unsigned int i = 0; i < 4300; i++)
		podwire_numbered(&site->greeting, PODPROTO_ADDED, i);
	for (unsigned int i = 0; i < 8; i++)
		podwire_event(&site->greeting, PODPROTO_ADDED, &pod);
	podwire_event(&site->greeting, PODPROTO_SYNCED, NULL);
	cripeer_listen(&site->peer);
	start(site);
	await_streamed(site);
	assert_int_equal(site->pods, 4308);
	assert_int_equal(site->lists, 0);
	/* A list that is not whole says of no pod that it is gone. */
	play(site, 4200, 100);
	refresh(site, "a");
	assert_int_equal(site->pods, 4408);
}

/* 20 MiB at once: more than may wait. */
static void test_backlog(void **state)
{
	struct site *site = *state;
	char uid[POD_UID_MAX];
	const struct podwire_pod pod = {
		.uid = uid, .name = "large", .seen_s = 1, .padding = (size_t)1 << 20};

	podgen_uid(9000, uid);
	play_url(site, 0, 20);
	for (unsigned int i = 0; i < 20; i++)
		podwire_event(&site->greeting, PODPROTO_ADDED, &pod);
	podwire_event(&site->greeting, PODPROTO_SYNCED, NULL);
	cripeer_listen(&site->peer);
	start(site);
	while (!strstr(state_of(site).text, "more comes than can be read"))
		asker_turn(site->asker);
	assert_true(is_at(site, SOURCE_UP, "http://"));
}

/* A socket in a directory that others may write to, and one that is theirs. */
static void test_trust(void **state)
{
	struct site *site = *state;
	char place[108];

	if (geteuid() != 0)
		skip();
	play(site, 0, 5);
	cripeer_listen(&site->peer);
	snprintf(place, sizeof(place), "%s/none.sock", site->dir);
	/* The next place is not looked at in vain. */
	site->sockets[0] = place;
	site->sockets[1] = site->peer.path;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(chmod(site->dir, i == 0 ? 0777 : 0755), 0);
		assert_int_equal(chown(site->dir, i == 1 ? 65534 : 0, 0), 0);
		assert_int_equal(chown(site->peer.path, i == 2 ? 65534 : 0, 0), 0);
		start(site);
		await(site, SOURCE_DOWN, site->peer.path);
		assert_string_equal(state_of(site).text,
				    "others than root could have put it there");
		assert_int_equal(site->peer.accepted, 0);
		site->k = source_kubelet_free(site->k);
	}
	assert_int_equal(chown(site->peer.path, 0, 0), 0);
	start(site);
	await_streamed(site);
}

int main(void)
{
#define SITE(sentence, function)                            \
	{                                                   \
		sentence, function, set_up, tear_down, NULL \
	}
	const struct CMUnitTest tests[] = {
		SITE("250 pods are reported, and what changes by one event each", test_stream),
		SITE("what comes behind a list is later than the list", test_behind),
		SITE("a pod that the kubelet has finished with is gone when a list lacks it",
		     test_finished),
		SITE("a pod that a list lacked is not back by events of its end", test_left),
		SITE("while a pod is being deleted lists come at the ordinary interval",
		     test_leaving),
		SITE("an empty list of the same kubelet counts, that of another does not",
		     test_empty),
		SITE("a look-up is answered by a new stream's list", test_refresh),
		SITE("a deletion comes with its grace period", test_deleting),
		SITE("wherever the stream breaks, the URL is asked and no pod is gone",
		     test_broken),
		SITE("a socket that appears later is preferred to the URL", test_later),
		SITE("a socket that no kubelet listens at is called so", test_stale),
		SITE("without a URL it comes back with the kubelet", test_alone),
		SITE("a kubelet that starts anew does not report running pods as gone",
		     test_restarted),
		SITE("a socket that refuses is not asked for long, and tried again", test_refused),
		SITE("bytes that are no messages end the stream", test_no_messages),
		SITE("messages that make no sense are passed over and counted", test_nonsense),
		SITE("more pods than are held, and large ones", test_many),
		SITE("more than may wait ends the stream", test_backlog),
		SITE("a socket that others could have made is not connected to", test_trust),
	};

	return cmocka_run_group_tests_name("io/sources/kubelet, the socket", tests, NULL, NULL);
}
