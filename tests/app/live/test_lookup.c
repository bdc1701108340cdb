// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about app/live/lookup and the sources behind it: a container runs and exits while its
 * source answers in a hostile way, and its record says that what is missing may be known.
 */
#include "app/live/lookup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/net/rawpeer.h"
#include "lib/net/tlsc.h"

#define HEX_16	     "0123456789abcdef"
#define CONTAINER_ID HEX_16 HEX_16 HEX_16 HEX_16
#define POD_UID	     "01234567-89ab-4def-8123-456789abcdef"
#define CG_POD	     10
#define CG_CONTAINER 11
#define TURN_US	     10000
#define TURNS	     6000

#define SRC(name) (1u << META_##name)
#define GAP(name) (1u << GAP_##name)

struct stage {
	sd_event *event;
	struct options options;
	char dir[64], url[64], endpoint[80], ca[80];
	struct rawpeer peer;
	struct graced_proc init;
	struct feed *feed;
	struct lookup *lookup;
	uint64_t wake_ns;
	unsigned int stops;
	uint32_t gaps; /* of the last stop */
	bool named;
};

static void carry_out(void *userdata, const struct effect *effect)
{
	struct stage *t = userdata;

	if (effect->type == EFFECT_FIND_NAMES)
		lookup_names(t->lookup, effect);
	else if (effect->type == EFFECT_FIND_POD)
		lookup_pod(t->lookup, effect);
	else if (effect->type == EFFECT_FIND_EXIT)
		lookup_exit(t->lookup, effect);
	else if (effect->type == EFFECT_WAKE_AT)
		t->wake_ns = effect->at_ns;
}

static void take_record(void *userdata, const struct record *record)
{
	struct stage *t = userdata;

	if (record->type != RECORD_STOP)
		return;
	t->stops++;
	t->gaps = record->stop.gaps;
	t->named = record->stop.pod.name && record->stop.container.name;
}

static void turn(struct stage *t)
{
	struct obs obs;

	assert_true(sd_event_run(t->event, TURN_US) >= 0);
	feed_begin(&obs, OBS_TIMER);
	if (t->wake_ns && obs.at_ns >= t->wake_ns)
		feed_obs(t->feed, &obs);
}

static void stage_begin(struct stage *t)
{
	*t = (struct stage){
		.init = {.pid = 4710, .ns_pid = 1, .comm = "nginx"},
		.dir = "/tmp/graced-lookup-XXXXXX",
		.options = {.node_name = "node-1",
			    .log_dir = t->dir,
			    .engine = {.scope = SCOPE_CONTAINERS},
			    .sources = {.cri_endpoint = "none",
					.docker_root = t->dir,
					.podman_root = t->dir,
					.containerd_state = t->dir,
					.kubelet_socket = "none"}},
	};
	assert_non_null(mkdtemp(t->dir));
	assert_int_equal(sd_event_new(&t->event), 0);
}

/* As configured by now: opens the sources, and waits until they have answered or failed. */
static void stage_open(struct stage *t, bool settles)
{
	const struct feed_sink sink = {t, NULL, take_record, carry_out};
	struct engine_config config = t->options.engine;
	struct obs obs;

	config.sources = sources_asked(&t->options);
	assert_int_equal(feed_new(&config, &sink, &t->feed), 0);
	assert_int_equal(lookup_new(&t->options, t->feed, &t->lookup), 0);
	assert_int_equal(lookup_open(t->lookup, t->event), 0);
	feed_begin(&obs, OBS_ATTACHED);
	feed_obs(t->feed, &obs);
	for (int i = 0; settles && i < TURNS && !lookup_is_settled(t->lookup); i++)
		turn(t);
	assert_true(!settles || lookup_is_settled(t->lookup));
}

static void stage_end(struct stage *t)
{
	lookup_free(t->lookup);
	feed_free(t->feed);
	if (t->peer.event)
		rawpeer_close(&t->peer);
	sd_event_unref(t->event);
	if (t->endpoint[0])
		unlink(t->endpoint);
	if (t->ca[0])
		unlink(t->ca);
	rmdir(t->dir);
}

static void found(struct stage *t, uint64_t id, const char *path)
{
	struct obs obs;

	feed_begin(&obs, OBS_CGROUP_FOUND);
	obs.cgroup.id = id;
	strcpy(obs.cgroup.path, path);
	feed_obs(t->feed, &obs);
}

#define POD_PATH "/kubepods/pod" POD_UID

static void begins(struct stage *t)
{
	struct obs obs;

	found(t, CG_POD, POD_PATH);
	found(t, CG_CONTAINER, POD_PATH "/" CONTAINER_ID);
	t->init.pid++;
	feed_begin(&obs, OBS_INIT);
	t->init.start_ns = obs.at_ns;
	obs.init.id = CG_CONTAINER;
	obs.init.rank = GRACED_INIT_PID1;
	obs.init.proc = t->init;
	feed_obs(t->feed, &obs);
}

static void note_unanswered(void *userdata, const struct engine_running *running)
{
	*(bool *)userdata |= running->unanswered;
}

/* Every source has answered what it was asked, or failed. */
static void await_answers(struct stage *t)
{
	bool unanswered = true;

	for (int i = 0; i < TURNS && unanswered; i++) {
		turn(t);
		unanswered = false;
		engine_each_container(feed_engine(t->feed), note_unanswered, &unanswered);
	}
	assert_false(unanswered);
}

/* What its record has as gaps. */
static uint32_t ends(struct stage *t)
{
	unsigned int stops = t->stops;
	struct obs obs;

	feed_begin(&obs, OBS_EXIT);
	obs.exit.id = CG_CONTAINER;
	obs.exit.flags = GRACED_EXIT_INIT;
	obs.exit.proc = t->init;
	obs.exit.counts.exits = 1;
	feed_obs(t->feed, &obs);
	feed_begin(&obs, OBS_CGROUP_EMPTY);
	obs.empty.id = CG_CONTAINER;
	obs.empty.counts.exits = 1;
	feed_obs(t->feed, &obs);
	for (int i = 0; i < TURNS && t->stops == stops; i++)
		turn(t);
	assert_int_equal(t->stops, stops + 1);
	return t->gaps;
}

enum way { ANSWERS, REFUSES, STAYS, AT_ONCE, SECURE };

#define HEAD(rest) "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" rest "\r\n\r\n"
#define CLOSE	   HEAD("Connection: close")
#define OTHER                                                         \
	"{\"metadata\":{\"namespace\":\"shop\",\"name\":\"other\","   \
	"\"uid\":\"00000000-0000-4000-8000-000000000000\"},\"spec\":" \
	"{\"terminationGracePeriodSeconds\":30},\"status\":{\"phase\":\"Running\"}}"
#define LIST(items) "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[" items "]}"
#define THIS                                                                              \
	"{\"metadata\":{\"namespace\":\"shop\",\"name\":\"cart-0\",\"uid\":\"" POD_UID    \
	"\"},\"spec\":{\"terminationGracePeriodSeconds\":30,\"containers\":"              \
	"[{\"name\":\"main\"}]},\"status\":{\"phase\":\"Running\",\"containerStatuses\":" \
	"[{\"name\":\"main\",\"containerID\":\"containerd://" CONTAINER_ID "\"}]}}"

static const struct {
	const char *what;
	enum way way;
	const char *answer;
	uint32_t gaps;
} lists[] = {
	{"well, and does not have it", ANSWERS, CLOSE LIST(OTHER), 0},
	{"no pod at all", ANSWERS, CLOSE LIST(""), 0},
	{"refuses the connection", REFUSES, "", GAP(SOURCE_FAILED)},
	{"closes at once", AT_ONCE, "", GAP(SOURCE_FAILED)},
	{"noise before it is asked", AT_ONCE, "\x01\x02\xff\xfe\x80noise", GAP(SOURCE_FAILED)},
	{"no answer", STAYS, "", GAP(NAME_LATE)},
	{"half a head", STAYS, "HTTP/1.1 200 OK\r\nContent-Ty", GAP(NAME_LATE)},
	{"half a body", STAYS, HEAD("Content-Length: 4096") "{\"kind\":", GAP(NAME_LATE)},
	{"half a head, and closes", ANSWERS, "HTTP/1.1 200 OK\r\nContent-Ty", GAP(SOURCE_FAILED)},
	{"half a body, and closes", ANSWERS,
	 HEAD("Content-Length: 4096") "{\"kind\":", GAP(SOURCE_FAILED)},
	{"redirect", ANSWERS, "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
	 GAP(SOURCE_FAILED)},
	{"400", ANSWERS, "HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n", GAP(SOURCE_FAILED)},
	{"401", ANSWERS, "HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n", GAP(SOURCE_FAILED)},
	{"403", ANSWERS, "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", GAP(SOURCE_FAILED)},
	{"404", ANSWERS, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", GAP(SOURCE_FAILED)},
	{"429", ANSWERS, "HTTP/1.1 429 Wait\r\nContent-Length: 0\r\n\r\n", GAP(SOURCE_FAILED)},
	{"500", ANSWERS, "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", GAP(SOURCE_FAILED)},
	{"503", ANSWERS, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", GAP(SOURCE_FAILED)},
	{"204", ANSWERS, "HTTP/1.1 204 Nothing\r\n\r\n", GAP(SOURCE_FAILED)},
	{"an empty body", ANSWERS, HEAD("Content-Length: 0"), GAP(SOURCE_FAILED)},
	{"a body of noise", ANSWERS, CLOSE "\x01\x02\xff noise", GAP(SOURCE_FAILED)},
	{"a page", ANSWERS,
	 "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"
	 "<html>Please log in</html>",
	 GAP(SOURCE_FAILED)},
	{"null", ANSWERS, CLOSE "null", GAP(SOURCE_FAILED)},
	{"an array", ANSWERS, CLOSE "[]", GAP(SOURCE_FAILED)},
	{"a status", ANSWERS, CLOSE "{\"kind\":\"Status\",\"status\":\"Failure\"}",
	 GAP(SOURCE_FAILED)},
	{"a list that breaks off", ANSWERS, CLOSE "{\"kind\":\"PodList\",\"items\":[" OTHER ",{",
	 GAP(SOURCE_FAILED)},
	{"a list that goes on elsewhere", ANSWERS,
	 CLOSE "{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"x\"},\"items\":[" OTHER "]}",
	 GAP(SOURCE_FAILED)},
	{"too large", ANSWERS, HEAD("Content-Length: 999999999999"), GAP(SOURCE_FAILED)},
	{"bad chunks", ANSWERS, HEAD("Transfer-Encoding: chunked") "zz\r\n{}\r\n",
	 GAP(SOURCE_FAILED)},
	{"no TLS", SECURE, "HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n", GAP(SOURCE_FAILED)},
};

static void play(struct stage *t, enum way way, const char *path, const char *answer)
{
	rawpeer_open(&t->peer, t->event, path, answer);
	t->peer.at_once = way == AT_ONCE;
	t->peer.stays = way == STAYS;
}

/* Writes a CA that has signed nothing here. */
static void write_ca(struct stage *t)
{
	_cleanup_(cleanup_free) char *pem = tlsc_read("ca.crt");
	FILE *out;

	snprintf(t->ca, sizeof(t->ca), "%s/ca.crt", t->dir);
	out = fopen(t->ca, "we");
	assert_non_null(out);
	assert_true(fputs(pem, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static void lists_pods(bool api)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct sources_peer peer = {};
		struct stage t;

		if (lists[i].way == SECURE && !tlsc_can())
			continue;
		print_message("# %s\n", lists[i].what);
		stage_begin(&t);
		play(&t, lists[i].way, NULL, lists[i].answer);
		snprintf(t.url, sizeof(t.url), "%s://127.0.0.1:%u",
			 lists[i].way == SECURE ? "https" : "http", t.peer.port);
		if (lists[i].way == REFUSES) {
			rawpeer_close(&t.peer);
			t.peer.event = NULL;
		}
		peer.url = t.url;
		if (lists[i].way == SECURE) {
			write_ca(&t);
			peer.ca = t.ca;
		}
		if (api)
			t.options.sources.api = peer;
		else
			t.options.sources.kubelet = peer;
		stage_open(&t, lists[i].way != STAYS);
		begins(&t);
		if (lists[i].way != STAYS)
			await_answers(&t);
		assert_int_equal(ends(&t), lists[i].gaps);
		assert_false(t.named);
		stage_end(&t);
	}
}

static void test_kubelet(void **state)
{
	lists_pods(false);
}

static void test_api(void **state)
{
	lists_pods(true);
}

/* A socket whose owner is gone. */
static void bind_only(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
}

static void test_runtime(void **state)
{
	static const struct {
		const char *what;
		enum way way;
		const char *answer;
		uint32_t gaps;
	} ways[] = {
		{"nobody listens", REFUSES, "", GAP(SOURCE_FAILED)},
		{"closes at once", AT_ONCE, "", GAP(SOURCE_FAILED)},
		{"noise", AT_ONCE, "\x01\x02\xff\xfe\x80noise that is no frame of HTTP/2 at all",
		 GAP(SOURCE_FAILED)},
		{"HTTP/1.1", AT_ONCE, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
		 GAP(SOURCE_FAILED)},
		{"no answer", STAYS, "", GAP(NAME_LATE)},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct stage t;

		print_message("# %s\n", ways[i].what);
		stage_begin(&t);
		snprintf(t.endpoint, sizeof(t.endpoint), "%s/cri.sock", t.dir);
		if (ways[i].way == REFUSES)
			bind_only(t.endpoint);
		else
			play(&t, ways[i].way, t.endpoint, ways[i].answer);
		t.options.sources.cri_endpoint = t.endpoint;
		stage_open(&t, false);
		begins(&t);
		if (ways[i].way != STAYS)
			await_answers(&t);
		assert_int_equal(ends(&t), ways[i].gaps);
		stage_end(&t);
	}
}

/* Its next life has another cgroup, and is queried while the answer about this one is owed. */
static void test_superseded(void **state)
{
	struct stage t;

	stage_begin(&t);
	snprintf(t.endpoint, sizeof(t.endpoint), "%s/cri.sock", t.dir);
	play(&t, STAYS, t.endpoint, "");
	t.options.sources.cri_endpoint = t.endpoint;
	stage_open(&t, false);
	begins(&t);
	found(&t, CG_CONTAINER + 1, POD_PATH "/" CONTAINER_ID);
	assert_int_equal(ends(&t), GAP(SOURCE_FAILED) | GAP(NAME_LATE));
	stage_end(&t);
}

static void test_none(void **state)
{
	struct stage t;

	stage_begin(&t);
	stage_open(&t, true);
	begins(&t);
	assert_int_equal(ends(&t), 0);
	assert_false(t.named);
	stage_end(&t);
	/* Nor where names are not looked up at all. */
	stage_begin(&t);
	t.options.no_names = true;
	stage_open(&t, true);
	lookup_set_shed(t.lookup, SHED_NAMES);
	begins(&t);
	assert_int_equal(ends(&t), 0);
	stage_end(&t);
}

/* The kubelet's list has had it. */
static bool is_found(const struct stage *t)
{
	struct source_state state;

	lookup_get_state(t->lookup, META_KUBELET, &state);
	return state.lookups[META_FOUND];
}

/* What was skipped is looked up again by itself, and only what runs. */
static void test_made_up(void **state)
{
	struct stage t;

	stage_begin(&t);
	play(&t, ANSWERS, NULL, CLOSE LIST(OTHER));
	snprintf(t.url, sizeof(t.url), "http://127.0.0.1:%u", t.peer.port);
	t.options.sources.kubelet.url = t.url;
	stage_open(&t, true);
	lookup_set_shed(t.lookup, SHED_NAMES);
	begins(&t);
	assert_int_equal(ends(&t), GAP(SHED));

	t.peer.answer = CLOSE LIST(THIS);
	t.peer.len = strlen(t.peer.answer);
	begins(&t);
	lookup_make_up(t.lookup);
	for (int i = 0; i < 20; i++)
		turn(&t);
	assert_int_equal(t.peer.accepted, 1);
	lookup_set_shed(t.lookup, SHED_SIGNALS);
	lookup_make_up(t.lookup);
	for (int i = 0; i < TURNS && t.peer.accepted < 2; i++)
		turn(&t);
	for (int i = 0; i < TURNS && !is_found(&t); i++)
		turn(&t);
	assert_true(is_found(&t));
	assert_int_equal(ends(&t), 0);
	assert_true(t.named);
	stage_end(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a record lacks nothing for sure where the kubelet fails, in whatever way",
		      test_kubelet),
		CLAIM("nor where the API server fails", test_api),
		CLAIM("nor where the runtime fails", test_runtime),
		CLAIM("nor of a container that is queried anew before its first answer",
		      test_superseded),
		CLAIM("where no source is configured null names are complete", test_none),
		CLAIM("look-ups that were shed are made up for", test_made_up),
	};

	return cmocka_run_group_tests(tests, tlsc_set_up, tlsc_tear_down);
}
