// SPDX-License-Identifier: Apache-2.0
/* Claims about core/kubelet/node_failure: all pods of a silent node, one beside the other. */
#include "core/kubelet/node_failure.h"

#include <string.h>

#include "lib/claim.h"
#include "lib/pods/podmake.h"

static struct nodeplan_rules rules_of(enum nodefail_taint taint)
{
	return (struct nodeplan_rules){
		.minor = 36,
		.nodefail = nodefail_rules_of(36),
		.taint = taint,
		.taint_s = 55,
	};
}

static const struct row {
	const char *name, *kind, *phase;
	uint32_t volumes;
	bool is_static;
	enum nodeplan_fate silent, tainted;
} rows[] = {
	{"bare", "", "Running", 0, false, NODEPLAN_DOWN, NODEPLAN_DOWN},
	{"ordered", "StatefulSet", "Running", 0, false, NODEPLAN_DOWN, NODEPLAN_REPLACED},
	{"ordered-data", "StatefulSet", "Running", PODOBJ_VOLUME_EMPTY_DIR, false, NODEPLAN_DOWN,
	 NODEPLAN_REMAINS},
	{"replica", "ReplicaSet", "Running", 0, false, NODEPLAN_REMAINS, NODEPLAN_REPLACED},
	{"replica-data", "ReplicaSet", "Running", PODOBJ_VOLUME_EMPTY_DIR, false, NODEPLAN_REMAINS,
	 NODEPLAN_REMAINS},
	{"job", "Job", "Pending", 0, false, NODEPLAN_REMAINS, NODEPLAN_REPLACED},
	{"daemon", "DaemonSet", "Running", 0, false, NODEPLAN_NODE, NODEPLAN_NODE},
	{"static", "Node", "Running", 0, true, NODEPLAN_NODE, NODEPLAN_NODE},
	{"own", "Rollout", "Running", 0, false, NODEPLAN_UNKNOWN, NODEPLAN_UNKNOWN},
	{"done", "Job", "Succeeded", 0, false, NODEPLAN_OVER, NODEPLAN_OVER},
	{"failed", "StatefulSet", "Failed", 0, false, NODEPLAN_OVER, NODEPLAN_OVER},
};

static void make(struct podmake *m, const struct row *row)
{
	podmake_start(m, META_RESTART_ALWAYS);
	m->pod.name = row->name;
	m->pod.owner.kind = row->kind;
	m->pod.volumes = row->volumes;
	m->pod.is_static = row->is_static;
	m->pod.status.phase = row->phase;
}

/* Member by member: what is between them may differ. */
static bool same_span(struct nodefail_span a, struct nodefail_span b)
{
	return a.never == b.never && a.from_s == b.from_s && a.to_s == b.to_s;
}

static bool same_failure(const struct nodefail *a, const struct nodefail *b)
{
	return a->maker == b->maker && a->toleration.kind == b->toleration.kind &&
	       a->toleration.seconds == b->toleration.seconds && a->stuck == b->stuck &&
	       same_span(a->unready, b->unready) && same_span(a->tainted, b->tainted) &&
	       same_span(a->deleted, b->deleted) && same_span(a->gone, b->gone) &&
	       same_span(a->replaced, b->replaced) && same_span(a->detached, b->detached);
}

static void test_fates(void **state)
{
	struct nodeplan_rules silent = rules_of(NODEFAIL_NO_TAINT);
	struct nodeplan_rules tainted = rules_of(NODEFAIL_TAINT_NO_EXECUTE);

	for (size_t i = 0; i < LEN(rows); i++) {
		struct podmake m = {};
		struct nodeplan_pod a, b;

		make(&m, &rows[i]);
		a = nodeplan_of(&silent, &m.pod);
		b = nodeplan_of(&tainted, &m.pod);
		if (a.fate != rows[i].silent || b.fate != rows[i].tainted)
			fail_msg("%s: %s, tainted %s", rows[i].name, nodeplan_fate_name(a.fate),
				 nodeplan_fate_name(b.fate));
		assert_true(same_failure(&a.dies, &b.untainted));
	}
}

static void test_counts(void **state)
{
	struct nodeplan_rules tainted = rules_of(NODEFAIL_TAINT_NO_EXECUTE);
	struct podmake m[LEN(rows)] = {};
	struct nodeplan_pod pods[LEN(rows)];
	struct nodeplan_counts counts;
	size_t sum = 0;

	for (size_t i = 0; i < LEN(rows); i++) {
		make(&m[i], &rows[i]);
		pods[i] = nodeplan_of(&tainted, &m[i].pod);
	}
	counts = nodeplan_count(pods, LEN(pods));
	for (int i = 0; i < NODEPLAN_FATE_COUNT; i++)
		sum += counts.fates[i];
	assert_int_equal(sum, LEN(rows));
	assert_int_equal(counts.fates[NODEPLAN_REPLACED], 3);
	assert_int_equal(counts.freed, LEN(rows) - counts.fates[NODEPLAN_OVER]);
	assert_int_equal(counts.revived, 2);
}

static struct nodeplan_pod sorted_pod(const char *namespace_, const char *name,
				      enum nodeplan_fate fate, uint32_t stuck, struct podmake *m)
{
	podmake_start(m, META_RESTART_ALWAYS);
	m->pod.namespace_ = namespace_;
	m->pod.name = name;
	return (struct nodeplan_pod){.pod = &m->pod, .dies.stuck = stuck, .fate = fate};
}

static void test_sort(void **state)
{
	struct podmake m[6] = {};
	struct nodeplan_pod pods[] = {
		sorted_pod("a", "6", NODEPLAN_UNKNOWN, 0, &m[0]),
		sorted_pod("a", "5", NODEPLAN_OVER, 1, &m[1]),
		sorted_pod("b", "3", NODEPLAN_DOWN, 1, &m[2]),
		sorted_pod("a", "2", NODEPLAN_DOWN, 1, &m[3]),
		sorted_pod("a", "1", NODEPLAN_DOWN, 1, &m[4]),
		sorted_pod("a", "4", NODEPLAN_NODE, 1, &m[5]),
	};
	char order[LEN(pods) + 1] = "";

	nodeplan_sort(pods, LEN(pods));
	for (size_t i = 0; i < LEN(pods); i++)
		order[i] = *pods[i].pod->name;
	assert_string_equal(order, "123456");
	nodeplan_sort(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what becomes of a pod goes by its controller, and by what the taint frees",
		      test_fates),
		CLAIM("each pod counts once, and what the taint changes besides", test_counts),
		CLAIM("what is stuck stands first, then by fate, namespace and name", test_sort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
