// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: for how long the kubelet has a pod as Ready that is being stopped. */
#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"

#define US(n) ((uint64_t)(n)*1000)

static void test_ready_measured(void **state)
{
	const struct record *record;
	struct meta_pod pod;
	struct world w;

	world_open_ready(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	assert_int_equal(world_view(&w, WORLD_UID_A).ready_stop_ns, 0);
	pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), true);
	pod.asked_ns = SEC(20) + MSEC(1);
	world_lists(&w, SEC(20) + MSEC(5), &pod);
	assert_int_equal(world_view(&w, WORLD_UID_A).ready_stop_ns, SEC(20));
	/* An answer that was overtaken changes nothing. */
	pod.ready = false;
	pod.asked_ns = SEC(19);
	world_say_pod(&w, SEC(21), &pod);
	assert_int_equal(world_count(&w, RECORD_POD_READY), 0);
	pod.asked_ns = SEC(22);
	world_lists(&w, SEC(22) + MSEC(5), &pod);
	assert_int_equal(world_view(&w, WORLD_UID_A).ready_stop_ns, 0);
	world_end_pod(&w, SEC(25));
	world_lists_not(&w, SEC(26));
	assert_int_equal(world_count(&w, RECORD_POD_READY), 1);
	record = world_record(&w, RECORD_POD_READY, 0);
	assert_int_equal(record->at_ns, SEC(22));
	assert_int_equal(record->pod_ready.stop_ns, SEC(20));
	assert_int_equal(record->pod_ready.until_ns, SEC(22));
	assert_false(record->pod_ready.gone);
	assert_string_equal(record->pod_ready.id, WORLD_BOOT "/" WORLD_UID_A "/ready/20000000000");
	assert_string_equal(record->pod_ready.pod.workload, "web");
	assert_int_equal(world_count(&w, RECORD_DISCREPANCY), 0);
	world_close(&w);
}

/* The API server's clock is ahead of the node's: by it the stop signal came before the deletion. */
static void test_ready_by_another_clock(void **state)
{
	static const uint64_t ahead[] = {0, MSEC(900), SEC(3), SEC(240)};

	for (size_t i = 0; i < LEN(ahead); i++) {
		struct meta_pod pod = world_pod_deleted(SEC(20) + ahead[i], SEC(30));
		struct world w;

		world_open_ready(&w);
		world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
		pod = world_pod_ready(pod, true);
		pod.asked_ns = SEC(20) + MSEC(20);
		world_lists(&w, SEC(20) + MSEC(30), &pod);
		assert_int_equal(world_view(&w, WORLD_UID_A).ready_stop_ns, SEC(20));
		pod.ready = false;
		pod.asked_ns = SEC(22);
		world_lists(&w, SEC(22) + MSEC(5), &pod);
		assert_int_equal(world_count(&w, RECORD_POD_READY), 1);
		world_close(&w);
	}
}

/* The deletion is known before the stop signals: a hook runs first. */
static void test_ready_until_gone(void **state)
{
	const struct record_pod_ready *ready;
	struct meta_pod pod;
	struct world w;

	world_open_ready(&w);
	pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), true);
	world_lists(&w, SEC(20), &pod);
	assert_int_equal(world_view(&w, WORLD_UID_A).ready_stop_ns, 0);
	world_managed(&w, SEC(24), CG_A1, &P_A1, 15);
	world_managed(&w, SEC(25), CG_A1, &P_A1, 15);
	assert_int_equal(world_view(&w, WORLD_UID_A).ready_stop_ns, SEC(24));
	world_end_pod(&w, SEC(26));
	assert_int_equal(world_count(&w, RECORD_POD_READY), 0);
	world_lists_not(&w, SEC(30));
	assert_int_equal(world_count(&w, RECORD_POD_READY), 1);
	ready = &world_record(&w, RECORD_POD_READY, 0)->pod_ready;
	assert_int_equal(ready->stop_ns, SEC(24));
	assert_int_equal(ready->until_ns, SEC(30));
	assert_true(ready->gone);
	assert_string_equal(ready->pod.name, "web-0");
	world_close(&w);
}

/* Once it has ended the next list but one would tell of a moment long past. */
static void test_ready_asked(void **state)
{
	struct meta_pod pod;
	struct world w;
	size_t asked;

	for (int ready = 0; ready < 2; ready++) {
		world_open_ready(&w);
		pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), ready);
		world_lists(&w, SEC(20), &pod);
		world_managed(&w, SEC(21), CG_A1, &P_A1, 15);
		world_stop_sandbox(&w, SEC(25));
		asked = world_effects(&w, EFFECT_FIND_POD);
		world_exit(&w, SEC(26), CG_A1, &P_A1, EXIT(0));
		world_empty(&w, SEC(26) + US(1), CG_A1);
		world_pod_empty(&w, SEC(26) + US(2));
		assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_TERMINATED);
		assert_int_equal(world_effects(&w, EFFECT_FIND_POD), asked + (size_t)ready);
		world_close(&w);
	}
}

static void test_ready_not_measured(void **state)
{
	struct meta_pod pod;
	struct world w;

	/* It was not Ready when it was asked to stop. */
	world_open_ready(&w);
	pod = world_pod_ready(world_pod_a(), false);
	world_lists(&w, SEC(15), &pod);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), false);
	world_lists(&w, SEC(21), &pod);
	world_end_pod(&w, SEC(22));
	world_lists_not(&w, SEC(23));
	assert_int_equal(world_count(&w, RECORD_POD_READY), 0);
	world_close(&w);
	/* A probe's stop is none of its pod's, and a completed pod was not stopped. */
	world_open_ready(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	pod = world_pod_ready(world_pod_a(), false);
	world_lists(&w, SEC(21), &pod);
	world_exit(&w, SEC(22), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(22) + US(1), CG_A1);
	world_stop_sandbox(&w, SEC(60));
	pod = world_pod_ready(world_pod_a(), false);
	pod.phase = META_PHASE_SUCCEEDED;
	world_lists(&w, SEC(61), &pod);
	assert_int_equal(world_count(&w, RECORD_POD_READY), 0);
	world_close(&w);
}

/* No stop of its container was requested, and a sandbox serves no client. */
static void test_ready_completed(void **state)
{
	struct meta_pod pod = world_pod_ready(world_pod_a(), false);
	struct world w;

	world_open_ready(&w);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(20) + US(1), CG_A1);
	world_stop_sandbox(&w, SEC(21));
	pod.phase = META_PHASE_SUCCEEDED;
	world_lists(&w, SEC(23), &pod);
	world_lists_not(&w, SEC(24));
	assert_int_equal(world_count(&w, RECORD_POD_READY), 0);
	world_close(&w);
}

/* Answers of pod A while it stops: when each was asked for and came, and whether it was Ready; the
 * first is the one that its deletion is known by. */
struct answer {
	uint64_t asked_ns, heard_ns;
	bool ready;
};

static void hear(struct world *w, const struct answer *answer)
{
	struct meta_pod pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), answer->ready);

	pod.asked_ns = answer->asked_ns;
	world_say_pod(w, answer->heard_ns, &pod);
}

static void test_ready_between(void **state)
{
	static const struct {
		struct answer answers[4];
		uint32_t gaps;
		uint64_t last_ns, until_ns, heard_ns;
	} rows[] = {
		/* One a second. */
		{{{SEC(20), SEC(20), true}, {SEC(21), SEC(21), true}, {SEC(22), SEC(22), false}},
		 0,
		 SEC(21),
		 SEC(22),
		 SEC(22)},
		/* The kubelet was silent for 8 s, or was not asked. */
		{{{SEC(20), SEC(20), true}, {SEC(28), SEC(28), false}},
		 GAP(TIME_UNCERTAIN),
		 SEC(20),
		 SEC(28),
		 SEC(28)},
		{{{SEC(20), SEC(20), true},
		  {SEC(28), SEC(28), true},
		  {SEC(42) + MSEC(200), SEC(42) + MSEC(200), false}},
		 GAP(TIME_UNCERTAIN),
		 SEC(28),
		 SEC(42) + MSEC(200),
		 SEC(42) + MSEC(200)},
		/* An answer that took 8 s was made at any time in them. */
		{{{SEC(20), SEC(20), true}, {SEC(21), SEC(29), false}},
		 GAP(TIME_UNCERTAIN),
		 SEC(20),
		 SEC(21),
		 SEC(29)},
		/* No answer since long before the stop. */
		{{{SEC(21), SEC(21), false}}, GAP(TIME_UNCERTAIN), SEC(12), SEC(21), SEC(21)},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct record_pod_ready *ready;
		struct world w;

		world_open_ready(&w);
		world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
		for (const struct answer *a = rows[i].answers; a->heard_ns; a++)
			hear(&w, a);
		assert_int_equal(world_count(&w, RECORD_POD_READY), 1);
		ready = &world_record(&w, RECORD_POD_READY, 0)->pod_ready;
		assert_int_equal(ready->gaps, rows[i].gaps);
		assert_int_equal(ready->last_ns, rows[i].last_ns);
		assert_int_equal(ready->until_ns, rows[i].until_ns);
		assert_int_equal(ready->heard_ns, rows[i].heard_ns);
		world_close(&w);
	}
}

/* The same world with another engine, restored from this one's checkpoint. */
static void restart(struct world *w, uint64_t at)
{
	struct obs_list kept = {};

	engine_keep(w->engine, true, relay_keep, &kept);
	world_close(w);
	world_open_bare(w, &WORLD_ALL);
	for (size_t i = 0; i < kept.n; i++)
		world_tell(w, &kept.list[i]);
	obs_list_free(&kept);
	world_found(w, at, CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
	world_found(w, at, CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	world_found(w, at, CG_SYSTEM, "/system.slice");
	world_found(w, at, CG_CONTAINERD, "/system.slice/containerd.service");
	world_init(w, at, CG_A1, &P_A1);
	world_attach(w, at);
}

static const struct record_pod_ready *the_ready(const struct world *w)
{
	assert_int_equal(world_count(w, RECORD_POD_READY), 1);
	return &world_record(w, RECORD_POD_READY, 0)->pod_ready;
}

/* What was asked in between had no answer. */
static void test_ready_unanswered(void **state)
{
	static const struct {
		bool failed, shed;
		uint32_t gaps;
	} rows[] = {
		{false, false, GAP(TIME_UNCERTAIN)},
		{true, false, GAP(TIME_UNCERTAIN) | GAP(SOURCE_FAILED)},
		{false, true, GAP(TIME_UNCERTAIN) | GAP(SHED)},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct obs obs = {.type = OBS_NAMES, .at_ns = SEC(22), .names = {.id = CG_A1}};
		struct world w;

		strcpy(obs.names.pod_uid, WORLD_UID_A);
		obs.names.failed = rows[i].failed;
		obs.names.shed = rows[i].shed;
		world_open_ready(&w);
		world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
		hear(&w, &(struct answer){SEC(21), SEC(21), true});
		/* As often as it was asked about. */
		for (int n = 0; n < 4; n++)
			world_tell(&w, &obs);
		hear(&w, &(struct answer){SEC(40), SEC(40), false});
		assert_int_equal(the_ready(&w)->gaps, rows[i].gaps);
		world_close(&w);
	}
}

static void test_ready_restarted(void **state)
{
	struct world w;

	/* The answers on both sides of a restart are a second apart. */
	world_open_ready(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	hear(&w, &(struct answer){SEC(21), SEC(21), true});
	hear(&w, &(struct answer){SEC(23), SEC(23), true});
	restart(&w, SEC(23) + MSEC(500));
	hear(&w, &(struct answer){SEC(24), SEC(24), false});
	assert_int_equal(the_ready(&w)->gaps, GAP(DAEMON_DOWN));
	assert_int_equal(the_ready(&w)->stop_ns, SEC(20));
	assert_int_equal(the_ready(&w)->last_ns, SEC(23));
	world_close(&w);
	/* It was away for long. */
	world_open_ready(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	hear(&w, &(struct answer){SEC(21), SEC(21), true});
	restart(&w, SEC(40));
	hear(&w, &(struct answer){SEC(41), SEC(41), false});
	assert_int_equal(the_ready(&w)->gaps, GAP(DAEMON_DOWN) | GAP(TIME_UNCERTAIN));
	assert_int_equal(the_ready(&w)->last_ns, SEC(21));
	world_close(&w);
	/* What it lasted is known by the answers after it. */
	world_open_ready(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	hear(&w, &(struct answer){SEC(21), SEC(21), true});
	restart(&w, SEC(22));
	hear(&w, &(struct answer){SEC(30), SEC(30), true});
	hear(&w, &(struct answer){SEC(31), SEC(31), false});
	assert_int_equal(the_ready(&w)->gaps, 0);
	world_close(&w);
	/* The signal that is seen may not be the first. */
	world_open_ready(&w);
	restart(&w, SEC(22));
	hear(&w, &(struct answer){SEC(23), SEC(23), true});
	world_managed(&w, SEC(24), CG_A1, &P_A1, 15);
	hear(&w, &(struct answer){SEC(25), SEC(25), false});
	assert_int_equal(the_ready(&w)->gaps, GAP(ATTACHED_LATE));
	world_close(&w);
}

enum loss {
	LOST_NOTHING,
	LOST_BEFORE_SIGNAL, /* before the SIGTERM that is seen, as its record says */
	LOST_BY_COUNTS,	    /* ... as the container's counts say while it runs */
	LOST_BY_VERDICT,    /* ... or when it has ended */
	LOST_BESIDE,	    /* about the pod's other container, which ends */
	LOST_OF_SANDBOX,
};

static void lose_beside(struct world *w)
{
	const struct graced_counts lost = {.exits = 1, .lost = 1};

	world_init(w, SEC(13), CG_A2, &P_A2);
	world_answer(w, SEC(13), CG_A2, WORLD_UID_A, WORLD_ID_A2);
	world_exit_counted(w, SEC(21), CG_A2, &P_A2, EXIT(0), &lost);
	world_empty_counted(w, SEC(21) + US(1), CG_A2, &lost);
	world_gone(w, SEC(21) + US(2), CG_A2, &lost);
	world_timer(w, SEC(22));
}

/* Stops A1 and lets one record be lost in that. */
static void stop_and_lose(struct world *w, enum loss loss)
{
	const struct shot term = {.sig = 15,
				  .flags = GRACED_SIG_GROUP,
				  .from = &P_RUNC,
				  .to = &P_A1,
				  .parents = {&P_SHIM},
				  .lost = loss == LOST_BEFORE_SIGNAL};
	const struct graced_counts lost = {.exits = 1, .lost = 1};

	if (loss == LOST_BESIDE)
		lose_beside(w);
	world_shot(w, SEC(24), CG_A1, &term);
	if (loss == LOST_BY_COUNTS)
		world_counts(w, SEC(25), CG_A1, true, &lost);
	if (loss == LOST_OF_SANDBOX)
		world_counts(w, SEC(25), CG_SANDBOX, true, &lost);
	if (loss != LOST_BY_VERDICT)
		return;
	world_exit_counted(w, SEC(25), CG_A1, &P_A1, EXIT(0), &lost);
	world_empty_counted(w, SEC(25) + US(1), CG_A1, &lost);
	world_gone(w, SEC(25) + US(2), CG_A1, &lost);
	world_timer(w, SEC(26));
}

static void test_ready_lost(void **state)
{
	static const struct {
		enum loss loss;
		uint32_t gaps;
	} rows[] = {
		{LOST_NOTHING, 0},
		{LOST_BEFORE_SIGNAL, GAP(EVENTS_LOST)},
		{LOST_BY_COUNTS, GAP(EVENTS_LOST)},
		{LOST_BY_VERDICT, GAP(EVENTS_LOST)},
		{LOST_BESIDE, GAP(EVENTS_LOST)},
		{LOST_OF_SANDBOX, 0},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		for (int restarts = 0; restarts < 2; restarts++) {
			struct world w;

			/* Nothing of it would be found. */
			if (restarts && rows[i].loss == LOST_BY_VERDICT)
				continue;
			world_open_ready(&w);
			stop_and_lose(&w, rows[i].loss);
			hear(&w, &(struct answer){SEC(26), SEC(26), true});
			if (restarts)
				restart(&w, SEC(27));
			hear(&w, &(struct answer){SEC(28), SEC(28), true});
			hear(&w, &(struct answer){SEC(29), SEC(29), false});
			assert_int_equal(the_ready(&w)->gaps, rows[i].gaps);
			assert_int_equal(the_ready(&w)->stop_ns, SEC(24));
			world_close(&w);
		}
}

/* The source answers each question at once, or never. How often it was asked until then. */
static size_t ask_until(struct world *w, enum meta_source source, bool answers, uint64_t from,
			uint64_t to)
{
	size_t asked = world_effects(w, EFFECT_FIND_POD), answered = asked;
	struct meta_pod pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), true);

	pod.source = source;
	for (uint64_t at = from; at < to; at += MSEC(100)) {
		world_timer(w, at);
		if (!answers || world_effects(w, EFFECT_FIND_POD) == answered)
			continue;
		answered = world_effects(w, EFFECT_FIND_POD);
		world_say_pod(w, at, &pod);
		world_answer(w, at, CG_A1, WORLD_UID_A, "");
	}
	return world_effects(w, EFFECT_FIND_POD) - asked;
}

static void stop_listed_by(struct world *w, enum meta_source source)
{
	static const struct engine_config api = {.scope = SCOPE_CONTAINERS,
						 .sources = 1u << META_API | 1u << META_KUBELET};
	struct meta_pod pod = world_pod_ready(world_pod_a(), true);

	pod.source = source;
	world_open_pod_by(w, source == META_API ? &api : &WORLD_ALL);
	world_say_pod(w, SEC(12), &pod);
	world_managed(w, SEC(20), CG_A1, &P_A1, 15);
	pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), true);
	pod.source = source;
	world_say_pod(w, SEC(20), &pod);
	for (int n = 0; n < 9; n++)
		world_answer(w, SEC(20), CG_A1, WORLD_UID_A, "");
}

static void test_ready_followed(void **state)
{
	struct meta_pod pod;
	struct world w;

	/* A kubelet each second, for two minutes. */
	stop_listed_by(&w, META_KUBELET);
	assert_int_equal(ask_until(&w, META_KUBELET, true, SEC(20), SEC(30)), 9);
	assert_int_equal(ask_until(&w, META_KUBELET, true, SEC(30), SEC(140)), 110);
	assert_int_equal(ask_until(&w, META_KUBELET, true, SEC(140), SEC(200)), 0);
	world_close(&w);
	/* It owes an answer. */
	stop_listed_by(&w, META_KUBELET);
	assert_int_equal(ask_until(&w, META_KUBELET, false, SEC(20), SEC(60)), 1);
	world_close(&w);
	/* It is not Ready any more. */
	stop_listed_by(&w, META_KUBELET);
	pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), false);
	world_say_pod(&w, SEC(21), &pod);
	assert_int_equal(the_ready(&w)->gaps, 0);
	assert_int_equal(ask_until(&w, META_KUBELET, false, SEC(21), SEC(60)), 0);
	world_close(&w);
	/* An API server has other nodes. */
	stop_listed_by(&w, META_API);
	assert_int_equal(ask_until(&w, META_API, true, SEC(20), SEC(60)), 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("how long a pod is Ready while it stops is known by the lists' times",
		      test_ready_measured),
		CLAIM("... also where the API server's clock is ahead",
		      test_ready_by_another_clock),
		CLAIM("a pod that goes while Ready was so until it was gone",
		      test_ready_until_gone),
		CLAIM("the kubelet is asked at the end of a pod that is Ready", test_ready_asked),
		CLAIM("what was not Ready, or not stopped, is not measured",
		      test_ready_not_measured),
		CLAIM("a sandbox's stop is not measured", test_ready_completed),
		CLAIM("what lies between two answers that are far apart is no figure",
		      test_ready_between),
		CLAIM("why there was no answer in between is a gap, too", test_ready_unanswered),
		CLAIM("a kubelet is asked each second until when a pod is Ready",
		      test_ready_followed),
		CLAIM("what was lost of a container may have been the first stop signal",
		      test_ready_lost),
		CLAIM("a restart leaves a gap in what it hides, and in nothing else",
		      test_ready_restarted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
