// SPDX-License-Identifier: Apache-2.0
/* Claims about graced plan of a shutdown, from pods as kubectl prints them to JSON and table. */
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/term.h"
#include "wire/json/plan.h"
#include "wire/kubernetes/pod.h"
#include "wire/text/plan.h"

#define S UINT64_C(1000000000)

#define POD(metadata, spec, phase) POD_WITH(metadata, spec, phase, "")
#define POD_WITH(metadata, spec, phase, containers)                              \
	"{'metadata':{" metadata "},'spec':{" spec "},'status':{'phase':'" phase \
	"','containerStatuses':[" containers "]}}"
#define RUNS(name, id) \
	"{'name':'" name "','containerID':'containerd://" id "','state':{'running':{}}}"
#define MIRROR "'annotations':{'kubernetes.io/config.mirror':'h'}"

/* With single quotes in place of JSON's. */
static const char patient[] =
	POD_WITH("'namespace':'shop','name':'db-0','uid':'u-1'",
		 "'nodeName':'n1','priority':0,'terminationGracePeriodSeconds':60", "Running",
		 RUNS("\\u001bapp", "d1") "," RUNS("web", "h1") "," RUNS("log", "d2"));
static const char quick[] =
	POD_WITH("'namespace':'shop','name':'quick'",
		 "'priority':-5,'terminationGracePeriodSeconds':1", "Pending", RUNS("a", "h1"));
static const char critical[] =
	POD("'namespace':'kube-system','name':'etcd-n1'," MIRROR,
	    "'priority':2000001000,'terminationGracePeriodSeconds':30", "Running");
static const char unasked[] = POD("'name':'unasked'", "", "Running");
static const char deleted[] = POD("'name':'going','deletionTimestamp':'2026-11-22T08:00:00Z',"
				  "'deletionGracePeriodSeconds':90",
				  "'priority':0,'terminationGracePeriodSeconds':90", "Running");
static const char over[] = POD("'namespace':'shop','name':'job-1'",
			       "'priority':0,'terminationGracePeriodSeconds':30", "Succeeded");
static const char hostile[] =
	POD("'namespace':'\\u001b[31mred','name':'a-name-that-is-far-too-long-for-its-column-"
	    "\\u202eevil\\n','deletionTimestamp':'2026-11-22T08:00:00Z'," MIRROR,
	    "'priority':-2147483648,'terminationGracePeriodSeconds':-9223372036854775808",
	    "Running");

static struct shutview_rules rules_of(const struct shutplan_range *ranges, size_t n,
				      struct arena *arena)
{
	struct shutview_rules rules = {.minor = 36, .has_limit = true, .limit_ns = 30 * S};

	assert_int_equal(shutplan_of_ranges(ranges, n, arena, &rules.plan), 0);
	return rules;
}

static struct shutview_rules common_rules(struct arena *arena)
{
	static const struct shutplan_range ranges[] = {{0, 20}, {5000, 5}, {2000000000, 10}};

	return rules_of(ranges, LEN(ranges), arena);
}

static char *unquote(const char *quoted, struct arena *arena)
{
	char *text = arena_strdup(arena, quoted);

	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return text;
}

static struct shutview_pod read_pod(const char *quoted, const struct shutplan *plan,
				    struct arena *arena)
{
	struct podobj_pod *pod = arena_alloc(arena, sizeof(*pod));
	const char *text = unquote(quoted, arena);
	struct podread_error error = {};
	json_auto_t *json = NULL;

	if (podread_parse(text, strlen(text), &json, &error) < 0 ||
	    podread_pod(json, arena, pod, &error) < 0)
		fail_msg("%s: %s %s", text, error.member, error.problem);
	return shutview_pod_of(plan, pod);
}

/* What of them runs is looked at, and those whose id begins with d are deaf. */
static struct shutview_pod listened(const char *quoted, const struct shutplan *plan,
				    struct arena *arena)
{
	static const struct shutview_look looks[] = {
		{"d1", SHUTVIEW_DEAF}, {"d2", SHUTVIEW_DEAF}, {"h1", SHUTVIEW_HEARS}};
	struct shutview_pod pod = read_pod(quoted, plan, arena);

	assert_int_equal(shutview_listen(plan, &pod, looks, LEN(looks), arena), 0);
	return pod;
}

static void check_json(const char *quoted, const struct shutview_rules *rules, const char *wanted)
{
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf out = {};
	struct shutview_pod pod = listened(quoted, &rules->plan, &arena);
	struct shutview view;

	assert_int_equal(shutview_of(rules, &pod, 1, &arena, &view), 0);
	assert_int_equal(shutview_json(&out, "pods.json", &view, &pod), 0);
	assert_string_equal(buf_str(&out), unquote(wanted, &arena));
}

static void test_json(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = common_rules(&arena);

	check_json(
		patient, &rules,
		"{'type':'plan','schema':1,'input':'pods.json','kubernetes':'1.36',"
		"'pod':{'namespace':'shop','name':'db-0','uid':'u-1','static':false,"
		"'deleting':false},'if':'node-shuts-down','node':'n1',"
		"'owner':{'controller':'none','kind':null,'name':null},'over':false,"
		"'priority':0,'mirror':false,'grace_ns':60000000000,"
		"'deletion_grace_ns':null,'group':{'index':0,'priority':0,"
		"'given_ns':20000000000,'earliest_ns':0,'latest_ns':0,"
		"'deadline_ns':20000000000},'override_ns':20000000000,"
		"'stop_ns':20000000000,'cut_short':true,'deaf':true,"
		"'deaf_containers':['\\u001bapp','log'],'wasted_ns':20000000000,'early_drivers':null,"
		"'shutdown':{'two_phases':false,'stopped_by':'kubelet','end_ns':20000000000,'deaf':1,"
		"'wasted_ns':20000000000,'deaf_unknown':0,'requested_ns':35000000000,"
		"'host_limit_ns':30000000000,'suffices':false}}\n");
}

static void test_nulls(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = common_rules(&arena);

	rules.has_limit = false;
	check_json(
		over, &rules,
		"{'type':'plan','schema':1,'input':'pods.json','kubernetes':'1.36',"
		"'pod':{'namespace':'shop','name':'job-1','uid':null,'static':false,"
		"'deleting':false},'if':'node-shuts-down','node':null,"
		"'owner':{'controller':'none','kind':null,'name':null},'over':true,"
		"'priority':0,'mirror':false,'grace_ns':30000000000,"
		"'deletion_grace_ns':null,'group':null,'override_ns':null,'stop_ns':null,"
		"'cut_short':null,'deaf':null,'deaf_containers':null,'wasted_ns':null,'early_drivers':null,"
		"'shutdown':{'two_phases':false,'stopped_by':'kubelet','end_ns':0,'deaf':0,'wasted_ns':0,"
		"'deaf_unknown':0,'requested_ns':35000000000,'host_limit_ns':null,'suffices':null}}\n");
	check_json(
		unasked, &rules,
		"{'type':'plan','schema':1,'input':'pods.json','kubernetes':'1.36',"
		"'pod':{'namespace':null,'name':'unasked','uid':null,'static':false,"
		"'deleting':false},'if':'node-shuts-down','node':null,"
		"'owner':{'controller':'none','kind':null,'name':null},'over':false,"
		"'priority':null,'mirror':false,'grace_ns':null,'deletion_grace_ns':null,"
		"'group':{'index':0,'priority':0,'given_ns':20000000000,'earliest_ns':0,"
		"'latest_ns':0,'deadline_ns':20000000000},'override_ns':20000000000,"
		"'stop_ns':20000000000,'cut_short':null,'deaf':null,"
		"'deaf_containers':null,'wasted_ns':null,'early_drivers':null,'shutdown':{'two_phases':false,'stopped_by':'kubelet',"
		"'end_ns':20000000000,'deaf':null,'wasted_ns':null,'deaf_unknown':1,"
		"'requested_ns':35000000000,'host_limit_ns':null,'suffices':null}}\n");
	check_json(
		quick, &rules,
		"{'type':'plan','schema':1,'input':'pods.json','kubernetes':'1.36',"
		"'pod':{'namespace':'shop','name':'quick','uid':null,'static':false,"
		"'deleting':false},'if':'node-shuts-down','node':null,"
		"'owner':{'controller':'none','kind':null,'name':null},'over':false,"
		"'priority':-5,'mirror':false,'grace_ns':1000000000,"
		"'deletion_grace_ns':null,'group':{'index':0,'priority':0,"
		"'given_ns':20000000000,'earliest_ns':0,'latest_ns':0,"
		"'deadline_ns':20000000000},'override_ns':1000000000,"
		"'stop_ns':2000000000,'cut_short':false,'deaf':false,'deaf_containers':[],"
		"'wasted_ns':0,'early_drivers':null,'shutdown':{'two_phases':false,'stopped_by':'kubelet','end_ns':20000000000,"
		"'deaf':0,'wasted_ns':0,'deaf_unknown':0,'requested_ns':35000000000,"
		"'host_limit_ns':null,'suffices':null}}\n");
}

/* The table of these pods, sorted. */
static void table(struct buf *out, const char *const *quoted, size_t n,
		  const struct shutview_rules *rules, unsigned int width)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_pod pods[8];
	struct shutview view;

	for (size_t i = 0; i < n; i++)
		pods[i] = listened(quoted[i], &rules->plan, &arena);
	shutview_sort(pods, n);
	assert_int_equal(shutview_of(rules, pods, n, &arena, &view), 0);
	assert_int_equal(shutview_table(out, &view, &(struct grid_view){.width = width}), 0);
}

static void test_table(void **state)
{
	static const char *const pods[] = {over, critical, quick, patient, deleted};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = common_rules(&arena);
	_cleanup_(buf_free) struct buf out = {};

	table(&out, pods, LEN(pods), &rules, 0);
	assert_string_equal(
		buf_str(&out),
		"GROUP       STARTS  DEADLINE  POD                  PRIORITY    GRACE  OVERRIDE"
		"  STOP  DEAF  NOTE\n"
		"0           +0s     +20s      going                0           90s    20s     "
		"  90s   -     maybe-cut,deleting\n"
		"0           +0s     +20s      shop/db-0            0           60s    20s     "
		"  20s   20s   cut-short\n"
		"0           +0s     +20s      shop/quick           -5          1s     1s      "
		"  2s    no    -\n"
		"2000000000  +0-20s  +30s      kube-system/etcd-n1  2000001000  30s    10s     "
		"  10s   -     cut-short,static\n"
		"-           -       -         shop/job-1           0           30s    -       "
		"  -     -     over\n"
		"\n"
		"4 pods in 2 groups, 2 cut short, 1 maybe cut short, 1 over already\n"
		"the kubelet releases its lock at +30s at the latest (Kubernetes 1.36)\n"
		"1 is deaf and will waste 20s at the most, 2 not known\n"
		"logind has to allow 35s; by the files of this host it allows 30s, too little "
		"unless the kubelet raises it\n");
}

static void test_deaf_line(void **state)
{
	static const struct {
		const char *pods[2], *line;
	} rows[] = {
		{{quick}, "\nno pod is deaf\n"},
		{{quick, patient}, "\n1 is deaf and will waste 20s at the most\n"},
		{{unasked, critical}, "\nwhich pods are deaf is not known on this host\n"},
		{{quick, unasked}, "\nno pod is known to be deaf, 1 not known\n"},
		{{over, quick}, "\nno pod is deaf\n"},
	};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = common_rules(&arena);

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = {};

		table(&out, rows[i].pods, rows[i].pods[1] ? 2 : 1, &rules, 0);
		if (!strstr(buf_str(&out), rows[i].line))
			fail_msg("row %zu: %s", i, buf_str(&out));
	}
}

static const char *last_line(const struct buf *out)
{
	const char *line = buf_str(out);

	for (const char *next = line; (next = strchr(next, '\n')) && next[1];)
		line = ++next;
	return line;
}

static void test_limit(void **state)
{
	static const struct {
		bool has_limit;
		uint64_t limit_ns;
		const char *last;
	} rows[] = {
		{false, 0, "logind has to allow 35s\n"},
		{true, 35 * S,
		 "logind has to allow 35s; by the files of this host it allows 35s\n"},
		{true, UINT64_MAX,
		 "logind has to allow 35s; by the files of this host it allows any time\n"},
		{true, 0,
		 "logind has to allow 35s; by the files of this host it allows 0s, too little "
		 "unless the kubelet raises it\n"},
	};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = common_rules(&arena);

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = {};

		rules.has_limit = rows[i].has_limit;
		rules.limit_ns = rows[i].limit_ns;
		table(&out, NULL, 0, &rules, 0);
		assert_string_equal(last_line(&out), rows[i].last);
	}
}

static void test_hostile(void **state)
{
	static const struct shutplan_range ranges[] = {
		{INT32_MIN, INT64_MAX}, {INT32_MIN + 1, INT64_MIN}, {0, 1234567}};
	static const char *const pods[] = {hostile, deleted, unasked};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(ranges, LEN(ranges), &arena);
	_cleanup_(buf_free) struct buf out = {};

	table(&out, pods, LEN(pods), &rules, 120);
	assert_non_null(strstr(buf_str(&out), "\\x1b"));
	term_check(&out, 120);
}

static void test_far(void **state)
{
	static const struct shutplan_range ranges[] = {{0, INT64_MAX}, {1, 5}};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview_rules rules = rules_of(ranges, LEN(ranges), &arena);
	struct shutview_pod pod = read_pod(hostile, &rules.plan, &arena);
	_cleanup_(buf_free) struct buf out = {};
	struct shutview view;

	assert_int_equal(shutview_of(&rules, &pod, 1, &arena, &view), 0);
	assert_int_equal(shutview_json(&out, "-", &view, &pod), 0);
	assert_non_null(strstr(buf_str(&out), "\"given_ns\":9223372036854775807,"));
	assert_non_null(strstr(buf_str(&out), "\"grace_ns\":-9223372036854775808,"));
	assert_non_null(strstr(buf_str(&out), "\"end_ns\":9223372036854775807,"));
	assert_non_null(strstr(buf_str(&out), "\"requested_ns\":9223372036854775807,"));
}

#define DEADLINE (60 * S)

static struct drain drain_of_all(const struct shutplan *plan, struct shutview_pod *pods, size_t n,
				 struct arena *arena)
{
	struct drain drain;

	drain_sort(pods, n);
	assert_int_equal(drain_of(plan, DEADLINE, pods, n, arena, &drain), 0);
	drain.minor = 36;
	return drain;
}

static void test_drain_json(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	const struct shutview_rules rules = common_rules(&arena);
	_cleanup_(buf_free) struct buf out = {};
	struct shutview_pod view;
	struct shutview_pod pods[2];
	struct shutplan plan;
	struct drain drain;

	assert_int_equal(drain_plan_of(&rules.plan, DEADLINE, &arena, &plan), 0);
	view = listened(patient, &plan, &arena);
	pods[0] = drain_pod_of(&view, DEADLINE);
	view = listened(deleted, &plan, &arena);
	pods[1] = drain_pod_of(&view, DEADLINE);
	drain = drain_of_all(&plan, pods, 2, &arena);
	assert_int_equal(drain_json(&out, "-", &drain, &pods[0]), 0);
	assert_int_equal(drain_json(&out, "-", &drain, &pods[1]), 0);
	assert_string_equal(
		buf_str(&out),
		unquote("{'type':'plan','schema':1,'input':'-','kubernetes':'1.36',"
			"'pod':{'namespace':'shop','name':'db-0','uid':'u-1','static':false,"
			"'deleting':false},'if':'node-ends','node':'n1',"
			"'owner':{'controller':'none','kind':null,'name':null},'part':'delete',"
			"'priority':0,'mirror':false,'grace_ns':60000000000,"
			"'deletion_grace_ns':null,'group':{'index':0,'priority':0,"
			"'needs_ns':60000000000,'by_ns':0},'needs_ns':60000000000,"
			"'cut_short':false,'deaf':true,'deaf_containers':['\\u001bapp','log'],"
			"'wasted_ns':60000000000,'deadline':{'at_ns':60000000000,'delete':1,"
			"'deleting':1,'stays':0,'over':0,'cut_short':0,'cut_short_unknown':1,"
			"'deaf':1,'deaf_unknown':0}}\n"
			"{'type':'plan','schema':1,'input':'-','kubernetes':'1.36',"
			"'pod':{'namespace':null,'name':'going','uid':null,'static':false,"
			"'deleting':true},'if':'node-ends','node':null,"
			"'owner':{'controller':'none','kind':null,'name':null},"
			"'part':'deleting','priority':0,'mirror':false,'grace_ns':90000000000,"
			"'deletion_grace_ns':90000000000,'group':null,'needs_ns':null,"
			"'cut_short':null,'deaf':null,'deaf_containers':null,'wasted_ns':null,"
			"'deadline':{'at_ns':60000000000,'delete':1,'deleting':1,'stays':0,"
			"'over':0,'cut_short':0,'cut_short_unknown':1,'deaf':1,"
			"'deaf_unknown':0}}\n",
			&arena));
}

static void test_drain_table(void **state)
{
	static const char *const quoted[] = {patient, quick, critical, unasked,
					     deleted, over,  hostile};
	_cleanup_(arena_free) struct arena arena = {};
	const struct shutview_rules rules = common_rules(&arena);
	_cleanup_(buf_free) struct buf out = {};
	struct shutview_pod pods[LEN(quoted)];
	struct shutplan plan;
	struct drain drain;

	assert_int_equal(drain_plan_of(&rules.plan, DEADLINE, &arena, &plan), 0);
	for (size_t i = 0; i < LEN(quoted); i++) {
		struct shutview_pod view = listened(quoted[i], &plan, &arena);

		pods[i] = drain_pod_of(&view, DEADLINE);
	}
	drain = drain_of_all(&plan, pods, LEN(quoted) - 1, &arena);
	assert_int_equal(drain_table(&out, &drain, &(struct grid_view){}), 0);
	assert_string_equal(
		buf_str(&out),
		"BY   POD                  PRIORITY    GRACE  NEEDS  DEAF  NOTE\n"
		"+0s  unasked              -           -      -      -     maybe-cut\n"
		"+0s  shop/db-0            0           60s    60s    60s   -\n"
		"+0s  shop/quick           -5          1s     2s     no    -\n"
		"-    going                0           90s    -      -     maybe-cut,deleting\n"
		"-    kube-system/etcd-n1  2000001000  30s    -      -     stays\n"
		"-    shop/job-1           0           30s    -      -     over\n"
		"\n"
		"3 pods to delete in 1 group, in this order, 1 being deleted, 1 not deleted (of "
		"DaemonSets or static), 1 over already\n"
		"within 60s: 0 cut short, 2 maybe cut short, 1 deaf, 1 may be deaf (Kubernetes "
		"1.36)\n");
	buf_free(&out);
	drain = drain_of_all(&plan, pods + LEN(quoted) - 1, 1, &arena);
	assert_int_equal(drain_table(&out, &drain, &(struct grid_view){.width = 120}), 0);
	term_check(&out, 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a pod's object has every member, times in nanoseconds", test_json),
		CLAIM("what is not known, and what is over, is null", test_nulls),
		CLAIM("the table tells who is ended when, with what, and sums it up", test_table),
		CLAIM("a line says how many are deaf, and of how many it is not known",
		      test_deaf_line),
		CLAIM("the last line says what logind has to allow, and whether it does",
		      test_limit),
		CLAIM("a table fits 120 columns and does no harm to a terminal", test_hostile),
		CLAIM("before a deadline, a pod's object says when it is deleted, and what is not known",
		      test_drain_json),
		CLAIM("the table of a deadline is in the order of deletion, and sums it up",
		      test_drain_table),
		CLAIM("a time beyond what nanoseconds hold is the largest one", test_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
