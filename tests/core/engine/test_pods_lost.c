// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: how it follows pods of which records are lost, or come late. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_pods.h"

static const struct move BEGAN = MOVE(SYNC, STARTED, SEC(9));

/* Exit and emptiness have no record: the removal shows that the pod is over. */
static void test_lost(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_pod(&w, true);
	world_lists(&w, SEC(12), &pod);
	pod = world_pod_deleted(SEC(20), SEC(30));
	world_lists(&w, SEC(20), &pod);
	world_pod_removed(&w, SEC(30));
	assert_moves(&w, BEGAN, MOVE(TERMINATING, DELETION, SEC(20)),
		     MOVE(TERMINATED, CGROUP_REMOVED, SEC(30)),
		     MOVE(FINISHED, CGROUP_REMOVED, SEC(30)));
	assert_int_equal(world_move(&w, 2)->empty_ns, 0);
	assert_int_equal(world_move(&w, 3)->empty_ns, 0);
	world_close(&w);
}

/* It was empty, and lived on: that it was is not when it ended. */
static void test_lost_later(void **state)
{
	struct graced_proc proc = P_A1;
	struct world w;

	world_open_pod(&w, false);
	world_stop_a1(&w, SEC(20));
	world_stop_sandbox(&w, SEC(21));
	world_pod_empty(&w, SEC(22));
	proc.pid++;
	proc.start_ns = SEC(25);
	world_init(&w, SEC(25), CG_A1, &proc);
	world_clear(&w);
	world_pod_removed(&w, SEC(30));
	assert_moves(&w, MOVE(TERMINATING, CGROUP_REMOVED, SEC(30)),
		     MOVE(TERMINATED, CGROUP_REMOVED, SEC(30)),
		     MOVE(FINISHED, CGROUP_REMOVED, SEC(30)));
	assert_int_equal(world_move(&w, 1)->empty_ns, 0);
	world_close(&w);
}

/* A runtime's process is in it before an init is. */
static void test_no_init_yet(void **state)
{
	static const char pod_path[] = "/kubepods/burstable/pod" WORLD_UID_A;

	for (int found = 0; found < 2; found++) {
		struct meta_pod pod = world_pod_deleted(SEC(12), SEC(30));
		struct world w;

		world_open_bare(&w, &WORLD_ALL);
		world_found(&w, MSEC(900), CG_BURSTABLE, "/kubepods/burstable");
		world_attach(&w, SEC(1));
		world_made(&w, SEC(10), CG_POD_A, CG_BURSTABLE,
			   pod_path + strlen("/kubepods/burstable/"));
		if (found)
			world_found(&w, SEC(10), CG_A1,
				    "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
		else
			world_made(&w, SEC(10), CG_A1, CG_POD_A, WORLD_ID_A1);
		world_lists(&w, SEC(12), &pod);
		assert_moves(&w, MOVE(TERMINATING, LISTED, SEC(12)));
		world_empty(&w, SEC(13), CG_A1);
		assert_moves(&w, MOVE(TERMINATING, LISTED, SEC(12)),
			     MOVE(TERMINATED, LAST_EXIT, SEC(13)));
		world_close(&w);
	}
}

/* Counts that were read say that it is empty, and not since when. */
static void test_counted(void **state)
{
	const struct graced_counts counts = {.exits = 1};
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_bare(&w, &WORLD_ALL);
	world_attach(&w, SEC(1));
	world_found(&w, SEC(9), CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_lists(&w, SEC(11), &pod);
	pod = world_pod_deleted(SEC(12), SEC(30));
	world_lists(&w, SEC(12), &pod);
	world_exit(&w, SEC(13), CG_A1, &P_A1, EXIT(0));
	world_timer(&w, SEC(13) + MSEC(250));
	world_counts(&w, SEC(13) + MSEC(251), CG_A1, false, &counts);
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(10)), MOVE(TERMINATING, DELETION, SEC(12)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(13) + MSEC(251)));
	assert_int_equal(world_move(&w, 2)->empty_ns, 0);
	world_close(&w);
}

/* The pod's own emptiness stands for those of its containers that nobody saw. */
static void test_container_lost(void **state)
{
	struct world w;

	world_open_pod(&w, false);
	world_managed(&w, SEC(20), CG_SANDBOX, &P_PAUSE, 9);
	world_pod_empty(&w, SEC(21));
	assert_moves(&w, BEGAN, MOVE(TERMINATING, STOP_SIGNAL, SEC(20)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(21)));
	world_close(&w);
}

static void test_late_record(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_made(&w, SEC(9), CG_SANDBOX, CG_POD_A, WORLD_ID_SANDBOX);
	world_init(&w, SEC(9), CG_SANDBOX, &P_PAUSE);
	world_managed(&w, SEC(20), CG_SANDBOX, &P_PAUSE, 9);
	/* Its exec was lost; it has been running since before the end began. */
	world_exit(&w, SEC(20) + 5, CG_A1, &P_A1, EXIT(0));
	assert_moves(&w, BEGAN, MOVE(TERMINATING, STOP_SIGNAL, SEC(20)));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a pod whose records are lost ends with its cgroups", test_lost),
		CLAIM("that a pod was empty once is not its end", test_lost_later),
		CLAIM("a container without an init yet is not empty", test_no_init_yet),
		CLAIM("a pod that is empty by its counts is over", test_counted),
		CLAIM("a pod's emptiness is its containers'", test_container_lost),
		CLAIM("what is learnt late of an old process is no new life", test_late_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
