// SPDX-License-Identifier: Apache-2.0
/* Claims about the engine in a node's shutdown: when it asks how it is with the pods that have
 * ended, whom it asks, and what it makes of the answer. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_pods.h"
#include "lib/shutdown/shutworld.h"

/* A1's cgroup is empty, and with it the pod but for its sandbox. */
#define EMPTY (ASKED + MSEC(1) + 1000)

#define SRC(name)  (1u << META_##name)
#define STATIC_UID "0123456789abcdef0123456789abcdef"
#define NO_PLACE   0

/* A source has answered what it was asked of that pod. */
static void answer(struct world *w, uint64_t at)
{
	world_answer(w, at, NO_PLACE, WORLD_UID_A, "");
}

/* Pod A runs, listed by the kubelet or, where it is asked, the API server, and a shutdown has
 * begun; nothing is asked any more. */
static void begin(struct world *w, enum shutdown_mode mode, uint32_t sources)
{
	const struct engine_config config = {.scope = SCOPE_CONTAINERS, .sources = sources};
	struct meta_container main = world_main_a1();
	struct meta_pod pod = world_pod_ready(world_pod_a(), true);
	const struct obs_shutdown_plan plan = {.mode = mode, .status_wait_ns = SEC(5)};

	pod.source = meta_lister(sources, false);
	world_open_pod_by(w, &config);
	world_say_sandbox(w, SEC(12));
	world_say_container(w, SEC(12), &main);
	world_say_pod(w, SEC(12), &pod);
	world_listed_by(w, SEC(12), pod.source);
	answer(w, SEC(12));
	shutworld_set_plan(w, SEC(20), &plan);
	shutworld_tell(w, SEC(20), SHUTDOWN_EV_LOGIND_UP);
	shutworld_tell(w, SEC(20), SHUTDOWN_EV_LOCK_TAKEN);
	shutworld_tell(w, SEC(20), SHUTDOWN_EV_API);
	shutworld_tell(w, ANNOUNCED, SHUTDOWN_EV_ANNOUNCED);
	shutworld_tell(w, ANNOUNCED, SHUTDOWN_EV_HOLDERS);
	world_clear(w);
}

/* The runtime stops A1. What a stop by itself asks of its pod is answered, and not counted. */
static void stop_a1(struct world *w)
{
	world_managed(w, ASKED, CG_A1, &P_A1, 15);
	world_exit(w, ASKED + MSEC(1), CG_A1, &P_A1, EXIT(0));
	answer(w, ASKED + MSEC(1));
	world_clear(w);
	world_empty(w, EMPTY, CG_A1);
}

static enum shutdown_reason reason(const struct world *w)
{
	const struct record_shutdown *released = shutworld_step(w, SHUTDOWN_REPORT_RELEASED);

	return released ? released->step.reason : SHUTDOWN_REASON_COUNT;
}

static void test_rhythm(void **state)
{
	struct meta_pod pod = world_pod_ready(world_pod_a(), false);
	struct world w;

	begin(&w, SHUTDOWN_ASSIST, SRC(KUBELET));
	shutworld_pass(&w, ASKED - 1);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 0);
	stop_a1(&w);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	assert_string_equal(world_effect(&w, EFFECT_FIND_POD)->pod_uid, WORLD_UID_A);
	answer(&w, EMPTY + MSEC(5));
	shutworld_pass(&w, EMPTY + SEC(1) - 1);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	shutworld_pass(&w, EMPTY + SEC(1));
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 2);
	pod.phase = META_PHASE_SUCCEEDED;
	world_say_pod(&w, EMPTY + SEC(1) + MSEC(5), &pod);
	assert_int_equal(reason(&w), SHUTDOWN_PODS_ENDED);
	answer(&w, EMPTY + SEC(1) + MSEC(5));
	shutworld_tell(&w, EMPTY + SEC(1) + MSEC(5), SHUTDOWN_EV_FLUSHED);
	shutworld_pass(&w, EMPTY + SEC(10));
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 2);
	world_close(&w);
}

static void test_no_condition(void **state)
{
	struct meta_pod pod = world_pod_ready(world_pod_a(), false);
	struct world w;

	begin(&w, SHUTDOWN_ASSIST, SRC(KUBELET));
	stop_a1(&w);
	pod.known &= ~META_POD_READY;
	pod.phase = META_PHASE_FAILED;
	world_say_pod(&w, EMPTY + MSEC(5), &pod);
	assert_int_equal(reason(&w), SHUTDOWN_PODS_ENDED);
	world_close(&w);
}

/* It answers after 2.5 s. */
static void test_in_flight(void **state)
{
	struct world w;

	begin(&w, SHUTDOWN_ASSIST, SRC(KUBELET));
	stop_a1(&w);
	shutworld_pass(&w, EMPTY + MSEC(2500));
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	answer(&w, EMPTY + MSEC(2500));
	shutworld_pass(&w, EMPTY + SEC(3));
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 2);
	world_close(&w);
}

/* The other one has no container that is known to run. */
static void test_one_request(void **state)
{
	struct meta_pod other = world_pod_ready(world_pod_a(), true);
	struct world w;

	begin(&w, SHUTDOWN_ASSIST, SRC(KUBELET));
	strcpy(other.uid, WORLD_UID_B);
	other.deleting = true;
	stop_a1(&w);
	world_say_pod(&w, EMPTY + MSEC(1), &other);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	answer(&w, EMPTY + MSEC(5));
	world_clear(&w);
	world_timer(&w, EMPTY + MSEC(1) + SEC(1));
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	world_close(&w);
}

static void test_observe(void **state)
{
	struct world w;

	begin(&w, SHUTDOWN_OBSERVE, SRC(KUBELET));
	stop_a1(&w);
	shutworld_pass(&w, EMPTY + SEC(10));
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 0);
	world_close(&w);
}

/* What the other one says of the pod is not what is waited for. */
static void test_who_counts(void **state)
{
	static const struct {
		uint32_t sources;
		enum meta_source says;
		enum shutdown_reason reason;
	} rows[] = {
		{SRC(KUBELET), META_KUBELET, SHUTDOWN_PODS_ENDED},
		{SRC(API), META_API, SHUTDOWN_PODS_ENDED},
		{SRC(KUBELET) | SRC(API), META_API, SHUTDOWN_PODS_ENDED},
		{SRC(KUBELET) | SRC(API), META_KUBELET, SHUTDOWN_STATUS_LATE},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct meta_pod pod = world_pod_ready(world_pod_a(), false);
		struct meta_pod runs = world_pod_ready(world_pod_a(), true);
		struct world w;

		begin(&w, SHUTDOWN_ASSIST, rows[i].sources);
		stop_a1(&w);
		assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
		pod.phase = META_PHASE_FAILED;
		pod.source = rows[i].says;
		runs.source = meta_lister(rows[i].sources, false);
		world_say_pod(&w, EMPTY + SEC(1), &runs);
		world_say_pod(&w, EMPTY + SEC(1), &pod);
		shutworld_pass(&w, EMPTY + SEC(5));
		assert_int_equal(reason(&w), rows[i].reason);
		world_close(&w);
	}
}

/* The API has only images of static pods. */
static void test_each_source(void **state)
{
	struct meta_pod pod = world_pod_ready(world_pod_a(), true);
	struct world w;

	begin(&w, SHUTDOWN_ASSIST, SRC(KUBELET) | SRC(API));
	strcpy(pod.uid, STATIC_UID);
	pod.known |= META_POD_STATIC;
	pod.is_static = pod.deleting = true;
	world_say_pod(&w, ASKED - 1, &pod);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	assert_string_equal(world_effect(&w, EFFECT_FIND_POD)->pod_uid, STATIC_UID);
	stop_a1(&w);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	assert_string_equal(world_effect(&w, EFFECT_FIND_POD)->pod_uid, WORLD_UID_A);
	world_close(&w);
}

static void test_nobody(void **state)
{
	struct world w;

	begin(&w, SHUTDOWN_ASSIST, SRC(CRI));
	stop_a1(&w);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 0);
	assert_int_equal(reason(&w), SHUTDOWN_API_UNREACHABLE);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("it asks when a pod is empty, every second from then on, and no more once it "
		      "is seen",
		      test_rhythm),
		CLAIM("a pod that has failed without any condition is not Ready",
		      test_no_condition),
		CLAIM("not while a question has no answer yet", test_in_flight),
		CLAIM("once for all pods of a list", test_one_request),
		CLAIM("and never in mode observe", test_observe),
		CLAIM("the API server's word counts where it is asked, else the kubelet's",
		      test_who_counts),
		CLAIM("each list is asked for by itself", test_each_source),
		CLAIM("without a list nobody is asked or waited for", test_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
