// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: how it follows pods that nobody lists. */
#include "lib/claim.h"
#include "lib/engine/world_pods.h"

#define US(n) ((uint64_t)(n)*1000)

static const struct move BEGAN = MOVE(SYNC, STARTED, SEC(9));

static void test_alone(void **state)
{
	struct world w;

	world_open_pod(&w, false);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_exit(&w, SEC(22), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(22) + US(1), CG_A1);
	assert_moves(&w, BEGAN);
	world_stop_sandbox(&w, SEC(23));
	world_pod_empty(&w, SEC(24));
	world_pod_removed(&w, SEC(25));
	assert_moves(&w, BEGAN, MOVE(TERMINATING, STOP_SIGNAL, SEC(20)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(24)), MOVE(FINISHED, CGROUP_REMOVED, SEC(25)));
	assert_int_equal(world_move(&w, 1)->grace.from, GRACE_UNKNOWN);
	assert_int_equal(world_move(&w, 1)->deadline_ns, 0);
	assert_int_equal(world_move(&w, 2)->exit_ns, SEC(22));
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_NONE);
	world_close(&w);
}

static void test_restarts(void **state)
{
	struct graced_proc proc = P_A1;
	struct world w;

	world_open_pod(&w, false);
	for (uint32_t i = 1; i < 20; i++) {
		uint64_t at = SEC(10 + 10 * i);

		if (i % 2)
			world_managed(&w, at, CG_A1, &proc, 15);
		world_exit(&w, at + SEC(1), CG_A1, &proc, i % 3 ? EXIT(1) : 11);
		world_empty(&w, at + SEC(1) + US(1), CG_A1);
		proc.start_ns = at + SEC(5);
		proc.pid = 6000 + i;
		world_init(&w, at + SEC(5), CG_A1, &proc);
	}
	assert_moves(&w, BEGAN);
	world_close(&w);
}

/* Somebody on the host kills the sandbox; the runtime stops what is left and makes another. */
static void test_new_sandbox(void **state)
{
	struct graced_proc pause = P_PAUSE;
	struct world w;

	world_open_pod(&w, false);
	world_from(&w, SEC(20), CG_SANDBOX, &P_PAUSE, 9, &P_SHELL);
	world_exit(&w, SEC(20) + MSEC(1), CG_SANDBOX, &P_PAUSE, 9);
	world_empty(&w, SEC(20) + MSEC(2), CG_SANDBOX);
	assert_moves(&w, BEGAN);
	world_stop_a1(&w, SEC(21));
	world_pod_empty(&w, SEC(22));
	pause.start_ns = SEC(23);
	pause.pid = 4201;
	world_init(&w, SEC(23), CG_SANDBOX, &pause);
	assert_moves(&w, BEGAN);
	/* The runtime may stop one whose pod goes on. */
	world_managed(&w, SEC(30), CG_SANDBOX, &pause, 9);
	world_exit(&w, SEC(30) + 1, CG_SANDBOX, &pause, 9);
	world_empty(&w, SEC(30) + 2, CG_SANDBOX);
	world_pod_empty(&w, SEC(30) + 2);
	pause.start_ns = SEC(31);
	pause.pid = 4202;
	world_init(&w, SEC(31), CG_SANDBOX, &pause);
	assert_moves(&w, BEGAN, MOVE(TERMINATING, STOP_SIGNAL, SEC(30)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(30) + 2), MOVE(SYNC, STARTED, SEC(31)));
	world_close(&w);
}

/* Without a sandbox nothing tells the end of a pod but that its cgroups go. */
static void test_no_sandbox(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_B1, &P_B1);
	world_managed(&w, SEC(20), CG_B1, &P_B1, 15);
	world_exit(&w, SEC(21), CG_B1, &P_B1, EXIT(0));
	world_empty(&w, SEC(21), CG_B1);
	world_empty(&w, SEC(21) + 1, CG_POD_B);
	assert_int_equal(world_count(&w, RECORD_POD), 1);
	world_gone(&w, SEC(22), CG_B1, NULL);
	world_gone(&w, SEC(23), CG_POD_B, NULL);
	assert_int_equal(world_count(&w, RECORD_POD), 4);
	assert_int_equal(world_move(&w, 1)->at_ns, SEC(20));
	assert_int_equal(world_move(&w, 1)->trigger, POD_CGROUP_REMOVED);
	assert_int_equal(world_move(&w, 2)->at_ns, SEC(21) + 1);
	assert_int_equal(world_move(&w, 3)->at_ns, SEC(23));
	world_close(&w);
}

static void test_name_awaited(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_bare(&w, &WORLD_ALL);
	world_attach(&w, SEC(1));
	world_found(&w, SEC(9), CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	world_found(&w, SEC(9), CG_B1, "/kubepods/burstable/pod" WORLD_UID_B "/" WORLD_ID_B1);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	assert_int_equal(world_count(&w, RECORD_POD), 0);
	pod.source = META_CRI;
	world_say_pod(&w, SEC(11), &pod);
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(10)));
	assert_string_equal(world_move(&w, 0)->pod.name, "web-0");
	/* An unnamed pod is reported at the end of the trace. */
	world_init(&w, SEC(12), CG_B1, &P_B1);
	assert_int_equal(world_count(&w, RECORD_POD), 1);
	world_tell(&w, &(struct obs){.type = OBS_END, .at_ns = SEC(13)});
	assert_null(world_move(&w, 1)->pod.name);
	assert_int_equal(world_move(&w, 1)->at_ns, SEC(12));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a pod that nobody lists ends by its sandbox's stop", test_alone),
		CLAIM("crashes and failed probes end no pod that nobody lists", test_restarts),
		CLAIM("a pod lives again with a new sandbox", test_new_sandbox),
		CLAIM("a pod without a sandbox ends with its cgroups", test_no_sandbox),
		CLAIM("a new pod is reported with its name", test_name_awaited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
