// SPDX-License-Identifier: Apache-2.0
/* Claims about core/kubelet/node_failure: a silent node, pod by pod. */
#include "core/kubelet/node_failure.h"

#include <string.h>

#include "lib/claim.h"
#include "lib/pods/podmake.h"

static struct nodefail ask(const struct podmake *m, enum nodefail_taint taint, int64_t at_s)
{
	return nodefail_of(&(struct nodefail_in){
		.rules = nodefail_rules_of(36),
		.pod = &m->pod,
		.taint = taint,
		.taint_s = at_s,
	});
}

static void check(struct nodefail_span got, int64_t from_s, int64_t to_s)
{
	if (got.never || got.from_s != from_s || got.to_s != to_s)
		fail_msg("%s%lld to %lld", got.never ? "never, " : "", (long long)got.from_s,
			 (long long)got.to_s);
}

static void check_stuck(const struct nodefail *got, uint32_t wanted)
{
	if (got->stuck != wanted)
		fail_msg("stuck is %#x, not %#x", got->stuck, wanted);
}

#define BIT(stuck) (1u << (stuck))

/* As admission adds it to every pod. */
static void tolerate(struct podmake *m, int64_t seconds)
{
	struct podobj_toleration *t = podmake_toleration(m, NODEFAIL_UNREACHABLE, "NoExecute");

	t->seconds = (struct seconds){true, seconds};
}

static void start(struct podmake *m, const char *owner_kind)
{
	podmake_start(m, META_RESTART_ALWAYS);
	m->pod.owner.kind = owner_kind;
	m->pod.status.phase = "Running";
}

static void test_deployment(void **state)
{
	struct podmake m = {};
	struct nodefail got;

	start(&m, "ReplicaSet");
	tolerate(&m, 300);
	got = ask(&m, NODEFAIL_NO_TAINT, 0);
	check(got.unready, 50, 55);
	check(got.tainted, 50, 60);
	check(got.deleted, 350, 360);
	check(got.replaced, 350, 360);
	assert_true(got.gone.never);
	check_stuck(&got, BIT(NODEFAIL_TERMINATING));
}

static void test_makers(void **state)
{
	static const struct {
		const char *kind, *api;
		enum nodefail_maker maker;
	} rows[] = {
		{"ReplicaSet", "apps/v1", NODEFAIL_REPLICASET},
		{"ReplicaSet", "", NODEFAIL_REPLICASET},
		{"ReplicaSet", "v1", NODEFAIL_OTHER},
		{"ReplicaSet", "apps", NODEFAIL_OTHER},
		{"ReplicationController", "v1", NODEFAIL_REPLICASET},
		{"ReplicationController", "apps/v1", NODEFAIL_OTHER},
		{"StatefulSet", "apps/v1beta2", NODEFAIL_STATEFULSET},
		{"StatefulSet", "apps.kruise.io/v1beta1", NODEFAIL_OTHER},
		{"DaemonSet", "apps.kruise.io/v1alpha1", NODEFAIL_OTHER},
		{"Job", "batch/v1", NODEFAIL_JOB},
		{"Job", "batch.volcano.sh/v1alpha1", NODEFAIL_OTHER},
		{"CronJob", "batch/v1", NODEFAIL_OTHER},
		{"Node", "v1", NODEFAIL_STATIC},
		{"Node", "example.com/v1", NODEFAIL_OTHER},
		{"", "", NODEFAIL_BARE},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct podmake m = {};

		start(&m, rows[i].kind);
		m.pod.owner.api = rows[i].api;
		print_message("# %s %s\n", rows[i].api, rows[i].kind);
		assert_int_equal(nodefail_maker_of(&m.pod), rows[i].maker);
	}
}

static void test_before_1_32(void **state)
{
	struct podmake m = {};
	struct nodefail_in in = {.rules = nodefail_rules_of(31), .pod = &m.pod};

	start(&m, "ReplicaSet");
	tolerate(&m, 300);
	check(nodefail_of(&in).deleted, 340, 350);
}

static void test_statefulset(void **state)
{
	struct podmake m = {};
	struct nodefail got;

	start(&m, "StatefulSet");
	tolerate(&m, 300);
	m.pod.volumes = PODOBJ_VOLUME_CLAIM;
	got = ask(&m, NODEFAIL_NO_TAINT, 0);
	check(got.deleted, 350, 360);
	assert_true(got.replaced.never);
	assert_true(got.detached.never);
	check_stuck(&got, BIT(NODEFAIL_TERMINATING) | BIT(NODEFAIL_WAITS) | BIT(NODEFAIL_VOLUME));
	got = ask(&m, NODEFAIL_TAINT, 100);
	check(got.deleted, 350, 360);
	check(got.gone, 350, 380);
	check(got.replaced, 350, 380);
	check(got.detached, 350, 380);
	check_stuck(&got, 0);
	got = ask(&m, NODEFAIL_TAINT_NO_EXECUTE, 100);
	check(got.deleted, 100, 100);
	check(got.gone, 100, 120);
	check(got.replaced, 100, 120);
}

static void test_taint_waits_for_the_node(void **state)
{
	struct podmake m = {};
	struct nodefail got;

	start(&m, "StatefulSet");
	tolerate(&m, 300);
	got = ask(&m, NODEFAIL_TAINT_NO_EXECUTE, 0);
	check(got.deleted, 0, 0);
	check(got.gone, 50, 75);
}

static void test_daemonset(void **state)
{
	struct podmake m = {};
	struct nodefail got;

	start(&m, "DaemonSet");
	podmake_toleration(&m, NODEFAIL_UNREACHABLE, "NoExecute");
	got = ask(&m, NODEFAIL_NO_TAINT, 0);
	assert_true(got.deleted.never);
	check_stuck(&got, BIT(NODEFAIL_STAYS) | BIT(NODEFAIL_NO_OTHER));
	check(ask(&m, NODEFAIL_TAINT_NO_EXECUTE, 90).gone, 90, 110);
	m.tolerations[0].key = "";
	assert_true(ask(&m, NODEFAIL_TAINT_NO_EXECUTE, 90).gone.never);
}

static void test_others(void **state)
{
	struct podmake m = {};
	struct nodefail got;

	start(&m, "");
	m.pod.volumes = PODOBJ_VOLUME_EMPTY_DIR;
	got = ask(&m, NODEFAIL_NO_TAINT, 0);
	check(got.deleted, 50, 60);
	assert_true(got.replaced.never);
	check_stuck(&got,
		    BIT(NODEFAIL_TERMINATING) | BIT(NODEFAIL_NO_OTHER) | BIT(NODEFAIL_LOCAL_DATA));
	m.pod.deleting = true;
	check(ask(&m, NODEFAIL_NO_TAINT, 0).deleted, 0, 0);
	m.pod.is_static = true;
	assert_int_equal(ask(&m, NODEFAIL_NO_TAINT, 0).maker, NODEFAIL_STATIC);
	start(&m, "Job");
	check(ask(&m, NODEFAIL_NO_TAINT, 0).replaced, 50, 60);
	m.pod.status.phase = "Succeeded";
	assert_true(ask(&m, NODEFAIL_NO_TAINT, 0).replaced.never);
	start(&m, "SomebodysSet");
	assert_int_equal(ask(&m, NODEFAIL_NO_TAINT, 0).maker, NODEFAIL_OTHER);
}

static void test_over(void **state)
{
	static const char *const kinds[] = {"", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"};
	struct podmake m = {};
	struct nodefail got;

	for (size_t i = 0; i < LEN(kinds); i++) {
		print_message("# of a %s\n", kinds[i]);
		start(&m, kinds[i]);
		m.pod.status.phase = i % 2 ? "Succeeded" : "Failed";
		m.pod.volumes = PODOBJ_VOLUME_EMPTY_DIR | PODOBJ_VOLUME_CLAIM;
		tolerate(&m, 300);
		got = ask(&m, NODEFAIL_NO_TAINT, 0);
		check(got.deleted, 350, 360);
		check(got.gone, 350, 360);
		assert_true(got.replaced.never);
		check_stuck(&got, 0);
		m.pod.deleting = true;
		got = ask(&m, NODEFAIL_NO_TAINT, 0);
		assert_true(got.gone.never);
		assert_true(got.stuck & BIT(NODEFAIL_TERMINATING));
	}
}

static void test_tolerations(void **state)
{
	static const struct {
		struct podobj_toleration t;
		enum toleration_kind kind;
		int64_t seconds;
	} want[] = {
		{{"", "Exists", "", "", {false, 0}}, TOLERATION_FOREVER, 0},
		{{"", "", "", "", {false, 0}}, TOLERATION_NONE, 0},
		{{"k", "Exists", "", "NoExecute", {true, 9}}, TOLERATION_SECONDS, 9},
		{{"k", "Exists", "", "NoExecute", {true, -9}}, TOLERATION_SECONDS, 0},
		{{"k", "Exists", "", "NoSchedule", {false, 0}}, TOLERATION_NONE, 0},
		{{"k", "Equal", "v", "", {false, 0}}, TOLERATION_FOREVER, 0},
		{{"k", "", "v", "", {false, 0}}, TOLERATION_FOREVER, 0},
		{{"k", "Equal", "w", "", {false, 0}}, TOLERATION_NONE, 0},
		{{"l", "Exists", "", "", {false, 0}}, TOLERATION_NONE, 0},
		{{"k", "Gt", "v", "", {false, 0}}, TOLERATION_NONE, 0},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct podobj_pod pod;
		struct toleration got;

		podobj_init(&pod);
		pod.tolerations = &want[i].t;
		pod.n_tolerations = 1;
		got = toleration_of(&pod, "k", "v", "NoExecute");
		if (got.kind != want[i].kind || got.seconds != want[i].seconds)
			fail_msg("case %zu: %d, %lld s", i, got.kind, (long long)got.seconds);
	}
}

static void test_hostile_seconds(void **state)
{
	struct podmake m = {};
	struct nodefail got;

	start(&m, "ReplicaSet");
	tolerate(&m, INT64_MAX);
	got = ask(&m, NODEFAIL_TAINT, INT64_MAX);
	check(got.deleted, INT64_MAX, INT64_MAX);
	check(got.gone, INT64_MAX, INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a Deployment's pod is replaced when it is asked to go, and its object stays",
		      test_deployment),
		CLAIM("a controller is known by its kind and its API group", test_makers),
		CLAIM("what had ended is gone when it is asked to go, unless that was before",
		      test_over),
		CLAIM("before 1.32 a node was given up ten seconds sooner", test_before_1_32),
		CLAIM("a StatefulSet waits for the object, which the out-of-service taint ends",
		      test_statefulset),
		CLAIM("the taint does nothing to objects before the node is known to be away",
		      test_taint_waits_for_the_node),
		CLAIM("a DaemonSet's pod is never asked to go, but by the out-of-service taint",
		      test_daemonset),
		CLAIM("bare, static and finished pods are replaced by nobody", test_others),
		CLAIM("a toleration fits by key, operator, value and effect", test_tolerations),
		CLAIM("seconds beyond all bounds do not wrap", test_hostile_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
