// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: what changes is noted, once, and what does not is not. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"

#define CG_LATE 77

/* How many observations of a type are kept now, of what changed. */
static size_t kept(struct world *w, enum obs_type type)
{
	struct obs_list list = {};
	size_t n = 0;

	engine_keep(w->engine, false, relay_keep, &list);
	for (size_t i = 0; i < list.n; i++)
		n += list.list[i].type == type;
	obs_list_free(&list);
	assert_false(engine_has_changed(w->engine));
	return n;
}

static void open_kept(struct world *w)
{
	const struct meta_pod pod = world_pod_a();

	world_open_pod(w, true);
	world_lists(w, SEC(12), &pod);
	assert_true(engine_has_changed(w->engine));
	assert_int_equal(kept(w, OBS_KEPT), 1);
}

static void test_polls(void **state)
{
	const struct meta_container main = world_main_a1();
	struct meta_pod pod = world_pod_a();
	const struct graced_counts counts = {.exits = 3};
	struct world w;

	open_kept(&w);
	world_say_container(&w, SEC(12), &main);
	assert_int_equal(kept(&w, OBS_CONTAINER), 1);
	for (uint64_t at = SEC(13); at < SEC(40); at += SEC(1)) {
		world_lists(&w, at, &pod);
		world_say_container(&w, at, &main);
		world_answer(&w, at, CG_A1, WORLD_UID_A, WORLD_ID_A1);
		world_counts(&w, at, CG_A1, true, &counts);
		world_timer(&w, at);
		assert_false(engine_has_changed(w.engine));
	}
	assert_int_equal(kept(&w, OBS_KEPT), 0);
	pod.phase = META_PHASE_RUNNING;
	world_lists(&w, SEC(41), &pod);
	assert_true(engine_has_changed(w.engine));
	assert_int_equal(kept(&w, OBS_KEPT_POD), 1);
	world_close(&w);
}

/* The lister of the pod says nothing new: the names' entry alone has changed. */
static void test_provided(void **state)
{
	struct meta_pod pod = {.source = META_CRI, .known = META_POD_PRIORITY, .priority = 7};
	struct world w;

	open_kept(&w);
	strcpy(pod.uid, WORLD_UID_A);
	world_say_pod(&w, SEC(13), &pod);
	assert_true(engine_has_changed(w.engine));
	assert_int_equal(kept(&w, OBS_KEPT_POD), 1);
	world_say_pod(&w, SEC(14), &pod);
	assert_false(engine_has_changed(w.engine));
	world_close(&w);
}

static void test_storm(void **state)
{
	struct world w;

	open_kept(&w);
	for (uint64_t i = 0; i < 5000; i++)
		world_from(&w, SEC(20) + i, CG_A1, &P_A1, 15, &P_SHELL);
	assert_int_equal(kept(&w, OBS_KEPT_STOP), 1);
	world_close(&w);
}

static void test_over(void **state)
{
	struct obs_list list = {};
	struct world w;

	open_kept(&w);
	world_stop_a1(&w, SEC(20));
	world_gone(&w, SEC(21), CG_A1, NULL);
	world_answer(&w, SEC(21), CG_A1, WORLD_UID_A, "");
	world_timer(&w, SEC(22));
	engine_keep(w.engine, false, relay_keep, &list);
	for (size_t i = 0; i < list.n; i++)
		if (list.list[i].type == OBS_KEPT_STOP) {
			assert_int_equal(list.list[i].kept_stop.id, CG_A1);
			assert_true(list.list[i].kept_stop.over);
		}
	obs_list_free(&list);
	world_close(&w);
}

/* Whether what changed by now has the stop of that cgroup as over. */
static bool is_over(struct world *w, uint64_t id)
{
	struct obs_list list = {};
	bool over = false;

	engine_keep(w->engine, false, relay_keep, &list);
	for (size_t i = 0; i < list.n; i++)
		over |= list.list[i].type == OBS_KEPT_STOP && list.list[i].kept_stop.id == id &&
			list.list[i].kept_stop.over;
	obs_list_free(&list);
	return over;
}

/* A signal to the init of a cgroup whose record was lost made it a container; its path shows that
 * it is none. */
static void test_no_container(void **state)
{
	struct world w;

	open_kept(&w);
	world_from(&w, SEC(20), CG_LATE, &P_D1, 15, &P_SHELL);
	assert_int_equal(kept(&w, OBS_KEPT_STOP), 1);
	world_found(&w, SEC(21), CG_LATE, "/user.slice/session-1.scope");
	assert_true(engine_has_changed(w.engine));
	assert_true(is_over(&w, CG_LATE));
	world_close(&w);
}

/* Whoever does not keep for long keeps all once. */
static void test_much(void **state)
{
	struct obs_list list = {};
	struct world w;

	open_kept(&w);
	for (uint64_t i = 0; i < 70000; i++) {
		world_made(&w, SEC(20), 1000 + i, CG_POD_A, WORLD_ID_D1);
		world_gone(&w, SEC(20), 1000 + i, NULL);
		world_clear(&w);
	}
	engine_keep(w.engine, false, relay_keep, &list);
	assert_int_equal(list.list[0].type, OBS_KEPT);
	assert_true(list.list[0].kept.all);
	assert_true(list.n < 100);
	obs_list_free(&list);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("polls that tell nothing new change nothing", test_polls),
		CLAIM("what a source newly provides about a pod is a change", test_provided),
		CLAIM("a storm of signals is one change", test_storm),
		CLAIM("what is over is kept as such", test_over),
		CLAIM("what was taken for a container and is none is kept as over",
		      test_no_container),
		CLAIM("more changes than are worth a list are all that there is", test_much),
	};

	return cmocka_run_group_tests_name("core/engine: what changes", tests, NULL, NULL);
}
