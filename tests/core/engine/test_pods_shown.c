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
	/* Of one that is not listed nobody says whether it is Ready. */
	world_lists_not(&w, SEC(21));
	view = world_view(&w, WORLD_UID_A);
	assert_string_equal(view.name, "web-0");
	assert_false(view.desired || view.ready_known || view.ready);
	world_close(&w);
}

static const char *uid_of(uint32_t i)
{
	static char uid[META_UID_MAX];

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

static void take(void *userdata, const struct effect *effect)
{
	*(uint64_t *)userdata += effect->type == EFFECT_REPORT;
}

static uint64_t tell(struct engine *engine, const struct obs *obs)
{
	uint64_t told = 0;

	assert_int_equal(engine_step(engine, obs, take, &told), 0);
	return told;
}

static uint64_t list_all(struct engine *engine, uint64_t at, uint32_t n)
{
	struct obs obs = {.type = OBS_POD, .at_ns = at};
	uint64_t told = 0;

	for (uint32_t i = 0; i < n; i++) {
		obs.pod = one_of(i);
		told += tell(engine, &obs);
	}
	obs = (struct obs){.type = OBS_LISTED, .at_ns = at, .listed = {at, META_KUBELET}};
	return told + tell(engine, &obs);
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
		CLAIM("500 pods are nothing, and too many are counted", test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
