// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: how it counts and shows pods, and how many it follows. */
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_pods.h"

#define MANY 500

/* A pod that is made while the kubelet answers. */
static void make_late_pod(struct world *w)
{
	struct obs obs = {.type = OBS_LISTED, .at_ns = SEC(14), .listed = {SEC(13), META_KUBELET}};
	struct graced_proc proc = P_B1;

	proc.pid++;
	proc.watch_id = 71;
	world_made(w, SEC(13) + 1, 70, CG_BURSTABLE, "pod94dc9966-21b5-4c6e-8f0a-000000000001");
	world_made(w, SEC(13) + 1, 71, 70, HEX_64("9"));
	world_init(w, SEC(13) + 1, 71, &proc);
	world_tell(w, &obs);
}

static void test_counts(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct pod_counts house;
	struct world w;

	world_open_pod(&w, true);
	world_init(&w, SEC(10), CG_B1, &P_B1);
	engine_pods_count(w.engine, &house);
	assert_int_equal(house.working[POD_STAGE_SYNC][POD_RUNTIME_ONLY][false], 2);
	world_lists(&w, SEC(12), &pod);
	world_listed(&w, SEC(13));
	engine_pods_count(w.engine, &house);
	assert_int_equal(house.working[POD_STAGE_SYNC][POD_DESIRED][false], 1);
	assert_int_equal(house.working[POD_STAGE_SYNC][POD_RUNTIME_ONLY][false], 1);
	assert_int_equal(house.desired[false], 1);
	assert_int_equal(house.active[false], 1);
	/* B runs and is not listed; it is counted once, and left alone. */
	assert_int_equal(house.orphaned, 1);
	assert_int_equal(world_view(&w, WORLD_UID_B).stage, POD_STAGE_SYNC);
	/* What came after the kubelet was asked it cannot have listed. */
	make_late_pod(&w);
	engine_pods_count(w.engine, &house);
	assert_int_equal(house.orphaned, 1);
	world_lists_not(&w, SEC(14));
	engine_pods_count(w.engine, &house);
	assert_int_equal(house.working[POD_STAGE_TERMINATING][POD_ORPHAN][false], 1);
	assert_int_equal(house.desired[false], 0);
	world_close(&w);
}

static void test_view(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct podview view;
	struct world w;

	world_open_pod(&w, true);
	pod.known |= META_POD_READY;
	pod.ready = true;
	world_lists(&w, SEC(12), &pod);
	view = world_view(&w, WORLD_UID_A);
	assert_string_equal(view.name, "web-0");
	assert_int_equal(view.qos, CGPATH_QOS_BURSTABLE);
	assert_int_equal(view.containers, 2);
	assert_int_equal(view.running, 1);
	assert_true(view.sandbox_running && view.desired && view.ready_known && view.ready);
	assert_int_equal(view.first_ns, SEC(9));
	assert_int_equal(view.since_ns, SEC(9));
	world_stop_sandbox(&w, SEC(20));
	assert_false(world_view(&w, WORLD_UID_A).sandbox_running);
	/* No source knows whether an unlisted pod is Ready. */
	world_lists_not(&w, SEC(21));
	view = world_view(&w, WORLD_UID_A);
	assert_string_equal(view.name, "web-0");
	assert_false(view.desired || view.ready_known || view.ready);
	world_close(&w);
}

static const char *uid_of(uint32_t i)
{
	static char uid[POD_UID_MAX];

	snprintf(uid, sizeof(uid), "94dc9966-21b5-4c6e-8f0a-%012x", i);
	return uid;
}

static struct meta_pod one_of(uint32_t i)
{
	struct meta_pod pod = world_pod_a();

	strcpy(pod.uid, uid_of(i));
	snprintf(pod.name, sizeof(pod.name), "web-%u", i);
	return pod;
}

/* A static pod like A, after its manifest has changed: another uid, the same name. */
static struct meta_pod successor(const char *uid, const char *name)
{
	struct meta_pod pod = world_pod_a();

	pod.known |= META_POD_STATIC;
	pod.is_static = true;
	strcpy(pod.uid, uid);
	strcpy(pod.name, name);
	return pod;
}

static bool is_waiting(const struct world *w, const char *uid)
{
	return world_view(w, uid).waiting;
}

static void test_waits(void **state)
{
	const struct meta_pod a = successor(WORLD_UID_A, "web-0");
	const struct meta_pod next = successor(uid_of(1), "web-0");
	const struct meta_pod third = successor("94dc9966-21b5-4c6e-8f0a-000000000002", "web-0");
	const struct meta_pod other = successor("94dc9966-21b5-4c6e-8f0a-000000000003", "web-1");
	struct world w;

	world_open_pod(&w, true);
	world_lists(&w, SEC(12), &a);
	world_lists_not(&w, SEC(20));
	world_lists(&w, SEC(21), &next);
	world_lists(&w, SEC(21), &third);
	world_lists(&w, SEC(21), &other);
	assert_false(is_waiting(&w, a.uid) || is_waiting(&w, other.uid));
	assert_true(is_waiting(&w, next.uid) && is_waiting(&w, third.uid));
	world_stop_a1(&w, SEC(22));
	world_stop_sandbox(&w, SEC(23));
	world_pod_empty(&w, SEC(24));
	assert_true(is_waiting(&w, next.uid));
	world_pod_removed(&w, SEC(25));
	assert_false(is_waiting(&w, next.uid));
	assert_true(is_waiting(&w, third.uid));
	world_close(&w);
}

/* What runs does not wait, whatever the rule says. */
static void test_waits_no_longer(void **state)
{
	const struct meta_pod a = successor(WORLD_UID_A, "web-0");
	struct meta_pod b = successor(WORLD_UID_B, "web-0"), plain = b;
	struct world w;

	world_open_pod(&w, true);
	world_init(&w, SEC(10), CG_B1, &P_B1);
	world_lists(&w, SEC(12), &a);
	world_lists(&w, SEC(13), &b);
	assert_false(is_waiting(&w, WORLD_UID_B));
	world_close(&w);
	plain.is_static = false;
	strcpy(plain.uid, uid_of(1));
	world_open_pod(&w, true);
	world_lists(&w, SEC(12), &a);
	world_lists(&w, SEC(13), &plain);
	assert_false(is_waiting(&w, plain.uid));
	world_close(&w);
	/* A mirror pod has the name of its static pod. */
	strcpy(b.uid, uid_of(2));
	world_open_pod(&w, true);
	world_lists(&w, SEC(12), &plain);
	world_lists(&w, SEC(13), &b);
	assert_false(is_waiting(&w, b.uid));
	world_close(&w);
}

/* Its container starts while the other is still there. */
static void test_waits_until_it_runs(void **state)
{
	const struct meta_pod a = successor(WORLD_UID_A, "web-0");
	const struct meta_pod next = successor(uid_of(1), "web-0");
	struct graced_proc proc = P_B1;
	struct world w;

	proc.pid++;
	proc.watch_id = 71;
	world_open_pod(&w, true);
	world_lists(&w, SEC(12), &a);
	world_lists(&w, SEC(13), &next);
	assert_true(is_waiting(&w, next.uid));
	world_made(&w, SEC(14), 70, CG_BURSTABLE, "pod94dc9966-21b5-4c6e-8f0a-000000000001");
	world_made(&w, SEC(14), 71, 70, HEX_64("9"));
	assert_true(is_waiting(&w, next.uid));
	world_init(&w, SEC(15), 71, &proc);
	assert_false(is_waiting(&w, next.uid));
	world_close(&w);
}

static void take(void *userdata, const struct effect *effect)
{
	*(uint64_t *)userdata += effect->type == EFFECT_REPORT;
}

static uint64_t tell(struct engine *engine, const struct obs *obs)
{
	uint64_t reports = 0;

	assert_int_equal(engine_step(engine, obs, take, &reports), 0);
	return reports;
}

static uint64_t list_all(struct engine *engine, uint64_t at, uint32_t n)
{
	struct obs obs = {.type = OBS_POD, .at_ns = at};
	uint64_t reports = 0;

	for (uint32_t i = 0; i < n; i++) {
		obs.pod = one_of(i);
		reports += tell(engine, &obs);
	}
	obs = (struct obs){.type = OBS_LISTED, .at_ns = at, .listed = {at, META_KUBELET}};
	return reports + tell(engine, &obs);
}

static void test_many(void **state)
{
	struct pod_counts house;
	struct engine_stats stats;
	struct world w;

	world_open_bare(&w, &WORLD_ALL);
	world_attach(&w, SEC(1));
	assert_int_equal(list_all(w.engine, SEC(2), MANY), MANY);
	/* Nothing is new the second time. */
	assert_int_equal(list_all(w.engine, SEC(32), MANY), 0);
	engine_pods_count(w.engine, &house);
	assert_int_equal(house.desired[false], MANY);
	/* There is an end to it, and it is counted. */
	list_all(w.engine, SEC(40), PODLIFE_MAX_PODS + 10);
	engine_get_stats(w.engine, &stats);
	assert_int_equal(stats.pods_refused, 10);
	engine_pods_count(w.engine, &house);
	assert_int_equal(house.desired[false], PODLIFE_MAX_PODS);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("pods are counted as the kubelet counts them", test_counts),
		CLAIM("a pod is shown with its containers", test_view),
		CLAIM("of static pods with one name the next waits until the one before is finished",
		      test_waits),
		CLAIM("a static pod that runs does not wait, nor one that is not static",
		      test_waits_no_longer),
		CLAIM("a static pod waits no longer once a container of it runs",
		      test_waits_until_it_runs),
		CLAIM("500 pods are nothing, and too many are counted", test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
