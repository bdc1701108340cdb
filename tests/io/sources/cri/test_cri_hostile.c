// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/cri and a runtime that fails, lies or is gone: look-ups end once, the
 * loop turns, and names come back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/sources/cri/cri.h"
#include "lib/claim.h"
#include "lib/cri/crisite.h"

#define MB ((size_t)1 << 20)

static const char *const acts[CRIPEER_ACTS] = {
	"well",	     "silent",	    "cut in half",	 "reset in half",    "17 MB",
	"noise",     "nonsense",    "an error",		 "without trailers", "compressed",
	"too short", "two answers", "without a message", "HTTP 503",	     "GOAWAY",
	"a trickle",
};

/* What stands against the source, and not only against one answer, for each act. */
static const bool against_all[CRIPEER_ACTS] = {
	[CRIPEER_SILENT] = true, [CRIPEER_CUT] = true,	       [CRIPEER_RESET] = true,
	[CRIPEER_NOISE] = true,	 [CRIPEER_NO_TRAILERS] = true, [CRIPEER_COMPRESSED] = true,
	[CRIPEER_SHORT] = true,	 [CRIPEER_TWICE] = true,       [CRIPEER_EMPTY] = true,
	[CRIPEER_503] = true,	 [CRIPEER_GOAWAY] = true,      [CRIPEER_TRICKLE] = true,
};

static void get_state(const struct crisite *site, struct source_state *ret)
{
	source_cri_get_state(site->cri, ret);
}

/* Asks until it is found; every time, the end is reported once. */
static void expect_back(struct crisite *site, unsigned int number)
{
	unsigned int found = crisite_done(site, number, META_FOUND);

	while (crisite_done(site, number, META_FOUND) == found) {
		unsigned int done = site->done;

		crisite_find(site, number);
		while (site->done == done) {
			struct source_state state;

			asker_turn(site->asker);
			/* While it is tried again, what went wrong is still what went wrong. */
			get_state(site, &state);
			assert_null(strstr(state.text, "no socket"));
		}
		assert_int_equal(site->done, done + 1);
		asker_turn(site->asker);
	}
	assert_string_equal(crisite_get(site, number)->name, "web");
	crisite_await_up(site);
}

/* By itself. */
static bool may_end(enum cripeer_act act)
{
	return act != CRIPEER_SILENT && act != CRIPEER_TRICKLE && act != CRIPEER_NOISE;
}

static void misbehave(struct crisite *site, enum cri_method method, enum cripeer_act act)
{
	bool at_start =
		method == CRI_VERSION || method == CRI_SANDBOXES || method == CRI_CONTAINERS;
	unsigned int ticks = site->asker->ticks;
	struct source_state state;

	cripeer_remove_all(&site->peer);
	memset(site->containers, 0, CRISITE_MAX * sizeof(*site->containers));
	site->done = 0;
	site->peer.padding = 17 * MB;
	site->peer.status = 13;
	site->timeout_ns = (may_end(act) ? 10000 : 200) * ASKER_MS;
	cripeer_add(&site->peer, 8, "", 6);
	cripeer_add(&site->peer, 9, "web", 6);
	site->peer.act[method] = at_start ? act : CRIPEER_WELL;
	crisite_open(site, NULL);
	do {
		asker_turn(site->asker);
		get_state(site, &state);
	} while (state.status == SOURCE_STARTING ||
		 (!at_start && !site->containers[9].stop_signal));
	site->peer.act[method] = act;
	strcpy(cripeer_add(&site->peer, 1, "web", 7)->image, "example.com/unheard-of:1");
	crisite_find(site, 1);
	while (!site->done)
		asker_turn(site->asker);
	get_state(site, &state);
	print_message("# %d %s: %s\n", method, acts[act], state.text);
	if (against_all[act] || (at_start && act != CRIPEER_LONG))
		assert_int_equal(state.status, SOURCE_DOWN);
	else if (method != CRI_VERSION)
		assert_int_equal(state.status, SOURCE_UP);
	assert_true(strlen(state.text) > 0);
	site->peer.act[method] = CRIPEER_WELL;
	expect_back(site, 1);
	/* The others may be faster than a tick. */
	if (act == CRIPEER_SILENT || act == CRIPEER_TRICKLE)
		assert_true(site->asker->ticks > ticks);
	site->cri = source_cri_free(site->cri);
}

static void misbehave_all(struct crisite *site, enum cri_method method)
{
	for (int act = CRIPEER_SILENT; act < CRIPEER_ACTS; act++)
		misbehave(site, method, (enum cripeer_act)act);
}

static void test_version(void **state)
{
	misbehave_all(*state, CRI_VERSION);
}

static void test_lists(void **state)
{
	misbehave_all(*state, CRI_SANDBOXES);
	misbehave_all(*state, CRI_CONTAINERS);
}

static void test_status(void **state)
{
	misbehave_all(*state, CRI_STATUS);
}

static void test_image(void **state)
{
	misbehave_all(*state, CRI_IMAGE_STATUS);
}

static void test_refused(void **state)
{
	struct crisite *site = *state;
	struct source_state got;

	cripeer_add(&site->peer, 1, "web", 7);
	cripeer_listen(&site->peer);
	cripeer_die(&site->peer);
	site->deaf = true;
	crisite_open(site, NULL);
	crisite_await(site, SOURCE_DOWN);
	crisite_find(site, 1);
	assert_int_equal(crisite_done(site, 1, META_FAILED), 1);
	get_state(site, &got);
	assert_true(got.failures > 0 && got.retry_ns > 0);
	cripeer_listen(&site->peer);
	crisite_await_up(site);
	expect_back(site, 1);
	get_state(site, &got);
	assert_int_equal(got.failures, 0);
}

static void test_killed(void **state)
{
	struct crisite *site = *state;

	cripeer_add(&site->peer, 1, "web", 7);
	crisite_open(site, NULL);
	crisite_await_up(site);
	site->peer.act[CRI_CONTAINERS] = CRIPEER_SILENT;
	for (unsigned int i = 1; i <= 30; i++)
		crisite_find(site, i);
	while (site->peer.singly[CRI_CONTAINERS] < 4)
		asker_turn(site->asker);
	cripeer_die(&site->peer);
	while (site->done < 30)
		asker_turn(site->asker);
	asker_turn(site->asker);
	assert_int_equal(site->done, 30);
	site->peer.act[CRI_CONTAINERS] = CRIPEER_WELL;
	cripeer_add(&site->peer, 40, "web", 8);
	cripeer_listen(&site->peer);
	/* All is reported again without being asked for. */
	while (!crisite_has(site, 40))
		asker_turn(site->asker);
	expect_back(site, 1);
}

static void test_replaced(void **state)
{
	struct crisite *site = *state;
	struct cripeer other;

	crisite_open(site, NULL);
	crisite_await_up(site);
	cripeer_leave(&site->peer);
	cripeer_init(&other, site->asker->event, site->peer.path);
	cripeer_add(&other, 1, "web", 7);
	cripeer_listen(&other);
	/* Who was connected to answers still, but is not the runtime any more. */
	expect_back(site, 1);
	assert_true(other.accepted > 0);
	assert_int_equal(crisite_done(site, 1, META_FAILED), 0);
	site->cri = source_cri_free(site->cri);
	cripeer_done(&other);
}

/* libcurl may keep the end of some of them to itself: it depends on how the pieces fall. */
static void test_any_length(void **state)
{
	struct crisite *site = *state;

	site->timeout_ns = 2000 * ASKER_MS;
	for (unsigned int n = 5; n <= 400; n += 5) {
		for (unsigned int i = n - 4; i <= n; i++)
			cripeer_add(&site->peer, i, "web", i % 64);
		crisite_open(site, NULL);
		crisite_await_up(site);
		site->cri = source_cri_free(site->cri);
		/* Nobody had to begin again. */
		assert_int_equal(site->peer.asked[CRI_VERSION], n / 5);
	}
}

static void test_long(void **state)
{
	struct crisite *site = *state;

	cripeer_add(&site->peer, 1, "web", 7);
	site->peer.act[CRI_CONTAINERS] = CRIPEER_LONG;
	site->peer.padding = 10 * MB;
	crisite_open(site, NULL);
	crisite_await_up(site);
	assert_string_equal(crisite_get(site, 1)->name, "web");
	site->cri = source_cri_free(site->cri);
	/* A longer list is ignored; each look-up then queries its container alone. */
	site->peer.padding = 17 * MB;
	cripeer_add(&site->peer, 2, "web", 8);
	crisite_open(site, NULL);
	crisite_await_up(site);
	assert_false(crisite_has(site, 2));
	for (unsigned int i = 3; i <= 60; i++)
		cripeer_add(&site->peer, i, "web", 8);
	for (unsigned int i = 2; i <= 60; i++)
		crisite_find(site, i);
	while (site->done < 59)
		asker_turn(site->asker);
	for (unsigned int i = 2; i <= 60; i++)
		assert_int_equal(crisite_done(site, i, META_FOUND), 1);
}

static void test_mute(void **state)
{
	struct crisite *site = *state;
	struct source_state got;
	char id[META_ID_MAX];

	site->timeout_ns = 1000 * ASKER_MS;
	site->peer.mute = cripeer_id(1, id);
	crisite_open(site, NULL);
	crisite_await_up(site);
	cripeer_add(&site->peer, 1, "web", 7);
	cripeer_add(&site->peer, 2, "web", 7);
	crisite_find(site, 1);
	while (!crisite_done(site, 1, META_FOUND)) {
		unsigned int done = site->done;

		assert_int_equal(crisite_done(site, 1, META_FAILED), 0);
		crisite_find(site, 2);
		while (site->done == done)
			asker_turn(site->asker);
	}
	assert_string_equal(crisite_get(site, 1)->name, "web");
	assert_int_equal(crisite_done(site, 2, META_FAILED), 0);
	get_state(site, &got);
	assert_int_equal(got.status, SOURCE_UP);
}

static void await_stream(struct crisite *site, unsigned int nth)
{
	while (site->peer.asked[CRI_EVENTS] < nth || !site->peer.streams)
		asker_turn(site->asker);
}

static void expect_event(struct crisite *site, unsigned int number, enum cri_event_type type)
{
	char id[META_ID_MAX];

	cripeer_add(&site->peer, number, "web", 7);
	cripeer_tell(&site->peer, cripeer_id(number, id), type);
	while (!crisite_has(site, number))
		asker_turn(site->asker);
	assert_int_equal(site->done, 0);
}

static void test_events(void **state)
{
	static const char skipped[] = "\0\0\0\0\4\xff\xff\xff\xff";
	static const char *const endings[] = {"\xff not gRPC", "\0\xff\xff\xff\xffxyz"};
	struct crisite *site = *state;
	struct source_state got;
	unsigned int number = 1;

	site->peer.has_events = true;
	crisite_open(site, NULL);
	await_stream(site, 1);
	expect_event(site, number++, CRI_EVENT_CREATED);
	expect_event(site, number++, CRI_EVENT_STARTED);
	get_state(site, &got);
	assert_string_equal(got.text, "peer 1.0, CRI v1, with events");
	cripeer_tell_bytes(&site->peer, skipped, sizeof(skipped) - 1);
	expect_event(site, number++, CRI_EVENT_CREATED);
	assert_int_equal(site->peer.asked[CRI_EVENTS], 1);
	for (unsigned int i = 0; i < LEN(endings); i++) {
		cripeer_tell_bytes(&site->peer, endings[i], 8);
		await_stream(site, i + 2);
		expect_event(site, number++, CRI_EVENT_CREATED);
	}
}

static void test_flood(void **state)
{
	struct crisite *site = *state;
	unsigned int ticks;
	char id[META_ID_MAX];

	site->peer.has_events = true;
	crisite_open(site, NULL);
	await_stream(site, 1);
	ticks = site->asker->ticks;
	for (unsigned int i = 0; i < 40000; i++)
		cripeer_tell(&site->peer, cripeer_id(1 + i % 8000, id), CRI_EVENT_CREATED);
	cripeer_add(&site->peer, 8001, "web", 7);
	crisite_find(site, 8001);
	while (!site->done)
		asker_turn(site->asker);
	expect_back(site, 8001);
	while (site->asker->ticks == ticks)
		asker_turn(site->asker);
}

static void test_no_events(void **state)
{
	struct crisite *site = *state;

	cripeer_add(&site->peer, 1, "web", 7);
	crisite_open(site, NULL);
	while (!site->peer.asked[CRI_EVENTS])
		asker_turn(site->asker);
	crisite_expect(site, 1, META_FOUND);
	/* Longer than until a stream that ended is opened again. */
	while (site->asker->ticks < 150)
		asker_turn(site->asker);
	assert_int_equal(site->peer.asked[CRI_EVENTS], 1);
	/* It may have learnt to, when it is started again. */
	cripeer_die(&site->peer);
	site->peer.has_events = true;
	cripeer_listen(&site->peer);
	expect_back(site, 1);
	await_stream(site, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CRISITE("whatever is answered to the first question, names come back",
			test_version),
		CRISITE("whatever lists are answered with, names come back", test_lists),
		CRISITE("whatever is said of one container, names come back", test_status),
		CRISITE("whatever is said of an image, names come back", test_image),
		CRISITE("a refused connection is tried again, and look-ups fail meanwhile",
			test_refused),
		CRISITE("look-ups end once when the runtime is killed, and all is reported anew",
			test_killed),
		CRISITE("a socket that was replaced is connected to", test_replaced),
		CRISITE("a list comes whole whatever its length", test_any_length),
		CRISITE("10 MB are read, 17 MB are refused without giving up", test_long),
		CRISITE("one container's silence is not the runtime's", test_mute),
		CRISITE("what is created or started is reported, past events that make no sense",
			test_events),
		CRISITE("a flood of events delays no look-up", test_flood),
		CRISITE("a runtime without events is not asked for them again", test_no_events),
	};

	return cmocka_run_group_tests_name("io/sources/cri, hostile", tests, NULL, NULL);
}
