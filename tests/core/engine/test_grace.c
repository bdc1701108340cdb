// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: which grace period is in force for a stop, whatever becomes of what
 * gave it. */
#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"
#include "lib/shutdown/shutworld.h"

#define STOPPED SEC(101)

static struct meta_pod prioritized(struct meta_pod pod)
{
	pod.known |= META_POD_PRIORITY;
	return pod;
}

/* Pod A has 30 s and its group 20 s; its priority is known, or not. */
static void open_node(struct world *w, bool priority)
{
	struct meta_pod pod = world_pod_a();

	shutworld_open(w, SHUTDOWN_OBSERVE, 0);
	if (priority)
		pod = prioritized(pod);
	world_lists(w, SEC(90), &pod);
}

static void announce(struct world *w)
{
	shutworld_tell(w, ANNOUNCED, SHUTDOWN_EV_ANNOUNCED);
}

/* The kubelet says after the kill how it is. */
static void kill_it(struct world *w, uint64_t at, bool priority)
{
	struct meta_pod pod = world_pod_a();

	world_managed(w, at, CG_A1, &P_A1, 9);
	world_exit(w, at + MSEC(1), CG_A1, &P_A1, 9);
	if (priority)
		pod = prioritized(pod);
	world_say_pod(w, at + MSEC(2), &pod);
	world_empty(w, at + MSEC(3), CG_A1);
	world_timer(w, at + MSEC(300));
}

static void assert_given(const struct world *w)
{
	assert_int_equal(world_stop(w)->grace.from, GRACE_SHUTDOWN);
	assert_int_equal(world_stop(w)->grace.ns, SEC(20));
	assert_int_equal(world_stop(w)->outcome, OUTCOME_KILLED);
	assert_int_equal(world_stop(w)->cause, CAUSE_GRACE_EXPIRED);
	assert_false(world_stop(w)->gaps >> GAP_GRACE_UNCERTAIN & 1);
}

static void test_cancelled(void **state)
{
	/* When logind says so: before the stop signal, or a moment after it. */
	static const uint64_t signals[] = {STOPPED, ANNOUNCED - MSEC(500)};

	for (size_t i = 0; i < LEN(signals); i++) {
		struct world w;

		open_node(&w, true);
		if (signals[i] < ANNOUNCED)
			world_managed(&w, signals[i], CG_A1, &P_A1, 15);
		announce(&w);
		if (signals[i] > ANNOUNCED)
			world_managed(&w, signals[i], CG_A1, &P_A1, 15);
		shutworld_tell(&w, SEC(110), SHUTDOWN_EV_CANCELLED);
		kill_it(&w, signals[i] + SEC(20), true);
		assert_given(&w);
		world_close(&w);
	}
}

static void test_restarted(void **state)
{
	struct obs_list kept = {};
	struct world w;

	open_node(&w, true);
	world_managed(&w, ANNOUNCED - MSEC(500), CG_A1, &P_A1, 15);
	engine_keep(w.engine, true, relay_keep, &kept);
	/* Once more what has changed. */
	announce(&w);
	engine_keep(w.engine, false, relay_keep, &kept);
	world_close(&w);
	world_open_bare(&w, &WORLD_ALL);
	for (size_t i = 0; i < kept.n; i++)
		world_tell(&w, &kept.list[i]);
	obs_list_free(&kept);
	world_found(&w, SEC(105), CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
	world_found(&w, SEC(105), CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	world_found(&w, SEC(105), CG_SANDBOX,
		    "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_SANDBOX);
	world_found(&w, SEC(105), CG_SYSTEM, "/system.slice");
	world_found(&w, SEC(105), CG_CONTAINERD, "/system.slice/containerd.service");
	world_init(&w, SEC(105), CG_A1, &P_A1);
	world_init(&w, SEC(105), CG_SANDBOX, &P_PAUSE);
	world_attach(&w, SEC(106));
	kill_it(&w, ANNOUNCED - MSEC(500) + SEC(20), true);
	assert_given(&w);
	world_close(&w);
}

/* A kill that nobody shortened, or one from before it, keeps the pod's own. */
static void test_not_of_shutdown(void **state)
{
	struct world w;

	open_node(&w, true);
	world_managed(&w, ANNOUNCED - SEC(2), CG_A1, &P_A1, 15);
	announce(&w);
	kill_it(&w, SEC(118), true);
	assert_int_equal(world_stop(&w)->grace.from, GRACE_SPEC);
	world_close(&w);
	open_node(&w, true);
	world_managed(&w, ANNOUNCED - MSEC(500), CG_A1, &P_A1, 15);
	world_managed(&w, ANNOUNCED - MSEC(200), CG_A1, &P_A1, 9);
	announce(&w);
	world_exit(&w, ANNOUNCED + MSEC(1), CG_A1, &P_A1, 9);
	world_empty(&w, ANNOUNCED + MSEC(2), CG_A1);
	world_timer(&w, ANNOUNCED + MSEC(300));
	assert_int_equal(world_stop(&w)->grace.from, GRACE_SPEC);
	assert_int_equal(world_stop(&w)->cause, CAUSE_KILLED_EARLY);
	world_close(&w);
}

static void test_unknown_priority(void **state)
{
	struct meta_pod pod = prioritized(world_pod_a());
	struct world w;

	open_node(&w, false);
	announce(&w);
	world_managed(&w, STOPPED, CG_A1, &P_A1, 15);
	kill_it(&w, STOPPED + SEC(20), false);
	assert_false(grace_known(&world_stop(&w)->grace));
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED, GAP(GRACE_UNCERTAIN));
	world_close(&w);
	/* Whatever it was given, it left in time. */
	open_node(&w, false);
	announce(&w);
	world_managed(&w, STOPPED, CG_A1, &P_A1, 15);
	shutworld_tell(&w, SEC(103), SHUTDOWN_EV_CANCELLED);
	world_ends(&w, SEC(105), EXIT(0));
	assert_false(grace_known(&world_stop(&w)->grace));
	assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, 0);
	world_close(&w);
	/* It is learned while it stops. */
	open_node(&w, false);
	announce(&w);
	world_managed(&w, STOPPED, CG_A1, &P_A1, 15);
	world_say_pod(&w, SEC(103), &pod);
	shutworld_tell(&w, SEC(110), SHUTDOWN_EV_CANCELLED);
	kill_it(&w, STOPPED + SEC(20), true);
	assert_given(&w);
	world_close(&w);
	/* Every group has more. */
	open_node(&w, false);
	pod = world_pod_a();
	pod.grace_ns = SEC(8);
	world_say_pod(&w, SEC(95), &pod);
	announce(&w);
	world_managed(&w, STOPPED, CG_A1, &P_A1, 15);
	world_ends(&w, SEC(105), EXIT(0));
	assert_int_equal(world_stop(&w)->grace.from, GRACE_SPEC);
	world_close(&w);
}

/* The deletion's period is longer than twice the spec's and a minute, by which a request would
 * lapse. */
static void test_long_deletion(void **state)
{
	struct meta_container main = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_described(&w, &pod, &main);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	pod = world_pod_deleted(SEC(20), SEC(200));
	world_say_pod(&w, SEC(20) + MSEC(5), &pod);
	for (uint64_t at = SEC(21); at < SEC(220); at += SEC(1))
		world_timer(&w, at);
	world_managed(&w, SEC(220), CG_A1, &P_A1, 9);
	world_ends(&w, SEC(220) + MSEC(1), 9);
	assert_int_equal(world_stop(&w)->grace.from, GRACE_DELETION);
	assert_int_equal(world_stop(&w)->grace.ns, SEC(200));
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED, 0);
	world_close(&w);
}

/* The kubelet would have killed by the spec: a deletion has given more, and its period is not known
 * before the kubelet says it. */
static void test_outlived(void **state)
{
	static const struct {
		uint64_t exit_ns;
		bool killed, answers;
		enum grace_from from;
	} rows[] = {
		{SEC(49), false, false, GRACE_SPEC},	   {SEC(51), false, false, GRACE_SPEC},
		{SEC(51) + 1, false, false, GRACE_HIDDEN}, {SEC(110), false, false, GRACE_HIDDEN},
		{SEC(110), true, false, GRACE_HIDDEN},	   {SEC(50), true, false, GRACE_SPEC},
		{SEC(110), false, true, GRACE_SPEC},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct meta_container main = world_main_a1();
		struct meta_pod pod = world_pod_a();
		struct world w;

		world_open_described(&w, &pod, &main);
		world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
		if (rows[i].answers)
			world_say_pod(&w, SEC(21), &pod);
		if (rows[i].killed)
			world_managed(&w, rows[i].exit_ns, CG_A1, &P_A1, 9);
		world_ends(&w, rows[i].exit_ns, rows[i].killed ? 9 : EXIT(0));
		assert_int_equal(world_stop(&w)->grace.from, rows[i].from);
		world_close(&w);
	}
}

/* It was deleted again, with less: what is known from before the kill would make it early. */
static void test_awaited(void **state)
{
	struct meta_container main = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;
	size_t asked;

	world_open_described(&w, &pod, &main);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	pod = world_pod_deleted(SEC(20), SEC(30));
	world_say_pod(&w, SEC(20) + MSEC(5), &pod);
	world_answer(&w, SEC(20) + MSEC(5), CG_A1, WORLD_UID_A, "");
	asked = world_effects(&w, EFFECT_FIND_POD);
	world_managed(&w, SEC(24), CG_A1, &P_A1, 9);
	world_exit(&w, SEC(24) + MSEC(1), CG_A1, &P_A1, 9);
	world_empty(&w, SEC(24) + MSEC(2), CG_A1);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), asked + 1);
	world_timer(&w, SEC(24) + MSEC(100));
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	pod = world_pod_deleted(SEC(20), SEC(4));
	pod.asked_ns = SEC(24) + MSEC(90);
	world_say_pod(&w, SEC(24) + MSEC(120), &pod);
	world_answer(&w, SEC(24) + MSEC(120), CG_A1, WORLD_UID_A, "");
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED, 0);
	assert_int_equal(world_stop(&w)->grace.ns, SEC(4));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what a shutdown gives a stop is in force when it is cancelled",
		      test_cancelled),
		CLAIM("what a shutdown gives a stop outlives the daemon", test_restarted),
		CLAIM("a stop that a shutdown did not begin has its own period",
		      test_not_of_shutdown),
		CLAIM("without its priority what a shutdown gives a pod is unknown",
		      test_unknown_priority),
		CLAIM("a request lasts as long as its deletion's period", test_long_deletion),
		CLAIM("a stop that outlives the spec's period was given another", test_outlived),
		CLAIM("an early kill waits for the kubelet's word of its period", test_awaited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
