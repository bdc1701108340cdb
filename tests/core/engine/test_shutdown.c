// SPDX-License-Identifier: Apache-2.0
/* Claims about the engine in a node's shutdown: what the sequencer gets of pods and their
 * containers, and what comes of what it wants. Its own rules are test_shutdown's. */
#include <string.h>

#include "core/shutdown/plan.h"

#include "lib/claim.h"
#include "lib/engine/world_pods.h"
#include "lib/shutdown/shutworld.h"

static void test_nobody_asked(void **state)
{
	struct world w;

	world_open_pod(&w, true);
	shutworld_tell(&w, ANNOUNCED, SHUTDOWN_EV_LOGIND_UP);
	shutworld_tell(&w, ANNOUNCED, SHUTDOWN_EV_ANNOUNCED);
	assert_int_equal(world_effects(&w, EFFECT_TAKE_LOCK), 0);
	assert_int_equal(world_count(&w, RECORD_SHUTDOWN), 0);
	world_close(&w);
}

static void test_announced(void **state)
{
	const struct record_shutdown *r;
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	shutworld_announce(&w);
	r = shutworld_step(&w, SHUTDOWN_REPORT_ANNOUNCED);
	assert_non_null(r);
	assert_int_equal(r->step.announced_ns, ANNOUNCED);
	assert_int_equal(r->step.limit_ns, LIMIT);
	assert_int_equal(r->step.action, SHUTDOWN_REBOOT);
	assert_true(r->step.locked);
	/* The sandbox and the container without a process are none of these. */
	assert_int_equal(r->step.living, 1);
	assert_memory_equal(r->id, WORLD_BOOT "/shutdown/100000000000/announced/",
			    sizeof(WORLD_BOOT "/shutdown/100000000000/announced/") - 1);
	world_close(&w);
}

static void test_overdue(void **state)
{
	const struct record_shutdown *r;
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	shutworld_announce(&w);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	shutworld_pass(&w, ASKED + SEC(22) - 1);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	shutworld_pass(&w, ASKED + SEC(22));
	/* 20 s are its group's, though its own are 30. */
	assert_int_equal(world_effects(&w, EFFECT_KILL), 1);
	assert_int_equal(world_effect(&w, EFFECT_KILL)->id, CG_A1);
	r = shutworld_step(&w, SHUTDOWN_REPORT_KILLED);
	assert_non_null(r);
	assert_string_equal(r->pod.name, "web-0");
	assert_string_equal(r->container.name, "main");
	assert_int_equal(r->step.container.asked_ns, ASKED);
	assert_true(r->group_known);
	assert_int_equal(r->group_priority, 0);
	world_close(&w);
}

/* A hook ran when the shutdown began; the runtime was then asked to wait for 45 s. */
static void test_deleted_before(void **state)
{
	struct meta_pod pod = world_pod_deleted(ANNOUNCED - SEC(1), SEC(45));
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	world_lists(&w, ANNOUNCED - SEC(1), &pod);
	shutworld_announce(&w);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	shutworld_pass(&w, ASKED + SEC(47) - 1);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	shutworld_pass(&w, ASKED + SEC(47));
	assert_int_equal(world_effects(&w, EFFECT_KILL), 1);
	world_close(&w);
}

/* Whether a pod is being deleted, and with which period, counts only where a source says it. */
static void test_deleted_as_reported(void **state)
{
	static const struct {
		uint32_t known;
		size_t kills; /* when the group's time is over */
	} want[] = {
		{META_POD_GRACE | META_POD_READY, 1},
		{META_POD_GRACE | META_POD_READY | META_POD_DELETION_GRACE, 1},
		{META_POD_GRACE | META_POD_DELETING, 0},
		{META_POD_GRACE | META_POD_DELETING | META_POD_DELETION_GRACE, 0},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct meta_pod pod = world_pod_deleted(ANNOUNCED - SEC(1), SEC(45));
		struct world w;

		pod.known = want[i].known;
		shutworld_open(&w, SHUTDOWN_ASSIST, 0);
		world_lists(&w, ANNOUNCED - SEC(1), &pod);
		shutworld_announce(&w);
		world_managed(&w, ASKED, CG_A1, &P_A1, 15);
		shutworld_pass(&w, ASKED + SEC(22));
		if (world_effects(&w, EFFECT_KILL) != want[i].kills)
			fail_msg("known %x: %zu kills", want[i].known,
				 world_effects(&w, EFFECT_KILL));
		world_close(&w);
	}
}

static void test_not_by_the_runtime(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	shutworld_announce(&w);
	world_from(&w, ASKED, CG_A1, &P_A1, 15, &P_SHELL);
	shutworld_pass(&w, ANNOUNCED + LIMIT);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	assert_int_equal(world_effects(&w, EFFECT_DROP_LOCK), 1);
	world_close(&w);
}

static void test_killed_by_the_runtime(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	shutworld_announce(&w);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	shutworld_pass(&w, ASKED + SEC(20));
	world_managed(&w, ASKED + SEC(20), CG_A1, &P_A1, 9);
	shutworld_pass(&w, ASKED + SEC(30));
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	world_close(&w);
}

/* Its containers, the sandbox and the status: who waits for which of them. */
static void end_pod(struct world *w, uint64_t at)
{
	world_stop_a1(w, at);
	world_stop_sandbox(w, at + MSEC(10));
	world_pod_empty(w, at + MSEC(12));
}

static void test_status(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	shutworld_announce(&w);
	end_pod(&w, ASKED);
	shutworld_pass(&w, ASKED + SEC(1));
	assert_int_equal(world_effects(&w, EFFECT_FLUSH), 0);

	pod.phase = META_PHASE_FAILED;
	pod.known |= META_POD_READY;
	pod.ready = true;
	world_lists(&w, ASKED + SEC(2), &pod);
	assert_int_equal(world_effects(&w, EFFECT_FLUSH), 0);
	pod.ready = false;
	world_lists(&w, ASKED + SEC(3), &pod);
	assert_int_equal(world_effects(&w, EFFECT_FLUSH), 1);
	assert_int_equal(world_effects(&w, EFFECT_DROP_LOCK), 0);
	shutworld_tell(&w, ASKED + SEC(3), SHUTDOWN_EV_FLUSHED);
	assert_int_equal(world_effects(&w, EFFECT_DROP_LOCK), 1);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_RELEASED)->step.reason,
			 SHUTDOWN_PODS_ENDED);
	world_close(&w);
}

static void test_object_gone(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	shutworld_announce(&w);
	end_pod(&w, ASKED);
	world_pod_removed(&w, ASKED + SEC(1));
	world_lists_not(&w, ASKED + SEC(2));
	assert_int_equal(world_effects(&w, EFFECT_FLUSH), 1);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_RELEASED)->step.reason,
			 SHUTDOWN_PODS_ENDED);
	world_close(&w);
}

/* In mode observe the lock is released at once when the last container is empty. */
static void test_many_locks(void **state)
{
	struct obs obs = {.type = OBS_SHUTDOWN,
			  .at_ns = ANNOUNCED,
			  .shutdown = {.event = SHUTDOWN_EV_HOLDERS, .n_holders = 900}};
	const struct record_shutdown *r;
	struct world w;

	for (unsigned int i = 0; i < SHUTDOWN_MAX_HOLDERS; i++)
		strcpy(obs.shutdown.holders[i].who, "someone");
	shutworld_open(&w, SHUTDOWN_OBSERVE, 0);
	shutworld_tell(&w, ANNOUNCED, SHUTDOWN_EV_ANNOUNCED);
	assert_int_equal(world_tell(&w, &obs), 0);
	world_exit(&w, ASKED, CG_A1, &P_A1, EXIT(0));
	world_empty(&w, ASKED, CG_A1);
	r = shutworld_step(&w, SHUTDOWN_REPORT_RELEASED);
	assert_non_null(r);
	assert_int_equal(r->step.n_holders, 900);
	assert_int_equal(r->step.n_listed, SHUTDOWN_MAX_HOLDERS);
	world_close(&w);
}

static void test_observes(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_OBSERVE, 0);
	shutworld_announce(&w);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	shutworld_tell(&w, ASKED, SHUTDOWN_EV_HOLDERS);
	shutworld_pass(&w, ASKED + SEC(25));
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	assert_int_equal(world_effects(&w, EFFECT_FLUSH), 0);
	world_exit(&w, ASKED + SEC(25), CG_A1, &P_A1, 9);
	world_empty(&w, ASKED + SEC(25), CG_A1);
	assert_int_equal(world_effects(&w, EFFECT_FLUSH), 1);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_RELEASED)->step.reason,
			 SHUTDOWN_ALL_EMPTY);
	world_close(&w);
}

static void test_groups(void **state)
{
	struct engine_shutdown_group groups[3];
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	assert_int_equal(engine_get_shutdown_groups(w.engine, groups, 3), 2);
	assert_int_equal(groups[0].priority, 0);
	assert_int_equal(groups[1].priority, SHUTPLAN_CRITICAL);
	assert_int_equal(groups[0].pods[SHUTDOWN_POD_RUNNING], 0);
	shutworld_announce(&w);
	assert_int_equal(engine_get_shutdown_groups(w.engine, groups, 3), 2);
	assert_int_equal(groups[0].pods[SHUTDOWN_POD_RUNNING], 2);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	assert_int_equal(engine_get_shutdown_groups(w.engine, groups, 1), 1);
	assert_int_equal(groups[0].pods[SHUTDOWN_POD_RUNNING], 1);
	assert_int_equal(groups[0].pods[SHUTDOWN_POD_STOPPING], 1);
	assert_int_equal(groups[0].pods[SHUTDOWN_POD_ENDED], 0);
	world_close(&w);
}

static void take_planned(void *userdata, const struct engine_planned_pod *pod)
{
	struct engine_planned_pod *last = userdata;

	*last = *pod;
}

static struct engine_planned_pod planned(const struct world *w)
{
	struct engine_planned_pod pod = {};

	engine_each_planned(w->engine, take_planned, &pod);
	assert_non_null(pod.uid);
	return pod;
}

/* It asks for 30 s, and its group has 20. */
static void test_cut_short(void **state)
{
	struct engine_planned_pod pod;
	const struct obs_shutdown_plan longer = {.n_ranges = 1, .ranges = {{0, 60}}};
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	assert_int_equal(engine_count_cut_short(w.engine), 1);
	pod = planned(&w);
	assert_true(pod.cut_short && pod.grace_known && pod.grace_ns == SEC(30));
	assert_true(pod.given_ns == SEC(20));
	assert_non_null(pod.name);
	shutworld_set_plan(&w, SEC(30), &longer);
	assert_int_equal(engine_count_cut_short(w.engine), 0);
	pod = planned(&w);
	assert_true(!pod.cut_short && pod.given_ns == SEC(30));
	world_close(&w);
}

/* The kubelet goes on by the configuration that it has read; and so when there is no other. */
static void test_plan_waits(void **state)
{
	const struct obs_shutdown_plan shorter = {
		.overdue_slack_ns = SEC(2), .n_ranges = 1, .ranges = {{0, 1}}};
	struct engine_shutdown_group groups[3];
	struct meta_pod pod = world_pod_a();
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	shutworld_announce(&w);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	shutworld_pass(&w, ASKED + SEC(1));
	shutworld_set_plan(&w, ASKED + SEC(1), &shorter);
	world_lists(&w, ASKED + SEC(1), &pod);
	shutworld_pass(&w, ASKED + SEC(22) - 1);
	assert_int_equal(world_effects(&w, EFFECT_KILL), 0);
	assert_int_equal(engine_get_shutdown_groups(w.engine, groups, 3), 2);
	shutworld_pass(&w, ASKED + SEC(22));
	assert_int_equal(world_effects(&w, EFFECT_KILL), 1);
	shutworld_tell(&w, ASKED + SEC(23), SHUTDOWN_EV_CANCELLED);
	assert_int_equal(engine_get_shutdown_groups(w.engine, groups, 3), 1);
	world_close(&w);
}

static void test_gone(void **state)
{
	struct world w;
	size_t n;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	shutworld_announce(&w);
	n = shutworld_status(&w).containers;
	world_made(&w, ASKED, 70, CG_POD_A, HEX_64("e"));
	world_init(&w, ASKED, 70, &P_A2);
	assert_int_equal(shutworld_status(&w).containers, n + 1);
	world_exit(&w, ASKED + 1, 70, &P_A2, 0);
	world_empty(&w, ASKED + 2, 70);
	world_gone(&w, ASKED + 3, 70, NULL);
	/* Its verdict waits for its name. */
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_managed(&w, ASKED + 4, CG_A1, &P_A1, 15);
	assert_int_equal(shutworld_status(&w).containers, n);
	world_timer(&w, ASKED + SEC(1));
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	assert_int_equal(shutworld_status(&w).containers, n);
	world_close(&w);
}

/* How many pods the shutdown has in its first group. */
static uint64_t count_pods(const struct world *w)
{
	struct engine_shutdown_group groups[3];
	uint64_t n = 0;

	assert_int_equal(engine_get_shutdown_groups(w->engine, groups, 3), 2);
	for (int state = 0; state < SHUTDOWN_POD_STATE_COUNT; state++)
		n += groups[0].pods[state];
	return n;
}

/* The first shutdown is cancelled while pod A is being stopped, and that pod's object goes before
 * the second one: there is no status of it left to wait for. */
static void test_forgotten(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	world_init(&w, SEC(90), CG_B1, &P_B1);
	shutworld_announce(&w);
	world_managed(&w, ASKED, CG_A1, &P_A1, 15);
	assert_int_equal(count_pods(&w), 2);
	shutworld_tell(&w, ASKED + SEC(1), SHUTDOWN_EV_CANCELLED);
	end_pod(&w, ASKED + SEC(2));
	world_pod_removed(&w, ASKED + SEC(3));
	world_lists_not(&w, ASKED + SEC(4));
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_NONE);
	world_clear(&w);
	shutworld_tell(&w, ASKED + SEC(5), SHUTDOWN_EV_ANNOUNCED);
	assert_int_equal(count_pods(&w), 1);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 0);
	world_close(&w);
}

/* Where graced runs in a pod it is there for as long as it waits. */
static void test_own(void **state)
{
	struct obs obs = {
		.type = OBS_ATTACHED,
		.at_ns = SEC(30),
		.attached = {.boot_id = WORLD_BOOT, .self_container = WORLD_ID_A1},
	};
	struct world w;

	shutworld_open(&w, SHUTDOWN_OBSERVE, 0);
	assert_int_equal(world_tell(&w, &obs), 0);
	shutworld_announce(&w);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_ANNOUNCED)->step.living, 0);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_RELEASED)->step.reason,
			 SHUTDOWN_ALL_EMPTY);
	world_close(&w);
}

static void test_guessed_sandbox(void **state)
{
	struct graced_proc pause = P_B1;
	struct world w;

	strcpy(pause.comm, "pause");
	strcpy(pause.exe, "pause");
	pause.ns_pid = 1;
	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	world_init(&w, SEC(13), CG_B1, &pause);
	shutworld_announce(&w);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_ANNOUNCED)->step.living, 2);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("where nobody asked for it a shutdown is nobody's business",
		      test_nobody_asked),
		CLAIM("an announcement is reported with what lives then, sandboxes aside",
		      test_announced),
		CLAIM("what only looks like a sandbox is waited for", test_guessed_sandbox),
		CLAIM("a container is ended when its group's time and the slack are over",
		      test_overdue),
		CLAIM("but not before the time that its pod's deletion gave it",
		      test_deleted_before),
		CLAIM("but not one that only another sender asked to stop",
		      test_not_by_the_runtime),
		CLAIM("nor one that the runtime has killed", test_killed_by_the_runtime),
		CLAIM("a deletion counts where a source says so, and kills nothing without its period",
		      test_deleted_as_reported),
		CLAIM("the lock stays until the status is terminal and not Ready", test_status),
		CLAIM("or the pod's object is gone", test_object_gone),
		CLAIM("all locks of others are counted, also those beyond the list",
		      test_many_locks),
		CLAIM("in mode observe nothing is killed, and the lock goes with the last process",
		      test_observes),
		CLAIM("pods are counted by the group they are in and by how far they are",
		      test_groups),
		CLAIM("a pod that asks for more time than its group has is known before",
		      test_cut_short),
		CLAIM("nobody waits for the container that this program runs in", test_own),
		CLAIM("another plan counts once the shutdown under way is over", test_plan_waits),
		CLAIM("a pod that is followed no longer has no part in the next shutdown",
		      test_forgotten),
		CLAIM("a container whose cgroup is gone is none, though its verdict waits",
		      test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
