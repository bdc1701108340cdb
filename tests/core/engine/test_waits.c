// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: when a verdict goes out, and what it waits for. */
#include "core/engine/engine.h"

#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world.h"

#define EXITED_AT SEC(100)
#define WAIT	  MSEC(250)

static const struct graced_counts ONE_EXIT = {.exits = 1};

/* A1 has run since 10 s and exits with 0. */
static void exits(struct world *w)
{
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_exit(w, EXITED_AT, CG_A1, &P_A1, EXIT(0));
}

static uint64_t wakes_at(const struct world *w)
{
	const struct effect *wake = world_effect(w, EFFECT_WAKE_AT);

	return wake ? wake->at_ns : 0;
}

static void test_empty(void **state)
{
	const struct graced_counts counts = {.exits = 4, .kills = 3, .collateral = 3};
	struct world w;

	world_open(&w, NULL);
	exits(&w);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	assert_int_equal(wakes_at(&w), EXITED_AT + WAIT);
	world_empty_counted(&w, EXITED_AT + 30000, CG_A1, &counts);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_int_equal(world_stop(&w)->empty_ns, EXITED_AT + 30000);
	/* What its namespace took along dies after it: the last count is the one that tells. */
	assert_int_equal(world_stop(&w)->collateral_kills, 3);
	/* The time of the record is the exit's. */
	assert_int_equal(world_record(&w, RECORD_STOP, 0)->at_ns, EXITED_AT);
	assert_int_equal(wakes_at(&w), 0);
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 0);
	world_close(&w);
}

static void test_not_empty(void **state)
{
	char id[192];
	struct world w;

	world_open(&w, NULL);
	exits(&w);
	world_timer(&w, EXITED_AT + WAIT - 1);
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 0);
	world_timer(&w, EXITED_AT + WAIT);
	assert_int_equal(world_effect(&w, EFFECT_READ_COUNTS)->id, CG_A1);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_counts(&w, EXITED_AT + WAIT, CG_A1, true, &ONE_EXIT);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NOT_EMPTY));
	assert_int_equal(world_stop(&w)->empty_ns, 0);
	strcpy(id, world_stop(&w)->id);
	assert_int_equal(wakes_at(&w), 0);

	/* A minute later the last one leaves. */
	world_clear(&w);
	world_empty(&w, EXITED_AT + SEC(60), CG_A1);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	assert_int_equal(world_count(&w, RECORD_EMPTY), 1);
	assert_string_equal(world_record(&w, RECORD_EMPTY, 0)->empty.id, id);
	assert_int_equal(world_record(&w, RECORD_EMPTY, 0)->empty.empty_ns, EXITED_AT + SEC(60));
	assert_int_equal(world_record(&w, RECORD_EMPTY, 0)->at_ns, EXITED_AT + SEC(60));
	assert_string_equal(world_record(&w, RECORD_EMPTY, 0)->empty.pod.name, "web-0");
	/* Once. */
	world_empty(&w, EXITED_AT + SEC(61), CG_A1);
	assert_int_equal(world_count(&w, RECORD_EMPTY), 1);
	world_close(&w);
}

static void test_nobody_answers(void **state)
{
	struct world w;

	world_open(&w, NULL);
	exits(&w);
	world_timer(&w, EXITED_AT + WAIT);
	assert_int_equal(wakes_at(&w), EXITED_AT + 2 * WAIT);
	world_timer(&w, EXITED_AT + 2 * WAIT);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NOT_EMPTY));
	world_close(&w);
}

/* Empty by now, but the record that says when is still on its way, or lost. */
static void test_empty_by_the_counts(void **state)
{
	struct world w;

	world_open(&w, NULL);
	exits(&w);
	world_timer(&w, EXITED_AT + WAIT);
	world_counts(&w, EXITED_AT + WAIT, CG_A1, false, &ONE_EXIT);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_int_equal(world_stop(&w)->empty_ns, 0);
	world_empty(&w, EXITED_AT + WAIT - 1, CG_A1);
	assert_int_equal(world_record(&w, RECORD_EMPTY, 0)->empty.empty_ns, EXITED_AT + WAIT - 1);
	world_close(&w);
}

/* The sweep after a loss reads everybody's counts, asked or not. */
static void test_swept(void **state)
{
	const struct graced_counts lost = {.exits = 1, .lost = 1}, more = {.exits = 1, .lost = 2};
	struct world w;

	world_open(&w, NULL);
	exits(&w);
	world_counts(&w, EXITED_AT + 1000, CG_A1, true, &lost);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_empty_counted(&w, EXITED_AT + 30000, CG_A1, &lost);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(EVENTS_LOST));
	/* Nobody is left to be looked for. */
	world_counts(&w, EXITED_AT + SEC(1), CG_A1, false, &more);
	assert_int_equal(world_effects(&w, EFFECT_PROBE_INIT), 0);
	world_close(&w);
}

static void test_two_at_once(void **state)
{
	struct world w;

	world_open(&w, NULL);
	exits(&w);
	world_init(&w, SEC(10), CG_B1, &P_B1);
	world_exit(&w, EXITED_AT + MSEC(1), CG_B1, &P_B1, EXIT(1));
	world_timer(&w, EXITED_AT + WAIT + MSEC(1));
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 2);
	world_timer(&w, EXITED_AT + 2 * WAIT + MSEC(1));
	assert_int_equal(world_count(&w, RECORD_STOP), 2);
	world_close(&w);
}

/* A new container in pod A, of which no source has provided a name yet. */
#define CG_NEW 90
#define ID_NEW HEX_64("e")

static void unnamed_exits(struct world *w)
{
	world_made(w, SEC(50), CG_NEW, CG_POD_A, ID_NEW);
	assert_string_equal(world_effect(w, EFFECT_FIND_NAMES)->container_id, ID_NEW);
	assert_string_equal(world_effect(w, EFFECT_FIND_NAMES)->pod_uid, WORLD_UID_A);
	world_init(w, SEC(51), CG_NEW, &P_A1);
	world_exit(w, EXITED_AT, CG_NEW, &P_A1, EXIT(0));
	world_empty(w, EXITED_AT + 30000, CG_NEW);
	assert_int_equal(world_count(w, RECORD_STOP), 0);
}

static void test_name_comes(void **state)
{
	struct world w;

	world_open(&w, NULL);
	unnamed_exits(&w);
	/* Somebody else's name changes nothing. */
	world_names(&w, EXITED_AT + 1, WORLD_UID_B, WORLD_ID_B1, "shop", "cart-7", "cart", true);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_names(&w, EXITED_AT + 2, WORLD_UID_A, ID_NEW, "default", "web-0", "job", true);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_string_equal(world_stop(&w)->container.name, "job");
	assert_int_equal(world_stop(&w)->empty_ns, EXITED_AT + 30000);
	assert_int_equal(wakes_at(&w), 0);
	world_close(&w);
}

/* The kubelet is down, and says so at once; the runtime answers a moment later. */
static void test_answers_apart(void **state)
{
	const struct engine_config both = {.scope = SCOPE_CONTAINERS,
					   .sources = 1u << META_CRI | 1u << META_KUBELET};
	struct obs of_pod = {.type = OBS_NAMES, .at_ns = EXITED_AT + 1};
	struct world w;

	world_open(&w, &both);
	of_pod.names.id = CG_NEW;
	strcpy(of_pod.names.pod_uid, WORLD_UID_A);
	unnamed_exits(&w);
	/* It was asked about at the start, when the container appeared, and when it exited. */
	for (int i = 0; i < 3; i++)
		world_tell(&w, &of_pod);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_names(&w, EXITED_AT + 2, WORLD_UID_A, ID_NEW, "default", "web-0", "job", true);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_string_equal(world_stop(&w)->container.name, "job");
	world_close(&w);
}

static void test_name_late(void **state)
{
	struct world w;

	world_open(&w, NULL);
	unnamed_exits(&w);
	world_timer(&w, EXITED_AT + WAIT);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NAME_LATE));
	assert_null(world_stop(&w)->container.name);
	assert_int_equal(world_stop(&w)->empty_ns, EXITED_AT + 30000);
	world_names(&w, EXITED_AT + SEC(1), WORLD_UID_A, ID_NEW, "default", "web-0", "job", true);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	world_close(&w);
}

static void test_name_absent(void **state)
{
	struct world w;

	world_open(&w, NULL);
	unnamed_exits(&w);
	world_names(&w, EXITED_AT + 2, WORLD_UID_A, ID_NEW, "", "", "", false);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_null(world_stop(&w)->container.name);
	world_close(&w);
}

/* What names it does not say that its processes are gone. */
static void test_name_before_empty(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_made(&w, SEC(50), CG_NEW, CG_POD_A, ID_NEW);
	world_init(&w, SEC(51), CG_NEW, &P_A1);
	world_exit(&w, EXITED_AT, CG_NEW, &P_A1, EXIT(0));
	world_names(&w, EXITED_AT + 2, WORLD_UID_A, ID_NEW, "default", "web-0", "job", true);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_empty(&w, EXITED_AT + 30000, CG_NEW);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	world_close(&w);
}

/* Its exit was lost, and the deadline that is queued is its request's, minutes away. */
static void test_name_with_the_exit_lost(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_made(&w, SEC(50), CG_NEW, CG_POD_A, ID_NEW);
	world_init(&w, SEC(51), CG_NEW, &P_A1);
	world_managed(&w, SEC(99), CG_NEW, &P_A1, 15);
	world_empty(&w, EXITED_AT, CG_NEW);
	assert_int_equal(wakes_at(&w), EXITED_AT + WAIT);
	world_timer(&w, EXITED_AT + WAIT);
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(NAME_LATE) | GAP(EXIT_UNSEEN));
	assert_int_equal(world_stop(&w)->empty_ns, EXITED_AT);
	world_close(&w);
}

static void test_asked_once(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_made(&w, SEC(50), CG_NEW, CG_POD_A, ID_NEW);
	world_init(&w, SEC(51), CG_NEW, &P_A1);
	for (int i = 0; i < 100; i++)
		world_managed(&w, SEC(60) + i, CG_NEW, &P_A1, 15);
	assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 1);
	/* A source that did not know is asked again when that matters, not with every signal. */
	world_names(&w, SEC(61), WORLD_UID_A, ID_NEW, "", "", "", false);
	for (int i = 0; i < 100; i++) {
		world_managed(&w, SEC(62) + i, CG_NEW, &P_A1, 15);
		world_names(&w, SEC(62) + i, WORLD_UID_A, ID_NEW, "", "", "", false);
	}
	assert_in_range(world_effects(&w, EFFECT_FIND_NAMES), 1, 2);
	world_exit(&w, EXITED_AT, CG_NEW, &P_A1, EXIT(0));
	assert_in_range(world_effects(&w, EFFECT_FIND_NAMES), 2, 3);
	world_close(&w);
}

/* A request is the moment to ask again whom it is for. */
static void test_asked_again(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_made(&w, SEC(50), CG_NEW, CG_POD_A, ID_NEW);
	world_names(&w, SEC(51), WORLD_UID_A, ID_NEW, "", "", "", false);
	world_init(&w, SEC(51), CG_NEW, &P_A1);
	assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 1);
	world_managed(&w, SEC(60), CG_NEW, &P_A1, 15);
	assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 2);
	world_close(&w);
}

static void test_end(void **state)
{
	struct world w;

	world_open(&w, NULL);
	exits(&w);
	world_init(&w, SEC(10), CG_B1, &P_B1);
	world_init(&w, SEC(10), CG_A2, &P_A2);
	world_managed(&w, SEC(50), CG_A2, &P_A2, 15);
	world_tell(&w, &(struct obs){.type = OBS_END, .at_ns = EXITED_AT + 1});
	/* The one that exited; those that run are nobody's stop. */
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NOT_EMPTY));
	world_tell(&w, &(struct obs){.type = OBS_END, .at_ns = EXITED_AT + 2});
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	world_close(&w);
}

static void test_gone(void **state)
{
	struct world w;

	world_open(&w, NULL);
	exits(&w);
	world_gone(&w, EXITED_AT + 1, CG_A1, NULL);
	/* A cgroup that is removed had no process left. */
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_int_equal(wakes_at(&w), 0);
	world_timer(&w, EXITED_AT + SEC(1));
	world_empty(&w, EXITED_AT + SEC(1), CG_A1);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	world_close(&w);
	/* Where the record of its emptiness was lost, the removal says that it is empty. */
	world_open(&w, NULL);
	exits(&w);
	world_timer(&w, EXITED_AT + WAIT);
	world_counts(&w, EXITED_AT + WAIT, CG_A1, true, &ONE_EXIT);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NOT_EMPTY));
	world_gone(&w, EXITED_AT + SEC(9), CG_A1, NULL);
	assert_int_equal(world_record(&w, RECORD_EMPTY, 0)->empty.empty_ns, EXITED_AT + SEC(9));
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a verdict leaves when its cgroup is empty, with what is counted by then",
		      test_empty),
		CLAIM("250 ms after the exit it leaves without, and the emptiness follows",
		      test_not_empty),
		CLAIM("it leaves when nobody answers its question too", test_nobody_answers),
		CLAIM("a cgroup that is empty by its counts has no gap", test_empty_by_the_counts),
		CLAIM("counts that it did not ask for do not end the wait", test_swept),
		CLAIM("one timer serves all that are due", test_two_at_once),
		CLAIM("a verdict waits for its name", test_name_comes),
		CLAIM("an answer about the pod does not end the wait for the name",
		      test_answers_apart),
		CLAIM("it waits 250 ms for its name, and then goes out without", test_name_late),
		CLAIM("it does not wait for a name nobody knows", test_name_absent),
		CLAIM("a name alone does not send it out", test_name_before_empty),
		CLAIM("it waits no longer for its name when its exit was lost",
		      test_name_with_the_exit_lost),
		CLAIM("a flood of signals does not become a flood of look-ups", test_asked_once),
		CLAIM("a name nobody knew is asked for again when init is asked to stop",
		      test_asked_again),
		CLAIM("at the end what waited goes out, once", test_end),
		CLAIM("a cgroup's removal ends the wait for it to be empty", test_gone),
	};

	return cmocka_run_group_tests_name("core/engine: waits", tests, NULL, NULL);
}
