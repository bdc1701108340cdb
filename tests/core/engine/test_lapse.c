// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: what is missing in a record because a source failed, was not queried or
 * was late is a gap in its evidence; what no source knows is none. */
#include "core/engine/engine.h"

#include <stdio.h>
#include <string.h>

#include "core/cgroup/map.h"
#include "lib/claim.h"
#include "lib/engine/world_meta.h"

#define CG_POD	70
#define CG_NEW	71
#define UID_NEW "0d0d0d0d-1111-4222-8333-444444444444"
#define ID_NEW	HEX_64("e")

#define SRC(name) (1u << META_##name)

enum word {
	NOT_ASKED, /* there is no such source */
	SILENT,	   /* it has not answered yet */
	ABSENT,	   /* it does not know it */
	FAILED,
	SHED,
	FOUND,
};

static void answer(struct world *w, uint64_t at, enum word word, bool of_pod)
{
	struct obs obs = {.type = OBS_NAMES, .at_ns = at, .names = {.id = CG_NEW}};

	/* Where no runtime is queried that is the answer. */
	if (word == SILENT || (word == NOT_ASKED && of_pod))
		return;
	strcpy(obs.names.pod_uid, UID_NEW);
	if (!of_pod)
		strcpy(obs.names.container_id, ID_NEW);
	obs.names.failed = word == FAILED;
	obs.names.shed = word == SHED;
	/* As often as it may have been asked about the pod. */
	for (int i = 0; i < (of_pod ? 4 : 1); i++)
		world_tell(w, &obs);
}

static void describe_container(struct world *w, uint64_t at)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = {.source = META_CRI, .namespace_ = "shop", .name = "cart-7"};

	strcpy(pod.uid, UID_NEW);
	strcpy(c.pod_uid, UID_NEW);
	strcpy(c.id, ID_NEW);
	world_say_pod(w, at, &pod);
	world_say_container(w, at, &c);
}

static void describe_pod(struct world *w, uint64_t at)
{
	struct meta_pod pod = world_pod_a();

	strcpy(pod.uid, UID_NEW);
	world_say_pod(w, at, &pod);
}

/* A container appears in a pod that nothing is known of, and its init runs. */
static void open_new(struct world *w, bool runtime, bool kubelet)
{
	const struct engine_config config = {.scope = SCOPE_CONTAINERS,
					     .sources = (runtime ? SRC(CRI) : 0) |
							(kubelet ? SRC(KUBELET) : 0)};

	world_open(w, &config);
	world_made(w, SEC(10), CG_POD, CG_BURSTABLE, "pod" UID_NEW);
	world_made(w, SEC(10), CG_NEW, CG_POD, ID_NEW);
	world_init(w, SEC(11), CG_NEW, &P_A1);
}

static void source(struct world *w, uint64_t at, enum word word, bool of_pod)
{
	if (word == FOUND && of_pod)
		describe_pod(w, at);
	else if (word == FOUND)
		describe_container(w, at);
	answer(w, at, word, of_pod);
}

static void ends(struct world *w, uint64_t at)
{
	world_exit(w, at, CG_NEW, &P_A1, EXIT(0));
	world_empty(w, at + 1000, CG_NEW);
}

static void test_stops(void **state)
{
	static const struct {
		enum word runtime, kubelet;
		uint32_t gaps;
	} want[] = {
		{ABSENT, NOT_ASKED, 0},
		{FOUND, NOT_ASKED, 0},
		{FAILED, NOT_ASKED, GAP(SOURCE_FAILED)},
		{SHED, NOT_ASKED, GAP(SHED)},
		{SILENT, NOT_ASKED, GAP(NAME_LATE)},
		{NOT_ASKED, ABSENT, 0},
		{NOT_ASKED, FAILED, GAP(SOURCE_FAILED)},
		{NOT_ASKED, SHED, GAP(SHED)},
		{NOT_ASKED, SILENT, GAP(NAME_LATE)},
		{ABSENT, ABSENT, 0},
		{ABSENT, FAILED, GAP(SOURCE_FAILED)},
		{FAILED, ABSENT, GAP(SOURCE_FAILED)},
		{FAILED, FAILED, GAP(SOURCE_FAILED)},
		{FAILED, SHED, GAP(SOURCE_FAILED) | GAP(SHED)},
		{FAILED, SILENT, GAP(SOURCE_FAILED) | GAP(NAME_LATE)},
		/* For an unnamed container, the kubelet's answer is the last possible. */
		{FAILED, FOUND, GAP(SOURCE_FAILED)},
		{FOUND, ABSENT, 0},
		{FOUND, FOUND, 0},
		/* Names are known, but not how long it may take. */
		{FOUND, FAILED, GAP(SOURCE_FAILED)},
		{FOUND, SHED, GAP(SHED)},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct world w;

		print_message("# runtime %d, kubelet %d\n", want[i].runtime, want[i].kubelet);
		open_new(&w, want[i].runtime != NOT_ASKED, want[i].kubelet != NOT_ASKED);
		source(&w, SEC(12), want[i].runtime, false);
		source(&w, SEC(12), want[i].kubelet, true);
		/* Queried at the exit again: both say the same. */
		world_exit(&w, SEC(20), CG_NEW, &P_A1, EXIT(0));
		source(&w, SEC(20), want[i].runtime, false);
		source(&w, SEC(20), want[i].kubelet, true);
		world_empty(&w, SEC(20) + 1000, CG_NEW);
		world_timer(&w, SEC(20) + MSEC(250));
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, want[i].gaps);
		world_close(&w);
	}
}

/* Everything about it was known before the kubelet went down; what it would say of the pod now is
 * not. */
static void test_known_before(void **state)
{
	struct world w;

	open_new(&w, true, true);
	source(&w, SEC(12), FOUND, false);
	source(&w, SEC(12), FOUND, true);
	world_exit(&w, SEC(20), CG_NEW, &P_A1, EXIT(0));
	answer(&w, SEC(20), FAILED, true);
	world_empty(&w, SEC(20) + 1000, CG_NEW);
	assert_int_equal(world_stop(&w)->pod_terminating, TRI_UNKNOWN);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(SOURCE_FAILED));
	world_close(&w);
}

static const struct record_pod_state *pod_in(const struct world *w, enum pod_stage stage)
{
	const struct record_pod_state *found = NULL;

	for (size_t i = 0; i < world_count(w, RECORD_POD); i++) {
		const struct record_pod_state *r = &world_record(w, RECORD_POD, i)->pod_state;

		if (r->state == stage && strcmp(r->pod.uid, UID_NEW) == 0)
			found = r;
	}
	assert_non_null(found);
	return found;
}

static void test_pods(void **state)
{
	static const struct {
		enum word runtime, kubelet;
		uint32_t begin, end;
	} want[] = {
		{ABSENT, ABSENT, 0, 0},
		{FAILED, ABSENT, GAP(SOURCE_FAILED), GAP(SOURCE_FAILED)},
		{ABSENT, FAILED, GAP(SOURCE_FAILED), GAP(SOURCE_FAILED)},
		{SHED, SHED, GAP(SHED), GAP(SHED)},
		/* Its name is enough until it ends. */
		{FOUND, FAILED, 0, GAP(SOURCE_FAILED)},
		{FOUND, SHED, 0, GAP(SHED)},
		{FOUND, ABSENT, 0, 0},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct world w;

		print_message("# runtime %d, kubelet %d\n", want[i].runtime, want[i].kubelet);
		open_new(&w, true, true);
		source(&w, SEC(12), want[i].kubelet, true);
		source(&w, SEC(12), want[i].runtime, false);
		assert_int_equal(pod_in(&w, POD_STAGE_SYNC)->gaps, want[i].begin);
		world_exit(&w, SEC(20), CG_NEW, &P_A1, EXIT(0));
		source(&w, SEC(20), want[i].kubelet, true);
		source(&w, SEC(20), want[i].runtime, false);
		world_empty(&w, SEC(20) + 1000, CG_NEW);
		world_gone(&w, SEC(21), CG_NEW, &(struct graced_counts){.exits = 1});
		world_empty(&w, SEC(21), CG_POD);
		world_gone(&w, SEC(22), CG_POD, &(struct graced_counts){});
		assert_int_equal(pod_in(&w, POD_STAGE_TERMINATED)->gaps, want[i].end);
		/* What was missing when its cgroups went stays missing. */
		assert_int_equal(pod_in(&w, POD_STAGE_FINISHED)->gaps, want[i].end);
		world_close(&w);
	}
}

/* The source is up again, or names are looked up again. */
static void test_made_up_for(void **state)
{
	for (enum word word = FAILED; word <= SHED; word++) {
		struct world w;

		open_new(&w, true, true);
		answer(&w, SEC(12), word, false);
		answer(&w, SEC(12), word, true);
		describe_container(&w, SEC(30));
		answer(&w, SEC(30), FOUND, false);
		answer(&w, SEC(30), FOUND, true);
		world_exit(&w, SEC(40), CG_NEW, &P_A1, EXIT(0));
		answer(&w, SEC(40), FOUND, true);
		world_empty(&w, SEC(40) + 1000, CG_NEW);
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
		assert_string_equal(world_stop(&w)->container.name, "main");
		world_close(&w);
	}
}

/* The kubelet lists all of its pods, and this one is not among them. */
static void test_listed(void **state)
{
	static const struct {
		uint32_t source;
		uint64_t asked_ns;
		uint32_t gaps;
	} want[] = {
		{META_KUBELET, SEC(13), 0},
		{META_KUBELET, 0, 0},
		/* Asked before it was there, or of another source. */
		{META_KUBELET, SEC(9), GAP(SOURCE_FAILED)},
		{META_API, SEC(13), GAP(SOURCE_FAILED)},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct obs listed = {.type = OBS_LISTED,
				     .at_ns = SEC(14),
				     .listed = {.source = want[i].source,
						.asked_ns = want[i].asked_ns}};
		struct world w;

		open_new(&w, false, true);
		answer(&w, SEC(12), FAILED, true);
		world_tell(&w, &listed);
		ends(&w, SEC(20));
		world_timer(&w, SEC(20) + MSEC(250));
		/* The question at its exit waits still. */
		assert_int_equal(world_stop(&w)->gaps & ~GAP(NAME_LATE), want[i].gaps);
		world_close(&w);
	}
}

/* No signal is hidden by it: a death of one that needs no sender is the container's own. */
static void test_verdict(void **state)
{
	struct world w;

	open_new(&w, true, true);
	answer(&w, SEC(12), SHED, false);
	answer(&w, SEC(12), SHED, true);
	world_exit(&w, SEC(20), CG_NEW, &P_A1, 31);
	answer(&w, SEC(20), SHED, false);
	answer(&w, SEC(20), SHED, true);
	world_empty(&w, SEC(20) + 1000, CG_NEW);
	assert_verdict(&w, OUTCOME_CRASHED, CAUSE_SELF, GAP(SHED));
	world_close(&w);
}

static void see(void *userdata, const struct engine_running *running)
{
	if (running->id == CG_NEW)
		*(uint32_t *)userdata = running->lapse;
}

static uint32_t running_lapse(const struct world *w)
{
	uint32_t lapse = UINT32_MAX;

	engine_each_container(w->engine, see, &lapse);
	return lapse;
}

static void test_running(void **state)
{
	struct world w;

	open_new(&w, true, true);
	assert_int_equal(running_lapse(&w), LAPSE_LATE);
	answer(&w, SEC(12), SHED, false);
	answer(&w, SEC(12), FAILED, true);
	assert_int_equal(running_lapse(&w), LAPSE_SHED | LAPSE_FAILED);
	source(&w, SEC(13), FOUND, false);
	assert_int_equal(running_lapse(&w), LAPSE_FAILED);
	describe_pod(&w, SEC(14));
	assert_int_equal(running_lapse(&w), 0);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what a stop's record lacks because a source failed, was shed or was late is "
		      "a gap; what each source does not know is none",
		      test_stops),
		CLAIM("a pod that may be terminating, for all that a failed source says, is a gap",
		      test_known_before),
		CLAIM("a pod's record has the same gaps, and the last one keeps them", test_pods),
		CLAIM("once names are found the records after that are complete", test_made_up_for),
		CLAIM("a list that lacks the pod is an answer, and makes up for one that failed",
		      test_listed),
		CLAIM("names that are missing leave the verdict as it is", test_verdict),
		CLAIM("what runs without names says why", test_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
