// SPDX-License-Identifier: Apache-2.0
/* Claims about the pods that a node's shutdown ends: why they end, and how long they have, whatever
 * the kubelet and the API make of their objects. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"
#include "lib/shutdown/shutworld.h"

/* A pod with 60 s of its own; its group has 20 s. */
static struct meta_pod listed_pod(void)
{
	struct meta_pod pod = world_pod_a();

	pod.known |= META_POD_PRIORITY;
	pod.grace_ns = SEC(60);
	return pod;
}

static void open_going(struct world *w)
{
	struct meta_pod pod = listed_pod();

	shutworld_open(w, SHUTDOWN_OBSERVE, 0);
	world_lists(w, SEC(30), &pod);
	shutworld_announce(w);
}

static void stop_a1(struct world *w)
{
	world_managed(w, ASKED, CG_A1, &P_A1, 15);
	world_exit(w, ASKED + SEC(1), CG_A1, &P_A1, EXIT(0));
	world_empty(w, ASKED + SEC(1) + 1, CG_A1);
	world_timer(w, ASKED + SEC(2));
}

static void end_rest(struct world *w)
{
	world_stop_sandbox(w, ASKED + SEC(4));
	world_pod_empty(w, ASKED + SEC(5));
	world_pod_removed(w, ASKED + SEC(6));
}

/* The moves, and the deadline of the first. */
static void assert_ended(const struct world *w, enum pod_trigger why, uint64_t deadline_ns,
			 enum grace_from from)
{
	const struct record_pod_state *ends = world_move(w, 0);

	assert_int_equal(ends->state, POD_STAGE_TERMINATING);
	assert_int_equal(ends->trigger, why);
	assert_int_equal(ends->at_ns, ASKED);
	assert_int_equal(ends->deadline_ns, deadline_ns);
	assert_int_equal(ends->grace.from, from);
	assert_int_equal(world_move(w, 1)->state, POD_STAGE_TERMINATED);
	assert_int_equal(world_move(w, 1)->deadline_ns, deadline_ns);
	assert_int_equal(world_move(w, 2)->state, POD_STAGE_FINISHED);
	assert_int_equal(world_move(w, 2)->grace.from, from);
}

static void test_ends(void **state)
{
	static const struct {
		enum meta_phase phase;
		uint32_t end;
		uint64_t deleted_ns;
		bool gone;
		enum pod_trigger why;
	} rows[] = {
		{META_PHASE_FAILED, META_END_SHUTDOWN, 0, false, POD_NODE_SHUTDOWN},
		{META_PHASE_SUCCEEDED, 0, 0, false, POD_NODE_SHUTDOWN},
		{META_PHASE_FAILED, 0, 0, false, POD_NODE_SHUTDOWN},
		{0, 0, 0, true, POD_NODE_SHUTDOWN},
		/* A controller deletes what the shutdown has stopped. */
		{0, 0, ASKED + SEC(2), false, POD_NODE_SHUTDOWN},
		/* Another reason stays one. */
		{0, 0, ASKED - MSEC(500), false, POD_DELETION},
		{META_PHASE_FAILED, META_END_EVICTED, 0, false, POD_EVICTED},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct meta_pod pod = listed_pod();
		struct world w;

		open_going(&w);
		stop_a1(&w);
		pod.phase = rows[i].phase;
		pod.end = rows[i].end;
		if (rows[i].deleted_ns) {
			pod = world_pod_deleted(rows[i].deleted_ns, SEC(60));
			pod.known |= META_POD_PRIORITY;
		}
		if (rows[i].gone)
			world_lists_not(&w, ASKED + SEC(3));
		else
			world_lists(&w, ASKED + SEC(3), &pod);
		end_rest(&w);
		print_message("# row %zu\n", i);
		assert_ended(&w, rows[i].why, ASKED + SEC(20), GRACE_SHUTDOWN);
		world_close(&w);
	}
}

/* The kubelet says nothing more of it, and its cgroups go. */
static void test_unexplained(void **state)
{
	struct world w;

	open_going(&w);
	stop_a1(&w);
	end_rest(&w);
	world_timer(&w, ASKED + SEC(10));
	assert_ended(&w, POD_NODE_SHUTDOWN, ASKED + SEC(20), GRACE_SHUTDOWN);
	world_close(&w);
}

/* Which group it is in decides, and is not known: so is its deadline. */
static void test_unknown_priority(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct world w;

	pod.grace_ns = SEC(60);
	shutworld_open(&w, SHUTDOWN_OBSERVE, 0);
	world_lists(&w, SEC(30), &pod);
	shutworld_announce(&w);
	stop_a1(&w);
	world_lists_not(&w, ASKED + SEC(3));
	end_rest(&w);
	assert_ended(&w, POD_NODE_SHUTDOWN, 0, GRACE_HIDDEN);
	world_close(&w);
}

/* What it has by itself is shorter. */
static void test_own_is_shorter(void **state)
{
	struct meta_pod pod = listed_pod();
	struct world w;

	pod.grace_ns = SEC(5);
	shutworld_open(&w, SHUTDOWN_OBSERVE, 0);
	world_lists(&w, SEC(30), &pod);
	shutworld_announce(&w);
	stop_a1(&w);
	world_lists_not(&w, ASKED + SEC(3));
	end_rest(&w);
	assert_ended(&w, POD_NODE_SHUTDOWN, ASKED + SEC(5), GRACE_SPEC);
	world_close(&w);
}

/* It completed by itself in the shutdown; and a shutdown that was cancelled has ended nothing
 * since. */
static void test_not_by_shutdown(void **state)
{
	struct graced_proc proc = P_A1;
	struct meta_pod pod = listed_pod();
	struct world w;

	open_going(&w);
	world_exit(&w, ASKED, CG_A1, &P_A1, EXIT(0));
	world_empty(&w, ASKED + 1, CG_A1);
	pod.phase = META_PHASE_SUCCEEDED;
	world_lists(&w, ASKED + SEC(3), &pod);
	assert_int_equal(world_move(&w, 0)->trigger, POD_PHASE);
	assert_int_equal(world_move(&w, 0)->grace.from, GRACE_SPEC);
	world_close(&w);

	open_going(&w);
	stop_a1(&w);
	shutworld_tell(&w, ASKED + SEC(2), SHUTDOWN_EV_CANCELLED);
	proc.pid = 4100;
	proc.start_ns = ASKED + SEC(9);
	world_init(&w, ASKED + SEC(9), CG_A1, &proc);
	world_lists_not(&w, ASKED + SEC(40));
	assert_int_equal(world_move(&w, 0)->trigger, POD_REMOVED);
	assert_int_equal(world_move(&w, 0)->grace.from, GRACE_SPEC);
	world_close(&w);
}

/* Another engine comes after its stop was reported, and before the kubelet says anything. */
static void test_restart(void **state)
{
	struct obs_list kept = {};
	struct world w;

	open_going(&w);
	stop_a1(&w);
	engine_keep(w.engine, true, relay_keep, &kept);
	world_close(&w);
	world_open_bare(&w, &WORLD_ALL);
	for (size_t i = 0; i < kept.n; i++)
		world_tell(&w, &kept.list[i]);
	obs_list_free(&kept);
	world_found(&w, ASKED + SEC(2), CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
	world_found(&w, ASKED + SEC(2), CG_SANDBOX,
		    "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_SANDBOX);
	world_init(&w, ASKED + SEC(2), CG_SANDBOX, &P_PAUSE);
	world_attach(&w, ASKED + SEC(2));
	world_lists_not(&w, ASKED + SEC(3));
	assert_int_equal(world_move(&w, 0)->trigger, POD_NODE_SHUTDOWN);
	assert_int_equal(world_move(&w, 0)->deadline_ns, ASKED + SEC(20));
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what a shutdown ends has one trigger, and the deadline that it gave",
		      test_ends),
		CLAIM("also where the kubelet says nothing of it", test_unexplained),
		CLAIM("the deadline is unknown where the pod's group is", test_unknown_priority),
		CLAIM("and its own where that is shorter", test_own_is_shorter),
		CLAIM("a pod that no shutdown stopped has its own trigger and period",
		      test_not_by_shutdown),
		CLAIM("the next engine knows what the shutdown gave", test_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
