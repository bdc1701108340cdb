// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine where the API server is asked which pods are wanted, with the kubelet or
 * without. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_pods.h"

#define BIT(source) (1u << META_##source)

static const struct engine_config BOTH_ASKED = {.scope = SCOPE_CONTAINERS,
						.sources = BIT(API) | BIT(KUBELET)};
static const struct engine_config API_ASKED = {.scope = SCOPE_CONTAINERS, .sources = BIT(API)};

static struct meta_pod by(enum meta_source source, struct meta_pod pod)
{
	pod.source = source;
	return pod;
}

static void lists(struct world *w, uint64_t at, struct meta_pod pod)
{
	world_say_pod(w, at, &pod);
	world_listed_by(w, at, (enum meta_source)pod.source);
}

static void lists_not(struct world *w, uint64_t at, enum meta_source source)
{
	lists(w, at, (struct meta_pod){.source = source, .uid = WORLD_UID_A, .gone = true});
}

/* Listed by both at 12 s; the records so far are cleared. */
static void open_both(struct world *w)
{
	world_open_pod_by(w, &BOTH_ASKED);
	lists(w, SEC(12), by(META_KUBELET, world_pod_a()));
	lists(w, SEC(12), by(META_API, world_pod_a()));
	world_clear(w);
}

static void test_wants(void **state)
{
	struct world w;

	world_open_pod_by(&w, &BOTH_ASKED);
	lists(&w, SEC(12), by(META_KUBELET, world_pod_a()));
	assert_false(world_view(&w, WORLD_UID_A).desired);
	lists(&w, SEC(13), by(META_API, world_pod_a()));
	assert_true(world_view(&w, WORLD_UID_A).desired);
	/* The kubelet is behind, or before it: nothing is concluded from that. */
	lists_not(&w, SEC(14), META_KUBELET);
	world_timer(&w, SEC(60));
	assert_true(world_view(&w, WORLD_UID_A).desired);
	assert_int_equal(world_view(&w, WORLD_UID_A).discrepancies, 0);
	lists(&w, SEC(61), by(META_KUBELET, world_pod_deleted(SEC(61), SEC(30))));
	assert_false(world_view(&w, WORLD_UID_A).deleting);
	lists(&w, SEC(62), by(META_API, world_pod_deleted(SEC(61), SEC(30))));
	assert_true(world_view(&w, WORLD_UID_A).deleting);
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_TERMINATING);
	world_close(&w);
}

/* A force delete: the API has it no more, and the kubelet has yet to hear of it. */
static void test_gone(void **state)
{
	const struct record_discrepancy *d;
	struct world w;

	open_both(&w);
	lists_not(&w, SEC(20), META_API);
	lists(&w, SEC(21), by(META_KUBELET, world_pod_a()));
	assert_moves(&w, MOVE(TERMINATING, REMOVED, SEC(20)));
	assert_false(world_view(&w, WORLD_UID_A).desired);
	world_timer(&w, SEC(25));
	/* Another list of its own confirms it. */
	world_listed_by(&w, SEC(26), META_KUBELET);
	assert_int_equal(world_count(&w, RECORD_DISCREPANCY), 0);
	world_listed_by(&w, SEC(27), META_API);
	d = &world_record(&w, RECORD_DISCREPANCY, 0)->discrepancy;
	assert_int_equal(d->kind, DISCREPANCY_OBJECT_GONE);
	assert_int_equal(d->reported.source, META_API);
	assert_int_equal(d->since_ns, SEC(20));
	world_close(&w);
}

static struct meta_pod a_static(void)
{
	struct meta_pod pod = world_pod_a();

	pod.known |= META_POD_STATIC;
	pod.is_static = true;
	return pod;
}

/* The API has but an image of it, if any. */
static void test_static(void **state)
{
	struct world w;

	world_open_pod_by(&w, &BOTH_ASKED);
	lists(&w, SEC(30), by(META_KUBELET, a_static()));
	assert_true(world_view(&w, WORLD_UID_A).desired);
	world_listed_by(&w, SEC(31), META_API);
	lists_not(&w, SEC(32), META_API);
	assert_true(world_view(&w, WORLD_UID_A).desired);
	world_timer(&w, SEC(60));
	assert_int_equal(world_view(&w, WORLD_UID_A).discrepancies, 0);
	lists_not(&w, SEC(61), META_KUBELET);
	assert_false(world_view(&w, WORLD_UID_A).desired);
	world_close(&w);
}

static void test_static_alone(void **state)
{
	static const char path[] =
		"/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" WORLD_ID_A1;
	struct graced_proc proc = P_A1;
	struct pod_counts house;
	struct world w;

	world_open_bare(&w, &API_ASKED);
	world_found(&w, SEC(9), 80, path);
	world_attach(&w, SEC(9));
	proc.watch_id = 80;
	world_init(&w, SEC(10), 80, &proc);
	world_listed_by(&w, SEC(60), META_API);
	world_timer(&w, SEC(90));
	engine_pods_count(w.engine, &house);
	assert_int_equal(house.orphaned, 0);
	assert_int_equal(world_count(&w, RECORD_DISCREPANCY), 0);
	world_close(&w);
}

/* A server that is behind may not have heard of a pod that a kubelet has begun already. */
static void test_orphan(void **state)
{
	struct pod_counts house;
	struct world w;

	world_open_pod_by(&w, &API_ASKED);
	world_listed_by(&w, SEC(19), META_API);
	engine_pods_count(w.engine, &house);
	assert_int_equal(house.orphaned, 0);
	world_listed_by(&w, SEC(20), META_API);
	engine_pods_count(w.engine, &house);
	assert_int_equal(house.orphaned, 1);
	world_close(&w);
}

/* Who is queried when a pod's container is asked to stop. */
static void test_asked(void **state)
{
	struct world w;

	world_open_pod_by(&w, &API_ASKED);
	lists(&w, SEC(12), by(META_API, world_pod_a()));
	world_clear(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	assert_string_equal(world_effect(&w, EFFECT_FIND_POD)->pod_uid, WORLD_UID_A);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("of the API's pods the API says which are wanted", test_wants),
		CLAIM("what the API has no more is gone, whoever still lists it", test_gone),
		CLAIM("of static pods the kubelet says which are wanted", test_static),
		CLAIM("without a kubelet nobody misses a static pod", test_static_alone),
		CLAIM("a pod that has just begun is no orphan of an API server's", test_orphan),
		CLAIM("the API is asked about a pod that is being stopped", test_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
