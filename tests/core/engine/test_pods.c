// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: how it follows a pod that the kubelet lists, to its end. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"

#define US(n)	 ((uint64_t)(n)*1000)
#define LEFT(at) ((at) + MSEC(1))	  /* what is stopped leaves */
#define GONE(at) ((at) + MSEC(1) + US(1)) /* ... and then its cgroup is empty */

static void open_listed(struct world *w)
{
	struct meta_pod pod = world_pod_a();

	world_open_pod(w, true);
	world_lists(w, SEC(12), &pod);
}

#define CG_LEFT		  95
#define UID_A_UNDERSCORED "94dc9966_21b5_4c6e_8f0a_1d2c3b4a5968"

static void test_deleted(void **state)
{
	const struct record_pod_state *last;
	struct meta_pod pod;
	struct world w;

	open_listed(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	pod = world_pod_deleted(SEC(20) - MSEC(300), SEC(30));
	pod.asked_ns = SEC(20) + MSEC(200);
	world_lists(&w, SEC(20) + MSEC(250), &pod);
	world_exit(&w, SEC(23), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(23) + US(20), CG_A1);
	world_stop_sandbox(&w, SEC(24));
	world_pod_empty(&w, GONE(SEC(24)) + US(1));
	world_pod_removed(&w, SEC(25));
	world_lists_not(&w, SEC(26));
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, DELETION, SEC(20)),
		     MOVE(TERMINATED, LAST_EXIT, GONE(SEC(24)) + US(1)),
		     MOVE(FINISHED, CGROUP_REMOVED, SEC(25)));
	last = world_move(&w, 3);
	assert_int_equal(last->previous, POD_STAGE_TERMINATED);
	assert_string_equal(last->id, WORLD_BOOT "/" WORLD_UID_A "/finished/25000000000");
	assert_string_equal(last->pod.name, "web-0");
	assert_int_equal(last->grace.ns, SEC(30));
	assert_int_equal(last->grace.from, GRACE_DELETION);
	assert_int_equal(last->deadline_ns, SEC(50));
	assert_int_equal(last->exit_ns, SEC(23));
	assert_int_equal(last->empty_ns, GONE(SEC(24)) + US(1));
	assert_int_equal(last->removed_ns, SEC(25));
	/* Its object is gone: so is all that is known of it. */
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_NONE);
	world_close(&w);
}

/* containerd makes such a cgroup of a systemd name under its own driver. */
static void test_beside(void **state)
{
	struct graced_proc proc = P_A2;
	struct meta_pod pod;
	struct world w;

	open_listed(&w);
	world_found(&w, SEC(13), CG_LEFT,
		    "/system.slice/kubepods-burstable-pod" UID_A_UNDERSCORED
		    ".slice:cri-containerd:" HEX_64("7"));
	proc.cgroup_id = proc.watch_id = CG_LEFT;
	world_init(&w, SEC(13), CG_LEFT, &proc);
	pod = world_pod_deleted(SEC(20), SEC(30));
	world_lists(&w, SEC(20), &pod);
	world_stop_a1(&w, SEC(21));
	world_stop_sandbox(&w, SEC(22));
	world_pod_empty(&w, SEC(23));
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_TERMINATING);
	world_exit(&w, SEC(24), CG_LEFT, &proc, EXIT(0));
	world_empty(&w, SEC(24), CG_LEFT);
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_TERMINATED);
	world_close(&w);
}

static void test_not_early(void **state)
{
	struct meta_pod pod;
	struct world w;

	open_listed(&w);
	pod = world_pod_deleted(SEC(20), SEC(30));
	world_lists(&w, SEC(21), &pod);
	world_stop_a1(&w, SEC(22));
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_TERMINATING);
	world_stop_sandbox(&w, SEC(23));
	/* A monitor of the runtime's may be left in the pod's own cgroup. */
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_TERMINATING);
	world_pod_empty(&w, SEC(24));
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_TERMINATED);
	world_gone(&w, SEC(25), CG_A1, NULL);
	world_gone(&w, SEC(25), CG_A2, NULL);
	world_gone(&w, SEC(25), CG_SANDBOX, NULL);
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_TERMINATED);
	world_gone(&w, SEC(26), CG_POD_A, NULL);
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_FINISHED);
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, DELETION, SEC(21)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(24)), MOVE(FINISHED, CGROUP_REMOVED, SEC(26)));
	world_close(&w);
}

/* The kubelet 1.20 leaves one behind on a unified hierarchy. */
static void test_left_over(void **state)
{
	struct meta_pod pod;
	struct world w;

	open_listed(&w);
	world_found(&w, SEC(19), CG_LEFT,
		    "/kubepods.slice/kubepods-pod" UID_A_UNDERSCORED ".slice");
	pod = world_pod_deleted(SEC(20), SEC(30));
	world_lists(&w, SEC(21), &pod);
	world_stop_a1(&w, SEC(22));
	world_stop_sandbox(&w, SEC(23));
	world_pod_empty(&w, SEC(24));
	world_pod_removed(&w, SEC(25));
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, DELETION, SEC(21)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(24)), MOVE(FINISHED, CGROUP_REMOVED, SEC(25)));
	world_close(&w);
}

static struct graced_proc again(uint64_t at)
{
	struct graced_proc proc = P_A1;

	proc.start_ns = at;
	proc.pid = 5000 + (uint32_t)(at / SEC(1));
	return proc;
}

static void test_restarts(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct graced_proc proc = P_A1;
	struct world w;

	open_listed(&w);
	for (uint64_t at = SEC(20); at < SEC(120); at += SEC(20)) {
		/* A probe fails, or it crashes. */
		if (at % SEC(40))
			world_managed(&w, at, CG_A1, &proc, 15);
		world_exit(&w, at + SEC(1), CG_A1, &proc, EXIT(1));
		world_empty(&w, at + SEC(1) + US(1), CG_A1);
		world_lists(&w, at + SEC(2), &pod);
		proc = again(at + SEC(10));
		world_init(&w, at + SEC(10), CG_A1, &proc);
	}
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)));
	/* Where its end begins is not where the last restart began. */
	pod = world_pod_deleted(SEC(200), SEC(30));
	world_managed(&w, SEC(201), CG_A1, &proc, 15);
	world_lists(&w, SEC(202), &pod);
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, DELETION, SEC(201)));
	world_close(&w);
}

static void test_stop_before_deletion(void **state)
{
	struct meta_pod pod;
	struct world w;

	open_listed(&w);
	/* A probe's stop is under way when the pod is deleted. */
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	pod = world_pod_deleted(SEC(30), SEC(30));
	world_lists(&w, SEC(31), &pod);
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, DELETION, SEC(31)));
	world_close(&w);
}

/* A stop that its container did not come back from, long before the pod's own. */
static void test_stop_long_before(void **state)
{
	struct world w;

	open_listed(&w);
	world_stop_a1(&w, SEC(20));
	world_stop_sandbox(&w, SEC(300));
	world_lists_not(&w, SEC(301));
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, REMOVED, SEC(300)));
	world_close(&w);
}

static void test_shorter(void **state)
{
	struct meta_pod pod;
	struct world w;

	open_listed(&w);
	pod = world_pod_deleted(SEC(20), SEC(30));
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_lists(&w, SEC(21), &pod);
	assert_int_equal(world_view(&w, WORLD_UID_A).deadline_ns, SEC(50));
	pod = world_pod_deleted(SEC(20), SEC(5));
	world_lists(&w, SEC(22), &pod);
	assert_int_equal(world_view(&w, WORLD_UID_A).grace_ns, SEC(5));
	assert_int_equal(world_view(&w, WORLD_UID_A).deadline_ns, SEC(25));
	/* It never grows. */
	pod = world_pod_deleted(SEC(20), SEC(60));
	world_lists(&w, SEC(23), &pod);
	assert_int_equal(world_view(&w, WORLD_UID_A).grace_ns, SEC(5));
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, DELETION, SEC(20)));
	world_close(&w);
}

static void test_forced(void **state)
{
	struct world w;

	open_listed(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_lists_not(&w, SEC(21));
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_TERMINATING);
	assert_false(world_view(&w, WORLD_UID_A).desired);
	world_listed(&w, SEC(51));
	world_exit(&w, SEC(60), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(60) + US(1), CG_A1);
	world_stop_sandbox(&w, SEC(61));
	world_pod_empty(&w, SEC(62));
	world_pod_removed(&w, SEC(63));
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, REMOVED, SEC(20)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(62)), MOVE(FINISHED, CGROUP_REMOVED, SEC(63)));
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_NONE);
	world_close(&w);
}

static void test_completed(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct world w;

	open_listed(&w);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(20) + US(1), CG_A1);
	world_stop_sandbox(&w, SEC(22));
	world_pod_empty(&w, SEC(23));
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)));
	pod.phase = META_PHASE_SUCCEEDED;
	world_lists(&w, SEC(40), &pod);
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, PHASE, SEC(20)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(23)));
	world_close(&w);
}

static void test_never_there(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_bare(&w, &WORLD_ALL);
	world_attach(&w, SEC(1));
	world_lists(&w, SEC(12), &pod);
	world_lists_not(&w, SEC(13));
	assert_moves(&w, MOVE(SYNC, LISTED, SEC(12)), MOVE(TERMINATING, REMOVED, SEC(13)),
		     MOVE(TERMINATED, REMOVED, SEC(13)), MOVE(FINISHED, REMOVED, SEC(13)));
	assert_int_equal(world_move(&w, 3)->empty_ns, 0);
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_NONE);
	world_clear(&w);
	pod.phase = META_PHASE_FAILED;
	world_lists(&w, SEC(20), &pod);
	assert_moves(&w, MOVE(TERMINATED, LISTED, SEC(20)), MOVE(FINISHED, LISTED, SEC(20)));
	world_close(&w);
}

/* Its manifest is the same, and so is its uid. */
static void test_static_again(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct pod_counts house;
	struct world w;

	pod.known |= META_POD_STATIC;
	pod.is_static = true;
	world_open_pod(&w, true);
	world_lists(&w, SEC(12), &pod);
	world_lists_not(&w, SEC(20));
	world_lists(&w, SEC(21), &pod);
	world_stop_a1(&w, SEC(22));
	world_stop_sandbox(&w, SEC(23));
	world_pod_empty(&w, SEC(24));
	world_pod_removed(&w, SEC(25));
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, REMOVED, SEC(20)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(24)), MOVE(FINISHED, CGROUP_REMOVED, SEC(25)),
		     MOVE(SYNC, LISTED, SEC(25)));
	engine_pods_count(w.engine, &house);
	assert_int_equal(house.restarted[true], 1);
	assert_int_equal(house.desired[true], 1);
	assert_int_equal(world_move(&w, 4)->previous, POD_STAGE_FINISHED);
	world_close(&w);
}

/* Ends, and is put back by a kubelet that neither waits for its cgroup to go nor makes a new one. */
static void test_static_left(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct graced_proc proc = again(SEC(26));
	struct world w;

	pod.known |= META_POD_STATIC;
	pod.is_static = true;
	for (int before = 0; before < 2; before++) {
		world_open_pod(&w, true);
		world_lists(&w, SEC(12), &pod);
		world_lists_not(&w, SEC(20));
		if (before)
			world_lists(&w, SEC(21), &pod);
		world_stop_a1(&w, SEC(22));
		world_stop_sandbox(&w, SEC(23));
		world_pod_empty(&w, SEC(24));
		world_clear(&w);
		world_init(&w, SEC(26), CG_A1, &proc);
		assert_moves(&w, MOVE(FINISHED, STARTED, SEC(26)), MOVE(SYNC, STARTED, SEC(26)));
		assert_int_equal(world_effects(&w, EFFECT_FIND_POD), !before);
		/* A list of before that does not have it says nothing. */
		world_tell(&w, &(struct obs){.type = OBS_LISTED,
					     .at_ns = SEC(26) + 1,
					     .listed = {SEC(25), META_KUBELET}});
		world_lists(&w, SEC(27), &pod);
		assert_int_equal(world_count(&w, RECORD_POD), 2);
		assert_true(world_view(&w, WORLD_UID_A).desired);
		world_lists_not(&w, SEC(40));
		assert_int_equal(world_move(&w, 2)->state, POD_STAGE_TERMINATING);
		assert_int_equal(world_move(&w, 2)->trigger, POD_REMOVED);
		assert_int_equal(world_move(&w, 2)->at_ns, SEC(40));
		world_close(&w);
	}
}

/* It began before the last end of the others, though that is reported later; and before that
 * nothing is over. */
static void test_not_again(void **state)
{
	struct graced_proc proc = again(SEC(24) - 1);
	struct world w;

	open_listed(&w);
	world_lists_not(&w, SEC(20));
	world_stop_a1(&w, SEC(22));
	proc.start_ns = SEC(23) - 1;
	world_init(&w, SEC(23) - 1, CG_A1, &proc);
	world_exit(&w, SEC(23), CG_A1, &proc, 9);
	world_empty(&w, SEC(23) + 1, CG_A1);
	world_stop_sandbox(&w, SEC(23));
	world_pod_empty(&w, SEC(24));
	world_init(&w, SEC(25), CG_A2, &proc);
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, REMOVED, SEC(20)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(24)));
	world_close(&w);
}

/* A kubelet 1.20 that had begun to make the sandbox anew, when the deletion came, goes on with it. */
static void test_deleted_again(void **state)
{
	struct graced_proc proc = again(SEC(26));
	struct meta_pod pod;
	struct world w;

	open_listed(&w);
	pod = world_pod_deleted(SEC(20), SEC(30));
	world_lists(&w, SEC(21), &pod);
	world_stop_a1(&w, SEC(22));
	world_stop_sandbox(&w, SEC(23));
	world_pod_empty(&w, SEC(24));
	world_clear(&w);
	world_made(&w, SEC(25), 81, CG_POD_A, WORLD_ID_B1);
	proc.watch_id = 81;
	world_init(&w, SEC(26), 81, &proc);
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_TERMINATING);
	world_exit(&w, SEC(27), 81, &proc, 9);
	world_empty(&w, SEC(27) + 1, 81);
	world_pod_empty(&w, SEC(28));
	world_gone(&w, SEC(29), 81, NULL);
	world_pod_removed(&w, SEC(29));
	assert_moves(&w, MOVE(FINISHED, STARTED, SEC(26)), MOVE(TERMINATING, STARTED, SEC(26)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(28)), MOVE(FINISHED, CGROUP_REMOVED, SEC(29)));
	assert_int_equal(world_move(&w, 1)->previous, POD_STAGE_FINISHED);
	world_close(&w);
}

/* Nobody listed in between: the kernel alone saw it go and come. */
static void test_again_unseen(void **state)
{
	struct graced_proc proc = again(SEC(30));
	struct world w;

	open_listed(&w);
	world_stop_a1(&w, SEC(22));
	world_stop_sandbox(&w, SEC(23));
	world_pod_empty(&w, SEC(24));
	world_pod_removed(&w, SEC(25));
	world_timer(&w, SEC(28));
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, CGROUP_REMOVED, SEC(22)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(24)), MOVE(FINISHED, CGROUP_REMOVED, SEC(25)));
	world_clear(&w);
	world_made(&w, SEC(29), 80, CG_BURSTABLE, "pod" WORLD_UID_A);
	world_made(&w, SEC(29), 81, 80, WORLD_ID_A1);
	proc.watch_id = 81;
	world_init(&w, SEC(30), 81, &proc);
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(30)));
	assert_true(world_view(&w, WORLD_UID_A).desired);
	world_close(&w);
}

/* A kubelet that begins lists static pods alone for a while: no list is complete. */
static void test_kubelet_restarts(void **state)
{
	struct meta_pod pod = world_pod_a(), other = world_pod_a();
	struct world w;

	open_listed(&w);
	strcpy(other.uid, WORLD_UID_B);
	other.is_static = true;
	other.known |= META_POD_STATIC;
	for (uint64_t at = SEC(20); at < SEC(30); at += SEC(1))
		world_say_pod(&w, at, &other);
	assert_true(world_view(&w, WORLD_UID_A).desired);
	world_lists(&w, SEC(31), &pod);
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)));
	world_close(&w);
}

/* It dies in the middle of a termination, and is back after it. */
static void test_kubelet_down(void **state)
{
	struct meta_pod pod;
	struct world w;

	open_listed(&w);
	pod = world_pod_deleted(SEC(20), SEC(30));
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_lists(&w, SEC(21), &pod);
	world_exit(&w, SEC(22), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(22) + US(1), CG_A1);
	world_stop_sandbox(&w, SEC(90));
	world_pod_empty(&w, SEC(91));
	world_lists(&w, SEC(100), &pod);
	world_pod_removed(&w, SEC(101));
	world_lists_not(&w, SEC(102));
	assert_moves(&w, MOVE(SYNC, STARTED, SEC(9)), MOVE(TERMINATING, DELETION, SEC(20)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(91)),
		     MOVE(FINISHED, CGROUP_REMOVED, SEC(101)));
	world_close(&w);
}

/* Deleted while its sandbox is being made: its cgroup stands, and nothing was in it yet. */
static void open_early(struct world *w)
{
	struct meta_pod pod = world_pod_a();

	world_open(w, &WORLD_ALL);
	world_lists(w, SEC(12), &pod);
	pod = world_pod_deleted(SEC(15), SEC(30));
	world_lists(w, SEC(15), &pod);
}

static void run_and_end(struct world *w)
{
	world_made(w, SEC(16), CG_SANDBOX, CG_POD_A, WORLD_ID_SANDBOX);
	world_init(w, SEC(16), CG_SANDBOX, &P_PAUSE);
	world_init(w, SEC(17), CG_A1, &P_A1);
	world_stop_a1(w, SEC(59));
	world_stop_sandbox(w, SEC(60));
	world_pod_empty(w, SEC(61));
	world_pod_removed(w, SEC(62));
}

static void test_early(void **state)
{
	struct world w;

	open_early(&w);
	run_and_end(&w);
	world_lists_not(&w, SEC(63));
	assert_moves(&w, MOVE(SYNC, LISTED, SEC(12)), MOVE(TERMINATING, DELETION, SEC(15)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(61)), MOVE(FINISHED, CGROUP_REMOVED, SEC(62)));
	world_close(&w);
	/* The object is deleted by force: the kubelet goes on all the same. */
	open_early(&w);
	world_lists_not(&w, SEC(15) + MSEC(500));
	run_and_end(&w);
	assert_moves(&w, MOVE(SYNC, LISTED, SEC(12)), MOVE(TERMINATING, DELETION, SEC(15)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(61)), MOVE(FINISHED, CGROUP_REMOVED, SEC(62)));
	world_close(&w);
}

/* ... and its cgroup is removed, with nothing in it ever. */
static void test_early_removed(void **state)
{
	struct world w;

	open_early(&w);
	world_pod_removed(&w, SEC(20));
	assert_moves(&w, MOVE(SYNC, LISTED, SEC(12)), MOVE(TERMINATING, DELETION, SEC(15)),
		     MOVE(TERMINATED, CGROUP_REMOVED, SEC(20)),
		     MOVE(FINISHED, CGROUP_REMOVED, SEC(20)));
	assert_int_equal(world_move(&w, 3)->empty_ns, 0);
	world_close(&w);
}

/* ... or the kubelet says that it is over, in a cgroup that it has yet to remove. */
static void test_early_over(void **state)
{
	struct meta_pod pod = world_pod_deleted(SEC(15), SEC(30));
	struct world w;

	open_early(&w);
	pod.phase = META_PHASE_FAILED;
	world_lists(&w, SEC(18), &pod);
	world_pod_removed(&w, SEC(20));
	assert_moves(&w, MOVE(SYNC, LISTED, SEC(12)), MOVE(TERMINATING, DELETION, SEC(15)),
		     MOVE(TERMINATED, PHASE, SEC(18)), MOVE(FINISHED, CGROUP_REMOVED, SEC(20)));
	world_close(&w);
}

/* Without a cgroup its list alone says when nothing more begins. */
static void test_early_no_cgroup(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_bare(&w, &WORLD_ALL);
	world_attach(&w, SEC(1));
	world_lists(&w, SEC(12), &pod);
	pod = world_pod_deleted(SEC(15), SEC(30));
	world_lists(&w, SEC(15), &pod);
	assert_moves(&w, MOVE(SYNC, LISTED, SEC(12)), MOVE(TERMINATING, DELETION, SEC(15)));
	world_lists_not(&w, SEC(17));
	assert_moves(&w, MOVE(SYNC, LISTED, SEC(12)), MOVE(TERMINATING, DELETION, SEC(15)),
		     MOVE(TERMINATED, REMOVED, SEC(17)), MOVE(FINISHED, REMOVED, SEC(17)));
	world_close(&w);
}

/* The sandbox died, and the kubelet was making another one when the deletion came. */
static void test_sandbox_anew(void **state)
{
	struct graced_proc proc = again(SEC(26));
	struct meta_pod pod;
	struct world w;

	open_listed(&w);
	world_exit(&w, SEC(18), CG_SANDBOX, &P_PAUSE, 9);
	world_empty(&w, SEC(18) + 1, CG_SANDBOX);
	world_exit(&w, SEC(18), CG_A1, &P_A1, 9);
	world_empty(&w, SEC(18) + 1, CG_A1);
	world_pod_empty(&w, SEC(18) + 2);
	pod = world_pod_deleted(SEC(20), SEC(30));
	world_lists(&w, SEC(21), &pod);
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_TERMINATING);
	world_clear(&w);
	world_made(&w, SEC(25), 81, CG_POD_A, WORLD_ID_B1);
	proc.watch_id = 81;
	world_init(&w, SEC(26), 81, &proc);
	world_exit(&w, SEC(27), 81, &proc, 9);
	world_empty(&w, SEC(27) + 1, 81);
	world_pod_empty(&w, SEC(28));
	world_gone(&w, SEC(29), 81, NULL);
	world_pod_removed(&w, SEC(29));
	assert_moves(&w, MOVE(TERMINATED, LAST_EXIT, SEC(28)),
		     MOVE(FINISHED, CGROUP_REMOVED, SEC(29)));
	world_close(&w);
}

/* Another engine comes while the sandbox is being made. */
static void test_early_restart(void **state)
{
	struct obs_list kept = {};
	struct world w;

	open_early(&w);
	engine_keep(w.engine, true, relay_keep, &kept);
	world_close(&w);
	world_open_bare(&w, &WORLD_ALL);
	for (size_t i = 0; i < kept.n; i++)
		world_tell(&w, &kept.list[i]);
	obs_list_free(&kept);
	world_found(&w, SEC(15) + 1, CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
	world_found(&w, SEC(15) + 1, CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	world_attach(&w, SEC(15) + 2);
	run_and_end(&w);
	assert_moves(&w, MOVE(TERMINATED, LAST_EXIT, SEC(61)),
		     MOVE(FINISHED, CGROUP_REMOVED, SEC(62)));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a deleted pod's life is reported with the kernel's times", test_deleted),
		CLAIM("a pod is not over before its last process and its last cgroup",
		      test_not_early),
		CLAIM("a pod whose own cgroup is empty goes on while a container beside that runs",
		      test_beside),
		CLAIM("a cgroup that nothing was ever in does not keep its pod", test_left_over),
		CLAIM("a container that restarts does not end its pod", test_restarts),
		CLAIM("a pod does not begin to end before its deletion", test_stop_before_deletion),
		CLAIM("a pod's end does not begin with a stop long before it",
		      test_stop_long_before),
		CLAIM("a grace period gets shorter and never longer", test_shorter),
		CLAIM("a pod that is gone before its processes ends with them", test_forced),
		CLAIM("a completed pod ends with its last container", test_completed),
		CLAIM("a pod without a cgroup ends at once", test_never_there),
		CLAIM("a pod that is deleted while it is being begun ends once, after all that began",
		      test_early),
		CLAIM("or when its cgroup is removed", test_early_removed),
		CLAIM("or when the kubelet says that it is over", test_early_over),
		CLAIM("or, without a cgroup, when it is listed no more", test_early_no_cgroup),
		CLAIM("nor does one end whose sandbox is being made anew", test_sandbox_anew),
		CLAIM("nor by a restart of the daemon in between", test_early_restart),
		CLAIM("a static pod that comes back lives anew once it was over",
		      test_static_again),
		CLAIM("so does one that comes back in the cgroup that it left", test_static_left),
		CLAIM("what began before the end is no new life", test_not_again),
		CLAIM("a pod whose cgroups came back lives again", test_again_unseen),
		CLAIM("a deleted pod that is begun anew ends once more", test_deleted_again),
		CLAIM("what a list that is not whole leaves out lives on", test_kubelet_restarts),
		CLAIM("a pod ends while the kubelet is away", test_kubelet_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
