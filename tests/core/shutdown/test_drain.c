// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown/drain: the order in which to delete the pods of a node that ends. */
#include "core/shutdown/drain.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/pods/podmake.h"

#define S	 UINT64_C(1000000000)
#define PODS_MAX 64

static const struct shutplan_range ranges[] = {{0, 20}, {5000, 7}, {2000000000, 10}};

/* Pods of a test, and what came out. */
struct stage {
	struct arena arena;
	struct podmake made[PODS_MAX];
	size_t n;
	struct shutplan plan;
	struct shutview_pod pods[PODS_MAX];
	struct drain drain;
};

static struct podobj_pod *add(struct stage *s, const char *name, int64_t priority, int64_t grace_s)
{
	struct podmake *m = &s->made[s->n++];

	podmake_start(m, META_RESTART_ALWAYS);
	m->pod.name = name;
	m->pod.has_priority = m->pod.grace.set = true;
	m->pod.priority = priority;
	m->pod.grace.s = grace_s;
	m->pod.status.phase = "Running";
	return &m->pod;
}

static void decide_by(struct stage *s, const struct shutplan *groups, uint64_t deadline_ns)
{
	assert_int_equal(drain_plan_of(groups, deadline_ns, &s->arena, &s->plan), 0);
	for (size_t i = 0; i < s->n; i++) {
		struct shutview_pod view = shutview_pod_of(&s->plan, &s->made[i].pod);

		s->pods[i] = drain_pod_of(&view, deadline_ns);
	}
	drain_sort(s->pods, s->n);
	assert_int_equal(drain_of(&s->plan, deadline_ns, s->pods, s->n, &s->arena, &s->drain), 0);
}

static void decide(struct stage *s, uint64_t deadline_ns)
{
	struct shutplan groups;

	assert_int_equal(shutplan_of_ranges(ranges, LEN(ranges), &s->arena, &groups), 0);
	decide_by(s, &groups, deadline_ns);
}

/* The names in order, each with a space behind it. */
static void expect_order(const struct stage *s, const char *wanted)
{
	char got[16 * PODS_MAX] = "";

	for (size_t i = 0; i < s->n; i++) {
		strcat(got, s->pods[i].pod->name);
		strcat(got, " ");
	}
	assert_string_equal(got, wanted);
}

static const struct shutview_pod *find(const struct stage *s, const char *name)
{
	size_t i = 0;

	while (strcmp(s->pods[i].pod->name, name) != 0)
		i++;
	return &s->pods[i];
}

static void test_order(void **state)
{
	struct stage s = {};

	add(&s, "dns", 2000000000, 90);
	add(&s, "short", 0, 5);
	add(&s, "b", 0, 30);
	add(&s, "a", 10, 30);
	add(&s, "long", 0, 60);
	add(&s, "mid", 5000, 100);
	decide(&s, 600 * S);
	expect_order(&s, "long a b short mid dns ");
	arena_free(&s.arena);
}

static void test_times(void **state)
{
	struct stage s = {};

	add(&s, "long", 0, 60);
	add(&s, "mid", 5000, 20);
	add(&s, "mid2", 5000, 7);
	add(&s, "dns", 2000000000, 10);
	decide(&s, 120 * S);
	assert_int_equal(s.drain.n_groups, 3);
	assert_int_equal(s.drain.groups[0].by_ns, 0);
	assert_int_equal(s.drain.groups[1].by_ns, 90 * S);
	assert_int_equal(s.drain.groups[1].need_ns, 20 * S);
	assert_int_equal(s.drain.groups[2].by_ns, 110 * S);
	assert_int_equal(s.drain.cut_short, 0);
	arena_free(&s.arena);
}

static void test_overlap(void **state)
{
	struct stage s = {};

	add(&s, "long", 0, 100);
	add(&s, "mid", 5000, 90);
	add(&s, "dns", 2000000000, 60);
	decide(&s, 120 * S);
	assert_int_equal(s.drain.groups[1].by_ns, 0);
	assert_int_equal(s.drain.groups[2].by_ns, 60 * S);
	assert_int_equal(s.drain.cut_short, 0);
	arena_free(&s.arena);
}

static void test_cut(void **state)
{
	struct stage s = {};

	add(&s, "long", 0, 121);
	add(&s, "fits", 0, 120);
	add(&s, "dns", 2000000000, INT64_MAX);
	decide(&s, 120 * S);
	assert_int_equal(s.drain.cut_short, 2);
	assert_int_equal(find(&s, "long")->cut, SHUTVIEW_CUT_SHORT);
	assert_int_equal(find(&s, "fits")->cut, SHUTVIEW_FITS);
	assert_int_equal(s.drain.groups[2].need_ns, 120 * S);
	assert_int_equal(s.drain.groups[2].by_ns, 0);
	arena_free(&s.arena);
}

static void test_alone(void **state)
{
	struct stage s = {};

	add(&s, "dns", 2000000000, 10);
	decide(&s, 120 * S);
	assert_int_equal(s.drain.n_groups, 1);
	assert_int_equal(s.drain.groups[2].by_ns, 0);
	arena_free(&s.arena);
}

static void test_parts(void **state)
{
	struct stage s = {};
	struct podobj_pod *pod;

	add(&s, "over", 0, 900)->status.phase = "Succeeded";
	add(&s, "static", 0, 900)->is_static = true;
	add(&s, "mirror", 0, 900)->mirror = true;
	pod = add(&s, "daemon", 2000000000, 900);
	pod->owner.kind = "DaemonSet";
	pod->owner.api = "apps/v1";
	pod = add(&s, "going", 0, 900);
	pod->deleting = pod->deletion_grace.set = true;
	pod->deletion_grace.s = 100;
	add(&s, "web", 0, 30);
	decide(&s, 120 * S);
	expect_order(&s, "web going mirror static daemon over ");
	assert_int_equal(s.drain.parts[DRAIN_DELETE], 1);
	assert_int_equal(s.drain.parts[DRAIN_DELETING], 1);
	assert_int_equal(s.drain.parts[DRAIN_STAYS], 3);
	assert_int_equal(s.drain.parts[DRAIN_OVER], 1);
	assert_int_equal(s.drain.cut_short + s.drain.unknown, 0);
	assert_int_equal(s.drain.n_groups, 1);
	assert_int_equal(s.drain.groups[0].need_ns, 30 * S);
	decide(&s, 99 * S);
	assert_int_equal(s.drain.unknown, 1);
	arena_free(&s.arena);
}

static void test_unknown(void **state)
{
	struct stage s = {};

	add(&s, "long", 0, 60);
	add(&s, "unasked", 0, 0)->grace.set = false;
	decide(&s, 120 * S);
	expect_order(&s, "unasked long ");
	assert_int_equal(s.drain.unknown, 1);
	assert_false(find(&s, "unasked")->need_known);
	arena_free(&s.arena);
}

/* Makes a pod whose containers run under these ids. */
static struct shutview_pod listened(struct stage *s, const char *second, uint64_t deadline_ns)
{
	static const struct shutview_look looks[] = {
		{"d1", SHUTVIEW_DEAF}, {"d2", SHUTVIEW_DEAF}, {"h1", SHUTVIEW_HEARS}};
	struct podobj_pod *pod = add(s, "pod", 0, 60);
	struct podobj_status *items = arena_array(&s->arena, 2, sizeof(*items));
	struct shutview_pod view;
	struct shutplan none = {};

	assert_non_null(items);
	items[0] = (struct podobj_status){
		.name = "a", .id = "containerd://d1", .state.kind = PODOBJ_RUNNING};
	items[1] = (struct podobj_status){.name = "b", .id = second, .state.kind = PODOBJ_RUNNING};
	pod->status.containers = (struct podobj_statuses){.items = items, .n = 2};
	assert_int_equal(drain_plan_of(&none, deadline_ns, &s->arena, &s->plan), 0);
	view = shutview_pod_of(&s->plan, pod);
	assert_int_equal(shutview_listen(&s->plan, &view, looks, LEN(looks), &s->arena), 0);
	return drain_pod_of(&view, deadline_ns);
}

static void test_deaf(void **state)
{
	struct stage s = {};
	struct shutview_pod pod = listened(&s, "containerd://d2", 30 * S);

	assert_true(pod.need_known);
	assert_int_equal(pod.need_ns, 0);
	assert_int_equal(pod.cut, SHUTVIEW_FITS);
	assert_int_equal(pod.wasted_ns, 30 * S);
	pod = listened(&s, "containerd://h1", 30 * S);
	assert_int_equal(pod.need_ns, 60 * S);
	assert_int_equal(pod.cut, SHUTVIEW_CUT_SHORT);
	pod = listened(&s, "containerd://not-looked-at", 30 * S);
	assert_int_equal(pod.need_ns, 60 * S);
	arena_free(&s.arena);
}

static void test_usual_groups(void **state)
{
	struct shutplan none = {.rules = SHUTPLAN_RANGES};
	struct stage s = {};

	add(&s, "dns", 2000000000, 10);
	add(&s, "high", 1999999999, 10);
	add(&s, "low", -5, 5);
	decide_by(&s, &none, 120 * S);
	expect_order(&s, "high low dns ");
	assert_int_equal(s.drain.groups[1].by_ns, 110 * S);
	arena_free(&s.arena);
}

/* Plays a deletion as late as is allowed: a pod is cut exactly if it needs more than there is. */
static void test_late_enough(void **state)
{
	srand(7);
	for (int round = 0; round < 500; round++) {
		struct stage *s = calloc(1, sizeof(*s));
		uint64_t deadline_ns = (uint64_t)(1 + rand() % 200) * S, last_ns = 0;

		assert_non_null(s);
		for (int i = 0, n = rand() % PODS_MAX; i < n; i++)
			add(s, "p", rand() % 3 * 1000000000, 2 + rand() % 150);
		decide(s, deadline_ns);
		for (size_t i = 0; i < s->n; i++) {
			const struct shutview_pod *p = &s->pods[i];
			uint64_t by_ns = s->drain.groups[p->group].by_ns;
			bool cut = by_ns + p->need_ns > deadline_ns;

			if (cut != (p->cut == SHUTVIEW_CUT_SHORT) ||
			    cut != (p->need_ns > deadline_ns) || by_ns < last_ns)
				fail_msg("round %d: %llu s from %llu s of %llu s", round,
					 (unsigned long long)(p->need_ns / S),
					 (unsigned long long)(by_ns / S),
					 (unsigned long long)(deadline_ns / S));
			last_ns = by_ns;
		}
		arena_free(&s->arena);
		free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("lower groups first, in each the longest need, then names", test_order),
		CLAIM("each group waits for those before, and leaves time to those after",
		      test_times),
		CLAIM("groups overlap where the deadline is too short for one after another",
		      test_overlap),
		CLAIM("a pod is cut short whose grace period exceeds the deadline", test_cut),
		CLAIM("a group without pods takes no time", test_alone),
		CLAIM("what is over, static, a DaemonSet's or being deleted is not deleted",
		      test_parts),
		CLAIM("a pod of an unknown grace period may need all the time", test_unknown),
		CLAIM("a pod needs no time when all of its containers are deaf", test_deaf),
		CLAIM("without a kubelet's groups, critical pods come last", test_usual_groups),
		CLAIM("a pod deleted at the latest is cut short only if it needs more than all",
		      test_late_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
