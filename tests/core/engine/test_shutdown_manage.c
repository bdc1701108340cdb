// SPDX-License-Identifier: Apache-2.0
/* Claims about the engine in a shutdown that graced drives: what an edge needs of a container. */
#include <string.h>

#include "core/cgroup/path.h"

#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"
#include "lib/shutdown/shutworld.h"

/* The stop signal is graced's own where the runtime cannot. */
static void test_stopped(void **state)
{
	const struct effect *stop, *signal;
	struct world w;

	shutworld_open(&w, SHUTDOWN_MANAGE, 0);
	shutworld_announce(&w);
	assert_int_equal(world_effects(&w, EFFECT_STOP_UNITS), 1);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 0);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 1);
	stop = world_effect(&w, EFFECT_STOP);
	assert_int_equal(stop->id, CG_A1);
	/* Its own are 30 s, its group has 20. */
	assert_int_equal(stop->at_ns, SEC(20));
	assert_int_equal(strlen(stop->container_id), 64);
	assert_int_equal(strlen(stop->pod_uid), 36);
	assert_int_not_equal(stop->runtime, CGPATH_RT_NONE);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_STOP_FAILED, CG_A1);
	assert_int_equal(world_effects(&w, EFFECT_SIGNAL), 1);
	signal = world_effect(&w, EFFECT_SIGNAL);
	assert_int_equal(signal->id, CG_A1);
	assert_int_equal(signal->signal, 15);
	assert_int_equal(signal->pid, P_A1.pid);
	assert_int_equal(signal->start_ns, P_A1.start_ns);
	world_close(&w);
}

/* Whoever of both asks is seen by the kernel half. */
static void test_asked(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_MANAGE, 0);
	shutworld_announce(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	shutworld_answer(&w, ASKED + SEC(1), SHUTDOWN_EV_STOP_FAILED, CG_A1);
	shutworld_pass(&w, ASKED + SEC(20) - 1);
	assert_int_equal(world_effects(&w, EFFECT_SIGNAL), 0);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	shutworld_pass(&w, ASKED + SEC(20));
	assert_int_equal(world_effects(&w, EFFECT_KILL), 1);
	assert_int_equal(world_effect(&w, EFFECT_KILL)->id, CG_A1);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_KILLED)->step.container.timeout_ns,
			 SEC(20));
	world_close(&w);
}

/* That it does not answer is graced's doing where that drives the shutdown. */
static void test_kubelet_stopped(void **state)
{
	for (int managed = 0; managed < 2; managed++) {
		struct obs failed = {.type = OBS_NAMES,
				     .at_ns = ASKED + MSEC(1),
				     .names = {.id = CG_A1, .failed = true}};
		struct world w;

		strcpy(failed.names.pod_uid, WORLD_UID_A);
		shutworld_open(&w, managed ? SHUTDOWN_MANAGE : SHUTDOWN_ASSIST, 0);
		shutworld_announce(&w);
		if (managed)
			shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
		world_managed(&w, ASKED, CG_A1, &P_A1, 15);
		for (int i = 0; i < 4; i++)
			world_tell(&w, &failed);
		world_exit(&w, ASKED + SEC(1), CG_A1, &P_A1, 0);
		world_empty(&w, ASKED + SEC(1) + 1, CG_A1);
		world_timer(&w, ASKED + SEC(2));
		assert_int_equal(world_stop(&w)->pod_terminating, TRI_UNKNOWN);
		assert_int_equal(world_stop(&w)->gaps, managed ? 0 : GAP(SOURCE_FAILED));
		world_close(&w);
	}
}

/* systemd asks no container of a pod: that signal may be any. */
static void test_asked_by_another(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_MANAGE, 0);
	shutworld_announce(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	world_from(&w, ASKED, CG_A1, &P_A1, 15, &P_SYSTEMD);
	shutworld_answer(&w, ASKED + SEC(1), SHUTDOWN_EV_STOP_FAILED, CG_A1);
	assert_int_equal(world_effects(&w, EFFECT_SIGNAL), 1);
	world_close(&w);
}

/* By the spec, which the kubelet reports. */
static void test_sidecar(void **state)
{
	const struct meta_container proxy = {.source = META_CRI,
					     .id = WORLD_ID_A2,
					     .pod_uid = WORLD_UID_A,
					     .name = "proxy",
					     .kind = META_KIND_CONTAINER};
	const struct meta_container spec = {.source = META_KUBELET,
					    .pod_uid = WORLD_UID_A,
					    .name = "proxy",
					    .kind = META_KIND_CONTAINER,
					    .known = META_CTR_SIDECAR,
					    .sidecar = 1};
	struct world w;

	shutworld_open(&w, SHUTDOWN_MANAGE, 0);
	world_init(&w, SEC(21), CG_A2, &P_A2);
	world_say_container(&w, SEC(22), &proxy);
	world_say_container(&w, SEC(22), &spec);
	shutworld_announce(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 1);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->id, CG_A1);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	shutworld_pass(&w, ASKED + SEC(3));
	assert_int_equal(world_effects(&w, EFFECT_STOP), 1);
	world_exit(&w, ASKED + SEC(3), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, ASKED + SEC(3), CG_A1);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 2);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->id, CG_A2);
	/* What it waited is off its time. */
	assert_int_equal(world_effect(&w, EFFECT_STOP)->at_ns, SEC(17));
	world_close(&w);
}

/* What the runtime has yet to name has its time, and the lock is held for it. */
static void test_named_late(void **state)
{
	enum { CG_NEW = 80 };
	const struct meta_container named = {.source = META_CRI,
					     .id = HEX_64("9"),
					     .pod_uid = WORLD_UID_A,
					     .name = "new",
					     .kind = META_KIND_CONTAINER};
	struct graced_proc init = P_A2;
	struct world w;

	init.cgroup_id = init.watch_id = CG_NEW;
	init.pid = 7000;
	shutworld_open(&w, SHUTDOWN_MANAGE, 0);
	world_exit(&w, SEC(50), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(50), CG_A1);
	world_made(&w, ANNOUNCED - MSEC(100), CG_NEW, CG_POD_A, HEX_64("9"));
	world_init(&w, ANNOUNCED - MSEC(100), CG_NEW, &init);
	shutworld_announce(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	assert_null(shutworld_step(&w, SHUTDOWN_REPORT_RELEASED));
	assert_int_equal(world_effects(&w, EFFECT_STOP), 0);
	world_say_container(&w, ASKED + MSEC(500), &named);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 1);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->id, CG_NEW);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->at_ns, SEC(20));
	world_close(&w);
}

static void answer_sandbox(struct world *w, uint64_t at)
{
	struct obs obs = {.type = OBS_SHUTDOWN,
			  .at_ns = at,
			  .shutdown = {.event = SHUTDOWN_EV_SANDBOX_STOPPED,
				       .pod_uid = WORLD_UID_A}};

	assert_int_equal(world_tell(w, &obs), 0);
}

/* As the runtime calls it. One that is gone is not known any more. */
static void test_sandbox(void **state)
{
	const struct effect *stop;
	struct world w;

	for (int there = 0; there < 2; there++) {
		shutworld_open(&w, SHUTDOWN_MANAGE, 0);
		shutworld_announce(&w);
		shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
		world_managed(&w, ASKED, CG_A1, &P_A1, 15);
		if (!there)
			world_gone(&w, ASKED + SEC(2), CG_SANDBOX, NULL);
		assert_int_equal(world_effects(&w, EFFECT_STOP_SANDBOX), 0);
		world_exit(&w, ASKED + SEC(3), CG_A1, &P_A1, EXIT(0));
		world_empty(&w, ASKED + SEC(3), CG_A1);
		assert_int_equal(world_effects(&w, EFFECT_STOP_SANDBOX), 1);
		stop = world_effect(&w, EFFECT_STOP_SANDBOX);
		assert_string_equal(stop->pod_uid, WORLD_UID_A);
		assert_string_equal(stop->container_id, there ? WORLD_ID_SANDBOX : "");
		assert_int_equal(stop->id, there ? CG_SANDBOX : 0);
		assert_int_equal(world_effects(&w, EFFECT_FLUSH), 0);
		answer_sandbox(&w, ASKED + SEC(4));
		assert_int_equal(world_effects(&w, EFFECT_FLUSH), 1);
		assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
		world_close(&w);
	}
}

/* The runtime reports it with the container, before anything was asked to stop. */
static void give_hook(struct world *w)
{
	const struct meta_container main = {.source = META_CRI,
					    .id = WORLD_ID_A1,
					    .pod_uid = WORLD_UID_A,
					    .name = "main",
					    .kind = META_KIND_CONTAINER,
					    .known = META_CTR_PRESTOP,
					    .prestop = true};

	world_say_container(w, SEC(22), &main);
}

static void test_hook(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_MANAGE, 0);
	give_hook(&w);
	shutworld_announce(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 1);
	assert_int_equal(world_effect(&w, EFFECT_STOP)->hook_ns, SEC(20));
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_HOOK_BEGUN, CG_A1);
	shutworld_pass(&w, ASKED + SEC(19));
	assert_int_equal(world_effects(&w, EFFECT_SIGNAL), 0);
	shutworld_answer(&w, ASKED + SEC(19), SHUTDOWN_EV_HOOK_ENDED, CG_A1);
	shutworld_pass(&w, ASKED + SEC(21) - 1);
	assert_int_equal(world_effects(&w, EFFECT_SIGNAL), 0);
	shutworld_pass(&w, ASKED + SEC(21));
	assert_int_equal(world_effects(&w, EFFECT_SIGNAL), 1);
	world_close(&w);
}

/* Another engine knows what this one saved, in an incremental checkpoint, too. */
static void restart(struct world *w, struct obs_list *kept)
{
	engine_keep(w->engine, false, relay_keep, kept);
	world_close(w);
	world_open_bare(w, &WORLD_ALL);
	for (size_t i = 0; i < kept->n; i++)
		world_tell(w, &kept->list[i]);
	obs_list_free(kept);
}

static void come_back_to(struct world *w, uint64_t at, bool cancelled, uint64_t announced_ns)
{
	struct obs announced = {.type = OBS_SHUTDOWN,
				.at_ns = at,
				.shutdown = {.event = SHUTDOWN_EV_ANNOUNCED,
					     .announced_ns = announced_ns,
					     .limit_ns = LIMIT}};

	world_found(w, at, CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
	world_found(w, at, CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	world_init(w, at, CG_A1, &P_A1);
	world_attach(w, at);
	shutworld_plan(w, at, SHUTDOWN_MANAGE, 0);
	shutworld_tell(w, at, SHUTDOWN_EV_LOCK_TAKEN);
	if (cancelled)
		shutworld_tell(w, at, SHUTDOWN_EV_CANCELLED);
	assert_int_equal(world_tell(w, &announced), 0);
}

static void come_back(struct world *w, uint64_t at, bool cancelled)
{
	/* By a clock that was slewed. */
	come_back_to(w, at, cancelled, ANNOUNCED - MSEC(3));
}

static void test_restart(void **state)
{
	struct obs_list kept = {};
	struct world w;

	shutworld_open(&w, SHUTDOWN_MANAGE, 0);
	engine_keep(w.engine, true, relay_keep, &kept);
	shutworld_announce(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	restart(&w, &kept);
	come_back(&w, ASKED + SEC(4), false);
	assert_int_equal(world_effects(&w, EFFECT_STOP_UNITS), 0);
	shutworld_pass(&w, ASKED + SEC(20) - 1);
	assert_int_equal(world_effects(&w, EFFECT_STOP), 0);
	assert_int_equal(world_effects(&w, EFFECT_SIGNAL), 0);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	assert_int_equal(world_effects(&w, EFFECT_DROP_LOCK), 0);
	shutworld_pass(&w, ASKED + SEC(20));
	assert_int_equal(world_effects(&w, EFFECT_KILL), 1);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_ANNOUNCED)->step.announced_ns,
			 ANNOUNCED);
	world_close(&w);
}

/* The record of its SIGKILL is not repeated; what survives that is killed again after its second. */
static void test_restart_killed(void **state)
{
	struct obs_list kept = {};
	struct world w;

	shutworld_open(&w, SHUTDOWN_MANAGE, 0);
	engine_keep(w.engine, true, relay_keep, &kept);
	shutworld_announce(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	shutworld_pass(&w, ASKED + SEC(20));
	assert_int_equal(world_effects(&w, EFFECT_KILL), 1);
	restart(&w, &kept);
	come_back(&w, ASKED + SEC(20) + MSEC(200), false);
	shutworld_pass(&w, ASKED + SEC(21) - 1);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	shutworld_pass(&w, ASKED + SEC(21));
	assert_int_equal(world_effects(&w, EFFECT_KILL), 1);
	assert_null(shutworld_step(&w, SHUTDOWN_REPORT_KILLED));
	assert_non_null(shutworld_step(&w, SHUTDOWN_REPORT_SURVIVES));
	world_close(&w);
}

/* Who holds no lock any more leaves what begins then to others, also after a restart. */
static void test_restart_released(void **state)
{
	const struct meta_container named = {.source = META_CRI,
					     .id = WORLD_ID_A2,
					     .pod_uid = WORLD_UID_A,
					     .name = "proxy",
					     .kind = META_KIND_CONTAINER};
	struct obs_list kept = {};
	struct world w;

	shutworld_open(&w, SHUTDOWN_MANAGE, 0);
	engine_keep(w.engine, true, relay_keep, &kept);
	shutworld_announce(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	world_exit(&w, ASKED + SEC(1), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, ASKED + SEC(1), CG_A1);
	answer_sandbox(&w, ASKED + SEC(1));
	shutworld_answer(&w, ASKED + SEC(1), SHUTDOWN_EV_FLUSHED, 0);
	assert_int_equal(world_effects(&w, EFFECT_DROP_LOCK), 1);
	restart(&w, &kept);
	come_back(&w, ASKED + SEC(4), false);
	world_found(&w, ASKED + SEC(5), CG_A2,
		    "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A2);
	world_init(&w, ASKED + SEC(5), CG_A2, &P_A2);
	world_say_container(&w, ASKED + SEC(5), &named);
	shutworld_pass(&w, ASKED + SEC(30));
	assert_int_equal(world_effects(&w, EFFECT_STOP), 0);
	assert_int_equal(world_effects(&w, EFFECT_SIGNAL), 0);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	world_close(&w);
}

/* The second shutdown has nothing of the first; nor has one that another process saw cancelled. */
static void test_restart_cancelled(void **state)
{
	for (int late = 0; late < 2; late++) {
		struct obs_list kept = {};
		struct world w;

		shutworld_open(&w, SHUTDOWN_MANAGE, 0);
		engine_keep(w.engine, true, relay_keep, &kept);
		shutworld_announce(&w);
		shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
		world_managed(&w, ASKED, CG_A1, &P_A1, 15);
		engine_keep(w.engine, false, relay_keep, &kept);
		if (!late)
			shutworld_answer(&w, ASKED + SEC(1), SHUTDOWN_EV_CANCELLED, 0);
		restart(&w, &kept);
		come_back(&w, ASKED + SEC(4), late);
		assert_int_equal(world_effects(&w, EFFECT_STOP_UNITS), 1);
		world_close(&w);
	}
}

/* By its time it is another one. */
static void test_restart_other(void **state)
{
	struct obs_list kept = {};
	struct world w;

	shutworld_open(&w, SHUTDOWN_MANAGE, 0);
	engine_keep(w.engine, true, relay_keep, &kept);
	shutworld_announce(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	restart(&w, &kept);
	come_back_to(&w, ASKED + SEC(4), false, ANNOUNCED + SEC(2));
	assert_int_equal(world_effects(&w, EFFECT_STOP_UNITS), 1);
	world_close(&w);
}

static void test_cancelled(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_MANAGE, 0);
	shutworld_announce(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_CANCELLED, 0);
	assert_int_equal(world_effects(&w, EFFECT_START_UNITS), 1);
	shutworld_pass(&w, ASKED + SEC(40));
	assert_int_equal(world_effects(&w, EFFECT_SIGNAL), 0);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	world_close(&w);
}

/* A pod of priority 0, in a shutdown in which graced stops it. */
static void open_stopped(struct world *w)
{
	struct meta_pod pod = world_pod_a();

	pod.known |= META_POD_PRIORITY;
	shutworld_open(w, SHUTDOWN_MANAGE, 0);
	world_lists(w, SEC(90), &pod);
	shutworld_announce(w);
}

/* The runtime kills it, which ends it, so long after the stop signal. */
static void kill_after(struct world *w, uint64_t after_ns)
{
	struct meta_pod pod = world_pod_a();
	uint64_t at = ASKED + after_ns;

	pod.known |= META_POD_PRIORITY;
	world_managed(w, at, CG_A1, &P_A1, 9);
	world_exit(w, at + MSEC(1), CG_A1, &P_A1, 9);
	world_say_pod(w, at + MSEC(2), &pod);
	world_empty(w, at + MSEC(3), CG_A1);
	world_timer(w, at + MSEC(300));
	assert_int_equal(world_stop(w)->outcome, OUTCOME_KILLED);
}

/* Its spec has 30 s, its group 20. */
static void test_given(void **state)
{
	struct world w;

	open_stopped(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	kill_after(&w, SEC(20));
	assert_int_equal(world_stop(&w)->grace.from, GRACE_SHUTDOWN);
	assert_int_equal(world_stop(&w)->grace.ns, SEC(20));
	assert_int_equal(world_stop(&w)->cause, CAUSE_GRACE_EXPIRED);
	assert_int_equal(world_stop(&w)->gaps, 0);
	world_close(&w);
}

/* Somebody else has asked the runtime, too, with less. */
static void test_early(void **state)
{
	struct world w;

	open_stopped(&w);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	kill_after(&w, SEC(2));
	assert_true(world_stop(&w)->gaps >> GAP_GRACE_UNCERTAIN & 1);
	world_close(&w);
}

/* Who asked before graced did may have given it any time. */
static void test_given_by_another(void **state)
{
	struct world w;

	open_stopped(&w);
	world_managed(&w, ASKED - MSEC(1), CG_A1, &P_A1, 15);
	shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
	kill_after(&w, SEC(2));
	assert_int_not_equal(world_stop(&w)->grace.from, GRACE_SHUTDOWN);
	assert_int_not_equal(world_stop(&w)->grace.from, GRACE_SPEC);
	assert_true(world_stop(&w)->gaps >> GAP_GRACE_UNCERTAIN & 1);
	world_close(&w);
}

/* graced ends it at that moment, with that much of grace period. */
static void end_by_graced(struct world *w, uint64_t at, uint64_t grace_ns)
{
	assert_int_equal(world_effects(w, EFFECT_KILL), 1);
	assert_int_equal(shutworld_step(w, SHUTDOWN_REPORT_KILLED)->step.container.timeout_ns,
			 grace_ns);
	world_from(w, at, CG_A1, &P_A1, 9, &P_SELF);
	world_exit(w, at + MSEC(1), CG_A1, &P_A1, 9);
	world_empty(w, at + MSEC(2), CG_A1);
	world_timer(w, at + MSEC(300));
	assert_int_equal(world_stop(w)->grace.from, GRACE_SHUTDOWN);
	assert_int_equal(world_stop(w)->grace.ns, grace_ns);
	assert_int_equal(world_stop(w)->cause, CAUSE_GRACE_EXPIRED);
	assert_int_equal(world_stop(w)->gaps, 0);
	world_stop_sandbox(w, at + SEC(1));
	world_pod_empty(w, at + SEC(2));
	world_pod_removed(w, at + SEC(3));
	world_timer(w, at + SEC(9));
}

/* Its group begins at ASKED and has 20 s; a pod has 2 s at least. */
static void test_asked_late(void **state)
{
	static const struct {
		uint64_t late_ns, paused_ns, end_ns;
		bool hook;
	} rows[] = {
		{0, 0, SEC(20), false},
		{MSEC(1200), 0, SEC(20), false},
		{SEC(2) - 1, 0, SEC(20), false},
		/* The machine stood still: that time is nobody's. */
		{MSEC(1200), SEC(5), SEC(25), false},
		{SEC(5), 0, SEC(20), true},
		{SEC(19), 0, SEC(21), true},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		uint64_t end_ns = ASKED + rows[i].end_ns, at;
		struct world w;

		open_stopped(&w);
		if (rows[i].hook)
			give_hook(&w);
		shutworld_answer(&w, ASKED, SHUTDOWN_EV_UNITS_STOPPED, 0);
		if (rows[i].hook)
			shutworld_answer(&w, ASKED, SHUTDOWN_EV_HOOK_BEGUN, CG_A1);
		shutworld_pass(&w, ASKED + rows[i].late_ns);
		if (rows[i].hook)
			shutworld_answer(&w, ASKED + rows[i].late_ns, SHUTDOWN_EV_HOOK_ENDED,
					 CG_A1);
		world_managed(&w, ASKED + rows[i].late_ns, CG_A1, &P_A1, 15);
		if (rows[i].paused_ns) {
			at = world_effect(&w, EFFECT_WAKE_AT)->at_ns + rows[i].paused_ns;
			world_timer(&w, at);
			shutworld_tell(&w, at, SHUTDOWN_EV_HOLDERS);
		}
		shutworld_pass(&w, end_ns - 1);
		assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
		shutworld_pass(&w, end_ns);
		end_by_graced(&w, end_ns, rows[i].end_ns - rows[i].late_ns);
		assert_int_equal(world_move(&w, 0)->state, POD_STAGE_TERMINATING);
		assert_int_equal(world_move(&w, 0)->deadline_ns, end_ns);
		world_close(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("one that the runtime has yet to name is waited for", test_named_late),
		CLAIM("a container is stopped with its group's time, and signalled where that "
		      "fails",
		      test_stopped),
		CLAIM("one that was asked is killed at its deadline", test_asked),
		CLAIM("one that the runtime has yet to name is waited for", test_named_late),
		CLAIM("a signal of systemd's to a pod's container is no request of its runtime's",
		      test_asked_by_another),
		CLAIM("a kubelet that graced has stopped is no source that failed",
		      test_kubelet_stopped),
		CLAIM("a sidecar is stopped once the other containers have ended", test_sidecar),
		CLAIM("the sandbox of a pod that was stopped is stopped last, and waited for",
		      test_sandbox),
		CLAIM("a preStop hook comes before the stop signal and has the container's time",
		      test_hook),
		CLAIM("a process that is killed is followed by one that goes on where it was",
		      test_restart),
		CLAIM("what was killed before a restart is not reported to be killed after it",
		      test_restart_killed),
		CLAIM("what begins after the lock was released is left alone after a restart, too",
		      test_restart_released),
		CLAIM("what was cancelled before or after a restart is not taken up",
		      test_restart_cancelled),
		CLAIM("one of another time is not taken up either", test_restart_other),
		CLAIM("the verdict has the period that graced gave", test_given),
		CLAIM("a kill that is earlier than that is no certain one", test_early),
		CLAIM("one that is asked late has until the end of its group, in its record and "
		      "its pod's",
		      test_asked_late),
		CLAIM("a verdict claims no period that another may have cut",
		      test_given_by_another),
		CLAIM("a cancelled shutdown starts the units and ends nothing more",
		      test_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
