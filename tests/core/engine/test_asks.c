// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: when it asks sources of metadata, and which answers it goes by. */
#include "core/engine/engine.h"

#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_meta.h"

static void test_stale_answer(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_described(&w, &pod, &c);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(3));
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	world_empty(&w, SEC(20) + 1000, CG_A1);
	/* A list that was made before the exit, and came after it. */
	pod.asked_ns = SEC(20) - MSEC(100);
	world_say_pod(&w, SEC(20) + MSEC(100), &pod);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_timer(&w, SEC(20) + MSEC(250));
	assert_int_equal(world_stop(&w)->pod_terminating, TRI_UNKNOWN);
	world_close(&w);
}

static void test_asked_since(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_described(&w, &pod, &c);
	world_clear(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	pod.asked_ns = SEC(20) + MSEC(1);
	world_say_pod(&w, SEC(20) + MSEC(100), &pod);
	world_answer(&w, SEC(20) + MSEC(100), CG_A1, WORLD_UID_A, "");
	world_ends(&w, SEC(30), EXIT(0));
	/* It stands for all of the stop: the exit asks no more. */
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	assert_int_equal(world_stop(&w)->pod_terminating, TRI_FALSE);
	world_close(&w);
}

static void test_several_askers(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_described(&w, &pod, &c);
	world_init(&w, SEC(13), CG_A2, &P_A2);
	world_clear(&w);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(3));
	world_empty(&w, SEC(20) + 1000, CG_A1);
	world_exit(&w, SEC(20) + MSEC(1), CG_A2, &P_A2, EXIT(3));
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 2);
	/* The newer query replaced the older one, which supplied nothing. */
	world_answer(&w, SEC(20) + MSEC(1), CG_A1, WORLD_UID_A, "");
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	pod.asked_ns = SEC(20) + MSEC(2);
	world_say_pod(&w, SEC(20) + MSEC(90), &pod);
	world_answer(&w, SEC(20) + MSEC(90), CG_A2, WORLD_UID_A, "");
	assert_int_equal(world_stop(&w)->pod_terminating, TRI_FALSE);
	world_close(&w);
}

/* Whatever its neighbours make others ask. */
static void test_known_is_enough(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_described(&w, &pod, &c);
	world_init(&w, SEC(13), CG_A2, &P_A2);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(3));
	world_empty(&w, SEC(20) + 1000, CG_A1);
	pod.asked_ns = SEC(20) + MSEC(1);
	world_say_pod(&w, SEC(20) + MSEC(20), &pod);
	world_managed(&w, SEC(20) + MSEC(21), CG_A2, &P_A2, 15);
	world_answer(&w, SEC(20) + MSEC(22), CG_A1, WORLD_UID_A, "");
	assert_int_equal(world_stop(&w)->pod_terminating, TRI_FALSE);
	/* Yes holds, whenever it was answered. */
	pod.deleting = true;
	world_say_pod(&w, SEC(20) + MSEC(30), &pod);
	world_clear(&w);
	world_exit(&w, SEC(21), CG_A2, &P_A2, EXIT(0));
	world_empty(&w, SEC(21) + 1000, CG_A2);
	assert_int_equal(world_stop(&w)->pod_terminating, TRI_TRUE);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 0);
	world_close(&w);
}

/* It was shed, the kubelet was down, or it did not know the pod yet. */
static void test_asks_again(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_described(&w, &pod, &c);
	world_clear(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_answer(&w, SEC(20) + 1, CG_A1, WORLD_UID_A, "");
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	world_exit(&w, SEC(39), CG_A1, &P_A1, EXIT(0));
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 2);
	world_close(&w);
}

#define CG_NEW 70
#define ID_NEW HEX_64("e")

/* A container of pod A that nobody has described yet. */
static void open_unknown(struct world *w)
{
	world_open(w, &WORLD_ALL);
	world_made(w, SEC(10), CG_NEW, CG_POD_A, ID_NEW);
	world_init(w, SEC(10), CG_NEW, &P_A2);
	assert_int_equal(world_effects(w, EFFECT_FIND_NAMES), 1);
	world_clear(w);
}

static void test_sandbox_named(void **state)
{
	struct meta_container c = world_main_a1();
	struct world w;

	open_unknown(&w);
	strcpy(c.id, ID_NEW);
	c.kind = META_KIND_SANDBOX;
	c.name[0] = '\0';
	world_say_container(&w, SEC(12), &c);
	/* Another source has yet to answer. */
	world_managed(&w, SEC(20), CG_NEW, &P_A2, 9);
	world_exit(&w, SEC(20), CG_NEW, &P_A2, 9);
	world_empty(&w, SEC(20) + 1000, CG_NEW);
	world_timer(&w, SEC(20) + MSEC(250));
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, 0);
	world_close(&w);
}

/* While it is being made the runtime does not list it. */
static void test_sandbox_asked_again(void **state)
{
	const struct effect *ask;
	struct world w;

	open_unknown(&w);
	world_answer(&w, SEC(12), CG_NEW, WORLD_UID_A, ID_NEW);
	world_clear(&w);
	world_init(&w, SEC(15), CG_A2, &P_A2);
	ask = world_effect(&w, EFFECT_FIND_NAMES);
	assert_non_null(ask);
	assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 1);
	assert_string_equal(ask->container_id, ID_NEW);
	world_close(&w);
}

static void test_lost_question(void **state)
{
	struct world w;

	open_unknown(&w);
	world_managed(&w, SEC(59), CG_NEW, &P_A2, 15);
	assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 0);
	world_managed(&w, SEC(71), CG_NEW, &P_A2, 9);
	assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 1);
	assert_int_equal(world_effect(&w, EFFECT_FIND_NAMES)->id, CG_NEW);
	world_close(&w);
}

static void test_nobody_tells(void **state)
{
	struct meta_container c = world_main_a1();
	struct world w;

	open_unknown(&w);
	strcpy(c.id, ID_NEW);
	world_answer(&w, SEC(12), CG_NEW, WORLD_UID_A, ID_NEW);
	world_exit(&w, SEC(20), CG_NEW, &P_A2, EXIT(3));
	world_answer(&w, SEC(20), CG_NEW, WORLD_UID_A, ID_NEW);
	world_empty(&w, SEC(20) + 1000, CG_NEW);
	world_timer(&w, SEC(20) + MSEC(250));
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	assert_int_equal(world_effects(&w, EFFECT_FIND_EXIT), 0);
	c.known |= META_CTR_EXIT;
	c.exit_code = 3;
	world_say_container(&w, SEC(30), &c);
	assert_int_equal(world_count(&w, RECORD_RUNTIME_EXIT), 0);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an answer from before an exit does not tell that its pod stays",
		      test_stale_answer),
		CLAIM("what was asked since the stop signal is not asked again", test_asked_since),
		CLAIM("a newer question about a pod is waited for", test_several_askers),
		CLAIM("what is known of a pod is not waited for", test_known_is_enough),
		CLAIM("a question that nobody could answer is asked again at the exit",
		      test_asks_again),
		CLAIM("a sandbox that a source named needs no other name", test_sandbox_named),
		CLAIM("a sandbox that nobody knew yet is asked for with the next container",
		      test_sandbox_asked_again),
		CLAIM("a question that was lost is asked again, later", test_lost_question),
		CLAIM("an exit of whom nobody knows is not remembered", test_nobody_tells),
	};

	return cmocka_run_group_tests_name("core/engine: questions", tests, NULL, NULL);
}
