// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about core/pods/life: whatever happens to pods in whatever order, a life goes as the
 * kubelet's pod worker has it (tests/kubelet/model/pod_worker), and what the kubelet promises holds
 * after every step (docs/kubelet-rules.md, "Pod worker invariants").
 *
 *   test_life_model [STEPS [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pods/life.h"
#include "kubelet/model/pod_worker.h"
#include "lib/claim.h"

#define SECOND 1000000000ULL
#define N_PODS 10

static uint64_t steps = 500000, seed = 1;

static const char *const uids[N_PODS] = {"u0", "u1", "u2", "u3", "u4",
					 "u5", "u6", "u7", "u8", "u9"};
static const char *const names[] = {"a", "b"};

struct pair {
	struct podworker *model;
	struct podlife lives[N_PODS];
	struct podlife_update last[N_PODS];
	enum podworker_call_kind calls[N_PODS]; /* the model's that run */
	bool spent[N_PODS];
	uint64_t order[N_PODS], last_order; /* in which they were first seen */
	uint64_t now_ns, state;
	uint64_t came[POD_STAGE_COUNT], shortened, restarted, waited;
};

static uint64_t roll(struct pair *w, uint64_t sides)
{
	uint64_t x;

	w->state = w->state * 6364136223846793005ULL + 1442695040888963407ULL;
	x = (w->state ^ w->state >> 32) * 0x9e3779b97f4a7c15ULL;
	return (x ^ x >> 29) % sides;
}

static struct pod_seconds some_grace(struct pair *w)
{
	static const int64_t some[] = {0, 1, 2, 5, 30, 30, 60, -7, INT64_MAX, INT64_MIN};
	uint64_t r = roll(w, 2 * LEN(some));

	return r < LEN(some) ? (struct pod_seconds){true, some[r]} : (struct pod_seconds){};
}

/* Runs what the model wants to run; only what waits for containers or cgroups goes on. */
static void run_model(struct pair *w)
{
	const struct podworker_outcome well = {.result = PODWORKER_OK};
	const char *ready;

	while ((ready = podworker_ready(w->model))) {
		int i = ready[1] - '0';
		struct podworker_call call;

		if (podworker_start(w->model, uids[i], w->now_ns, 0, &call) != 1)
			continue;
		w->calls[i] = call.kind;
		if (call.kind != PODWORKER_CALL_SYNC_POD)
			continue;
		w->calls[i] = PODWORKER_CALL_NONE;
		podworker_done(w->model, uids[i], &well, w->now_ns);
	}
}

static void end_call(struct pair *w, int i, enum podworker_call_kind kind)
{
	const struct podworker_outcome well = {.result = PODWORKER_OK};

	if (w->calls[i] != kind)
		return;
	w->calls[i] = PODWORKER_CALL_NONE;
	assert_int_equal(podworker_done(w->model, uids[i], &well, w->now_ns), 0);
	run_model(w);
}

/* Whether a pod is static, and what it is called, never changes. */
static bool is_static(int i)
{
	return i % 2;
}

static bool has_same_name(int i, int k)
{
	return i / 2 % LEN(names) == k / 2 % LEN(names);
}

static struct podworker_pod pod_of(int i, const struct podlife_update *u)
{
	return (struct podworker_pod){
		.uid = uids[i],
		.namespace_ = "ns",
		.name = names[i / 2 % LEN(names)],
		.is_static = is_static(i),
		.deleting = u->deleting,
		.phase = u->terminal ? META_PHASE_FAILED : META_PHASE_RUNNING,
		.deletion_grace = u->deletion_grace,
		.spec_grace = u->spec_grace,
		.runtime = u->quiet ? PODWORKER_RUNTIME_QUIET : PODWORKER_RUNTIME_RUNS,
	};
}

static bool is_name_held(const struct pair *w, int i)
{
	for (int k = 0; k < N_PODS; k++)
		if (k != i && is_static(k) && has_same_name(i, k) &&
		    podlife_holds_name(&w->lives[k], w->order[k] < w->order[i]))
			return true;
	return false;
}

/* A static pod that ends before it started has nothing to stop or to remove. The kubelet keeps its
 * place in the queue of its name, even if the UID comes anew: that is not compared. */
static void end_unstarted(struct pair *w)
{
	for (int i = 0; i < N_PODS; i++) {
		if (!is_static(i) || w->lives[i].started_ns || !w->lives[i].terminating_ns)
			continue;
		w->spent[i] = true;
		podlife_step(&w->lives[i], PODLIFE_STOPPED, NULL, w->now_ns);
		podlife_step(&w->lives[i], PODLIFE_REMOVED, NULL, w->now_ns);
	}
}

/* What waits starts as soon as it may; the kubelet looks again after a back-off. */
static void start_waiting(struct pair *w)
{
	end_unstarted(w);
	for (int i = 0; i < N_PODS; i++) {
		const struct podworker_pod pod = pod_of(i, &w->last[i]);
		const struct podworker_update again = {.type = PODWORKER_SYNC, .pod = &pod};

		if (!podlife_is_waiting(&w->lives[i]))
			continue;
		w->waited++;
		if (!is_name_held(w, i))
			podlife_start(&w->lives[i], w->now_ns);
		assert_true(podworker_update(w->model, &again, w->now_ns) >= 0);
		run_model(w);
	}
}

static void update(struct pair *w)
{
	int i = (int)roll(w, N_PODS);
	const uint64_t what = roll(w, 8);
	const struct podlife_update u = {
		.anew = roll(w, 4) == 0,
		.kill = what == 0,
		.deleting = what == 1,
		.terminal = what == 2,
		.quiet = roll(w, 2),
		.deletion_grace = some_grace(w),
		.spec_grace = some_grace(w),
	};
	const struct podworker_pod pod = pod_of(i, &u);
	const struct podworker_update same = {
		.type = u.anew	 ? PODWORKER_CREATE
			: u.kill ? PODWORKER_KILL
				 : PODWORKER_UPDATE,
		.pod = &pod,
	};
	struct podlife *l = &w->lives[i];
	const int64_t grace_s = l->grace_s;
	struct podlife_update mine = u;

	/* The kubelet creates a pod or kills it. */
	mine.kill &= !mine.anew;
	if (!l->stage && w->spent[i])
		return;
	if (!l->stage)
		w->order[i] = ++w->last_order;
	/* Static pods start in sync alone. */
	mine.waits =
		is_static(i) && (mine.kill || mine.deleting || mine.terminal || is_name_held(w, i));
	w->last[i] = mine;
	podlife_update(l, &mine, w->now_ns);
	assert_true(podworker_update(w->model, &same, w->now_ns) >= 0);
	run_model(w);
	if (grace_s && l->grace_s > grace_s)
		fail_msg("a grace period grows from %lld to %lld", (long long)grace_s,
			 (long long)l->grace_s);
	w->shortened += l->grace_s < grace_s;
	w->restarted += l->restart_requested;
}

static void stop(struct pair *w)
{
	int i = (int)roll(w, N_PODS);

	podlife_step(&w->lives[i], PODLIFE_STOPPED, NULL, w->now_ns);
	end_call(w, i, PODWORKER_CALL_TERMINATING_POD);
}

static void remove_cgroups(struct pair *w)
{
	int i = (int)roll(w, N_PODS);

	podlife_step(&w->lives[i], PODLIFE_REMOVED, NULL, w->now_ns);
	end_call(w, i, PODWORKER_CALL_TERMINATED_POD);
}

/* The grace periods of an orphan are those of its last update; the model has them itself. */
static void sync_known(struct pair *w, uint64_t which)
{
	const char *wanted[N_PODS];
	size_t n = 0;

	for (int i = 0; i < N_PODS; i++) {
		struct podlife *l = &w->lives[i];

		/* The kubelet forgets an orphan that waits; what was reported of it here ends. */
		if (podlife_is_waiting(l))
			which |= 1u << i;
		if (which >> i & 1)
			wanted[n++] = uids[i];
		if (!(which >> i & 1) || podlife_is_done(l, true))
			podlife_step(l, PODLIFE_ORPHANED, &w->last[i], w->now_ns);
		if (l->stage == POD_STAGE_FORGOTTEN) {
			w->came[POD_STAGE_FORGOTTEN]++;
			*l = (struct podlife){};
		}
	}
	podworker_sync_known(w->model, wanted, n, w->now_ns, NULL, NULL);
	run_model(w);
}

static void clock(struct pair *w)
{
	switch (roll(w, 8)) {
	case 0:
		w->now_ns = 0;
		break;
	case 1:
		w->now_ns = UINT64_MAX;
		break;
	case 2:
		w->now_ns -= roll(w, 100 * SECOND);
		break;
	default:
		w->now_ns = w->now_ns % (1000000 * SECOND) + roll(w, 20 * SECOND);
	}
}

static enum pod_stage stage_of(const struct podworker_status *s)
{
	if (s->finished)
		return POD_STAGE_FINISHED;
	return (enum pod_stage)(POD_STAGE_SYNC + podworker_state(s));
}

static const char *differs(const struct podlife *l, const struct podworker_status *s)
{
	if (!s)
		return l->stage ? "the model has forgotten it" : NULL;
	if (l->stage != stage_of(s))
		return "stage";
	if (l->grace_s != s->grace_s)
		return "grace";
	if (l->synced_ns != s->synced_ns || l->started_ns != s->started_ns ||
	    l->terminating_ns != s->terminating_ns || l->terminated_ns != s->terminated_ns)
		return "times";
	if (l->deleted != s->deleted || l->restart_requested != s->restart_requested)
		return "deleted, or asked for anew";
	return podlife_is_valid(l, true) ? NULL : "no such life can be";
}

static void compare(struct pair *w, uint64_t step, const enum pod_stage *before)
{
	for (int i = 0; i < N_PODS; i++) {
		const struct podlife *l = &w->lives[i];
		const char *what = differs(l, podworker_status(w->model, uids[i]));

		if (what)
			fail_msg("seed %llu, step %llu, %s: %s", (unsigned long long)seed,
				 (unsigned long long)step, uids[i], what);
		if (l->stage && l->stage < before[i])
			fail_msg("a life goes one way");
		w->came[l->stage] += l->stage != before[i];
	}
}

/* Nothing of it survives (tests/kubelet/README.md, "Kubelet restart"). */
static void restart(struct pair *w)
{
	const struct podworker_config config = {};

	podworker_free(w->model);
	assert_int_equal(podworker_new(&config, &w->model), 0);
	memset(w->lives, 0, sizeof(w->lives));
	memset(w->calls, 0, sizeof(w->calls));
	memset(w->spent, 0, sizeof(w->spent));
}

static void step(struct pair *w)
{
	uint64_t r = roll(w, 100);

	if (roll(w, 1000) == 0)
		restart(w);
	else if (r < 50)
		update(w);
	else if (r < 68)
		stop(w);
	else if (r < 86)
		remove_cgroups(w);
	else if (r < 92)
		sync_known(w, roll(w, 1 << N_PODS) | roll(w, 1 << N_PODS));
	else
		clock(w);
	start_waiting(w);
}

static void a_life_goes_as_the_kubelets(void **state)
{
	const struct podworker_config config = {};
	struct pair w = {.now_ns = SECOND, .state = seed};

	print_message("# %llu steps from seed %llu\n", (unsigned long long)steps,
		      (unsigned long long)seed);
	assert_int_equal(podworker_new(&config, &w.model), 0);
	for (uint64_t i = 1; i <= steps; i++) {
		enum pod_stage before[N_PODS];

		for (int k = 0; k < N_PODS; k++)
			before[k] = w.lives[k].stage;
		step(&w);
		compare(&w, i, before);
	}
	/* The walk came everywhere. */
	for (int stage = POD_STAGE_SYNC; stage < POD_STAGE_COUNT; stage++)
		assert_true(w.came[stage] > steps / 1000);
	assert_true(w.shortened > steps / 1000 && w.restarted > steps / 1000);
	assert_true(w.waited > steps / 1000);
	podworker_free(w.model);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a life goes as the kubelet's, in any order of events",
		      a_life_goes_as_the_kubelets),
	};

	if (argc > 1)
		steps = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests_name("core/pods/life: against the model", tests, NULL, NULL);
}
