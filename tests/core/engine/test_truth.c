// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: how it holds what the kubelet lists against the kernel. */
#include "lib/claim.h"
#include "lib/engine/world_pods.h"

#define US(n)	   ((uint64_t)(n)*1000)
#define CG_UNKNOWN 96
#define BIT(kind)  DISCREPANCY_BIT(DISCREPANCY_##kind)
#define ID(rest)   WORLD_BOOT "/" WORLD_UID_A "/" rest

static size_t count(const struct world *w, enum discrepancy kind)
{
	struct engine_stats stats;
	size_t n = 0;

	for (size_t i = 0; i < w->n_records; i++)
		n += w->records[i].type == RECORD_DISCREPANCY &&
		     w->records[i].discrepancy.kind == kind;
	engine_get_stats(w->engine, &stats);
	assert_int_equal(stats.discrepancies[kind], n);
	return n;
}

static void assert_no_discrepancy(const struct world *w)
{
	assert_int_equal(world_count(w, RECORD_DISCREPANCY), 0);
	assert_int_equal(world_view(w, WORLD_UID_A).discrepancies, 0);
}

static const struct record_discrepancy *only(const struct world *w)
{
	assert_int_equal(world_count(w, RECORD_DISCREPANCY), 1);
	return &world_record(w, RECORD_DISCREPANCY, 0)->discrepancy;
}

/* What the engine wants to be woken for comes at its time. */
static void wait_until(struct world *w, uint64_t at)
{
	const struct effect *wake = world_effect(w, EFFECT_WAKE_AT);

	while (wake && wake->at_ns && wake->at_ns <= at) {
		uint64_t due = wake->at_ns;

		world_timer(w, due);
		wake = world_effect(w, EFFECT_WAKE_AT);
		if (wake->at_ns == due)
			fail_msg("woken for nothing at %llu", (unsigned long long)due);
	}
}

static void test_ready_while_terminal(void **state)
{
	const struct record_discrepancy *d;
	struct meta_pod pod = world_pod_ready(world_pod_a(), true);
	struct world w;

	world_open_pod(&w, true);
	world_lists(&w, SEC(12), &pod);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(1));
	world_empty(&w, SEC(20) + US(1), CG_A1);
	pod.phase = META_PHASE_FAILED;
	pod.asked_ns = SEC(21);
	world_lists(&w, SEC(22), &pod);
	d = only(&w);
	assert_int_equal(d->kind, DISCREPANCY_READY_WHILE_TERMINAL);
	assert_int_equal(d->since_ns, SEC(21));
	assert_string_equal(d->id, ID("ready-while-terminal/21000000000"));
	assert_int_equal(d->reported.source, META_KUBELET);
	assert_true(d->reported.listed);
	assert_int_equal(d->reported.phase, META_PHASE_FAILED);
	assert_int_equal(d->reported.ready, TRI_TRUE);
	assert_false(d->container.known);
	/* The sandbox is left. */
	assert_true(d->kernel.populated);
	assert_int_equal(d->kernel.running, 0);
	assert_int_equal(world_view(&w, WORLD_UID_A).discrepancies, BIT(READY_WHILE_TERMINAL));
	pod.asked_ns = 0;
	world_lists(&w, SEC(32), &pod);
	assert_int_equal(count(&w, DISCREPANCY_READY_WHILE_TERMINAL), 1);
	pod.ready = false;
	world_lists(&w, SEC(42), &pod);
	assert_int_equal(world_view(&w, WORLD_UID_A).discrepancies, 0);
	/* Again is another time. */
	pod.ready = true;
	world_lists(&w, SEC(52), &pod);
	assert_int_equal(count(&w, DISCREPANCY_READY_WHILE_TERMINAL), 2);
	world_close(&w);
}

static void test_object_gone(void **state)
{
	const struct record_discrepancy *d;
	struct world w;
	size_t asked;

	world_open_ready(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_lists_not(&w, SEC(21));
	world_listed(&w, SEC(25));
	wait_until(&w, SEC(26) - 1);
	asked = world_effects(&w, EFFECT_FIND_POD);
	/* The kubelet is asked whether that is so now. */
	wait_until(&w, SEC(26));
	assert_no_discrepancy(&w);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), asked + 1);
	world_listed(&w, SEC(27));
	d = only(&w);
	assert_int_equal(d->kind, DISCREPANCY_OBJECT_GONE);
	assert_int_equal(d->since_ns, SEC(21));
	assert_int_equal(world_record(&w, RECORD_DISCREPANCY, 0)->at_ns, SEC(27));
	assert_string_equal(d->id, ID("object-gone-processes-live/21000000000"));
	assert_false(d->reported.listed);
	assert_true(d->kernel.populated);
	assert_int_equal(d->kernel.running, 1);
	assert_string_equal(d->pod.name, "web-0");
	world_listed(&w, SEC(51));
	assert_int_equal(count(&w, DISCREPANCY_OBJECT_GONE), 1);
	assert_int_equal(world_view(&w, WORLD_UID_A).discrepancies, BIT(OBJECT_GONE));
	world_end_pod(&w, SEC(55));
	world_listed(&w, SEC(81));
	assert_int_equal(count(&w, DISCREPANCY_OBJECT_GONE), 1);
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_NONE);
	world_close(&w);
}

/* The daemon began after the object was gone, and never heard of it. */
static void test_orphan(void **state)
{
	struct world w;

	world_open_pod(&w, true);
	world_listed(&w, SEC(12));
	wait_until(&w, SEC(17));
	world_listed(&w, SEC(17));
	assert_int_equal(only(&w)->kind, DISCREPANCY_OBJECT_GONE);
	assert_int_equal(only(&w)->since_ns, SEC(12));
	world_close(&w);
	/* Nobody was asked. */
	world_open_pod(&w, false);
	wait_until(&w, SEC(60));
	assert_no_discrepancy(&w);
	world_close(&w);
}

static void test_object_gone_in_time(void **state)
{
	struct meta_pod pod = world_pod_ready(world_pod_a(), true);
	struct world w;

	/* A force delete whose processes leave. */
	world_open_ready(&w);
	world_lists_not(&w, SEC(20));
	world_managed(&w, SEC(20) + MSEC(1), CG_A1, &P_A1, 15);
	world_end_pod(&w, SEC(24));
	wait_until(&w, SEC(60));
	assert_no_discrepancy(&w);
	world_close(&w);
	/* A static pod that is removed and added again, whenever the next list is. */
	for (uint64_t at = SEC(23); at < SEC(60); at += SEC(15)) {
		world_open_ready(&w);
		world_lists_not(&w, SEC(20));
		wait_until(&w, at);
		world_lists(&w, at, &pod);
		wait_until(&w, SEC(60));
		assert_no_discrepancy(&w);
		world_close(&w);
	}
}

/* A list that was on its way for long tells of what is long so. */
static void test_late_list(void **state)
{
	struct meta_pod gone = {.source = META_KUBELET, .uid = WORLD_UID_A, .gone = true};
	struct world w;

	world_open_ready(&w);
	gone.asked_ns = SEC(20);
	world_say_pod(&w, SEC(28), &gone);
	assert_no_discrepancy(&w);
	world_listed(&w, SEC(29));
	assert_int_equal(only(&w)->since_ns, SEC(20));
	world_close(&w);
	/* What it knew then is over now. */
	world_open_ready(&w);
	world_end_pod(&w, SEC(24));
	world_say_pod(&w, SEC(28), &gone);
	assert_no_discrepancy(&w);
	world_close(&w);
	/* A pod that began after the question is none that is not listed. */
	world_open_pod(&w, true);
	world_tell(&w, &(struct obs){.type = OBS_LISTED,
				     .at_ns = SEC(12),
				     .listed = {SEC(8), META_KUBELET}});
	wait_until(&w, SEC(60));
	assert_no_discrepancy(&w);
	world_close(&w);
}

static void test_terminal_populated(void **state)
{
	const struct record_discrepancy *d;
	struct meta_pod pod = world_pod_ready(world_pod_a(), false);
	struct world w;

	world_open_ready(&w);
	pod.phase = META_PHASE_FAILED;
	world_lists(&w, SEC(20), &pod);
	wait_until(&w, SEC(25) - 1);
	assert_no_discrepancy(&w);
	wait_until(&w, SEC(25));
	d = only(&w);
	assert_int_equal(d->kind, DISCREPANCY_TERMINAL_POPULATED);
	assert_int_equal(d->since_ns, SEC(20));
	assert_int_equal(d->reported.phase, META_PHASE_FAILED);
	assert_int_equal(d->reported.ready, TRI_FALSE);
	assert_int_equal(d->kernel.running, 1);
	/* Its init is gone, and something of it is left. */
	world_exit(&w, SEC(26), CG_A1, &P_A1, EXIT(0));
	assert_int_equal(world_view(&w, WORLD_UID_A).discrepancies, BIT(TERMINAL_POPULATED));
	world_empty(&w, SEC(27), CG_A1);
	assert_int_equal(world_view(&w, WORLD_UID_A).discrepancies, 0);
	assert_int_equal(count(&w, DISCREPANCY_TERMINAL_POPULATED), 1);
	world_close(&w);
}

/* A runtime's sandbox may run what it likes, and a container is one that a source has named. */
static void test_terminal_sandbox(void **state)
{
	struct meta_pod pod = world_pod_ready(world_pod_a(), false);
	struct world w;

	world_open_ready(&w);
	world_made(&w, SEC(13), CG_UNKNOWN, CG_POD_A, HEX_64("f"));
	world_init(&w, SEC(13), CG_UNKNOWN, &P_A2);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(20) + US(1), CG_A1);
	pod.phase = META_PHASE_SUCCEEDED;
	world_lists(&w, SEC(21), &pod);
	wait_until(&w, SEC(60));
	assert_no_discrepancy(&w);
	world_close(&w);
}

static void test_completed(void **state)
{
	struct meta_pod pod = world_pod_ready(world_pod_a(), false);
	struct world w;

	world_open_ready(&w);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(20) + US(1), CG_A1);
	pod.phase = META_PHASE_SUCCEEDED;
	world_lists(&w, SEC(21), &pod);
	wait_until(&w, SEC(50));
	world_stop_sandbox(&w, SEC(51));
	world_pod_empty(&w, SEC(52));
	world_lists(&w, SEC(81), &pod);
	assert_no_discrepancy(&w);
	world_close(&w);
	/* It was evicted, and leaves within the moment. */
	world_open_ready(&w);
	pod.phase = META_PHASE_FAILED;
	world_lists(&w, SEC(20), &pod);
	world_stop_a1(&w, SEC(23));
	wait_until(&w, SEC(60));
	assert_no_discrepancy(&w);
	world_close(&w);
}

static void test_ordinary(void **state)
{
	struct meta_pod pod;
	struct world w;

	world_open_ready(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), true);
	world_lists(&w, SEC(21), &pod);
	wait_until(&w, SEC(40));
	world_end_pod(&w, SEC(45));
	pod.ready = false;
	world_lists(&w, SEC(46), &pod);
	world_lists_not(&w, SEC(47));
	assert_int_equal(world_count(&w, RECORD_DISCREPANCY), 0);
	world_close(&w);
}

static void test_crash_loop(void **state)
{
	struct graced_proc proc = P_A1;
	struct meta_pod pod;
	struct world w;

	world_open_ready(&w);
	for (uint64_t at = SEC(20); at < SEC(220); at += SEC(20)) {
		world_exit(&w, at, CG_A1, &proc, EXIT(1));
		world_empty(&w, at + US(1), CG_A1);
		wait_until(&w, at + SEC(1));
		pod = world_pod_ready(world_pod_a(), at % SEC(40));
		world_lists(&w, at + SEC(2), &pod);
		proc.start_ns = at + SEC(10);
		proc.pid++;
		world_init(&w, at + SEC(10), CG_A1, &proc);
		wait_until(&w, at + SEC(19));
	}
	assert_no_discrepancy(&w);
	assert_int_equal(world_count(&w, RECORD_POD_READY), 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("Ready in a terminal phase is reported once each time",
		      test_ready_while_terminal),
		CLAIM("processes that outlive their pod's object are reported", test_object_gone),
		CLAIM("so are those of a pod that was never listed", test_orphan),
		CLAIM("a pod that goes a moment after its object is as it should be",
		      test_object_gone_in_time),
		CLAIM("a list counts from when it was asked for", test_late_list),
		CLAIM("processes in a pod of terminal phase are reported", test_terminal_populated),
		CLAIM("who is not known to be a container may be the sandbox",
		      test_terminal_sandbox),
		CLAIM("a completed or evicted pod is as it should be", test_completed),
		CLAIM("an ordinary deletion is as it should be", test_ordinary),
		CLAIM("a crash loop is as it should be", test_crash_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
