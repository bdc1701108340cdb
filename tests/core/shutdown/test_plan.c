// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown/plan beyond tests/vectors/shutdown.json: the rules before priorities,
 * and values that no administrator would write. */
#include <string.h>

#include "base/cleanup.h"
#include "core/shutdown/plan.h"
#include "lib/shutdown/shutplay.h"
#include "lib/claim.h"

#define MS INT64_C(1000000)
#define S  (1000 * MS)

static void count(void *userdata, const char *error)
{
	assert_int_equal(strncmp(error, "invalid configuration: ", 23), 0);
	strcat(userdata, error + 23);
	strcat(userdata, "\n");
}

static void test_validate(void **state)
{
	const struct shutplan_range entry = {0, 0};
	const struct shutplan_config bad = {
		.total_ns = -2 * S, .critical_ns = MS, .list = &entry, .n_list = 1};
	char errors[2048] = "";

	assert_int_equal(shutplan_validate(&bad, count, errors), 5);
	assert_string_equal(
		errors,
		"shutdownGracePeriodCriticalPods {1ms} must be <= shutdownGracePeriod {-2s}\n"
		"shutdownGracePeriod {-2s} must be either zero or otherwise >= 1 sec\n"
		"shutdownGracePeriodCriticalPods {1ms} must be either zero or otherwise >= 1 sec\n"
		"specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature "
		"gate GracefulNodeShutdown\n"
		"Specifying shutdownGracePeriodByPodPriority requires feature gate "
		"GracefulNodeShutdownBasedOnPodPriority\n");
}

static void test_far(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	static const struct shutplan_range far[] = {
		{INT32_MAX, INT64_MAX}, {INT32_MIN, INT64_MAX}, {0, INT64_MIN}};
	const struct shutplan_player pods[] = {
		{.priority = INT32_MIN, .kill_ns = UINT64_MAX},
		{.priority = INT32_MAX, .unmount_ns = UINT64_MAX},
	};
	const struct shutplan_config config = {
		.gate = true, .total_ns = INT64_MAX, .critical_ns = INT64_MIN};
	struct shutplan_run runs[3];
	struct shutplan plan;

	assert_int_equal(shutplan_of_config(&config, SHUTPLAN_RANGES, &arena, &plan), 0);
	assert_int_equal(plan.n, 0);
	assert_int_equal(shutplan_of_ranges(far, 3, &arena, &plan), 0);
	assert_int_equal(plan.groups[0].priority, INT32_MIN);
	assert_int_equal(plan.groups[1].ns, 0);
	assert_int_equal(shutplan_requested_ns(&plan), INT64_MAX);
	shutplan_play(&plan, pods, 2, runs);
	assert_int_equal(runs[0].end_ns, INT64_MAX);
	assert_int_equal(runs[0].outcome, SHUTPLAN_TIMEOUT);
	assert_false(runs[1].has_pods);
	assert_int_equal(runs[2].end_ns, (uint64_t)INT64_MAX + SHUTPLAN_UNMOUNT_NS);
	assert_int_equal(runs[2].outcome, SHUTPLAN_UNMOUNT_TIMEOUT);
}

static void test_requested(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	static const struct shutplan_range some[] = {{0, 30}, {10, -5}, {20, 10}};
	struct shutplan plan;

	assert_int_equal(shutplan_of_ranges(some, 3, &arena, &plan), 0);
	assert_int_equal(shutplan_requested_ns(&plan), 35 * S);
	assert_int_equal(shutplan_of_ranges(some + 1, 1, &arena, &plan), 0);
	assert_int_equal(shutplan_requested_ns(&plan), 0);
}

static void old_plan(struct arena *arena, struct shutplan *ret)
{
	const struct shutplan_config config = {
		.gate = true, .total_ns = 30500 * MS, .critical_ns = 10700 * MS};

	assert_int_equal(shutplan_rules_of(22), SHUTPLAN_TWO_PHASES);
	assert_int_equal(shutplan_rules_of(23), SHUTPLAN_RANGES);
	assert_int_equal(shutplan_of_config(&config, shutplan_rules_of(20), arena, ret), 0);
	assert_int_equal(ret->n, 2);
}

static void test_old_groups(void **state)
{
	static const struct {
		int32_t priority;
		bool is_static;
		size_t group;
	} rows[] = {
		{0, false, 0},
		{SHUTPLAN_CRITICAL - 1, false, 0},
		{SHUTPLAN_CRITICAL, false, 1},
		{0, true, 1},
		{-1, true, 1},
	};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutplan plan;

	old_plan(&arena, &plan);
	assert_int_equal(plan.groups[0].seconds, 19);
	assert_int_equal(plan.groups[1].seconds, 10);
	assert_int_equal(shutplan_requested_ns(&plan), 30500 * MS);
	for (size_t i = 0; i < LEN(rows); i++)
		assert_int_equal(shutplan_group_of(&plan, rows[i].priority, rows[i].is_static),
				 rows[i].group);
}

static void test_old_phases(void **state)
{
	static const struct {
		int64_t pod_ns, critical_ns; /* 0: none of it */
		uint64_t first_ns, start_ns, end_ns;
	} rows[] = {
		{5 * S, 0, 5 * S, 0, 5 * S},
		{25 * S, 0, 25 * S, 0, 25 * S},
		{5 * S, 2 * S, 5 * S, 19800 * MS, 21800 * MS},
		{25 * S, 2 * S, 25 * S, 19800 * MS, 25 * S},
		{40 * S, 40 * S, 30500 * MS, 19800 * MS, 30500 * MS},
	};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutplan plan;

	old_plan(&arena, &plan);
	for (size_t i = 0; i < LEN(rows); i++) {
		const struct shutplan_player pods[] = {
			{.kill_ns = (uint64_t)rows[i].pod_ns, .unmount_ns = UINT64_MAX},
			{.is_static = true, .kill_ns = (uint64_t)rows[i].critical_ns},
		};
		size_t n = rows[i].critical_ns ? 2 : 1;
		struct shutplan_run runs[2];

		assert_int_equal(shutplan_play(&plan, pods, n, runs), rows[i].end_ns);
		assert_int_equal(runs[0].end_ns, rows[i].first_ns);
		assert_int_equal(runs[1].start_ns, rows[i].start_ns);
		assert_int_equal(runs[1].has_pods, n == 2);
	}
}

static void assert_seconds(struct seconds got, struct seconds want)
{
	assert_int_equal(got.set, want.set);
	if (got.set)
		assert_int_equal(got.s, want.s);
}

static void test_stop(void **state)
{
	static const struct {
		int64_t group_s; /* -2: there is no plan */
		struct seconds grace, deletion;
		struct seconds want, longest;
	} rows[] = {
		{20, {true, 60}, {}, {true, 20}, {true, 20}},
		{20, {true, 5}, {}, {true, 5}, {true, 5}},
		{20, {}, {}, {true, 20}, {true, 20}},
		{0, {true, 60}, {}, {true, 2}, {true, 2}},
		{-1, {true, 60}, {}, {true, 2}, {true, 2}},
		{20, {true, 60}, {true, 60}, {true, 60}, {true, 60}},
		{60, {true, 60}, {true, 5}, {true, 5}, {true, 60}},
		{60, {true, 60}, {true, 1}, {true, 2}, {true, 60}},
		{20, {true, 60}, {true, 0}, {true, 20}, {true, 20}},
		{-2, {true, 60}, {}, {true, 60}, {true, 60}},
		{-2, {true, 60}, {true, 5}, {true, 5}, {true, 60}},
		{-2, {true, 0}, {}, {true, 2}, {true, 2}},
		{-2, {}, {true, 7}, {true, 7}, {true, 7}},
		{-2, {}, {true, 0}, {true, 2}, {true, 2}},
		{-2, {}, {}, {false, 0}, {false, 0}},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		const struct shutplan_range range = {0, rows[i].group_s};
		struct shutplan plan;

		assert_int_equal(shutplan_of_ranges(&range, rows[i].group_s != -2, &arena, &plan),
				 0);
		assert_seconds(shutplan_stop_s(&plan, 0, rows[i].grace, rows[i].deletion),
			       rows[i].want);
		assert_seconds(shutplan_longest_stop_s(&plan, 0, rows[i].grace, rows[i].deletion),
			       rows[i].longest);
	}
}

static void test_disabled(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	const struct shutplan_range entry = {0, 0};
	const struct shutplan_config off[] = {
		{.gate = false, .total_ns = 30 * S},
		{.gate = true},
		{.gate = true, .list = &entry, .n_list = 1},
		{.gate = true, .total_ns = S, .critical_ns = 2 * S},
	};
	struct shutplan plan;

	for (size_t i = 0; i < LEN(off); i++) {
		for (unsigned int minor = 20; minor <= 36; minor += 16) {
			assert_int_equal(shutplan_of_config(&off[i], shutplan_rules_of(minor),
							    &arena, &plan),
					 0);
			assert_int_equal(plan.n, 0);
			assert_int_equal(shutplan_requested_ns(&plan), 0);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("every error is reported by itself, in the kubelet's words", test_validate),
		CLAIM("values at both ends of their types neither wrap nor trap", test_far),
		CLAIM("logind has to allow the sum, of which negative entries take, but not below 0",
		      test_requested),
		CLAIM("before 1.23 static and mirror pods are critical", test_old_groups),
		CLAIM("before 1.23 critical pods wait for their time, whoever is gone by then",
		      test_old_phases),
		CLAIM("a container has its group's time, or what a deletion gave it", test_stop),
		CLAIM("what is off or empty makes no plan", test_disabled),
	};

	return cmocka_run_group_tests_name("core/shutdown/plan", tests, NULL, NULL);
}
