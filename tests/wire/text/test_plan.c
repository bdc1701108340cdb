// SPDX-License-Identifier: Apache-2.0
/* Claims about graced plan --if-node-dies from pods as kubectl prints them to JSON and table. */
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/term.h"
#include "wire/json/plan.h"
#include "wire/text/plan.h"
#include "wire/kubernetes/pod.h"

#define OWNER(kind) \
	"'ownerReferences':[{'kind':'" kind "','name':'set','uid':'u','controller':true}]"
#define TOLERATIONS(seconds)                                                           \
	"'tolerations':[{'key':'node.kubernetes.io/unreachable','effect':'NoExecute'," \
	"'operator':'Exists'" seconds "}]"
#define POD(metadata, spec, volumes)                                            \
	"{'metadata':{" metadata "},'spec':{" spec ",'volumes':[" volumes "]}," \
	"'status':{'phase':'Running'}}"
#define CLAIMED "{'name':'d','persistentVolumeClaim':{'claimName':'c'}}"

/* With single quotes in place of JSON's. */
static const char stateful[] =
	POD("'namespace':'shop','name':'db-0','uid':'u-1'," OWNER("StatefulSet"),
	    "'nodeName':'n1'," TOLERATIONS(",'tolerationSeconds':300"), CLAIMED);
static const char daemon_pod[] =
	POD("'namespace':'ops','name':'agent'," OWNER("DaemonSet"), TOLERATIONS(""), "");
static const char deleted[] =
	POD("'name':'web','deletionTimestamp':'2026-11-22T08:00:00Z'," OWNER("ReplicaSet"),
	    "'tolerations':[]", "");
static const char patient[] = POD("'name':'patient'," OWNER("ReplicaSet"),
				  TOLERATIONS(",'tolerationSeconds':9223372036854775807"), "");
static const char hostile[] =
	POD("'namespace':'\\u001b[31mred','name':'a-name-that-is-far-too-long-for-its-column-"
	    "\\u202eevil\\n'," OWNER("AKindThatIsLongerThanItsColumn\\u0007"),
	    TOLERATIONS(",'tolerationSeconds':123456789"),
	    "{'name':'a','emptyDir':{}},{'name':'b','hostPath':{'path':'/'}}," CLAIMED);

/* Whose pod it is in the object of the first. */
#define STATEFUL                                                              \
	"{'type':'plan','schema':1,'input':'pods.json','kubernetes':'1.36',"  \
	"'pod':{'namespace':'shop','name':'db-0','uid':'u-1','static':false," \
	"'deleting':false},'if':'node-dies','node':'n1',"                     \
	"'owner':{'controller':'statefulset','kind':'StatefulSet','name':'set'},"

static struct nodeplan_rules rules_of(unsigned int minor, enum nodefail_taint taint)
{
	return (struct nodeplan_rules){
		.minor = minor,
		.nodefail = nodefail_rules_of(minor),
		.taint = taint,
		.taint_s = 55,
	};
}

static char *unquote(const char *quoted, struct arena *arena)
{
	char *text = arena_strdup(arena, quoted);

	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return text;
}

static struct nodeplan_pod plan(const char *quoted, const struct nodeplan_rules *rules,
				struct arena *arena)
{
	struct podobj_pod *pod = arena_alloc(arena, sizeof(*pod));
	const char *text = unquote(quoted, arena);
	struct podread_error error = {};
	json_auto_t *json = NULL;

	if (podread_parse(text, strlen(text), &json, &error) < 0 ||
	    podread_pod(json, arena, pod, &error) < 0)
		fail_msg("%s: %s %s", text, error.member, error.problem);
	return nodeplan_of(rules, pod);
}

static void check_json(const char *quoted, const struct nodeplan_rules *rules, const char *wanted)
{
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf out = {};
	struct nodeplan_pod pod = plan(quoted, rules, &arena);

	assert_int_equal(plan_json(&out, "pods.json", rules, &pod), 0);
	assert_string_equal(buf_str(&out), unquote(wanted, &arena));
}

static void test_json(void **state)
{
	struct nodeplan_rules rules = rules_of(36, NODEFAIL_NO_TAINT);

	check_json(stateful, &rules,
		   STATEFUL
		   "'fate':'down','unready':{'from_ns':50000000000,'to_ns':55000000000},"
		   "'tainted':{'from_ns':50000000000,'to_ns':60000000000},"
		   "'tolerated_ns':300000000000,"
		   "'deleted':{'from_ns':350000000000,'to_ns':360000000000},'gone':null,"
		   "'replaced':null,'detached':null,"
		   "'stuck':['terminating','waits-for-object','volume'],'out_of_service':null}\n");
	check_json(daemon_pod, &rules,
		   "{'type':'plan','schema':1,'input':'pods.json','kubernetes':'1.36',"
		   "'pod':{'namespace':'ops','name':'agent','uid':null,'static':false,"
		   "'deleting':false},'if':'node-dies','node':null,"
		   "'owner':{'controller':'daemonset','kind':'DaemonSet','name':'set'},"
		   "'fate':'node','unready':{'from_ns':50000000000,'to_ns':55000000000},"
		   "'tainted':{'from_ns':50000000000,'to_ns':60000000000},'tolerated_ns':null,"
		   "'deleted':null,'gone':null,'replaced':null,'detached':null,"
		   "'stuck':['not-evicted','not-replaced'],'out_of_service':null}\n");
}

static void test_taint(void **state)
{
	struct nodeplan_rules rules = rules_of(36, NODEFAIL_TAINT_NO_EXECUTE);

	check_json(stateful, &rules,
		   STATEFUL
		   "'fate':'replaced','unready':{'from_ns':50000000000,'to_ns':55000000000},"
		   "'tainted':{'from_ns':50000000000,'to_ns':60000000000},"
		   "'tolerated_ns':300000000000,"
		   "'deleted':{'from_ns':55000000000,'to_ns':55000000000},"
		   "'gone':{'from_ns':55000000000,'to_ns':75000000000},"
		   "'replaced':{'from_ns':55000000000,'to_ns':75000000000},"
		   "'detached':{'from_ns':55000000000,'to_ns':75000000000},'stuck':[],"
		   "'out_of_service':{'at_ns':55000000000,'no_execute':true,'known':true,"
		   "'stuck_without':['terminating','waits-for-object','volume']}}\n");
}

static void test_far(void **state)
{
	struct nodeplan_rules rules = rules_of(36, NODEFAIL_NO_TAINT);
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf out = {};
	struct nodeplan_pod pod = plan(patient, &rules, &arena);

	assert_int_equal(plan_json(&out, "-", &rules, &pod), 0);
	assert_non_null(strstr(buf_str(&out), "\"deleted\":{\"from_ns\":9223372036854775807,"
					      "\"to_ns\":9223372036854775807}"));
	assert_non_null(strstr(buf_str(&out), "\"tolerated_ns\":9223372036854775807,"));
}

/* The table of these pods in this order. */
static void table(struct buf *out, const char *const *quoted, size_t n,
		  const struct nodeplan_rules *rules, unsigned int width)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct nodeplan_pod pods[8];

	for (size_t i = 0; i < n; i++)
		pods[i] = plan(quoted[i], rules, &arena);
	assert_int_equal(plan_table(out, rules, pods, n, &(struct grid_view){.width = width}), 0);
}

static void test_table(void **state)
{
	static const char *const pods[] = {stateful, daemon_pod, deleted, patient};
	struct nodeplan_rules rules = rules_of(31, NODEFAIL_NO_TAINT);
	_cleanup_(buf_free) struct buf out = {};

	table(&out, pods, LEN(pods), &rules, 0);
	assert_string_equal(
		buf_str(&out),
		"POD        OWNER        UNREADY  ASKED        REPLACED     GONE   STUCK\n"
		"shop/db-0  StatefulSet  +40-45s  +340-350s    never        never  waits-for-ob"
		"ject,volume\n"
		"ops/agent  DaemonSet    +40-45s  never        never        never  not-evicted,"
		"not-replaced\n"
		"web        ReplicaSet   +40-45s  before       before       never  terminating"
		"\n"
		"patient    ReplicaSet   +40-45s  +106752d00h  +106752d00h  never  terminating"
		"\n"
		"\n"
		"4 pods: 1 stay down, 2 replaced but stuck, 1 bound to the node\n"
		"node not ready at +40-45s after its last heartbeat, tainted "
		"unreachable:NoExecute at +40-50s (Kubernetes 1.31)\n");
}

static const char *last_line(const struct buf *out)
{
	const char *line = buf_str(out);

	for (const char *next = line; (next = strchr(next, '\n')) && next[1];)
		line = ++next;
	return line;
}

static void test_sums(void **state)
{
	static const struct {
		unsigned int minor;
		enum nodefail_taint taint;
		const char *last;
	} want[] = {
		{36, NODEFAIL_TAINT_NO_EXECUTE,
		 "out-of-service:NoExecute set at +55s lets 3 go that would stay, and brings back 1 "
		 "that would not\n"},
		{36, NODEFAIL_TAINT,
		 "out-of-service set at +55s lets 2 go that would stay, and brings back 1 that would "
		 "not\n"},
		{25, NODEFAIL_TAINT_NO_EXECUTE,
		 "out-of-service:NoExecute set at +55s means nothing to Kubernetes 1.25\n"},
	};
	static const char *const pods[] = {stateful, daemon_pod, deleted};

	for (size_t i = 0; i < LEN(want); i++) {
		struct nodeplan_rules rules = rules_of(want[i].minor, want[i].taint);
		_cleanup_(buf_free) struct buf out = {};

		table(&out, pods, LEN(pods), &rules, 0);
		assert_string_equal(last_line(&out), want[i].last);
	}
}

static void test_hostile(void **state)
{
	static const char *const pods[] = {hostile, patient};
	struct nodeplan_rules rules = rules_of(36, NODEFAIL_TAINT);
	_cleanup_(buf_free) struct buf out = {};

	rules.nodefail.grace_s = INT64_MAX;
	rules.taint_s = INT64_MAX;
	table(&out, pods, LEN(pods), &rules, 120);
	assert_non_null(strstr(buf_str(&out), "\\x1b[31mred"));
	term_check(&out, 120);
}

static void test_none(void **state)
{
	struct nodeplan_rules rules = rules_of(36, NODEFAIL_NO_TAINT);
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(plan_table(&out, &rules, NULL, 0, &(struct grid_view){}), 0);
	assert_string_equal(last_line(&out), "0 pods\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a pod's object has every member, spans in nanoseconds, null for never",
		      test_json),
		CLAIM("with the out-of-service taint it says what would be stuck without",
		      test_taint),
		CLAIM("a time beyond what nanoseconds hold is the largest one", test_far),
		CLAIM("the table tells of each pod when what happens, and sums it up", test_table),
		CLAIM("the last line says what the out-of-service taint changes", test_sums),
		CLAIM("a table fits 120 columns and does no harm to a terminal", test_hostile),
		CLAIM("a node without pods has none that are stuck", test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
