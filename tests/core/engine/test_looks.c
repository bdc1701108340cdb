// SPDX-License-Identifier: Apache-2.0
// A stop that goes on is looked at; what lives is listed, and what it waits for.
#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world.h"
#include "lib/engine/world_meta.h"
#include "lib/engine/world_pods.h"

#include <string.h>

#define ASKED SEC(20)

static const struct engine_config assumed = {.scope = SCOPE_CONTAINERS,
					     .assumed_grace_ns = SEC(10)};

static void ask(struct world *w, const struct engine_config *config)
{
	world_open(w, config);
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_managed(w, ASKED, CG_A1, &P_A1, 15);
}

static void see(struct world *w, uint64_t at, const struct graced_proc *proc, uint32_t parent,
		enum look_call call)
{
	world_tell(w, &(struct obs){.type = OBS_LOOK,
				    .at_ns = at,
				    .look = {.id = CG_A1,
					     .begin_ns = at,
					     .proc = *proc,
					     .parent_pid = parent,
					     .state = 'S',
					     .call = call,
					     .caught = 1 << 14,
					     .waits = call != LOOK_CALL_NONE}});
}

static void end_look(struct world *w, uint64_t at, bool waits)
{
	world_tell(w, &(struct obs){.type = OBS_LOOKED,
				    .at_ns = at,
				    .looked = {.id = CG_A1, .begin_ns = at, .waits = waits}});
}

static void finish(struct world *w, uint64_t at)
{
	world_exit(w, at, CG_A1, &P_A1, 9);
	world_empty(w, at + MSEC(1), CG_A1);
	world_names(w, at + MSEC(2), WORLD_UID_A, WORLD_ID_A1, "shop", "web-0", "app", true);
}

static void test_when(void **state)
{
	static const struct {
		uint64_t at;
		size_t looks; /* by then */
	} want[] = {{ASKED + SEC(5) - 1, 1},
		    {ASKED + SEC(5), 2},
		    {ASKED + SEC(6), 2},
		    {ASKED + SEC(9), 3},
		    {ASKED + SEC(10), 3}};
	struct world w;

	ask(&w, &assumed);
	assert_int_equal(world_effects(&w, EFFECT_LOOK), 1);
	assert_false(world_effect(&w, EFFECT_LOOK)->waits);
	assert_int_equal(world_effect(&w, EFFECT_LOOK)->pid, P_A1.pid);
	for (size_t i = 0; i < LEN(want); i++) {
		world_timer(&w, want[i].at);
		assert_int_equal(world_effects(&w, EFFECT_LOOK), want[i].looks);
	}
	world_managed(&w, ASKED + SEC(10), CG_A1, &P_A1, 9);
	world_timer(&w, ASKED + SEC(11));
	assert_int_equal(world_effects(&w, EFFECT_LOOK), 4);
	world_timer(&w, ASKED + SEC(30));
	assert_int_equal(world_effects(&w, EFFECT_LOOK), 4);
	world_close(&w);
}

/* One look for all that were due, and none for a request that has lapsed. */
static void test_late(void **state)
{
	struct world w;

	ask(&w, &assumed);
	world_timer(&w, ASKED + SEC(9) + 1);
	world_timer(&w, ASKED + SEC(9) + 2);
	assert_int_equal(world_effects(&w, EFFECT_LOOK), 2);
	world_timer(&w, ASKED + SEC(80));
	assert_int_equal(world_effects(&w, EFFECT_LOOK), 2);
	world_close(&w);
	ask(&w, &assumed);
	world_timer(&w, ASKED + SEC(80));
	assert_int_equal(world_effects(&w, EFFECT_LOOK), 1);
	world_close(&w);
}

/* It was looked at after 2 s, as nothing was known; then its pod has 30 s. */
static void test_grace_late(void **state)
{
	struct meta_container main = world_main_a1();
	struct meta_pod pod = world_pod_deleted(ASKED, SEC(30));
	struct world w;

	ask(&w, NULL);
	world_timer(&w, ASKED + SEC(2));
	assert_int_equal(world_effects(&w, EFFECT_LOOK), 2);
	world_say_pod(&w, ASKED + SEC(3), &pod);
	world_say_container(&w, ASKED + SEC(3), &main);
	world_answer(&w, ASKED + SEC(3), CG_A1, WORLD_UID_A, WORLD_ID_A1);
	world_timer(&w, ASKED + SEC(15) - 1);
	assert_int_equal(world_effects(&w, EFFECT_LOOK), 2);
	world_timer(&w, ASKED + SEC(15));
	assert_int_equal(world_effects(&w, EFFECT_LOOK), 3);
	world_timer(&w, ASKED + SEC(27));
	assert_int_equal(world_effects(&w, EFFECT_LOOK), 4);
	world_close(&w);
}

/* Init is moved to another cgroup, or there is another engine, 6 s after the request. */
static void test_goes_on(void **state)
{
	for (int restarts = 0; restarts < 2; restarts++) {
		const struct effect *look;
		struct obs_list kept = {};
		struct world w;

		ask(&w, &assumed);
		if (restarts) {
			engine_keep(w.engine, true, relay_keep, &kept);
			world_close(&w);
			world_open_bare(&w, &assumed);
			for (size_t i = 0; i < kept.n; i++)
				world_tell(&w, &kept.list[i]);
			obs_list_free(&kept);
			world_found(&w, ASKED + SEC(6), CG_POD_A,
				    "/kubepods/burstable/pod" WORLD_UID_A);
			world_found(&w, ASKED + SEC(6), CG_A1,
				    "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
			world_init(&w, ASKED + SEC(6), CG_A1, &P_A1);
			world_attach(&w, ASKED + SEC(6));
		} else {
			world_clear(&w);
			world_tell(&w, &(struct obs){.type = OBS_CGROUP_EMPTY,
						     .at_ns = ASKED + SEC(6),
						     .empty = {.id = CG_A1, .left_pid = P_A1.pid}});
			world_init(&w, ASKED + SEC(6), CG_A2, &P_A1);
		}
		world_timer(&w, ASKED + SEC(9));
		look = world_effect(&w, EFFECT_LOOK);
		assert_non_null(look);
		assert_true(look->waits);
		assert_int_equal(look->id, restarts ? CG_A1 : CG_A2);
		assert_int_equal(look->pid, P_A1.pid);
		world_close(&w);
	}
}

static void test_listed(void **state)
{
	const struct record_stop *stop;
	struct world w;

	ask(&w, &assumed);
	see(&w, ASKED + 1, &P_A1, 1, LOOK_CALL_NONE);
	see(&w, ASKED + 2, &P_A1_CHILD, P_A1.pid, LOOK_CALL_NONE);
	end_look(&w, ASKED + 3, false);
	see(&w, ASKED + SEC(5), &P_A1, 1, LOOK_CALL_CHILD);
	see(&w, ASKED + SEC(5), &P_A1_CHILD, P_A1.pid, LOOK_CALL_SLEEP);
	end_look(&w, ASKED + SEC(5), true);
	finish(&w, ASKED + SEC(7));
	stop = &world_record(&w, RECORD_STOP, 0)->stop;
	assert_int_equal(stop->n_processes, 2);
	assert_int_equal(stop->looks, 1);
	assert_int_equal(stop->n_waited_for, 2);
	/* The cgroup is empty, and the child has not ended there. */
	assert_int_equal(stop->processes_gaps, 1u << LIST_GAP_LEFT);
	/* Nothing of it is left for the next life. */
	world_init(&w, ASKED + SEC(8), CG_A1, &P_A2);
	see(&w, ASKED + SEC(9), &P_A2, 1, LOOK_CALL_SLEEP);
	end_look(&w, ASKED + SEC(9), true);
	world_exit(&w, ASKED + SEC(10), CG_A1, &P_A2, 0);
	world_empty(&w, ASKED + SEC(10) + 1, CG_A1);
	assert_int_equal(world_record(&w, RECORD_STOP, 1)->stop.looks, 0);
	world_close(&w);
}

/* Its answers come when another request is open, or are of before the kill. */
static void test_overtaken(void **state)
{
	const struct record_stop *stop;
	struct world w;

	ask(&w, &assumed);
	world_tell(&w,
		   &(struct obs){.type = OBS_LOOKED,
				 .at_ns = ASKED + SEC(1),
				 .looked = {.id = CG_A1, .begin_ns = ASKED - 1, .waits = true}});
	world_managed(&w, ASKED + SEC(2), CG_A1, &P_A1, 9);
	see(&w, ASKED + SEC(1), &P_A1, 1, LOOK_CALL_SLEEP);
	end_look(&w, ASKED + SEC(1), true);
	finish(&w, ASKED + SEC(3));
	stop = &world_record(&w, RECORD_STOP, 0)->stop;
	assert_int_equal(stop->looks, 1);
	assert_int_equal(stop->n_waited_for, 1);
	world_close(&w);
}

static void test_helpers(void **state)
{
	static const char *const names[] = {"tail", "nginx", NULL};
	struct engine_config config = assumed;

	for (int helper = 0; helper < 2; helper++) {
		const struct record_stop *stop;
		struct world w;

		config.helpers = helper ? names : NULL;
		ask(&w, &config);
		world_tell(&w, &(struct obs){.type = OBS_EXIT,
					     .at_ns = ASKED + SEC(1),
					     .exit = {.id = CG_A1,
						      .proc = P_A1_CHILD,
						      .parent_pid = P_A1.pid,
						      .status = 9}});
		finish(&w, ASKED + SEC(2));
		stop = &world_record(&w, RECORD_STOP, 0)->stop;
		assert_int_equal(stop->cut, !helper);
		assert_int_equal(stop->processes[1].helper, helper);
		world_close(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a stop is looked at when it is asked for, twice until its grace period is "
		      "over, and once after its kill",
		      test_when),
		CLAIM("a timer that is late looks once", test_late),
		CLAIM("a grace period that becomes known late sets the looks that are left",
		      test_grace_late),
		CLAIM("a stop that is moved, or outlives graced, is looked at again", test_goes_on),
		CLAIM("what a look finds is of that stop", test_listed),
		CLAIM("what a look finds is of when it began", test_overtaken),
		CLAIM("a helper is listed, and not cut", test_helpers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
