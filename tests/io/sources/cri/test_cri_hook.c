// SPDX-License-Identifier: Apache-2.0
/* Claims about preStop hooks that io/sources/cri runs before it requests a stop: each once, before
 * the stop, out of the container's own time, whatever becomes of the hook and of the runtime. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/cri/crisite.h"

#define CROWD	 300
#define EXEC	 "{\"exec\":{\"command\":[\"/bin/drain\",\"-q\"]}}"
#define SLEEP(s) "{\"sleep\":{\"seconds\":" s "}}"

/* What was reported, over all containers. */
static struct {
	struct crisite *site;
	unsigned int begun, ended, failed, not_run, done, done_failed;
	unsigned int stops_then; /* requested when the last hook ended */
	uint64_t tag;
	char name[SOURCE_CRI_HOOK_NAME_MAX], text[FETCH_TEXT_MAX];
} seen;

static void on_stopped(void *userdata, uint64_t tag, const char *error)
{
	seen.done++;
	seen.done_failed += error != NULL;
}

static void on_hook(void *userdata, uint64_t tag, enum source_cri_hook what, const char *name,
		    const char *text)
{
	assert_ptr_equal(userdata, &seen);
	seen.tag = tag;
	snprintf(seen.name, sizeof(seen.name), "%s", name);
	snprintf(seen.text, sizeof(seen.text), "%s", text ? text : "");
	print_message("# %d %s %s\n", (int)what, name, seen.text);
	switch (what) {
	case SOURCE_CRI_HOOK_BEGUN:
		seen.begun++;
		break;
	case SOURCE_CRI_HOOK_ENDED:
		seen.ended++;
		seen.failed += text != NULL;
		seen.stops_then = seen.site->peer.asked[CRI_STOP];
		break;
	case SOURCE_CRI_HOOK_NOT_RUN:
		seen.not_run++;
		assert_non_null(text);
	}
}

static int stop(struct crisite *site, unsigned int number, uint64_t timeout_s, uint64_t hook_s)
{
	char id[META_ID_MAX];
	const struct source_cri_stop wish = {.container_id = cripeer_id(number, id),
					     .timeout_s = timeout_s,
					     .hook_s = hook_s,
					     .tag = number,
					     .done = on_stopped,
					     .hook = on_hook,
					     .userdata = &seen};

	return source_cri_stop(site->cri, &wish);
}

static void open_with(struct crisite *site, unsigned int containers, const char *hook)
{
	memset(&seen, 0, sizeof(seen));
	seen.site = site;
	for (unsigned int i = 1; i <= containers; i++)
		cripeer_add(&site->peer, i, "web", i)->hook = hook;
	crisite_open(site, site->peer.path);
	crisite_await_up(site);
}

static void await(struct crisite *site, const unsigned int *what, unsigned int n)
{
	while (*what < n)
		asker_turn(site->asker);
	asker_turn(site->asker);
	assert_int_equal(*what, n);
}

static void test_order(void **state)
{
	struct crisite *site = *state;

	open_with(site, 1, EXEC);
	site->peer.holds_execs = true;
	assert_int_equal(stop(site, 1, 30, 30), 0);
	await(site, &site->peer.asked[CRI_EXEC], 1);
	for (int i = 0; i < 20; i++)
		asker_turn(site->asker);
	assert_int_equal(seen.begun, 1);
	assert_int_equal(seen.tag, 1);
	assert_string_equal(seen.name, "default/pod-1/web");
	assert_int_equal(site->peer.asked[CRI_STOP], 0);
	cripeer_release_execs(&site->peer);
	await(site, &seen.done, 1);
	assert_string_equal(site->peer.command, "/bin/drain|-q");
	assert_int_equal(seen.begun, 1);
	assert_int_equal(seen.ended, 1);
	assert_int_equal(seen.failed, 0);
	assert_int_equal(seen.stops_then, 0);
	assert_int_equal(site->peer.asked[CRI_STOP], 1);
	assert_int_equal(seen.done_failed, 0);
	assert_true(site->peer.timeout_s <= 30 && site->peer.timeout_s >= 2);
}

/* Without time for it, or without one, there is none. */
static void test_none(void **state)
{
	struct crisite *site = *state;

	open_with(site, 1, EXEC);
	assert_int_equal(stop(site, 1, 17, 0), 0);
	await(site, &seen.done, 1);
	assert_int_equal(site->peer.asked[CRI_EXEC], 0);
	assert_int_equal(site->peer.timeout_s, 17);
	site->peer.containers[0].hook = NULL;
	assert_int_equal(stop(site, 1, 17, 17), 0);
	await(site, &seen.done, 2);
	assert_int_equal(site->peer.asked[CRI_EXEC], 0);
	assert_int_equal(site->peer.timeout_s, 17);
	assert_int_equal(seen.not_run, 1);
	assert_int_equal(seen.begun, 0);
	/* One that has ended runs nothing, and that is no failure. */
	site->peer.containers[0].hook = EXEC;
	site->peer.containers[0].state = CRI_STATE_EXITED;
	assert_int_equal(stop(site, 1, 17, 17), 0);
	await(site, &seen.done, 3);
	assert_int_equal(site->peer.asked[CRI_EXEC], 0);
	assert_int_equal(seen.not_run, 1);
}

static void test_overrun(void **state)
{
	struct crisite *site = *state;

	open_with(site, 1, EXEC);
	site->peer.holds_execs = site->peer.holds_stops = true;
	assert_int_equal(stop(site, 1, 2, 1), 0);
	await(site, &site->peer.asked[CRI_STOP], 1);
	assert_int_equal(seen.ended, 1);
	assert_int_equal(seen.failed, 1);
	assert_non_null(strstr(seen.text, "still runs"));
	/* What it runs is not ended by a closed connection. */
	cripeer_release_execs(&site->peer);
	for (int i = 0; i < 20; i++)
		asker_turn(site->asker);
	assert_int_equal(seen.ended, 1);
	assert_int_equal(seen.done, 0);
	cripeer_release_stops(&site->peer);
	await(site, &seen.done, 1);
	assert_int_equal(site->peer.timeout_s, 2);
	assert_int_equal(seen.done_failed, 0);
}

/* Whole seconds of what it took are off the container's time. */
static void test_time(void **state)
{
	struct crisite *site = *state;
	uint64_t began_ns;

	open_with(site, 1, SLEEP("2"));
	began_ns = clock_boot_ns();
	assert_int_equal(stop(site, 1, 3600, 3600), 0);
	await(site, &seen.done, 1);
	assert_true(clock_boot_ns() - began_ns >= 2000 * ASKER_MS);
	assert_int_equal(seen.ended, 1);
	assert_int_equal(seen.failed, 0);
	assert_true(site->peer.timeout_s <= 3598);
	/* The least of 2 s is not the hook's. */
	site->peer.containers[0].hook = SLEEP("9");
	assert_int_equal(stop(site, 1, 2, 1), 0);
	await(site, &seen.done, 2);
	assert_int_equal(seen.failed, 1);
	assert_int_equal(site->peer.timeout_s, 2);
	assert_int_equal(site->peer.asked[CRI_EXEC], 0);
}

static void test_failing(void **state)
{
	struct crisite *site = *state;

	open_with(site, 1, EXEC);
	site->peer.code = 7;
	assert_int_equal(stop(site, 1, 30, 30), 0);
	await(site, &seen.done, 1);
	assert_int_equal(seen.failed, 1);
	assert_string_equal(seen.text, "exit code 7");
	assert_int_equal(seen.done_failed, 0);
	assert_int_equal(site->peer.asked[CRI_STOP], 1);
	/* More output than is taken in: how it ended is unknown. */
	site->peer.code = 0;
	site->peer.printed = 1 << 20;
	assert_int_equal(stop(site, 1, 30, 30), 0);
	await(site, &seen.done, 2);
	assert_int_equal(seen.failed, 2);
	assert_int_equal(seen.done_failed, 0);
}

/* One line for each kind that is not run; the stop has all of its time. */
static void test_not_run(void **state)
{
	static const struct {
		const char *hook, *text;
	} rows[] = {
		{"{\"httpGet\":{\"path\":\"/drain\",\"port\":80}}", "httpGet"},
		{"{\"tcpSocket\":{\"port\":80}}", "tcpSocket"},
		{"{\"exec\":{\"command\":[]}}", "no sense"},
		{"{", "no sense"},
		{"", "no sense"},
	};
	struct crisite *site = *state;

	open_with(site, 1, EXEC);
	for (unsigned int i = 0; i < LEN(rows); i++) {
		site->peer.containers[0].hook = rows[i].hook;
		assert_int_equal(stop(site, 1, 23, 23), 0);
		await(site, &seen.done, i + 1);
		assert_int_equal(seen.not_run, i + 1);
		assert_non_null(strstr(seen.text, rows[i].text));
		assert_int_equal(site->peer.timeout_s, 23);
	}
	assert_int_equal(seen.begun, 0);
	assert_int_equal(seen.done_failed, 0);
}

static void test_hostile(void **state)
{
	static const enum cripeer_act acts[] = {
		CRIPEER_CUT,	     CRIPEER_RESET,	 CRIPEER_NOISE, CRIPEER_ERROR,
		CRIPEER_NO_TRAILERS, CRIPEER_COMPRESSED, CRIPEER_SHORT, CRIPEER_TWICE,
		CRIPEER_EMPTY,	     CRIPEER_503,	 CRIPEER_LONG,	CRIPEER_GOAWAY,
		CRIPEER_NONSENSE,
	};
	struct crisite *site = *state;

	open_with(site, 1, EXEC);
	site->peer.status = GRPC_UNAVAILABLE;
	site->peer.padding = 1 << 20;
	for (unsigned int i = 0; i < LEN(acts); i++) {
		print_message("# act %d\n", acts[i]);
		site->peer.act[CRI_EXEC] = acts[i];
		assert_int_equal(stop(site, 1, 30, 30), 0);
		await(site, &seen.done, i + 1);
		assert_int_equal(seen.begun, i + 1);
		assert_int_equal(seen.failed, i + 1);
		crisite_expect(site, 1, META_FOUND);
	}
	assert_int_equal(seen.done_failed, 0);
}

/* The question which hook there is takes a second at most. */
static void test_silent(void **state)
{
	struct crisite *site = *state;

	open_with(site, 1, EXEC);
	site->peer.mute = site->peer.containers[0].id;
	assert_int_equal(stop(site, 1, 30, 30), 0);
	await(site, &seen.done, 1);
	assert_int_equal(seen.not_run, 1);
	assert_int_equal(seen.begun, 0);
	assert_int_equal(seen.done_failed, 0);
}

static void test_crowd(void **state)
{
	struct crisite *site = *state;

	open_with(site, CROWD, EXEC);
	site->peer.holds_execs = true;
	/* A peer on a busy machine names the hooks of a few in the second that it has for it. */
	for (unsigned int i = 1; i <= CROWD; i++) {
		assert_int_equal(stop(site, i, 3600, 3600), 0);
		if (i % 10 == 0)
			await(site, &site->peer.asked[CRI_EXEC], i);
	}
	crisite_expect(site, 5, META_FOUND);
	assert_int_equal(seen.done, 0);
	cripeer_release_execs(&site->peer);
	await(site, &seen.done, CROWD);
	assert_int_equal(seen.begun, CROWD);
	assert_int_equal(seen.ended, CROWD);
	assert_int_equal(seen.failed, 0);
	assert_int_equal(seen.done_failed, 0);
	assert_int_equal(site->peer.asked[CRI_STOP], CROWD);
}

static void test_death(void **state)
{
	struct crisite *site = *state;

	open_with(site, 40, EXEC);
	site->peer.holds_execs = true;
	for (unsigned int i = 1; i <= 40; i++)
		assert_int_equal(stop(site, i, 3600, 3600), 0);
	await(site, &site->peer.asked[CRI_EXEC], 40);
	cripeer_die(&site->peer);
	await(site, &seen.done, 40);
	assert_int_equal(seen.failed, 40);
	assert_int_equal(seen.done_failed, 40);
}

/* As after a shutdown that was cancelled, and begun again. */
static void test_again(void **state)
{
	struct crisite *site = *state;

	open_with(site, 1, EXEC);
	site->peer.holds_execs = true;
	assert_int_equal(stop(site, 1, 3600, 3600), 0);
	/* Before it was begun. */
	assert_int_equal(stop(site, 1, 3600, 3600), 0);
	await(site, &seen.begun, 1);
	assert_int_equal(stop(site, 1, 1800, 1800), 0);
	assert_int_equal(seen.begun, 2);
	await(site, &site->peer.asked[CRI_EXEC], 1);
	site->peer.holds_stops = true;
	cripeer_release_execs(&site->peer);
	await(site, &site->peer.asked[CRI_STOP], 1);
	assert_int_equal(seen.ended, 1);
	/* Its stop has begun: a hook would come after the stop signal. */
	assert_int_equal(stop(site, 1, 60, 60), 0);
	await(site, &site->peer.asked[CRI_STOP], 2);
	cripeer_release_stops(&site->peer);
	await(site, &seen.done, 2);
	assert_int_equal(site->peer.asked[CRI_EXEC], 1);
	assert_int_equal(seen.begun, 2);
	assert_int_equal(seen.ended, 1);
}

/* The runtime's answer which hook there is comes after the second request. */
static void test_no_time_left(void **state)
{
	struct crisite *site = *state;

	open_with(site, 1, EXEC);
	assert_int_equal(stop(site, 1, 30, 30), 0);
	while (site->peer.asked[CRI_STATUS] == 0)
		asker_turn(site->asker);
	assert_int_equal(stop(site, 1, 2, 0), 0);
	assert_int_equal(seen.begun, 0);
	await(site, &seen.done, 1);
	assert_int_equal(seen.begun, 0);
	assert_int_equal(site->peer.asked[CRI_EXEC], 0);
	assert_int_equal(site->peer.timeout_s, 2);
}

/* The second shutdown leaves it less time. */
static void test_shortened(void **state)
{
	static const char *const hooks[] = {EXEC, SLEEP("3000")};

	for (unsigned int i = 0; i < LEN(hooks); i++) {
		struct crisite *site = *state;

		if (i == 0)
			open_with(site, 2, hooks[0]);
		site->peer.containers[i].hook = hooks[i];
		site->peer.holds_execs = true;
		assert_int_equal(stop(site, i + 1, 3600, 3600), 0);
		await(site, &seen.begun, 2 * i + 1);
		assert_int_equal(stop(site, i + 1, 2, 1), 0);
		await(site, &seen.done, i + 1);
		assert_int_equal(seen.ended, i + 1);
		assert_int_equal(seen.failed, i + 1);
		assert_int_equal(site->peer.timeout_s, 2);
	}
}

static void test_freed(void **state)
{
	struct crisite *site = *state;

	open_with(site, 9, EXEC);
	site->peer.containers[8].hook = SLEEP("1");
	site->peer.holds_execs = true;
	for (unsigned int i = 1; i <= 9; i++)
		assert_int_equal(stop(site, i, 3600, 3600), 0);
	await(site, &seen.begun, 9);
	site->cri = source_cri_free(site->cri);
	for (int i = 0; i < 100; i++)
		asker_turn(site->asker);
	assert_int_equal(seen.ended, 0);
	assert_int_equal(seen.done, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CRISITE("a hook ends before its container's stop is requested", test_order),
		CRISITE("no hook is run where there is none, or no time, or no process", test_none),
		CRISITE("a hook that takes longer is left running, and the container is stopped",
			test_overrun),
		CRISITE("the seconds that a hook takes are off the container's time", test_time),
		CRISITE("a hook that fails does not keep its container from being stopped",
			test_failing),
		CRISITE("hooks of other kinds are not run, and each is reported", test_not_run),
		CRISITE("each answer that makes no sense fails that hook alone, once",
			test_hostile),
		CRISITE("a runtime that does not name the hook is not waited for", test_silent),
		CRISITE("300 hooks run at once, and look-ups are answered meanwhile", test_crowd),
		CRISITE("a runtime that dies ends all hooks and stops at once", test_death),
		CRISITE("a container that is stopped again runs its hook once", test_again),
		CRISITE("a second request shortens the hook of the first", test_shortened),
		CRISITE("a second request that leaves the hook no time keeps it from being run",
			test_no_time_left),
		CRISITE("what runs is reported no more once it is freed", test_freed),
	};

	return cmocka_run_group_tests_name("io/sources/cri/stop: hooks", tests, NULL, NULL);
}
