// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown/view: the pods of a node in the groups of a shutdown. */
#include "core/shutdown/view.h"

#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/pods/podmake.h"

#define S UINT64_C(1000000000)

static const struct shutplan_range ranges[] = {{0, 20}, {1000, 0}, {5000, 7}, {2000000000, 10}};

static struct shutview_rules rules_of(struct arena *arena)
{
	struct shutview_rules rules = {.minor = 36};

	assert_int_equal(shutplan_of_ranges(ranges, LEN(ranges), arena, &rules.plan), 0);
	return rules;
}

static struct shutview_rules old_rules(struct arena *arena)
{
	const struct shutplan_config config = {
		.gate = true,
		.total_ns = 30 * S,
		.critical_ns = 10 * S,
	};
	struct shutview_rules rules = {.minor = 22};

	assert_int_equal(shutplan_of_config(&config, SHUTPLAN_TWO_PHASES, arena, &rules.plan), 0);
	return rules;
}

static void make(struct podmake *m, const char *name, int64_t priority, int64_t grace_s)
{
	podmake_start(m, META_RESTART_ALWAYS);
	m->pod.name = name;
	m->pod.has_priority = m->pod.grace.set = true;
	m->pod.priority = priority;
	m->pod.grace.s = grace_s;
	m->pod.status.phase = "Running";
}

static void test_pod(void **state)
{
	static const struct {
		int64_t priority, grace_s;
		size_t group;
		int64_t override_s, stop_s;
		enum shutview_cut cut;
	} rows[] = {
		{0, 5, 0, 5, 5, SHUTVIEW_FITS},
		{0, 20, 0, 20, 20, SHUTVIEW_FITS},
		{-7, 21, 0, 20, 20, SHUTVIEW_CUT_SHORT},
		{1000, 30, 1, 0, 2, SHUTVIEW_CUT_SHORT},
		{4999, 0, 1, 0, 2, SHUTVIEW_FITS},
		{5000, 1, 2, 1, 2, SHUTVIEW_FITS},
		{2000001000, 30, 3, 10, 10, SHUTVIEW_CUT_SHORT},
		{INT64_MAX, INT64_MAX, 3, 10, 10, SHUTVIEW_CUT_SHORT},
		{INT64_MIN, INT64_MIN, 0, INT64_MIN, 2, SHUTVIEW_FITS},
	};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(&arena);

	for (size_t i = 0; i < LEN(rows); i++) {
		struct podmake m = {};
		struct shutview_pod got;

		make(&m, "a", rows[i].priority, rows[i].grace_s);
		got = shutview_pod_of(&rules.plan, &m.pod);
		if (got.group != rows[i].group || got.override_s != rows[i].override_s ||
		    got.stop_s != rows[i].stop_s || got.cut != rows[i].cut || got.over)
			fail_msg("row %zu: group %zu, %lld s, %lld s, cut %d", i, got.group,
				 (long long)got.override_s, (long long)got.stop_s, got.cut);
	}
}

static void test_unknown(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(&arena);
	struct shutview_pod got;
	struct podmake m = {};

	make(&m, "a", 0, 0);
	m.pod.grace.set = m.pod.has_priority = false;
	got = shutview_pod_of(&rules.plan, &m.pod);
	assert_int_equal(got.group, 0);
	assert_int_equal(got.cut, SHUTVIEW_CUT_UNKNOWN);
	assert_int_equal(got.override_s, 20);
	assert_int_equal(got.stop_s, 20);
}

static void test_deleting(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(&arena);
	struct podmake m = {};
	struct shutview_pod got;

	make(&m, "a", 0, 60);
	m.pod.deleting = m.pod.deletion_grace.set = true;
	m.pod.deletion_grace.s = 45;
	got = shutview_pod_of(&rules.plan, &m.pod);
	assert_int_equal(got.cut, SHUTVIEW_CUT_UNKNOWN);
	assert_int_equal(got.override_s, 20);
	assert_int_equal(got.stop_s, 45);
	m.pod.deletion_grace.s = 20;
	assert_int_equal(shutview_pod_of(&rules.plan, &m.pod).cut, SHUTVIEW_FITS);
	m.pod.deletion_grace.set = false;
	assert_int_equal(shutview_pod_of(&rules.plan, &m.pod).cut, SHUTVIEW_CUT_UNKNOWN);
}

static void test_over(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(&arena);
	struct podmake m = {};
	struct shutview_pod pods[1];
	struct shutview view;

	make(&m, "a", 0, 60);
	m.pod.status.phase = "Failed";
	pods[0] = shutview_pod_of(&rules.plan, &m.pod);
	assert_true(pods[0].over);
	assert_int_equal(shutview_of(&rules, pods, 1, &arena, &view), 0);
	assert_int_equal(view.over, 1);
	assert_int_equal(view.n_groups + view.cut_short + view.unknown, 0);
	assert_int_equal(view.end_ns, 0);
}

static void test_times(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(&arena);
	struct podmake m[3] = {};
	struct shutview_pod pods[3];
	struct shutview view;

	make(&m[0], "a", 0, 60);
	make(&m[1], "b", 2000000000, 5);
	make(&m[2], "c", 2000000000, 50);
	for (size_t i = 0; i < LEN(pods); i++)
		pods[i] = shutview_pod_of(&rules.plan, &m[i].pod);
	assert_int_equal(shutview_of(&rules, pods, LEN(pods), &arena, &view), 0);
	assert_int_equal(view.n_groups, 2);
	assert_int_equal(view.cut_short, 2);
	assert_int_equal(view.groups[0].deadline_ns, 20 * S);
	assert_int_equal(view.groups[2].n_pods, 0);
	assert_int_equal(view.groups[3].n_pods, 2);
	assert_int_equal(view.groups[3].earliest_ns, 0);
	assert_int_equal(view.groups[3].latest_ns, 20 * S);
	assert_int_equal(view.groups[3].deadline_ns, 30 * S);
	assert_int_equal(view.end_ns, 30 * S);
	assert_int_equal(view.requested_ns, 37 * S);
}

static void test_two_phases(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = old_rules(&arena);
	struct podmake m = {};
	struct shutview_pod pod;
	struct shutview view;

	make(&m, "a", 0, 60);
	m.pod.is_static = m.pod.mirror = true;
	pod = shutview_pod_of(&rules.plan, &m.pod);
	assert_int_equal(pod.group, 1);
	assert_int_equal(pod.override_s, 10);
	assert_int_equal(shutview_of(&rules, &pod, 1, &arena, &view), 0);
	assert_int_equal(view.n_groups, 1);
	assert_int_equal(view.groups[1].earliest_ns, 20 * S);
	assert_int_equal(view.groups[1].latest_ns, 20 * S);
	assert_int_equal(view.groups[1].deadline_ns, 30 * S);
	assert_int_equal(view.end_ns, 30 * S);
}

static void test_endless(void **state)
{
	static const struct shutplan_range endless[] = {
		{0, INT64_MAX}, {1, INT64_MAX}, {2, INT64_MAX}};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = {.minor = 36};
	struct podmake m[3] = {};
	struct shutview_pod pods[3];
	struct shutview view;

	assert_int_equal(shutplan_of_ranges(endless, LEN(endless), &arena, &rules.plan), 0);
	for (size_t i = 0; i < LEN(pods); i++) {
		make(&m[i], "a", (int64_t)i, 5);
		pods[i] = shutview_pod_of(&rules.plan, &m[i].pod);
	}
	assert_int_equal(shutview_of(&rules, pods, LEN(pods), &arena, &view), 0);
	assert_true(view.end_ns == UINT64_MAX && view.requested_ns == UINT64_MAX);
	assert_true(view.groups[2].deadline_ns == UINT64_MAX);
}

static void runs(struct podmake *m, const char *name, const char *id)
{
	podmake_status(m, name, PODOBJ_RUNNING)->id = id;
}

static const struct shutview_look looks[] = {
	{"", SHUTVIEW_DEAF},
	{"a1", SHUTVIEW_HEARS},
	{"b2", SHUTVIEW_DEAF},
	{"c3", SHUTVIEW_HEARING_UNKNOWN},
};

static void test_listen(void **state)
{
	static const struct {
		const char *ids[3];
		enum shutview_hearing hearing;
		size_t n_deaf;
	} rows[] = {
		{{}, SHUTVIEW_HEARING_UNKNOWN, 0},
		{{""}, SHUTVIEW_HEARING_UNKNOWN, 0},
		{{"cri-o://a1"}, SHUTVIEW_HEARS, 0},
		{{"a1", "cri-o://c3"}, SHUTVIEW_HEARING_UNKNOWN, 0},
		{{"a1", "x9"}, SHUTVIEW_HEARING_UNKNOWN, 0},
		{{"x://a1", "x://b2"}, SHUTVIEW_DEAF, 1},
		{{"x9", "x://b2", "b2"}, SHUTVIEW_DEAF, 2},
	};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(&arena);

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutview_pod pod;
		struct podmake m = {};

		make(&m, "a", 0, 5);
		podmake_status(&m, "ended", PODOBJ_TERMINATED)->id = "x://b2";
		for (size_t k = 0; k < LEN(rows[i].ids) && rows[i].ids[k]; k++)
			runs(&m, rows[i].ids[k], rows[i].ids[k]);
		pod = shutview_pod_of(&rules.plan, &m.pod);
		assert_int_equal(shutview_listen(&rules.plan, &pod, looks, LEN(looks), &arena), 0);
		if (pod.hearing != rows[i].hearing || pod.n_deaf != rows[i].n_deaf ||
		    (pod.wasted_ns != 0) != (pod.n_deaf > 0))
			fail_msg("row %zu: %d, %zu deaf", i, pod.hearing, pod.n_deaf);
		for (size_t k = 0; k < pod.n_deaf; k++)
			assert_non_null(strstr(pod.deaf[k], "b2"));
	}
}

static void test_runs(void **state)
{
	struct podmake m = {};
	struct shutview_pod pod = {.pod = &m.pod};

	make(&m, "a", 0, 5);
	runs(&m, "app", "x://a1");
	podmake_init_status(&m, "sidecar", PODOBJ_RUNNING)->id = "x://b2";
	podmake_status(&m, "ended", PODOBJ_TERMINATED)->id = "x://c3";
	podmake_status(&m, "starts", PODOBJ_RUNNING)->id = "";
	assert_true(shutview_runs(&pod, "a1") && shutview_runs(&pod, "b2"));
	assert_false(shutview_runs(&pod, "c3") || shutview_runs(&pod, "") ||
		     shutview_runs(&pod, "x://a1"));
}

static void test_wasted(void **state)
{
	static const struct {
		int64_t priority, grace_s;
		uint64_t wasted_s;
	} rows[] = {
		{0, 5, 5},	   {0, 1, 2},	 {0, 60, 20},
		{1000, 30, 0},	   {5000, 7, 7}, {2000000000, INT64_MAX, 10},
		{0, INT64_MIN, 2},
	};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(&arena);
	struct podmake m[LEN(rows)] = {};
	struct shutview_pod pods[LEN(rows) + 1];
	struct podmake over = {};
	struct shutview view;

	for (size_t i = 0; i < LEN(pods); i++) {
		struct podmake *of = i < LEN(rows) ? &m[i] : &over;

		make(of, "a", i < LEN(rows) ? rows[i].priority : 0,
		     i < LEN(rows) ? rows[i].grace_s : 60);
		runs(of, "app", "x://b2");
		if (of == &over)
			over.pod.status.phase = "Failed";
		pods[i] = shutview_pod_of(&rules.plan, &of->pod);
		assert_int_equal(shutview_listen(&rules.plan, &pods[i], looks, LEN(looks), &arena),
				 0);
		if (pods[i].wasted_ns != (i < LEN(rows) ? rows[i].wasted_s * S : 0))
			fail_msg("row %zu: %llu", i, (unsigned long long)pods[i].wasted_ns);
	}
	assert_int_equal(shutview_of(&rules, pods, LEN(pods), &arena, &view), 0);
	assert_int_equal(view.deaf, LEN(rows));
	assert_int_equal(view.unheard, 0);
	assert_int_equal(view.wasted_ns, 37 * S);
}

static void test_limit(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(&arena);
	struct shutview view;

	assert_int_equal(shutview_of(&rules, NULL, 0, &arena, &view), 0);
	assert_true(shutview_suffices(&view));
	rules.has_limit = true;
	assert_false(shutview_suffices(&view));
	rules.limit_ns = 37 * S - 1;
	assert_false(shutview_suffices(&view));
	rules.limit_ns = 37 * S;
	assert_true(shutview_suffices(&view));
}

static void test_memory(void **state)
{
	_cleanup_(arena_free) struct arena arena = {}, full = {.limit = 1};
	struct shutview_rules rules = rules_of(&arena);
	struct podmake m = {};
	struct shutview_pod pod;
	struct shutview view;

	assert_true(shutview_of(&rules, NULL, 0, &full, &view) < 0);
	make(&m, "a", 0, 5);
	runs(&m, "app", "b2");
	pod = shutview_pod_of(&rules.plan, &m.pod);
	assert_true(shutview_listen(&rules.plan, &pod, looks, LEN(looks), &full) < 0);
}

static void test_sort(void **state)
{
	static const struct {
		const char *namespace_, *name, *phase;
		int64_t priority;
	} rows[] = {
		{"a", "6", "Succeeded", 0}, {"a", "5", "Running", 2000000000},
		{"b", "3", "Running", 0},   {"a", "2", "Running", -1},
		{"a", "1", "Pending", 9},   {"a", "4", "Running", 5000},
	};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(&arena);
	struct podmake m[LEN(rows)] = {};
	struct shutview_pod pods[LEN(rows)];
	char order[LEN(rows) + 1] = "";

	for (size_t i = 0; i < LEN(rows); i++) {
		make(&m[i], rows[i].name, rows[i].priority, 5);
		m[i].pod.namespace_ = rows[i].namespace_;
		m[i].pod.status.phase = rows[i].phase;
		pods[i] = shutview_pod_of(&rules.plan, &m[i].pod);
	}
	shutview_sort(pods, LEN(pods));
	for (size_t i = 0; i < LEN(pods); i++)
		order[i] = *pods[i].pod->name;
	assert_string_equal(order, "123456");
	shutview_sort(NULL, 0);
}

#define ROOT "/var/lib/kubelet"

/* A pod of that priority, with the directories of a driver of that name, or without. */
static void make_driver(struct podmake *m, struct podobj_volume list[static 2], int64_t priority,
			const char *registry, const char *plugin)
{
	make(m, "driver", priority, 5);
	m->pod.uid = "d";
	list[0] = (struct podobj_volume){.host_path = registry, .csi_driver = ""};
	list[1] = (struct podobj_volume){.host_path = plugin, .csi_driver = ""};
	m->pod.volume_list = list;
	m->pod.n_volume_list = 2;
}

static void test_drivers(void **state)
{
	static const struct {
		int64_t priority; /* of the driver; the user's is 1000 */
		const char *registry, *plugin;
		bool early, over;
	} rows[] = {
		{0, ROOT "/plugins_registry", ROOT "/plugins/a.b", true, false},
		{0, ROOT "/plugins_registry/", ROOT "/plugins/a.b/", true, false},
		{1000, ROOT "/plugins_registry", ROOT "/plugins/a.b", false, false},
		{2000001000, ROOT "/plugins_registry", ROOT "/plugins/a.b", false, false},
		{0, ROOT "/plugins_registry", ROOT "/plugins/a.b", false, true},
		{0, ROOT "/plugins_registry", ROOT "/plugins/a.bc", false, false},
		{0, ROOT "/plugins_registry", ROOT "/plugins/a", false, false},
		{0, ROOT "/plugins_registry", ROOT "/plugins/a.b/x", false, false},
		{0, ROOT "/plugins_registry", "/elsewhere/plugins/a.b", false, false},
		{0, ROOT "/pods", ROOT "/plugins/a.b", false, false},
	};
	static const struct shutview_use uses[] = {{"u", "a.b"}, {"u", "a.b"}, {"x", "c.d"}};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(&arena);

	for (size_t i = 0; i < LEN(rows); i++) {
		struct podmake driver = {}, user = {};
		struct podobj_volume list[2];
		struct shutview_pod pods[2];

		make_driver(&driver, list, rows[i].priority, rows[i].registry, rows[i].plugin);
		if (rows[i].over)
			driver.pod.status.phase = "Failed";
		make(&user, "user", 1000, 5);
		user.pod.uid = "u";
		pods[0] = shutview_pod_of(&rules.plan, &driver.pod);
		pods[1] = shutview_pod_of(&rules.plan, &user.pod);
		assert_int_equal(shutview_find_drivers(pods, 2, uses, LEN(uses), ROOT, &arena), 0);
		if (pods[1].n_early != rows[i].early || pods[0].n_early != 0)
			fail_msg("row %zu: %zu", i, pods[1].n_early);
		if (rows[i].early)
			assert_ptr_equal(pods[1].early[0].pod, &driver.pod);
	}
}

/* While one of its pods is left there is a driver. */
static void test_last_driver(void **state)
{
	static const struct podobj_volume own = {.host_path = "", .csi_driver = "a.b"};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(&arena);
	struct podmake first = {}, last = {}, user = {};
	struct podobj_volume lists[2][2];
	struct shutview_pod pods[3];

	make_driver(&first, lists[0], 0, ROOT "/plugins_registry", ROOT "/plugins/a.b");
	make_driver(&last, lists[1], 1000, ROOT "/plugins_registry", ROOT "/plugins/a.b");
	make(&user, "user", 1000, 5);
	user.pod.volume_list = &own;
	user.pod.n_volume_list = 1;
	pods[0] = shutview_pod_of(&rules.plan, &first.pod);
	pods[1] = shutview_pod_of(&rules.plan, &last.pod);
	pods[2] = shutview_pod_of(&rules.plan, &user.pod);
	assert_int_equal(shutview_find_drivers(pods, 3, NULL, 0, ROOT, &arena), 0);
	assert_int_equal(pods[2].n_early, 0);
	last.pod.priority = 0;
	pods[1] = shutview_pod_of(&rules.plan, &last.pod);
	assert_int_equal(shutview_find_drivers(pods, 3, NULL, 0, ROOT, &arena), 0);
	assert_int_equal(pods[2].n_early, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a driver that is stopped before a pod with its volumes is found, if it is one",
		      test_drivers),
		CLAIM("of several pods of a driver the last one counts", test_last_driver),
		CLAIM("a pod has its group by priority, and its grace within the group's",
		      test_pod),
		CLAIM("a pod that tells nothing counts as 0, and is given what its group is",
		      test_unknown),
		CLAIM("a deletion that runs is not shortened, and may end in time or not",
		      test_deleting),
		CLAIM("a pod that had ended is in no group", test_over),
		CLAIM("groups follow each other, those without pods are passed over", test_times),
		CLAIM("before 1.23 static pods are critical, and wait in any case",
		      test_two_phases),
		CLAIM("times beyond any count are the largest", test_endless),
		CLAIM("a pod is deaf when one that runs in it is, and hears when all do",
		      test_listen),
		CLAIM("what runs in a pod is known by its id", test_runs),
		CLAIM("a deaf pod wastes what it is given, its group's time at the most",
		      test_wasted),
		CLAIM("logind has to allow the sum of all groups, with pods or without",
		      test_limit),
		CLAIM("without memory there is no view", test_memory),
		CLAIM("pods stand in the order in which they are ended", test_sort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
