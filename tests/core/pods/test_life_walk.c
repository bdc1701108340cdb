// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about core/pods/life: whatever happens to pods in whatever order, what the kubelet
 * promises of its pod workers holds after every step (docs/kubelet-rules.md, "Pod worker
 * invariants", "Pod updates", "Static pods", "Orphaned pods").
 */
#include "core/pods/life.h"
#include "lib/claim.h"

#define SECOND 1000000000ULL
#define N_PODS 10
#define STEPS  500000

struct pod {
	struct podlife life;
	struct podlife_update last;
	uint64_t order; /* in which they were first seen */
};

struct walk {
	struct pod pods[N_PODS];
	uint64_t last_order, now_ns, state;
	uint64_t came[POD_STAGE_COUNT], shortened, restarted, waited, started;
};

static uint64_t roll(struct walk *w, uint64_t sides)
{
	uint64_t x;

	w->state = w->state * 6364136223846793005ULL + 1442695040888963407ULL;
	x = (w->state ^ w->state >> 32) * 0x9e3779b97f4a7c15ULL;
	return (x ^ x >> 29) % sides;
}

static struct seconds some_grace(struct walk *w)
{
	static const int64_t some[] = {0, 1, 2, 5, 30, 30, 60, -7, INT64_MAX, INT64_MIN};
	uint64_t r = roll(w, 2 * LEN(some));

	return r < LEN(some) ? (struct seconds){true, some[r]} : (struct seconds){};
}

/* Whether a pod is static, and what it is called, never changes. */
static bool is_static(const struct walk *w, const struct pod *pod)
{
	return (pod - w->pods) % 2;
}

static bool are_rivals(const struct walk *w, const struct pod *a, const struct pod *b)
{
	return a != b && is_static(w, a) && is_static(w, b) &&
	       (a - w->pods) / 2 % 2 == (b - w->pods) / 2 % 2;
}

static bool is_name_held(const struct walk *w, const struct pod *pod)
{
	for (const struct pod *other = w->pods; other < w->pods + N_PODS; other++)
		if (are_rivals(w, pod, other) &&
		    podlife_holds_name(&other->life, other->order < pod->order))
			return true;
	return false;
}

/* Whatever happened: no stage is left out but at first sight, a time is that of its step and stays,
 * and nothing is taken back. */
static void check_step(struct walk *w, const struct pod *pod, const struct podlife *was)
{
	const struct podlife *is = &pod->life;
	const uint64_t was_ns[] = {was->synced_ns, was->started_ns, was->terminating_ns,
				   was->terminated_ns};
	const uint64_t is_ns[] = {is->synced_ns, is->started_ns, is->terminating_ns,
				  is->terminated_ns};

	assert_true(is->stage == was->stage || is->stage == was->stage + 1 || !was->stage);
	for (size_t i = 0; i < LEN(is_ns); i++) {
		assert_true(is_ns[i] == was_ns[i] || (!was_ns[i] && is_ns[i] == (w->now_ns ?: 1)));
		assert_true(!is_ns[i] || is->synced_ns <= is_ns[i]);
	}
	assert_true(!is->terminated_ns || is->terminating_ns <= is->terminated_ns);
	assert_true(is->deleted >= was->deleted);
	assert_true(is->restart_requested >= was->restart_requested);
	assert_true(!was->grace_s || (is->grace_s >= 1 && is->grace_s <= was->grace_s));
	assert_true(is->stage != POD_STAGE_TERMINATING || is->grace_s >= 1);
	assert_true(!is->stage || is->stage == POD_STAGE_FORGOTTEN ||
		    podlife_is_valid(is, is_static(w, pod)));
	w->came[is->stage] += is->stage != was->stage;
	w->shortened += is->grace_s < was->grace_s;
	w->restarted += is->restart_requested != was->restart_requested;
}

/* Once a pod ends, an update may only shorten its grace period until it has stopped, or note that
 * its UID comes anew. */
static void check_update(const struct podlife_update *u, const struct podlife *was,
			 const struct podlife *is)
{
	const bool ends = u->kill || u->deleting || u->terminal;
	const bool again = u->anew && was->stage >= POD_STAGE_TERMINATING;

	if (was->stage >= POD_STAGE_TERMINATING) {
		assert_int_equal(is->stage, was->stage);
		assert_int_equal(is->deleted, was->deleted);
		assert_int_equal(is->started_ns, was->started_ns);
		assert_int_equal(is->restart_requested, was->restart_requested || u->anew);
		assert_true(is->grace_s == was->grace_s ||
			    (was->stage == POD_STAGE_TERMINATING && !again));
	} else if (!was->stage && u->terminal && u->quiet) {
		assert_int_equal(is->stage, POD_STAGE_TERMINATED);
		assert_false(is->deleted);
	} else {
		assert_int_equal(is->stage, ends ? POD_STAGE_TERMINATING : POD_STAGE_SYNC);
		assert_int_equal(is->deleted, u->deleting);
	}
	if (is->stage == POD_STAGE_TERMINATING && !again && u->deletion_grace.set)
		assert_true(is->grace_s == 1 || is->grace_s <= u->deletion_grace.s);
}

static void update(struct walk *w, struct pod *pod)
{
	const struct podlife was = pod->life;
	const uint64_t what = roll(w, 8);

	pod->last = (struct podlife_update){
		.anew = roll(w, 4) == 0,
		.kill = what == 0,
		.deleting = what == 1,
		.terminal = what == 2,
		.quiet = roll(w, 2),
		.deletion_grace = some_grace(w),
		.spec_grace = some_grace(w),
	};
	if (!was.stage)
		pod->order = ++w->last_order;
	pod->last.waits = is_name_held(w, pod);
	podlife_update(&pod->life, &pod->last, w->now_ns);
	check_step(w, pod, &was);
	check_update(&pod->last, &was, &pod->life);
	if (!was.stage)
		assert_int_equal(!pod->life.started_ns, pod->last.waits);
}

/* What the kernel shows ends the one stage that waits for it. */
static void end(struct walk *w, struct pod *pod, enum podlife_event event, enum pod_stage stage)
{
	const struct podlife was = pod->life;
	bool moved = podlife_step(&pod->life, event, NULL, w->now_ns);

	check_step(w, pod, &was);
	assert_int_equal(moved, was.stage == stage);
	assert_int_equal(pod->life.stage, was.stage + moved);
}

/* An orphan ends, and counts as deleted; so does what is finished and wanted anew. */
static void give_up(struct walk *w, struct pod *pod, bool wanted)
{
	const struct podlife was = pod->life;

	assert_int_equal(podlife_is_done(&was, wanted),
			 was.stage == POD_STAGE_FINISHED && (!wanted || was.restart_requested));
	if (!was.stage || (wanted && !podlife_is_done(&was, true)))
		return;
	podlife_step(&pod->life, PODLIFE_ORPHANED, &pod->last, w->now_ns);
	check_step(w, pod, &was);
	assert_int_equal(pod->life.stage, was.stage == POD_STAGE_SYNC	    ? POD_STAGE_TERMINATING
					  : was.stage == POD_STAGE_FINISHED ? POD_STAGE_FORGOTTEN
									    : was.stage);
	if (pod->life.stage == POD_STAGE_FORGOTTEN)
		pod->life = (struct podlife){};
	else
		assert_true(pod->life.deleted);
}

static bool has_started(const struct podlife *l)
{
	return l->started_ns && l->stage >= POD_STAGE_SYNC && l->stage < POD_STAGE_FINISHED;
}

/* What waits starts as soon as it may, in the order in which it came, what ends never; and one of a
 * full name at a time. */
static void start(struct walk *w, struct pod *pod)
{
	const struct podlife was = pod->life;
	bool waits = podlife_is_waiting(&was);

	w->waited += waits;
	assert_int_equal(waits, was.stage == POD_STAGE_SYNC && !was.started_ns);
	if (waits && is_name_held(w, pod))
		return;
	assert_int_equal(podlife_start(&pod->life, w->now_ns), waits);
	w->started += waits;
	check_step(w, pod, &was);
	for (const struct pod *other = w->pods; other < w->pods + N_PODS; other++) {
		if (!are_rivals(w, pod, other))
			continue;
		assert_false(has_started(&pod->life) && has_started(&other->life));
		assert_false(waits && podlife_is_waiting(&other->life) &&
			     other->order < pod->order);
	}
}

static void step(struct walk *w)
{
	struct pod *pod = &w->pods[roll(w, N_PODS)];
	uint64_t r = roll(w, 100);

	if (r < 50)
		update(w, pod);
	else if (r < 68)
		end(w, pod, PODLIFE_STOPPED, POD_STAGE_TERMINATING);
	else if (r < 86)
		end(w, pod, PODLIFE_REMOVED, POD_STAGE_TERMINATED);
	else if (r < 94)
		give_up(w, pod, roll(w, 2));
	else
		w->now_ns += roll(w, 20 * SECOND);
	for (pod = w->pods; pod < w->pods + N_PODS; pod++)
		start(w, pod);
}

static void what_the_kubelet_promises_holds(void **state)
{
	struct walk w = {.state = 1};

	for (uint64_t i = 0; i < STEPS; i++)
		step(&w);
	/* The walk came everywhere. */
	for (int stage = POD_STAGE_SYNC; stage < POD_STAGE_COUNT; stage++)
		assert_true(w.came[stage] > STEPS / 1000);
	assert_true(w.shortened > STEPS / 1000 && w.restarted > STEPS / 1000);
	assert_true(w.waited > STEPS / 1000 && w.started > STEPS / 10000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what the kubelet promises of a pod's life holds, in any order of events",
		      what_the_kubelet_promises_holds),
	};

	return cmocka_run_group_tests_name("core/pods/life: a walk", tests, NULL, NULL);
}
