// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: what is reported of lives and pods that a restart found in one state or
 * another. */
#include <string.h>

#include "core/stop/stop.h"
#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"

static const struct engine_config GRACE_30 = {.scope = SCOPE_CONTAINERS,
					      .assumed_grace_ns = SEC(30)};

/* The same world with another engine, restored from this one's checkpoint. */
static void restart(struct world *w, const struct engine_config *config)
{
	struct obs_list kept = {};

	engine_keep(w->engine, true, relay_keep, &kept);
	world_close(w);
	world_open_bare(w, config);
	for (size_t i = 0; i < kept.n; i++)
		world_tell(w, &kept.list[i]);
	obs_list_free(&kept);
}

static void find_pod_a(struct world *w, uint64_t at)
{
	world_found(w, at, CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
}

static void find_a1(struct world *w, uint64_t at)
{
	find_pod_a(w, at);
	world_found(w, at, CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
}

static void open_stopping(struct world *w, const struct engine_config *config)
{
	world_open(w, config);
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_managed(w, SEC(20), CG_A1, &P_A1, 15);
}

static void test_gone(void **state)
{
	const struct record_stop *s;
	struct world w;

	open_stopping(&w, &GRACE_30);
	restart(&w, &GRACE_30);
	world_attach(&w, SEC(60));
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(DAEMON_DOWN) | GAP(EXIT_UNSEEN));
	s = world_stop(&w);
	assert_string_equal(s->pod.name, "web-0");
	assert_string_equal(s->container.name, "main");
	assert_int_equal(s->grace.ns, SEC(30));
	assert_int_equal(s->stop_signal.at_ns, SEC(20));
	assert_int_equal(s->stop_signal.sender.kind, SENDER_RUNTIME);
	assert_string_equal(s->stop_signal.sender.process.comm, "runc");
	assert_string_equal(s->stop_signal.sender.ancestors[0], "containerd-shim");
	assert_string_equal(s->stop_signal.sender.cgroup, "/system.slice");
	assert_int_equal(s->exit.at_ns, 0);
	assert_int_equal(s->empty_ns, 0);
	assert_false(s->latency_known);
	world_close(&w);
}

/* The runtime is asked how it ended, and has a moment to say so. */
static void test_word(void **state)
{
	struct meta_container main = world_main_a1();
	const struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_described(&w, &pod, &main);
	restart(&w, &WORLD_ALL);
	world_attach(&w, SEC(60));
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	assert_string_equal(world_effect(&w, EFFECT_FIND_EXIT)->container_id, WORLD_ID_A1);
	main.known |= META_CTR_EXIT;
	main.exit_code = 137;
	world_say_container(&w, SEC(60) + MSEC(10), &main);
	world_timer(&w, SEC(60) + MSEC(250));
	assert_true(world_stop(&w)->exit.reported);
	assert_int_equal(world_stop(&w)->exit.code, 137);
	assert_int_equal(world_stop(&w)->gaps, GAP(DAEMON_DOWN) | GAP(EXIT_UNSEEN));
	world_close(&w);
}

/* The cgroup stands, and nobody is in it. */
static void test_left(void **state)
{
	const struct graced_counts none = {};
	struct world w;

	open_stopping(&w, NULL);
	restart(&w, NULL);
	find_a1(&w, SEC(59));
	world_attach(&w, SEC(60));
	world_timer(&w, SEC(60) + MSEC(250));
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 1);
	world_counts(&w, SEC(60) + MSEC(251), CG_A1, false, &none);
	assert_int_equal(world_stop(&w)->gaps, GAP(DAEMON_DOWN) | GAP(EXIT_UNSEEN));
	world_gone(&w, SEC(70), CG_A1, NULL);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	world_close(&w);
}

static void test_reported(void **state)
{
	struct world w;

	open_stopping(&w, NULL);
	world_exit(&w, SEC(21), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(21) + 1000, CG_A1);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	restart(&w, NULL);
	find_a1(&w, SEC(59));
	world_attach(&w, SEC(60));
	world_timer(&w, SEC(61));
	world_gone(&w, SEC(70), CG_A1, NULL);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	assert_int_equal(world_count(&w, RECORD_EMPTY), 0);
	world_close(&w);
}

/* All was seen, and only its name was missing. */
static void test_waited(void **state)
{
	struct world w;

	world_open(&w, &WORLD_ALL);
	world_gone(&w, SEC(5), CG_D1, NULL);
	world_made(&w, SEC(9), CG_D1 + 1, CG_DOCKER, WORLD_ID_D1);
	world_init(&w, SEC(10), CG_D1 + 1, &P_D1);
	world_exit(&w, SEC(20), CG_D1 + 1, &P_D1, EXIT(0));
	world_empty(&w, SEC(20) + 1000, CG_D1 + 1);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	restart(&w, &WORLD_ALL);
	world_attach(&w, SEC(60));
	world_timer(&w, SEC(60) + MSEC(250));
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NAME_LATE));
	assert_int_equal(world_stop(&w)->exit.at_ns, SEC(20));
	assert_int_equal(world_stop(&w)->empty_ns, SEC(20) + 1000);
	world_close(&w);
}

/* It crashed before; who else died with it is not known. */
static void test_crashed(void **state)
{
	const struct graced_counts none = {};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_D1, &P_D1);
	world_exit(&w, SEC(20), CG_D1, &P_D1, 31);
	restart(&w, NULL);
	world_found(&w, SEC(59), CG_D1, "/docker/" WORLD_ID_D1);
	world_attach(&w, SEC(60));
	world_counts(&w, SEC(60) + 1, CG_D1, false, &none);
	assert_verdict(&w, OUTCOME_CRASHED, CAUSE_SELF, GAP(DAEMON_DOWN));
	assert_int_equal(world_stop(&w)->empty_ns, 0);
	world_close(&w);
}

static void test_other_init(void **state)
{
	const struct graced_proc next = {.pid = 7000, .start_ns = SEC(40), .comm = "nginx"};
	struct world w;

	open_stopping(&w, NULL);
	restart(&w, NULL);
	find_a1(&w, SEC(59));
	world_ranked(&w, SEC(59), CG_A1, &next, GRACED_INIT_GUESSED);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_attach(&w, SEC(60));
	assert_int_equal(world_stop(&w)->process.pid, P_A1.pid);
	assert_int_equal(world_stop(&w)->gaps, GAP(DAEMON_DOWN) | GAP(EXIT_UNSEEN));
	world_exit(&w, SEC(70), CG_A1, &next, EXIT(0));
	world_empty(&w, SEC(70) + 1000, CG_A1);
	world_timer(&w, SEC(71));
	assert_int_equal(world_count(&w, RECORD_STOP), 2);
	assert_int_equal(world_record(&w, RECORD_STOP, 1)->stop.gaps,
			 GAP(ATTACHED_LATE) | GAP(INIT_GUESSED));
	world_close(&w);
}

/* Who was there beside the init before is none because that has gone. */
static void test_left_over(void **state)
{
	const struct graced_counts none = {};
	struct world w;

	open_stopping(&w, NULL);
	restart(&w, NULL);
	find_a1(&w, SEC(59));
	world_ranked(&w, SEC(59), CG_A1, &P_A1_CHILD, GRACED_INIT_GUESSED);
	world_attach(&w, SEC(60));
	world_timer(&w, SEC(60) + MSEC(250));
	world_counts(&w, SEC(60) + MSEC(251), CG_A1, true, &none);
	assert_int_equal(world_stop(&w)->process.pid, P_A1.pid);
	assert_int_equal(world_stop(&w)->gaps,
			 GAP(DAEMON_DOWN) | GAP(EXIT_UNSEEN) | GAP(NOT_EMPTY));
	world_empty(&w, SEC(70), CG_A1);
	world_gone(&w, SEC(71), CG_A1, NULL);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	assert_int_equal(world_count(&w, RECORD_EMPTY), 1);
	world_close(&w);
}

/* Nobody asked it to end, and whether somebody did meanwhile is not known. */
static void test_quiet(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	for (int i = 0; i < 2; i++) {
		restart(&w, NULL);
		find_a1(&w, SEC(59));
		world_init(&w, SEC(59), CG_A1, &P_A1);
		world_attach(&w, SEC(60));
		assert_int_equal(world_count(&w, RECORD_STOP), 0);
	}
	world_exit(&w, SEC(70), CG_A1, &P_A1, 15);
	world_empty(&w, SEC(70) + 1000, CG_A1);
	world_timer(&w, SEC(71));
	assert_verdict(&w, OUTCOME_CRASHED, CAUSE_UNKNOWN, GAP(DAEMON_DOWN) | GAP(KILL_UNSEEN));
	world_close(&w);
}

/* The kernel half counts from 0 again, and what it had suppressed before stays suppressed. */
static void test_suppressed_before(void **state)
{
	static const struct {
		uint64_t before, at_request, at_exit;
		uint32_t gaps;
	} want[] = {
		{8, 0, 0, 0},
		{8, 2, 2, 0},
		{8, 2, 3, GAP(SUPPRESSED)},
		{0, 2, 2, 0},
		{8, 0, 1, GAP(SUPPRESSED)},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct graced_counts before = {.suppressed = want[i].before},
					   after = {.suppressed = want[i].at_exit};
		const struct shot asked = {.sig = 15,
					   .from = &P_SHIM,
					   .to = &P_A1,
					   .suppressed = (uint32_t)want[i].at_request};
		struct world w;

		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &P_A1);
		world_counts(&w, SEC(11), CG_A1, true, &before);
		restart(&w, NULL);
		find_a1(&w, SEC(59));
		world_found(&w, SEC(59), CG_SYSTEM, "/system.slice");
		world_init(&w, SEC(59), CG_A1, &P_A1);
		world_attach(&w, SEC(60));
		world_shot(&w, SEC(61), CG_A1, &asked);
		world_exit_counted(&w, SEC(62), CG_A1, &P_A1, EXIT(0), &after);
		world_gone(&w, SEC(63), CG_A1, &after);
		assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL,
			       GAP(DAEMON_DOWN) | want[i].gaps);
		world_close(&w);
	}
}

/* ... also of a life that begins after the restart in the same cgroup. */
static void test_suppressed_before_next(void **state)
{
	const struct graced_counts before = {.suppressed = 8}, after = {.suppressed = 2};
	struct obs next = {.type = OBS_INIT,
			   .at_ns = SEC(65),
			   .init = {.id = CG_A1, .suppressed = 2, .rank = GRACED_INIT_PID1}};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_counts(&w, SEC(11), CG_A1, true, &before);
	restart(&w, NULL);
	find_a1(&w, SEC(59));
	world_init(&w, SEC(59), CG_A1, &P_A1);
	world_attach(&w, SEC(60));
	world_exit_counted(&w, SEC(62), CG_A1, &P_A1, EXIT(0), &after);
	world_empty_counted(&w, SEC(63), CG_A1, &after);
	world_timer(&w, SEC(64));
	next.init.proc = P_A1;
	next.init.proc.pid = 5100;
	next.init.proc.start_ns = SEC(64);
	world_tell(&w, &next);
	world_exit_counted(&w, SEC(70), CG_A1, &next.init.proc, EXIT(0), &after);
	world_empty_counted(&w, SEC(70) + 1, CG_A1, &after);
	world_timer(&w, SEC(71));
	assert_int_equal(world_count(&w, RECORD_STOP), 2);
	assert_int_equal(world_record(&w, RECORD_STOP, 1)->stop.gaps, 0);
	world_close(&w);
}

/* docker exec … kill 1, and a restart before it exits. */
static void test_inside(void **state)
{
	const struct record_stop *s;
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_from(&w, SEC(20), CG_A1, &P_A1, 15, &P_A1_CHILD);
	restart(&w, NULL);
	find_a1(&w, SEC(59));
	world_init(&w, SEC(59), CG_A1, &P_A1);
	world_attach(&w, SEC(60));
	world_exit(&w, SEC(80), CG_A1, &P_A1, EXIT(143));
	world_empty(&w, SEC(80) + 1000, CG_A1);
	world_timer(&w, SEC(81));
	assert_verdict(&w, OUTCOME_FAILED, CAUSE_SAME_CONTAINER, GAP(DAEMON_DOWN));
	s = world_stop(&w);
	assert_int_equal(s->stop_signal.at_ns, SEC(20));
	assert_int_equal(s->stop_signal.sender.process.pid, P_A1_CHILD.pid);
	assert_string_equal(s->stop_signal.sender.container.id, WORLD_ID_A1);
	assert_false(s->latency_known);
	world_close(&w);
}

/* Moved out of its container: before the restart, which was reported, or while no daemon ran. It is
 * back by the first look, or later. */
static void test_moved(void **state)
{
	for (int i = 0; i < 4; i++) {
		const struct obs left = {.type = OBS_CGROUP_EMPTY,
					 .at_ns = SEC(20),
					 .empty = {.id = CG_A1, .left_pid = P_A1.pid}};
		const struct obs alive = {.type = OBS_PROBE,
					  .at_ns = SEC(20) + 1,
					  .probe = {.id = CG_A1,
						    .pid = P_A1.pid,
						    .start_ns = P_A1.start_ns,
						    .alive = true}};
		bool before = i & 1, at_once = i & 2;
		struct obs again = alive;
		struct world w;

		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &P_A1);
		if (before) {
			world_tell(&w, &left);
			world_tell(&w, &alive);
			world_timer(&w, SEC(20) + MSEC(250));
			assert_int_equal(world_count(&w, RECORD_STOP), 1);
		}
		restart(&w, NULL);
		find_a1(&w, SEC(59));
		world_found(&w, SEC(59), CG_SYSTEM, "/system.slice");
		if (at_once)
			world_init(&w, SEC(59), CG_A1, &P_A1);
		world_attach(&w, SEC(60));
		again.at_ns = SEC(60) + 1;
		world_tell(&w, &again);
		world_timer(&w, SEC(60) + MSEC(250));
		world_timer(&w, SEC(60) + MSEC(500));
		if (!before && !at_once)
			assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
				       GAP(DAEMON_DOWN) | GAP(EXIT_UNSEEN) | GAP(INIT_MOVED) |
					       GAP(NOT_EMPTY));
		world_clear(&w);
		if (!at_once)
			world_init(&w, SEC(70) - 1, CG_A1, &P_A1);
		world_managed(&w, SEC(70), CG_A1, &P_A1, 9);
		world_exit(&w, SEC(70) + 1, CG_A1, &P_A1, 9);
		world_empty(&w, SEC(70) + 2, CG_A1);
		world_timer(&w, SEC(71));
		assert_int_equal(world_count(&w, RECORD_STOP), 1);
		assert_int_equal(world_stop(&w)->exit.status, 9);
		assert_int_equal(world_stop(&w)->gaps,
				 !before && at_once ? GAP(DAEMON_DOWN) : GAP(ATTACHED_LATE));
		world_close(&w);
	}
}

/* Nothing is reported before it is known which boot this is. */
static void test_other_boot(void **state)
{
	struct obs_list kept = {};
	struct world w;

	open_stopping(&w, NULL);
	engine_keep(w.engine, true, relay_keep, &kept);
	assert_int_equal(kept.list[0].type, OBS_KEPT);
	world_close(&w);
	for (int i = 0; i < 2; i++) {
		struct engine_stats stats;

		if (i == 0)
			kept.list[0].kept.boot_id[0] ^= 1;
		else
			kept.list[0].kept.version++;
		world_open_bare(&w, NULL);
		for (size_t n = 0; n < kept.n; n++)
			world_tell(&w, &kept.list[n]);
		world_found(&w, SEC(2), CG_A1, "/system.slice");
		world_found(&w, SEC(2), CG_D1, "/docker/" WORLD_ID_D1);
		world_init(&w, SEC(2), CG_D1, &P_D1);
		world_attach(&w, SEC(3));
		engine_get_stats(w.engine, &stats);
		assert_int_equal(stats.kept_refused, i ? kept.n : 0);
		world_exit(&w, SEC(4), CG_D1, &P_D1, EXIT(0));
		world_empty(&w, SEC(4) + 1000, CG_D1);
		assert_int_equal(world_stop(&w)->gaps, GAP(ATTACHED_LATE));
		assert_int_equal(world_count(&w, RECORD_POD), 0);
		world_close(&w);
	}
	obs_list_free(&kept);
}

/* Ended before it was attached, it leaves what it took up to the next one. */
static void test_ended_early(void **state)
{
	struct obs end = {.type = OBS_END, .at_ns = SEC(59)};
	struct world w;

	open_stopping(&w, NULL);
	restart(&w, NULL);
	find_pod_a(&w, SEC(59));
	world_tell(&w, &end);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	restart(&w, NULL);
	world_attach(&w, SEC(60));
	assert_int_equal(world_stop(&w)->gaps, GAP(DAEMON_DOWN) | GAP(EXIT_UNSEEN));
	world_close(&w);
}

static void test_pod_gone(void **state)
{
	struct world w;

	world_open_pod(&w, false);
	restart(&w, NULL);
	world_attach(&w, SEC(60));
	assert_moves(&w, MOVE(TERMINATING, RESTART, SEC(60)), MOVE(TERMINATED, RESTART, SEC(60)),
		     MOVE(FINISHED, RESTART, SEC(60)));
	assert_int_equal(world_move(&w, 2)->terminating_ns, 0);
	assert_int_equal(world_move(&w, 2)->exit_ns, 0);
	assert_int_equal(world_move(&w, 2)->empty_ns, 0);
	assert_int_equal(world_move(&w, 2)->removed_ns, 0);
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_NONE);
	world_close(&w);
}

static void find_alive(struct world *w, uint64_t at)
{
	find_a1(w, at);
	world_init(w, at, CG_A1, &P_A1);
	world_found(w, at, CG_SANDBOX, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_SANDBOX);
	world_init(w, at, CG_SANDBOX, &P_PAUSE);
}

/* It is listed until somebody who lists anew has left it out. */
static void test_pod_unlisted(void **state)
{
	const struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_pod(&w, true);
	world_lists(&w, SEC(12), &pod);
	restart(&w, &WORLD_ALL);
	find_alive(&w, SEC(59));
	world_attach(&w, SEC(60));
	assert_int_equal(world_count(&w, RECORD_POD), 0);
	assert_true(world_view(&w, WORLD_UID_A).desired);
	world_listed(&w, SEC(61));
	assert_moves(&w, MOVE(TERMINATING, REMOVED, SEC(61)));
	world_close(&w);
}

static void test_pod_listed(void **state)
{
	const struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_pod(&w, true);
	world_lists(&w, SEC(12), &pod);
	restart(&w, &WORLD_ALL);
	find_alive(&w, SEC(59));
	world_attach(&w, SEC(60));
	world_lists(&w, SEC(61), &pod);
	world_listed(&w, SEC(71));
	assert_int_equal(world_count(&w, RECORD_POD), 0);
	world_close(&w);
}

#define CG_NEW 70
#define ID_NEW HEX_64("e")

/* A container whose init was looked for in vain. */
static void open_without_init(struct world *w)
{
	const struct obs no_init = {.type = OBS_NO_INIT, .at_ns = SEC(15), .no_init.id = CG_NEW};

	world_open(w, NULL);
	world_made(w, SEC(5), CG_NEW, CG_POD_A, ID_NEW);
	world_names(w, SEC(5), WORLD_UID_A, ID_NEW, "default", "web-0", "side", true);
	assert_int_equal(world_tell(w, &no_init), 0);
}

static void test_init_unseen(void **state)
{
	struct world w;

	open_without_init(&w);
	restart(&w, NULL);
	world_attach(&w, SEC(60));
	world_timer(&w, SEC(62));
	assert_int_equal(world_stop(&w)->outcome, OUTCOME_UNKNOWN);
	assert_true(world_stop(&w)->gaps & GAP(INIT_UNSEEN));
	world_close(&w);
}

static void test_unseen_reported(void **state)
{
	static const struct graced_counts one = {.exits = 1};

	for (int found = 0; found < 2; found++) {
		struct world w;

		open_without_init(&w);
		world_ranked(&w, SEC(20), CG_NEW, &P_A1, GRACED_INIT_GUESSED);
		world_managed(&w, SEC(20), CG_NEW, &P_A1, 15);
		world_exit(&w, SEC(21), CG_NEW, &P_A1, EXIT(0));
		world_timer(&w, SEC(22));
		world_counts(&w, SEC(22), CG_NEW, true, &one);
		assert_true(world_stop(&w)->gaps & GAP(INIT_UNSEEN));
		restart(&w, NULL);
		if (found) {
			find_pod_a(&w, SEC(59));
			world_found(&w, SEC(59), CG_NEW,
				    "/kubepods/burstable/pod" WORLD_UID_A "/" ID_NEW);
		}
		world_attach(&w, SEC(60));
		if (found)
			world_gone(&w, SEC(61), CG_NEW, NULL);
		world_timer(&w, SEC(62));
		assert_int_equal(world_count(&w, RECORD_STOP), 0);
		world_close(&w);
	}
}

/* The runtime sends a signal that may be the stop, and init exits; the verdict waits. */
static void open_candidate(struct world *w)
{
	struct meta_container main = world_main_a1();
	const struct meta_pod pod = world_pod_a();

	world_open_described(w, &pod, &main);
	world_managed(w, SEC(20), CG_A1, &P_A1, 1);
	world_exit(w, SEC(21), CG_A1, &P_A1, EXIT(0));
	assert_int_equal(world_count(w, RECORD_STOP), 0);
}

static void test_candidate(void **state)
{
	static const struct {
		uint32_t provided;
		enum outcome outcome;
		enum cause cause;
		uint32_t gaps;
	} want[] = {
		{0, OUTCOME_COMPLETED, CAUSE_SELF, GAP(STOP_SIGNAL_UNKNOWN)},
		{1, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, 0},
		{15, OUTCOME_COMPLETED, CAUSE_SELF, 0},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct meta_container main = world_main_a1();
		struct world w;

		main.stop_signal = want[i].provided;
		open_candidate(&w);
		restart(&w, &WORLD_ALL);
		find_a1(&w, SEC(22));
		if (want[i].provided)
			world_say_container(&w, SEC(22), &main);
		world_attach(&w, SEC(22) + 1);
		world_empty(&w, SEC(22) + 2, CG_A1);
		world_timer(&w, SEC(23));
		assert_verdict(&w, want[i].outcome, want[i].cause, GAP(DAEMON_DOWN) | want[i].gaps);
		assert_int_equal(world_stop(&w)->stop_signal.at_ns,
				 want[i].outcome == OUTCOME_GRACEFUL ? SEC(20) : 0);
		world_close(&w);
	}
}

static void test_candidate_refused(void **state)
{
	static const struct {
		bool kill, inside;
		uint32_t number;
		uint64_t numbers;
	} bad[] = {{true, true, 1, 0}, {true, true, 9, 1 << 8}, {false, false, 15, 1 << 14}};

	for (size_t i = 0; i < LEN(bad); i++) {
		struct obs_list kept = {};
		struct engine_stats stats;
		struct world w;

		open_candidate(&w);
		engine_keep(w.engine, true, relay_keep, &kept);
		world_close(&w);
		world_open_bare(&w, &WORLD_ALL);
		for (size_t n = 0; n < kept.n; n++) {
			struct obs *obs = &kept.list[n];

			if (obs->type == OBS_KEPT_SIGNAL) {
				assert_true(obs->kept_signal.kill && obs->kept_signal.inside);
				obs->kept_signal.kill = bad[i].kill;
				obs->kept_signal.inside = bad[i].inside;
				obs->kept_signal.number = bad[i].number;
				obs->kept_signal.numbers = bad[i].numbers;
			}
			world_tell(&w, obs);
		}
		engine_get_stats(w.engine, &stats);
		assert_int_equal(stats.kept_refused, 1);
		obs_list_free(&kept);
		world_close(&w);
	}
}

/* Its record's id has the time at which that life was found to be over. */
static void test_unseen_id(void **state)
{
	struct world w;

	world_open(&w, &WORLD_ALL);
	world_made(&w, SEC(5), CG_NEW, CG_POD_A, ID_NEW);
	world_tell(&w, &(struct obs){.type = OBS_NO_INIT, .at_ns = SEC(15), .no_init.id = CG_NEW});
	world_empty(&w, SEC(20), CG_NEW);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	restart(&w, &WORLD_ALL);
	world_attach(&w, SEC(60));
	world_timer(&w, SEC(61));
	assert_string_equal(world_stop(&w)->id, WORLD_BOOT "/" ID_NEW "/20000000000");
	world_close(&w);
}

/* A1 in a state in which no init is known, as the checkpoint has it. */
static void open_idle(struct world *w, enum stop_state state)
{
	static const struct graced_counts one = {.exits = 1};

	world_open(w, NULL);
	if (state == STOP_IDLE)
		return;
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_exit(w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_timer(w, SEC(20) + MSEC(250));
	world_counts(w, SEC(20) + MSEC(251), CG_A1, true, &one);
	assert_int_equal(world_count(w, RECORD_STOP), 1);
}

/* Its init came while the daemon was down, and the scan did not find it. */
static void test_late_init(void **state)
{
	static const struct {
		enum stop_state kept;
		bool other_boot;
		uint64_t start_ns;
		uint32_t gaps;
	} rows[] = {
		{STOP_IDLE, false, SEC(40), GAP(ATTACHED_LATE)},
		{STOP_REPORTED, false, SEC(40), GAP(ATTACHED_LATE)},
		{STOP_IDLE, true, SEC(40), GAP(ATTACHED_LATE)},
		{STOP_IDLE, false, SEC(60) + 1, 0},
		{STOP_REPORTED, false, SEC(60) + 1, 0},
		{STOP_IDLE, true, SEC(60) + 1, 0},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct graced_proc init = {.pid = 7000, .start_ns = rows[i].start_ns};
		struct obs_list kept = {};
		struct world w;

		open_idle(&w, rows[i].kept);
		engine_keep(w.engine, true, relay_keep, &kept);
		world_close(&w);
		world_open_bare(&w, NULL);
		kept.list[0].kept.boot_id[0] ^= rows[i].other_boot;
		for (size_t n = 0; n < kept.n; n++)
			world_tell(&w, &kept.list[n]);
		obs_list_free(&kept);
		find_a1(&w, SEC(59));
		world_attach(&w, SEC(60));
		world_names(&w, SEC(60), WORLD_UID_A, WORLD_ID_A1, "default", "web-0", "main",
			    true);
		world_init(&w, SEC(61), CG_A1, &init);
		world_exit(&w, SEC(70), CG_A1, &init, EXIT(0));
		world_empty(&w, SEC(70) + 1000, CG_A1);
		world_timer(&w, SEC(71));
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, rows[i].gaps);
		world_close(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("whose cgroup is gone has ended, and nobody invents when", test_gone),
		CLAIM("the runtime is asked how it ended", test_word),
		CLAIM("whose cgroup is empty has ended, once", test_left),
		CLAIM("one without an init that is gone has ended, too", test_init_unseen),
		CLAIM("one without an init that was reported is not reported again",
		      test_unseen_reported),
		CLAIM("what was reported is not reported again", test_reported),
		CLAIM("a verdict that only waited lacks nothing", test_waited),
		CLAIM("an exit that was seen is judged as it was seen", test_crashed),
		CLAIM("another init ends one life and begins another", test_other_init),
		CLAIM("a process that was left behind is no init", test_left_over),
		CLAIM("a life that goes on may have missed a signal, after any number of restarts",
		      test_quiet),
		CLAIM("what was suppressed before a restart is neither forgotten nor counted twice",
		      test_suppressed_before),
		CLAIM("the next life begins with what was suppressed in all",
		      test_suppressed_before_next),
		CLAIM("a stop signal from its own container is known after a restart", test_inside),
		CLAIM("the end of an init that was moved out and came back is reported",
		      test_moved),
		CLAIM("a signal that may be the stop is known after a restart", test_candidate),
		CLAIM("... and refused where it cannot be one", test_candidate_refused),
		CLAIM("the id of a life without an init is the same after a restart",
		      test_unseen_id),
		CLAIM("an init that came during a restart and was not found is one from before",
		      test_late_init),
		CLAIM("what another boot or another version kept does not count", test_other_boot),
		CLAIM("one that is ended before it was attached leaves all to the next",
		      test_ended_early),
		CLAIM("a pod that went meanwhile has ended by the restart, without times",
		      test_pod_gone),
		CLAIM("a pod that the first new list lacks is not listed any more",
		      test_pod_unlisted),
		CLAIM("a pod that is still listed goes on, and nothing is reported of it",
		      test_pod_listed),
	};

	return cmocka_run_group_tests_name("core/engine: after a restart", tests, NULL, NULL);
}
