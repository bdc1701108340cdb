// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: an init that is moved out of its container's cgroup. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"

#define LEFT_AT SEC(30)
#define WAIT	MSEC(250)

static void leave(struct world *w, uint32_t pid)
{
	const struct obs obs = {.type = OBS_CGROUP_EMPTY,
				.at_ns = LEFT_AT,
				.empty = {.id = CG_A1, .left_pid = pid}};

	assert_int_equal(world_tell(w, &obs), 0);
}

static void answer(struct world *w, bool alive)
{
	const struct obs obs = {
		.type = OBS_PROBE,
		.at_ns = LEFT_AT + 1,
		.probe = {.id = CG_A1, .pid = P_A1.pid, .start_ns = P_A1.start_ns, .alive = alive},
	};

	assert_int_equal(world_tell(w, &obs), 0);
}

/* Asked to stop, and moved then. */
static void open_left(struct world *w)
{
	world_open(w, NULL);
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_managed(w, SEC(20), CG_A1, &P_A1, 15);
	leave(w, P_A1.pid);
	assert_int_equal(world_count(w, RECORD_STOP), 0);
	assert_true(world_effect(w, EFFECT_PROBE_INIT)->moved);
	assert_int_equal(world_effect(w, EFFECT_PROBE_INIT)->pid, P_A1.pid);
}

static void test_other(void **state)
{
	struct world w;

	open_left(&w);
	answer(&w, true);
	world_init(&w, LEFT_AT + 2, CG_A2, &P_A1);
	/* Another life in the cgroup that it left. */
	world_init(&w, LEFT_AT + 3, CG_A1, &P_A2);
	world_timer(&w, LEFT_AT + WAIT);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_managed(&w, SEC(50), CG_A2, &P_A1, 9);
	world_exit(&w, SEC(50) + 1, CG_A2, &P_A1, 9);
	world_empty(&w, SEC(50) + 2, CG_A2);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	assert_int_equal(world_stop(&w)->stop_signal.at_ns, SEC(20));
	assert_int_equal(world_stop(&w)->kill_signal.at_ns, SEC(50));
	assert_string_equal(world_stop(&w)->container.id, WORLD_ID_A2);
	assert_int_equal(world_stop(&w)->gaps, 0);
	world_clear(&w);
	world_exit(&w, SEC(60), CG_A1, &P_A2, EXIT(0));
	world_empty(&w, SEC(60) + 1, CG_A1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_false(world_stop(&w)->stop_signal.known);
	world_close(&w);
}

/* Within the time that is waited for it. What it was sent elsewhere is not known. */
static void test_back(void **state)
{
	struct world w;

	open_left(&w);
	answer(&w, true);
	world_init(&w, LEFT_AT + 2, CG_A1, &P_A1);
	world_timer(&w, LEFT_AT + WAIT);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_managed(&w, SEC(50), CG_A1, &P_A1, 9);
	world_exit(&w, SEC(50) + 1, CG_A1, &P_A1, 9);
	world_empty(&w, SEC(50) + 2, CG_A1);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	assert_int_equal(world_stop(&w)->stop_signal.at_ns, SEC(20));
	assert_int_equal(world_stop(&w)->kill_signal.at_ns, SEC(50));
	assert_int_equal(world_stop(&w)->gaps, 1u << GAP_ATTACHED_LATE);
	world_close(&w);
}

/* Reported as moved out, and back later: its end is another record, and what was sent to it
 * meanwhile was not seen. */
static void test_back_late(void **state)
{
	for (int with_init = 0; with_init < 2; with_init++) {
		struct world w;

		open_left(&w);
		answer(&w, true);
		world_timer(&w, LEFT_AT + WAIT);
		assert_string_equal(world_stop(&w)->id, WORLD_BOOT "/" WORLD_ID_A1 "/2000004242");
		world_clear(&w);
		/* Events from the time before, which come late. */
		world_managed(&w, LEFT_AT - 1, CG_A1, &P_A1, 15);
		if (with_init)
			world_init(&w, SEC(50) - 1, CG_A1, &P_A1);
		world_managed(&w, SEC(50), CG_A1, &P_A1, 9);
		world_exit(&w, SEC(50) + 1, CG_A1, &P_A1, 9);
		world_empty(&w, SEC(50) + 2, CG_A1);
		world_managed(&w, SEC(50) + 1, CG_A1, &P_A1, 9);
		assert_int_equal(world_count(&w, RECORD_STOP), 1);
		assert_int_equal(world_stop(&w)->exit.status, 9);
		assert_false(world_stop(&w)->stop_signal.known);
		assert_int_equal(world_stop(&w)->kill_signal.at_ns, SEC(50));
		assert_int_equal(world_stop(&w)->gaps,
				 GAP(ATTACHED_LATE) | (with_init ? 0 : GAP(EVENTS_LOST)));
		assert_string_not_equal(world_stop(&w)->id,
					WORLD_BOOT "/" WORLD_ID_A1 "/2000004242");
		world_close(&w);
	}
}

/* Nothing was sent to it inside. It ends outside, and has the one record. */
static void test_out_again(void **state)
{
	struct world w;

	open_left(&w);
	answer(&w, true);
	world_timer(&w, LEFT_AT + WAIT);
	world_empty(&w, SEC(40), CG_A1);
	world_gone(&w, SEC(50), CG_A1, NULL);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	world_close(&w);
}

/* alive: it was when it was looked for. */
static void test_nowhere(void **state)
{
	for (int alive = 0; alive < 2; alive++) {
		struct world w;

		open_left(&w);
		answer(&w, alive);
		assert_int_equal(world_count(&w, RECORD_STOP), 0);
		world_timer(&w, LEFT_AT + WAIT);
		assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
			       GAP(EXIT_UNSEEN) | (alive ? GAP(INIT_MOVED) : 0));
		assert_int_equal(world_stop(&w)->empty_ns, LEFT_AT);
		world_close(&w);
	}
}

/* Before it was found anywhere, its cgroup is removed or entered anew, or the trace ends. */
static void test_no_time(void **state)
{
	for (int how = 0; how < 3; how++) {
		const struct obs end = {.type = OBS_END, .at_ns = LEFT_AT + 2};
		struct world w;

		open_left(&w);
		answer(&w, true);
		if (how == 0)
			world_gone(&w, LEFT_AT + 2, CG_A1, NULL);
		else if (how == 1)
			world_init(&w, LEFT_AT + 2, CG_A1, &P_A2);
		else
			world_tell(&w, &end);
		assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
			       GAP(EXIT_UNSEEN) | GAP(INIT_MOVED));
		world_timer(&w, LEFT_AT + WAIT);
		assert_int_equal(world_count(&w, RECORD_STOP), 1);
		world_close(&w);
	}
}

/* An init runs there: what was moved in is a guest. */
static void test_beside(void **state)
{
	struct world w;

	open_left(&w);
	world_init(&w, SEC(30) + 2, CG_A2, &P_A2);
	answer(&w, true);
	world_timer(&w, LEFT_AT + WAIT);
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EXIT_UNSEEN) | GAP(INIT_MOVED));
	world_clear(&w);
	world_exit(&w, SEC(60), CG_A2, &P_A2, EXIT(0));
	world_empty(&w, SEC(60) + 1, CG_A2);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	world_close(&w);
}

/* The record names a process that is not the init as the engine knows it. */
static void test_stranger(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	leave(&w, P_A1.pid + 1);
	assert_int_equal(world_effects(&w, EFFECT_PROBE_INIT), 0);
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EXIT_UNSEEN));
	world_close(&w);
}

/* Another engine goes on, whose scan finds the cgroup, and no init in it. */
static void restart(struct world *w)
{
	struct obs_list kept = {};

	engine_keep(w->engine, true, relay_keep, &kept);
	world_close(w);
	world_open_bare(w, NULL);
	for (size_t i = 0; i < kept.n; i++)
		world_tell(w, &kept.list[i]);
	obs_list_free(&kept);
	world_found(w, SEC(59), CG_SYSTEM, "/system.slice");
	world_found(w, SEC(59), CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
	world_found(w, SEC(59), CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	world_attach(w, SEC(60));
}

/* The first look at the cgroup has not found it: a record of it was on its way. It is looked for
 * before that or after, and the record says that it began or is signalled. */
static void test_not_moved(void **state)
{
	for (int i = 0; i < 8; i++) {
		struct obs look = {.type = OBS_PROBE,
				   .at_ns = SEC(60) + 1,
				   .probe = {.id = CG_A1,
					     .pid = P_A1.pid,
					     .start_ns = P_A1.start_ns,
					     .alive = true}};
		bool before = i & 1, begins = i & 2, asked = i & 4;
		struct world w;

		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &P_A1);
		restart(&w);
		if (before)
			world_tell(&w, &look);
		if (begins)
			world_init(&w, SEC(60) - 2, CG_A1, &P_A1);
		if (asked)
			world_managed(&w, SEC(60) - 1, CG_A1, &P_A1, 15);
		if (!before)
			world_tell(&w, &look);
		world_timer(&w, SEC(60) + WAIT);
		world_timer(&w, SEC(60) + 2 * WAIT);
		assert_int_equal(world_count(&w, RECORD_STOP), !begins && !asked);
		if (begins || asked) {
			world_exit(&w, SEC(65), CG_A1, &P_A1, EXIT(0));
			world_empty(&w, SEC(65) + 1, CG_A1);
			world_timer(&w, SEC(66));
			assert_verdict(&w, asked ? OUTCOME_GRACEFUL : OUTCOME_COMPLETED,
				       asked ? CAUSE_STOP_SIGNAL : CAUSE_SELF, GAP(DAEMON_DOWN));
		}
		world_close(&w);
	}
}

/* It is looked for again: it may have ended since, and the record of that be lost. */
static void test_gone_since(void **state)
{
	struct obs look = {.type = OBS_PROBE,
			   .at_ns = SEC(60) + 1,
			   .probe = {.id = CG_A1, .pid = P_A1.pid, .start_ns = P_A1.start_ns}};
	struct world w;
	size_t asked;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	restart(&w);
	world_tell(&w, &look);
	asked = world_effects(&w, EFFECT_PROBE_INIT);
	world_managed(&w, SEC(60) - 1, CG_A1, &P_A1, 15);
	assert_int_equal(world_effects(&w, EFFECT_PROBE_INIT), asked + 1);
	world_tell(&w, &look);
	world_timer(&w, SEC(60) + WAIT + 1);
	world_timer(&w, SEC(60) + 2 * WAIT + 2);
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
		       GAP(DAEMON_DOWN) | GAP(EXIT_UNSEEN) | GAP(NOT_EMPTY));
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("in another container it goes on as it was, and its former cgroup is free",
		      test_other),
		CLAIM("one that comes back lives on", test_back),
		CLAIM("one that comes back later has a record of its end, too", test_back_late),
		CLAIM("one that is moved out once more has one record", test_out_again),
		CLAIM("where it is in no container its end is unseen, and moved if it lived",
		      test_nowhere),
		CLAIM("so it is where its cgroup is removed or entered meanwhile, or all ends",
		      test_no_time),
		CLAIM("beside another's init it is not followed", test_beside),
		CLAIM("only the init is looked for", test_stranger),
		CLAIM("an init of which a record comes after all was not moved", test_not_moved),
		CLAIM("... unless it is gone when it is looked for again", test_gone_since),
	};

	return cmocka_run_group_tests_name("moved", tests, NULL, NULL);
}
