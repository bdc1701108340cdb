// SPDX-License-Identifier: Apache-2.0
/* Claims about an engine that comes to a shutdown in which an earlier one has seen pods end: what
 * it knows of them, and that their last status is written. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"
#include "lib/shutdown/shutworld.h"

#define BACK (ASKED + SEC(4))

static void plan(struct world *w, uint64_t at, bool statuses)
{
	shutworld_set_plan(w, at,
			   &(struct obs_shutdown_plan){.mode = SHUTDOWN_MANAGE,
						       .statuses = statuses,
						       .stops_kubelet = true});
}

/* Pod A runs, and a shutdown that mode manage drives has begun. */
static void begin(struct world *w, bool statuses, struct obs_list *kept)
{
	struct meta_container main = world_main_a1();
	struct meta_pod pod = world_pod_a();

	world_open_pod(w, true);
	world_say_sandbox(w, SEC(12));
	world_say_container(w, SEC(12), &main);
	world_lists(w, SEC(12), &pod);
	plan(w, SEC(20), statuses);
	shutworld_tell(w, SEC(20), SHUTDOWN_EV_LOGIND_UP);
	shutworld_tell(w, SEC(20), SHUTDOWN_EV_LOCK_TAKEN);
	engine_keep(w->engine, true, relay_keep, kept);
	shutworld_announce(w);
	shutworld_tell(w, ASKED, SHUTDOWN_EV_UNITS_STOPPED);
}

/* A1 is stopped, and ends so. */
static void end_a1(struct world *w, uint32_t status)
{
	world_managed(w, ASKED, CG_A1, &P_A1, 15);
	world_exit(w, ASKED + MSEC(1), CG_A1, &P_A1, status);
	world_empty(w, ASKED + MSEC(2), CG_A1);
	world_timer(w, ASKED + MSEC(600));
	world_gone(w, ASKED + MSEC(700), CG_A1, NULL);
}

static void announce(struct world *w, uint64_t announced_ns)
{
	const struct obs announced = {.type = OBS_SHUTDOWN,
				      .at_ns = BACK,
				      .shutdown = {.event = SHUTDOWN_EV_ANNOUNCED,
						   .announced_ns = announced_ns,
						   .limit_ns = LIMIT}};

	plan(w, BACK, true);
	shutworld_tell(w, BACK, SHUTDOWN_EV_LOCK_TAKEN);
	assert_int_equal(world_tell(w, &announced), 0);
}

/* Another engine comes: the pod's own cgroup is all that is there. */
static void come_back(struct world *w, struct obs_list *kept)
{
	engine_keep(w->engine, false, relay_keep, kept);
	world_close(w);
	world_open_bare(w, &WORLD_ALL);
	for (size_t i = 0; i < kept->n; i++)
		world_tell(w, &kept->list[i]);
	obs_list_free(kept);
	world_found(w, BACK, CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
}

static void restart(struct world *w, struct obs_list *kept, uint64_t announced_ns)
{
	come_back(w, kept);
	world_attach(w, BACK);
	announce(w, announced_ns);
}

static void test_ended(void **state)
{
	struct kubelet_ending ending;
	struct obs_list kept = {};
	struct world w;

	begin(&w, true, &kept);
	end_a1(&w, EXIT(0));
	restart(&w, &kept, ANNOUNCED);
	assert_int_equal(world_effects(&w, EFFECT_STOP_UNITS), 1);
	assert_int_equal(world_effects(&w, EFFECT_WRITE_STATUS), 0);
	assert_int_equal(world_effects(&w, EFFECT_FLUSH), 0);
	shutworld_tell(&w, BACK + MSEC(10), SHUTDOWN_EV_UNITS_STOPPED);
	assert_int_equal(world_effects(&w, EFFECT_WRITE_STATUS), 1);
	assert_string_equal(world_effect(&w, EFFECT_WRITE_STATUS)->pod_uid, WORLD_UID_A);
	assert_int_equal(world_effects(&w, EFFECT_FLUSH), 0);
	assert_true(engine_get_ending(w.engine, WORLD_UID_A, &ending));
	assert_string_equal(ending.name, "web-0");
	assert_int_equal(ending.n_exits, 1);
	assert_string_equal(ending.exits[0].id, WORLD_ID_A1);
	assert_string_equal(ending.exits[0].name, "main");
	assert_int_equal(ending.exits[0].code, 0);
	assert_true(ending.exits[0].finished_wall_ns != 0);
	world_close(&w);
}

/* It was stopped, and ended while no engine ran: how is not known, and not guessed. */
static void test_ended_between(void **state)
{
	struct kubelet_ending ending;
	struct obs_list kept = {};
	struct world w;

	begin(&w, true, &kept);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	restart(&w, &kept, ANNOUNCED);
	shutworld_tell(&w, BACK + MSEC(10), SHUTDOWN_EV_UNITS_STOPPED);
	shutworld_pass(&w, BACK + SEC(5));
	assert_int_equal(world_effects(&w, EFFECT_WRITE_STATUS), 1);
	assert_true(engine_get_ending(w.engine, WORLD_UID_A, &ending));
	assert_int_equal(ending.n_exits, 0);
	world_close(&w);
}

/* Of one of them the verdict waits for the runtime's answer. */
static void test_gone_meanwhile(void **state)
{
	struct obs_list kept = {};
	struct world w;

	begin(&w, true, &kept);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	come_back(&w, &kept);
	announce(&w, ANNOUNCED);
	assert_int_equal(shutworld_status(&w).containers, 4);
	world_attach(&w, BACK);
	assert_int_equal(shutworld_status(&w).containers, 0);
	world_close(&w);
}

/* What is saved belongs to that shutdown. */
static void test_other(void **state)
{
	struct obs_list kept = {};
	struct world w;

	begin(&w, true, &kept);
	end_a1(&w, EXIT(0));
	restart(&w, &kept, ANNOUNCED + SEC(2));
	shutworld_tell(&w, BACK + MSEC(10), SHUTDOWN_EV_UNITS_STOPPED);
	shutworld_pass(&w, BACK + SEC(5));
	assert_int_equal(world_effects(&w, EFFECT_WRITE_STATUS), 0);
	world_close(&w);
}

static void test_not_saved(void **state)
{
	struct obs_list kept = {};
	struct world w;

	begin(&w, false, &kept);
	end_a1(&w, EXIT(0));
	engine_keep(w.engine, true, relay_keep, &kept);
	for (size_t i = 0; i < kept.n; i++) {
		assert_int_not_equal(kept.list[i].type, OBS_KEPT_EXIT);
		assert_false(kept.list[i].type == OBS_KEPT_POD &&
			     kept.list[i].kept_pod.seen_in_shutdown);
	}
	obs_list_free(&kept);
	world_close(&w);
}

static void test_hostile(void **state)
{
	static const struct kept_exit good = {.id = WORLD_ID_A1, .pod_uid = WORLD_UID_A};
	struct kept_exit rows[] = {good, good, good, good, good};

	rows[0].id[0] = '\0';
	rows[1].pod_uid[0] = '\0';
	rows[2].runtime = 1000;
	rows[3].qos = 1000;
	rows[4].differs = ~0U;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct obs head = {.type = OBS_KEPT, .kept = {.version = KEPT_VERSION}};
		struct obs obs = {.type = OBS_KEPT_EXIT, .kept_exit = rows[i]};
		struct engine_stats stats;
		struct world w;

		world_open_bare(&w, &WORLD_ALL);
		world_tell(&w, &head);
		assert_int_equal(world_tell(&w, &obs), 0);
		engine_get_stats(w.engine, &stats);
		assert_int_equal(stats.kept_refused, 1);
		world_close(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a pod that ended before has its status written, as it was seen to end",
		      test_ended),
		CLAIM("of a container that ended in between no exit is made up",
		      test_ended_between),
		CLAIM("what is found to be gone in a shutdown under way is known to it no more",
		      test_gone_meanwhile),
		CLAIM("what was saved in another shutdown counts for nothing", test_other),
		CLAIM("where no status is written no exits are saved", test_not_saved),
		CLAIM("an exit that cannot be is refused", test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
