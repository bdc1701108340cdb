// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: what stands in its records. */
#include "core/engine/engine.h"

#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world.h"

static void assert_text(const char *got, const char *want)
{
	if (!want)
		assert_null(got);
	else
		assert_string_equal(got, want);
}

static void test_stop(void **state)
{
	const struct engine_config config = {.assumed_grace_ns = SEC(30)};
	const struct graced_counts counts = {.exits = 3, .oom_kills = 1};
	const struct record_stop *s;
	struct world w;

	world_open(&w, &config);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_managed(&w, SEC(50), CG_A1, &P_A1, 9);
	world_exit_counted(&w, SEC(50) + 70000, CG_A1, &P_A1, 9, &counts);
	world_empty_counted(&w, SEC(50) + 99000, CG_A1, &counts);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED, 0);
	s = world_stop(&w);
	assert_string_equal(s->id, WORLD_BOOT "/" WORLD_ID_A1 "/2000004242");
	assert_true(s->pod.known && s->container.known && s->exit.known);
	assert_string_equal(s->pod.namespace_, "default");
	assert_string_equal(s->pod.name, "web-0");
	assert_string_equal(s->pod.uid, WORLD_UID_A);
	assert_int_equal(s->pod.qos, CGPATH_QOS_BURSTABLE);
	assert_false(s->pod.is_static);
	assert_string_equal(s->container.name, "main");
	assert_string_equal(s->container.id, WORLD_ID_A1);
	assert_int_equal(s->container.kind, CONTAINER_KIND_CONTAINER);
	assert_string_equal(s->container.cgroup,
			    "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	assert_int_equal(s->process.pid, 4242);
	assert_int_equal(s->process.ns_pid, 1);
	assert_string_equal(s->process.comm, "nginx");
	assert_int_equal(s->process.start_ns, P_A1.start_ns);
	assert_int_equal(s->stop_signal.number, 15);
	assert_int_equal(s->stop_signal.at_ns, SEC(20));
	assert_int_equal(s->kill_signal.number, 9);
	assert_int_equal(s->kill_signal.at_ns, SEC(50));
	assert_int_equal(s->exit.status, 9);
	assert_int_equal(s->exit.at_ns, SEC(50) + 70000);
	assert_int_equal(s->latency_ns, SEC(30) + 70000);
	assert_true(s->grace.from == GRACE_ASSUMED && s->latency_known);
	assert_int_equal(s->grace.ns, SEC(30));
	assert_int_equal(s->oom_kills, 1);
	assert_int_equal(s->collateral_kills, 0);
	assert_int_equal(s->empty_ns, SEC(50) + 99000);
	world_close(&w);
}

/* A scan knew when it started to the tick of /proc, and what it was called before it exec'd. */
static void test_as_at_the_exit(void **state)
{
	struct graced_proc scanned = P_D1;
	struct world w;

	scanned.start_ns -= scanned.start_ns % MSEC(10);
	memcpy(scanned.comm, "sh", 3);
	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_D1, &scanned);
	world_from(&w, SEC(20), CG_D1, &P_D1, 15, &P_SHELL);
	world_exit(&w, SEC(21), CG_D1, &P_D1, EXIT(0));
	world_empty(&w, SEC(22), CG_D1);
	assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, 0);
	assert_string_equal(world_stop(&w)->process.comm, "redis");
	assert_int_equal(world_stop(&w)->process.start_ns, P_D1.start_ns);
	assert_string_equal(world_stop(&w)->id, WORLD_BOOT "/" WORLD_ID_D1 "/2000004545");
	world_close(&w);
}

static void test_sender(void **state)
{
	static const struct {
		const struct graced_proc *from;
		enum sender_kind kind;
		const char *pod, *container, *cgroup;
	} want[] = {
		{&P_B1, SENDER_POD, "cart-7", WORLD_ID_B1,
		 "/kubepods/burstable/pod" WORLD_UID_B "/" WORLD_ID_B1},
		{&P_D1, SENDER_CONTAINER, NULL, WORLD_ID_D1, "/docker/" WORLD_ID_D1},
		{&P_KUBELET, SENDER_KUBELET, NULL, NULL, "/system.slice/kubelet.service"},
		{&P_SHELL, SENDER_HOST, NULL, NULL, "/user.slice"},
	};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	for (size_t i = 0; i < LEN(want); i++) {
		const struct record_sender *s;

		world_clear(&w);
		world_shot(&w, SEC(20), CG_A1,
			   &(struct shot){.sig = 15,
					  .from = want[i].from,
					  .to = &P_A1,
					  .parents = {&P_SSHD, &P_SYSTEMD}});
		assert_false(world_record(&w, RECORD_SIGNAL, 0)->signal.group);
		assert_false(world_record(&w, RECORD_SIGNAL, 0)->signal.blocked);
		s = &world_record(&w, RECORD_SIGNAL, 0)->signal.sender;
		assert_int_equal(s->kind, want[i].kind);
		assert_int_equal(s->process.pid, want[i].from->pid);
		assert_text(s->pod.name, want[i].pod);
		assert_int_equal(s->pod.known, want[i].pod != NULL);
		assert_text(s->container.id, want[i].container);
		assert_int_equal(s->container.known, want[i].container != NULL);
		assert_text(s->cgroup, want[i].cgroup);
		assert_text(s->ancestors[0], "sshd");
		assert_text(s->ancestors[1], "systemd");
		assert_text(s->ancestors[2], NULL);
	}
	world_close(&w);
}

static void test_signal(void **state)
{
	const uint32_t deaf = GRACED_SIG_SHIELDED | GRACED_SIG_DFL;
	static const struct {
		uint32_t sig;
		bool recorded;
	} numbers[] = {{1, false},  {2, true},	{3, true},   {6, false}, {9, true},
		       {10, false}, {15, true}, {36, false}, {37, true}, {64, false}};
	struct world w;

	for (size_t i = 0; i < LEN(numbers); i++) {
		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &P_A1);
		world_shot(&w, SEC(20), CG_A1,
			   &(struct shot){.sig = numbers[i].sig,
					  .result = 1,
					  .code = -6,
					  .from = &P_SHELL,
					  .to = &P_A1,
					  .flags = deaf | GRACED_SIG_GROUP | GRACED_SIG_BLOCKED});
		assert_int_equal(world_count(&w, RECORD_SIGNAL), numbers[i].recorded);
		if (numbers[i].recorded) {
			const struct record_signal *s = &world_record(&w, RECORD_SIGNAL, 0)->signal;

			assert_int_equal(s->number, numbers[i].sig);
			assert_int_equal(s->result, 1);
			assert_int_equal(s->code, -6);
			assert_true(s->group && s->blocked && s->target_init);
			/* A shield against SIGKILL is no deafness. */
			assert_int_equal(s->deaf, numbers[i].sig != 9);
			assert_int_equal(s->target.pid, 4242);
			assert_string_equal(s->pod.name, "web-0");
			assert_string_equal(s->container.name, "main");
		}
		world_close(&w);
	}
}

static void test_deaf(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_shot(&w, SEC(20), CG_A1,
		   &(struct shot){.sig = 15,
				  .result = 1,
				  .from = &P_SHIM,
				  .to = &P_A1,
				  .flags = GRACED_SIG_SHIELDED | GRACED_SIG_DFL});
	/* Known at once, and reported again with the verdict. */
	assert_true(world_record(&w, RECORD_SIGNAL, 0)->signal.deaf);
	world_managed(&w, SEC(50), CG_A1, &P_A1, 9);
	world_exit(&w, SEC(51), CG_A1, &P_A1, 9);
	world_empty(&w, SEC(52), CG_A1);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED, 0);
	assert_true(world_stop(&w)->deaf);
	assert_int_equal(world_stop(&w)->stop_signal.result, 1);
	assert_int_equal(world_stop(&w)->kill_signal.result, 0);
	world_close(&w);
}

static void test_clock(void **state)
{
	const struct obs step = {
		.type = OBS_CLOCK,
		.at_ns = SEC(25),
		.clock.wall_offset_ns = WALL_ZERO - (int64_t)SEC(3600),
	};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	assert_int_equal(world_record(&w, RECORD_SIGNAL, 0)->wall_ns, WALL_ZERO + (int64_t)SEC(20));
	world_tell(&w, &step);
	world_exit(&w, SEC(30), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(31), CG_A1);
	assert_int_equal(world_stop(&w)->latency_ns, SEC(10));
	assert_int_equal(world_record(&w, RECORD_STOP, 0)->at_ns, SEC(30));
	assert_int_equal(world_record(&w, RECORD_STOP, 0)->wall_ns,
			 WALL_ZERO - (int64_t)SEC(3600) + (int64_t)SEC(30));
	world_close(&w);
}

static void test_of_the_tracer(void **state)
{
	struct obs lost = {.type = OBS_LOST, .at_ns = SEC(3)};
	const struct record *r;
	struct world w;

	world_open_bare(&w, NULL);
	world_found(&w, SEC(1), CG_D1, "/docker/" WORLD_ID_D1);
	world_found(&w, SEC(1), CG_D1, "/docker/" WORLD_ID_D1);
	world_found(&w, SEC(1), CG_DOCKER, "/docker");
	world_attach(&w, SEC(2));
	r = world_record(&w, RECORD_ATTACHED, 0);
	assert_int_equal(r->at_ns, SEC(2));
	assert_int_equal(r->wall_ns, WALL_ZERO + (int64_t)SEC(2));
	assert_string_equal(r->node, "node-1");
	assert_string_equal(r->attached.hierarchy, "unified");
	assert_int_equal(r->attached.programs, 8);
	assert_int_equal(r->attached.containers, 1);

	lost.lost.totals[GRACED_EV_EXIT] = (struct graced_stat){.emitted = 7, .lost = 3};
	lost.lost.recursion_misses = 2;
	world_tell(&w, &lost);
	world_tell(&w, &lost);
	assert_int_equal(world_count(&w, RECORD_LOST), 1);
	r = world_record(&w, RECORD_LOST, 0);
	assert_int_equal(r->lost.totals[GRACED_EV_EXIT].lost, 3);
	assert_int_equal(r->lost.recursion_misses, 2);
	world_close(&w);
}

/* Counts that run backwards, and a clock that does. */
static void test_no_negative_figures(void **state)
{
	const struct graced_counts before = {.oom_kills = 9, .collateral = 9}, after = {.exits = 1};
	const struct graced_counts more = {.exits = 1, .oom_kills = 10, .collateral = 11};
	struct world w;

	world_open(&w, NULL);
	world_empty_counted(&w, SEC(9), CG_A1, &before);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_exit_counted(&w, SEC(19), CG_A1, &P_A1, EXIT(0), &after);
	world_empty_counted(&w, SEC(18), CG_A1, &after);
	assert_int_equal(world_stop(&w)->oom_kills, 0);
	assert_int_equal(world_stop(&w)->collateral_kills, 0);
	assert_int_equal(world_stop(&w)->latency_ns, 0);
	world_close(&w);
	/* Those that run forwards are the difference. */
	world_open(&w, NULL);
	world_empty_counted(&w, SEC(9), CG_A1, &before);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_exit_counted(&w, SEC(19), CG_A1, &P_A1, EXIT(0), &more);
	world_empty_counted(&w, SEC(20), CG_A1, &more);
	assert_int_equal(world_stop(&w)->oom_kills, 1);
	assert_int_equal(world_stop(&w)->collateral_kills, 2);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a stop record says all that is known of the stop", test_stop),
		CLAIM("a process is reported as it was at its exit", test_as_at_the_exit),
		CLAIM("a sender is reported with its pod, container and cgroup", test_sender),
		CLAIM("stop signals and SIGKILL are reported as they were generated", test_signal),
		CLAIM("deaf is known at the signal and stays in the verdict", test_deaf),
		CLAIM("a clock step moves the wall time and no duration", test_clock),
		CLAIM("the tracer tells of itself once", test_of_the_tracer),
		CLAIM("figures that run backwards are 0, not 2^64 less", test_no_negative_figures),
	};

	return cmocka_run_group_tests_name("core/engine: records", tests, NULL, NULL);
}
