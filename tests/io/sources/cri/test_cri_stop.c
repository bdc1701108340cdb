// SPDX-License-Identifier: Apache-2.0
/* Claims about stops that io/sources/cri requests of a runtime: hundreds at once, each ended once,
 * whatever becomes of the runtime and of the other requests. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/cri/crisite.h"

#define CROWD 300

/* What was reported of the stops, by their containers' numbers. */
static struct {
	unsigned int done, failed, each[SOURCE_CRI_STOPS_MAX + 1];
	char error[FETCH_TEXT_MAX];
} seen;

static void on_stopped(void *userdata, uint64_t tag, const char *error)
{
	assert_ptr_equal(userdata, &seen);
	assert_true(tag < LEN(seen.each));
	seen.done++;
	seen.each[tag]++;
	seen.failed += error != NULL;
	if (error) {
		assert_true(error[0]);
		snprintf(seen.error, sizeof(seen.error), "%s", error);
	}
}

static int stop(struct crisite *site, unsigned int number, uint64_t timeout_s)
{
	char id[META_ID_MAX];
	const struct source_cri_stop wish = {.container_id = cripeer_id(number, id),
					     .timeout_s = timeout_s,
					     .tag = number,
					     .done = on_stopped,
					     .userdata = &seen};

	return source_cri_stop(site->cri, &wish);
}

static void open_with(struct crisite *site, unsigned int containers)
{
	memset(&seen, 0, sizeof(seen));
	for (unsigned int i = 1; i <= containers; i++)
		cripeer_add(&site->peer, i, "web", i);
	crisite_open(site, site->peer.path);
	crisite_await_up(site);
}

static void await_done(struct crisite *site, unsigned int n)
{
	while (seen.done < n)
		asker_turn(site->asker);
	asker_turn(site->asker);
	assert_int_equal(seen.done, n);
}

static void await_asked(struct crisite *site, unsigned int n)
{
	while (site->peer.asked[CRI_STOP] < n)
		asker_turn(site->asker);
}

static void test_one(void **state)
{
	struct crisite *site = *state;

	open_with(site, 1);
	assert_int_equal(stop(site, 1, 30), 0);
	assert_int_equal(seen.done, 0);
	await_done(site, 1);
	assert_int_equal(seen.failed, 0);
	assert_int_equal(site->peer.asked[CRI_STOP], 1);
	/* The runtime does not know it. */
	assert_int_equal(stop(site, 7, 30), 0);
	await_done(site, 2);
	assert_int_equal(seen.failed, 1);
	assert_non_null(strstr(seen.error, "so it"));
}

static void test_crowd(void **state)
{
	struct crisite *site = *state;

	open_with(site, CROWD);
	site->peer.holds_stops = true;
	for (unsigned int i = 1; i <= CROWD; i++)
		assert_int_equal(stop(site, i, 30), 0);
	await_asked(site, CROWD);
	assert_int_equal(seen.done, 0);
	crisite_expect(site, 5, META_FOUND);
	assert_int_equal(seen.done, 0);
	cripeer_release_stops(&site->peer);
	await_done(site, CROWD);
	for (unsigned int i = 1; i <= CROWD; i++)
		assert_int_equal(seen.each[i], 1);
	assert_int_equal(seen.failed, 0);
	crisite_expect(site, 6, META_FOUND);
}

static void test_too_many(void **state)
{
	struct crisite *site = *state;

	open_with(site, 1);
	for (unsigned int i = 0; i < SOURCE_CRI_STOPS_MAX; i++)
		assert_int_equal(stop(site, 1, 30), 0);
	assert_int_equal(stop(site, 1, 30), -ENOBUFS);
	/* None is begun before the loop turns, and none is reported once they are freed. */
	site->cri = source_cri_free(site->cri);
	for (int i = 0; i < 5; i++)
		asker_turn(site->asker);
	assert_int_equal(seen.done, 0);
	assert_int_equal(site->peer.asked[CRI_STOP], 0);
}

static void test_death(void **state)
{
	struct crisite *site = *state;

	open_with(site, 40);
	site->peer.holds_stops = true;
	for (unsigned int i = 1; i <= 40; i++)
		assert_int_equal(stop(site, i, 3600), 0);
	await_asked(site, 40);
	cripeer_die(&site->peer);
	await_done(site, 40);
	assert_int_equal(seen.failed, 40);
	crisite_await(site, SOURCE_DOWN);
	assert_int_equal(stop(site, 1, 30), -ENOTCONN);
	site->peer.holds_stops = false;
	cripeer_listen(&site->peer);
	crisite_await_up(site);
	assert_int_equal(stop(site, 1, 30), 0);
	await_done(site, 41);
	assert_int_equal(seen.failed, 40);
}

static void test_other_requests_fail(void **state)
{
	struct crisite *site = *state;

	site->timeout_ns = 200 * ASKER_MS;
	open_with(site, 3);
	site->peer.holds_stops = true;
	for (unsigned int i = 1; i <= 3; i++)
		assert_int_equal(stop(site, i, 30), 0);
	await_asked(site, 3);
	site->peer.act[CRI_CONTAINERS] = CRIPEER_SILENT;
	crisite_find(site, 1);
	crisite_await(site, SOURCE_DOWN);
	site->peer.act[CRI_CONTAINERS] = CRIPEER_WELL;
	crisite_await_up(site);
	assert_int_equal(seen.done, 0);
	cripeer_release_stops(&site->peer);
	await_done(site, 3);
	assert_int_equal(seen.failed, 0);
}

static void test_hostile(void **state)
{
	/* One that never answers is waited for; the last two do not end by themselves soon. */
	static const enum cripeer_act acts[] = {
		CRIPEER_CUT,	     CRIPEER_RESET,	 CRIPEER_NOISE, CRIPEER_ERROR,
		CRIPEER_NO_TRAILERS, CRIPEER_COMPRESSED, CRIPEER_SHORT, CRIPEER_TWICE,
		CRIPEER_EMPTY,	     CRIPEER_503,	 CRIPEER_LONG,	CRIPEER_GOAWAY,
	};
	struct crisite *site = *state;

	open_with(site, 1);
	site->peer.status = GRPC_UNAVAILABLE;
	site->peer.padding = 1 << 20;
	for (unsigned int i = 0; i < LEN(acts); i++) {
		print_message("# act %d\n", acts[i]);
		site->peer.act[CRI_STOP] = acts[i];
		assert_int_equal(stop(site, 1, 30), 0);
		await_done(site, i + 1);
		assert_int_equal(seen.failed, i + 1);
		/* It speaks against that stop alone. */
		crisite_expect(site, 1, META_FOUND);
	}
	/* The answer has no fields, and those that it does not have are not read. */
	site->peer.act[CRI_STOP] = CRIPEER_NONSENSE;
	assert_int_equal(stop(site, 1, 30), 0);
	await_done(site, LEN(acts) + 1);
	assert_int_equal(seen.failed, LEN(acts));
	site->peer.act[CRI_STOP] = CRIPEER_SILENT;
	assert_int_equal(stop(site, 1, 30), 0);
	await_asked(site, LEN(acts) + 2);
	assert_int_equal(seen.done, LEN(acts) + 1);
}

static void test_sandbox(void **state)
{
	struct crisite *site = *state;
	char id[META_ID_MAX];
	/* What is only for containers is not used. */
	struct source_cri_stop wish = {.container_id = cripeer_id(2, id),
				       .sandbox = true,
				       .timeout_s = 30,
				       .hook_s = 30,
				       .tag = 2,
				       .done = on_stopped,
				       .userdata = &seen};

	cripeer_add(&site->peer, 2, "", 1);
	open_with(site, 1);
	assert_int_equal(source_cri_stop(site->cri, &wish), 0);
	await_done(site, 1);
	assert_int_equal(seen.failed, 0);
	assert_int_equal(site->peer.asked[CRI_STOP_SANDBOX], 1);
	assert_int_equal(site->peer.asked[CRI_STOP], 0);
	wish.container_id = cripeer_id(3, id);
	assert_int_equal(source_cri_stop(site->cri, &wish), 0);
	await_done(site, 2);
	assert_int_equal(seen.failed, 1);
	/* One that never answers is given up. */
	site->peer.act[CRI_STOP_SANDBOX] = CRIPEER_SILENT;
	assert_int_equal(source_cri_stop(site->cri, &wish), 0);
	cripeer_die(&site->peer);
	await_done(site, 3);
	assert_int_equal(seen.failed, 2);
	assert_int_equal(site->peer.asked[CRI_STOP], 0);
}

static void test_refused(void **state)
{
	static const char *const ids[] = {"", "a/b", "a b", "../x", "a\n"};
	struct crisite *site = *state;
	struct source_cri_stop wish = {.done = on_stopped, .userdata = &seen};
	char id[META_ID_MAX + 1];

	open_with(site, 1);
	for (size_t i = 0; i < LEN(ids); i++) {
		wish.container_id = ids[i];
		assert_int_equal(source_cri_stop(site->cri, &wish), -EINVAL);
	}
	memset(id, 'a', sizeof(id));
	id[META_ID_MAX] = 0;
	wish.container_id = id;
	assert_int_equal(source_cri_stop(site->cri, &wish), -EINVAL);
	assert_int_equal(seen.done, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CRISITE("a stop is requested, and its end is reported once", test_one),
		CRISITE("300 stops last at once, and look-ups are answered meanwhile", test_crowd),
		CRISITE("more stops than the bound are refused, and none is reported when it is "
			"freed",
			test_too_many),
		CRISITE("a runtime that dies ends all stops at once; it takes new ones when it is "
			"back",
			test_death),
		CRISITE("a stop goes on when other requests fail", test_other_requests_fail),
		CRISITE("each answer that makes no sense fails that stop alone, once",
			test_hostile),
		CRISITE("a sandbox is stopped as one", test_sandbox),
		CRISITE("an invalid ID is refused", test_refused),
	};

	return cmocka_run_group_tests_name("io/sources/cri/stop", tests, NULL, NULL);
}
